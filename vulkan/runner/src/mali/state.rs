//! Vulkan's tests of fragments in the driver's terms, for scenes and scripts. An error is what a Mali-400 does not do.

use emulator::driver::{Compare, Stencil, StencilOp};
use vulkan::vk;

pub(crate) fn compare(op: vk::CompareOp) -> Result<Compare, String> {
    Ok(match op {
        vk::CompareOp::NEVER => Compare::Never,
        vk::CompareOp::LESS => Compare::Less,
        vk::CompareOp::EQUAL => Compare::Equal,
        vk::CompareOp::LESS_OR_EQUAL => Compare::LessEqual,
        vk::CompareOp::GREATER => Compare::Greater,
        vk::CompareOp::NOT_EQUAL => Compare::NotEqual,
        vk::CompareOp::GREATER_OR_EQUAL => Compare::GreaterEqual,
        vk::CompareOp::ALWAYS => Compare::Always,
        other => return Err(format!("{other:?}")),
    })
}

fn operation(op: vk::StencilOp) -> Result<StencilOp, String> {
    Ok(match op {
        vk::StencilOp::KEEP => StencilOp::Keep,
        vk::StencilOp::ZERO => StencilOp::Zero,
        vk::StencilOp::REPLACE => StencilOp::Replace,
        vk::StencilOp::INCREMENT_AND_CLAMP => StencilOp::Increment,
        vk::StencilOp::DECREMENT_AND_CLAMP => StencilOp::Decrement,
        vk::StencilOp::INVERT => StencilOp::Invert,
        vk::StencilOp::INCREMENT_AND_WRAP => StencilOp::IncrementWrap,
        vk::StencilOp::DECREMENT_AND_WRAP => StencilOp::DecrementWrap,
        other => return Err(format!("{other:?}")),
    })
}

fn counts(op: &vk::StencilOp) -> bool {
    use vk::StencilOp as Op;
    matches!(
        *op,
        Op::INCREMENT_AND_CLAMP | Op::DECREMENT_AND_CLAMP | Op::INCREMENT_AND_WRAP | Op::DECREMENT_AND_WRAP
    )
}

/// The stencil test of one side. A Mali-400 counts as Vulkan does where the write mask is of the highest bits
/// (docs/spec/mali/state.md, section 1).
pub(crate) fn stencil(face: &vk::StencilOpState) -> Result<Stencil, String> {
    let operations = [face.fail_op, face.depth_fail_op, face.pass_op];
    let (counts, mask) = (operations.iter().any(counts), face.write_mask as u8);
    if counts && mask != 0 && mask.leading_ones() + mask.trailing_zeros() != u8::BITS {
        return Err(format!(
            "stencil: a Mali-400 that counts writes all bits from the write mask's lowest up, so not {mask:#04x}; Vulkan does"
        ));
    }
    Ok(Stencil {
        compare: compare(face.compare_op)?,
        fail: operation(face.fail_op)?,
        depth_fail: operation(face.depth_fail_op)?,
        pass: operation(face.pass_op)?,
        reference: face.reference as u8,
        mask: face.compare_mask as u8,
        write_mask: mask,
    })
}
