//! One instruction of a PP program as operations on rows, unit by unit in the order they run.

use super::alu::{Alu, AluOp, From, Operand, stage};
use super::fragment_code::{Condition, Input, Interpolate, Next, Op, Step, extent, row};
use crate::exec::{FragmentProgram, Orientation};
use num::half;
use utgard::field::Fields;
use utgard::pp::access::PIPELINE;
use utgard::pp::ops::{Source, VARYING};
use utgard::pp::{Branch, Combine, Constant, FloatMul, Instruction, Load, Store, Varying, VecMul};

/// An operation nobody knows, in words.
type Unknown = String;

/// The instruction at a word of a program.
pub fn step(program: &FragmentProgram, word: u32, i: &Instruction, orientation: Orientation) -> Step {
    let mut builder = Builder {
        i,
        orientation,
        low: program.temporaries.map_or(0, |(low, _)| low),
        ops: Vec::new(),
        ran: [false; 2],
    };
    let next = match builder.units() {
        Ok(()) => builder.next(program, word),
        Err(unknown) => Next::Fault(unknown),
    };
    Step {
        word,
        ops: builder.ops,
        next,
    }
}

struct Builder<'a> {
    i: &'a Instruction,
    orientation: Orientation,
    low: i32,
    ops: Vec<Op>,
    /// The sampler and the load have run: before that, and without them, their registers are zero.
    ran: [bool; 2],
}

