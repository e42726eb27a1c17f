//! Device features that shaders can need: queries, and device creation.

use crate::error::{Call, Result};
use ash::vk;
use loader::vbc::Feature;

/// The features that this crate may enable, as reported by the device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pub core: vk::PhysicalDeviceFeatures,
    pub v11: Vk11,
    pub v12: Vk12,
    /// Dynamic rendering. Vulkan 1.3.
    pub dynamic_rendering: bool,
}

/// The Vulkan 1.1 features in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vk11 {
    pub shader_draw_parameters: bool,
}

/// The Vulkan 1.2 features in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vk12 {
    pub scalar_block_layout: bool,
    pub descriptor_indexing: bool,
    pub runtime_descriptor_array: bool,
    pub partially_bound: bool,
    pub update_unused_while_pending: bool,
    pub uniform_texel_dynamic: bool,
    pub storage_texel_dynamic: bool,
    pub mirror_clamp_to_edge: bool,
}

impl Features {
    /// The features of a device.
    pub(crate) fn of(instance: &ash::Instance, device: vk::PhysicalDevice) -> Self {
        // SAFETY: `device` was enumerated from `instance`.
        let api = unsafe { instance.get_physical_device_properties(device) }.api_version;
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut v11)
            .push_next(&mut v12);
        if api >= vk::API_VERSION_1_3 {
            all = all.push_next(&mut v13);
        }
        // SAFETY: as above; the chain lives through the call and contains only structures of the device's version.
        unsafe { instance.get_physical_device_features2(device, &mut all) };
        let core = all.features;
        Self::from_vulkan(&core, &v11, &v12, &v13)
    }

    /// The features in these structures, either reported or enabled.
    pub(crate) fn from_vulkan(
        core: &vk::PhysicalDeviceFeatures,
        v11: &vk::PhysicalDeviceVulkan11Features<'_>,
        v12: &vk::PhysicalDeviceVulkan12Features<'_>,
        v13: &vk::PhysicalDeviceVulkan13Features<'_>,
    ) -> Self {
        Self {
            core: *core,
            v11: Vk11 {
                shader_draw_parameters: v11.shader_draw_parameters != 0,
            },
            v12: Vk12 {
                scalar_block_layout: v12.scalar_block_layout != 0,
                descriptor_indexing: v12.descriptor_indexing != 0,
                runtime_descriptor_array: v12.runtime_descriptor_array != 0,
                partially_bound: v12.descriptor_binding_partially_bound != 0,
                update_unused_while_pending: v12.descriptor_binding_update_unused_while_pending != 0,
                uniform_texel_dynamic: v12.shader_uniform_texel_buffer_array_dynamic_indexing != 0,
                storage_texel_dynamic: v12.shader_storage_texel_buffer_array_dynamic_indexing != 0,
                mirror_clamp_to_edge: v12.sampler_mirror_clamp_to_edge != 0,
            },
            dynamic_rendering: v13.dynamic_rendering != 0,
        }
    }

    /// Whether the device has a feature; every feature here is also enabled.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        let core = &self.core;
        match feature {
            Feature::ScalarBlockLayout => self.v12.scalar_block_layout,
            Feature::SampledImageIndexing => core.shader_sampled_image_array_dynamic_indexing != 0,
            Feature::StorageImageIndexing => core.shader_storage_image_array_dynamic_indexing != 0,
            Feature::StorageBufferIndexing => core.shader_storage_buffer_array_dynamic_indexing != 0,
            Feature::UniformTexelBufferIndexing => self.v12.uniform_texel_dynamic,
            Feature::StorageTexelBufferIndexing => self.v12.storage_texel_dynamic,
            Feature::StorageImageExtendedFormats => core.shader_storage_image_extended_formats != 0,
            Feature::VertexPipelineStoresAndAtomics => core.vertex_pipeline_stores_and_atomics != 0,
            Feature::FragmentStoresAndAtomics => core.fragment_stores_and_atomics != 0,
            Feature::GeometryShader => core.geometry_shader != 0,
            Feature::TessellationShader => core.tessellation_shader != 0,
            Feature::ShaderDrawParameters => self.v11.shader_draw_parameters,
            Feature::ShaderClipDistance => core.shader_clip_distance != 0,
            Feature::ShaderCullDistance => core.shader_cull_distance != 0,
            Feature::SampleRateShading => core.sample_rate_shading != 0,
            Feature::ShaderImageGatherExtended => core.shader_image_gather_extended != 0,
        }
    }

    /// Whether arrays of every kind of resource except texel buffers can be indexed (few shaders use those; they are
    /// rejected by feature).
    pub(crate) fn indexes_tables(&self) -> bool {
        self.core.shader_sampled_image_array_dynamic_indexing != 0
            && self.core.shader_storage_image_array_dynamic_indexing != 0
            && self.core.shader_storage_buffer_array_dynamic_indexing != 0
    }

    /// Whether VBC's full tables can be bound once and indexed (as in the engine that defined the format: partially
    /// bound tables, indexed dynamically).
    pub(crate) fn bindless(&self) -> bool {
        self.v12.partially_bound && self.indexes_tables()
    }
}

