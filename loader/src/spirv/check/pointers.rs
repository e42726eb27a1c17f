//! Variable pointers: selected, loaded or returned pointers without physical addressing.

use super::form::{Why, when};
use super::{Checked, Item};
use crate::spirv::{capability, class, decoration as dec, op};

/// Opcodes that yield variable pointers.
pub(super) const VARIABLE: [u16; 6] = [
    op::CONSTANT_NULL,
    op::FUNCTION_CALL,
    op::LOAD,
    op::PHI,
    op::PTR_ACCESS_CHAIN,
    op::SELECT,
];

/// Whether a capability allows variable pointers to a storage class; `None` for other classes.
pub(super) fn may_vary(module: &Checked<'_>, of: u32) -> Option<bool> {
    match of {
        class::STORAGE_BUFFER => Some(module.variable_pointers()),
        class::WORKGROUP => Some(module.capabilities.contains(&capability::VARIABLE_POINTERS)),
        _ => None,
    }
}

/// Checks an instruction that yields or uses a variable pointer.
pub(super) fn check(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if module.physical || !module.shader {
        return None;
    }
    let of = item.opcode();
    if of == op::ARRAY_LENGTH {
        let varies = VARIABLE.contains(&module.opcode(item.word(3)));
        return when(varies, "a variable pointer has no array of known length");
    }
    if of == op::FUNCTION {
        let (of, _) = module.pointer(item.ty)?;
        return match may_vary(module, of) {
            Some(true) => None,
            Some(false) => Some("a function gives back a pointer that needs variable pointers".to_owned()),
            None => when(
                matches!(
                    of,
                    class::FUNCTION | class::PRIVATE | class::UNIFORM | class::INPUT | class::OUTPUT
                ),
                "a function gives back a pointer of this storage class",
            ),
        };
    }
    if !VARIABLE.contains(&of) {
        return None;
    }
    let (of, pointee) = module.pointer(item.ty)?;
    when(
        // A null that no instruction uses is doubtful only.
        may_vary(module, of) == Some(false) && item.opcode() != op::CONSTANT_NULL,
        "a pointer of this storage class needs variable pointers",
    )
    .or_else(|| {
        let array = module
            .def(pointee)
            .filter(|ty| matches!(ty.opcode(), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY))?;
        let element = module.elements(array.word(2));
        let block = [dec::BLOCK, dec::BUFFER_BLOCK]
            .iter()
            .any(|kind| module.decorated(element, *kind));
        when(
            block && module.variable_pointers(),
            "a variable pointer leads to an array of blocks",
        )
    })
}

/// Variable pointers that the specification does not allow, and SPIRV-Tools does: nulls of other storage classes, and
/// choices between structures.
pub(super) fn doubtful(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if module.physical || !module.shader {
        return None;
    }
    let (of, _) = module.pointer(item.ty)?;
    let null = item.opcode() == op::CONSTANT_NULL;
    when(
        null && may_vary(module, of) == Some(false),
        "a pointer of this storage class needs variable pointers",
    )
    .or_else(|| one_structure(module, item))
}

/// Without the capability VariablePointers, all candidates point into one structure.
fn one_structure(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if module.capabilities.contains(&capability::VARIABLE_POINTERS) {
        return None;
    }
    let choices: Vec<u32> = match item.opcode() {
        op::SELECT => item.words.get(4..6)?.to_vec(),
        op::PHI => item.args().chunks_exact(2).map(|pair| pair[0]).collect(),
        _ => return None,
    };
    let mut roots = choices.iter().filter_map(|id| root(module, *id));
    let first = roots.next()?;
    when(
        roots.any(|other| other != first),
        "pointers into different variables need the capability VariablePointers",
    )
}

/// The variable that a pointer leads into, if it is certain.
fn root(module: &Checked<'_>, mut id: u32) -> Option<u32> {
    // The depth is limited, because each instruction of a long chain would follow all of it.
    for _ in 0..64 {
        let item = module.def(id)?;
        match item.opcode() {
            op::VARIABLE => return Some(id),
            op::ACCESS_CHAIN
            | op::IN_BOUNDS_ACCESS_CHAIN
            | op::PTR_ACCESS_CHAIN
            | op::IN_BOUNDS_PTR_ACCESS_CHAIN
            | op::COPY_OBJECT => {
                id = item.word(3);
            }
            _ => return None,
        }
    }
    None
}
