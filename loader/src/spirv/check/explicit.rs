//! Vulkan: types with an explicit layout occur only in shared storage classes, and physical storage buffers require
//! one.

use super::Checked;
use crate::spirv::{capability, class, decoration as dec, op};
use std::collections::HashSet;

/// Decorations of a type's or member's layout.
const LAYOUT: [u32; 5] = [
    dec::BLOCK,
    dec::BUFFER_BLOCK,
    dec::OFFSET,
    dec::ARRAY_STRIDE,
    dec::MATRIX_STRIDE,
];

/// Whether a storage class allows an explicit layout.
fn allows(module: &Checked<'_>, of: u32) -> bool {
    match of {
        class::UNIFORM_CONSTANT => false,
        class::WORKGROUP => module.capabilities.contains(&capability::WORKGROUP_EXPLICIT_LAYOUT),
        class::FUNCTION | class::PRIVATE => module.words[1] <= 0x10400,
        _ => true,
    }
}

/// Whether untyped pointers lead to a storage class.
fn addressed(module: &Checked<'_>, of: u32) -> bool {
    match of {
        class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER | class::UNIFORM | class::PUSH_CONSTANT => true,
        class::WORKGROUP => allows(module, of),
        _ => false,
    }
}

/// Checks the variables' types, each once.
pub(super) fn check(module: &mut Checked<'_>) {
    let mut laid: HashSet<u32> = HashSet::new();
    for at in 0..module.first_function.min(module.items.len()) {
        let item = module.items[at];
        let parts: &[u32] = match item.opcode() {
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => &item.words[2..3],
            op::TYPE_STRUCT => item.args(),
            _ => continue,
        };
        let own = LAYOUT.iter().any(|kind| module.decorated(item.result, *kind));
        if own || parts.iter().any(|part| laid.contains(part)) {
            laid.insert(item.result);
        }
    }
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.opcode() == op::TYPE_UNTYPED_POINTER_KHR && !addressed(module, item.word(2)) {
            let why = "this storage class has no explicit layout, which untyped pointers need";
            module.fail("vulkan-explicit-layout", &item, why);
        }
        let Some((class, pointee)) = module.variable(&item) else {
            continue;
        };
        if laid.contains(&pointee) && !allows(module, class) {
            let why = "its type has an explicit layout, which this storage class does not allow";
            module.fail("vulkan-explicit-layout", &item, why);
        }
    }
}
