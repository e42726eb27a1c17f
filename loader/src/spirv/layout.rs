//! Memory layout of block members. Offsets are decorations that no instruction depends on, so a module's layout can be
//! changed.

use super::transform::{Editor, build, opcode};
use super::{Located, ModuleIndex, decoration, op};
use crate::Result;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Layout rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Packed, with tight arrays and matrices: VBC's only layout.
    Scalar,
    /// WGSL's uniform address space: `std140` except for matrices of two rows.
    Uniform,
}

/// Lays out the blocks of the selected variables by these rules; returns the words unchanged if nothing differs.
///
/// # Errors
/// Invalid if the module cannot be walked.
pub fn lay_out(words: &[u32], rules: Rules, wanted: impl Fn(&ModuleIndex, &Located) -> bool) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let mut layout = Layout::new(rules);
    for block in index.globals().filter(|variable| wanted(&index, variable)) {
        let array: Option<[u32; 2]> = index.operands(block.pointee, op::TYPE_ARRAY);
        layout.measure(&index, array.map_or(block.pointee, |[_, element]| element), 0);
    }
    let laid = |words: &Vec<u32>| match (opcode(words), words.as_slice()) {
        (op::DECORATE, [_, id, decoration::ARRAY_STRIDE, ..]) => layout.strides.contains_key(id),
        (op::MEMBER_DECORATE, [_, id, _, decoration::OFFSET | decoration::MATRIX_STRIDE, ..]) => {
            layout.structs.contains_key(id)
        }
        _ => false,
    };
    let mut added = layout.decorations.clone();
    let stride = |(id, stride): (&u32, &u32)| build(op::DECORATE, &[*id, decoration::ARRAY_STRIDE, *stride]);
    added.extend(layout.strides.iter().map(stride));
    let old: HashSet<&Vec<u32>> = module.body.iter().filter(|words| laid(words)).collect();
    if old == added.iter().collect() {
        return Ok(words.to_vec());
    }
    module.body.retain(|words| !laid(words));
    module.sweep();
    module.insert(module.annotations_end(), added);
    Ok(module.words())
}

/// Size and alignment of a type.
#[derive(Clone, Copy)]
struct Size {
    bytes: u32,
    align: u32,
}

/// Layout of the types that blocks consist of.
struct Layout {
    rules: Rules,
    /// The structs already laid out.
    structs: HashMap<u32, Size>,
    strides: BTreeMap<u32, u32>,
    decorations: Vec<Vec<u32>>,
}

impl Layout {
    fn new(rules: Rules) -> Self {
        Self {
            rules,
            structs: HashMap::new(),
            strides: BTreeMap::new(),
            decorations: Vec::new(),
        }
    }

    /// Computes a type's size, and records its decorations.
    fn measure(&mut self, index: &ModuleIndex, id: u32, depth: u32) -> Size {
        if depth > 16 {
            return Size { bytes: 0, align: 1 };
        }
        if let Some([_, element, length]) = index.operands(id, op::TYPE_ARRAY) {
            let (stride, align) = self.element(index, id, element, depth);
            let bytes = stride.saturating_mul(index.constant(length).unwrap_or(0));
            return Size { bytes, align };
        }
        if let Some([_, element]) = index.operands(id, op::TYPE_RUNTIME_ARRAY) {
            let (_, align) = self.element(index, id, element, depth);
            return Size { bytes: 0, align };
        }
        if index.members(id).is_some() {
            return self.structure(index, id, depth);
        }
        if let Some([_, column, columns]) = index.operands(id, op::TYPE_MATRIX) {
            let Size { align, .. } = self.numbers(index, column);
            let stride = self.column_stride(index, column);
            return Size {
                bytes: stride.saturating_mul(columns),
                align,
            };
        }
        self.numbers(index, id)
    }

    /// Size of a scalar or vector.
    fn numbers(&self, index: &ModuleIndex, id: u32) -> Size {
        let (scalar, count) = index.vector(id);
        let width = match index.opcode(scalar) {
            op::TYPE_INT | op::TYPE_FLOAT => index
                .definition(scalar)
                .and_then(|node| node.operand(1))
                .map(|bits| bits / 8),
            _ => None,
        };
        let width = width.unwrap_or(4).clamp(1, 8);
        let align = match (self.rules, count) {
            (Rules::Scalar, _) | (_, 1) => width,
            (Rules::Uniform, 2) => 2 * width,
            (Rules::Uniform, _) => 4 * width,
        };
        Size {
            bytes: width.saturating_mul(count),
            align,
        }
    }

    /// Bytes from one column to the next.
    fn column_stride(&self, index: &ModuleIndex, column: u32) -> u32 {
        let Size { bytes, align } = self.numbers(index, column);
        multiple(bytes, align)
    }

    /// An array's stride and alignment.
    fn element(&mut self, index: &ModuleIndex, array: u32, element: u32, depth: u32) -> (u32, u32) {
        let Size { bytes, align } = self.measure(index, element, depth + 1);
        let align = match self.rules {
            Rules::Scalar => align,
            Rules::Uniform => multiple(align, 16),
        };
        let stride = multiple(bytes, align);
        self.strides.insert(array, stride);
        (stride, align)
    }

    fn structure(&mut self, index: &ModuleIndex, id: u32, depth: u32) -> Size {
        if let Some(size) = self.structs.get(&id) {
            return *size;
        }
        let (mut offset, mut widest) = (0u32, 1);
        for (at, member) in (0u32..).zip(index.members(id).into_iter().flatten()) {
            let Size { bytes, align } = self.measure(index, member, depth + 1);
            offset = multiple(offset, align);
            let words = [id, at, decoration::OFFSET, offset];
            self.decorations.push(build(op::MEMBER_DECORATE, &words));
            if let Some([_, column, _]) = index.operands(matrices(index, member), op::TYPE_MATRIX) {
                let words = [id, at, decoration::MATRIX_STRIDE, self.column_stride(index, column)];
                self.decorations.push(build(op::MEMBER_DECORATE, &words));
            }
            offset = offset.saturating_add(bytes);
            widest = widest.max(align);
        }
        if self.rules == Rules::Uniform {
            widest = multiple(widest, 16);
            offset = multiple(offset, widest);
        }
        let size = Size {
            bytes: offset,
            align: widest,
        };
        self.structs.insert(id, size);
        size
    }
}

/// Rounds up to a multiple of the alignment; saturates at 32 bits.
fn multiple(bytes: u32, align: u32) -> u32 {
    bytes.checked_next_multiple_of(align.max(1)).unwrap_or(u32::MAX)
}

/// The innermost element type of nested arrays; other types are returned unchanged.
fn matrices(index: &ModuleIndex, mut id: u32) -> u32 {
    while let Some([_, element, _]) = index.operands(id, op::TYPE_ARRAY) {
        id = element;
    }
    id
}
