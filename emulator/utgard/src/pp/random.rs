//! Generates random PP instructions with known operations.

use super::flow::REGISTERS;
use super::ops::{Origin, Units};
use super::{
    AccOp, Alignment, Branch, Combine, Component, Condition, Constant, Control, FloatAcc, FloatMul, Form, Instruction,
    Load, LoadSource, Modifier, MulOp, Register, Sampler, SamplerKind, Scalar, ScalarFunction, ScalarSource,
    ScalarUnit, Store, StoreMode, StoreTarget, Swizzle, Varying, VaryingKind, VecAcc, VecMul, VectorFunction,
    VectorSource, VectorUnit,
};
use crate::field::Fields;
use fastrand::Rng;

/// Picks one of several choices.
fn pick<T: Copy>(random: &mut Rng, choices: &[T]) -> T {
    choices[random.usize(..choices.len())]
}

/// A unit of random bits.
fn fields<F: Fields>(random: &mut Rng) -> F {
    let bits = (0..4).fold(0u128, |bits, _| bits << 32 | u128::from(random.u32(..)));
    F::from_bits(bits & ((1 << F::BITS) - 1))
}

/// A general-purpose register.
fn general(random: &mut Rng) -> Register {
    Register(random.u8(..REGISTERS))
}

/// A component of such a register.
fn general_scalar(random: &mut Rng) -> Scalar {
    general(random).component(pick(random, &Component::ALL))
}

/// A source register that is valid in the instruction.
fn register(random: &mut Rng, i: &Instruction) -> Register {
    let pipeline = [
        (Register::CONST0, i.const0.is_some()),
        (Register::CONST1, i.const1.is_some()),
        (Register::TEXTURE, i.sampler.is_some()),
        (Register::UNIFORM, i.load.is_some()),
    ];
    let (register, present) = pick(random, &pipeline);
    if present && random.bool() {
        register
    } else {
        general(random)
    }
}

fn vector_source(random: &mut Rng, i: &Instruction) -> VectorSource {
    VectorSource {
        register: register(random, i),
        swizzle: Swizzle(random.u8(..)),
        absolute: random.bool(),
        negate: random.bool(),
    }
}

fn vector(random: &mut Rng, i: &Instruction) -> VectorUnit {
    VectorUnit {
        a: vector_source(random, i),
        b: vector_source(random, i),
        destination: general(random),
        mask: random.u32(..16),
        modifier: pick(random, &Modifier::ALL),
    }
}

fn scalar_source(random: &mut Rng, i: &Instruction) -> ScalarSource {
    ScalarSource {
        scalar: register(random, i).component(pick(random, &Component::ALL)),
        absolute: random.bool(),
        negate: random.bool(),
    }
}

fn scalar(random: &mut Rng, i: &Instruction) -> ScalarUnit {
    ScalarUnit {
        a: scalar_source(random, i),
        b: scalar_source(random, i),
        destination: general_scalar(random),
        write: random.bool(),
        modifier: pick(random, &Modifier::ALL),
    }
}

fn varying(random: &mut Rng, wanted: bool) -> Varying {
    let known: Vec<VaryingKind> = VaryingKind::ALL
        .iter()
        .copied()
        .filter(|kind| kind.row().known)
        .collect();
    // Plain inputs are the most common in programs.
    let kind = if random.u32(..5) == 0 {
        VaryingKind::Plain
    } else {
        pick(random, &known)
    };
    let unit = Varying {
        kind,
        unknown4: 0,
        unknown7: 0,
        unknown32: 0,
        destination: general(random),
        ..fields(random)
    };
    let destination = if wanted && random.bool() {
        Register::NONE
    } else {
        unit.destination
    };
    match kind.row().origin {
        Origin::Memory => Varying {
            register: Register::NONE,
            component: 0,
            negate: false,
            absolute: false,
            alignment: pick(random, &[Alignment::Float, Alignment::Vec2, Alignment::Varying4]),
            index: random.u32(..10),
            destination,
            ..unit
        },
        Origin::Register => Varying {
            register: general(random),
            alignment: match kind {
                VaryingKind::Normalize => Alignment::Vec4,
                _ => Alignment::Float,
            },
            destination,
            ..unit
        },
        Origin::Builtin => Varying {
            kind,
            destination,
            mask: unit.mask,
            ..Default::default()
        },
    }
}

fn combine(random: &mut Rng, i: &Instruction) -> Combine {
    let mut unit = Combine {
        a: register(random, i).component(Component::X),
        destination: general_scalar(random),
        ..fields(random)
    };
    let vector = VectorSource {
        register: register(random, i),
        swizzle: Swizzle(random.u8(..)),
        ..VectorSource::default()
    };
    unit.set_form(match random.u32(..4) {
        0 => Form::Scalar(pick(random, ScalarFunction::ALL)),
        1 => Form::Vector(pick(random, VectorFunction::ALL)),
        2 => Form::AtanPart2(vector),
        _ => Form::Scale(vector),
    });
    if let Form::Vector(_) = unit.form() {
        unit.b = vector.register.component(Component::X);
    }
    unit
}

