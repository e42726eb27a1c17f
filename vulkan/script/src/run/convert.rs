//! Words of scripts as Vulkan's numbers. Enumerations that stand in Vulkan's order convert by that.

use crate::amber::{
    AddressMode, BindKind, BlendFactor, BlendOp, BorderColor, CompareOp, Filter, PolygonMode, StencilOp,
};
use crate::types::{Format, Stage, Topology};
use ash::vk;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Vulkan's format of a name.
pub(super) fn format(format: &Format) -> Option<vk::Format> {
    static ALL: OnceLock<BTreeMap<String, vk::Format>> = OnceLock::new();
    // Formats of Vulkan 1.0: from R4G4_UNORM_PACK8 to the last of ASTC.
    let all = ALL.get_or_init(|| {
        let known = (1..=184).map(vk::Format::from_raw);
        known.map(|format| (format!("{format:?}"), format)).collect()
    });
    all.get(format.name()).copied()
}

pub(super) fn stage(stage: Stage) -> Option<vk::ShaderStageFlags> {
    Some(match stage {
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Fragment => vk::ShaderStageFlags::FRAGMENT,
        Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
        Stage::TessellationControl => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        Stage::TessellationEvaluation => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
        _ => return None,
    })
}

pub(super) fn topology(topology: Topology) -> vk::PrimitiveTopology {
    use vk::PrimitiveTopology as T;
    match topology {
        Topology::PointList => T::POINT_LIST,
        Topology::LineList => T::LINE_LIST,
        Topology::LineListAdjacency => T::LINE_LIST_WITH_ADJACENCY,
        Topology::LineStrip => T::LINE_STRIP,
        Topology::LineStripAdjacency => T::LINE_STRIP_WITH_ADJACENCY,
        Topology::TriangleList => T::TRIANGLE_LIST,
        Topology::TriangleListAdjacency => T::TRIANGLE_LIST_WITH_ADJACENCY,
        Topology::TriangleStrip => T::TRIANGLE_STRIP,
        Topology::TriangleStripAdjacency => T::TRIANGLE_STRIP_WITH_ADJACENCY,
        Topology::TriangleFan => T::TRIANGLE_FAN,
        Topology::PatchList => T::PATCH_LIST,
    }
}

pub(super) fn descriptor(kind: BindKind) -> vk::DescriptorType {
    use vk::DescriptorType as T;
    match kind {
        BindKind::Uniform => T::UNIFORM_BUFFER,
        BindKind::Storage => T::STORAGE_BUFFER,
        BindKind::UniformDynamic => T::UNIFORM_BUFFER_DYNAMIC,
        BindKind::StorageDynamic => T::STORAGE_BUFFER_DYNAMIC,
        BindKind::UniformTexelBuffer => T::UNIFORM_TEXEL_BUFFER,
        BindKind::StorageTexelBuffer => T::STORAGE_TEXEL_BUFFER,
        BindKind::StorageImage => T::STORAGE_IMAGE,
        BindKind::SampledImage => T::SAMPLED_IMAGE,
        BindKind::CombinedImageSampler => T::COMBINED_IMAGE_SAMPLER,
    }
}

pub(super) fn filter(filter: Filter) -> vk::Filter {
    vk::Filter::from_raw(filter as i32)
}

pub(super) fn address(mode: AddressMode) -> vk::SamplerAddressMode {
    use vk::SamplerAddressMode as M;
    match mode {
        AddressMode::Repeat => M::REPEAT,
        AddressMode::MirroredRepeat => M::MIRRORED_REPEAT,
        AddressMode::ClampToEdge => M::CLAMP_TO_EDGE,
        AddressMode::ClampToBorder => M::CLAMP_TO_BORDER,
        AddressMode::MirroredClampToEdge => M::MIRROR_CLAMP_TO_EDGE,
    }
}

pub(super) fn border(color: BorderColor) -> vk::BorderColor {
    vk::BorderColor::from_raw(color as i32)
}

pub(super) fn compare(op: CompareOp) -> vk::CompareOp {
    vk::CompareOp::from_raw(op as i32)
}

pub(super) fn stencil(op: StencilOp) -> vk::StencilOp {
    vk::StencilOp::from_raw(op as i32)
}

pub(super) fn polygon(mode: PolygonMode) -> vk::PolygonMode {
    vk::PolygonMode::from_raw(mode as i32)
}

pub(super) fn factor(factor: BlendFactor) -> vk::BlendFactor {
    vk::BlendFactor::from_raw(factor as i32)
}

/// The operation, and whether only VK_EXT_blend_operation_advanced has it; its numbers follow each other.
pub(super) fn blend(op: BlendOp) -> (vk::BlendOp, bool) {
    let number = op as i32;
    match op {
        BlendOp::Add | BlendOp::Subtract | BlendOp::ReverseSubtract | BlendOp::Min | BlendOp::Max => {
            (vk::BlendOp::from_raw(number), false)
        }
        _ => (
            vk::BlendOp::from_raw(vk::BlendOp::ZERO_EXT.as_raw() + number - BlendOp::Zero as i32),
            true,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words and Vulkan's names, made alike.
    fn same(word: &str, name: String) {
        let word = word
            .to_uppercase()
            .replace("SUBSTRACT", "SUBTRACT")
            .replace("INVERT_ORG", "INVERT_OVG");
        assert_eq!(word.replace('_', ""), name.trim_end_matches("_EXT").replace('_', ""));
    }

    #[test]
    fn orders_are_vulkans() {
        CompareOp::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", compare(*one))));
        StencilOp::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", stencil(*one))));
        BlendFactor::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", factor(*one))));
        BlendOp::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", blend(*one).0)));
        BorderColor::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", border(*one))));
        PolygonMode::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", polygon(*one))));
        Filter::ALL
            .iter()
            .for_each(|one| same(one.name(), format!("{:?}", filter(*one))));
    }
}
