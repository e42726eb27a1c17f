//! One instruction: its nodes to the fields of the units.

use super::alloc::Places;
use super::node::{Cell, CellMap, CellSet, Cond, Coord, Kind, LoadAt, Node, Operand, Src, VaryingLoad};
use super::schedule::{Halves, Unit, Word, half_of, scalar_factor};
use crate::error::{Error, Result};
use utgard::field::Code;
use utgard::pp::{
    AccOp, Combine, Component, Constant, FloatAcc, FloatMul, Form, Instruction, Load, LoadSource, MulOp, Register,
    Sampler, SamplerKind, Scalar, ScalarFunction, ScalarSource, ScalarUnit, Store, StoreTarget, Swizzle, Varying,
    VaryingKind, VecAcc, VecMul, VectorSource, VectorUnit,
};

/// An instruction being encoded.
pub(super) struct Encoder<'a> {
    pub places: &'a Places,
    pub forwarded: &'a CellSet,
    /// Positions of what is handed on without a register, in the instruction at hand.
    pub positions: CellMap<u32>,
    pub constants: [Halves; 2],
}

fn missing() -> Error {
    Error::invalid("the compiler lost a register")
}

impl Encoder<'_> {
    pub(super) fn word(&mut self, nodes: &[Node], word: &Word) -> Result<Instruction> {
        for (at, unit) in &word.nodes {
            if matches!(unit, Unit::VecMul | Unit::FloatMul) {
                for (position, cell) in nodes[*at].dst.iter().enumerate() {
                    if self.forwarded.contains(cell) {
                        self.positions.insert(*cell, position as u32);
                    }
                }
            }
        }
        let mut i = Instruction::default();
        for (at, unit) in &word.nodes {
            let node = &nodes[*at];
            if let Some(tex) = &node.tex {
                i.control.sync = true;
                i.varying = Some(self.coordinates(&tex.coord)?);
                let mut sampler = Sampler {
                    kind: if tex.cube {
                        SamplerKind::Cube
                    } else {
                        SamplerKind::Plain
                    },
                    index: tex.unit,
                    constant: Sampler::CONSTANT,
                    ..Sampler::default()
                };
                if let Some((cell, explicit)) = tex.lod {
                    sampler.lod = self.scalar(Src::Cell(cell))?;
                    (sampler.lod_enable, sampler.explicit_lod) = (true, explicit);
                }
                i.sampler = Some(sampler);
            }
            // Derivatives look at the neighbours, as look-ups do.
            if matches!(
                node.kind,
                Kind::Alu {
                    acc: Some(AccOp::DFdx | AccOp::DFdy),
                    ..
                }
            ) {
                i.control.sync = true;
            }
            self.node(node, *unit, &mut i)?;
        }
        if let Some(load) = word.taken.load {
            i.load = Some(self.load(load)?);
        }
        let field = |halves: &[u16]| {
            let at = |lane: usize| halves.get(lane).copied().unwrap_or(0);
            (!halves.is_empty()).then(|| Constant {
                x: at(0),
                y: at(1),
                z: at(2),
                w: at(3),
            })
        };
        i.const0 = field(&self.constants[0]);
        i.const1 = field(&self.constants[1]);
        Ok(i)
    }

    fn load(&self, load: LoadAt) -> Result<Load> {
        Ok(Load {
            source: if load.temporary {
                LoadSource::Temporary
            } else {
                LoadSource::Uniform
            },
            alignment: load.alignment,
            offset: self.offset(load.offset)?,
            offset_enable: load.offset.is_some(),
            index: (load.index as u32) & 0xffff,
            ..Load::default()
        })
    }

    fn offset(&self, cell: Option<Cell>) -> Result<Scalar> {
        cell.map_or(Ok(Scalar::default()), |cell| self.scalar(Src::Cell(cell)))
    }

    fn varying(&self, load: VaryingLoad) -> Varying {
        Varying {
            kind: load.kind,
            alignment: load.alignment,
            register: Register::NONE,
            index: load.index,
            destination: Register::NONE,
            ..Varying::default()
        }
    }

    fn coordinates(&self, coord: &Coord) -> Result<Varying> {
        Ok(match coord {
            Coord::Varying(load) => self.varying(*load),
            Coord::Register(operand) => {
                let source = self.vector(operand, |at| at)?;
                let swizzle = u32::from(source.swizzle.0);
                Varying {
                    kind: if operand.comps.len() == 3 {
                        VaryingKind::RegisterCube
                    } else {
                        VaryingKind::Register
                    },
                    register: source.register,
                    negate: source.negate,
                    absolute: source.absolute,
                    component: swizzle & 3,
                    index: swizzle >> 2,
                    destination: Register::NONE,
                    ..Varying::default()
                }
            }
        })
    }

    /// Register and lane of a source; for what is handed on without a register its place in the result.
    fn place(&self, src: Src) -> Result<(Register, u32)> {
        Ok(match src {
            Src::Cell(cell) => {
                if let Some(position) = self.positions.get(&cell) {
                    return Ok((Register::default(), *position));
                }
                let (register, lane) = self.places.get(&cell).ok_or_else(missing)?;
                (Register(*register), u32::from(*lane))
            }
            Src::Load(lane) => (Register::UNIFORM, u32::from(lane)),
            Src::Tex(lane) => (Register::TEXTURE, u32::from(lane)),
            Src::Const(bits) => {
                let half = half_of(bits);
                let found = self
                    .constants
                    .iter()
                    .zip(Register::CONSTANTS)
                    .find_map(|(halves, register)| {
                        let lane = halves.iter().position(|have| *have == half)?;
                        Some((register, lane as u32))
                    });
                found.ok_or_else(missing)?
            }
        })
    }

    pub(super) fn scalar(&self, src: Src) -> Result<Scalar> {
        let (register, lane) = self.place(src)?;
        Ok(register.component(Component::from_code(lane)))
    }

    /// The field that has all constants of an operand, when it is made of constants.
    fn field(&self, operand: &Operand) -> Result<Option<usize>> {
        let halves: Vec<u16> = operand
            .comps
            .iter()
            .filter_map(|src| match src {
                Src::Const(bits) => Some(half_of(*bits)),
                _ => None,
            })
            .collect();
        if halves.is_empty() {
            return Ok(None);
        }
        let whole = halves.len() == operand.comps.len();
        let has = |field: &Halves| halves.iter().all(|half| field.contains(half));
        let found = self.constants.iter().position(has).filter(|_| whole);
        found.map(Some).ok_or_else(missing)
    }

    /// An operand whose component n is wanted at a position.
    fn vector(&self, operand: &Operand, position: impl Fn(usize) -> usize) -> Result<VectorSource> {
        let field = self.field(operand)?;
        let place = |src: &Src| match (field, src) {
            (Some(field), Src::Const(bits)) => {
                let lane = self.constants[field].iter().position(|half| *half == half_of(*bits));
                Ok((Register::CONSTANTS[field], lane.ok_or_else(missing)? as u32))
            }
            _ => self.place(*src),
        };
        let (register, first) = place(&operand.comps[0])?;
        let mut lanes = [Component::from_code(first); 4];
        for (at, src) in operand.comps.iter().enumerate() {
            let (other, lane) = place(src)?;
            if other != register {
                return Err(missing());
            }
            lanes[position(at)] = Component::from_code(lane);
        }
        Ok(VectorSource {
            register,
            swizzle: Swizzle::new(lanes),
            absolute: operand.absolute,
            negate: operand.negate,
        })
    }

    /// Register, mask and the lane of each component of what a node writes; position n for what is handed on.
    fn target(&self, node: &Node) -> Result<(Register, u32, Vec<usize>)> {
        if node.dst.iter().all(|cell| self.forwarded.contains(cell)) {
            return Ok((Register::default(), 0, (0..node.dst.len()).collect()));
        }
        let mut mask = 0;
        let mut lanes = Vec::new();
        let mut register = None;
        for cell in &node.dst {
            let (at, lane) = self.places.get(cell).ok_or_else(missing)?;
            if register.is_some_and(|register| register != *at) {
                return Err(missing());
            }
            register = Some(*at);
            mask |= 1 << lane;
            lanes.push(usize::from(*lane));
        }
        Ok((Register(register.unwrap_or(0)), mask, lanes))
    }

    fn node(&self, node: &Node, unit: Unit, i: &mut Instruction) -> Result<()> {
        if let Kind::Select(cond) = &node.kind {
            i.float_mul = Some(self.condition(cond)?);
        }
        match (unit, &node.kind) {
            (Unit::Varying, Kind::Varying(load)) => {
                let (register, mask, _) = self.target(node)?;
                i.varying = Some(Varying {
                    destination: register,
                    mask,
                    ..self.varying(*load)
                });
            }
            (Unit::VecMul, Kind::Alu { mul: Some(op), .. }) => {
                i.vec_mul = Some(VecMul::new(*op, self.vector_unit(node)?));
            }
            (Unit::FloatMul, Kind::Alu { mul: Some(op), .. }) => {
                i.float_mul = Some(FloatMul::new(*op, self.scalar_unit(node)?));
            }
            (Unit::VecAcc, _) => {
                let mut acc = VecAcc::new(accumulated(node)?, self.vector_unit(node)?);
                acc.a_is_mul = self.reads_forwarded(&node.src[0]);
                i.vec_acc = Some(acc);
            }
            (Unit::FloatAcc, _) => {
                let mut acc = FloatAcc::new(accumulated(node)?, self.scalar_unit(node)?);
                if self.reads_forwarded(&node.src[0]) {
                    (acc.a, acc.a_is_mul) = (Scalar::default(), true);
                }
                i.float_acc = Some(acc);
            }
            (Unit::Combine, _) => i.combine = Some(self.combine(node)?),
            (Unit::Store, Kind::Store { index, offset }) => {
                i.store = Some(Store {
                    target: StoreTarget::TemporaryOrColor,
                    source: self.scalar(node.src[0].comps[0])?,
                    offset: self.offset(*offset)?,
                    offset_enable: offset.is_some(),
                    index: (*index as u32) & 0xffff,
                    ..Store::default()
                });
            }
            _ => return Err(missing()),
        }
        Ok(())
    }

    fn reads_forwarded(&self, operand: &Operand) -> bool {
        operand
            .comps
            .iter()
            .all(|src| matches!(src, Src::Cell(cell) if self.positions.contains_key(cell)))
    }

    fn scalar_source(&self, operand: &Operand) -> Result<ScalarSource> {
        Ok(ScalarSource {
            scalar: self.scalar(operand.comps[0])?,
            absolute: operand.absolute,
            negate: operand.negate,
        })
    }

    /// The scalar multiplier, whose result a select looks at.
    fn condition(&self, cond: &Cond) -> Result<FloatMul> {
        let (op, a, b) = match cond {
            Cond::Value(operand) => (MulOp::Mov, operand, operand),
            Cond::Compare(op, a, b) => (*op, a, b),
        };
        let unit = ScalarUnit {
            a: self.scalar_source(a)?,
            b: self.scalar_source(b)?,
            ..ScalarUnit::default()
        };
        Ok(FloatMul::new(op, unit))
    }

    fn vector_unit(&self, node: &Node) -> Result<VectorUnit> {
        let (destination, mask, lanes) = self.target(node)?;
        let sum = node.kind == Kind::Sum;
        let position = |at: usize| if sum { at } else { lanes[at] };
        let a = &node.src[0];
        let b = node.src.get(1).unwrap_or(a);
        Ok(VectorUnit {
            a: self.vector(a, position)?,
            b: self.vector(b, position)?,
            destination,
            mask,
            modifier: node.modifier,
        })
    }

    fn scalar_unit(&self, node: &Node) -> Result<ScalarUnit> {
        let (register, mask, lanes) = self.target(node)?;
        let a = &node.src[0];
        let b = node.src.get(1).unwrap_or(a);
        Ok(ScalarUnit {
            a: self.scalar_source(a)?,
            b: self.scalar_source(b)?,
            destination: register.component(Component::ALL[lanes[0] & 3]),
            write: mask != 0,
            modifier: node.modifier,
        })
    }

    fn combine(&self, node: &Node) -> Result<Combine> {
        let (register, mask, lanes) = self.target(node)?;
        let mut combine = Combine::default();
        let factor = scalar_factor(node);
        let a = self.scalar_source(&node.src[factor.unwrap_or(0)])?;
        (combine.a, combine.a_absolute, combine.a_negate) = (a.scalar, a.absolute, a.negate);
        if let Some(factor) = factor {
            let vector = self.vector(&node.src[1 - factor], |at| lanes[at])?;
            combine.set_form(Form::Scale(vector));
            combine.set_destination_vector(register, mask);
            return Ok(combine);
        }
        let function = match node.kind {
            Kind::Function(function) => function,
            _ => ScalarFunction::Mov,
        };
        combine.set_form(Form::Scalar(function));
        combine.modifier = node.modifier;
        combine.destination = register.component(Component::ALL[lanes[0] & 3]);
        Ok(combine)
    }
}

/// The adder's operation of a node.
fn accumulated(node: &Node) -> Result<AccOp> {
    Ok(match &node.kind {
        Kind::Alu { acc: Some(op), .. } => *op,
        Kind::Sum if node.src[0].comps.len() == 3 => AccOp::Sum3,
        Kind::Sum => AccOp::Sum4,
        Kind::Select(_) => AccOp::Select,
        _ => return Err(missing()),
    })
}
