//! Draws through the C interface: textures, samplers and uniforms equal the library's pictures, misuse is named.
#![allow(missing_docs)]

use ash::vk;
use scene::{Scene, harness};
use skrymir_capi::*;
use std::ffi::CStr;
use std::path::Path;
use std::ptr::{null, null_mut};

fn message() -> String {
    // SAFETY: the text is this thread's and lives until its next failure.
    let text = unsafe { CStr::from_ptr(skrymir_error_message()) };
    text.to_string_lossy().into_owned()
}

fn file() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vbc/textured.vbc");
    std::fs::read(path).expect("a sample")
}

/// Objects of the library, destroyed on drop.
struct Objects {
    context: *mut Context,
    shader: *mut Shader,
    program: *mut Program,
}

impl Objects {
    fn new() -> Self {
        let bytes = file();
        let (mut context, mut shader, mut program) = (null_mut(), null_mut(), null_mut());
        // SAFETY: the bytes and the places are valid.
        unsafe {
            assert_eq!(skrymir_context_open(null(), &mut context), Result::Ok, "{}", message());
            assert_eq!(
                skrymir_shader_load(bytes.as_ptr(), bytes.len(), &mut shader),
                Result::Ok
            );
            assert_eq!(skrymir_program_create(context, shader, &mut program), Result::Ok);
        }
        Self {
            context,
            shader,
            program,
        }
    }

