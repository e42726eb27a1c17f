//! The passes for HLSL.

use super::declarations::Declarations;
use super::editor::{Editor, build, opcode};
use super::{operations, signs};
use crate::Result;
use crate::spirv::{ModuleIndex, op};

/// Instructions of GLSL.std.450.
const LDEXP: u32 = 53;
const S_CLAMP: u32 = 45;

/// The module without operations that HLSL has with other results: products of twice as many bits, and `Ldexp`, whose
/// power of two may be beyond the range of floats.
///
/// # Errors
/// Invalid for a broken module; Unsupported for an atomic comparison in memory of the other signedness.
pub fn for_hlsl(words: &[u32]) -> Result<Vec<u32>> {
    signs::refuse_atomics(&ModuleIndex::new(words)?)?;
    ldexp(&operations::spelled(words)?)
}

/// Replaces `Ldexp` of 32-bit floats by two products with powers of two.
fn ldexp(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let Some(set) = module.imported("GLSL.std.450") else {
        return Ok(words.to_vec());
    };
    let mut declared = Declarations::of(&index, &module);
    let start = module.functions_start();
    let old = module.body.split_off(start);
    let mut body = Vec::with_capacity(old.len());
    for words in old {
        match (opcode(&words), words.as_slice()) {
            (op::EXT_INST, &[_, ty, id, of, LDEXP, value, exponent]) if of == set => {
                match exponents(&index, ty, exponent) {
                    Some((exponents, count)) => {
                        let mut number = |value: i32| {
                            let scalar = declared.ty(&mut module, op::TYPE_INT, &[32, 1]);
                            let number = declared.constant(&mut module, scalar, value as u32);
                            let vector = declared.vector(&mut module, scalar, count);
                            (vector, declared.splat(&mut module, vector, count, number))
                        };
                        let [(ints, least), (_, most), (_, one), (_, bias), (_, fraction)] =
                            [-252, 254, 1, 127, 23].map(&mut number);
                        let mut step = |opcode: u16, ty: u32, operands: &[u32]| {
                            let id = module.fresh();
                            body.push(build(opcode, &[&[ty, id], operands].concat()));
                            id
                        };
                        let signed = match exponents == ints {
                            true => exponent,
                            false => step(op::BITCAST, ints, &[exponent]),
                        };
                        let all = step(op::EXT_INST, ints, &[set, S_CLAMP, signed, least, most]);
                        let half = step(op::SHIFT_RIGHT_ARITHMETIC, ints, &[all, one]);
                        let rest = step(op::I_SUB, ints, &[all, half]);
                        let [half, rest] = [half, rest].map(|exponent| {
                            let biased = step(op::I_ADD, ints, &[exponent, bias]);
                            let bits = step(op::SHIFT_LEFT_LOGICAL, ints, &[biased, fraction]);
                            step(op::BITCAST, ty, &[bits])
                        });
                        let scaled = step(op::F_MUL, ty, &[value, half]);
                        body.push(build(op::F_MUL, &[ty, id, scaled, rest]));
                    }
                    None => body.push(words),
                }
            }
            _ => body.push(words),
        }
    }
    module.body.append(&mut body);
    declared.insert(&mut module);
    Ok(module.words())
}

/// The type of an exponent and its number of components, if it and the result have 32 bits.
fn exponents(index: &ModuleIndex, ty: u32, exponent: u32) -> Option<(u32, u32)> {
    let exponents = index.definition(exponent)?.operand(0)?;
    let scalar = |ty| {
        let vector: Option<[u32; 3]> = index.operands(ty, op::TYPE_VECTOR);
        vector.map_or((ty, 1), |[_, scalar, count]| (scalar, count))
    };
    let ((float, count), (int, _)) = (scalar(ty), scalar(exponents));
    let [_, 32] = index.operands(float, op::TYPE_FLOAT)? else {
        return None;
    };
    let [_, 32, _] = index.operands(int, op::TYPE_INT)? else {
        return None;
    };
    Some((exponents, count))
}
