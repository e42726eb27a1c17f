//! Blocks shared with the API or other stages have an explicit layout.

use super::{Checked, Item};
use crate::spirv::{ModuleIndex, class, decoration as dec, op};
use std::collections::HashMap;

/// Limit on the nesting of types.
const MAX_DEPTH: u32 = 32;

/// Checks every variable of a buffer's storage class.
pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex) {
    let mut blocks = Blocks::default();
    for variable in module.globals() {
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
        if let Some(missing) = blocks.missing(index, id) {
            laid_out(module, &item, missing);
        }
    }
}

fn laid_out(module: &mut Checked<'_>, item: &Item<'_>, missing: &str) {
    module.fail("layout", item, format!("a block must be laid out with {missing}"));
}

/// What is missing in each type of a block, computed once per type: nested types can have far more paths than types.
#[derive(Default)]
struct Blocks {
    offsets: HashMap<u32, bool>,
    /// One per row of [`STRIDES`].
    strides: [HashMap<u32, bool>; STRIDES.len()],
}

/// A kind of type, the decorations of which its members need one, and their common name.
type Stride = (u16, &'static [u32], &'static str);

const STRIDES: [Stride; 3] = [
    (op::TYPE_ARRAY, &[dec::ARRAY_STRIDE], "ArrayStride"),
    (op::TYPE_MATRIX, &[dec::MATRIX_STRIDE], "MatrixStride"),
    (
        op::TYPE_MATRIX,
        &[dec::ROW_MAJOR, dec::COL_MAJOR],
        "RowMajor or ColMajor",
    ),
];

impl Blocks {
    /// The decoration that is missing somewhere in a block.
    fn missing(&mut self, index: &ModuleIndex, id: u32) -> Option<&'static str> {
        if offset_missing(index, id, &mut self.offsets, 0) {
            return Some("Offset");
        }
        let mut rows = STRIDES.iter().zip(&mut self.strides);
        rows.find_map(|(stride, known)| lacks(index, id, stride, known, 0).then_some(stride.2))
    }
}

/// Whether some struct member within a type has no offset.
fn offset_missing(index: &ModuleIndex, id: u32, known: &mut HashMap<u32, bool>, depth: u32) -> bool {
    if let Some(missing) = known.get(&id) {
        return *missing;
    }
    let Some(node) = index.declaration(id).filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    let missing = match node.opcode {
        op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => {
            let of = node.operand(1);
            of.is_some_and(|of| offset_missing(index, of, known, depth + 1))
        }
        op::TYPE_STRUCT => (0u32..).zip(node.tail(1)).any(|(member, ty)| {
            let offset = index.member_decoration(id, member, dec::OFFSET);
            offset.is_none_or(|offset| offset == u32::MAX) || offset_missing(index, ty, known, depth + 1)
        }),
        _ => false,
    };
    known.insert(id, missing);
    missing
}

/// Whether some member of this kind of type has none of the decorations, neither itself nor on its type.
fn lacks(index: &ModuleIndex, id: u32, stride: &Stride, known: &mut HashMap<u32, bool>, depth: u32) -> bool {
    if let Some(lacks) = known.get(&id) {
        return *lacks;
    }
    let Some(members) = index.members(id).filter(|_| depth < MAX_DEPTH) else {
        return false;
    };
    let (of, kinds, _) = *stride;
    let found = (0u32..).zip(members).any(|(member, mut ty)| {
        // Each array in an array has a stride, and the innermost elements are the member's.
        for _ in 0..MAX_DEPTH {
            let opcode = index.opcode(ty);
            let has = |kind: &u32| {
                let own = index.decoration(ty, *kind);
                own.or(index.member_decoration(id, member, *kind)).is_some()
            };
            if opcode == of && !kinds.iter().any(has) {
                return true;
            }
            match opcode {
                op::TYPE_STRUCT => return lacks(index, ty, stride, known, depth + 1),
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => {
                    ty = index.declaration(ty).and_then(|node| node.operand(1)).unwrap_or(0);
                }
                _ => return false,
            }
        }
        false
    });
    known.insert(id, found);
    found
}
