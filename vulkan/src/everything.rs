//! All features of a device by Vulkan's names, for test scripts, which request features and extensions by name and
//! share a device.

use crate::error::{Call, Result};
use crate::features::Features;
use ash::vk;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

/// The enabled features of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Everything {
    /// Features by their names in Vulkan's structures.
    pub features: BTreeMap<&'static str, bool>,
    /// The device's extensions.
    pub extensions: BTreeSet<String>,
}

/// Feature structures: the variable, its type, its extension, and its members with Vulkan's names.
macro_rules! structures {
    ($with:ident) => {
        $with! {
            index_type_uint8: PhysicalDeviceIndexTypeUint8FeaturesKHR, "VK_EXT_index_type_uint8", [index_type_uint8 "indexTypeUint8"];
            list_restart: PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT, "VK_EXT_primitive_topology_list_restart", [primitive_topology_list_restart "primitiveTopologyListRestart", primitive_topology_patch_list_restart "primitiveTopologyPatchListRestart"];
            explicit_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR, "VK_KHR_workgroup_memory_explicit_layout", [workgroup_memory_explicit_layout "workgroupMemoryExplicitLayout", workgroup_memory_explicit_layout_scalar_block_layout "workgroupMemoryExplicitLayoutScalarBlockLayout", workgroup_memory_explicit_layout8_bit_access "workgroupMemoryExplicitLayout8BitAccess", workgroup_memory_explicit_layout16_bit_access "workgroupMemoryExplicitLayout16BitAccess"];
            uniform_control_flow: PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR, "VK_KHR_shader_subgroup_uniform_control_flow", [shader_subgroup_uniform_control_flow "shaderSubgroupUniformControlFlow"];
            maximal_reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR, "VK_KHR_shader_maximal_reconvergence", [shader_maximal_reconvergence "shaderMaximalReconvergence"];
            depth_clamp_zero_one: PhysicalDeviceDepthClampZeroOneFeaturesEXT, "VK_EXT_depth_clamp_zero_one", [depth_clamp_zero_one "depthClampZeroOne"];
            early_and_late: PhysicalDeviceShaderEarlyAndLateFragmentTestsFeaturesAMD, "VK_AMD_shader_early_and_late_fragment_tests", [shader_early_and_late_fragment_tests "shaderEarlyAndLateFragmentTests"];
            blend_advanced: PhysicalDeviceBlendOperationAdvancedFeaturesEXT, "VK_EXT_blend_operation_advanced", [advanced_blend_coherent_operations "advancedBlendCoherentOperations"];
            depth_clip_enable: PhysicalDeviceDepthClipEnableFeaturesEXT, "VK_EXT_depth_clip_enable", [depth_clip_enable "depthClipEnable"];
            atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT, "VK_EXT_shader_atomic_float", [shader_buffer_float32_atomics "shaderBufferFloat32Atomics", shader_buffer_float32_atomic_add "shaderBufferFloat32AtomicAdd", shader_buffer_float64_atomics "shaderBufferFloat64Atomics", shader_buffer_float64_atomic_add "shaderBufferFloat64AtomicAdd", shader_shared_float32_atomics "shaderSharedFloat32Atomics", shader_shared_float32_atomic_add "shaderSharedFloat32AtomicAdd", shader_shared_float64_atomics "shaderSharedFloat64Atomics", shader_shared_float64_atomic_add "shaderSharedFloat64AtomicAdd", shader_image_float32_atomics "shaderImageFloat32Atomics", shader_image_float32_atomic_add "shaderImageFloat32AtomicAdd", sparse_image_float32_atomics "sparseImageFloat32Atomics", sparse_image_float32_atomic_add "sparseImageFloat32AtomicAdd"];
            shader_clock: PhysicalDeviceShaderClockFeaturesKHR, "VK_KHR_shader_clock", [shader_subgroup_clock "shaderSubgroupClock", shader_device_clock "shaderDeviceClock"];
            interlock: PhysicalDeviceFragmentShaderInterlockFeaturesEXT, "VK_EXT_fragment_shader_interlock", [fragment_shader_sample_interlock "fragmentShaderSampleInterlock", fragment_shader_pixel_interlock "fragmentShaderPixelInterlock", fragment_shader_shading_rate_interlock "fragmentShaderShadingRateInterlock"];
            barycentric: PhysicalDeviceFragmentShaderBarycentricFeaturesKHR, "VK_KHR_fragment_shader_barycentric", [fragment_shader_barycentric "fragmentShaderBarycentric"];
            cooperative_matrix: PhysicalDeviceCooperativeMatrixFeaturesKHR, "VK_KHR_cooperative_matrix", [cooperative_matrix "cooperativeMatrix", cooperative_matrix_robust_buffer_access "cooperativeMatrixRobustBufferAccess"];
            expect_assume: PhysicalDeviceShaderExpectAssumeFeaturesKHR, "VK_KHR_shader_expect_assume", [shader_expect_assume "shaderExpectAssume"];
            float_controls2: PhysicalDeviceShaderFloatControls2FeaturesKHR, "VK_KHR_shader_float_controls2", [shader_float_controls2 "shaderFloatControls2"];
            subgroup_rotate: PhysicalDeviceShaderSubgroupRotateFeaturesKHR, "VK_KHR_shader_subgroup_rotate", [shader_subgroup_rotate "shaderSubgroupRotate", shader_subgroup_rotate_clustered "shaderSubgroupRotateClustered"];
            quad_control: PhysicalDeviceShaderQuadControlFeaturesKHR, "VK_KHR_shader_quad_control", [shader_quad_control "shaderQuadControl"];
            line_rasterization: PhysicalDeviceLineRasterizationFeaturesKHR, "VK_EXT_line_rasterization", [rectangular_lines "rectangularLines", bresenham_lines "bresenhamLines", smooth_lines "smoothLines", stippled_rectangular_lines "stippledRectangularLines", stippled_bresenham_lines "stippledBresenhamLines", stippled_smooth_lines "stippledSmoothLines"];
            vertex_divisor: PhysicalDeviceVertexAttributeDivisorFeaturesKHR, "VK_EXT_vertex_attribute_divisor", [vertex_attribute_instance_rate_divisor "vertexAttributeInstanceRateDivisor", vertex_attribute_instance_rate_zero_divisor "vertexAttributeInstanceRateZeroDivisor"];
        }
    };
}

