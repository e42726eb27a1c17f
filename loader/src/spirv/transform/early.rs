//! Early fragment tests, which WGSL cannot require.

use crate::spirv::{ModuleIndex, class, mode, op};
use crate::{Error, Result};

/// Atomic instructions, without those of a later extension.
const ATOMIC: std::ops::RangeInclusive<u16> = op::ATOMIC_LOAD..=op::ATOMIC_XOR;

/// Refuses a fragment shader that requires early tests, if late ones differ: it discards fragments, replaces their depth,
/// or writes to memory.
///
/// # Errors
/// Unsupported, at the execution mode.
pub(super) fn refuse(index: &ModuleIndex) -> Result<()> {
    let mut modes = index.instructions().take_while(|node| node.opcode != op::FUNCTION);
    let is_early = |kind| kind == Some(mode::EARLY_FRAGMENT_TESTS);
    let Some(early) = modes.find(|node| node.opcode == op::EXECUTION_MODE && is_early(node.operand(1))) else {
        return Ok(());
    };
    let is_shared = |pointer: u32| {
        let ty = index.definition(pointer).and_then(|node| node.operand(0));
        let pointer: Option<[u32; 2]> = ty.and_then(|ty| index.operands(ty, op::TYPE_POINTER));
        pointer.is_some_and(|[_, of]| matches!(of, class::STORAGE_BUFFER | class::UNIFORM))
    };
    let effect = index.bodies().find_map(|node| match node.opcode {
        op::KILL | op::TERMINATE_INVOCATION | op::DEMOTE_TO_HELPER_INVOCATION => Some("discards fragments"),
        op::IMAGE_WRITE => Some("writes to an image"),
        opcode if ATOMIC.contains(&opcode) => Some("has atomic operations"),
        op::STORE if node.operand(0).is_some_and(is_shared) => Some("writes to a buffer"),
        _ => None,
    });
    let effect = effect.or_else(|| index.has_mode(mode::DEPTH_REPLACING).then_some("replaces depths"));
    match effect {
        None => Ok(()),
        Some(effect) => {
            let message = format!("EarlyFragmentTests of a shader that {effect}");
            Err(Error::unsupported("spirv", message).at(4 * early.position as u64))
        }
    }
}
