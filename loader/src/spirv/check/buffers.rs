//! Blocks that another reads or writes are laid out explicitly.

use super::{Checked, Item};
use crate::spirv::{ModuleIndex, class, decoration as dec, op};

/// Deepest nesting of types that is followed.
const MAX_DEPTH: u32 = 32;

/// Checks every variable of a buffer's storage class.
pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex) {
    for variable in index.globals() {
        let mut id = variable.pointee;
        if matches!(index.opcode(id), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) {
            id = index.declaration(id).and_then(|node| node.operand(1)).unwrap_or(0);
        }
        let has = |kind| index.decoration(id, kind).is_some();
        let explicit = match variable.class {
            class::UNIFORM => has(dec::BLOCK) || has(dec::BUFFER_BLOCK),
            class::PUSH_CONSTANT | class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER => has(dec::BLOCK),
            _ => false,
        };
        let Some(item) = module
            .def(id)
            .filter(|_| explicit && index.opcode(id) == op::TYPE_STRUCT)
        else {
            continue;
        };
        if let Some(missing) = missing(index, id) {
            laid_out(module, &item, missing);
        }
    }
}

fn laid_out(module: &mut Checked<'_>, item: &Item<'_>, missing: &str) {
    module.fail("layout", item, format!("a block must be laid out with {missing}"));
}

/// The decoration that is missing somewhere in a block.
fn missing(index: &ModuleIndex, id: u32) -> Option<&'static str> {
    let strides = |kind: &'static [u32], of| lacks(index, id, kind, of, 0);
    if offset_missing(index, id, 0) {
        Some("Offset")
    } else if strides(&[dec::ARRAY_STRIDE], op::TYPE_ARRAY) {
        Some("ArrayStride")
    } else if strides(&[dec::MATRIX_STRIDE], op::TYPE_MATRIX) {
        Some("MatrixStride")
    } else if strides(&[dec::ROW_MAJOR, dec::COL_MAJOR], op::TYPE_MATRIX) {
        Some("RowMajor or ColMajor")
    } else {
        None
    }
}

fn offset_missing(index: &ModuleIndex, id: u32, depth: u32) -> bool {
    let Some(node) = index.declaration(id).filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    match node.opcode {
        op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => {
            node.operand(1).is_some_and(|of| offset_missing(index, of, depth + 1))
        }
        op::TYPE_STRUCT => (0u32..).zip(node.tail(1)).any(|(member, ty)| {
            let offset = index.member_decoration(id, member, dec::OFFSET);
            offset.is_none_or(|offset| offset == u32::MAX) || offset_missing(index, ty, depth + 1)
        }),
        _ => false,
    }
}

/// Whether a member of this kind of type has none of the decorations, neither itself nor its type.
fn lacks(index: &ModuleIndex, id: u32, kinds: &[u32], of: u16, depth: u32) -> bool {
    let Some(members) = index.members(id).filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    (0u32..).zip(members).any(|(member, ty)| {
        let opcode = index.opcode(ty);
        let has = |kind: &u32| {
            index
                .decoration(ty, *kind)
                .or(index.member_decoration(id, member, *kind))
                .is_some()
        };
        opcode == of && !kinds.iter().any(has) || opcode == op::TYPE_STRUCT && lacks(index, ty, kinds, of, depth + 1)
    })
}
