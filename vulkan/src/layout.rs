//! Descriptor set layouts of a fitted shader, with every limit checked before the driver is called.

use crate::context::Inner;
use crate::error::{Call, Error, Result};
use ash::vk;
use loader::vbc::DescriptorKind;
use loader::vbc::fit::Resource;
use std::collections::BTreeMap;

/// A binding of the pipeline layout, and the stages that use it.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub resource: Resource,
    pub stages: vk::ShaderStageFlags,
    /// The table slots of this binding, ascending; a slot's array element is its index here.
    pub slots: Vec<u8>,
}

/// Vulkan's descriptor type for a kind of resource.
pub(crate) fn descriptor_type(kind: DescriptorKind) -> vk::DescriptorType {
    match kind {
        DescriptorKind::CombinedImageSampler => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        DescriptorKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
        DescriptorKind::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
        DescriptorKind::UniformTexelBuffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        DescriptorKind::StorageTexelBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        DescriptorKind::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
        DescriptorKind::InputAttachment => vk::DescriptorType::INPUT_ATTACHMENT,
    }
}

/// Merges the stages' resources: one [`Bound`] per (set, binding).
pub(crate) fn merge(stages: &[(vk::ShaderStageFlags, Vec<Resource>)]) -> Result<BTreeMap<(u32, u32), Bound>> {
    let mut merged: BTreeMap<(u32, u32), Bound> = BTreeMap::new();
    for (stage, resources) in stages {
        for resource in resources {
            let place = (resource.set, resource.binding);
            let bound = merged.entry(place).or_insert_with(|| Bound {
                resource: *resource,
                stages: vk::ShaderStageFlags::empty(),
                slots: Vec::new(),
            });
            let other_image = resource.slot.is_some() && bound.resource.image != resource.image;
            if bound.resource.kind != resource.kind || other_image {
                let (set, binding) = place;
                return Err(Error::data(format!(
                    "set {set} binding {binding} is of two kinds in two stages"
                )));
            }
            bound.stages |= *stage;
            bound.resource.count = bound.resource.count.max(resource.count);
            bound.slots.extend(resource.slot);
        }
    }
    for bound in merged.values_mut() {
        bound.slots.sort_unstable();
        bound.slots.dedup();
    }
    Ok(merged)
}

/// Descriptor kinds with the limits that they count against (per stage and in total).
const LIMITS: &[(&str, &[DescriptorKind], Limit, Limit)] = &[
    (
        "samplers",
        &[DescriptorKind::CombinedImageSampler],
        |l| l.max_per_stage_descriptor_samplers,
        |l| l.max_descriptor_set_samplers,
    ),
    (
        "sampled images",
        &[DescriptorKind::CombinedImageSampler, DescriptorKind::UniformTexelBuffer],
        |l| l.max_per_stage_descriptor_sampled_images,
        |l| l.max_descriptor_set_sampled_images,
    ),
    (
        "storage images",
        &[DescriptorKind::StorageImage, DescriptorKind::StorageTexelBuffer],
        |l| l.max_per_stage_descriptor_storage_images,
        |l| l.max_descriptor_set_storage_images,
    ),
    (
        "storage buffers",
        &[DescriptorKind::StorageBuffer],
        |l| l.max_per_stage_descriptor_storage_buffers,
        |l| l.max_descriptor_set_storage_buffers,
    ),
    (
        "uniform buffers",
        &[DescriptorKind::UniformBuffer],
        |l| l.max_per_stage_descriptor_uniform_buffers,
        |l| l.max_descriptor_set_uniform_buffers,
    ),
    (
        "input attachments",
        &[DescriptorKind::InputAttachment],
        |l| l.max_per_stage_descriptor_input_attachments,
        |l| l.max_descriptor_set_input_attachments,
    ),
];

type Limit = fn(&vk::PhysicalDeviceLimits) -> u32;

/// Checks the layout against the device's limits; drivers crash or read other resources beyond a limit.
pub(crate) fn check_limits(
    merged: &BTreeMap<(u32, u32), Bound>,
    push_bytes: u32,
    limits: &vk::PhysicalDeviceLimits,
) -> Result<()> {
    let count = |kinds: &[DescriptorKind], stage: Option<vk::ShaderStageFlags>| -> u64 {
        let wanted = |b: &&Bound| kinds.contains(&b.resource.kind) && stage.is_none_or(|s| b.stages.contains(s));
        merged
            .values()
            .filter(wanted)
            .map(|b| u64::from(b.resource.count))
            .sum()
    };
    let over = |what: &str, used: u64, limit: u32| {
        let message = format!("{used} {what}, the device's limit is {limit}");
        if used > u64::from(limit) {
            Err(Error::unsupported(message))
        } else {
            Ok(())
        }
    };
    let stages = [
        vk::ShaderStageFlags::VERTEX,
        vk::ShaderStageFlags::TESSELLATION_CONTROL,
        vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        vk::ShaderStageFlags::GEOMETRY,
        vk::ShaderStageFlags::FRAGMENT,
    ];
    for (what, kinds, per_stage, per_set) in LIMITS {
        for stage in stages {
            over(
                &format!("{what} in one stage ({stage:?})"),
                count(kinds, Some(stage)),
                per_stage(limits),
            )?;
        }
        over(what, count(kinds, None), per_set(limits))?;
    }
    for stage in stages {
        let all = merged
            .values()
            .filter(|b| b.stages.contains(stage))
            .map(|b| u64::from(b.resource.count))
            .sum();
        over("resources in one stage", all, limits.max_per_stage_resources)?;
    }
    let sets = merged.keys().map(|(set, _)| u64::from(*set) + 1).max().unwrap_or(0);
    over("descriptor sets", sets, limits.max_bound_descriptor_sets)?;
    over(
        "bytes of push constants",
        u64::from(push_bytes),
        limits.max_push_constants_size,
    )
}

