//! Draws from plain data to plain data.

use crate::border::{Failure, Result, border, destroy, given, put, put_object, slice};
use crate::pipeline::{PipelineInfo, state};
use crate::program::Program;
use ash::vk;
use std::ffi::c_void;
use std::sync::Mutex;
use vulkan::{Dim, Draw, SamplerDesc, SlotData, TexelFormat, Texels};

/// Bytes of a vertex input for all vertices, tightly packed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VertexData {
    /// The input's location.
    pub location: u32,
    /// The bytes.
    pub bytes: *const c_void,
    /// Their number.
    pub size: usize,
}

/// Contents of a slot or of a subpass input: an image if `width` is not 0, else a texel buffer if there is a format, else a
/// buffer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceData {
    /// The slot; the index of a subpass input.
    pub slot: u32,
    /// The bytes: texels are tightly packed, x fastest, then y, z, layer, level.
    pub bytes: *const c_void,
    /// Their number.
    pub size: usize,
    /// Format of the texels; depths where the sampler compares.
    pub format: vk::Format,
    /// Shape of the image.
    pub view_type: vk::ImageViewType,
    /// Width of the image.
    pub width: u32,
    /// Height of the image; 0 is 1.
    pub height: u32,
    /// Depth of the image; 0 is 1.
    pub depth: u32,
    /// Layers of the image; 0 is 1.
    pub layers: u32,
    /// Levels of the image; 0 is 1.
    pub levels: u32,
    /// Sampler of the image, without flags and extensions; NULL is nearest and repeating. One that compares takes depths:
    /// VK_FORMAT_D32_SFLOAT or VK_FORMAT_D16_UNORM.
    pub sampler: *const vk::SamplerCreateInfo<'static>,
}

/// A draw to new targets. Zero is a good default for all except size, vertices and state.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DrawInfo {
    /// Pipeline state; its target, dynamic states and vertex buffers are not used.
    pub state: *const PipelineInfo,
    /// Width of the picture.
    pub width: u32,
    /// Height of the picture.
    pub height: u32,
    /// Vertices.
    pub vertex_count: u32,
    /// Instances; 0 is 1.
    pub instance_count: u32,
    /// Format of float targets of four components: VK_FORMAT_R8G8B8A8_UNORM, or VK_FORMAT_R32G32B32A32_SFLOAT; 0 is the first.
    pub color_format: vk::Format,
    /// Clear colour of all targets.
    pub clear_color: [f32; 4],
    /// Clear depth.
    pub clear_depth: f32,
    /// Clear stencil, 8 bits.
    pub clear_stencil: u32,
    /// Number of vertex inputs.
    pub vertex_data_count: u32,
    /// Every vertex input that the code reads.
    pub vertex_data: *const VertexData,
    /// The uniform block.
    pub uniform: *const c_void,
    /// Its bytes.
    pub uniform_size: usize,
    /// Number of slots.
    pub slot_count: u32,
    /// Every slot that the code uses.
    pub slots: *const ResourceData,
    /// Number of subpass inputs.
    pub subpass_count: u32,
    /// Subpass inputs of the picture's size.
    pub subpass: *const ResourceData,
    /// Number of slots to read back.
    pub read_slot_count: u32,
    /// Slots to read back.
    pub read_slots: *const u32,
}

/// A draw that the device works on.
pub struct Submission(Mutex<Option<vulkan::Submission<vulkan::Frame>>>);

/// The result of a draw.
pub struct Frame(vulkan::Frame);

/// Bytes of a frame, which owns them: a target, or a slot that was read back.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pixels {
    /// The output's location; the slot.
    pub location: u32,
    /// Format of a pixel; VK_FORMAT_UNDEFINED for slots.
    pub format: vk::Format,
    /// Width; 0 for slots.
    pub width: u32,
    /// Height; 0 for slots.
    pub height: u32,
    /// Rows from the top, tightly packed.
    pub bytes: *const u8,
    /// Number of bytes.
    pub size: usize,
}

