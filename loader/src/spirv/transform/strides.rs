//! Arrays in buffers with strides wider than their elements, as arrays of padded elements.
//!
//! In SPIR-V a decoration is the stride of an array; WGSL and others derive it from the element. A `float` every 16 bytes
//! becomes a struct of the `float` and three unused words.

use super::editor::{Editor, build, opcode, seal};
use crate::Result;
use crate::spirv::{ModuleIndex, decoration, op};
use std::collections::{BTreeMap, HashMap};

/// Limit on words of padding.
const MAX_PADDING: u32 = 64;

/// Limit on nested types; those of an invalid module may be recursive.
const MAX_DEPTH: u32 = 16;

/// An array whose elements are padded.
#[derive(Clone, Copy)]
struct Array {
    element: u32,
    /// The struct that replaces the element.
    padded: u32,
    /// Words after the element.
    padding: u32,
    /// The distance of columns, if the elements are matrices or arrays of them.
    matrix_stride: Option<u32>,
}

/// How arrays of matrices are laid out, by the array's type.
struct Matrices {
    /// The distance of columns; `None` if it depends on the member, and for rows in columns' place.
    strides: HashMap<u32, Option<u32>>,
    /// The members that are such arrays: structs and numbers.
    members: HashMap<(u32, u32), Vec<u32>>,
}

impl Matrices {
    fn of(index: &ModuleIndex) -> Self {
        let (mut strides, mut members) = (HashMap::new(), HashMap::new());
        for node in index.instructions().take_while(|node| node.opcode != op::FUNCTION) {
            let (op::TYPE_STRUCT, Some(id)) = (node.opcode, node.operand(0)) else {
                continue;
            };
            for (member, mut ty) in (0..).zip(node.tail(1)) {
                let Some(stride) = index.member_decoration(id, member, decoration::MATRIX_STRIDE) else {
                    continue;
                };
                let is_rows = index.member_decoration(id, member, decoration::ROW_MAJOR).is_some();
                let stride = Some(stride).filter(|_| !is_rows);
                let mut arrays = Vec::new();
                // Lengths do not matter here, and types of an invalid module may be recursive.
                while let (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, true) =
                    (index.opcode(ty), arrays.len() < MAX_DEPTH as usize)
                {
                    let known = strides.entry(ty).or_insert(stride);
                    *known = known.filter(|known| stride == Some(*known));
                    arrays.push(ty);
                    ty = index.definition(ty).and_then(|node| node.operand(1)).unwrap_or(0);
                }
                members.insert((id, member), arrays);
            }
        }
        Self { strides, members }
    }
}

/// Size and alignment of a type in WGSL, in bytes.
#[derive(Clone, Copy)]
struct Size {
    bytes: u32,
    align: u32,
}

/// The module with such arrays padded. It is unchanged if there is none, or if one is constructed as a whole.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn pad(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let mut arrays: BTreeMap<u32, Array> = BTreeMap::new();
    let matrices = Matrices::of(&index);
    for node in index.instructions().take_while(|node| node.opcode != op::FUNCTION) {
        let (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, Some(id), Some(element)) =
            (node.opcode, node.operand(0), node.operand(1))
        else {
            continue;
        };
        let Some(stride) = index.decoration(id, decoration::ARRAY_STRIDE) else {
            continue;
        };
        let Some(size) = size(&index, element, 0) else { continue };
        let natural = size.bytes.checked_next_multiple_of(size.align.max(1));
        let padding = stride.checked_sub(size.bytes).map(|bytes| bytes / 4);
        if natural == Some(stride) {
            continue;
        }
        let Some(padding) = padding.filter(|words| (1..=MAX_PADDING).contains(words) && stride % 4 == 0) else {
            continue;
        };
        let matrix_stride = match matrix(&index, element, &arrays) {
            Some(natural) => match matrices.strides.get(&id) {
                Some(Some(stride)) if natural == Some(*stride) => Some(*stride),
                // Rows, or columns further apart: the size is another one.
                _ => continue,
            },
            None => None,
        };
        let padded = module.fresh();
        arrays.insert(
            id,
            Array {
                element,
                padded,
                padding,
                matrix_stride,
            },
        );
    }
    if arrays.is_empty() || !followed(&module, &arrays) {
        return Ok(words.to_vec());
    }
    declare(&mut module, &arrays);
    // Their matrices are members of the padded elements now.
    module.body.retain(|words| {
        let (op::MEMBER_DECORATE, &[_, target, member, kind, ..]) = (opcode(words), &words[..]) else {
            return true;
        };
        let of = matrices.members.get(&(target, member));
        let is_padded = of.is_some_and(|of| of.iter().any(|array| arrays.contains_key(array)));
        !(is_padded && matches!(kind, decoration::MATRIX_STRIDE | decoration::COL_MAJOR))
    });
    rewrite(&index, &mut module, &arrays);
    Ok(module.words())
}

