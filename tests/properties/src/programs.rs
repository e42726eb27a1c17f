//! Random programs whose units interact: few registers, many units per instruction, plain operations half of the time.

use fastrand::Rng;
use utgard::gp::{self, Stored};
use utgard::pp::{
    self, AccOp, Alignment, Branch, Component, Condition, Instruction, LoadSource, Modifier, MulOp, Register,
    SamplerKind, Scalar, ScalarFunction, Store, StoreMode, StoreTarget, VaryingKind, VecAcc,
};

fn pick<T: Copy>(random: &mut Rng, choices: &[T]) -> T {
    choices[random.usize(..choices.len())]
}

/// One of the two registers that programs use.
fn register(random: &mut Rng) -> Register {
    Register(random.u8(..2))
}

fn scalar(random: &mut Rng) -> Scalar {
    register(random).component(pick(random, &Component::ALL))
}

/// A component of any register, including those of the pipeline.
fn any_scalar(random: &mut Rng) -> Scalar {
    let register = if random.bool() {
        register(random)
    } else {
        Register(Register::CONST0.0 + random.u8(..4))
    };
    register.component(pick(random, &Component::ALL))
}

/// Replaces a general register by one of the few.
fn few(random: &mut Rng, have: &mut Register) {
    if !have.is_pipeline() {
        *have = register(random);
    }
}

fn few_scalars(random: &mut Rng, have: &mut Scalar) {
    if !have.register().is_pipeline() {
        *have = scalar(random);
    }
}

/// An instruction of the PP without a branch.
fn instruction(random: &mut Rng) -> Instruction {
    let mut i = pp::random::instruction(random);
    let more = pp::random::instruction(random);
    i.const0 = i.const0.or(more.const0);
    i.const1 = i.const1.or(more.const1);
    i.varying = i.varying.or(more.varying);
    i.sampler = i.sampler.or(more.sampler);
    i.load = i.load.or(more.load);
    i.vec_mul = i.vec_mul.or(more.vec_mul);
    i.float_mul = i.float_mul.or(more.float_mul);
    i.vec_acc = i.vec_acc.or(more.vec_acc);
    i.float_acc = i.float_acc.or(more.float_acc);
    i.combine = i.combine.or(more.combine);
    i.store = i.store.or(more.store);
    i.control.sync |= i.sampler.is_some();
    memory(random, &mut i);
    arithmetic(random, &mut i);
    i
}

/// Registers of the units that load and store.
fn memory(random: &mut Rng, i: &mut Instruction) {
    if let Some(unit) = &mut i.varying {
        few(random, &mut unit.destination);
        few(random, &mut unit.register);
        if unit.kind == VaryingKind::Plain && random.bool() {
            (unit.register, unit.component) = (register(random), random.u32(..4));
        }
        if unit.written().is_some() && random.bool() {
            unit.mask = 15;
        }
    }
    if let Some(unit) = &mut i.sampler {
        (unit.lod, unit.offset) = (any_scalar(random), any_scalar(random));
        unit.lod_enable |= random.bool();
        unit.offset_enable |= random.u32(..4) == 0;
    }
    if let Some(unit) = &mut i.load {
        unit.offset = any_scalar(random);
        unit.offset_enable |= random.u32(..4) == 0;
        if unit.source == LoadSource::Temporary {
            unit.index = random.u32(..4).wrapping_sub(4) & 0xffff;
        }
    }
    if i.store.is_none() && random.u32(..4) == 0 {
        i.store = Some(Store {
            alignment: pick(random, &[Alignment::Float, Alignment::Vec2, Alignment::Vec4]),
            ..Store::default()
        });
    }
    if let Some(unit) = &mut i.store {
        (unit.source, unit.offset) = (any_scalar(random), any_scalar(random));
        unit.offset_enable |= random.u32(..4) == 0;
        unit.index = random.u32(..4).wrapping_sub(4) & 0xffff;
        if random.u32(..3) == 0 {
            (unit.read, unit.source) = (StoreMode::ReadTile, scalar(random));
            unit.target = pick(random, &[StoreTarget::TemporaryOrColor, StoreTarget::Depth]);
            unit.offset_enable = false;
        }
    }
}

