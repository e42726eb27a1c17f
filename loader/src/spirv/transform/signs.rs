//! Integer operations whose operands have the other signedness. SPIR-V names the signedness in the opcode; WGSL, and naga's
//! modules, take it from the operands' type.

use super::editor::{build, opcode};
use super::rewriter::{Outcome, Rewriter, rewritten};
use crate::spirv::{Grammar, ModuleIndex, op};
use crate::{Error, Result};

/// Instructions that interpret integers: the opcode, whether they are signed, and which operands behind the result have
/// their type. A result that is an integer has it, too.
const OPERATIONS: [(u16, bool, std::ops::Range<usize>); 26] = [
    (op::CONVERT_F_TO_U, false, 0..0),
    (op::CONVERT_F_TO_S, true, 0..0),
    (op::CONVERT_S_TO_F, true, 0..1),
    (op::CONVERT_U_TO_F, false, 0..1),
    (op::S_NEGATE, true, 0..1),
    (op::U_DIV, false, 0..2),
    (op::S_DIV, true, 0..2),
    (op::U_MOD, false, 0..2),
    (op::S_REM, true, 0..2),
    (op::S_MOD, true, 0..2),
    (op::U_GREATER_THAN, false, 0..2),
    (op::S_GREATER_THAN, true, 0..2),
    (op::U_GREATER_THAN_EQUAL, false, 0..2),
    (op::S_GREATER_THAN_EQUAL, true, 0..2),
    (op::U_LESS_THAN, false, 0..2),
    (op::S_LESS_THAN, true, 0..2),
    (op::U_LESS_THAN_EQUAL, false, 0..2),
    (op::S_LESS_THAN_EQUAL, true, 0..2),
    (op::SHIFT_RIGHT_LOGICAL, false, 0..1),
    (op::SHIFT_RIGHT_ARITHMETIC, true, 0..1),
    (op::BIT_FIELD_S_EXTRACT, true, 0..1),
    (op::BIT_FIELD_U_EXTRACT, false, 0..1),
    (op::GROUP_NON_UNIFORM_S_MIN, true, 2..3),
    (op::GROUP_NON_UNIFORM_U_MIN, false, 2..3),
    (op::GROUP_NON_UNIFORM_S_MAX, true, 2..3),
    (op::GROUP_NON_UNIFORM_U_MAX, false, 2..3),
];

/// Instructions of GLSL.std.450 that interpret integers, and whether they are signed: `SAbs`, `SSign`, `UMin`, `SMin`,
/// `UMax`, `SMax`, `UClamp`, `SClamp`, `FindSMsb`, `FindUMsb`.
const EXTENDED: [(u32, bool); 10] = [
    (5, true),
    (7, true),
    (38, false),
    (39, true),
    (41, false),
    (42, true),
    (44, false),
    (45, true),
    (74, true),
    (75, false),
];

/// An instruction of GLSL.std.450. Its operand and its result, and those of `OpBitCount`, may differ in signedness; in
/// other languages they have one type.
const FIND_I_LSB: u32 = 73;

/// Atomic instructions that compare integers, and whether they are signed.
const ATOMIC: [(u16, bool); 4] = [
    (op::ATOMIC_S_MIN, true),
    (op::ATOMIC_U_MIN, false),
    (op::ATOMIC_S_MAX, true),
    (op::ATOMIC_U_MAX, false),
];

/// The module with casts where an operation's operands or result have the other signedness.
///
/// # Errors
/// Invalid for a broken module; Unsupported for an atomic comparison in memory of the other signedness.
pub fn with_casts(words: &[u32]) -> Result<Vec<u32>> {
    atomics(words)?;
    rewritten(words, |to, words| Ok(convert(to, words)))
}

/// Rejects atomic comparisons that no cast changes: other languages compare what the memory holds.
///
/// # Errors
/// Unsupported for an atomic comparison in memory of the other signedness; Invalid for a broken module.
pub fn atomics(words: &[u32]) -> Result<()> {
    let index = &ModuleIndex::new(words)?;
    for node in index.bodies() {
        let Some((_, signed)) = ATOMIC.iter().find(|(opcode, _)| *opcode == node.opcode) else {
            continue;
        };
        let is_other = node
            .operand(0)
            .and_then(|ty| integer(index, ty))
            .is_some_and(|number| number.signed != *signed);
        if is_other {
            let name = Grammar::builtin().row(node.opcode).map_or("", |row| &row.name);
            let memory = if *signed { "unsigned" } else { "signed" };
            let message = format!("{name} in memory of {memory} integers");
            return Err(Error::unsupported("spirv", message).at(4 * node.position as u64));
        }
    }
    Ok(())
}

/// An integer type, or a vector of them.
#[derive(Clone, Copy)]
struct Integer {
    width: u32,
    signed: bool,
    /// Components; 1 for a scalar.
    count: u32,
}

fn integer(index: &ModuleIndex, ty: u32) -> Option<Integer> {
    let (scalar, count) = index.vector(ty);
    let [_, width, signed] = index.operands(scalar, op::TYPE_INT)?;
    Some(Integer {
        width,
        signed: signed == 1,
        count,
    })
}

/// Whether an instruction interprets integers as signed, and the positions of those operands.
fn interpreted(index: &ModuleIndex, words: &[u32], set: Option<u32>) -> Option<(bool, std::ops::Range<usize>)> {
    let is_signed = |ty: u32| Some(integer(index, ty)?.signed);
    if opcode(words) == op::BIT_COUNT {
        return Some((is_signed(*words.get(1)?)?, 3..4));
    }
    if opcode(words) == op::EXT_INST {
        let [_, ty, _, of, instruction, ..] = *words else {
            return None;
        };
        if instruction == FIND_I_LSB && Some(of) == set {
            return Some((is_signed(ty)?, 5..words.len()));
        }
        let (_, signed) = EXTENDED
            .iter()
            .find(|(number, _)| *number == instruction && Some(of) == set)?;
        return Some((*signed, 5..words.len()));
    }
    let (_, signed, operands) = OPERATIONS.iter().find(|(of, ..)| *of == opcode(words))?;
    Some((*signed, 3 + operands.start..3 + operands.end))
}

/// Puts an instruction that interprets integers between the casts that it needs.
fn convert(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Outcome {
    let Some((signed, operands)) = interpreted(to.index, words, to.set) else {
        return Outcome::Kept;
    };
    let mut changed = words.to_vec();
    for at in operands {
        let Some(value) = words.get(at).copied() else { break };
        let ty = to.index.definition(value).and_then(|node| node.operand(0));
        if let Some(other) = ty.and_then(|ty| other(to, ty, signed)) {
            changed[at] = to.step(op::BITCAST, other, &[value]);
        }
    }
    let (own, result) = (words[1], words[2]);
    let cast = other(to, own, signed);
    if let Some(other) = cast {
        (changed[1], changed[2]) = (other, to.fresh());
    }
    if changed == words {
        return Outcome::Kept;
    }
    to.push(&changed);
    if cast.is_some() {
        to.push(&build(op::BITCAST, &[own, result, changed[2]]));
    }
    Outcome::Replaced
}

/// The type of this signedness for an integer type of the other.
fn other(to: &mut Rewriter<'_, '_>, ty: u32, signed: bool) -> Option<u32> {
    let number = integer(to.index, ty).filter(|number| number.signed != signed)?;
    let operands = [number.width, u32::from(signed)];
    let (declared, module) = to.declared();
    let scalar = declared.ty(module, op::TYPE_INT, &operands);
    Some(declared.vector(module, scalar, number.count))
}