/// For a matrix, and for arrays of them that are not padded: the distance of its columns in WGSL.
fn matrix(index: &ModuleIndex, mut ty: u32, padded: &BTreeMap<u32, Array>) -> Option<Option<u32>> {
    for _ in 0..MAX_DEPTH {
        match index.opcode(ty) {
            op::TYPE_ARRAY if padded.contains_key(&ty) => return None,
            op::TYPE_ARRAY => ty = index.definition(ty)?.operand(1)?,
            op::TYPE_MATRIX => {
                let column = size(index, index.definition(ty)?.operand(1)?, 0);
                return Some(column.and_then(|column| column.bytes.checked_next_multiple_of(column.align)));
            }
            _ => return None,
        }
    }
    None
}

/// The size of a type, if it has one in memory.
fn size(index: &ModuleIndex, ty: u32, depth: u32) -> Option<Size> {
    if depth > MAX_DEPTH {
        return None;
    }
    let width = |scalar: u32| Some(index.definition(scalar)?.operand(1)? / 8);
    if let Some([_, scalar, count]) = index.operands(ty, op::TYPE_VECTOR) {
        let width = width(scalar)?;
        let align = if count == 2 { 2 * width } else { 4 * width };
        let bytes = count.checked_mul(width)?;
        return Some(Size { bytes, align });
    }
    if let Some([_, column, count]) = index.operands(ty, op::TYPE_MATRIX) {
        let Size { bytes, align } = size(index, column, depth + 1)?;
        let bytes = bytes.checked_next_multiple_of(align)?.checked_mul(count)?;
        return Some(Size { bytes, align });
    }
    if let Some([_, element, length]) = index.operands(ty, op::TYPE_ARRAY) {
        let Size { align, .. } = size(index, element, depth + 1)?;
        let stride = index.decoration(ty, decoration::ARRAY_STRIDE)?;
        let bytes = stride.checked_mul(index.constant(length)?)?;
        return Some(Size { bytes, align });
    }
    if let Some(members) = index.members(ty) {
        let (mut end, mut align) = (0u32, 1);
        for (at, member) in (0u32..).zip(members) {
            let offset = index.member_decoration(ty, at, decoration::OFFSET)?;
            let member = size(index, member, depth + 1)?;
            end = end.max(offset.checked_add(member.bytes)?);
            align = align.max(member.align);
        }
        let bytes = end.checked_next_multiple_of(align)?;
        return Some(Size { bytes, align });
    }
    match index.opcode(ty) {
        op::TYPE_INT | op::TYPE_FLOAT => {
            let bytes = width(ty)?;
            Some(Size { bytes, align: bytes })
        }
        _ => None,
    }
}

/// Whether every use of the arrays can be rewritten: whole ones are only loaded to extract elements, and stored back.
fn followed(module: &Editor, arrays: &BTreeMap<u32, Array>) -> bool {
    module.body.iter().all(|words| match opcode(words) {
        op::COMPOSITE_CONSTRUCT | op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => {
            !arrays.contains_key(&words[1])
        }
        op::COPY_LOGICAL => false,
        _ => true,
    })
}