/// Registers, masks and operations of the arithmetic units.
fn arithmetic(random: &mut Rng, i: &mut Instruction) {
    if let Some(unit) = &mut i.vec_mul {
        few(random, &mut unit.a);
        few(random, &mut unit.b);
        few(random, &mut unit.destination);
        if random.u32(..3) == 0 {
            unit.mask = 0;
        }
        if random.bool() {
            (unit.op, unit.modifier) = (MulOp::Mul, Modifier::None);
        }
    }
    if let Some(unit) = &mut i.float_mul {
        few_scalars(random, &mut unit.a);
        few_scalars(random, &mut unit.b);
        unit.destination = scalar(random);
        if random.bool() {
            (unit.op, unit.modifier) = (MulOp::Mul, Modifier::None);
        }
    }
    let products = [i.vec_mul.is_some(), i.float_mul.is_some()];
    if let Some(unit) = &mut i.vec_acc {
        few(random, &mut unit.a);
        few(random, &mut unit.b);
        few(random, &mut unit.destination);
        let (op, modifier) = plain(random, (unit.op, unit.modifier), products[1]);
        *unit = VecAcc {
            op,
            modifier,
            a_is_mul: products[0] && random.bool(),
            ..*unit
        };
    }
    if let Some(unit) = &mut i.float_acc {
        few_scalars(random, &mut unit.a);
        few_scalars(random, &mut unit.b);
        unit.destination = scalar(random);
        (unit.op, unit.modifier) = plain(random, (unit.op, unit.modifier), products[1]);
        unit.a_is_mul = products[1] && random.bool();
    }
    if let Some(unit) = &mut i.combine {
        few_scalars(random, &mut unit.a);
        few_scalars(random, &mut unit.b);
        let place = unit.destination.component() as u8;
        unit.destination = Scalar(register(random).0 << 2 | place);
        if random.u32(..3) == 0 {
            unit.set_form(pp::Form::Scalar(pick(random, ScalarFunction::ALL)));
            unit.modifier = Modifier::None;
        }
    }
}

/// A sum half of the time, and sometimes a select by the scalar multiplier.
fn plain(random: &mut Rng, have: (AccOp, Modifier), product: bool) -> (AccOp, Modifier) {
    match random.u32(..8) {
        0..4 => (AccOp::Add, Modifier::None),
        4 if product => (AccOp::Select, have.1),
        _ => have,
    }
}

/// Gives the second of two instructions, where it samples, a bias that the first one's varying unit writes alone.
fn late_bias(random: &mut Rng, pair: &mut [Instruction]) {
    let [front, i] = pair else { return };
    let (Some(varying), Some(sampler)) = (front.varying, &mut i.sampler) else {
        return;
    };
    let Some(register) = varying.written().filter(|register| !register.is_pipeline()) else {
        return;
    };
    (front.vec_mul, front.float_mul, front.vec_acc, front.float_acc) = (None, None, None, None);
    sampler.kind = SamplerKind::Plain;
    (sampler.lod_enable, sampler.explicit_lod) = (true, false);
    sampler.lod = register.component(pick(random, &Component::ALL));
}

/// A fragment program: its instructions, and its words.
pub fn fragment(random: &mut Rng, length: usize) -> (Vec<Instruction>, Vec<u32>) {
    let length = length.max(1);
    let mut program: Vec<Instruction> = (0..length).map(|_| instruction(random)).collect();
    for at in 1..length {
        if random.u32(..4) == 0 {
            late_bias(random, &mut program[at - 1..=at]);
        }
    }
    let mut goals = vec![None; length];
    let branches = random.bool();
    for at in 0..length - 1 {
        let i = &mut program[at];
        i.control.stop = branches && random.u32(..4) == 0;
        match random.u32(..6) {
            0 | 1 if branches => {
                goals[at] = Some(at + 1 + random.usize(..length - at - 1));
                i.branch = Some(Branch {
                    a: any_scalar(random),
                    b: any_scalar(random),
                    condition: pick(random, &Condition::ALL),
                    ..Branch::default()
                });
            }
            2 if branches && random.bool() => i.branch = Some(Branch::discard()),
            _ => {}
        }
    }
    program[length - 1].control.stop = true;
    let words = pp::random::link(&mut program, &goals);
    (program, words)
}

/// A vertex program.
pub fn vertex(random: &mut Rng, length: usize) -> Vec<gp::Instruction> {
    let mut program: Vec<gp::Instruction> = (0..length.max(1))
        .map(|at| gp::random::instruction(random, at < 2))
        .collect();
    if random.u32(..8) != 0 {
        program.iter_mut().for_each(without_addresses);
    }
    let branches = random.bool();
    let count = program.len();
    for (at, i) in program.iter_mut().enumerate() {
        (i.register0_address, i.register1_address) = (random.u16(..2), random.u16(..2));
        i.register0_is_attribute = random.u32(..4) == 0;
        (i.store0_address, i.store1_address) = (random.u16(..2), random.u16(..2));
        i.store0_varying &= random.u32(..3) == 0 && !i.store0_temporary;
        i.store1_varying &= random.u32(..3) == 0;
        let busy = gp::UNITS.iter().map(|row| row.unit).filter(|unit| i.is_busy(*unit));
        let units: Vec<Stored> = busy.map(Stored::Unit).collect();
        if !units.is_empty() {
            for slot in [&mut i.store0_x, &mut i.store0_y, &mut i.store1_z, &mut i.store1_w] {
                if random.u32(..3) != 0 {
                    *slot = pick(random, &units);
                }
            }
        }
        if branches && at + 1 < count && i.pass_source.is_used() && random.u32(..4) == 0 {
            (i.branch, i.flags) = (true, gp::flags::BRANCH);
            i.set_target((at + 1 + random.usize(..count - at)).min(511) as u16);
        }
    }
    program
}

/// Removes uses of address registers from an instruction.
pub fn without_addresses(i: &mut gp::Instruction) {
    i.load_offset = gp::LoadOffset::Nothing;
    i.store0_temporary = false;
    if i.complex_op.row().addresses {
        i.complex_op = gp::ComplexOp::Mov;
    }
}