/// Creates the device with every feature of [`Features`] that it has and that a VBC or a pipeline's state can need.
pub(crate) fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    features: &Features,
) -> Result<ash::Device> {
    let has = &features.core;
    let core = vk::PhysicalDeviceFeatures {
        independent_blend: has.independent_blend,
        geometry_shader: has.geometry_shader,
        tessellation_shader: has.tessellation_shader,
        fill_mode_non_solid: has.fill_mode_non_solid,
        wide_lines: has.wide_lines,
        depth_clamp: has.depth_clamp,
        depth_bias_clamp: has.depth_bias_clamp,
        alpha_to_one: has.alpha_to_one,
        logic_op: has.logic_op,
        sampler_anisotropy: has.sampler_anisotropy,
        large_points: has.large_points,
        shader_clip_distance: has.shader_clip_distance,
        shader_cull_distance: has.shader_cull_distance,
        sample_rate_shading: has.sample_rate_shading,
        shader_image_gather_extended: has.shader_image_gather_extended,
        vertex_pipeline_stores_and_atomics: has.vertex_pipeline_stores_and_atomics,
        fragment_stores_and_atomics: has.fragment_stores_and_atomics,
        shader_storage_image_extended_formats: has.shader_storage_image_extended_formats,
        shader_sampled_image_array_dynamic_indexing: has.shader_sampled_image_array_dynamic_indexing,
        shader_storage_image_array_dynamic_indexing: has.shader_storage_image_array_dynamic_indexing,
        shader_storage_buffer_array_dynamic_indexing: has.shader_storage_buffer_array_dynamic_indexing,
        ..Default::default()
    };
    let v12 = &features.v12;
    let mut want11 =
        vk::PhysicalDeviceVulkan11Features::default().shader_draw_parameters(features.v11.shader_draw_parameters);
    let mut want12 = vk::PhysicalDeviceVulkan12Features::default()
        .scalar_block_layout(v12.scalar_block_layout)
        .descriptor_indexing(v12.descriptor_indexing)
        .runtime_descriptor_array(v12.runtime_descriptor_array)
        .descriptor_binding_partially_bound(v12.partially_bound)
        .descriptor_binding_update_unused_while_pending(v12.update_unused_while_pending)
        .shader_uniform_texel_buffer_array_dynamic_indexing(v12.uniform_texel_dynamic)
        .shader_storage_texel_buffer_array_dynamic_indexing(v12.storage_texel_dynamic)
        .sampler_mirror_clamp_to_edge(v12.mirror_clamp_to_edge);
    let mut want13 = vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true);
    let queue = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queue)
        .enabled_features(&core)
        .push_next(&mut want11)
        .push_next(&mut want12);
    if features.dynamic_rendering {
        info = info.push_next(&mut want13);
    }
    // SAFETY: the device reported every enabled feature; pointers live through the call.
    unsafe { instance.create_device(physical, &info, None) }.call("vkCreateDevice")
}
