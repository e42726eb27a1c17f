//! Set layouts, sets, and what is written to them.

use super::device::Device;
use super::objects::Objects;
use super::{Binding, Element, Sampler, Work};
use crate::error::{Call, Error, Result};
use ash::vk;
use std::collections::BTreeMap;

/// Whether a kind of descriptor is a buffer.
fn is_buffer(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    [
        T::UNIFORM_BUFFER,
        T::STORAGE_BUFFER,
        T::UNIFORM_BUFFER_DYNAMIC,
        T::STORAGE_BUFFER_DYNAMIC,
    ]
    .contains(&kind)
}

/// Whether a kind of descriptor has an offset that is given with each use.
fn is_dynamic(kind: vk::DescriptorType) -> bool {
    [
        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
    ]
    .contains(&kind)
}

/// Makes the layouts of all sets up to the last that is used, and the pipeline's.
pub(super) fn layouts(objects: &mut Objects, work: &Work<'_>) -> Result<()> {
    let context = objects.context.clone();
    let limits = &context.limits;
    let stages = work
        .stages
        .iter()
        .fold(vk::ShaderStageFlags::empty(), |all, one| all | one.stage);
    let mut sets: BTreeMap<u32, Vec<vk::DescriptorSetLayoutBinding<'_>>> = BTreeMap::new();
    for one in &work.bindings {
        let bindings = sets.entry(one.set).or_default();
        if bindings.iter().any(|other| other.binding == one.binding) {
            let message = format!("set {} binding {} is bound twice", one.set, one.binding);
            return Err(Error::data(message));
        }
        bindings.push(
            vk::DescriptorSetLayoutBinding::default()
                .binding(one.binding)
                .descriptor_type(one.kind)
                .descriptor_count(one.elements.len() as u32)
                .stage_flags(stages),
        );
    }
    let count = sets.keys().last().map_or(0, |last| u64::from(*last) + 1);
    if count > u64::from(limits.max_bound_descriptor_sets) {
        let most = limits.max_bound_descriptor_sets;
        return Err(Error::unsupported(format!(
            "{count} descriptor sets, the device has {most}"
        )));
    }
    if work.push.len() > limits.max_push_constants_size as usize {
        let most = limits.max_push_constants_size;
        return Err(Error::unsupported(format!(
            "{} bytes of push constants, the device has {most}",
            work.push.len()
        )));
    }
    for set in 0..count as u32 {
        let bindings = sets.remove(&set).unwrap_or_default();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: a valid create info; every binding stands in it once.
        let layout = unsafe { context.device.create_descriptor_set_layout(&info, None) };
        objects.set_layouts.push(layout.call("vkCreateDescriptorSetLayout")?);
    }
    let ranges = [vk::PushConstantRange {
        stage_flags: stages,
        offset: 0,
        size: work.push.len() as u32,
    }];
    let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&objects.set_layouts);
    if !work.push.is_empty() {
        info = info.push_constant_ranges(&ranges);
    }
    // SAFETY: the set layouts are alive, and the range is within the limit.
    objects.layout = unsafe { context.device.create_pipeline_layout(&info, None) }.call("vkCreatePipelineLayout")?;
    Ok(())
}

/// Sets with their descriptors written, and the dynamic offsets in the order that binding takes them.
pub(super) fn sets(
    objects: &mut Objects,
    work: &Work<'_>,
    device: &Device,
) -> Result<(Vec<vk::DescriptorSet>, Vec<u32>)> {
    if objects.set_layouts.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let context = objects.context.clone();
    let mut sizes: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
    for one in &work.bindings {
        *sizes.entry(one.kind).or_default() += one.elements.len() as u32;
    }
    let size = |(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count };
    let sizes: Vec<_> = sizes.into_iter().map(size).collect();
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(objects.set_layouts.len() as u32)
        .pool_sizes(&sizes);
    // SAFETY: plain creation; the layouts are alive.
    let sets = unsafe {
        objects.pool = context
            .device
            .create_descriptor_pool(&info, None)
            .call("vkCreateDescriptorPool")?;
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(objects.pool)
            .set_layouts(&objects.set_layouts);
        context
            .device
            .allocate_descriptor_sets(&info)
            .call("vkAllocateDescriptorSets")?
    };
    let mut dynamic = Vec::new();
    for binding in &work.bindings {
        for (at, element) in binding.elements.iter().enumerate() {
            let place = |error: Error| error.within(format!("set {} binding {}", binding.set, binding.binding));
            write(objects, device, sets[binding.set as usize], binding, at as u32, element).map_err(place)?;
            if is_dynamic(binding.kind) {
                dynamic.push(((binding.set, binding.binding, at), element.dynamic));
            }
        }
    }
    dynamic.sort_by_key(|(place, _)| *place);
    Ok((sets, dynamic.into_iter().map(|(_, offset)| offset).collect()))
}

