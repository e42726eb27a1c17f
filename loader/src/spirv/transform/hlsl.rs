//! The passes for HLSL.

use super::declarations::Declarations;
use super::editor::{Editor, build, opcode};
use super::operations;
use crate::spirv::{ModuleIndex, class, op};
use crate::{Error, Result};

/// Instructions of GLSL.std.450.
const LDEXP: u32 = 53;
const S_CLAMP: u32 = 45;

/// Limit on the elements of an array that one store writes to a buffer.
const MAX_STORED: u64 = 4096;

/// The module without operations that HLSL has with other results: products of twice as many bits, and `Ldexp`, whose
/// power of two may be beyond the range of floats; and without stores of arrays to buffers, at which SPIRV-Cross hangs or
/// crashes.
///
/// # Errors
/// Invalid for a broken module; Unsupported for a store of an array of more than 4096 elements.
pub fn for_hlsl(words: &[u32]) -> Result<Vec<u32>> {
    ldexp(&operations::spelled(&elements(words)?)?)
}

/// Replaces stores of arrays to buffers by stores of their elements.
fn elements(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let mut stores = Stores {
        index: &index,
        declared: Declarations::of(&index, &module),
        body: Vec::with_capacity(module.body.len()),
    };
    let start = module.functions_start();
    for words in module.body.split_off(start) {
        match (opcode(&words), words.as_slice()) {
            (op::STORE, &[_, pointer, value, ref access @ ..]) => {
                let Some((kind, pointee)) = stores.array_in_buffer(pointer) else {
                    stores.body.push(words);
                    continue;
                };
                if stores.count(pointee) > MAX_STORED {
                    let message = format!("a store of an array of more than {MAX_STORED} elements to a buffer");
                    return Err(Error::unsupported("spirv", message));
                }
                stores.store(&mut module, [kind, pointee], [pointer, value], access);
            }
            _ => stores.body.push(words),
        }
    }
    let Stores { declared, mut body, .. } = stores;
    module.body.append(&mut body);
    declared.insert(&mut module);
    Ok(module.words())
}

/// Stores that become stores of elements.
struct Stores<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    declared: Declarations,
    /// The functions so far.
    body: Vec<Vec<u32>>,
}

impl Stores<'_, '_> {
    /// The storage class and the array type of a pointer to an array in a buffer.
    fn array_in_buffer(&self, pointer: u32) -> Option<(u32, u32)> {
        let ty = self.index.definition(pointer)?.operand(0)?;
        let [_, kind, pointee] = self.index.operands(ty, op::TYPE_POINTER)?;
        let is_buffer = matches!(kind, class::STORAGE_BUFFER | class::UNIFORM);
        self.index.array(pointee).filter(|_| is_buffer)?;
        Some((kind, pointee))
    }

    /// The number of elements of an array, those of arrays in it.
    fn count(&self, mut ty: u32) -> u64 {
        let mut count = 1u64;
        while let Some((element, length)) = self.index.array(ty) {
            (ty, count) = (element, count.saturating_mul(u64::from(length)));
        }
        count
    }

    /// Stores a value of a type through a pointer of a storage class; `access` are memory operands.
    fn store(&mut self, module: &mut Editor, [kind, ty]: [u32; 2], [pointer, value]: [u32; 2], access: &[u32]) {
        let Some((element, length)) = self.index.array(ty) else {
            self.body.push(build(op::STORE, &[&[pointer, value], access].concat()));
            return;
        };
        let to_element = self.declared.ty(module, op::TYPE_POINTER, &[kind, element]);
        for number in 0..length {
            let at = self.declared.number(module, number);
            let [part, place] = [(); 2].map(|()| module.fresh());
            self.body
                .push(build(op::COMPOSITE_EXTRACT, &[element, part, value, number]));
            self.body
                .push(build(op::ACCESS_CHAIN, &[to_element, place, pointer, at]));
            self.store(module, [kind, element], [place, part], access);
        }
    }
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
