//! Random PP instructions from the tables, all of them with known operations.

use super::ops::{self, Op, Source};
use super::{
    Branch, Combine, Constant, Control, FloatAcc, FloatMul, Instruction, Load, Sampler, Store, Varying, VecAcc, VecMul,
};
use crate::field::Fields;
use fastrand::Rng;

/// Random bits as a unit.
fn fields<F: Fields>(random: &mut Rng) -> F {
    let bits = (0..4).fold(0u128, |bits, _| bits << 32 | u128::from(random.u32(..)));
    F::from_bits(bits & ((1 << F::BITS) - 1))
}

fn code(random: &mut Rng, table: &[Op]) -> u32 {
    random.choice(table).unwrap().code
}

/// A source register that the instruction has.
fn register(random: &mut Rng, i: &Instruction) -> u32 {
    let pipeline = [
        (12, i.const0.is_some()),
        (13, i.const1.is_some()),
        (14, i.sampler.is_some()),
        (15, i.load.is_some()),
    ];
    let (number, present) = random.choice(pipeline).unwrap();
    if present && random.bool() {
        number
    } else {
        random.u32(..super::flow::REGISTERS)
    }
}

fn vector(random: &mut Rng, i: &Instruction, table: &[Op]) -> VecMul {
    VecMul {
        op: code(random, table),
        a: register(random, i),
        b: register(random, i),
        destination: random.u32(..super::flow::REGISTERS),
        ..fields(random)
    }
}

fn scalar(random: &mut Rng, i: &Instruction, table: &[Op]) -> FloatMul {
    FloatMul {
        op: code(random, table),
        a: register(random, i) << 2 | random.u32(..4),
        b: register(random, i) << 2 | random.u32(..4),
        destination: random.u32(..super::flow::REGISTERS * 4),
        ..fields(random)
    }
}

fn varying(random: &mut Rng, wanted: bool) -> Varying {
    let kind = random.choice([0, 0, 0, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13]).unwrap();
    let unit = Varying {
        kind,
        unknown4: 0,
        unknown7: 0,
        unknown32: 0,
        destination: random.u32(..6),
        ..fields(random)
    };
    let destination = if wanted && random.bool() { 15 } else { unit.destination };
    match ops::VARYING[kind as usize].source {
        Source::Memory => Varying {
            register: 15,
            component: 0,
            negate: 0,
            absolute: 0,
            alignment: random.choice([0, 1, 3]).unwrap(),
            index: random.u32(..10),
            destination,
            ..unit
        },
        Source::Register => {
            let alignment = if kind == 10 { 2 } else { 0 };
            Varying {
                register: random.u32(..6),
                alignment,
                destination,
                ..unit
            }
        }
        Source::Builtin => Varying {
            kind,
            destination,
            mask: unit.mask,
            ..Default::default()
        },
    }
}

fn combine(random: &mut Rng, i: &Instruction) -> Combine {
    let mut unit = Combine {
        a: register(random, i) << 2,
        destination: random.u32(..24),
        ..fields(random)
    };
    let b = register(random, i);
    match (unit.vector, unit.b_enable) {
        (0, 0) => unit.op = code(random, ops::COMBINE),
        (1, 0) => (unit.op, unit.b) = (code(random, ops::COMBINE_VECTOR), b << 2),
        _ => unit.set_b_vector(b, random.u32(..256)),
    }
    unit
}

/// Operations of an adder: selection needs the scalar multiplier, sums are of vectors.
fn adds(float_mul: bool, vector: bool) -> Vec<Op> {
    let fits = |op: &&Op| (op.code != 23 || float_mul) && (!matches!(op.code, 16 | 17) || vector);
    ops::ACC.iter().filter(fits).copied().collect()
}

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
        kind: random.choice([0, 31]).unwrap(),
        unknown12: 0,
        unknown19: 0,
        index: random.u32(..3),
        constant: Sampler::CONSTANT,
        lod: random.u32(..24),
        offset: random.u32(..24),
        offset_enable: u32::from(random.u32(..8) == 0),
        ..fields(random)
    });
    i.load = load.then(|| Load {
        source: random.choice([0, 3]).unwrap(),
        alignment: random.u32(..3),
        unknown2: 0,
        unknown12: 0,
        offset: random.u32(..24),
        offset_enable: u32::from(random.u32(..6) == 0),
        index: random.u32(..64).wrapping_sub(16) & 0xffff,
    });
    i.vec_mul = vec_mul.then(|| vector(random, &i, ops::MUL));
    i.float_mul = float_mul.then(|| scalar(random, &i, ops::MUL));
    i.vec_acc = vec_acc.then(|| {
        let unit: VecAcc = VecAcc::from_bits(vector(random, &i, &adds(float_mul, true)).to_bits());
        VecAcc {
            a_is_mul: u32::from(vec_mul && random.bool()),
            ..unit
        }
    });
    i.float_acc = float_acc.then(|| {
        let unit: FloatAcc = FloatAcc::from_bits(scalar(random, &i, &adds(float_mul, false)).to_bits());
        FloatAcc {
            a_is_mul: u32::from(float_mul && random.bool()),
            ..unit
        }
    });
    i.combine = combine_unit.then(|| combine(random, &i));
    i.store = (store && !combine_unit).then(|| Store {
        target: 3,
        read: 0,
        source: random.u32(..24),
        alignment: random.u32(..3),
        unknown12: 0,
        offset: random.u32(..24),
        offset_enable: u32::from(random.u32(..6) == 0),
        index: random.u32(..16).wrapping_sub(16) & 0xffff,
    });
    i.control.sync = u32::from(sampler || random.u32(..8) == 0);
    i.control.stop = u32::from(stop);
    i
}

/// A program's words: branches go forwards, it ends with a stop, hints are those of compilers.
pub fn program(random: &mut Rng, length: usize) -> Vec<u32> {
    let mut program: Vec<Instruction> = (0..length.max(1)).map(|_| instruction(random)).collect();
    let count = program.len();
    let mut goals = vec![None; count];
    for at in 0..count - 1 {
        if random.u32(..10) == 0 {
            goals[at] = Some(at + 1 + random.u32(..(count - at - 1) as u32) as usize);
            let condition: Branch = fields(random);
            let [a, b] = [random.u32(..24), random.u32(..24)];
            program[at].branch = Some(Branch {
                a,
                b,
                greater: condition.greater,
                equal: condition.equal,
                less: condition.less,
                ..Default::default()
            });
        } else if random.u32(..30) == 0 {
            let all = Branch {
                kind: 3,
                greater: 1,
                equal: 1,
                less: 1,
                unknown19: 15,
                ..Default::default()
            };
            program[at].branch = Some(all);
        }
    }
    program[count - 1].control.stop = 1;
    let mut addresses = vec![0u32];
    for i in &program {
        addresses.push(addresses[addresses.len() - 1] + i.words());
    }
    let mut words = Vec::new();
    for at in 0..count {
        let length = program.get(at + 1).map(Instruction::words);
        let hint = |length: Option<u32>| length.unwrap_or(0);
        let control = program[at].control;
        program[at].control = Control {
            next_length: hint(length),
            prefetch: u32::from(length.is_some()),
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
