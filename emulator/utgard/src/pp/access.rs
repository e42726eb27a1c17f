//! Reads and writes of a PP instruction, unit by unit in execution order, for debuggers and uninitialised-value checks.

use super::ops::Origin;
use super::{ALL, Alignment, Form, Instruction, Register, Scalar, VaryingKind, VectorFunction, VectorUnit};

/// Register components that one unit reads and writes, including pipeline registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// All units of a stage read before any of them writes.
    pub stage: u8,
    /// Register and component mask of every operand.
    pub reads: Vec<(Register, u32)>,
    /// Register and component mask.
    pub writes: Option<(Register, u32)>,
}

/// A scalar register as register and mask.
fn scalar(scalar: Scalar) -> (Register, u32) {
    (scalar.register(), 1 << scalar.component())
}

/// As many scalars of a vector as an alignment covers, from the first.
fn scalars(first: Scalar, alignment: Alignment) -> Vec<(Register, u32)> {
    if alignment.is_vector() {
        return vec![(first.register(), ALL)];
    }
    (0..alignment.components() as u32)
        .map(|at| scalar(first.behind(at)))
        .collect()
}

/// All accesses of an instruction.
pub fn accesses(i: &Instruction) -> Vec<Access> {
    let mut all = Vec::new();
    let loaded = [i.const0.is_some(), i.const1.is_some()];
    for (register, _) in Register::CONSTANTS
        .into_iter()
        .zip(loaded)
        .filter(|(_, loaded)| *loaded)
    {
        all.push(Access {
            writes: Some((register, ALL)),
            ..Access::default()
        });
    }
    all.extend(varying(i));
    if let Some(unit) = i.sampler {
        let level = unit.lod_enable.then_some(unit.lod);
        all.push(Access {
            stage: 2,
            reads: level.into_iter().chain(unit.offset()).map(scalar).collect(),
            writes: Some((Register::TEXTURE, ALL)),
        });
    }
    if let Some(unit) = i.load {
        all.push(Access {
            stage: 3,
            reads: unit.offset().map(scalar).into_iter().collect(),
            writes: Some((Register::UNIFORM, ALL)),
        });
    }
    arithmetic(i, &mut all);
    all.extend(combine(i));
    if let Some(unit) = i.store {
        let tile = unit.reads_tile();
        let stored = scalars(unit.source, unit.alignment).into_iter();
        all.push(Access {
            stage: 7,
            reads: stored.chain(unit.offset().map(scalar)).filter(|_| !tile).collect(),
            writes: tile.then_some((unit.source.register(), ALL)),
        });
    }
    if let Some(unit) = i.branch.filter(|unit| unit.may_go() && !unit.always()) {
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
    let row = unit.kind.row();
    let written = if unit.written().is_some() { unit.mask } else { 0 };
    let sampled = match i.sampler {
        Some(sampler) if sampler.is_cube() => 0b0111,
        Some(_) => 0b0011,
        None => 0,
    };
    let wanted = match unit.kind {
        // A direction's length depends on all components, whichever the sampler needs.
        VaryingKind::Normalize => written | row.reads,
        _ => written | sampled | row.reads,
    };
    let reads = match row.origin {
        Origin::Register => vec![(unit.register, unit.swizzle().through(wanted))],
        Origin::Memory => unit.offset().map(scalar).into_iter().collect(),
        Origin::Builtin => Vec::new(),
    };
    Some(Access {
        stage: 1,
        reads,
        writes: (written != 0).then_some((unit.destination, written)),
    })
}

/// Multipliers and adders.
fn arithmetic(i: &Instruction, all: &mut Vec<Access>) {
    // The operand components that the vec4 adder needs.
    let added = i.vec_acc.map_or(0, |unit| unit.op.row().reads.of(unit.mask));
    let forwarded = match i.vec_acc {
        Some(unit) if unit.a_is_mul => unit.a_swizzle.through(added),
        _ => 0,
    };
    if let Some(mul) = i.vec_mul {
        let unit = mul.unit();
        all.push(vector(&unit, 4, mul.op.operands(), unit.mask | forwarded, true));
    }
    let scalar_access = |stage, a: Option<Scalar>, b: Option<Scalar>, write: bool, destination: Scalar| Access {
        stage,
        reads: a.into_iter().chain(b).map(scalar).collect(),
        writes: write.then(|| scalar(destination)),
    };
    if let Some(unit) = i.float_mul {
        let b = (unit.op.operands() == 2).then_some(unit.b);
        all.push(scalar_access(4, Some(unit.a), b, unit.write, unit.destination));
    }
    if let Some(acc) = i.vec_acc {
        all.push(vector(&acc.unit(), 5, acc.op.operands(), added, !acc.a_is_mul));
    }
    if let Some(unit) = i.float_acc {
        let a = (!unit.a_is_mul).then_some(unit.a);
        let b = (unit.op.operands() == 2).then_some(unit.b);
        all.push(scalar_access(5, a, b, unit.write, unit.destination));
    }
}

fn vector(unit: &VectorUnit, stage: u8, operands: usize, wanted: u32, first: bool) -> Access {
    let a = first.then(|| (unit.a.register, unit.a.swizzle.through(wanted)));
    let b = (operands == 2).then(|| (unit.b.register, unit.b.swizzle.through(wanted)));
    Access {
        stage,
        reads: a.into_iter().chain(b).collect(),
        writes: (unit.mask != 0).then_some((unit.destination, unit.mask)),
    }
}

fn combine(i: &Instruction) -> Option<Access> {
    let unit = i.combine?;
    let (destination, mask) = unit.destination_vector();
    let (reads, writes) = match unit.form() {
        Form::Scalar(_) => (vec![scalar(unit.a)], scalar(unit.destination)),
        Form::AtanPart2(b) => (vec![(b.register, b.swizzle.through(1))], scalar(unit.destination)),
        Form::Scale(b) => (
            vec![scalar(unit.a), (b.register, b.swizzle.through(mask))],
            (destination, mask),
        ),
        Form::Vector(VectorFunction::Atan2Part1) => (vec![scalar(unit.a), scalar(unit.b)], (destination, mask)),
        Form::Vector(_) => (vec![scalar(unit.a)], (destination, mask)),
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
        let number = |(register, mask): (Register, u32)| (register.0, mask);
        let reads: Vec<_> = reads.into_iter().map(number).collect();
        assert_eq!(reads, [(0, 12), (12, 1), (3, 8)], "{all:?}");
        let writes: Vec<_> = all.iter().filter_map(|access| access.writes).map(number).collect();
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
                writes: Some((Register(0), ALL))
            }]
        );
    }
}
