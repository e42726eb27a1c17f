//! Memory accesses: the pointers that loads, stores and copies use, and their memory operands.

use super::form::{Why, when};
use super::pointers::VARIABLE;
use super::{Checked, Item, scopes};
use crate::spirv::operand::{ALIGNED, AVAILABLE, VISIBLE, access_words};
use crate::spirv::{class, op};

const NON_PRIVATE: u32 = 0x20;

/// What an instruction does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Load,
    Store,
    Copy,
}

/// Opcodes that yield pointers without physical addressing; with variable pointers those of [`VARIABLE`] too.
const LOGICAL: [u16; 10] = [
    op::VARIABLE,
    op::ACCESS_CHAIN,
    op::IN_BOUNDS_ACCESS_CHAIN,
    op::FUNCTION_PARAMETER,
    op::IMAGE_TEXEL_POINTER,
    op::COPY_OBJECT,
    op::RAW_ACCESS_CHAIN_NV,
    op::UNTYPED_VARIABLE_KHR,
    op::UNTYPED_ACCESS_CHAIN_KHR,
    op::UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR,
];

/// Without physical addressing a pointer comes from a variable, parameter or access chain.
pub(super) fn logical(module: &Checked<'_>, id: u32) -> Why {
    let kind = module.opcode(id);
    let from = LOGICAL.contains(&kind) || module.variable_pointers() && VARIABLE.contains(&kind);
    when(
        !module.physical && !from,
        "the pointer does not come from an instruction that yields one",
    )
}

/// The word of an instruction's memory operands, if it has any.
pub(super) fn place(module: &Checked<'_>, item: &Item<'_>) -> Option<usize> {
    let mut operands = item.places().map(|place| module.operands[place]);
    let found = operands.find(|operand| {
        let kind = module.grammar.kind(operand.kind);
        kind.is_some_and(|kind| kind.name == "MemoryAccess")
    });
    found.map(|operand| usize::from(operand.at))
}

/// Checks the memory access at a word of an instruction; `classes` are the storage classes of its pointers. Without an
/// access nothing is required, except for physical buffers.
pub(super) fn access(module: &Checked<'_>, item: &Item<'_>, at: usize, classes: &[u32], way: Way) -> Why {
    let mask = item.words.get(at).copied().unwrap_or(0);
    let physical = classes.contains(&class::PHYSICAL_STORAGE_BUFFER);
    if physical && mask & ALIGNED == 0 {
        return Some("access to a physical storage buffer must be Aligned".to_owned());
    }
    let aligned = item.word(at + 1);
    if mask & ALIGNED != 0 && module.vulkan.is_some() && !aligned.is_power_of_two() {
        return Some(format!("Aligned {aligned} is not a power of two"));
    }
    if physical
        && module.vulkan.is_some()
        && let Some(width) = scalar(module, item).filter(|width| aligned < *width)
    {
        return Some(format!("Aligned {aligned} is less than the {width} bytes of a scalar"));
    }
    if mask & (AVAILABLE | VISIBLE | NON_PRIVATE) == 0 {
        return None;
    }
    let scope = |bit: u32| item.word(at + access_words(mask & (bit - 1)));
    const SHARED: [u32; 7] = [
        class::UNIFORM,
        class::WORKGROUP,
        class::CROSS_WORKGROUP,
        class::GENERIC,
        class::IMAGE,
        class::STORAGE_BUFFER,
        class::PHYSICAL_STORAGE_BUFFER,
    ];
    when(
        mask & AVAILABLE != 0 && way == Way::Load || mask & VISIBLE != 0 && way == Way::Store,
        "stores are made available, and visible to loads",
    )
    .or_else(|| {
        when(
            mask & NON_PRIVATE == 0,
            "availability and visibility require NonPrivatePointer",
        )
    })
    .or_else(|| {
        let bits = [AVAILABLE, VISIBLE].into_iter().filter(|bit| mask & bit != 0);
        bits.map(scope).find_map(|id| scopes::memory(module, id))
    })
    .or_else(|| {
        let shared = classes.iter().all(|class| SHARED.contains(class));
        when(!shared, "NonPrivatePointer belongs to memory that is shared")
    })
}

/// Bytes of the largest scalar that a load or store moves. Copies move bytes.
fn scalar(module: &Checked<'_>, item: &Item<'_>) -> Option<u32> {
    let ty = match item.opcode() {
        op::LOAD => item.ty,
        op::STORE => module.type_of(item.word(2)),
        _ => return None,
    };
    Some(u32::from(module.widest.get(ty)))
}