impl Builder<'_> {
    fn units(&mut self) -> Result<(), Unknown> {
        let i = *self.i;
        if let Some(unit) = &i.varying {
            self.varying(unit)?;
        }
        if let Some(unit) = i.sampler {
            let from = |number: u32| self.scalar(number, 0, 0).from;
            let (lod, offset) = (from(unit.lod), from(unit.offset));
            self.ops.push(Op::Sample(unit, lod, offset));
            self.ran[0] = true;
        }
        if let Some(unit) = &i.load {
            self.load(unit)?;
            self.ran[1] = true;
        }
        self.multiply()?;
        self.accumulate()?;
        if let Some(unit) = &i.combine {
            self.combine(unit)?;
        }
        if let Some(unit) = &i.store {
            self.store(unit);
        }
        Ok(())
    }

    fn next(&self, program: &FragmentProgram, word: u32) -> Next {
        let stop = self.i.control.stop == 1;
        let behind = program.index_of(word + self.i.words());
        if let Some(branch) = &self.i.branch {
            if branch.kind == 3 {
                return Next::Discard;
            }
            if branch.kind != 0 {
                return Next::Fault(format!("branch kind {} is unknown", branch.kind));
            }
            if branch.condition() != 0 {
                return self.branch(program, word, branch, behind.filter(|_| !stop));
            }
        }
        match (stop, behind) {
            (true, _) => Next::End,
            (_, Some(behind)) => Next::On(behind),
            _ => Next::Fault("no instruction begins here".to_owned()),
        }
    }

    fn branch(&self, program: &FragmentProgram, word: u32, branch: &Branch, on: Option<usize>) -> Next {
        let target = word
            .checked_add_signed(branch.signed_target())
            .and_then(|target| program.index_of(target));
        let operands = [branch.a, branch.b].map(|number| self.scalar(number, 0, 0));
        match target {
            Some(target) => Next::Branch(
                Condition {
                    wanted: branch.condition(),
                    operands,
                },
                target,
                on,
            ),
            None => Next::Fault("no instruction begins here".to_owned()),
        }
    }

    fn stage(&mut self, operations: Vec<Alu>) {
        let mut out = Vec::new();
        stage(operations, row::SPARE, &mut out);
        self.ops.extend(out.into_iter().map(Op::Alu));
    }

    /// A component of a register: constants and plain uniforms are numbers, the others rows.
    fn component(&self, register: u32, component: u32) -> From {
        let row = From::Row((register << 2 | component) as u16);
        let constant = |constant: Option<Constant>| {
            From::Value(constant.map_or(0.0, |constant| half::to_f32(constant.halves()[component as usize])))
        };
        let [sampled, loaded] = self.ran;
        match register {
            12 => constant(self.i.const0),
            13 => constant(self.i.const1),
            14 if !sampled => From::Value(0.0),
            15 if !loaded => From::Value(0.0),
            15 => self
                .i
                .load
                .and_then(|load| self.uniform(&load, component))
                .unwrap_or(row),
            _ => row,
        }
    }

    /// A result of the multipliers, zero without them.
    fn product(&self, row: u16) -> From {
        let have = if row < row::FLOAT_MUL {
            self.i.vec_mul.is_some()
        } else {
            self.i.float_mul.is_some()
        };
        if have { From::Row(row) } else { From::Value(0.0) }
    }

    /// A component of a uniform whose place is known.
    fn uniform(&self, load: &Load, component: u32) -> Option<From> {
        if load.source != 0 || load.offset_enable == 1 {
            return None;
        }
        let (shift, count) = extent(load.alignment);
        let at = (load.signed_index() << shift) + component as i32;
        let inside = component < count && at >= 0;
        Some(if inside {
            u16::try_from(at).map_or(From::Value(0.0), From::Uniform)
        } else {
            From::Value(0.0)
        })
    }

    fn scalar(&self, number: u32, absolute: u32, negate: u32) -> Operand {
        let from = self.component(number >> 2 & 15, number & 3);
        Operand {
            from,
            absolute: absolute == 1,
            negate: negate == 1,
        }
    }

    fn varying(&mut self, unit: &Varying) -> Result<(), Unknown> {
        let kind = VARYING[(unit.kind & 15) as usize];
        // The sampler sees all of the result, unrounded, of all lanes.
        let to = row::COORDINATES;
        match kind.source {
            Source::Builtin => self.builtin(kind.code, to)?,
            Source::Memory => self.memory(unit, to),
            Source::Register => {
                for component in 0..4 {
                    let from = unit.swizzle() >> (2 * component) & 3;
                    let operand = self.register_operand(unit, from);
                    self.all(Alu::new(AluOp::Copy, &[operand], to + component as u16));
                }
            }
        }
        self.projected(kind.code, to)?;
        if unit.destination < PIPELINE {
            for component in (0..4).filter(|component| unit.mask >> component & 1 == 1) {
                let mut copy = Alu::new(
                    AluOp::Copy,
                    &[Operand::row(to + component as u16)],
                    (unit.destination << 2 | component) as u16,
                );
                copy.round = true;
                self.ops.push(Op::Alu(copy));
            }
        }
        Ok(())
    }

    fn register_operand(&self, unit: &Varying, component: u32) -> Operand {
        let from = self.component(unit.register, component);
        Operand {
            from,
            absolute: unit.absolute == 1,
            negate: unit.negate == 1,
        }
    }

    /// An operation on all lanes: what only the varying unit and the sampler do. Lanes that are elsewhere do not mind,
    /// for these rows are used by this instruction only.
    fn all(&mut self, alu: Alu) {
        self.ops.push(Op::Alu(alu));
    }

    fn builtin(&mut self, code: u32, to: u16) -> Result<(), Unknown> {
        let one = Operand::value(1.0);
        match code {
            11 => {
                let Orientation { x, y, flip, .. } = self.orientation;
                self.all(Alu::new(
                    AluOp::Add,
                    &[Operand::row(row::COLUMN), Operand::value(x)],
                    to,
                ));
                let below = Operand {
                    negate: flip,
                    ..Operand::row(row::ROW)
                };
                self.all(Alu::new(AluOp::Add, &[Operand::value(y), below], to + 1));
                self.ops.push(Op::Interpolate(Interpolate {
                    what: Input::Z,
                    to: to + 2,
                }));
                self.ops.push(Op::Interpolate(Interpolate {
                    what: Input::W,
                    to: to + 3,
                }));
            }
            12 => {
                self.ops.push(Op::Interpolate(Interpolate {
                    what: Input::Point(0),
                    to,
                }));
                self.ops.push(Op::Interpolate(Interpolate {
                    what: Input::Point(1),
                    to: to + 1,
                }));
                self.all(Alu::new(AluOp::Copy, &[Operand::value(0.0)], to + 2));
                self.all(Alu::new(AluOp::Copy, &[one], to + 3));
            }
            13 => (0..4).for_each(|at| {
                self.ops.push(Op::Interpolate(Interpolate {
                    what: Input::Front,
                    to: to + at,
                }))
            }),
            code => return Err(format!("varying kind {code} is unknown")),
        }
        Ok(())
    }

    fn memory(&mut self, unit: &Varying, to: u16) {
        let (shift, count) = extent(if unit.alignment < 2 { unit.alignment } else { 2 });
        for component in count..4 {
            let value = if component == 3 { 1.0 } else { 0.0 };
            self.all(Alu::new(AluOp::Copy, &[Operand::value(value)], to + component as u16));
        }
        if unit.register != 15 {
            let offset = self.component(unit.register, unit.component);
            self.ops
                .push(Op::InterpolateAt(unit.index as u16, unit.alignment, offset, to));
            return;
        }
        for component in 0..count {
            let what = Input::Varying(((unit.index << shift) + component) as u16);
            self.ops.push(Op::Interpolate(Interpolate {
                what,
                to: to + component as u16,
            }));
        }
    }

    /// Divisions and normalisation of the varying unit's result.
    fn projected(&mut self, code: u32, to: u16) -> Result<(), Unknown> {
        let at = |component: u16| Operand::row(to + component);
        match code {
            2 | 6 | 3 | 7 => {
                let by = if matches!(code, 2 | 6) { 2 } else { 3 };
                (0..by).for_each(|c| self.all(Alu::new(AluOp::Div, &[at(c), at(by)], to + c)));
                self.all(Alu::new(AluOp::Copy, &[Operand::value(1.0)], to + by));
            }
            10 => {
                let spare = row::SPARE;
                (0..3).for_each(|c| self.all(Alu::new(AluOp::Mul, &[at(c), at(c)], spare + c)));
                let squares = [0, 1, 2].map(|c| Operand::row(spare + c));
                self.all(Alu::new(AluOp::Sum3, &squares, spare));
                self.all(Alu::new(AluOp::Rsqrt, &[Operand::row(spare)], spare));
                (0..3).for_each(|c| self.all(Alu::new(AluOp::Mul, &[at(c), Operand::row(spare)], to + c)));
            }
            0 | 4 | 8 | 9 | 11..=13 => {}
            code => return Err(format!("varying kind {code} is unknown")),
        }
        Ok(())
    }

    fn load(&mut self, unit: &Load) -> Result<(), Unknown> {
        match unit.source {
            // Units that name the register find the numbers.
            0 if unit.offset_enable == 0 => {}
            3 if unit.offset_enable == 0 => {
                let (shift, count) = extent(unit.alignment);
                let first = (unit.signed_index() << shift) - self.low;
                for component in 0..4 {
                    let from = if component < count {
                        Operand::row(row::TEMPORARIES + first as u16 + component as u16)
                    } else {
                        Operand::value(0.0)
                    };
                    self.ops
                        .push(Op::Alu(Alu::new(AluOp::Copy, &[from], row::UNIFORM + component as u16)));
                }
            }
            0 | 3 => self.ops.push(Op::Load(*unit, self.scalar(unit.offset, 0, 0).from)),
            source => return Err(format!("load source {source} is unknown")),
        }
        Ok(())
    }

    fn operand_a(&self, unit: &VecMul, component: u32) -> Operand {
        let from = self.component(unit.a & 15, unit.a_swizzle >> (2 * component) & 3);
        Operand {
            from,
            absolute: unit.a_absolute == 1,
            negate: unit.a_negate == 1,
        }
    }

    fn operand_b(&self, unit: &VecMul, component: u32) -> Operand {
        let from = self.component(unit.b & 15, unit.b_swizzle >> (2 * component) & 3);
        Operand {
            from,
            absolute: unit.b_absolute == 1,
            negate: unit.b_negate == 1,
        }
    }

    /// Whether the adders take the multipliers' results.
    fn forwards(&self) -> (bool, bool) {
        let selects = self.i.vec_acc.is_some_and(|u| u.op == 23) || self.i.float_acc.is_some_and(|u| u.op == 23);
        let float = selects || self.i.float_acc.is_some_and(|u| u.a_is_mul == 1);
        (self.i.vec_acc.is_some_and(|u| u.a_is_mul == 1), float)
    }

    /// A product that only goes into a sum: both in one operation.
    fn fuses(&self) -> bool {
        let (Some(mul), Some(acc)) = (&self.i.vec_mul, &self.i.vec_acc) else {
            return false;
        };
        let plain = acc.a_absolute == 0 && acc.a_negate == 0;
        mul.op == 0 && mul.mask == 0 && mul.modifier == 0 && acc.op == 0 && acc.a_is_mul == 1 && plain
    }

    fn multiply(&mut self) -> Result<(), Unknown> {
        let mut operations = Vec::new();
        let (vec_forward, float_forward) = self.forwards();
        if let Some(unit) = self.i.vec_mul.filter(|_| !self.fuses()) {
            for component in 0..4 {
                let written = unit.mask >> component & 1 == 1;
                let operands = [self.operand_a(&unit, component), self.operand_b(&unit, component)];
                let (op, operands) = multiplied(unit.op, operands)?;
                let to = (unit.destination << 2 | component) as u16;
                let forward = row::VEC_MUL + component as u16;
                operations.extend(result(
                    op,
                    &operands,
                    unit.modifier,
                    written.then_some(to),
                    vec_forward.then_some(forward),
                ));
            }
        }
        if let Some(unit) = self.i.float_mul {
            let (a, b) = (
                self.scalar(unit.a, unit.a_absolute, unit.a_negate),
                self.scalar(unit.b, unit.b_absolute, unit.b_negate),
            );
            let (op, operands) = multiplied(unit.op, [a, b])?;
            let to = (unit.write == 1).then_some(unit.destination as u16);
            operations.extend(result(
                op,
                &operands,
                unit.modifier,
                to,
                float_forward.then_some(row::FLOAT_MUL),
            ));
        }
        self.stage(operations);
        Ok(())
    }

    fn accumulate(&mut self) -> Result<(), Unknown> {
        let mut operations = Vec::new();
        if let Some(acc) = self.i.vec_acc {
            let unit = VecMul::from_bits(acc.to_bits());
            let a = |component: u32| {
                let from = unit.a_swizzle >> (2 * component) & 3;
                match acc.a_is_mul {
                    1 => Operand {
                        from: self.product(row::VEC_MUL + from as u16),
                        absolute: unit.a_absolute == 1,
                        negate: unit.a_negate == 1,
                    },
                    _ => self.operand_a(&unit, component),
                }
            };
            for component in (0..4).filter(|component| unit.mask >> component & 1 == 1) {
                let to = (unit.destination << 2 | component) as u16;
                let (op, operands) = match (unit.op, self.i.vec_mul.filter(|_| self.fuses())) {
                    (_, Some(mul)) => {
                        let from = unit.a_swizzle >> (2 * component) & 3;
                        let product = [self.operand_a(&mul, from), self.operand_b(&mul, from)];
                        (
                            AluOp::MulAdd,
                            vec![product[0], product[1], self.operand_b(&unit, component)],
                        )
                    }
                    (16, _) => (AluOp::Sum3, vec![a(0), a(1), a(2)]),
                    (17, _) => {
                        // Two halves first, then their sum; the halves are nobody's registers.
                        let halves = row::SPARE + 12;
                        operations.push(Alu::new(AluOp::Add, &[a(0), a(1)], halves));
                        operations.push(Alu::new(AluOp::Add, &[a(2), a(3)], halves + 1));
                        (AluOp::Add, vec![Operand::row(halves), Operand::row(halves + 1)])
                    }
                    (op, _) => self.added(op, a(component), self.operand_b(&unit, component))?,
                };
                operations.extend(result(op, &operands, unit.modifier, Some(to), None));
            }
            // Even what is written nowhere has to exist.
            if unit.mask == 0 && !matches!(unit.op, 16 | 17) {
                self.added(unit.op, Operand::value(0.0), Operand::value(0.0))?;
            }
        }
        if let Some(acc) = self.i.float_acc {
            let unit = FloatMul::from_bits(acc.to_bits());
            let forward = Operand {
                from: self.product(row::FLOAT_MUL),
                absolute: unit.a_absolute == 1,
                negate: unit.a_negate == 1,
            };
            let a = if acc.a_is_mul == 1 {
                forward
            } else {
                self.scalar(unit.a, unit.a_absolute, unit.a_negate)
            };
            let b = self.scalar(unit.b, unit.b_absolute, unit.b_negate);
            let (op, operands) = self.added(unit.op, a, b)?;
            let to = (unit.write == 1).then_some(unit.destination as u16);
            operations.extend(result(op, &operands, unit.modifier, to, None));
        }
        self.sums(operations);
        Ok(())
    }

    /// The stage of the adders. Halves of sums are read behind where they are written, and must not be put aside.
    fn sums(&mut self, operations: Vec<Alu>) {
        let halves = row::SPARE + 12..row::SPARE + 14;
        let (first, rest): (Vec<Alu>, Vec<Alu>) = operations.into_iter().partition(|alu| halves.contains(&alu.to));
        // All sums of an instruction are the same: their halves are computed once.
        self.ops.extend(first.into_iter().take(2).map(Op::Alu));
        self.stage(rest);
    }

    fn added(&self, op: u32, a: Operand, b: Operand) -> Result<(AluOp, Vec<Operand>), Unknown> {
        Ok(match op {
            0 => (AluOp::Add, vec![a, b]),
            4 => (AluOp::Fract, vec![a]),
            8 => (AluOp::Ne, vec![a, b]),
            9 => (AluOp::Gt, vec![a, b]),
            10 => (AluOp::Ge, vec![a, b]),
            11 => (AluOp::Eq, vec![a, b]),
            12 => (AluOp::Floor, vec![a]),
            13 => (AluOp::Ceil, vec![a]),
            14 => (AluOp::Min, vec![a, b]),
            15 => (AluOp::Max, vec![a, b]),
            20 => (AluOp::Ddx, vec![a, b]),
            21 if self.orientation.flip_derivative => (AluOp::DdyUp, vec![a, b]),
            21 => (AluOp::DdyDown, vec![a, b]),
            23 => (AluOp::Select, vec![a, b, Operand::new(self.product(row::FLOAT_MUL))]),
            31 => (AluOp::Copy, vec![a]),
            op => return Err(format!("acc operation {op} is unknown")),
        })
    }

    fn combine(&mut self, unit: &Combine) -> Result<(), Unknown> {
        let a = self.scalar(unit.a, unit.a_absolute, unit.a_negate);
        let (register, swizzle) = unit.b_vector();
        let vector = |component: u32| Operand::new(self.component(register & 15, swizzle >> (2 * component) & 3));
        let scalar = |op, operand| result(op, &[operand], unit.modifier, Some(unit.destination as u16), None);
        let operations = match (unit.vector, unit.b_enable) {
            (0, 0) => {
                const FUNCTIONS: [AluOp; 8] = [
                    AluOp::Rcp,
                    AluOp::Copy,
                    AluOp::Sqrt,
                    AluOp::Rsqrt,
                    AluOp::Exp2,
                    AluOp::Log2,
                    AluOp::Sin,
                    AluOp::Cos,
                ];
                let op = FUNCTIONS
                    .get(unit.op as usize)
                    .ok_or_else(|| format!("combine operation {} is unknown", unit.op))?;
                scalar(*op, a)
            }
            (0, _) => scalar(AluOp::Copy, vector(0)),
            (_, second) => {
                let (destination, mask) = unit.destination_vector();
                let b = self.scalar(unit.b, unit.b_absolute, unit.b_negate);
                let rest = [
                    Operand::value(0.0),
                    Operand::value(1.0),
                    Operand::value(0.0),
                    Operand::value(0.0),
                ];
                let of = |component: u32| match (second, unit.op, component) {
                    (1, ..) => Ok((AluOp::Mul, vec![a, vector(component)])),
                    (_, 8, 0) => Ok((AluOp::Atan, vec![a])),
                    (_, 9, 0) => Ok((AluOp::Atan2, vec![a, b])),
                    (_, 8 | 9, component) => Ok((AluOp::Copy, vec![rest[component as usize]])),
                    (_, op, _) => Err(format!("combine operation {op} is unknown")),
                };
                let mut operations = Vec::new();
                for component in 0..4 {
                    let (op, operands) = of(component)?;
                    if mask >> component & 1 == 1 {
                        let to = (destination << 2 | component) as u16;
                        operations.extend(result(op, &operands, 0, Some(to), None));
                    }
                }
                operations
            }
        };
        self.stage(operations);
        Ok(())
    }

    fn store(&mut self, unit: &Store) {
        if unit.read == 3 {
            if unit.source >> 2 >= PIPELINE {
                return;
            }
            self.ops.push(Op::Tile((unit.source & !3) as u16, unit.target == 2));
            return;
        }
        let (shift, count) = extent(unit.alignment);
        let source = if unit.alignment < 2 {
            unit.source
        } else {
            unit.source & !3
        };
        let sources = (source..source + count).map(|number| self.component(number >> 2 & 15, number & 3));
        if unit.offset_enable == 1 {
            let sources = sources.collect();
            self.ops
                .push(Op::Store(*unit, self.scalar(unit.offset, 0, 0).from, sources));
            return;
        }
        let sources: Vec<From> = sources.collect();
        let first = (unit.signed_index() << shift) - self.low;
        for (component, from) in sources.into_iter().enumerate() {
            let to = row::TEMPORARIES + first as u16 + component as u16;
            self.ops.push(Op::Alu(Alu {
                round: true,
                ..Alu::new(AluOp::Copy, &[Operand::new(from)], to)
            }));
        }
    }
}