/// The layout of the tables' set; destroyed on drop.
pub(crate) struct TableLayout {
    pub raw: vk::DescriptorSetLayout,
    pub context: std::sync::Arc<Inner>,
}

impl Drop for TableLayout {
    fn drop(&mut self) {
        // SAFETY: pipeline layouts created with it hold an `Arc` of it.
        unsafe { self.context.device.destroy_descriptor_set_layout(self.raw, None) };
    }
}

/// Set layouts and the pipeline layout; destroyed on drop.
pub(crate) struct Layouts {
    pub sets: Vec<vk::DescriptorSetLayout>,
    /// The tables whose layout is set 0, if any; they own it.
    tables: Option<std::sync::Arc<TableLayout>>,
    pub pipeline: vk::PipelineLayout,
    context: std::sync::Arc<Inner>,
}

impl Layouts {
    /// Layouts for checked bindings. Unused sets below used ones are empty, so that set 2 keeps its number. `partial`
    /// marks tables that are not filled to the last element.
    pub(crate) fn new(
        context: &std::sync::Arc<Inner>,
        merged: &BTreeMap<(u32, u32), Bound>,
        push: Option<vk::PushConstantRange>,
        partial: bool,
        tables: Option<std::sync::Arc<TableLayout>>,
    ) -> Result<Self> {
        let mut layouts = Self {
            sets: Vec::new(),
            tables: tables.clone(),
            pipeline: vk::PipelineLayout::null(),
            context: context.clone(),
        };
        let count = merged
            .keys()
            .map(|(set, _)| set + 1)
            .max()
            .unwrap_or(0)
            .max(u32::from(tables.is_some()));
        for set in 0..count {
            if let (0, Some(tables)) = (set, &tables) {
                layouts.sets.push(tables.raw);
                continue;
            }
            let of_set = merged.range((set, 0)..=(set, u32::MAX)).map(|(_, bound)| bound);
            layouts
                .sets
                .push(set_layout(context, of_set, partial, tables.is_some())?);
            context.name(layouts.sets[set as usize], &format!("set {set}"));
        }
        let ranges: Vec<_> = push.into_iter().collect();
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts.sets)
            .push_constant_ranges(&ranges);
        // SAFETY: the set layouts were just created; the push range was checked against the limit.
        let pipeline = unsafe { context.device.create_pipeline_layout(&info, None) };
        layouts.pipeline = pipeline.call("vkCreatePipelineLayout")?;
        Ok(layouts)
    }
}

/// A set layout; `partial` marks tables that are not filled to the last element.
pub(crate) fn set_layout<'a>(
    context: &Inner,
    bounds: impl Iterator<Item = &'a Bound> + Clone,
    partial: bool,
    dynamic_uniform: bool,
) -> Result<vk::DescriptorSetLayout> {
    let bindings: Vec<_> = bounds.clone().map(|bound| binding(bound, dynamic_uniform)).collect();
    let flag = |bound: &Bound| match partial && bound.resource.count > 1 {
        true => vk::DescriptorBindingFlags::PARTIALLY_BOUND,
        false => vk::DescriptorBindingFlags::empty(),
    };
    let flags: Vec<_> = bounds.map(flag).collect();
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    if partial {
        info = info.push_next(&mut flags);
    }
    // SAFETY: the counts in the create info were checked against the device's limits.
    unsafe { context.device.create_descriptor_set_layout(&info, None) }.call("vkCreateDescriptorSetLayout")
}

/// A binding of a set layout. With tables, the uniform's offset changes per draw, so it is dynamic.
pub(crate) fn binding(bound: &Bound, dynamic_uniform: bool) -> vk::DescriptorSetLayoutBinding<'static> {
    let kind = match bound.resource.kind {
        DescriptorKind::UniformBuffer if dynamic_uniform => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        kind => descriptor_type(kind),
    };
    vk::DescriptorSetLayoutBinding::default()
        .binding(bound.resource.binding)
        .descriptor_type(kind)
        .descriptor_count(bound.resource.count)
        .stage_flags(bound.stages)
}

impl Drop for Layouts {
    fn drop(&mut self) {
        // SAFETY: pipelines and sets created with the layouts are dropped or no longer in use; null is ignored.
        unsafe {
            self.context.device.destroy_pipeline_layout(self.pipeline, None);
            for set in self.sets.iter().skip(usize::from(self.tables.is_some())) {
                self.context.device.destroy_descriptor_set_layout(*set, None);
            }
        }
    }
}
