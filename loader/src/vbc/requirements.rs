//! The device features and limits that a file needs, with reasons; computed without a device.
//!
//! The needs come mostly from the reflection, because the compiler omits three of the array-indexing capabilities that
//! its code uses. Needs that only the code shows (a geometry built-in in a fragment shader) come from its capabilities.

use super::agree::push_constant_bytes;
use super::types::{BaseType, Binding, Shape, Stage, Stages, Tables};
use super::view::Vbc;
use crate::spirv::{ModuleIndex, capability};
use std::fmt;

/// The requirements of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Features, each once, with the first reason found.
    pub features: Vec<FeatureNeed>,
    /// Descriptors of every set and binding that the file uses.
    pub descriptors: Vec<DescriptorNeed>,
    /// Bytes of push constants (`maxPushConstantsSize`); 0 without bindings.
    pub push_constant_bytes: u32,
    /// Bytes of the uniform (`maxUniformBufferRange`); 0 without one.
    pub uniform_bytes: u32,
    /// Vertex input locations, one past the highest (`maxVertexInputAttributes`).
    pub vertex_locations: u32,
    /// Colour attachments, one past the highest location (`maxColorAttachments`).
    pub color_attachments: u32,
    /// Capabilities of the code that are missing from the feature table, with the stage.
    pub unknown_capabilities: Vec<(Stage, u32)>,
}

/// A device feature, and why it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FeatureNeed {
    /// The feature.
    pub feature: Feature,
    /// The reason.
    pub why: Why,
}

/// The first reason found for a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The binding in this slot.
    Slot(u8),
    /// The uniform.
    Uniform,
    /// The presence of this stage.
    Stage(Stage),
    /// A SPIR-V capability that a stage's code declares.
    Capability(Stage, u32),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slot(slot) => write!(f, "the binding in slot {slot}"),
            Self::Uniform => f.write_str("the uniform"),
            Self::Stage(stage) => write!(f, "the {stage} stage"),
            Self::Capability(stage, capability) => write!(f, "capability {capability} of the {stage} code"),
        }
    }
}

