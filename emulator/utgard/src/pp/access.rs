//! What an instruction of the PP reads and writes, unit by unit in the order they run: for those who watch a program or
//! look for values nobody made.

use super::ops::{self, Source};
use super::{Instruction, VecMul};
use crate::field::Fields;

/// Components of registers that one unit reads and writes. Registers 12 to 15 are the constants, the texture and the
/// uniform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Units of one stage all read before any of them writes.
    pub stage: u8,
    /// Register and mask of its components, for every operand.
    pub reads: Vec<(u32, u32)>,
    /// Register and mask of its components.
    pub writes: Option<(u32, u32)>,
}

/// The first register of the pipeline: constants, texture, uniform. They belong to one instruction.
pub const PIPELINE: u32 = 12;
/// The constants' registers.
pub const CONSTANTS: [u32; 2] = [PIPELINE, 13];
/// The texture's register.
pub const TEXTURE: u32 = 14;
/// The uniform's register.
pub const UNIFORM: u32 = 15;

const ALL: u32 = 15;

/// Components of the source that a swizzle takes for components of the result.
fn through(swizzle: u32, wanted: u32) -> u32 {
    (0..4)
        .filter(|at| wanted >> at & 1 == 1)
        .fold(0, |mask, at| mask | 1 << (swizzle >> (2 * at) & 3))
}

/// A scalar register as register and mask.
fn scalar(number: u32) -> (u32, u32) {
    (number >> 2 & 15, 1 << (number & 3))
}

/// The scalars of a vector from one on, as many as an alignment says.
fn scalars(first: u32, alignment: u32) -> Vec<(u32, u32)> {
    match alignment {
        0 => vec![scalar(first)],
        1 => vec![scalar(first), scalar(first + 1)],
        _ => vec![(first >> 2, ALL)],
    }
}

/// All accesses of an instruction.
pub fn accesses(i: &Instruction) -> Vec<Access> {
    let mut all = Vec::new();
    let loaded = [i.const0.is_some(), i.const1.is_some()];
    for (register, _) in CONSTANTS.into_iter().zip(loaded).filter(|(_, loaded)| *loaded) {
        all.push(Access {
            writes: Some((register, ALL)),
            ..Access::default()
        });
    }
    all.extend(varying(i));
    if let Some(unit) = i.sampler {
        let level = (unit.lod_enable == 1).then_some(unit.lod);
        let offset = (unit.offset_enable == 1).then_some(unit.offset);
        all.push(Access {
            stage: 2,
            reads: level.into_iter().chain(offset).map(scalar).collect(),
            writes: Some((TEXTURE, ALL)),
        });
    }
    if let Some(unit) = i.load {
        all.push(Access {
            stage: 3,
            reads: (unit.offset_enable == 1)
                .then(|| scalar(unit.offset))
                .into_iter()
                .collect(),
            writes: Some((UNIFORM, ALL)),
        });
    }
    arithmetic(i, &mut all);
    all.extend(combine(i));
    if let Some(unit) = i.store {
        let reads = match unit.read {
            3 => Vec::new(),
            _ => {
                let offset = (unit.offset_enable == 1).then(|| scalar(unit.offset));
                scalars(unit.source, unit.alignment).into_iter().chain(offset).collect()
            }
        };
        all.push(Access {
            stage: 7,
            reads,
            writes: (unit.read == 3).then_some((unit.source >> 2, ALL)),
        });
    }
    if let Some(unit) = i
        .branch
        .filter(|unit| unit.kind == 0 && !unit.always() && unit.condition() != 0)
    {
        all.push(Access {
            stage: 8,
            reads: vec![scalar(unit.a), scalar(unit.b)],
            writes: None,
        });
    }
    all
}

fn varying(i: &Instruction) -> Option<Access> {
    let unit = i.varying?;
    let kind = ops::VARYING[(unit.kind & 15) as usize];
    let written = if unit.destination == 15 { 0 } else { unit.mask };
    let sampled = match i.sampler {
        Some(sampler) if sampler.kind == 31 => 7,
        Some(_) => 3,
        None => 0,
    };
    let wanted = match kind.code {
        6 => written | sampled | 4,
        7 => written | sampled | 8,
        10 => written | 7,
        _ => written | sampled,
    };
    let reads = match kind.source {
        Source::Register => vec![(unit.register, through(unit.swizzle(), wanted))],
        Source::Memory if unit.register != 15 => vec![(unit.register, 1 << unit.component)],
        _ => Vec::new(),
    };
    Some(Access {
        stage: 1,
        reads,
        writes: (written != 0).then_some((unit.destination, written)),
    })
}