/// A multiplier's operation.
fn multiplied(op: u32, [a, b]: [Operand; 2]) -> Result<(AluOp, Vec<Operand>), Unknown> {
    const SCALES: [f32; 8] = [1.0, 2.0, 4.0, 8.0, 0.0625, 0.125, 0.25, 0.5];
    Ok(match op {
        0 => (AluOp::Mul, vec![a, b]),
        1..=7 => (AluOp::MulScaled, vec![a, b, Operand::value(SCALES[op as usize])]),
        8 => (AluOp::Not, vec![a]),
        9 => (AluOp::And, vec![a, b]),
        10 => (AluOp::Or, vec![a, b]),
        11 => (AluOp::Xor, vec![a, b]),
        12 => (AluOp::Ne, vec![a, b]),
        13 => (AluOp::Gt, vec![a, b]),
        14 => (AluOp::Ge, vec![a, b]),
        15 => (AluOp::Eq, vec![a, b]),
        16 => (AluOp::Min, vec![a, b]),
        17 => (AluOp::Max, vec![a, b]),
        31 => (AluOp::Copy, vec![a]),
        op => return Err(format!("mul operation {op} is unknown")),
    })
}

/// An operation for a register, for the pipeline, or for both: the pipeline's is not rounded.
fn result(op: AluOp, operands: &[Operand], modifier: u32, register: Option<u16>, pipeline: Option<u16>) -> Vec<Alu> {
    let one = |to: u16, round: bool| Alu {
        modifier: modifier as u8,
        round,
        ..Alu::new(op, operands, to)
    };
    // Registers of the pipeline cannot be written.
    let register = register
        .filter(|to| u32::from(*to) < 4 * PIPELINE)
        .map(|to| one(to, true));
    pipeline.map(|to| one(to, false)).into_iter().chain(register).collect()
}