macro_rules! features {
    ($($(#[$meta:meta])* $name:ident = $text:literal,)*) => {
        /// A Vulkan device feature that shaders of this format can need.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $(#[doc = concat!("`", $text, "`.")] $(#[$meta])* $name,)*
        }

        impl Feature {
            /// Every feature.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Vulkan's spelling.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

features! {
    /// Structs are packed without padding. Vulkan 1.2.
    ScalarBlockLayout = "scalarBlockLayout",
    /// Only for tables of samplers that are indexed.
    SampledImageIndexing = "shaderSampledImageArrayDynamicIndexing",
    /// Only for tables of images that are indexed.
    StorageImageIndexing = "shaderStorageImageArrayDynamicIndexing",
    /// Only for tables of buffers that are indexed.
    StorageBufferIndexing = "shaderStorageBufferArrayDynamicIndexing",
    /// Only for tables of texel buffers that are indexed. Vulkan 1.2.
    UniformTexelBufferIndexing = "shaderUniformTexelBufferArrayDynamicIndexing",
    /// Only for tables of texel buffers that are indexed. Vulkan 1.2.
    StorageTexelBufferIndexing = "shaderStorageTexelBufferArrayDynamicIndexing",
    /// Storage formats of two components, or of 16-bit or few 8-bit ones.
    StorageImageExtendedFormats = "shaderStorageImageExtendedFormats",
    /// Writable resources in stages before the fragment stage.
    VertexPipelineStoresAndAtomics = "vertexPipelineStoresAndAtomics",
    /// Writable resources in the fragment stage.
    FragmentStoresAndAtomics = "fragmentStoresAndAtomics",
    /// A geometry stage, or a fragment stage that reads the primitive id.
    GeometryShader = "geometryShader",
    /// Tessellation stages.
    TessellationShader = "tessellationShader",
    /// Draw and base indices. Vulkan 1.1.
    ShaderDrawParameters = "shaderDrawParameters",
    /// Clip distances.
    ShaderClipDistance = "shaderClipDistance",
    /// Cull distances.
    ShaderCullDistance = "shaderCullDistance",
    /// Per-sample shading.
    SampleRateShading = "sampleRateShading",
    /// Gathers with offsets.
    ShaderImageGatherExtended = "shaderImageGatherExtended",
}

impl Feature {
    /// Whether the feature is unnecessary once tables are replaced by single descriptors.
    pub fn is_for_tables(self) -> bool {
        (Self::SampledImageIndexing..=Self::StorageTexelBufferIndexing).contains(&self)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Descriptor types, as in Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DescriptorKind {
    /// Image and sampler together.
    CombinedImageSampler,
    /// Storage image.
    StorageImage,
    /// Storage buffer, read-only or not.
    StorageBuffer,
    /// Uniform texel buffer.
    UniformTexelBuffer,
    /// Storage texel buffer.
    StorageTexelBuffer,
    /// Uniform buffer.
    UniformBuffer,
    /// Input attachment.
    InputAttachment,
}

impl DescriptorKind {
    /// Kinds of the five tables, by binding number in set 0.
    pub const TABLES: [Self; 5] = [
        Self::CombinedImageSampler,
        Self::StorageImage,
        Self::StorageBuffer,
        Self::UniformTexelBuffer,
        Self::StorageTexelBuffer,
    ];

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::CombinedImageSampler => "combined image sampler",
            Self::StorageImage => "storage image",
            Self::StorageBuffer => "storage buffer",
            Self::UniformTexelBuffer => "uniform texel buffer",
            Self::StorageTexelBuffer => "storage texel buffer",
            Self::UniformBuffer => "uniform buffer",
            Self::InputAttachment => "input attachment",
        }
    }
}

/// The descriptors of one set and binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DescriptorNeed {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// What they are.
    pub kind: DescriptorKind,
    /// Descriptors that the code's array has as compiled: the table's size.
    pub count: u32,
    /// Descriptors in use: slots of the file that use this table.
    pub used: u32,
    /// Stages that use one of them.
    pub stages: Stages,
}

impl Requirements {
    /// Descriptors of a kind that a stage sees with full tables, as `maxPerStageDescriptor...` counts them.
    pub fn per_stage(&self, stage: Stage, kind: DescriptorKind) -> u32 {
        let seen = self
            .descriptors
            .iter()
            .filter(|need| need.kind == kind && need.stages.contains(stage));
        seen.map(|need| need.count).sum()
    }

    /// The reason for a feature, if it is needed.
    pub fn needs(&self, feature: Feature) -> Option<Why> {
        let need = self.features.iter().find(|need| need.feature == feature)?;
        Some(need.why)
    }

    fn need(&mut self, feature: Feature, why: Why) {
        if self.needs(feature).is_none() {
            self.features.push(FeatureNeed { feature, why });
        }
    }
}

/// The requirements of a file.
pub fn requirements(file: &Vbc) -> Requirements {
    let bindings: Vec<Binding> = file.bindings().take(super::limits::MAX_BINDINGS).collect();
    let mut needs = Requirements {
        push_constant_bytes: push_constant_bytes(&bindings),
        vertex_locations: file
            .inputs()
            .map(|v| u32::from(v.location) + v.locations())
            .max()
            .unwrap_or(0),
        color_attachments: file.outputs().map(|v| u32::from(v.location) + 1).max().unwrap_or(0),
        ..Requirements::default()
    };
    table_needs(&mut needs, file.tables(), &bindings);
    for binding in &bindings {
        binding_features(&mut needs, binding);
    }
    if let Some(uniform) = file.uniform() {
        needs.uniform_bytes = uniform.size;
        needs
            .descriptors
            .push(single(1, 0, DescriptorKind::UniformBuffer, uniform.stages));
        if uniform.stages != Stages::NONE {
            needs.need(Feature::ScalarBlockLayout, Why::Uniform);
        }
    }
    for i in 0..file.subpass_inputs().len().min(super::limits::MAX_SUBPASS_INPUTS) {
        let stages = Stages(Stage::Frag.bit());
        needs
            .descriptors
            .push(single(2, i as u32, DescriptorKind::InputAttachment, stages));
    }
    for stage in Stage::ALL {
        let Some(module) = file.module(stage) else { continue };
        stage_features(&mut needs, stage);
        if let Ok(module) = module {
            capability_features(&mut needs, stage, module);
        }
    }
    needs
}

fn single(set: u32, binding: u32, kind: DescriptorKind, stages: Stages) -> DescriptorNeed {
    let (count, used) = (1, 1);
    DescriptorNeed {
        set,
        binding,
        kind,
        count,
        used,
        stages,
    }
}

fn table_needs(needs: &mut Requirements, tables: Tables, bindings: &[Binding]) {
    for (table, (kind, size)) in std::iter::zip(DescriptorKind::TABLES, tables.sizes()).enumerate() {
        let of_table = || bindings.iter().filter(|b| Tables::index_of(b.base) == Some(table));
        let used = of_table().count() as u32;
        if used != 0 {
            needs.descriptors.push(DescriptorNeed {
                set: 0,
                binding: table as u32,
                kind,
                count: size.into(),
                used,
                stages: Stages(of_table().fold(0, |mask, binding| mask | binding.stages.0)),
            });
        }
    }
}

fn binding_features(needs: &mut Requirements, binding: &Binding) {
    let why = Why::Slot(binding.slot);
    if binding.stages == Stages::NONE {
        return; // Unused: not in the code.
    }
    if let Some(table) = Tables::index_of(binding.base) {
        needs.need(Feature::ALL[Feature::SampledImageIndexing as usize + table], why);
    }
    match binding.shape {
        Shape::Buffer { .. } => needs.need(Feature::ScalarBlockLayout, why),
        Shape::Texel { size, components, .. } => {
            let storage = matches!(binding.base, BaseType::IMAGE | BaseType::RW_TEXELS);
            // The formats that need no feature: four components of 4 or 1 bytes, one of 4 bytes.
            if storage && !matches!((size, components), (4 | 1, 4) | (4, 1)) {
                needs.need(Feature::StorageImageExtendedFormats, why);
            }
        }
    }
    // Images and read-write buffers are declared writable even if they are only read.
    if matches!(
        binding.base,
        BaseType::IMAGE | BaseType::RW_BUFFER | BaseType::RW_TEXELS
    ) {
        if binding.stages.contains(Stage::Frag) {
            needs.need(Feature::FragmentStoresAndAtomics, why);
        }
        if binding.stages.iter().any(|stage| stage != Stage::Frag) {
            needs.need(Feature::VertexPipelineStoresAndAtomics, why);
        }
    }
}

fn stage_features(needs: &mut Requirements, stage: Stage) {
    match stage {
        Stage::Tesc | Stage::Tese => needs.need(Feature::TessellationShader, Why::Stage(stage)),
        Stage::Geom => needs.need(Feature::GeometryShader, Why::Stage(stage)),
        Stage::Vert | Stage::Frag => {}
    }
}

/// The feature for each SPIR-V capability; `None` if every Vulkan device has it or the reflection implies it.
const CAPABILITIES: [(u32, Option<Feature>); 25] = [
    (capability::MATRIX, None),
    (capability::SHADER, None),
    (capability::GEOMETRY, Some(Feature::GeometryShader)),
    (capability::TESSELLATION, Some(Feature::TessellationShader)),
    (capability::TESSELLATION_POINT_SIZE, Some(Feature::TessellationShader)),
    (capability::GEOMETRY_POINT_SIZE, Some(Feature::GeometryShader)),
    (
        capability::IMAGE_GATHER_EXTENDED,
        Some(Feature::ShaderImageGatherExtended),
    ),
    (
        capability::SAMPLED_IMAGE_ARRAY_DYNAMIC_INDEXING,
        Some(Feature::SampledImageIndexing),
    ),
    (
        capability::STORAGE_BUFFER_ARRAY_DYNAMIC_INDEXING,
        Some(Feature::StorageBufferIndexing),
    ),
    (
        capability::STORAGE_IMAGE_ARRAY_DYNAMIC_INDEXING,
        Some(Feature::StorageImageIndexing),
    ),
    (capability::CLIP_DISTANCE, Some(Feature::ShaderClipDistance)),
    (capability::CULL_DISTANCE, Some(Feature::ShaderCullDistance)),
    (capability::SAMPLE_RATE_SHADING, Some(Feature::SampleRateShading)),
    (capability::INPUT_ATTACHMENT, None),
    (capability::SAMPLED_1D, None),
    (capability::IMAGE_1D, None),
    (capability::SAMPLED_BUFFER, None),
    (capability::IMAGE_BUFFER, None),
    (
        capability::STORAGE_IMAGE_EXTENDED_FORMATS,
        Some(Feature::StorageImageExtendedFormats),
    ),
    (capability::IMAGE_QUERY, None),
    (capability::DERIVATIVE_CONTROL, None),
    (capability::INTERPOLATION_FUNCTION, Some(Feature::SampleRateShading)),
    (capability::DRAW_PARAMETERS, Some(Feature::ShaderDrawParameters)),
    (
        capability::UNIFORM_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING,
        Some(Feature::UniformTexelBufferIndexing),
    ),
    (
        capability::STORAGE_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING,
        Some(Feature::StorageTexelBufferIndexing),
    ),
];

/// Features that only the code's capabilities show; code that is not a module adds none.
fn capability_features(needs: &mut Requirements, stage: Stage, module: &ModuleIndex) {
    for &capability in module.capabilities() {
        match CAPABILITIES.iter().find(|row| row.0 == capability) {
            Some(&(_, Some(feature))) => needs.need(feature, Why::Capability(stage, capability)),
            Some(_) => {}
            None => needs.unknown_capabilities.push((stage, capability)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexing_features_stand_in_table_order() {
        let first = Feature::SampledImageIndexing as usize;
        let names: Vec<_> = Feature::ALL[first..first + 5].iter().map(|f| f.name()).collect();
        let expected = [
            "SampledImage",
            "StorageImage",
            "StorageBuffer",
            "UniformTexelBuffer",
            "StorageTexelBuffer",
        ];
        for (name, expected) in std::iter::zip(names, expected) {
            assert_eq!(name, format!("shader{expected}ArrayDynamicIndexing"));
        }
    }
}
