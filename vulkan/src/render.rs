//! A single draw, from plain data to plain data.

use crate::cache::PipelineCache;
use crate::draw::{Draw, Frame, FrameTiming};
use crate::error::{Error, Result};
use crate::memory::{Buffer, Image, ImageDesc};
use crate::pipeline::{Attachments, Pipeline};
use crate::program::{Output, Program, ProgramInner};
use crate::readback::Readback;
use crate::record::{Bindings, Uploads, Use, upload_image};
use crate::state;
use crate::submit::{Submission, submit};
use crate::texture::aspects;
use ash::vk;
use gpu_allocator::MemoryLocation;
use loader::vbc::DescriptorKind;
use std::time::{Duration, Instant};

/// Everything that a submission uses until the device is done; fields drop in this order.
struct Job {
    pipeline: Pipeline,
    bindings: Bindings,
    vertices: Vec<Buffer>,
    /// One sample per pixel: what was drawn, or what it was resolved to.
    targets: Vec<(Output, Image)>,
    _multisampled: Vec<(Output, Image)>,
    _depth: Option<Image>,
    _inputs: Vec<Image>,
    readback: Readback,
    program: Program,
}

/// Uploads the draw's data, draws, and reads the targets back.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if the data does not match the shader,
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if it exceeds the device.
pub fn render(program: &Program, draw: &Draw, cache: Option<&PipelineCache>) -> Result<Submission<Frame>> {
    let inner = &program.inner;
    let context = inner.context.clone();
    check(inner, draw)?;
    let mut timing = FrameTiming::default();
    let mut clock = Instant::now();
    let mut uploads = Uploads::default();
    let targets = targets(inner, draw, vk::SampleCountFlags::TYPE_1)?;
    let multisampled = match draw.multisample.samples {
        vk::SampleCountFlags::TYPE_1 => Vec::new(),
        samples => self::targets(inner, draw, samples)?,
    };
    let depth = depth(inner, draw)?;
    let inputs = inputs(inner, draw, &mut uploads)?;
    let vertices = vertices(inner, draw, &mut uploads)?;
    let bindings = Bindings::new(inner, draw, &inputs, &mut uploads)?;
    timing.resources = lap(&mut clock);
    let (drawn, resolves) = match multisampled.is_empty() {
        true => (&targets, &multisampled),
        false => (&multisampled, &targets),
    };
    let attachments = Attachments {
        targets: drawn,
        depth: depth.as_ref(),
        inputs: &inputs,
        resolves,
    };
    let pipeline = Pipeline::new(inner, draw, &attachments, cache)?;
    timing.pipeline = lap(&mut clock);
    let readback = Readback::new(&context, draw, &targets, &bindings.slots)?;
    let job = Job {
        pipeline,
        bindings,
        vertices,
        targets,
        _multisampled: multisampled,
        _depth: depth,
        _inputs: inputs,
        readback,
        program: program.clone(),
    };
    // The job and its staging memory are shared by recording and finishing, and end with the submission.
    let shared = std::sync::Arc::new((job, std::sync::Mutex::new(None)));
    let finishing = shared.clone();
    submit(
        &context,
        |commands| {
            let (job, staging) = &*shared;
            *staging.lock().expect("just made") = Some(uploads.record(&context, commands, inner.pipeline_stages())?);
            record(job, draw, commands);
            Ok(())
        },
        move || {
            timing.draw = lap(&mut clock);
            let mut frame = finishing.0.readback.frame()?;
            timing.read_back = lap(&mut clock);
            frame.timing = timing;
            Ok(frame)
        },
    )
}

/// Time since the last lap.
fn lap(clock: &mut Instant) -> Duration {
    let now = Instant::now();
    now - std::mem::replace(clock, now)
}