/// Whether an operation has a second operand.
fn two(table: &[ops::Op], code: u32) -> bool {
    ops::by_code(table, code).is_none_or(|op| op.operands == 2)
}

/// Multipliers and adders.
fn arithmetic(i: &Instruction, all: &mut Vec<Access>) {
    // What the vec4 adder wants of its operands.
    let added = i.vec_acc.map_or(0, |unit| match unit.op {
        16 => 7,
        17 => ALL,
        _ => unit.mask,
    });
    let forwarded = match i.vec_acc {
        Some(unit) if unit.a_is_mul == 1 => through(unit.a_swizzle, added),
        _ => 0,
    };
    if let Some(unit) = i.vec_mul {
        all.push(vector(&unit, 4, two(ops::MUL, unit.op), unit.mask | forwarded, true));
    }
    let scalar_access = |stage, a: Option<u32>, b: Option<u32>, write: u32, destination: u32| Access {
        stage,
        reads: a.into_iter().chain(b).map(scalar).collect(),
        writes: (write == 1).then(|| scalar(destination)),
    };
    if let Some(unit) = i.float_mul {
        let b = two(ops::MUL, unit.op).then_some(unit.b);
        all.push(scalar_access(4, Some(unit.a), b, unit.write, unit.destination));
    }
    if let Some(acc) = i.vec_acc {
        let unit = VecMul::from_bits(acc.to_bits());
        all.push(vector(&unit, 5, two(ops::ACC, unit.op), added, acc.a_is_mul == 0));
    }
    if let Some(unit) = i.float_acc {
        let a = (unit.a_is_mul == 0).then_some(unit.a);
        let b = two(ops::ACC, unit.op).then_some(unit.b);
        all.push(scalar_access(5, a, b, unit.write, unit.destination));
    }
}

fn vector(unit: &VecMul, stage: u8, two: bool, wanted: u32, first: bool) -> Access {
    let a = first.then(|| (unit.a, through(unit.a_swizzle, wanted)));
    let b = two.then(|| (unit.b, through(unit.b_swizzle, wanted)));
    Access {
        stage,
        reads: a.into_iter().chain(b).collect(),
        writes: (unit.mask != 0).then_some((unit.destination, unit.mask)),
    }
}

fn combine(i: &Instruction) -> Option<Access> {
    let unit = i.combine?;
    let (register, swizzle) = unit.b_vector();
    let (destination, mask) = unit.destination_vector();
    let (reads, writes) = match (unit.vector, unit.b_enable) {
        (0, 0) => (vec![scalar(unit.a)], scalar(unit.destination)),
        (0, _) => (vec![(register, through(swizzle, 1))], scalar(unit.destination)),
        (_, 1) => (
            vec![scalar(unit.a), (register, through(swizzle, mask))],
            (destination, mask),
        ),
        _ if unit.op == 9 => (vec![scalar(unit.a), scalar(unit.b)], (destination, mask)),
        _ => (vec![scalar(unit.a)], (destination, mask)),
    };
    Some(Access {
        stage: 6,
        reads,
        writes: (writes.1 != 0).then_some(writes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pp::assemble;

    fn of(text: &str) -> Vec<Access> {
        let words = assemble(text).unwrap();
        accesses(&Instruction::decode(&words).unwrap())
    }

    #[test]
    fn masks_and_swizzles_say_which_components_count() {
        let all = of("mul.v0 $1.xy $0.zwxx ^const0.x, add.v1 $2.z ^v0.y $3.w, const0 1 0 0 0, stop");
        let reads: Vec<_> = all.iter().flat_map(|access| access.reads.clone()).collect();
        assert_eq!(reads, [(0, 12), (12, 1), (3, 8)], "{all:?}");
        let writes: Vec<_> = all.iter().filter_map(|access| access.writes).collect();
        assert_eq!(writes, [(12, 15), (1, 3), (2, 4)]);
    }

    #[test]
    fn branches_and_loads_read_scalars() {
        let all = of("load.v $0 0, stop");
        assert_eq!(
            all,
            [Access {
                stage: 1,
                reads: vec![],
                writes: Some((0, 15))
            }]
        );
    }
}