/// Uploads a draw's data and submits the draw; the data may be freed afterwards. Data that does not match the shader is
/// SKRYMIR_RESULT_ARGUMENT.
///
/// # Safety
/// `program` is valid; `info` is NULL, or its pointers are valid for as many elements as their counts say; `submission`
/// points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_draw_submit(
    program: *const Program,
    info: *const DrawInfo,
    submission: *mut *mut Submission,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let (program, info) = unsafe { (given(program, "program")?, given(info, "info")?) };
        // SAFETY: guaranteed by the caller.
        let draw = unsafe { draw(info) }?;
        if program.0.context().queue().0 == vk::Queue::null() {
            return Err(Failure::argument("the context's device has no queue"));
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            put_object(submission, "submission", || {
                let submitted = vulkan::render(&program.0, &draw, None)?;
                Ok(Submission(Mutex::new(Some(submitted))))
            })
        }
    })
}

/// Whether the device is done with a submission. One that was waited for is done.
///
/// # Safety
/// `submission` is valid; `done` points to writable memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_submission_is_done(submission: *const Submission, done: *mut vk::Bool32) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let submission = unsafe { given(submission, "submission") }?;
        let open = submission.0.lock().expect("no panic while waiting");
        let is_done = open.as_ref().map_or(Ok(true), vulkan::Submission::is_done);
        // SAFETY: guaranteed by the caller.
        unsafe { put(done, "done", || Ok(is_done?.into())) }
    })
}

/// Waits for the device, once per submission, and returns the frame.
///
/// # Safety
/// `submission` is valid; `frame` points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_submission_wait(submission: *const Submission, frame: *mut *mut Frame) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let submission = unsafe { given(submission, "submission") }?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            put_object(frame, "frame", || {
                let open = submission.0.lock().expect("no panic while waiting").take();
                let open = open.ok_or_else(|| Failure::argument("the submission was waited for already"))?;
                Ok(Frame(open.wait()?))
            })
        }
    })
}

/// Destroys a submission, after waiting for the device.
///
/// # Safety
/// NULL, or valid and not used by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_submission_destroy(submission: *mut Submission) {
    // SAFETY: guaranteed by the caller.
    unsafe { destroy(submission) }
}

/// The target of an output's location; SKRYMIR_RESULT_NOT_FOUND if the shader has no such output.
///
/// # Safety
/// `frame` is valid; `pixels` points to writable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_frame_target(frame: *const Frame, location: u32, pixels: *mut Pixels) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let frame = unsafe { given(frame, "frame") }?;
        let mut targets = frame.0.targets.iter();
        let target = targets.find(|target| u32::from(target.location) == location);
        let found = || {
            let target = target.ok_or_else(|| not_found("target", location))?;
            Ok(Pixels {
                location,
                format: target.format.vk()?,
                width: target.size[0],
                height: target.size[1],
                bytes: target.bytes.as_ptr(),
                size: target.bytes.len(),
            })
        };
        // SAFETY: guaranteed by the caller.
        unsafe { put(pixels, "pixels", found) }
    })
}

/// The bytes of a slot that was read back; SKRYMIR_RESULT_NOT_FOUND if it was not.
///
/// # Safety
/// `frame` is valid; `bytes` points to writable memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_frame_slot(frame: *const Frame, slot: u32, bytes: *mut Pixels) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let frame = unsafe { given(frame, "frame") }?;
        let found = || {
            let number = u8::try_from(slot).ok();
            let read = number.and_then(|number| frame.0.slots.get(&number));
            let read = read.ok_or_else(|| not_found("slot", slot))?;
            Ok(Pixels {
                location: slot,
                format: vk::Format::UNDEFINED,
                width: 0,
                height: 0,
                bytes: read.as_ptr(),
                size: read.len(),
            })
        };
        // SAFETY: guaranteed by the caller.
        unsafe { put(bytes, "bytes", found) }
    })
}

/// Destroys a frame, and the bytes that it owns.
///
/// # Safety
/// NULL, or valid and not used by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_frame_destroy(frame: *mut Frame) {
    // SAFETY: guaranteed by the caller.
    unsafe { destroy(frame) }
}

fn not_found(what: &str, number: u32) -> Failure {
    Failure(Result::NotFound, format!("the frame has no {what} {number}"))
}

