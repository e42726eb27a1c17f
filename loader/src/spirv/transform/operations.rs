//! Arithmetic operations that WGSL or HLSL lacks, by those that it has.

use super::editor::{build, opcode};
use super::rewriter::{Outcome, Rewriter, rewritten};
use crate::Result;
use crate::spirv::op;

const IS_NAN: u16 = 156;

/// Instructions of GLSL.std.450.
const TRUNC: u32 = 3;
const F_SIGN: u32 = 6;
const SQRT: u32 = 31;
const MODF: u32 = 35;
const MODF_STRUCT: u32 = 36;
const NORMALIZE: u32 = 69;
const FACE_FORWARD: u32 = 70;
const REFLECT: u32 = 71;
const REFRACT: u32 = 72;

/// The image operand Lod.
const LOD: u32 = 2;

/// The module without the operations that [`without_wide_products`] replaces, and without what WGSL has for vectors alone
/// (`Reflect`, `Refract` and `FaceForward` of scalars), for scalars alone (a selection of vectors by one truth value), or
/// not at all (`OpOuterProduct`, and a fetch that leaves out the level); fetches are at signed coordinates.
///
/// # Errors
/// Invalid for a broken module.
pub(super) fn for_wgsl(words: &[u32]) -> Result<Vec<u32>> {
    rewritten(words, |to, words| {
        Ok(match spell_for_wgsl(to, words) {
            Outcome::Kept => spell(to, words),
            Outcome::Replaced => Outcome::Replaced,
        })
    })
}

/// The module without `OpIsNan` (a number that differs from itself), 64-bit products of 32-bit integers (products of their
/// halves), carries and borrows (comparisons), `Normalize` of scalars (the sign), and `Modf` (`Trunc` and a difference).
///
/// # Errors
/// Invalid for a broken module.
pub fn without_wide_products(words: &[u32]) -> Result<Vec<u32>> {
    rewritten(words, |to, words| Ok(spell(to, words)))
}

