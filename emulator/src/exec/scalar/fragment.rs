//! One quad through a PP program (facts/mali/pp.md). The four fragments go together; where they part at a branch, the
//! ones that are furthest behind go first, so that they meet again.

use crate::exec::inputs::{Inputs, SLOTS};
use crate::exec::observe::{FragmentStep, Observer, Outside};
use crate::exec::{BUDGET, FragmentContext, Fragments, MAX_FRAGMENTS, Quad};
use crate::gpu::fault::{Fault, FaultKind, Result};
use crate::gpu::texture::Lod;
use num::lanes::One;
use num::{half, math};
use utgard::field::Fields;
use utgard::pp::access::PIPELINE;
use utgard::pp::ops::{Source, VARYING};
use utgard::pp::{Branch, Combine, Constant, FloatMul, Instruction, Load, Sampler, Store, Varying, VecMul};

type Vec4 = [f32; 4];

/// One fragment's state.
#[derive(Clone)]
struct Fragment {
    /// Registers 0 to 11, then the pipeline: constants, texture, uniform.
    registers: [Vec4; 16],
    vec_mul: Vec4,
    float_mul: f32,
    temporaries: Vec<f32>,
    /// Word of its next instruction; `END` when it is done.
    pc: u32,
    discarded: bool,
}

const END: u32 = u32::MAX;

/// What the units of an instruction write, kept until all of its stage have read.
#[derive(Clone, Copy, Default)]
struct Write {
    register: usize,
    mask: u32,
    value: Vec4,
}

struct Lanes<'a, O> {
    context: &'a FragmentContext<'a>,
    inputs: &'a Inputs,
    quad: Quad,
    fragments: [Fragment; 4],
    observer: &'a mut O,
}

pub(super) fn run<O: Observer>(
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    quad: Quad,
    number: usize,
    out: &mut Fragments,
    observer: &mut O,
) -> Result<()> {
    observer.quad(context.program, quad.x, quad.y, quad.live);
    let (low, high) = context.program.temporaries.unwrap_or((0, -1));
    let fragment = Fragment {
        registers: [[0.0; 4]; 16],
        vec_mul: [0.0; 4],
        float_mul: 0.0,
        temporaries: vec![0.0; (high - low + 1).max(0) as usize],
        pc: 0,
        discarded: false,
    };
    let mut lanes = Lanes {
        context,
        inputs,
        quad,
        fragments: std::array::from_fn(|_| fragment.clone()),
        observer,
    };
    let mut budget = BUDGET;
    loop {
        let pc = lanes.fragments.iter().map(|fragment| fragment.pc).min().unwrap_or(END);
        if pc == END {
            break;
        }
        budget -= 1;
        if budget == 0 {
            return Err(Fault::new(FaultKind::Budget, "a fragment does not come to its end").pc(pc));
        }
        out.instructions += lanes.active(pc).into_iter().map(u64::from).sum::<u64>();
        lanes.step(pc).map_err(|fault| fault.pc(pc))?;
    }
    lanes.finish(number, out);
    Ok(())
}

