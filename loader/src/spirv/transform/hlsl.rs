//! The passes for HLSL.

use super::editor::{build, opcode};
use super::exponents::{LDEXP, S_CLAMP};
use super::operations;
use super::rewriter::{Outcome, Rewriter, rewritten};
use crate::spirv::operand::{ALIGNED, AVAILABLE, VISIBLE, access_words};
use crate::spirv::{ModuleIndex, class, op};
use crate::{Error, Result};

/// Limit on the elements of an array that one store writes to a buffer.
const MAX_STORED: u64 = 4096;

/// The module without operations that HLSL has with other results: products of twice as many bits, and `Ldexp`, whose
/// power of two may be beyond the range of floats; and without stores and copies of arrays to buffers, at which SPIRV-Cross
/// hangs or crashes.
///
/// # Errors
/// Invalid for a broken module; Unsupported for a store of an array of more than 4096 elements.
pub fn for_hlsl(words: &[u32]) -> Result<Vec<u32>> {
    rewritten(words, |to, words| match (opcode(words), words.get(4)) {
        (op::STORE, _) => store(to, words),
        (op::COPY_MEMORY, _) => copy(to, words),
        (op::EXT_INST, Some(&LDEXP)) => Ok(scale(to, words)),
        _ => Ok(operations::spell(to, words)),
    })
}

/// Replaces a store of an array to a buffer by stores of its elements.
fn store(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Result<Outcome> {
    let &[_, pointer, value, ref access @ ..] = words else {
        return Ok(Outcome::Kept);
    };
    let Some((kind, array)) = array_in_buffer(to.index, pointer) else {
        return Ok(Outcome::Kept);
    };
    bounded(to.index, array)?;
    store_elements(to, [kind, array], [pointer, value], access);
    Ok(Outcome::Replaced)
}

/// Replaces a copy of an array to a buffer by a load, and stores of the elements.
fn copy(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Result<Outcome> {
    let &[_, target, source, ref access @ ..] = words else {
        return Ok(Outcome::Kept);
    };
    let Some((kind, array)) = array_in_buffer(to.index, target) else {
        return Ok(Outcome::Kept);
    };
    // A copy between types that are laid out in two ways is not valid: the value has the target's type.
    bounded(to.index, array)?;
    let (stored, loaded) = access.split_at(access.first().map_or(0, |mask| access.len().min(access_words(*mask))));
    let loaded = if loaded.is_empty() { stored } else { loaded };
    let value = to.step(
        op::LOAD,
        array,
        &[&[source], &access_of(loaded, AVAILABLE)[..]].concat(),
    );
    store_elements(to, [kind, array], [target, value], &access_of(stored, VISIBLE));
    Ok(Outcome::Replaced)
}

/// Memory operands without the one of a bit, which only the other half of a copy may have.
fn access_of(access: &[u32], without: u32) -> Vec<u32> {
    let Some((mask, own)) = access.split_first() else {
        return Vec::new();
    };
    let bits = [ALIGNED, AVAILABLE, VISIBLE].into_iter().filter(|bit| mask & bit != 0);
    let kept = bits.zip(own).filter(|(bit, _)| *bit != without).map(|(_, word)| *word);
    [mask & !without].into_iter().chain(kept).collect()
}

/// Rejects an array that would become too many stores.
fn bounded(index: &ModuleIndex, array: u32) -> Result<()> {
    match count(index, array) > MAX_STORED {
        true => {
            let message = format!("a store of an array of more than {MAX_STORED} elements to a buffer");
            Err(Error::unsupported("spirv", message))
        }
        false => Ok(()),
    }
}

/// The storage class and the array type of a pointer to an array in a buffer.
fn array_in_buffer(index: &ModuleIndex, pointer: u32) -> Option<(u32, u32)> {
    let ty = index.definition(pointer)?.operand(0)?;
    let [_, kind, pointee] = index.operands(ty, op::TYPE_POINTER)?;
    let is_buffer = matches!(kind, class::STORAGE_BUFFER | class::UNIFORM);
    index.array(pointee).filter(|_| is_buffer)?;
    Some((kind, pointee))
}

/// The number of elements of an array, those of arrays in it.
fn count(index: &ModuleIndex, mut ty: u32) -> u64 {
    let mut count = 1u64;
    while let Some((element, length)) = index.array(ty) {
        (ty, count) = (element, count.saturating_mul(u64::from(length)));
    }
    count
}

/// Stores a value of a type through a pointer of a storage class; `access` are memory operands.
fn store_elements(to: &mut Rewriter<'_, '_>, [kind, ty]: [u32; 2], [pointer, value]: [u32; 2], access: &[u32]) {
    let Some((element, length)) = to.index.array(ty) else {
        to.push(&build(op::STORE, &[&[pointer, value], access].concat()));
        return;
    };
    let (declared, module) = to.declared();
    let to_element = declared.ty(module, op::TYPE_POINTER, &[kind, element]);
    for number in 0..length {
        let (declared, module) = to.declared();
        let at = declared.number(module, number);
        let part = to.step(op::COMPOSITE_EXTRACT, element, &[value, number]);
        let place = to.step(op::ACCESS_CHAIN, to_element, &[pointer, at]);
        store_elements(to, [kind, element], [place, part], access);
    }
}

/// Replaces `Ldexp` of 32-bit floats by two products with powers of two.
fn scale(to: &mut Rewriter<'_, '_>, words: &[u32]) -> Outcome {
    let &[_, ty, id, set, _, value, exponent] = words else {
        return Outcome::Kept;
    };
    let Some((exponents, count)) = exponents(to.index, ty, exponent).filter(|_| Some(set) == to.set) else {
        return Outcome::Kept;
    };
    let (declared, module) = to.declared();
    let scalar = declared.ty(module, op::TYPE_INT, &[32, 1]);
    let ints = declared.vector(module, scalar, count);
    let [least, most, one, bias, fraction] = [-252, 254, 1, 127, 23].map(|value: i32| {
        let number = declared.constant(module, scalar, value as u32);
        declared.splat(module, ints, count, number)
    });
    let signed = match exponents == ints {
        true => exponent,
        false => to.step(op::BITCAST, ints, &[exponent]),
    };
    let all = to.step(op::EXT_INST, ints, &[set, S_CLAMP, signed, least, most]);
    let half = to.step(op::SHIFT_RIGHT_ARITHMETIC, ints, &[all, one]);
    let rest = to.step(op::I_SUB, ints, &[all, half]);
    let [half, rest] = [half, rest].map(|exponent| {
        let biased = to.step(op::I_ADD, ints, &[exponent, bias]);
        let bits = to.step(op::SHIFT_LEFT_LOGICAL, ints, &[biased, fraction]);
        to.step(op::BITCAST, ty, &[bits])
    });
    let scaled = to.step(op::F_MUL, ty, &[value, half]);
    to.push(&build(op::F_MUL, &[ty, id, scaled, rest]));
    Outcome::Replaced
}

/// The type of an exponent and its number of components, if it and the result have 32 bits.
fn exponents(index: &ModuleIndex, ty: u32, exponent: u32) -> Option<(u32, u32)> {
    let exponents = index.definition(exponent)?.operand(0)?;
    let ((float, count), (int, _)) = (index.vector(ty), index.vector(exponents));
    let [_, 32] = index.operands(float, op::TYPE_FLOAT)? else {
        return None;
    };
    let [_, 32, _] = index.operands(int, op::TYPE_INT)? else {
        return None;
    };
    Some((exponents, count))
}
