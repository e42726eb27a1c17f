//! Integers between stages: WGSL requires `flat` in both stages, SPIR-V only in the reading one.

use super::editor::{Editor, build};
use crate::Result;
use crate::spirv::{ModuleIndex, class, decoration, model, op};

/// Decorates a vertex stage's integer outputs with `Flat`, as the fragment stage's inputs are.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn integers(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    if !index.entry_points().all(|node| node.operand(0) == Some(model::VERTEX)) {
        return Ok(words.to_vec());
    }
    let mut added = Vec::new();
    for global in index.globals().filter(|global| global.class == class::OUTPUT) {
        match index.members(global.pointee) {
            None => {
                let is_flat = index.decoration(global.id, decoration::FLAT).is_some();
                let is_own = index.decoration(global.id, decoration::BUILT_IN).is_none();
                if is_own && !is_flat && is_integer(&index, global.pointee) {
                    added.push(build(op::DECORATE, &[global.id, decoration::FLAT]));
                }
            }
            Some(members) => {
                for (at, member) in (0u32..).zip(members) {
                    let has = |kind| index.member_decoration(global.pointee, at, kind).is_some();
                    let is_own = !has(decoration::BUILT_IN) && !has(decoration::FLAT);
                    if is_own && is_integer(&index, member) {
                        added.push(build(op::MEMBER_DECORATE, &[global.pointee, at, decoration::FLAT]));
                    }
                }
            }
        }
    }
    if added.is_empty() {
        return Ok(words.to_vec());
    }
    let mut module = Editor::new(&index)?;
    added.dedup();
    let at = module.annotations_end();
    module.insert(at, added);
    Ok(module.words())
}

/// Whether a type is an integer, a vector of integers, or an array of either.
fn is_integer(index: &ModuleIndex, mut ty: u32) -> bool {
    while let Some([_, element, _]) = index.operands(ty, op::TYPE_ARRAY) {
        ty = element;
    }
    let (scalar, _) = index.vector(ty);
    index.opcode(scalar) == op::TYPE_INT
}