fn check(program: &ProgramInner, draw: &Draw) -> Result<()> {
    if program.has_tables {
        return Err(Error::data("a program for an engine's tables draws with these tables"));
    }
    let limits = &program.context.limits;
    let [width, height] = draw.size;
    let most = limits
        .max_framebuffer_width
        .min(limits.max_framebuffer_height)
        .min(limits.max_image_dimension2_d);
    if width == 0 || height == 0 {
        return Err(Error::data(format!("a picture of {width}x{height}")));
    }
    if width > most || height > most {
        return Err(Error::unsupported(format!(
            "a picture of {width}x{height}, the device has {most}"
        )));
    }
    Ok(())
}

fn targets(program: &ProgramInner, draw: &Draw, samples: vk::SampleCountFlags) -> Result<Vec<(Output, Image)>> {
    let mut targets = Vec::new();
    for output in &program.outputs {
        let format = output.format(draw.target).vk()?;
        let blend = state::attachment(draw.blend, &draw.color_blend, *output);
        let needed = match blend.blend_enable != vk::FALSE {
            true => vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND,
            false => vk::FormatFeatureFlags::COLOR_ATTACHMENT,
        };
        if !program
            .context
            .format_properties(format)
            .optimal_tiling_features
            .contains(needed)
        {
            return Err(Error::unsupported(format!(
                "render targets of {format:?} as {needed:?}"
            )));
        }
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let desc = ImageDesc {
            samples,
            ..ImageDesc::flat(format, draw.size, usage)
        };
        let name = match samples {
            vk::SampleCountFlags::TYPE_1 => format!("target {}", output.location),
            _ => format!("multisampled target {}", output.location),
        };
        targets.push((*output, attachment(program, &name, desc)?));
    }
    Ok(targets)
}

/// An image to draw to; the device's support of several samples depends on all that it is.
fn attachment(program: &ProgramInner, name: &str, desc: ImageDesc) -> Result<Image> {
    if desc.samples != vk::SampleCountFlags::TYPE_1 {
        desc.check(&program.context)?;
    }
    Image::new(&program.context, name, desc)
}

/// Formats of depth buffers, and of those with a stencil; every Vulkan device has one of each row as an attachment.
const DEPTH_FORMATS: [&[vk::Format]; 2] = [
    &[vk::Format::D32_SFLOAT],
    &[vk::Format::D32_SFLOAT_S8_UINT, vk::Format::D24_UNORM_S8_UINT],
];

fn depth(program: &ProgramInner, draw: &Draw) -> Result<Option<Image>> {
    if draw.depth.is_none() && draw.stencil.is_none() {
        return Ok(None);
    }
    let formats = DEPTH_FORMATS[usize::from(draw.stencil.is_some())];
    let has = |format: &&vk::Format| {
        let features = program.context.format_properties(**format).optimal_tiling_features;
        features.contains(vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT)
    };
    let format = *formats.iter().find(has).unwrap_or(&formats[0]);
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let aspects = aspects(format, 0).into_iter().map(|(aspect, _)| aspect);
    let desc = ImageDesc {
        aspect: aspects.fold(vk::ImageAspectFlags::empty(), |all, aspect| all | aspect),
        samples: draw.multisample.samples,
        ..ImageDesc::flat(format, draw.size, usage)
    };
    attachment(program, "depth", desc).map(Some)
}

/// Images of the subpass inputs, up to the last one the code reads.
fn inputs(program: &ProgramInner, draw: &Draw, uploads: &mut Uploads) -> Result<Vec<Image>> {
    let of_kind = program
        .bound
        .values()
        .filter(|bound| bound.resource.kind == DescriptorKind::InputAttachment);
    let count = of_kind
        .map(|bound| bound.resource.binding as usize + 1)
        .max()
        .unwrap_or(0);
    let mut inputs = Vec::new();
    for index in 0..count {
        let texels = draw.subpass.get(index);
        let texels = texels.ok_or_else(|| Error::data(format!("subpass input {index} is used but not given")))?;
        if texels.extent[..2] != draw.size {
            return Err(Error::data(format!(
                "subpass input {index} is not of the picture's size"
            )));
        }
        inputs.push(upload_image(
            &program.context,
            &format!("subpass input {index}"),
            texels,
            Use::Input,
            uploads,
        )?);
    }
    Ok(inputs)
}

