//! What shaders ask of a device by their capabilities and execution modes. Drivers need not look, and some crash.

use super::Stage;
use crate::context::Context;
use crate::error::{Error, Result};
use ash::vk;
use loader::spirv::{Grammar, instructions, mode, op};

/// What a capability or an execution mode needs.
enum Need {
    /// One of these features, by their names in Vulkan's structures.
    Feature(&'static [&'static str]),
    /// An operation of subgroups.
    Subgroup(vk::SubgroupFeatureFlags),
    /// An extension of the device.
    Extension(&'static str),
}

use Need::{Extension, Feature, Subgroup};

/// Capabilities that not every device of Vulkan 1.2 has, by their names in SPIR-V.
const CAPABILITIES: &[(&str, Need)] = &[
    ("Geometry", Feature(&["geometryShader"])),
    ("Tessellation", Feature(&["tessellationShader"])),
    ("Float16", Feature(&["shaderFloat16"])),
    ("Float64", Feature(&["shaderFloat64"])),
    ("Int8", Feature(&["shaderInt8"])),
    ("Int16", Feature(&["shaderInt16"])),
    ("Int64", Feature(&["shaderInt64"])),
    (
        "Int64Atomics",
        Feature(&["shaderBufferInt64Atomics", "shaderSharedInt64Atomics"]),
    ),
    (
        "TessellationPointSize",
        Feature(&["shaderTessellationAndGeometryPointSize"]),
    ),
    (
        "GeometryPointSize",
        Feature(&["shaderTessellationAndGeometryPointSize"]),
    ),
    ("ImageGatherExtended", Feature(&["shaderImageGatherExtended"])),
    ("StorageImageMultisample", Feature(&["shaderStorageImageMultisample"])),
    ("ImageMSArray", Feature(&["shaderStorageImageMultisample"])),
    (
        "UniformBufferArrayDynamicIndexing",
        Feature(&["shaderUniformBufferArrayDynamicIndexing"]),
    ),
    (
        "SampledImageArrayDynamicIndexing",
        Feature(&["shaderSampledImageArrayDynamicIndexing"]),
    ),
    (
        "StorageBufferArrayDynamicIndexing",
        Feature(&["shaderStorageBufferArrayDynamicIndexing"]),
    ),
    (
        "StorageImageArrayDynamicIndexing",
        Feature(&["shaderStorageImageArrayDynamicIndexing"]),
    ),
    ("ClipDistance", Feature(&["shaderClipDistance"])),
    ("CullDistance", Feature(&["shaderCullDistance"])),
    ("ImageCubeArray", Feature(&["imageCubeArray"])),
    ("SampledCubeArray", Feature(&["imageCubeArray"])),
    ("SampleRateShading", Feature(&["sampleRateShading"])),
    ("InterpolationFunction", Feature(&["sampleRateShading"])),
    ("SparseResidency", Feature(&["shaderResourceResidency"])),
    ("MinLod", Feature(&["shaderResourceMinLod"])),
    (
        "StorageImageExtendedFormats",
        Feature(&["shaderStorageImageExtendedFormats"]),
    ),
    (
        "StorageImageReadWithoutFormat",
        Feature(&["shaderStorageImageReadWithoutFormat"]),
    ),
    (
        "StorageImageWriteWithoutFormat",
        Feature(&["shaderStorageImageWriteWithoutFormat"]),
    ),
    ("MultiViewport", Feature(&["multiViewport"])),
    ("DrawParameters", Feature(&["shaderDrawParameters"])),
    ("MultiView", Feature(&["multiview"])),
    (
        "VariablePointersStorageBuffer",
        Feature(&["variablePointersStorageBuffer"]),
    ),
    ("VariablePointers", Feature(&["variablePointers"])),
    ("StorageBuffer16BitAccess", Feature(&["storageBuffer16BitAccess"])),
    (
        "UniformAndStorageBuffer16BitAccess",
        Feature(&["uniformAndStorageBuffer16BitAccess"]),
    ),
    ("StoragePushConstant16", Feature(&["storagePushConstant16"])),
    ("StorageInputOutput16", Feature(&["storageInputOutput16"])),
    ("StorageBuffer8BitAccess", Feature(&["storageBuffer8BitAccess"])),
    (
        "UniformAndStorageBuffer8BitAccess",
        Feature(&["uniformAndStorageBuffer8BitAccess"]),
    ),
    ("StoragePushConstant8", Feature(&["storagePushConstant8"])),
    ("VulkanMemoryModel", Feature(&["vulkanMemoryModel"])),
    (
        "VulkanMemoryModelDeviceScope",
        Feature(&["vulkanMemoryModelDeviceScope"]),
    ),
    ("PhysicalStorageBufferAddresses", Feature(&["bufferDeviceAddress"])),
    ("RuntimeDescriptorArray", Feature(&["runtimeDescriptorArray"])),
    (
        "InputAttachmentArrayDynamicIndexing",
        Feature(&["shaderInputAttachmentArrayDynamicIndexing"]),
    ),
    (
        "UniformTexelBufferArrayDynamicIndexing",
        Feature(&["shaderUniformTexelBufferArrayDynamicIndexing"]),
    ),
    (
        "StorageTexelBufferArrayDynamicIndexing",
        Feature(&["shaderStorageTexelBufferArrayDynamicIndexing"]),
    ),
    (
        "UniformBufferArrayNonUniformIndexing",
        Feature(&["shaderUniformBufferArrayNonUniformIndexing"]),
    ),
    (
        "SampledImageArrayNonUniformIndexing",
        Feature(&["shaderSampledImageArrayNonUniformIndexing"]),
    ),
    (
        "StorageBufferArrayNonUniformIndexing",
        Feature(&["shaderStorageBufferArrayNonUniformIndexing"]),
    ),
    (
        "StorageImageArrayNonUniformIndexing",
        Feature(&["shaderStorageImageArrayNonUniformIndexing"]),
    ),
    (
        "InputAttachmentArrayNonUniformIndexing",
        Feature(&["shaderInputAttachmentArrayNonUniformIndexing"]),
    ),
    (
        "UniformTexelBufferArrayNonUniformIndexing",
        Feature(&["shaderUniformTexelBufferArrayNonUniformIndexing"]),
    ),
    (
        "StorageTexelBufferArrayNonUniformIndexing",
        Feature(&["shaderStorageTexelBufferArrayNonUniformIndexing"]),
    ),
    ("ShaderLayer", Feature(&["shaderOutputLayer"])),
    ("ShaderViewportIndex", Feature(&["shaderOutputViewportIndex"])),
    ("DemoteToHelperInvocation", Feature(&["shaderDemoteToHelperInvocation"])),
    ("DotProduct", Feature(&["shaderIntegerDotProduct"])),
    ("ShaderClockKHR", Feature(&["shaderSubgroupClock", "shaderDeviceClock"])),
    (
        "WorkgroupMemoryExplicitLayoutKHR",
        Feature(&["workgroupMemoryExplicitLayout"]),
    ),
    (
        "WorkgroupMemoryExplicitLayout8BitAccessKHR",
        Feature(&["workgroupMemoryExplicitLayout8BitAccess"]),
    ),
    (
        "WorkgroupMemoryExplicitLayout16BitAccessKHR",
        Feature(&["workgroupMemoryExplicitLayout16BitAccess"]),
    ),
    (
        "FragmentShaderSampleInterlockEXT",
        Feature(&["fragmentShaderSampleInterlock"]),
    ),
    (
        "FragmentShaderPixelInterlockEXT",
        Feature(&["fragmentShaderPixelInterlock"]),
    ),
    (
        "FragmentShaderShadingRateInterlockEXT",
        Feature(&["fragmentShaderShadingRateInterlock"]),
    ),
    ("FragmentBarycentricKHR", Feature(&["fragmentShaderBarycentric"])),
    ("CooperativeMatrixKHR", Feature(&["cooperativeMatrix"])),
    ("ExpectAssumeKHR", Feature(&["shaderExpectAssume"])),
    ("FloatControls2", Feature(&["shaderFloatControls2"])),
    ("GroupNonUniformRotateKHR", Feature(&["shaderSubgroupRotate"])),
    ("QuadControlKHR", Feature(&["shaderQuadControl"])),
    (
        "AtomicFloat32AddEXT",
        Feature(&[
            "shaderBufferFloat32AtomicAdd",
            "shaderSharedFloat32AtomicAdd",
            "shaderImageFloat32AtomicAdd",
        ]),
    ),
    (
        "AtomicFloat64AddEXT",
        Feature(&["shaderBufferFloat64AtomicAdd", "shaderSharedFloat64AtomicAdd"]),
    ),
    ("StencilExportEXT", Extension("VK_EXT_shader_stencil_export")),
    ("SubgroupBallotKHR", Extension("VK_EXT_shader_subgroup_ballot")),
    ("SubgroupVoteKHR", Extension("VK_EXT_shader_subgroup_vote")),
    ("SampleMaskPostDepthCoverage", Extension("VK_EXT_post_depth_coverage")),
    ("RayTracingKHR", Extension("VK_KHR_ray_tracing_pipeline")),
    ("RayQueryKHR", Extension("VK_KHR_ray_query")),
    ("MeshShadingEXT", Extension("VK_EXT_mesh_shader")),
    ("GroupNonUniform", Subgroup(vk::SubgroupFeatureFlags::BASIC)),
    ("GroupNonUniformVote", Subgroup(vk::SubgroupFeatureFlags::VOTE)),
    (
        "GroupNonUniformArithmetic",
        Subgroup(vk::SubgroupFeatureFlags::ARITHMETIC),
    ),
    ("GroupNonUniformBallot", Subgroup(vk::SubgroupFeatureFlags::BALLOT)),
    ("GroupNonUniformShuffle", Subgroup(vk::SubgroupFeatureFlags::SHUFFLE)),
    (
        "GroupNonUniformShuffleRelative",
        Subgroup(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
    ),
    (
        "GroupNonUniformClustered",
        Subgroup(vk::SubgroupFeatureFlags::CLUSTERED),
    ),
    ("GroupNonUniformQuad", Subgroup(vk::SubgroupFeatureFlags::QUAD)),
];

/// Execution modes that need what no capability tells.
const MODES: &[(&str, Need)] = &[
    (
        "SubgroupUniformControlFlowKHR",
        Feature(&["shaderSubgroupUniformControlFlow"]),
    ),
    ("MaximallyReconvergesKHR", Feature(&["shaderMaximalReconvergence"])),
    (
        "EarlyAndLateFragmentTestsAMD",
        Feature(&["shaderEarlyAndLateFragmentTests"]),
    ),
];

/// Whether the device has what a stage's module asks for. Devices that were opened without
/// [`Options::everything`](crate::Options::everything) know no features, and pass.
pub(super) fn check(context: &Context, stage: &Stage<'_>) -> Result<()> {
    let everything = &context.inner.everything;
    if everything.features.is_empty() {
        return Ok(());
    }
    let grammar = Grammar::builtin();
    for instruction in instructions(stage.words) {
        let Ok(instruction) = instruction else { break };
        let (kind, table, value) = match instruction.opcode {
            op::CAPABILITY => ("Capability", CAPABILITIES, instruction.operand(0)),
            op::EXECUTION_MODE if instruction.operand(1) == Some(mode::LOCAL_SIZE) => {
                full_subgroups(context, stage, instruction.operand(2).unwrap_or(1))?;
                continue;
            }
            op::EXECUTION_MODE | op::EXECUTION_MODE_ID => ("ExecutionMode", MODES, instruction.operand(1)),
            // Types, and what comes behind them, ask for nothing.
            op::TYPE_VOID | op::FUNCTION => break,
            _ => continue,
        };
        let needed = value.and_then(|value| table.iter().find(|(name, _)| grammar.number(kind, name) == Some(value)));
        let Some((name, need)) = needed else { continue };
        let missing = match need {
            Feature(names) => {
                let has = |name: &&&str| everything.features.get(**name) == Some(&true);
                names
                    .iter()
                    .find(has)
                    .is_none()
                    .then(|| format!("the feature {}", names.join(" or ")))
            }
            Extension(name) => (!everything.extensions.contains(*name)).then(|| format!("the extension {name}")),
            Subgroup(operation) => {
                let has = context.shader_properties().operations.contains(*operation);
                (!has).then(|| format!("{operation:?} of subgroups"))
            }
        };
        if let Some(missing) = missing {
            let message = format!("{name} in the {:?} shader: the device lacks {missing}", stage.stage);
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}

/// Whether groups of such a width are made of full subgroups, where the stage asks for them.
fn full_subgroups(context: &Context, stage: &Stage<'_>, width: u32) -> Result<()> {
    let [least, most] = context.shader_properties().sizes;
    let size = stage
        .subgroup_size
        .unwrap_or(if stage.varying_subgroups { most } else { least });
    if !stage.full_subgroups || size == 0 || width.is_multiple_of(size) {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "full subgroups of {size} invocations in groups of {width} in x"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_specification() {
        for (kind, table) in [("Capability", CAPABILITIES), ("ExecutionMode", MODES)] {
            for (name, _) in table {
                assert!(Grammar::builtin().number(kind, name).is_some(), "{kind} {name}");
            }
        }
    }
}