/// Declares the structs before the arrays of them.
fn declare(module: &mut Editor, arrays: &BTreeMap<u32, Array>) {
    let is_uint = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words[2..] == [32, 0];
    let known = module.body.iter().position(|words| is_uint(&words));
    let uint = match known {
        Some(at) => module.body[at][1],
        None => module.fresh(),
    };
    let word = build(op::TYPE_INT, &[uint, 32, 0]);
    let mut decorations = Vec::new();
    let mut body = Vec::with_capacity(module.body.len());
    let mut declared = false;
    for mut words in std::mem::take(&mut module.body) {
        if opcode(&words) == op::TYPE_INT && words[1] == uint {
            if declared {
                continue;
            }
            declared = true;
        }
        if let (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, Some(array)) =
            (opcode(&words), words.get(1).and_then(|id| arrays.get(id)))
        {
            if !declared {
                body.push(word.clone());
                declared = true;
            }
            let mut operands = vec![array.padded, array.element];
            operands.extend(std::iter::repeat_n(uint, array.padding as usize));
            body.push(build(op::TYPE_STRUCT, &operands));
            words[2] = array.padded;
        }
        body.push(words);
    }
    module.body = body;
    let strides: HashMap<u32, u32> = module
        .body
        .iter()
        .filter(|words| opcode(words) == op::DECORATE && words.get(2) == Some(&decoration::ARRAY_STRIDE))
        .filter_map(|words| Some((words[1], *words.get(3)?)))
        .collect();
    for (id, array) in arrays {
        let mut first = |kind: u32, value: &[u32]| {
            decorations.push(build(op::MEMBER_DECORATE, &[&[array.padded, 0, kind], value].concat()));
        };
        first(decoration::OFFSET, &[0]);
        if let Some(stride) = array.matrix_stride {
            first(decoration::COL_MAJOR, &[]);
            first(decoration::MATRIX_STRIDE, &[stride]);
        }
        let stride = strides.get(id).copied().unwrap_or(0);
        for word in 0..array.padding {
            let offset = stride.saturating_sub(4 * (array.padding - word));
            decorations.push(build(
                op::MEMBER_DECORATE,
                &[array.padded, 1 + word, decoration::OFFSET, offset],
            ));
        }
    }
    let at = module.annotations_end();
    module.insert(at, decorations);
}

/// Adds the index of the element in its struct to every access.
fn rewrite(index: &ModuleIndex, module: &mut Editor, arrays: &BTreeMap<u32, Array>) {
    let types: HashMap<u32, u32> = module
        .body
        .iter()
        .filter_map(|words| {
            let row = crate::spirv::Grammar::builtin().row(opcode(words))?;
            (row.has_type && row.has_result).then(|| (words[2], words[1]))
        })
        .collect();
    // The constant 0 of any integer type.
    let zero = module.body.iter().find_map(|words| {
        let is_integer = opcode(words) == op::CONSTANT && words.len() == 4 && words[3] == 0;
        (is_integer && index.opcode(words[1]) == op::TYPE_INT).then(|| words[2])
    });
    let (zero, added) = match zero {
        Some(id) => (id, None),
        None => {
            let uint = module
                .body
                .iter()
                .find(|words| opcode(words) == op::TYPE_INT)
                .map(|words| words[1]);
            let id = module.fresh();
            (id, uint.map(|uint| build(op::CONSTANT, &[uint, id, 0])))
        }
    };
    // The type at an index.
    let next = |ty: u32, step: Step| -> Option<u32> {
        match (index.opcode(ty), step) {
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY | op::TYPE_VECTOR | op::TYPE_MATRIX, _) => {
                index.definition(ty)?.operand(1)
            }
            (op::TYPE_STRUCT, Step::Constant(id)) => index.members(ty)?.nth(index.constant(id)? as usize),
            (op::TYPE_STRUCT, Step::Literal(at)) => index.members(ty)?.nth(at as usize),
            _ => None,
        }
    };
    for at in module.functions_start()..module.body.len() {
        let words = &module.body[at];
        let (base, first, literal) = match opcode(words) {
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => (words[3], 4, false),
            op::COMPOSITE_EXTRACT => (words[3], 4, true),
            op::COMPOSITE_INSERT => (words[4], 5, true),
            _ => continue,
        };
        let ty = types.get(&base).copied();
        let mut ty = match literal {
            true => ty,
            false => ty.and_then(|pointer| index.pointee(pointer)),
        };
        let mut out: Vec<u32> = words[..first].to_vec();
        for step in &words[first..] {
            out.push(*step);
            let Some(of) = ty else { continue };
            if arrays.contains_key(&of) {
                out.push(if literal { 0 } else { zero });
            }
            let step = if literal {
                Step::Literal(*step)
            } else {
                Step::Constant(*step)
            };
            ty = next(of, step);
        }
        if out.len() != words.len() {
            module.body[at] = seal(out);
        }
    }
    if let Some(added) = added {
        let at = module.functions_start();
        module.insert(at, vec![added]);
    }
}

/// An index into a composite: a constant's id, or a number.
#[derive(Clone, Copy)]
enum Step {
    Constant(u32),
    Literal(u32),
}