impl<O: Observer> Lanes<'_, O> {
    fn active(&self, pc: u32) -> [bool; 4] {
        std::array::from_fn(|lane| self.fragments[lane].pc == pc)
    }

    /// One instruction for the fragments that are at it.
    fn step(&mut self, pc: u32) -> Result<()> {
        let active = self.active(pc);
        let index = self.context.program.index_of(pc);
        let Some((_, i)) = index.and_then(|index| self.context.program.instructions.get(index)) else {
            return Err(Fault::new(FaultKind::Program, "no instruction begins here"));
        };
        let before = O::ON.then(|| self.fragments.each_ref().map(|fragment| fragment.registers));
        for fragment in &mut self.fragments {
            let constant = |constant: &Option<Constant>| constant.as_ref().map_or([0.0; 4], halves);
            let pipeline = [constant(&i.const0), constant(&i.const1), [0.0; 4], [0.0; 4]];
            fragment.registers[PIPELINE as usize..].copy_from_slice(&pipeline);
            (fragment.vec_mul, fragment.float_mul) = ([0.0; 4], 0.0);
        }
        let coordinates = i
            .varying
            .as_ref()
            .map(|unit| self.varying(unit, &active))
            .transpose()?
            .unwrap_or_default();
        if let Some(unit) = &i.sampler {
            self.sample(unit, &coordinates)?;
        }
        for lane in (0..4).filter(|lane| active[*lane]) {
            if let Some(unit) = &i.load {
                self.load(lane, unit)?;
            }
            self.multiply(lane, i)?;
        }
        self.accumulate(i, &active)?;
        for lane in (0..4).filter(|lane| active[*lane]) {
            if let Some(unit) = &i.combine {
                self.combine(lane, unit)?;
            }
            if let Some(unit) = &i.store {
                self.store(lane, unit)?;
            }
            self.fragments[lane].pc = self.next(lane, pc, i)?;
        }
        if let Some(before) = before {
            for lane in (0..4).filter(|lane| active[*lane]) {
                self.observed(lane, index.unwrap_or_default(), i, &before[lane]);
            }
        }
        Ok(())
    }

    /// Tells the observer what a fragment just did.
    fn observed(&mut self, lane: usize, number: usize, instruction: &Instruction, before: &[Vec4; 16]) {
        let fragment = &self.fragments[lane];
        self.observer.fragment(&FragmentStep {
            lane,
            number,
            instruction,
            before,
            after: &fragment.registers,
            products: (fragment.vec_mul, fragment.float_mul),
            next: (fragment.pc != END).then_some(fragment.pc),
            discarded: fragment.discarded,
        });
    }

    /// Tells the observer that something is not there.
    fn outside(&mut self, lane: usize, what: Outside, index: i64) {
        if O::ON {
            self.observer.outside(lane, what, index);
        }
    }

    /// Where a fragment goes from here.
    fn next(&mut self, lane: usize, pc: u32, i: &Instruction) -> Result<u32> {
        let fragment = &mut self.fragments[lane];
        if let Some(branch) = &i.branch {
            if branch.kind == 3 {
                // Every discard that is known has all conditions set ([?] in facts/mali/pp.md, 12: whether they count).
                fragment.discarded = true;
                return Ok(END);
            }
            if branch.kind != 0 {
                return Err(Fault::new(
                    FaultKind::Program,
                    format!("branch kind {} is unknown", branch.kind),
                ));
            }
            if taken(fragment, branch) {
                let target = i64::from(pc) + i64::from(branch.signed_target());
                return u32::try_from(target)
                    .map_err(|_| Fault::new(FaultKind::Program, "a branch leaves the program"));
            }
        }
        Ok(if i.control.stop == 1 { END } else { pc + i.words() })
    }

    fn position(&self, lane: usize) -> (u32, u32) {
        (self.quad.x + (lane as u32 & 1), self.quad.y + (lane as u32 >> 1))
    }

    /// Registers are fp16; only some of the components are written.
    fn write(&mut self, lane: usize, write: Write) {
        if write.register >= PIPELINE as usize {
            return;
        }
        let register = &mut self.fragments[lane].registers[write.register];
        for (component, value) in write.value.into_iter().enumerate() {
            if write.mask >> component & 1 == 1 {
                register[component] = half::round(value);
            }
        }
        if O::ON && write.mask != 0 {
            self.observer.write(lane, write.register, write.mask, *register);
        }
    }

    /// The varying unit's results, of all fragments of the quad, for the sampler looks at its neighbours.
    fn varying(&mut self, unit: &Varying, active: &[bool; 4]) -> Result<[Vec4; 4]> {
        let mut values = [[0.0; 4]; 4];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = self.varying_value(lane, unit)?;
        }
        if unit.destination != 15 {
            for lane in (0..4).filter(|lane| active[*lane]) {
                let write = Write {
                    register: unit.destination as usize,
                    mask: unit.mask,
                    value: values[lane],
                };
                self.write(lane, write);
            }
        }
        Ok(values)
    }

    fn varying_value(&mut self, lane: usize, unit: &Varying) -> Result<Vec4> {
        let kind = VARYING[(unit.kind & 15) as usize];
        let value = match (kind.source, kind.code) {
            (Source::Builtin, code) => return self.builtin(lane, code),
            (Source::Memory, _) => self.interpolated(lane, unit),
            (Source::Register, _) => {
                let value = swizzled(self.fragments[lane].registers[unit.register as usize], unit.swizzle());
                value.map(|value| modified(value, unit.absolute, unit.negate))
            }
        };
        let [x, y, z, w] = value;
        Ok(match kind.code {
            2 | 6 => [x / z, y / z, 1.0, w],
            3 | 7 => [x / w, y / w, z / w, 1.0],
            10 => {
                let scale = math::rsqrt::<One>(x * x + (y * y + z * z));
                [x * scale, y * scale, z * scale, w]
            }
            // A cube map's direction stays as it is: the sampler finds the face ([?]: what a register would get).
            0 | 4 | 8 | 9 => value,
            code => {
                return Err(Fault::new(
                    FaultKind::Program,
                    format!("varying kind {code} is unknown"),
                ));
            }
        })
    }

    fn builtin(&self, lane: usize, code: u32) -> Result<Vec4> {
        let (column, row) = self.position(lane);
        let [x, y] = self.inputs.offset(column, row);
        let orientation = self.context.orientation;
        Ok(match code {
            11 => {
                let row = if orientation.flip {
                    orientation.y - row as f32
                } else {
                    orientation.y + row as f32
                };
                [
                    column as f32 + orientation.x,
                    row,
                    self.inputs.z.at(x, y),
                    1.0 / self.inputs.inverse_w.at(x, y),
                ]
            }
            12 => [self.inputs.point[0].at(x, y), self.inputs.point[1].at(x, y), 0.0, 1.0],
            13 => [math::truth::<One>(self.inputs.front); 4],
            _ => {
                return Err(Fault::new(
                    FaultKind::Program,
                    format!("varying kind {code} is unknown"),
                ));
            }
        })
    }

    /// A varying of the vertices; components from the index on, as many as the alignment says.
    fn interpolated(&mut self, lane: usize, unit: &Varying) -> Vec4 {
        let offset = match unit.register {
            15 => 0,
            register => self.fragments[lane].registers[register as usize][unit.component as usize] as i32,
        };
        let (shift, count) = match unit.alignment {
            0 => (0, 1),
            1 => (1, 2),
            _ => (2, 4),
        };
        let first = (unit.index as i32).wrapping_add(offset).wrapping_shl(shift);
        let (column, row) = self.position(lane);
        let [x, y] = self.inputs.offset(column, row);
        let w = if self.inputs.flat {
            1.0
        } else {
            1.0 / self.inputs.inverse_w.at(x, y)
        };
        let mut value = [0.0, 0.0, 0.0, 1.0];
        for (component, value) in value.iter_mut().enumerate().take(count) {
            let at = first.wrapping_add(component as i32);
            let plane = (0..4 * SLOTS as i32)
                .contains(&at)
                .then(|| self.inputs.varyings[at as usize / 4][at as usize % 4]);
            if plane.is_none() {
                self.outside(lane, Outside::Varying, i64::from(at));
            }
            let linear = plane.map_or(0.0, |plane| plane.at(x, y));
            *value = if self.inputs.flat { linear } else { linear * w };
        }
        value
    }

    fn scalar(&self, lane: usize, number: u32) -> f32 {
        self.fragments[lane].registers[(number >> 2 & 15) as usize][(number & 3) as usize]
    }

    fn sample(&mut self, unit: &Sampler, coordinates: &[Vec4; 4]) -> Result<()> {
        // One texture for the quad: which one is the first fragment's choice.
        let offset = if unit.offset_enable == 1 {
            self.scalar(0, unit.offset) as i32
        } else {
            0
        };
        let index = i64::from(unit.index) + i64::from(offset);
        let texture = usize::try_from(index)
            .ok()
            .and_then(|index| self.context.textures.get(index));
        let lod = |lane: usize| match (unit.lod_enable, unit.explicit_lod) {
            (1, 1) => Lod::Level(self.scalar(lane, unit.lod)),
            (1, _) => Lod::Bias(self.scalar(lane, unit.lod)),
            _ => Lod::Bias(0.0),
        };
        let lods = std::array::from_fn(lod);
        let texels = match texture {
            Some(texture) => texture.sample(coordinates, &lods, unit.kind == 31),
            // What a missing texture gives is not known; nothing may go wrong ([?]).
            None => {
                self.outside(0, Outside::Texture, index);
                [[0.0, 0.0, 0.0, 1.0]; 4]
            }
        };
        for (fragment, texel) in self.fragments.iter_mut().zip(texels) {
            fragment.registers[14] = texel;
        }
        Ok(())
    }

    /// Float number of an index, and how many components there are.
    fn place(&self, lane: usize, index: i32, alignment: u32, offset: Option<u32>) -> (i32, usize) {
        let offset = offset.map_or(0, |register| self.scalar(lane, register) as i32);
        let (shift, count) = match alignment {
            0 => (0, 1),
            1 => (1, 2),
            _ => (2, 4),
        };
        (index.wrapping_add(offset).wrapping_shl(shift), count)
    }

    fn load(&mut self, lane: usize, unit: &Load) -> Result<()> {
        let offset = (unit.offset_enable == 1).then_some(unit.offset);
        let (first, count) = self.place(lane, unit.signed_index(), unit.alignment, offset);
        let mut value = [0.0; 4];
        for (component, value) in value.iter_mut().enumerate().take(count) {
            let at = first.wrapping_add(component as i32);
            *value = match unit.source {
                0 => self.uniform(lane, at),
                3 => self.temporary(lane, at, false).map_or(0.0, |value| *value),
                source => {
                    return Err(Fault::new(
                        FaultKind::Program,
                        format!("load source {source} is unknown"),
                    ));
                }
            };
        }
        self.fragments[lane].registers[15] = value;
        Ok(())
    }

    fn uniform(&mut self, lane: usize, at: i32) -> f32 {
        let value = usize::try_from(at).ok().and_then(|at| self.context.uniforms.get(at));
        match value {
            Some(value) => *value,
            None => {
                self.outside(lane, Outside::Uniform, i64::from(at));
                0.0
            }
        }
    }

    fn temporary(&mut self, lane: usize, at: i32, write: bool) -> Option<&mut f32> {
        let (low, _) = self.context.program.temporaries?;
        let index = usize::try_from(i64::from(at) - i64::from(low)).ok();
        let have = self.fragments[lane].temporaries.len();
        let index = index.filter(|index| *index < have);
        if O::ON {
            match index {
                Some(_) => self.observer.temporary(lane, i64::from(at), write),
                None => self.outside(lane, Outside::Temporary, i64::from(at)),
            }
        }
        self.fragments[lane].temporaries.get_mut(index?)
    }

    fn multiply(&mut self, lane: usize, i: &Instruction) -> Result<()> {
        let fragment = &self.fragments[lane];
        let mut writes = [Write::default(); 2];
        let (mut vec_mul, mut float_mul) = (fragment.vec_mul, fragment.float_mul);
        if let Some(unit) = &i.vec_mul {
            let (a, b) = (vector_a(fragment, unit), vector_b(fragment, unit));
            for component in 0..4 {
                vec_mul[component] = outcome(multiplied(unit.op, a[component], b[component])?, unit.modifier);
            }
            writes[0] = Write {
                register: unit.destination as usize,
                mask: unit.mask,
                value: vec_mul,
            };
        }
        if let Some(unit) = &i.float_mul {
            let (a, b) = (self.scalar_a(lane, unit), self.scalar_b(lane, unit));
            float_mul = outcome(multiplied(unit.op, a, b)?, unit.modifier);
            writes[1] = scalar_write(unit, float_mul);
        }
        (self.fragments[lane].vec_mul, self.fragments[lane].float_mul) = (vec_mul, float_mul);
        for write in writes {
            self.write(lane, write);
        }
        Ok(())
    }

    fn scalar_a(&self, lane: usize, unit: &FloatMul) -> f32 {
        modified(self.scalar(lane, unit.a), unit.a_absolute, unit.a_negate)
    }

    fn scalar_b(&self, lane: usize, unit: &FloatMul) -> f32 {
        modified(self.scalar(lane, unit.b), unit.b_absolute, unit.b_negate)
    }

    /// Both adders of all fragments read before any of them writes: derivatives look at the neighbours.
    fn accumulate(&mut self, i: &Instruction, active: &[bool; 4]) -> Result<()> {
        let mut writes = [[Write::default(); 2]; 4];
        if let Some(acc) = &i.vec_acc {
            let unit = VecMul::from_bits(acc.to_bits());
            let operands: [(Vec4, Vec4); 4] = std::array::from_fn(|lane| {
                let fragment = &self.fragments[lane];
                let a = if acc.a_is_mul == 1 {
                    vector_of(fragment.vec_mul, &unit)
                } else {
                    vector_a(fragment, &unit)
                };
                (a, vector_b(fragment, &unit))
            });
            for lane in (0..4).filter(|lane| active[*lane]) {
                let mut value = [0.0; 4];
                for (component, value) in value.iter_mut().enumerate() {
                    let of = |lane: usize| (operands[lane].0[component], operands[lane].1[component]);
                    *value = match unit.op {
                        16 => operands[lane].0[0] + (operands[lane].0[1] + operands[lane].0[2]),
                        17 => (operands[lane].0[0] + operands[lane].0[1]) + (operands[lane].0[2] + operands[lane].0[3]),
                        op => self.added(lane, op, of)?,
                    };
                    *value = outcome(*value, unit.modifier);
                }
                writes[lane][0] = Write {
                    register: unit.destination as usize,
                    mask: unit.mask,
                    value,
                };
            }
        }
        // The scalar adder sees a register the vec4 multiplier wrote, and not what the vec4 adder writes.
        if let Some(acc) = &i.float_acc {
            let unit = FloatMul::from_bits(acc.to_bits());
            let operands: [(f32, f32); 4] = std::array::from_fn(|lane| {
                let first = modified(self.fragments[lane].float_mul, unit.a_absolute, unit.a_negate);
                (
                    if acc.a_is_mul == 1 {
                        first
                    } else {
                        self.scalar_a(lane, &unit)
                    },
                    self.scalar_b(lane, &unit),
                )
            });
            for lane in (0..4).filter(|lane| active[*lane]) {
                let value = self.added(lane, unit.op, |lane| operands[lane])?;
                writes[lane][1] = scalar_write(&unit, outcome(value, unit.modifier));
            }
        }
        for (lane, writes) in writes.into_iter().enumerate() {
            for write in writes {
                self.write(lane, write);
            }
        }
        Ok(())
    }

    /// An adder's operation but for the sums; `of` gives a fragment's operands.
    fn added(&self, lane: usize, op: u32, of: impl Fn(usize) -> (f32, f32)) -> Result<f32> {
        let (a, b) = of(lane);
        Ok(match op {
            0 => a + b,
            4 => math::fract::<One>(a),
            8 => math::truth::<One>(a != b),
            9 => math::truth::<One>(a > b),
            10 => math::truth::<One>(a >= b),
            11 => math::truth::<One>(a == b),
            12 => a.floor(),
            13 => math::ceil::<One>(a),
            14 => minimum(a, b),
            15 => maximum(a, b),
            // The right fragment's first operand and the left one's second.
            20 => of(lane | 1).0 + of(lane & !1).1,
            21 if self.context.orientation.flip_derivative => of(lane & !2).0 + of(lane | 2).1,
            21 => of(lane | 2).0 + of(lane & !2).1,
            23 => {
                if self.fragments[lane].float_mul != 0.0 {
                    a
                } else {
                    b
                }
            }
            31 => a,
            _ => return Err(Fault::new(FaultKind::Program, format!("acc operation {op} is unknown"))),
        })
    }

    fn combine(&mut self, lane: usize, unit: &Combine) -> Result<()> {
        let a = modified(self.scalar(lane, unit.a), unit.a_absolute, unit.a_negate);
        let (register, swizzle) = unit.b_vector();
        let vector = swizzled(self.fragments[lane].registers[register as usize & 15], swizzle);
        let scalar = |value: f32| Write {
            register: (unit.destination >> 2) as usize,
            mask: 1 << (unit.destination & 3),
            value: [outcome(value, unit.modifier); 4],
        };
        let write = match (unit.vector, unit.b_enable) {
            (0, 0) => scalar(function(unit.op, a)?),
            // The atan chain: the first part gives the finished angle, the second passes it on ([?] in facts, 10).
            (0, _) => scalar(vector[0]),
            (_, second) => {
                let (register, mask) = unit.destination_vector();
                let value = match (second, unit.op) {
                    (1, _) => vector.map(|b| a * b),
                    (_, 8) => [a.atan(), 1.0, 0.0, 0.0],
                    (_, 9) => [
                        a.atan2(modified(self.scalar(lane, unit.b), unit.b_absolute, unit.b_negate)),
                        1.0,
                        0.0,
                        0.0,
                    ],
                    (_, op) => {
                        return Err(Fault::new(
                            FaultKind::Program,
                            format!("combine operation {op} is unknown"),
                        ));
                    }
                };
                Write {
                    register: register as usize,
                    mask,
                    value,
                }
            }
        };
        self.write(lane, write);
        Ok(())
    }

    fn store(&mut self, lane: usize, unit: &Store) -> Result<()> {
        if unit.read == 3 {
            let (column, row) = self.position(lane);
            let (color, depth) = self.context.tile.map_or(([0.0; 4], 0.0), |tile| tile(column, row));
            let value = if unit.target == 2 {
                [depth, 0.0, 0.0, 0.0]
            } else {
                color
            };
            self.write(
                lane,
                Write {
                    register: (unit.source >> 2) as usize,
                    mask: 15,
                    value,
                },
            );
            return Ok(());
        }
        let offset = (unit.offset_enable == 1).then_some(unit.offset);
        let (first, count) = self.place(lane, unit.signed_index(), unit.alignment, offset);
        let source = if unit.alignment < 2 {
            unit.source
        } else {
            unit.source & !3
        };
        for component in 0..count {
            let value = self.scalar(lane, source + component as u32);
            if let Some(slot) = self.temporary(lane, first.wrapping_add(component as i32), true) {
                *slot = half::round(value);
            }
        }
        Ok(())
    }

    fn finish(&self, number: usize, out: &mut Fragments) {
        let mut live = 0;
        for (lane, fragment) in self.fragments.iter().enumerate() {
            let at = 4 * number + lane;
            let output = |register| FragmentContext::output(register).map_or([0.0; 4], |at| fragment.registers[at]);
            let put = |rows: &mut [[f32; MAX_FRAGMENTS]; 4], register| {
                rows.iter_mut()
                    .zip(output(register))
                    .for_each(|(row, value)| row[at] = value);
            };
            put(&mut out.color, self.context.color_register);
            if let Some(register) = self.context.second_register {
                put(&mut out.second, register);
            }
            if let Some(register) = self.context.depth_register {
                out.depth[at] = output(register)[0];
            }
            live |= u8::from(!fragment.discarded) << lane;
        }
        out.live[number] = live & self.quad.live;
    }
}