/// An adder operation: one that reads the scalar multiplier's result only if it is present, sums only on vectors.
fn adds(random: &mut Rng, float_mul: bool, vector: bool) -> AccOp {
    let fits = |op: &AccOp| (!op.row().product || float_mul) && (op.row().units == Units::Both || vector);
    pick(random, &AccOp::ALL.iter().copied().filter(fits).collect::<Vec<_>>())
}

/// Index units of loads and stores.
const IN_MEMORY: [Alignment; 3] = [Alignment::Float, Alignment::Vec2, Alignment::Vec4];

/// An instruction without a branch.
pub fn instruction(random: &mut Rng) -> Instruction {
    let mut i = Instruction::default();
    let mut some = |odds| random.u32(..odds) == 0;
    let [sampler, load, store] = [some(8), some(4), some(10)];
    let [vec_mul, float_mul, vec_acc, float_acc, combine_unit] = [some(2), some(3), some(2), some(3), some(5)];
    let [const0, const1, varying_unit, stop] = [some(2), some(6), some(3), some(40)];
    i.const0 = const0.then(|| fields::<Constant>(random));
    i.const1 = const1.then(|| fields::<Constant>(random));
    i.varying = (sampler || varying_unit).then(|| varying(random, sampler));
    i.sampler = sampler.then(|| Sampler {
        kind: pick(random, SamplerKind::ALL),
        unknown12: 0,
        unknown19: 0,
        index: random.u32(..3),
        constant: Sampler::CONSTANT,
        lod: general_scalar(random),
        offset: general_scalar(random),
        offset_enable: random.u32(..8) == 0,
        ..fields(random)
    });
    i.load = load.then(|| Load {
        source: pick(random, LoadSource::ALL),
        alignment: pick(random, &IN_MEMORY),
        unknown2: 0,
        unknown12: 0,
        offset: general_scalar(random),
        offset_enable: random.u32(..6) == 0,
        index: random.u32(..64).wrapping_sub(16) & 0xffff,
    });
    i.vec_mul = vec_mul.then(|| VecMul::new(pick(random, MulOp::ALL), vector(random, &i)));
    i.float_mul = float_mul.then(|| FloatMul::new(pick(random, MulOp::ALL), scalar(random, &i)));
    i.vec_acc = vec_acc.then(|| VecAcc {
        a_is_mul: vec_mul && random.bool(),
        ..VecAcc::new(adds(random, float_mul, true), vector(random, &i))
    });
    i.float_acc = float_acc.then(|| FloatAcc {
        a_is_mul: float_mul && random.bool(),
        ..FloatAcc::new(adds(random, float_mul, false), scalar(random, &i))
    });
    i.combine = combine_unit.then(|| combine(random, &i));
    i.store = (store && !combine_unit).then(|| Store {
        target: StoreTarget::TemporaryOrColor,
        read: StoreMode::Store,
        source: general_scalar(random),
        alignment: pick(random, &IN_MEMORY),
        unknown12: 0,
        offset: general_scalar(random),
        offset_enable: random.u32(..6) == 0,
        index: random.u32(..16).wrapping_sub(16) & 0xffff,
    });
    i.control.sync = sampler || random.u32(..8) == 0;
    i.control.stop = stop;
    i
}

/// A program's words: forward branches only, a stop at the end, hints as by compilers.
pub fn program(random: &mut Rng, length: usize) -> Vec<u32> {
    let mut program: Vec<Instruction> = (0..length.max(1)).map(|_| instruction(random)).collect();
    let count = program.len();
    let mut goals = vec![None; count];
    for at in 0..count - 1 {
        if random.u32(..10) == 0 {
            goals[at] = Some(at + 1 + random.u32(..(count - at - 1) as u32) as usize);
            program[at].branch = Some(Branch {
                a: general_scalar(random),
                b: general_scalar(random),
                condition: pick(random, &Condition::ALL),
                ..Default::default()
            });
        } else if random.u32(..30) == 0 {
            program[at].branch = Some(Branch::discard());
        }
    }
    program[count - 1].control.stop = true;
    link(&mut program, &goals)
}

/// Encodes instructions with the compilers' hints; `goals` are the indices of branch targets.
pub fn link(program: &mut [Instruction], goals: &[Option<usize>]) -> Vec<u32> {
    let mut addresses = vec![0u32];
    for i in program.iter() {
        addresses.push(addresses[addresses.len() - 1] + i.words());
    }
    let mut words = Vec::new();
    for at in 0..program.len() {
        let length = program.get(at + 1).map(Instruction::words);
        let hint = |length: Option<u32>| length.unwrap_or(0);
        let control = program[at].control;
        program[at].control = Control {
            next_length: hint(length),
            prefetch: length.is_some(),
            ..control
        };
        let target_length = goals[at].map_or(0, |goal| program[goal].words());
        if let (Some(goal), Some(branch)) = (goals[at], &mut program[at].branch) {
            branch.target = addresses[goal].wrapping_sub(addresses[at]) & 0x7ff_ffff;
            branch.target_length = target_length;
        }
        program[at].encode(&mut words);
    }
    words
}
