//! What a fragment gets from outside: inputs, uniforms by an index, look-ups.

use super::node::{Coord, Kind, LoadAt, Node, Operand, Src, Tex, VaryingLoad};
use super::select::{Raw, Select};
use crate::error::{Error, Result};
use crate::ir::{Input, Lod, Op, Span, Value, range};
use utgard::pp::{Alignment, MulOp, ScalarFunction, VaryingKind};

impl Select<'_> {
    pub(super) fn input(&mut self, value: Value, input: Input) {
        let inst = self.inst(value);
        let (span, tag) = (inst.span, inst.tag);
        if self.uses[value.0 as usize] == 0 {
            return;
        }
        let (load, lane) = match input {
            Input::Varying(slot) => {
                let place = self.varyings.places[slot as usize];
                let variable = self
                    .interface
                    .varyings
                    .iter()
                    .rfind(|variable| variable.first <= slot)
                    .map_or(1, |variable| variable.rows);
                varying_load(place, variable)
            }
            Input::FragCoord(component) => (special(VaryingKind::FragCoord), component),
            Input::PointCoord(component) => (special(VaryingKind::PointCoord), component),
            Input::FrontFacing => (special(VaryingKind::FrontFacing), 0),
            Input::Attribute(_) => return,
        };
        // The fourth component is the clip space's w; programs want its reciprocal.
        let inverse = input == Input::FragCoord(3);
        let cell = if inverse { self.nodes.cell() } else { self.cell(value) };
        self.nodes.lanes.insert(cell, lane);
        let mut node = Node::new(Kind::Varying(load), vec![cell], Vec::new(), span);
        node.tag = tag;
        self.block.push(node);
        if inverse {
            let (kind, dst) = (Kind::Function(ScalarFunction::Rcp), vec![self.cell(value)]);
            self.block
                .push(Node::new(kind, dst, vec![Operand::one(Src::Cell(cell))], span));
        }
    }

    pub(super) fn uniform_at(&mut self, value: Value, base: u32, stride: u32, count: u32) -> Result<()> {
        let inst = self.inst(value).clone();
        let (place, step) = self
            .uniforms
            .stride(base, stride, count)
            .ok_or_else(|| Error::unsupported("an index into uniforms that do not lie evenly").at(range(inst.span)))?;
        let (alignment, unit) = match step {
            0 | 4.. if step % 4 == 0 => (Alignment::Vec4, 4),
            2 => (Alignment::Vec2, 2),
            _ => (Alignment::Float, 1),
        };
        let factor = step / unit;
        let mut offset = self.in_cell(inst.args[0], inst.span);
        if factor > 1 {
            let scaled = self.nodes.cell();
            self.block.push(Node::new(
                Kind::Alu {
                    mul: Some(MulOp::Mul),
                    acc: None,
                },
                vec![scaled],
                vec![
                    Operand::one(Src::Cell(offset)),
                    Operand::one(Src::Const((factor as f32).to_bits())),
                ],
                inst.span,
            ));
            offset = scaled;
        }
        let cell = self.cell(value);
        let lane = place % unit;
        let mut node = Node::mov(vec![cell], Operand::one(Src::Load(lane as u8)), inst.span);
        node.tag = inst.tag;
        node.load = Some(LoadAt {
            temporary: false,
            index: (place / unit) as i32,
            alignment,
            offset: (step > 0).then_some(offset),
        });
        self.block.push(node);
        Ok(())
    }

    /// A look-up and a move of the lanes that are used.
    pub(super) fn texture(&mut self, value: Value) -> Result<()> {
        let inst = self.inst(value).clone();
        let Op::Texture { unit, cube, lod } = inst.op else {
            return Ok(());
        };
        let count = if cube { 3 } else { 2 };
        let coord = match self.direct(&inst.args[..count], cube) {
            Some(load) => Coord::Varying(load),
            None => Coord::Register(self.coordinates(&inst.args[..count], inst.span)),
        };
        let lod = match lod {
            Lod::Implicit => None,
            Lod::Bias => Some((self.in_cell(inst.args[count], inst.span), false)),
            Lod::Explicit => Some((self.in_cell(inst.args[count], inst.span), true)),
        };
        let home = self.home.get(&value).copied();
        let lanes: Vec<(Value, u8)> = (0..self.function.values.len() as u32)
            .map(Value)
            .filter_map(|lane| match self.function.inst(lane).op {
                Op::Lane(number)
                    if self.function.inst(lane).args[0] == value
                        && self.uses[lane.0 as usize] > 0
                        && self.home.contains_key(&lane) =>
                {
                    Some((lane, number))
                }
                _ => None,
            })
            .collect();
        debug_assert!(home.is_some());
        if lanes.is_empty() {
            return Ok(());
        }
        let dst = lanes.iter().map(|(lane, _)| self.cell(*lane)).collect();
        let comps = lanes.iter().map(|(_, number)| Src::Tex(*number)).collect();
        let operand = Operand {
            comps,
            negate: false,
            absolute: false,
        };
        let mut node = Node::mov(dst, operand, inst.span);
        node.tex = Some(Tex { unit, cube, coord, lod });
        self.block.push(node);
        Ok(())
    }

    /// Coordinates that the varying unit can hand to the sampler itself: a varying, or one divided by its last component.
    pub(super) fn direct(&self, args: &[Value], cube: bool) -> Option<VaryingLoad> {
        let slot = |value: Value| match self.function.inst(value).op {
            Op::Input(Input::Varying(slot)) => Some(slot),
            _ => None,
        };
        let rows = |slot: u32| {
            let variable = self.interface.varyings.iter().rfind(|variable| variable.first <= slot);
            variable.map_or(1, |variable| variable.rows)
        };
        let start = |slots: &[u32]| {
            let places: Vec<u32> = slots.iter().map(|slot| self.varyings.places[*slot as usize]).collect();
            places
                .windows(2)
                .all(|pair| pair[1] == pair[0] + 1)
                .then_some(places[0])
        };
        if let Some(slots) = args.iter().map(|arg| slot(*arg)).collect::<Option<Vec<u32>>>() {
            let place = start(&slots)?;
            let kind = if cube { VaryingKind::Cube } else { VaryingKind::Plain };
            return match (cube, place % 4, rows(slots[0])) {
                (_, 0, 3..) => Some(VaryingLoad {
                    kind,
                    index: place / 4,
                    alignment: Alignment::Varying4,
                }),
                (false, 0 | 2, _) => Some(VaryingLoad {
                    kind,
                    index: place / 2,
                    alignment: Alignment::Vec2,
                }),
                _ => None,
            };
        }
        if cube {
            return None;
        }
        // x * (1 / w), y * (1 / w)
        let product = |value: Value| {
            let inst = self.function.inst(value);
            (inst.op == Op::Mul).then_some(())?;
            let inverse = |value: Value| {
                let inst = self.function.inst(value);
                (inst.op == Op::Rcp).then(|| slot(inst.args[0])).flatten()
            };
            match (
                slot(inst.args[0]),
                inverse(inst.args[1]),
                slot(inst.args[1]),
                inverse(inst.args[0]),
            ) {
                (Some(a), Some(w), ..) | (_, _, Some(a), Some(w)) => Some((a, w)),
                _ => None,
            }
        };
        let ((x, w), (y, other)) = (product(args[0])?, product(args[1])?);
        let place = start(&[x, y])?;
        let last = self.varyings.places[w as usize];
        let kind = match last.checked_sub(place)? {
            2 => VaryingKind::DivideZ,
            3 => VaryingKind::DivideW,
            _ => return None,
        };
        (w == other && place % 4 == 0).then_some(VaryingLoad {
            kind,
            index: place / 4,
            alignment: Alignment::Varying4,
        })
    }

    /// Coordinates in a register: cells of one, all with the same signs.
    pub(super) fn coordinates(&mut self, args: &[Value], span: Span) -> Operand {
        let raws: Vec<Raw> = args.iter().map(|arg| self.raw(*arg)).collect();
        let signs = |raw: &Raw| (raw.operand.negate, raw.operand.absolute);
        let plain = raws.iter().all(|raw| {
            signs(raw) == signs(&raws[0]) && raw.uniform.is_none() && matches!(raw.operand.comps[0], Src::Cell(_))
        });
        if plain {
            return Operand {
                comps: raws.iter().map(|raw| raw.operand.comps[0]).collect(),
                negate: raws[0].operand.negate,
                absolute: raws[0].operand.absolute,
            };
        }
        let comps = args.iter().map(|arg| Src::Cell(self.in_cell(*arg, span))).collect();
        Operand {
            comps,
            negate: false,
            absolute: false,
        }
    }
}

fn special(kind: VaryingKind) -> VaryingLoad {
    VaryingLoad {
        kind,
        index: 0,
        alignment: Alignment::Varying4,
    }
}

/// The load that brings a float of the varyings, and its lane.
fn varying_load(place: u32, rows: u32) -> (VaryingLoad, u8) {
    let (alignment, unit) = match rows {
        1 => (Alignment::Float, 1),
        2 => (Alignment::Vec2, 2),
        _ => (Alignment::Varying4, 4),
    };
    let load = VaryingLoad {
        kind: VaryingKind::Plain,
        index: place / unit,
        alignment,
    };
    (load, (place % unit) as u8)
}