fn write(
    objects: &mut Objects,
    device: &Device,
    set: vk::DescriptorSet,
    binding: &Binding,
    at: u32,
    element: &Element,
) -> Result<()> {
    use vk::DescriptorType as T;
    let context = objects.context.clone();
    let target = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(binding.binding)
        .dst_array_element(at)
        .descriptor_type(binding.kind);
    let mut buffers = [vk::DescriptorBufferInfo::default()];
    let mut images = [vk::DescriptorImageInfo::default()];
    let mut texels = [vk::BufferView::null()];
    let resource = || element.resource.ok_or_else(|| Error::data("nothing is bound"));
    if let Some(sampler) = &element.sampler {
        images[0].sampler = create_sampler(objects, sampler)?;
    }
    let write = if is_buffer(binding.kind) {
        let buffer = device.buffer(resource()?)?;
        check_range(&context.limits, binding.kind, element, buffer.size)?;
        let range = match element.range {
            Some(range) => range,
            None if is_dynamic(binding.kind) => buffer.size - element.offset - u64::from(element.dynamic),
            None => vk::WHOLE_SIZE,
        };
        buffers[0] = vk::DescriptorBufferInfo {
            buffer: buffer.raw,
            offset: element.offset,
            range,
        };
        target.buffer_info(&buffers)
    } else if [T::UNIFORM_TEXEL_BUFFER, T::STORAGE_TEXEL_BUFFER].contains(&binding.kind) {
        let buffer = device.buffer(resource()?)?;
        let feature = match binding.kind {
            T::UNIFORM_TEXEL_BUFFER => vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER,
            _ => vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER,
        };
        if !context
            .format_properties(element.format)
            .buffer_features
            .contains(feature)
        {
            return Err(Error::unsupported(format!("texel buffers of {:?}", element.format)));
        }
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer.raw)
            .format(element.format)
            .offset(element.offset)
            .range(element.range.unwrap_or(vk::WHOLE_SIZE));
        // SAFETY: the buffer has memory and both usages of texel buffers.
        let view = unsafe { context.device.create_buffer_view(&info, None) }.call("vkCreateBufferView")?;
        objects.texel_views.push(view);
        texels[0] = view;
        target.texel_buffer_view(&texels)
    } else {
        if binding.kind != T::SAMPLER {
            let resource = resource()?;
            images[0].image_view = device.view(objects, resource, element.level, binding.kind == T::STORAGE_IMAGE)?;
            images[0].image_layout = device.layout(resource);
        }
        target.image_info(&images)
    };
    // SAFETY: set, binding and element are of the layout the set was allocated with; the resource is alive.
    unsafe { context.device.update_descriptor_sets(&[write], &[]) };
    Ok(())
}

/// Offsets as the device aligns them, and ranges within the buffer and the limits.
fn check_range(
    limits: &vk::PhysicalDeviceLimits,
    kind: vk::DescriptorType,
    element: &Element,
    size: u64,
) -> Result<()> {
    use vk::DescriptorType as T;
    let uniform = [T::UNIFORM_BUFFER, T::UNIFORM_BUFFER_DYNAMIC].contains(&kind);
    let (alignment, most) = match uniform {
        true => (
            limits.min_uniform_buffer_offset_alignment,
            limits.max_uniform_buffer_range,
        ),
        false => (
            limits.min_storage_buffer_offset_alignment,
            limits.max_storage_buffer_range,
        ),
    };
    for offset in [element.offset, u64::from(element.dynamic)] {
        if !offset.is_multiple_of(alignment.max(1)) {
            return Err(Error::unsupported(format!(
                "an offset of {offset}, the device aligns to {alignment}"
            )));
        }
    }
    let start = element.offset.saturating_add(element.dynamic.into());
    let range = element.range.unwrap_or(size.saturating_sub(start));
    if start >= size || range == 0 || start.saturating_add(range) > size {
        return Err(Error::data(format!("{range} bytes from {start} of a buffer of {size}")));
    }
    if range > u64::from(most) {
        return Err(Error::unsupported(format!("{range} bytes, the device takes {most}")));
    }
    Ok(())
}

fn create_sampler(objects: &mut Objects, sampler: &Sampler) -> Result<vk::Sampler> {
    let [u, v, w] = sampler.address;
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(sampler.mag)
        .min_filter(sampler.min)
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .border_color(sampler.border)
        .min_lod(sampler.lod[0])
        .max_lod(sampler.lod[1])
        .unnormalized_coordinates(sampler.unnormalized)
        .compare_enable(sampler.compare.is_some())
        .compare_op(sampler.compare.unwrap_or(vk::CompareOp::NEVER));
    // SAFETY: a valid create info.
    let sampler = unsafe { objects.context.device.create_sampler(&info, None) }.call("vkCreateSampler")?;
    objects.samplers.push(sampler);
    Ok(sampler)
}