    /// The uniform: an identity, white, no offset.
    fn uniform(&self) -> Vec<u8> {
        let identity: Vec<f32> = (0..16).map(|at| f32::from(u8::from(at % 5 == 0))).collect();
        let mut size = 0;
        // SAFETY: the shader is valid, and `size` lives through the call.
        let found = unsafe { skrymir_shader_uniform_size(self.shader, &mut size) };
        assert_eq!(found, Result::Ok);
        let mut block = vec![0; size as usize];
        for (name, values) in [(c"mvp", &identity[..]), (c"tint", &[1.0; 4]), (c"offset", &[0.0; 2])] {
            let mut member = UniformMember::default();
            // SAFETY: the shader and the name are valid.
            let found = unsafe { skrymir_shader_uniform_member(self.shader, name.as_ptr(), &mut member) };
            assert_eq!(found, Result::Ok, "{}", message());
            let start = member.offset as usize;
            block[start..start + values.len() * 4].copy_from_slice(&bytes_of(values));
        }
        block
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe {
            skrymir_program_destroy(self.program);
            skrymir_shader_destroy(self.shader);
            skrymir_context_destroy(self.context);
        }
    }
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A C structure of zeros.
fn zeroed<T>() -> T {
    // SAFETY: only called for structures of numbers and pointers, which may be zero.
    unsafe { std::mem::zeroed() }
}

/// Submits, waits, and returns the first target; or the result and the message.
fn draw(objects: &Objects, info: &DrawInfo) -> std::result::Result<Vec<u8>, (Result, String)> {
    let (mut submission, mut frame, mut pixels) = (null_mut(), null_mut(), zeroed::<Pixels>());
    // SAFETY: the objects are valid, and what the structure points to lives until the call returns.
    unsafe {
        match skrymir_draw_submit(objects.program, info, &mut submission) {
            Result::Ok => {}
            other => return Err((other, message())),
        }
        assert_eq!(
            skrymir_submission_wait(submission, &mut frame),
            Result::Ok,
            "{}",
            message()
        );
        let mut done = 0;
        assert_eq!(skrymir_submission_is_done(submission, &mut done), Result::Ok);
        assert_eq!(done, vk::TRUE);
        assert_eq!(skrymir_submission_wait(submission, &mut null_mut()), Result::Argument);
        assert_eq!(message(), "the submission was waited for already");
        skrymir_submission_destroy(submission);
        assert_eq!(skrymir_frame_target(frame, 7, &mut pixels), Result::NotFound);
        assert_eq!(skrymir_frame_slot(frame, 0, &mut pixels), Result::NotFound);
        assert_eq!(skrymir_frame_target(frame, 0, &mut pixels), Result::Ok);
        assert_eq!((pixels.width, pixels.format), (64, vk::Format::R8G8B8A8_UNORM));
        let bytes = std::slice::from_raw_parts(pixels.bytes, pixels.size).to_vec();
        skrymir_frame_destroy(frame);
        Ok(bytes)
    }
}

/// The library's picture of the same draw, with the slot's keys.
fn ours(keys: &str) -> Vec<u8> {
    let text = format!(
        "size = [64, 64]\n[inputs]\n0 = [[-1, -1, 0], [-1, 3, 0], [3, -1, 0]]\n1 = [[0, 0], [0, 4], [4, 0]]\n\
         [slots.0]\nsize = [2, 1]\ntexels = [1, 0, 0, 1, 0, 0, 1, 1]\n{keys}"
    );
    let context = vulkan::Context::new(&vulkan::Options::default()).expect("a Vulkan device");
    let drawn = harness::draw(&context, &file(), &Scene::parse(&text, Path::new("")).unwrap()).unwrap();
    drawn.frame.targets[0].bytes.clone()
}

#[test]
fn textures_and_samplers_are_the_librarys() {
    let objects = Objects::new();
    let uniform = objects.uniform();
    let positions = bytes_of(&[-1.0, -1.0, 0.0, -1.0, 3.0, 0.0, 3.0, -1.0, 0.0]);
    let coordinates = bytes_of(&[0.0, 0.0, 0.0, 4.0, 4.0, 0.0]);
    let texels = [255u8, 0, 0, 255, 0, 0, 255, 255];
    let data = |location, bytes: &[u8]| VertexData {
        location,
        bytes: bytes.as_ptr().cast(),
        size: bytes.len(),
    };
    let vertices = [data(0, &positions), data(1, &coordinates)];
    let image = ResourceData {
        bytes: texels.as_ptr().cast(),
        size: texels.len(),
        format: vk::Format::R8G8B8A8_UNORM,
        view_type: vk::ImageViewType::TYPE_2D,
        width: 2,
        ..zeroed()
    };
    let state = PipelineInfo {
        topology: vk::PrimitiveTopology::TRIANGLE_LIST,
        ..zeroed()
    };
    let info = |slot: &ResourceData| DrawInfo {
        state: &state,
        width: 64,
        height: 64,
        vertex_count: 3,
        vertex_data_count: 2,
        vertex_data: vertices.as_ptr(),
        uniform: uniform.as_ptr().cast(),
        uniform_size: uniform.len(),
        slot_count: 1,
        slots: slot,
        clear_color: [0.0, 0.0, 0.0, 1.0],
        ..zeroed()
    };
    let with = |sampler: &vk::SamplerCreateInfo<'static>| {
        let slot = ResourceData { sampler, ..image };
        draw(&objects, &info(&slot))
    };
    let plain = draw(&objects, &info(&image)).unwrap();
    assert!(plain == ours(""), "another picture without a sampler");
    let sampler = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_BORDER)
        .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let bordered = with(&sampler).unwrap();
    let keys = "mag-filter = \"linear\"\nwrap = \"border\"\nborder = \"opaque-white\"\nmax-lod = 0";
    assert!(bordered == ours(keys), "another picture with a sampler");
    assert!(bordered != plain, "the negative control passes");

    // Misuse.
    let refused = |wrong: std::result::Result<Vec<u8>, (Result, String)>, words: &str| {
        let (result, message) = wrong.expect_err(words);
        assert!(
            result == Result::Argument && message.contains(words),
            "{result:?}: {message}"
        );
    };
    let compares = sampler.compare_enable(true).compare_op(vk::CompareOp::LESS);
    refused(with(&compares), "a sampler that compares needs texels");
    let depths = ResourceData {
        format: vk::Format::D32_SFLOAT,
        ..image
    };
    refused(draw(&objects, &info(&depths)), "texels of D32_SFLOAT");
    let foreign = ResourceData {
        format: vk::Format::R5G6B5_UNORM_PACK16,
        ..image
    };
    refused(draw(&objects, &info(&foreign)), "texels of R5G6B5_UNORM_PACK16");
    let few = DrawInfo {
        vertex_data_count: 1,
        ..info(&image)
    };
    refused(draw(&objects, &few), "vertex input 1 is used but not given");
    let dynamic = vk::DynamicState::LINE_WIDTH;
    let state = PipelineInfo {
        dynamic_state_count: 1,
        dynamic_states: &dynamic,
        ..state
    };
    let set = DrawInfo {
        state: &state,
        ..info(&image)
    };
    refused(draw(&objects, &set), "a draw has no dynamic states");
    let stateless = DrawInfo {
        state: null(),
        ..info(&image)
    };
    refused(draw(&objects, &stateless), "state is NULL");
}