/// Replaces an instruction that WGSL lacks by others that compute the same.
fn spell_for_wgsl(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Outcome {
    match (opcode(words), words) {
        (op::EXT_INST, &[_, ty, id, of, kind, ref values @ ..]) if Some(of) == to.set && is_f32(to, ty) => {
            return optics(to, kind, [ty, id, of], values);
        }
        (op::OUTER_PRODUCT, &[_, ty, id, a, b]) => {
            let Some([_, column, count]) = to.index.operands(ty, op::TYPE_MATRIX) else {
                return Outcome::Kept;
            };
            let (scalar, _) = to.index.vector(column);
            let mut columns = vec![ty, id];
            for at in 0..count {
                let part = to.step(op::COMPOSITE_EXTRACT, scalar, &[b, at]);
                columns.push(to.step(op::VECTOR_TIMES_SCALAR, column, &[a, part]));
            }
            to.push(&build(op::COMPOSITE_CONSTRUCT, &columns));
        }
        (op::SELECT, &[_, ty, id, truth, yes, no]) => {
            let (_, count) = to.index.vector(ty);
            let of = to.index.definition(truth).and_then(|node| node.operand(0));
            if count == 1 || of.is_none_or(|of| to.index.opcode(of) != op::TYPE_BOOL) {
                return Outcome::Kept;
            }
            let (declared, module) = to.declared();
            let boolean = declared.boolean(module);
            let truths = declared.vector(module, boolean, count);
            let all = to.step(op::COMPOSITE_CONSTRUCT, truths, &vec![truth; count as usize]);
            to.push(&build(op::SELECT, &[ty, id, all, yes, no]));
        }
        (op::IMAGE_FETCH, &[_, ty, id, image, place, ref operands @ ..]) => {
            let type_of = |id: u32| to.index.definition(id)?.operand(0);
            let has_levels = type_of(image)
                .and_then(|of| to.index.image(of))
                .is_some_and(|image| !image.is_buffer() && !image.is_subpass() && image.multisampled == 0);
            let (mask, rest) = operands
                .split_first()
                .map_or((0, operands), |(mask, rest)| (*mask, rest));
            let lacks_level = has_levels && mask & LOD == 0;
            let (scalar, count) = type_of(place).map_or((0, 1), |of| to.index.vector(of));
            // naga panics at coordinates without a sign.
            let is_unsigned = to.index.operands(scalar, op::TYPE_INT) == Some([scalar, 32, 0]);
            if !lacks_level && !is_unsigned {
                return Outcome::Kept;
            }
            let (declared, module) = to.declared();
            let int = declared.ty(module, op::TYPE_INT, &[32, 1]);
            let (ints, level) = (declared.vector(module, int, count), declared.constant(module, int, 0));
            let place = if is_unsigned {
                to.step(op::BITCAST, ints, &[place])
            } else {
                place
            };
            let mut fetch = vec![ty, id, image, place];
            match lacks_level {
                true => fetch.extend([mask | LOD, level].iter().chain(rest)),
                false => fetch.extend_from_slice(operands),
            }
            to.push(&build(op::IMAGE_FETCH, &fetch));
        }
        _ => return Outcome::Kept,
    }
    Outcome::Replaced
}

fn is_f32(to: &Rewriter<'_, '_>, ty: u32) -> bool {
    to.index.operands(ty, op::TYPE_FLOAT) == Some([ty, 32])
}

/// Replaces `FaceForward`, `Reflect` and `Refract` of scalars.
fn optics(to: &mut Rewriter<'_, '_>, kind: u32, [ty, id, set]: [u32; 3], values: &[u32]) -> Outcome {
    match (kind, values) {
        (REFLECT, &[ray, normal]) => {
            let part = to.step(op::F_MUL, ty, &[normal, ray]);
            let twice = to.step(op::F_ADD, ty, &[part, part]);
            let along = to.step(op::F_MUL, ty, &[twice, normal]);
            to.push(&build(op::F_SUB, &[ty, id, ray, along]));
        }
        (FACE_FORWARD, &[normal, ray, reference]) => {
            let zero = float(to, ty, 0.0);
            let part = to.step(op::F_MUL, ty, &[reference, ray]);
            let is_below = less(to, part, zero);
            let turned = to.step(op::F_NEGATE, ty, &[normal]);
            to.push(&build(op::SELECT, &[ty, id, is_below, normal, turned]));
        }
        (REFRACT, &[ray, normal, eta]) => {
            let (one, zero) = (float(to, ty, 1.0), float(to, ty, 0.0));
            let mut step = |opcode: u16, operands: &[u32]| to.step(opcode, ty, operands);
            let cosine = step(op::F_MUL, &[normal, ray]);
            let square = step(op::F_MUL, &[cosine, cosine]);
            let sine = step(op::F_SUB, &[one, square]);
            let etas = step(op::F_MUL, &[eta, eta]);
            let lost = step(op::F_MUL, &[etas, sine]);
            let left = step(op::F_SUB, &[one, lost]);
            let root = step(op::EXT_INST, &[set, SQRT, left]);
            let scaled = step(op::F_MUL, &[eta, cosine]);
            let sum = step(op::F_ADD, &[scaled, root]);
            let along = step(op::F_MUL, &[sum, normal]);
            let bent = step(op::F_MUL, &[eta, ray]);
            let refracted = step(op::F_SUB, &[bent, along]);
            let is_reflected = less(to, left, zero);
            to.push(&build(op::SELECT, &[ty, id, is_reflected, zero, refracted]));
        }
        _ => return Outcome::Kept,
    }
    Outcome::Replaced
}

/// A constant of a 32-bit float type.
fn float(to: &mut Rewriter<'_, '_>, ty: u32, value: f32) -> u32 {
    let (declared, module) = to.declared();
    declared.constant(module, ty, value.to_bits())
}

/// Whether a number is below another.
fn less(to: &mut Rewriter<'_, '_>, a: u32, b: u32) -> u32 {
    let (declared, module) = to.declared();
    let boolean = declared.boolean(module);
    to.step(op::F_ORD_LESS_THAN, boolean, &[a, b])
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