/// Opens a device with all its features, and with those requested extensions that it has.
pub(crate) fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    wanted: &[String],
) -> Result<(ash::Device, Features, Everything)> {
    // SAFETY: `physical` was enumerated from `instance`.
    let (api, listed) = unsafe {
        let api = instance.get_physical_device_properties(physical).api_version;
        let listed = instance
            .enumerate_device_extension_properties(physical)
            .call("vkEnumerateDeviceExtensionProperties")?;
        (api, listed)
    };
    let name = |one: &vk::ExtensionProperties| {
        one.extension_name_as_c_str()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let extensions: BTreeSet<String> = listed.iter().filter_map(|one| name(one).ok()).collect();
    let mut enabled: BTreeSet<&str> = BTreeSet::new();
    enabled.extend(
        wanted
            .iter()
            .map(String::as_str)
            .filter(|name| extensions.contains(*name)),
    );
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    macro_rules! declare {
        ($($field:ident: $kind:ident, $extension:literal, [$($member:ident $name:literal),*];)*) => {{
            $(let mut $field = vk::$kind::default();)*
            let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut v11).push_next(&mut v12);
            if api >= vk::API_VERSION_1_3 {
                all = all.push_next(&mut v13);
            }
            $(if extensions.contains($extension) {
                enabled.insert($extension);
                all = all.push_next(&mut $field);
            })*
            // SAFETY: the chain lives through the call and contains only structures that the device supports.
            unsafe { instance.get_physical_device_features2(physical, &mut all) };
            let names: Vec<CString> = enabled.iter().filter_map(|name| CString::new(*name).ok()).collect();
            let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
            let queue = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queue)
                .enabled_extension_names(&pointers)
                .push_next(&mut all);
            // SAFETY: the device reported every enabled feature; pointers live through the call.
            let device = unsafe { instance.create_device(physical, &info, None) }.call("vkCreateDevice")?;
            let core = all.features;
            let mut features = BTreeMap::new();
            $($(features.insert($name, $field.$member != 0);)*)*
            features.extend([
                ("robustBufferAccess", core.robust_buffer_access != 0),
                ("fullDrawIndexUint32", core.full_draw_index_uint32 != 0),
                ("imageCubeArray", core.image_cube_array != 0),
                ("independentBlend", core.independent_blend != 0),
                ("geometryShader", core.geometry_shader != 0),
                ("tessellationShader", core.tessellation_shader != 0),
                ("sampleRateShading", core.sample_rate_shading != 0),
                ("dualSrcBlend", core.dual_src_blend != 0),
                ("logicOp", core.logic_op != 0),
                ("multiDrawIndirect", core.multi_draw_indirect != 0),
                ("drawIndirectFirstInstance", core.draw_indirect_first_instance != 0),
                ("depthClamp", core.depth_clamp != 0),
                ("depthBiasClamp", core.depth_bias_clamp != 0),
                ("fillModeNonSolid", core.fill_mode_non_solid != 0),
                ("depthBounds", core.depth_bounds != 0),
                ("wideLines", core.wide_lines != 0),
                ("largePoints", core.large_points != 0),
                ("alphaToOne", core.alpha_to_one != 0),
                ("multiViewport", core.multi_viewport != 0),
                ("samplerAnisotropy", core.sampler_anisotropy != 0),
                ("textureCompressionETC2", core.texture_compression_etc2 != 0),
                ("textureCompressionASTC_LDR", core.texture_compression_astc_ldr != 0),
                ("textureCompressionBC", core.texture_compression_bc != 0),
                ("occlusionQueryPrecise", core.occlusion_query_precise != 0),
                ("pipelineStatisticsQuery", core.pipeline_statistics_query != 0),
                ("vertexPipelineStoresAndAtomics", core.vertex_pipeline_stores_and_atomics != 0),
                ("fragmentStoresAndAtomics", core.fragment_stores_and_atomics != 0),
                ("shaderTessellationAndGeometryPointSize", core.shader_tessellation_and_geometry_point_size != 0),
                ("shaderImageGatherExtended", core.shader_image_gather_extended != 0),
                ("shaderStorageImageExtendedFormats", core.shader_storage_image_extended_formats != 0),
                ("shaderStorageImageMultisample", core.shader_storage_image_multisample != 0),
                ("shaderStorageImageReadWithoutFormat", core.shader_storage_image_read_without_format != 0),
                ("shaderStorageImageWriteWithoutFormat", core.shader_storage_image_write_without_format != 0),
                ("shaderUniformBufferArrayDynamicIndexing", core.shader_uniform_buffer_array_dynamic_indexing != 0),
                ("shaderSampledImageArrayDynamicIndexing", core.shader_sampled_image_array_dynamic_indexing != 0),
                ("shaderStorageBufferArrayDynamicIndexing", core.shader_storage_buffer_array_dynamic_indexing != 0),
                ("shaderStorageImageArrayDynamicIndexing", core.shader_storage_image_array_dynamic_indexing != 0),
                ("shaderClipDistance", core.shader_clip_distance != 0),
                ("shaderCullDistance", core.shader_cull_distance != 0),
                ("shaderFloat64", core.shader_float64 != 0),
                ("shaderInt64", core.shader_int64 != 0),
                ("shaderInt16", core.shader_int16 != 0),
                ("shaderResourceResidency", core.shader_resource_residency != 0),
                ("shaderResourceMinLod", core.shader_resource_min_lod != 0),
                ("sparseBinding", core.sparse_binding != 0),
                ("sparseResidencyBuffer", core.sparse_residency_buffer != 0),
                ("sparseResidencyImage2D", core.sparse_residency_image2_d != 0),
                ("sparseResidencyImage3D", core.sparse_residency_image3_d != 0),
                ("sparseResidency2Samples", core.sparse_residency2_samples != 0),
                ("sparseResidency4Samples", core.sparse_residency4_samples != 0),
                ("sparseResidency8Samples", core.sparse_residency8_samples != 0),
                ("sparseResidency16Samples", core.sparse_residency16_samples != 0),
                ("sparseResidencyAliased", core.sparse_residency_aliased != 0),
                ("variableMultisampleRate", core.variable_multisample_rate != 0),
                ("inheritedQueries", core.inherited_queries != 0),
            ]);
            features.extend([
                ("storageBuffer16BitAccess", v11.storage_buffer16_bit_access != 0),
                ("uniformAndStorageBuffer16BitAccess", v11.uniform_and_storage_buffer16_bit_access != 0),
                ("storagePushConstant16", v11.storage_push_constant16 != 0),
                ("storageInputOutput16", v11.storage_input_output16 != 0),
                ("multiview", v11.multiview != 0),
                ("multiviewGeometryShader", v11.multiview_geometry_shader != 0),
                ("multiviewTessellationShader", v11.multiview_tessellation_shader != 0),
                ("variablePointersStorageBuffer", v11.variable_pointers_storage_buffer != 0),
                ("variablePointers", v11.variable_pointers != 0),
                ("protectedMemory", v11.protected_memory != 0),
                ("samplerYcbcrConversion", v11.sampler_ycbcr_conversion != 0),
                ("shaderDrawParameters", v11.shader_draw_parameters != 0),
            ]);
            features.extend([
                ("samplerMirrorClampToEdge", v12.sampler_mirror_clamp_to_edge != 0),
                ("drawIndirectCount", v12.draw_indirect_count != 0),
                ("storageBuffer8BitAccess", v12.storage_buffer8_bit_access != 0),
                ("uniformAndStorageBuffer8BitAccess", v12.uniform_and_storage_buffer8_bit_access != 0),
                ("storagePushConstant8", v12.storage_push_constant8 != 0),
                ("shaderBufferInt64Atomics", v12.shader_buffer_int64_atomics != 0),
                ("shaderSharedInt64Atomics", v12.shader_shared_int64_atomics != 0),
                ("shaderFloat16", v12.shader_float16 != 0),
                ("shaderInt8", v12.shader_int8 != 0),
                ("descriptorIndexing", v12.descriptor_indexing != 0),
                ("shaderInputAttachmentArrayDynamicIndexing", v12.shader_input_attachment_array_dynamic_indexing != 0),
                ("shaderUniformTexelBufferArrayDynamicIndexing", v12.shader_uniform_texel_buffer_array_dynamic_indexing != 0),
                ("shaderStorageTexelBufferArrayDynamicIndexing", v12.shader_storage_texel_buffer_array_dynamic_indexing != 0),
                ("shaderUniformBufferArrayNonUniformIndexing", v12.shader_uniform_buffer_array_non_uniform_indexing != 0),
                ("shaderSampledImageArrayNonUniformIndexing", v12.shader_sampled_image_array_non_uniform_indexing != 0),
                ("shaderStorageBufferArrayNonUniformIndexing", v12.shader_storage_buffer_array_non_uniform_indexing != 0),
                ("shaderStorageImageArrayNonUniformIndexing", v12.shader_storage_image_array_non_uniform_indexing != 0),
                ("shaderInputAttachmentArrayNonUniformIndexing", v12.shader_input_attachment_array_non_uniform_indexing != 0),
                ("shaderUniformTexelBufferArrayNonUniformIndexing", v12.shader_uniform_texel_buffer_array_non_uniform_indexing != 0),
                ("shaderStorageTexelBufferArrayNonUniformIndexing", v12.shader_storage_texel_buffer_array_non_uniform_indexing != 0),
                ("descriptorBindingUniformBufferUpdateAfterBind", v12.descriptor_binding_uniform_buffer_update_after_bind != 0),
                ("descriptorBindingSampledImageUpdateAfterBind", v12.descriptor_binding_sampled_image_update_after_bind != 0),
                ("descriptorBindingStorageImageUpdateAfterBind", v12.descriptor_binding_storage_image_update_after_bind != 0),
                ("descriptorBindingStorageBufferUpdateAfterBind", v12.descriptor_binding_storage_buffer_update_after_bind != 0),
                ("descriptorBindingUniformTexelBufferUpdateAfterBind", v12.descriptor_binding_uniform_texel_buffer_update_after_bind != 0),
                ("descriptorBindingStorageTexelBufferUpdateAfterBind", v12.descriptor_binding_storage_texel_buffer_update_after_bind != 0),
                ("descriptorBindingUpdateUnusedWhilePending", v12.descriptor_binding_update_unused_while_pending != 0),
                ("descriptorBindingPartiallyBound", v12.descriptor_binding_partially_bound != 0),
                ("descriptorBindingVariableDescriptorCount", v12.descriptor_binding_variable_descriptor_count != 0),
                ("runtimeDescriptorArray", v12.runtime_descriptor_array != 0),
                ("samplerFilterMinmax", v12.sampler_filter_minmax != 0),
                ("scalarBlockLayout", v12.scalar_block_layout != 0),
                ("imagelessFramebuffer", v12.imageless_framebuffer != 0),
                ("uniformBufferStandardLayout", v12.uniform_buffer_standard_layout != 0),
                ("shaderSubgroupExtendedTypes", v12.shader_subgroup_extended_types != 0),
                ("separateDepthStencilLayouts", v12.separate_depth_stencil_layouts != 0),
                ("hostQueryReset", v12.host_query_reset != 0),
                ("timelineSemaphore", v12.timeline_semaphore != 0),
                ("bufferDeviceAddress", v12.buffer_device_address != 0),
                ("bufferDeviceAddressCaptureReplay", v12.buffer_device_address_capture_replay != 0),
                ("bufferDeviceAddressMultiDevice", v12.buffer_device_address_multi_device != 0),
                ("vulkanMemoryModel", v12.vulkan_memory_model != 0),
                ("vulkanMemoryModelDeviceScope", v12.vulkan_memory_model_device_scope != 0),
                ("vulkanMemoryModelAvailabilityVisibilityChains", v12.vulkan_memory_model_availability_visibility_chains != 0),
                ("shaderOutputViewportIndex", v12.shader_output_viewport_index != 0),
                ("shaderOutputLayer", v12.shader_output_layer != 0),
                ("subgroupBroadcastDynamicId", v12.subgroup_broadcast_dynamic_id != 0),
            ]);
            features.extend([
                ("robustImageAccess", v13.robust_image_access != 0),
                ("inlineUniformBlock", v13.inline_uniform_block != 0),
                ("descriptorBindingInlineUniformBlockUpdateAfterBind", v13.descriptor_binding_inline_uniform_block_update_after_bind != 0),
                ("pipelineCreationCacheControl", v13.pipeline_creation_cache_control != 0),
                ("privateData", v13.private_data != 0),
                ("shaderDemoteToHelperInvocation", v13.shader_demote_to_helper_invocation != 0),
                ("shaderTerminateInvocation", v13.shader_terminate_invocation != 0),
                ("subgroupSizeControl", v13.subgroup_size_control != 0),
                ("computeFullSubgroups", v13.compute_full_subgroups != 0),
                ("synchronization2", v13.synchronization2 != 0),
                ("textureCompressionASTC_HDR", v13.texture_compression_astc_hdr != 0),
                ("shaderZeroInitializeWorkgroupMemory", v13.shader_zero_initialize_workgroup_memory != 0),
                ("dynamicRendering", v13.dynamic_rendering != 0),
                ("shaderIntegerDotProduct", v13.shader_integer_dot_product != 0),
                ("maintenance4", v13.maintenance4 != 0),
            ]);
            let known = Features::from_vulkan(&core, &v11, &v12, &v13);
            let everything = Everything { features, extensions };
            Ok((device, known, everything))
        }};
    }
    structures!(declare)
}
