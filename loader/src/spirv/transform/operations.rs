//! Arithmetic operations that WGSL lacks, by those that it has.

use super::declarations::Declarations;
use super::editor::{Editor, build, opcode};
use crate::Result;
use crate::spirv::{ModuleIndex, op};

const U_MUL_EXTENDED: u16 = 151;
const S_MUL_EXTENDED: u16 = 152;
const IS_NAN: u16 = 156;

/// Instructions of GLSL.std.450.
const TRUNC: u32 = 3;
const F_SIGN: u32 = 6;
const NORMALIZE: u32 = 69;
const MODF: u32 = 35;
const MODF_STRUCT: u32 = 36;

/// The module without `OpIsNan` (a number that differs from itself), 64-bit products of 32-bit integers (products of their
/// halves), `Normalize` of scalars (the sign), and `Modf` (`Trunc` and a difference).
///
/// # Errors
/// Invalid for a broken module.
pub fn spelled(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let set = module.imported("GLSL.std.450");
    let mut declared = Declarations::of(&index, &module);
    let start = module.functions_start();
    let old = module.body.split_off(start);
    let mut body = Vec::with_capacity(old.len());
    for mut words in old {
        match (opcode(&words), words.as_slice()) {
            (IS_NAN, &[_, ty, id, value]) => {
                let same = module.fresh();
                body.push(build(op::F_ORD_EQUAL, &[ty, same, value, value]));
                body.push(build(op::LOGICAL_NOT, &[ty, id, same]));
            }
            (op::EXT_INST, &[_, ty, id, of, MODF, value, pointer]) if Some(of) == set => {
                let whole = module.fresh();
                body.push(build(op::EXT_INST, &[ty, whole, of, TRUNC, value]));
                body.push(build(op::F_SUB, &[ty, id, value, whole]));
                body.push(build(op::STORE, &[pointer, whole]));
            }
            (op::EXT_INST, &[_, ty, id, of, MODF_STRUCT, value]) if Some(of) == set => {
                let Some(part) = index.members(ty).and_then(|mut members| members.next()) else {
                    body.push(words);
                    continue;
                };
                let [whole, rest] = [(); 2].map(|()| module.fresh());
                body.push(build(op::EXT_INST, &[part, whole, of, TRUNC, value]));
                body.push(build(op::F_SUB, &[part, rest, value, whole]));
                body.push(build(op::COMPOSITE_CONSTRUCT, &[ty, id, rest, whole]));
            }
            (op::EXT_INST, &[_, ty, _, of, NORMALIZE, _]) if Some(of) == set && index.opcode(ty) == op::TYPE_FLOAT => {
                words[4] = F_SIGN;
                body.push(words);
            }
            (opcode @ (U_MUL_EXTENDED | S_MUL_EXTENDED), &[_, ty, id, a, b]) => {
                match unsigned(&index, &mut module, &mut declared, ty) {
                    Some(number) => {
                        let signed = opcode == S_MUL_EXTENDED;
                        product(&mut module, &mut declared, signed, [ty, id, a, b], number, &mut body);
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

/// The types of a product's halves: as declared, and unsigned.
#[derive(Clone, Copy)]
struct Number {
    own: u32,
    unsigned: u32,
    /// The number of components; 1 for a scalar.
    count: u32,
}

/// The member types of a struct of two equal 32-bit integers or vectors of them.
fn unsigned(index: &ModuleIndex, module: &mut Editor, declared: &mut Declarations, ty: u32) -> Option<Number> {
    let own = index.members(ty)?.next()?;
    let vector: Option<[u32; 3]> = index.operands(own, op::TYPE_VECTOR);
    let (scalar, count) = vector.map_or((own, 1), |[_, scalar, count]| (scalar, count));
    let [_, 32, _] = index.operands(scalar, op::TYPE_INT)? else {
        return None;
    };
    let uint = declared.uint(module);
    let unsigned = declared.vector(module, uint, count);
    Some(Number { own, unsigned, count })
}

/// Computes both halves of a product from products of halves of its factors.
fn product(
    module: &mut Editor,
    declared: &mut Declarations,
    signed: bool,
    [ty, id, a, b]: [u32; 4],
    number: Number,
    body: &mut Vec<Vec<u32>>,
) {
    let [half, low, sign] = [16, 0xffff, 31].map(|value| {
        let scalar = declared.number(module, value);
        declared.splat(module, number.unsigned, number.count, scalar)
    });
    let unsigned = number.unsigned;
    let mut step = |opcode: u16, operands: &[u32]| {
        let id = module.fresh();
        body.push(build(opcode, &[&[unsigned, id], operands].concat()));
        id
    };
    let (a, b) = match number.own == unsigned {
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
    if number.own != unsigned {
        for half in [&mut product, &mut high] {
            let cast = module.fresh();
            body.push(build(op::BITCAST, &[number.own, cast, *half]));
            *half = cast;
        }
    }
    body.push(build(op::COMPOSITE_CONSTRUCT, &[ty, id, product, high]));
}
