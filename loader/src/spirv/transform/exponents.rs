//! Exponents of `Ldexp`, which SPIR-V takes in any width and other languages in 32 bits.

use super::editor::opcode;
use super::rewriter::{Outcome, Rewriter, rewritten};
use crate::Result;
use crate::spirv::{ModuleIndex, capability, op};

/// Instructions of GLSL.std.450.
pub(super) const LDEXP: u32 = 53;
pub(super) const S_CLAMP: u32 = 45;

/// Larger than the exponent of any float, and than the difference of any two.
const LIMIT: i64 = 1 << 14;

/// The module with 64-bit exponents of `Ldexp` clamped and converted to 32 bits.
///
/// # Errors
/// Invalid for a broken module.
pub fn narrow_exponents(words: &[u32]) -> Result<Vec<u32>> {
    // Every translation comes here, and few modules have such integers.
    if !ModuleIndex::new(words)?.capabilities().contains(&capability::INT_64) {
        return Ok(words.to_vec());
    }
    rewritten(words, |to, words| Ok(narrow(to, words)))
}

/// Replaces `Ldexp` with a 64-bit exponent by one with a 32-bit exponent.
fn narrow(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Outcome {
    if let (op::EXT_INST, &[_, _, _, set, LDEXP, _, exponent]) = (opcode(words), words)
        && Some(set) == to.set
        && let Some((wide, count)) = wide(to, exponent)
    {
        let (declared, module) = to.declared();
        let [long, int] = [64, 32].map(|width| declared.ty(module, op::TYPE_INT, &[width, 1]));
        let [longs, ints] = [long, int].map(|scalar| declared.vector(module, scalar, count));
        let signed = match wide == longs {
            true => exponent,
            false => to.step(op::BITCAST, longs, &[exponent]),
        };
        let (declared, module) = to.declared();
        let [least, most] = [-LIMIT, LIMIT].map(|value| {
            let number = declared.long(module, long, value);
            declared.splat(module, longs, count, number)
        });
        let clamped = to.step(op::EXT_INST, longs, &[set, S_CLAMP, signed, least, most]);
        let mut words = words.to_vec();
        words[6] = to.step(op::S_CONVERT, ints, &[clamped]);
        to.push(&words);
        return Outcome::Replaced;
    }
    Outcome::Kept
}

/// The type of a value and its number of components, if these are 64-bit integers.
fn wide(to: &Rewriter<'_, '_>, value: u32) -> Option<(u32, u32)> {
    let ty = to.index.definition(value)?.operand(0)?;
    let (scalar, count) = to.index.vector(ty);
    let [_, width, _] = to.index.operands(scalar, op::TYPE_INT)?;
    (width == 64).then_some((ty, count))
}