/// # Safety
/// The pointers are valid for as many elements as their counts say.
unsafe fn draw(info: &DrawInfo) -> std::result::Result<Draw, Failure> {
    // SAFETY: guaranteed by the caller.
    let mut state = unsafe { state(given(info.state, "state")?) }?;
    if !state.dynamic.is_empty() {
        return Err(Failure::argument("a draw has no dynamic states"));
    }
    if let Some(depth) = &mut state.depth {
        // NaN is 0 too.
        depth.clear = match info.clear_depth {
            given if given > 0.0 => given.min(1.0),
            _ => 0.0,
        };
    }
    if let Some(stencil) = &mut state.stencil {
        stencil.clear = info.clear_stencil;
    }
    let target = match info.color_format {
        vk::Format::UNDEFINED | vk::Format::R8G8B8A8_UNORM => TexelFormat::RGBA8,
        vk::Format::R32G32B32A32_SFLOAT => TexelFormat::RGBA32F,
        other => return Err(Failure::argument(format!("color_format {other:?}"))),
    };
    let mut draw = Draw {
        size: [info.width, info.height],
        vertices: info.vertex_count,
        instances: info.instance_count.max(1),
        clear: info.clear_color,
        target,
        ..Draw::default()
    };
    draw.set_state(&state);
    // SAFETY: guaranteed by the caller, for all pointers here.
    unsafe {
        draw.uniform = bytes(info.uniform, info.uniform_size, "uniform")?;
        for one in slice(info.vertex_data, info.vertex_data_count as usize, "vertex_data")? {
            let given = bytes(one.bytes, one.size, "vertex_data")?;
            draw.vertex_data.insert(number("vertex input", one.location)?, given);
        }
        for one in slice(info.slots, info.slot_count as usize, "slots")? {
            draw.slots.insert(number("slot", one.slot)?, slot(one)?);
        }
        for one in slice(info.subpass, info.subpass_count as usize, "subpass")? {
            draw.subpass.push(texels(one, texel_format(one.format)?)?);
        }
        for one in slice(info.read_slots, info.read_slot_count as usize, "read_slots")? {
            draw.read_slots.push(number("slot", *one)?);
        }
    }
    Ok(draw)
}

fn number(what: &str, number: u32) -> std::result::Result<u8, Failure> {
    u8::try_from(number).map_err(|_| Failure::argument(format!("{what} {number}; there are 0 to 255")))
}

/// # Safety
/// See [`draw`].
unsafe fn bytes(bytes: *const c_void, size: usize, name: &str) -> std::result::Result<Vec<u8>, Failure> {
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { slice(bytes.cast::<u8>(), size, name) }?.to_vec())
}

/// # Safety
/// See [`draw`].
unsafe fn slot(given: &ResourceData) -> std::result::Result<SlotData, Failure> {
    // SAFETY: guaranteed by the caller, for all calls here.
    unsafe {
        if given.width != 0 {
            let sampler = given.sampler.as_ref();
            let sampler = sampler.map_or(Ok(SamplerDesc::default()), SamplerDesc::try_from)?;
            let depths = sampler.compare.and_then(|_| TexelFormat::of_depth(given.format));
            let format = depths.map_or_else(|| texel_format(given.format), Ok)?;
            return Ok(SlotData::Image(texels(given, format)?, sampler));
        }
        let bytes = bytes(given.bytes, given.size, "slots")?;
        match given.format {
            vk::Format::UNDEFINED => Ok(SlotData::Buffer(bytes)),
            format => Ok(SlotData::Texels {
                format: texel_format(format)?,
                bytes,
            }),
        }
    }
}

fn texel_format(format: vk::Format) -> std::result::Result<TexelFormat, Failure> {
    TexelFormat::of(format).ok_or_else(|| Failure::argument(format!("texels of {format:?}")))
}

/// # Safety
/// See [`draw`].
unsafe fn texels(given: &ResourceData, format: TexelFormat) -> std::result::Result<Texels, Failure> {
    let dim = Dim::of_view(given.view_type);
    Ok(Texels {
        dim: dim.ok_or_else(|| Failure::argument(format!("view_type {:?}", given.view_type)))?,
        format,
        extent: [given.width, given.height.max(1), given.depth.max(1)],
        layers: given.layers.max(1),
        levels: given.levels.max(1),
        // SAFETY: guaranteed by the caller.
        bytes: unsafe { bytes(given.bytes, given.size, "texels") }?,
    })
}