fn halves(constant: &Constant) -> Vec4 {
    constant.halves().map(half::to_f32)
}

fn swizzled(value: Vec4, swizzle: u32) -> Vec4 {
    std::array::from_fn(|at| value[(swizzle >> (2 * at) & 3) as usize])
}

/// Absolute value first, then negation.
fn modified(value: f32, absolute: u32, negate: u32) -> f32 {
    let value = if absolute == 1 { value.abs() } else { value };
    if negate == 1 { -value } else { value }
}

/// Destination modifiers (facts/mali/pp.md, 4).
fn outcome(value: f32, modifier: u32) -> f32 {
    match modifier {
        1 => math::saturate::<One>(value),
        2 => maximum(value, 0.0),
        3 => value.trunc(),
        _ => value,
    }
}

fn minimum(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

fn maximum(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

fn vector_of(value: Vec4, unit: &VecMul) -> Vec4 {
    swizzled(value, unit.a_swizzle).map(|value| modified(value, unit.a_absolute, unit.a_negate))
}

fn vector_a(fragment: &Fragment, unit: &VecMul) -> Vec4 {
    vector_of(fragment.registers[unit.a as usize & 15], unit)
}

fn vector_b(fragment: &Fragment, unit: &VecMul) -> Vec4 {
    let value = swizzled(fragment.registers[unit.b as usize & 15], unit.b_swizzle);
    value.map(|value| modified(value, unit.b_absolute, unit.b_negate))
}

fn scalar_write(unit: &FloatMul, value: f32) -> Write {
    let mask = if unit.write == 1 {
        1 << (unit.destination & 3)
    } else {
        0
    };
    Write {
        register: (unit.destination >> 2) as usize,
        mask,
        value: [value; 4],
    }
}

/// The multipliers' operations.
fn multiplied(op: u32, a: f32, b: f32) -> Result<f32> {
    let truth = math::truth::<One>;
    Ok(match op {
        0 => a * b,
        // Scaled by two to the power of the operation as a signed number of three bits.
        1..=7 => a * b * [1.0, 2.0, 4.0, 8.0, 0.0625, 0.125, 0.25, 0.5][op as usize],
        8 => truth(a == 0.0),
        9 => truth((a != 0.0) & (b != 0.0)),
        10 => truth((a != 0.0) | (b != 0.0)),
        11 => truth((a != 0.0) ^ (b != 0.0)),
        12 => truth(a != b),
        13 => truth(a > b),
        14 => truth(a >= b),
        15 => truth(a == b),
        16 => minimum(a, b),
        17 => maximum(a, b),
        31 => a,
        _ => return Err(Fault::new(FaultKind::Program, format!("mul operation {op} is unknown"))),
    })
}

/// The combine unit's functions of one number.
fn function(op: u32, a: f32) -> Result<f32> {
    Ok(match op {
        0 => math::rcp::<One>(a),
        1 => a,
        2 => a.sqrt(),
        3 => math::rsqrt::<One>(a),
        4 => math::exp2::<One>(a),
        5 => math::log2::<One>(a),
        6 => math::sin_turns::<One>(a),
        7 => math::cos_turns::<One>(a),
        _ => {
            return Err(Fault::new(
                FaultKind::Program,
                format!("combine operation {op} is unknown"),
            ));
        }
    })
}

fn taken(fragment: &Fragment, branch: &Branch) -> bool {
    let value = |number: u32| fragment.registers[(number >> 2 & 15) as usize][(number & 3) as usize];
    let (a, b) = (value(branch.a), value(branch.b));
    branch.always() || branch.greater == 1 && a > b || branch.equal == 1 && a == b || branch.less == 1 && a < b
}
