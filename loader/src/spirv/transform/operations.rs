//! Arithmetic operations that WGSL or HLSL lacks, by those that it has.

use super::editor::{build, opcode};
use super::rewriter::{Outcome, Rewriter, rewritten};
use crate::Result;
use crate::spirv::op;

const IS_NAN: u16 = 156;

/// Instructions of GLSL.std.450.
const TRUNC: u32 = 3;
const F_SIGN: u32 = 6;
const NORMALIZE: u32 = 69;
const MODF: u32 = 35;
const MODF_STRUCT: u32 = 36;

/// The module without `OpIsNan` (a number that differs from itself), 64-bit products of 32-bit integers (products of their
/// halves), carries and borrows (comparisons), `Normalize` of scalars (the sign), and `Modf` (`Trunc` and a difference).
///
/// # Errors
/// Invalid for a broken module.
pub fn spelled(words: &[u32]) -> Result<Vec<u32>> {
    rewritten(words, |to, words| Ok(spell(to, words)))
}

/// Replaces an instruction by others that compute the same.
pub(super) fn spell(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Outcome {
    match (opcode(words), words) {
        (IS_NAN, &[_, ty, id, value]) => {
            let same = to.step(op::F_ORD_EQUAL, ty, &[value, value]);
            to.push(&build(op::LOGICAL_NOT, &[ty, id, same]));
        }
        (op::EXT_INST, &[_, ty, id, of, MODF, value, pointer]) if Some(of) == to.set => {
            let whole = to.step(op::EXT_INST, ty, &[of, TRUNC, value]);
            to.push(&build(op::F_SUB, &[ty, id, value, whole]));
            to.push(&build(op::STORE, &[pointer, whole]));
        }
        (op::EXT_INST, &[_, ty, id, of, MODF_STRUCT, value]) if Some(of) == to.set => {
            let Some(part) = to.index.members(ty).and_then(|mut members| members.next()) else {
                return Outcome::Kept;
            };
            let whole = to.step(op::EXT_INST, part, &[of, TRUNC, value]);
            let rest = to.step(op::F_SUB, part, &[value, whole]);
            to.push(&build(op::COMPOSITE_CONSTRUCT, &[ty, id, rest, whole]));
        }
        (op::EXT_INST, &[_, ty, _, of, NORMALIZE, _])
            if Some(of) == to.set && to.index.opcode(ty) == op::TYPE_FLOAT =>
        {
            let mut words = words.to_vec();
            words[4] = F_SIGN;
            to.push(&words);
        }
        (opcode @ (op::U_MUL_EXTENDED | op::S_MUL_EXTENDED), &[_, ty, id, a, b]) => match unsigned(to, ty) {
            Some(number) => product(to, opcode == op::S_MUL_EXTENDED, [ty, id, a, b], number),
            None => return Outcome::Kept,
        },
        (opcode @ (op::I_ADD_CARRY | op::I_SUB_BORROW), &[_, ty, id, a, b]) => match unsigned(to, ty) {
            Some(number) if number.own == number.unsigned => {
                carry(to, opcode == op::I_ADD_CARRY, [ty, id, a, b], number)
            }
            _ => return Outcome::Kept,
        },
        _ => return Outcome::Kept,
    }
    Outcome::Replaced
}

/// Computes a sum and its carry, or a difference and its borrow: a sum that is below its parts has lost a bit.
fn carry(to: &mut Rewriter<'_, '_>, is_sum: bool, [ty, id, a, b]: [u32; 4], number: Number) {
    let Number { unsigned, count, .. } = number;
    let (declared, module) = to.declared();
    let boolean = declared.boolean(module);
    let truth = declared.vector(module, boolean, count);
    let [one, zero] = [1, 0].map(|value| {
        let scalar = declared.number(module, value);
        declared.splat(module, unsigned, count, scalar)
    });
    let result = to.step(if is_sum { op::I_ADD } else { op::I_SUB }, unsigned, &[a, b]);
    let (low, high) = if is_sum { (result, a) } else { (a, b) };
    let below = to.step(op::U_LESS_THAN, truth, &[low, high]);
    let bit = to.step(op::SELECT, unsigned, &[below, one, zero]);
    to.push(&build(op::COMPOSITE_CONSTRUCT, &[ty, id, result, bit]));
}

/// The types of a product's halves: as declared, and unsigned.
#[derive(Clone, Copy)]
struct Number {
    own: u32,
    unsigned: u32,
    /// The number of components; 1 for a scalar.
    count: u32,
}

/// The member types of a struct of two equal 32-bit integers or vectors of them.
fn unsigned(to: &mut Rewriter<'_, '_>, ty: u32) -> Option<Number> {
    let own = to.index.members(ty)?.next()?;
    let (scalar, count) = to.index.vector(own);
    let [_, 32, _] = to.index.operands(scalar, op::TYPE_INT)? else {
        return None;
    };
    let (declared, module) = to.declared();
    let uint = declared.uint(module);
    let unsigned = declared.vector(module, uint, count);
    Some(Number { own, unsigned, count })
}

/// Computes both halves of a product from products of halves of its factors.
fn product(to: &mut Rewriter<'_, '_>, signed: bool, [ty, id, a, b]: [u32; 4], number: Number) {
    let Number { own, unsigned, count } = number;
    let (declared, module) = to.declared();
    let [half, low, sign] = [16, 0xffff, 31].map(|value| {
        let scalar = declared.number(module, value);
        declared.splat(module, unsigned, count, scalar)
    });
    let mut step = |opcode: u16, operands: &[u32]| to.step(opcode, unsigned, operands);
    let (a, b) = match own == unsigned {
        true => (a, b),
        false => (step(op::BITCAST, &[a]), step(op::BITCAST, &[b])),
    };
    let (a_low, a_high) = (
        step(op::BITWISE_AND, &[a, low]),
        step(op::SHIFT_RIGHT_LOGICAL, &[a, half]),
    );
    let (b_low, b_high) = (
        step(op::BITWISE_AND, &[b, low]),
        step(op::SHIFT_RIGHT_LOGICAL, &[b, half]),
    );
    let lowest = step(op::I_MUL, &[a_low, b_low]);
    let first = step(op::I_MUL, &[a_high, b_low]);
    let second = step(op::I_MUL, &[a_low, b_high]);
    let highest = step(op::I_MUL, &[a_high, b_high]);
    // None of these sums overflows 32 bits.
    let carried = step(op::SHIFT_RIGHT_LOGICAL, &[lowest, half]);
    let first = step(op::I_ADD, &[first, carried]);
    let rest = step(op::BITWISE_AND, &[first, low]);
    let second = step(op::I_ADD, &[second, rest]);
    let (first, second) = (
        step(op::SHIFT_RIGHT_LOGICAL, &[first, half]),
        step(op::SHIFT_RIGHT_LOGICAL, &[second, half]),
    );
    let high = step(op::I_ADD, &[highest, first]);
    let mut high = step(op::I_ADD, &[high, second]);
    let mut product = step(op::I_MUL, &[a, b]);
    if signed {
        // A negative factor counts as 2^32 too many.
        for (factor, other) in [(a, b), (b, a)] {
            let negative = step(op::SHIFT_RIGHT_LOGICAL, &[factor, sign]);
            let more = step(op::I_MUL, &[negative, other]);
            high = step(op::I_SUB, &[high, more]);
        }
    }
    if own != unsigned {
        [product, high] = [product, high].map(|half| to.step(op::BITCAST, own, &[half]));
    }
    to.push(&build(op::COMPOSITE_CONSTRUCT, &[ty, id, product, high]));
}