fn vertices(program: &ProgramInner, draw: &Draw, uploads: &mut Uploads) -> Result<Vec<Buffer>> {
    let mut buffers = Vec::new();
    for input in &program.inputs {
        let location = input.location;
        let data = draw.vertex_data.get(&location);
        let data = data.ok_or_else(|| Error::data(format!("vertex input {location} is used but not given")))?;
        let wanted = u64::from(draw.vertices) * u64::from(input.stride());
        if (data.len() as u64) < wanted {
            let have = data.len() as u64 / u64::from(input.stride()).max(1);
            let message = format!(
                "vertex input {location} holds {have} vertices, {} are drawn",
                draw.vertices
            );
            return Err(Error::data(message));
        }
        let usage = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let name = format!("vertex input {location}");
        let buffer = Buffer::new(
            &program.context,
            &name,
            data.len() as u64,
            usage,
            MemoryLocation::GpuOnly,
        )?;
        uploads.buffer(&buffer, data);
        buffers.push(buffer);
    }
    Ok(buffers)
}

fn clear_value(output: Output, clear: [f32; 4]) -> vk::ClearValue {
    let color = match output.class {
        loader::vbc::TexelType::INT => vk::ClearColorValue {
            int32: clear.map(|value| value as i32),
        },
        loader::vbc::TexelType::UINT => vk::ClearColorValue {
            uint32: clear.map(|value| value as u32),
        },
        _ => vk::ClearColorValue { float32: clear },
    };
    vk::ClearValue { color }
}

fn record(job: &Job, draw: &Draw, commands: vk::CommandBuffer) {
    let program = &job.program.inner;
    let device = &program.context.device;
    let mut clears: Vec<_> = job
        .targets
        .iter()
        .map(|(output, _)| {
            let own = draw.clears.get(&output.location);
            clear_value(*output, own.copied().unwrap_or(draw.clear))
        })
        .collect();
    if draw.depth.is_some() || draw.stencil.is_some() {
        let depth_stencil = vk::ClearDepthStencilValue {
            depth: draw.depth.map_or(1.0, |depth| depth.clear),
            stencil: draw.stencil.map_or(0, |stencil| stencil.clear & 0xff),
        };
        clears.push(vk::ClearValue { depth_stencil });
    }
    let extent = vk::Extent2D {
        width: draw.size[0],
        height: draw.size[1],
    };
    let area = vk::Rect2D {
        offset: vk::Offset2D::default(),
        extent,
    };
    let viewport = vk::Viewport {
        x: 0.0,
        y: 0.0,
        width: extent.width as f32,
        height: extent.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    let begin = vk::RenderPassBeginInfo::default()
        .render_pass(job.pipeline.pass)
        .framebuffer(job.pipeline.framebuffer)
        .render_area(area)
        .clear_values(&clears);
    let buffers: Vec<_> = job.vertices.iter().map(|buffer| buffer.raw).collect();
    let offsets = vec![0; buffers.len()];
    let point = vk::PipelineBindPoint::GRAPHICS;
    let layout = program.layouts.pipeline;
    // SAFETY: recording is open; pipeline, pass, sets and buffers are compatible, their sizes were checked against the
    // draw, and the job keeps them until the device is done.
    unsafe {
        device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
        device.cmd_bind_pipeline(commands, point, job.pipeline.raw);
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[area]);
        if !buffers.is_empty() {
            device.cmd_bind_vertex_buffers(commands, 0, &buffers, &offsets);
        }
        if !job.bindings.sets.is_empty() {
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &job.bindings.sets, &[]);
        }
        if let Some(push) = program.push {
            device.cmd_push_constants(commands, layout, push.stage_flags, 0, &job.bindings.push);
        }
        for _ in 0..draw.draws {
            device.cmd_draw(commands, draw.vertices, draw.instances, 0, 0);
        }
        device.cmd_end_render_pass(commands);
    }
    job.readback.record(
        &program.context,
        commands,
        &job.targets,
        &job.bindings.slots,
        program.pipeline_stages(),
    );
}
