//! One instruction of a PP program as operations on rows, unit by unit in the order they run.

use super::alu::{Alu, AluOp, Finish, Operand, Source, stage};
use super::fragment_code::{Condition, FragmentCode, Input, Interpolate, Next, Op, Step, extent, row};
use crate::exec::{FragmentProgram, Orientation};
use num::half;
use utgard::field::Code;
use utgard::pp::ops::Origin;
use utgard::pp::{
    AccOp, Branch, BranchKind, Combine, Condition as Wanted, Constant, Form, Instruction, Load, LoadSource, Modifier,
    MulOp, Register, Scalar, ScalarFunction, ScalarSource, Store, StoreTarget, Varying, VaryingKind, VecMul,
    VectorFunction, VectorSource, VectorUnit,
};

/// An unknown operation, in words.
type Unknown = String;

impl FragmentCode {
    /// Takes a program apart.
    pub fn new(program: &FragmentProgram, orientation: Orientation) -> Self {
        let steps = program
            .instructions
            .iter()
            .map(|(word, i)| step(program, *word, i, orientation));
        Self::of(steps.collect(), program.temporaries)
    }
}

/// The instruction at a word of a program.
fn step(program: &FragmentProgram, word: u32, i: &Instruction, orientation: Orientation) -> Step {
    let mut builder = Builder {
        i,
        orientation,
        low: program.temporaries.map_or(0, |(low, _)| low),
        ops: Vec::new(),
        ran: [false; 2],
    };
    let reads_bias_early = program.reads_bias_early(word);
    if reads_bias_early {
        builder.all(Alu::new(AluOp::Copy, &[Operand::row(row::EARLY_BIAS)], row::BIAS));
    }
    // An instruction may do both.
    if let Some(bias) = program.bias_written_late(word) {
        let from = Operand::new(builder.scalar(bias));
        builder.all(Alu::new(AluOp::Copy, &[from], row::EARLY_BIAS));
    }
    let next = match builder.units(reads_bias_early) {
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
    fn units(&mut self, reads_bias_early: bool) -> Result<(), Unknown> {
        let i = *self.i;
        if let Some(unit) = &i.varying {
            self.varying(unit)?;
        }
        if let Some(unit) = i.sampler {
            let lod = match reads_bias_early {
                true => Source::Row(row::BIAS),
                false => self.scalar(unit.lod),
            };
            self.ops.push(Op::Sample(unit, lod, self.scalar(unit.offset)));
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
        let stop = self.i.control.stop;
        let behind = program.index_of(word + self.i.words());
        if let Some(branch) = &self.i.branch {
            if branch.is_discard() {
                return Next::Discard;
            }
            if let BranchKind::Undocumented(kind) = branch.kind {
                return Next::Fault(format!("branch kind {kind} is unknown"));
            }
            if branch.condition != Wanted::Never {
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
        let operands = [branch.a, branch.b].map(|scalar| Operand::new(self.scalar(scalar)));
        match target {
            Some(target) => Next::Branch(
                Condition {
                    wanted: branch.condition,
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
    fn component(&self, register: Register, component: usize) -> Source {
        let row = Source::Row(row_of(register, component));
        let constant = |constant: Option<Constant>| {
            Source::Value(constant.map_or(0.0, |constant| half::to_f32(constant.halves()[component])))
        };
        let [sampled, loaded] = self.ran;
        match register {
            Register::CONST0 => constant(self.i.const0),
            Register::CONST1 => constant(self.i.const1),
            Register::TEXTURE if !sampled => Source::Value(0.0),
            Register::UNIFORM if !loaded => Source::Value(0.0),
            Register::UNIFORM => self
                .i
                .load
                .and_then(|load| self.uniform(&load, component))
                .unwrap_or(row),
            _ => row,
        }
    }

    /// A result of the multipliers, zero without them.
    fn product(&self, row: u16) -> Source {
        let have = if row < row::FLOAT_MUL {
            self.i.vec_mul.is_some()
        } else {
            self.i.float_mul.is_some()
        };
        if have { Source::Row(row) } else { Source::Value(0.0) }
    }

    /// A component of a uniform whose place is known.
    fn uniform(&self, load: &Load, component: usize) -> Option<Source> {
        if load.source != LoadSource::Uniform || load.offset_enable {
            return None;
        }
        let at = (load.signed_index() << load.alignment.shift()) + component as i32;
        let inside = component < load.alignment.components() && at >= 0;
        Some(if inside {
            u16::try_from(at).map_or(Source::Value(0.0), Source::Uniform)
        } else {
            Source::Value(0.0)
        })
    }

    fn scalar(&self, scalar: Scalar) -> Source {
        self.component(scalar.register(), scalar.component())
    }

    fn scalar_source(&self, source: ScalarSource) -> Operand {
        Operand {
            from: self.scalar(source.scalar),
            absolute: source.absolute,
            negate: source.negate,
        }
    }

    fn varying(&mut self, unit: &Varying) -> Result<(), Unknown> {
        // The sampler reads all of the result, unrounded, of all lanes.
        let to = row::COORDINATES;
        match unit.kind.row().origin {
            Origin::Builtin => {}
            Origin::Memory => self.memory(unit, to),
            Origin::Register => {
                let source = VectorSource {
                    register: unit.register,
                    swizzle: unit.swizzle(),
                    absolute: unit.absolute,
                    negate: unit.negate,
                };
                for component in 0..4 {
                    let operand = self.vector_source(&source, component);
                    self.all(Alu::new(AluOp::Copy, &[operand], to + component as u16));
                }
            }
        }
        self.varying_kind(unit.kind, to)?;
        if !unit.destination.is_pipeline() {
            for component in (0..4).filter(|component| unit.mask >> component & 1 == 1) {
                let mut copy = Alu::new(
                    AluOp::Copy,
                    &[Operand::row(to + component as u16)],
                    row_of(unit.destination, component),
                );
                copy.round = true;
                self.ops.push(Op::Alu(copy));
            }
        }
        Ok(())
    }

    /// An operation on all lanes: what only the varying unit and the sampler do. Lanes that are elsewhere do not mind,
    /// for no other instruction of theirs uses these rows.
    fn all(&mut self, alu: Alu) {
        self.ops.push(Op::Alu(alu));
    }

    /// What is done to what was loaded, or what is there without.
    fn varying_kind(&mut self, kind: VaryingKind, to: u16) -> Result<(), Unknown> {
        let one = Operand::value(1.0);
        match kind {
            VaryingKind::Plain | VaryingKind::Register | VaryingKind::Cube | VaryingKind::RegisterCube => {}
            VaryingKind::DivideZ | VaryingKind::RegisterDivideZ => self.divided(2, to),
            VaryingKind::DivideW | VaryingKind::RegisterDivideW => self.divided(3, to),
            VaryingKind::Normalize => self.normalised(to),
            VaryingKind::FragCoord => {
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
            VaryingKind::PointCoord => {
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
            VaryingKind::FrontFacing => (0..4).for_each(|at| {
                self.ops.push(Op::Interpolate(Interpolate {
                    what: Input::Front,
                    to: to + at,
                }))
            }),
            VaryingKind::Kind1
            | VaryingKind::Kind5
            | VaryingKind::Builtin14
            | VaryingKind::Builtin15
            | VaryingKind::Undocumented(_) => return Err(format!("varying kind {} is unknown", kind.code())),
        }
        Ok(())
    }

    fn memory(&mut self, unit: &Varying, to: u16) {
        let (shift, count) = extent(unit.alignment);
        for component in count..4 {
            let value = if component == 3 { 1.0 } else { 0.0 };
            self.all(Alu::new(AluOp::Copy, &[Operand::value(value)], to + component as u16));
        }
        if let Some(offset) = unit.offset().map(|scalar| self.scalar(scalar)) {
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

    /// The varying unit's result divided by one of its components.
    fn divided(&mut self, by: u16, to: u16) {
        let at = |component: u16| Operand::row(to + component);
        (0..by).for_each(|c| self.all(Alu::new(AluOp::Div, &[at(c), at(by)], to + c)));
        self.all(Alu::new(AluOp::Copy, &[Operand::value(1.0)], to + by));
    }

    /// The varying unit's result with its first three components of length one.
    fn normalised(&mut self, to: u16) {
        let at = |component: u16| Operand::row(to + component);
        let spare = row::SPARE;
        (0..3).for_each(|c| self.all(Alu::new(AluOp::Mul, &[at(c), at(c)], spare + c)));
        let squares = [0, 1, 2].map(|c| Operand::row(spare + c));
        self.all(Alu::new(AluOp::Sum3, &squares, spare));
        self.all(Alu::new(AluOp::Rsqrt, &[Operand::row(spare)], spare));
        (0..3).for_each(|c| self.all(Alu::new(AluOp::Mul, &[at(c), Operand::row(spare)], to + c)));
    }

    fn load(&mut self, unit: &Load) -> Result<(), Unknown> {
        match (unit.source, unit.offset()) {
            (LoadSource::Undocumented(source), _) => return Err(format!("load source {source} is unknown")),
            // Units that name the register find the numbers.
            (LoadSource::Uniform, None) => {}
            (LoadSource::Temporary, None) => {
                let first = (unit.signed_index() << unit.alignment.shift()) - self.low;
                for component in 0..4 {
                    let from = if component < unit.alignment.components() {
                        Operand::row(row::TEMPORARIES + first as u16 + component as u16)
                    } else {
                        Operand::value(0.0)
                    };
                    self.ops
                        .push(Op::Alu(Alu::new(AluOp::Copy, &[from], row::UNIFORM + component as u16)));
                }
            }
            (LoadSource::Uniform | LoadSource::Temporary, Some(offset)) => {
                self.ops.push(Op::Load(*unit, self.scalar(offset)));
            }
        }
        Ok(())
    }

    fn vector_source(&self, source: &VectorSource, component: usize) -> Operand {
        Operand {
            from: self.component(source.register, source.swizzle.index(component)),
            absolute: source.absolute,
            negate: source.negate,
        }
    }

    fn operands(&self, unit: &VectorUnit, component: usize) -> [Operand; 2] {
        [unit.a, unit.b].map(|source| self.vector_source(&source, component))
    }

    /// Whether the adders take the multipliers' results.
    fn forwards(&self) -> (bool, bool) {
        (self.i.vec_acc.is_some_and(|u| u.a_is_mul), self.i.reads_product())
    }

    /// A product that only goes into a sum: both in one operation, behind what the scalar multiplier writes.
    fn fuses(&self) -> bool {
        let (Some(mul), Some(acc)) = (&self.i.vec_mul, &self.i.vec_acc) else {
            return false;
        };
        let plain = !(acc.a_absolute || acc.a_negate);
        let product = mul.op == MulOp::Mul && mul.mask == 0 && mul.modifier == Modifier::None;
        product && acc.op == AccOp::Add && acc.a_is_mul && plain && !self.overwrites_factor(mul)
    }

    /// Whether the scalar multiplier writes what the vec4 multiplier reads: both read before either writes.
    fn overwrites_factor(&self, mul: &VecMul) -> bool {
        let unit = mul.unit();
        let written = self.i.float_mul.filter(|other| other.write);
        written.is_some_and(|other| {
            let reads = |source: &VectorSource| {
                source.register == other.destination.register()
                    && (0..4).any(|at| source.swizzle.index(at) == other.destination.component())
            };
            reads(&unit.a) || reads(&unit.b)
        })
    }

    fn multiply(&mut self) -> Result<(), Unknown> {
        let mut operations = Vec::new();
        let (vec_forward, float_forward) = self.forwards();
        if let Some(mul) = self.i.vec_mul.filter(|_| !self.fuses()) {
            let unit = mul.unit();
            for component in 0..4 {
                let written = unit.mask >> component & 1 == 1;
                let (op, operands) = multiplied(mul.op, self.operands(&unit, component))?;
                let to = row_of(unit.destination, component);
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
        if let Some(mul) = self.i.float_mul {
            let unit = mul.unit();
            let (op, operands) = multiplied(mul.op, [unit.a, unit.b].map(|source| self.scalar_source(source)))?;
            let to = unit.write.then_some(scalar_row(unit.destination));
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
        self.add_vectors(&mut operations)?;
        if let Some(acc) = self.i.float_acc {
            let unit = acc.unit();
            let [mut a, b] = [unit.a, unit.b].map(|source| self.scalar_source(source));
            if acc.a_is_mul {
                a.from = self.product(row::FLOAT_MUL);
            }
            let (op, operands) = self.added(acc.op, a, b)?;
            let to = unit.write.then_some(scalar_row(unit.destination));
            operations.extend(result(op, &operands, unit.modifier, to, None));
        }
        self.sums(operations);
        Ok(())
    }

    fn add_vectors(&self, operations: &mut Vec<Alu>) -> Result<(), Unknown> {
        let Some(acc) = self.i.vec_acc else { return Ok(()) };
        let unit = acc.unit();
        let fused = self.i.vec_mul.filter(|_| self.fuses());
        let a = |component: usize| {
            let mut operand = self.vector_source(&unit.a, component);
            if acc.a_is_mul {
                operand.from = self.product(row::VEC_MUL + unit.a.swizzle.index(component) as u16);
            }
            operand
        };
        for component in (0..4).filter(|component| unit.mask >> component & 1 == 1) {
            let b = self.vector_source(&unit.b, component);
            let (op, operands) = match (acc.op, fused) {
                (_, Some(mul)) => {
                    let product = self.operands(&mul.unit(), unit.a.swizzle.index(component));
                    (AluOp::MulAdd, vec![product[0], product[1], b])
                }
                (AccOp::Sum3, _) => (AluOp::Sum3, vec![a(0), a(1), a(2)]),
                (AccOp::Sum4, _) => {
                    // Two halves first, then their sum; the halves are in no register of the program.
                    let halves = row::SPARE + 12;
                    operations.push(Alu::new(AluOp::Add, &[a(0), a(1)], halves));
                    operations.push(Alu::new(AluOp::Add, &[a(2), a(3)], halves + 1));
                    (AluOp::Add, vec![Operand::row(halves), Operand::row(halves + 1)])
                }
                (op, _) => self.added(op, a(component), b)?,
            };
            let to = row_of(unit.destination, component);
            operations.extend(result(op, &operands, unit.modifier, Some(to), None));
        }
        // Even what is written nowhere has to exist.
        if let (0, AccOp::Undocumented(op)) = (unit.mask, acc.op) {
            return Err(format!("acc operation {op} is unknown"));
        }
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

    fn added(&self, op: AccOp, a: Operand, b: Operand) -> Result<(AluOp, Vec<Operand>), Unknown> {
        Ok(match op {
            AccOp::Add => (AluOp::Add, vec![a, b]),
            AccOp::Fract => (AluOp::Fract, vec![a]),
            AccOp::Ne => (AluOp::Ne, vec![a, b]),
            AccOp::Gt => (AluOp::Gt, vec![a, b]),
            AccOp::Ge => (AluOp::Ge, vec![a, b]),
            AccOp::Eq => (AluOp::Eq, vec![a, b]),
            AccOp::Floor => (AluOp::Floor, vec![a]),
            AccOp::Ceil => (AluOp::Ceil, vec![a]),
            AccOp::Min => (AluOp::Min, vec![a, b]),
            AccOp::Max => (AluOp::Max, vec![a, b]),
            AccOp::DFdx => (AluOp::Ddx, vec![a, b]),
            AccOp::DFdy if self.orientation.flip_derivative => (AluOp::DdyUp, vec![a, b]),
            AccOp::DFdy => (AluOp::DdyDown, vec![a, b]),
            AccOp::Select => {
                let condition = Operand::new(self.product(row::FLOAT_MUL));
                (AluOp::Select, vec![a, b, condition])
            }
            AccOp::Mov => (AluOp::Copy, vec![a]),
            // The scalar adder has no sums.
            AccOp::Sum3 | AccOp::Sum4 | AccOp::Undocumented(_) => {
                return Err(format!("acc operation {} is unknown", op.code()));
            }
        })
    }

    fn combine(&mut self, unit: &Combine) -> Result<(), Unknown> {
        let a = self.scalar_source(unit.a_source());
        let to = scalar_row(unit.destination);
        let operations = match unit.form() {
            Form::Scalar(function) => result(function_op(function)?, &[a], unit.modifier, Some(to), None),
            Form::AtanPart2(b) => {
                let operand = self.vector_source(&b, 0);
                result(AluOp::Copy, &[operand], unit.modifier, Some(to), None)
            }
            Form::Scale(b) => {
                let products = [0, 1, 2, 3].map(|component| (AluOp::Mul, vec![a, self.vector_source(&b, component)]));
                vector_results(unit, products)
            }
            Form::Vector(function) => {
                let first = match function {
                    VectorFunction::AtanPart1 => (AluOp::Atan, vec![a]),
                    VectorFunction::Atan2Part1 => (AluOp::Atan2, vec![a, self.scalar_source(unit.b_source())]),
                    VectorFunction::Undocumented(op) => return Err(format!("combine operation {op} is unknown")),
                };
                let rest = |value| (AluOp::Copy, vec![Operand::value(value)]);
                vector_results(unit, [first, rest(1.0), rest(0.0), rest(0.0)])
            }
        };
        self.stage(operations);
        Ok(())
    }

    fn store(&mut self, unit: &Store) {
        if unit.reads_tile() {
            let register = unit.source.register();
            if !register.is_pipeline() {
                let depth = unit.target == StoreTarget::Depth;
                self.ops.push(Op::Tile(row_of(register, 0), depth));
            }
            return;
        }
        let count = unit.alignment.components() as u32;
        let sources: Vec<Source> = (0..count).map(|at| self.scalar(unit.first().behind(at))).collect();
        if let Some(offset) = unit.offset() {
            self.ops.push(Op::Store(*unit, self.scalar(offset), sources));
            return;
        }
        let first = (unit.signed_index() << unit.alignment.shift()) - self.low;
        for (component, from) in sources.into_iter().enumerate() {
            let to = row::TEMPORARIES + first as u16 + component as u16;
            self.ops.push(Op::Alu(Alu {
                round: true,
                ..Alu::new(AluOp::Copy, &[Operand::new(from)], to)
            }));
        }
    }
}

/// Row of a register's component.
fn row_of(register: Register, component: usize) -> u16 {
    (register.index() << 2 | component) as u16
}

/// Row of a scalar register.
fn scalar_row(scalar: Scalar) -> u16 {
    row_of(scalar.register(), scalar.component())
}

/// The components that a combine unit writes of a vector.
fn vector_results(unit: &Combine, components: [(AluOp, Vec<Operand>); 4]) -> Vec<Alu> {
    let (destination, mask) = unit.destination_vector();
    let written = components
        .into_iter()
        .enumerate()
        .filter(|(component, _)| mask >> component & 1 == 1);
    written
        .flat_map(|(component, (op, operands))| {
            let to = row_of(destination, component);
            result(op, &operands, Modifier::None, Some(to), None)
        })
        .collect()
}

/// A function of the combine unit.
fn function_op(function: ScalarFunction) -> Result<AluOp, Unknown> {
    Ok(match function {
        ScalarFunction::Rcp => AluOp::Rcp,
        ScalarFunction::Mov => AluOp::Copy,
        ScalarFunction::Sqrt => AluOp::Sqrt,
        ScalarFunction::Rsqrt => AluOp::Rsqrt,
        ScalarFunction::Exp2 => AluOp::Exp2,
        ScalarFunction::Log2 => AluOp::Log2,
        ScalarFunction::Sin => AluOp::Sin,
        ScalarFunction::Cos => AluOp::Cos,
        ScalarFunction::Undocumented(op) => return Err(format!("combine operation {op} is unknown")),
    })
}

/// A multiplier's operation.
fn multiplied(op: MulOp, [a, b]: [Operand; 2]) -> Result<(AluOp, Vec<Operand>), Unknown> {
    Ok(match op {
        MulOp::Mul => (AluOp::Mul, vec![a, b]),
        MulOp::MulX2 | MulOp::MulX4 | MulOp::MulX8 | MulOp::MulD16 | MulOp::MulD8 | MulOp::MulD4 | MulOp::MulD2 => {
            (AluOp::MulScaled, vec![a, b, Operand::value(op.scale().unwrap_or(1.0))])
        }
        MulOp::Not => (AluOp::Not, vec![a]),
        MulOp::And => (AluOp::And, vec![a, b]),
        MulOp::Or => (AluOp::Or, vec![a, b]),
        MulOp::Xor => (AluOp::Xor, vec![a, b]),
        MulOp::Ne => (AluOp::Ne, vec![a, b]),
        MulOp::Gt => (AluOp::Gt, vec![a, b]),
        MulOp::Ge => (AluOp::Ge, vec![a, b]),
        MulOp::Eq => (AluOp::Eq, vec![a, b]),
        MulOp::Min => (AluOp::Min, vec![a, b]),
        MulOp::Max => (AluOp::Max, vec![a, b]),
        MulOp::Mov => (AluOp::Copy, vec![a]),
        MulOp::Undocumented(op) => return Err(format!("mul operation {op} is unknown")),
    })
}

/// An operation for a register, for the pipeline, or for both: the pipeline's is not rounded.
fn result(
    op: AluOp,
    operands: &[Operand],
    modifier: Modifier,
    register: Option<u16>,
    pipeline: Option<u16>,
) -> Vec<Alu> {
    let one = |to: u16, round: bool| Alu {
        finish: Finish::Modifier(modifier),
        round,
        ..Alu::new(op, operands, to)
    };
    // Registers of the pipeline cannot be written.
    let register = register
        .filter(|to| *to < row_of(Register::CONST0, 0))
        .map(|to| one(to, true));
    pipeline.map(|to| one(to, false)).into_iter().chain(register).collect()
}
