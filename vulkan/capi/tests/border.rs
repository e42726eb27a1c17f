//! Misuse from C: every case returns a result with a message.
#![allow(missing_docs)]

use ash::vk;
use skrymir_capi::*;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

fn message() -> String {
    // SAFETY: the text is this thread's and lives until its next failure.
    unsafe { CStr::from_ptr(skrymir_error_message()) }
        .to_str()
        .unwrap()
        .to_owned()
}

fn triangle() -> *mut Shader {
    let bytes = scene::sample::triangle().unwrap();
    let mut shader = null_mut();
    // SAFETY: the bytes are there; the place is valid.
    let loaded = unsafe { skrymir_shader_load(bytes.as_ptr(), bytes.len(), &mut shader) };
    assert_eq!(loaded, Result::Ok);
    shader
}

fn text_of(text: *mut std::ffi::c_char) -> String {
    // SAFETY: the library's text, not freed yet.
    let words = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    // SAFETY: as above, freed once.
    unsafe { skrymir_string_free(text) };
    words
}

#[test]
fn null_arguments_are_named() {
    let mut shader = null_mut();
    // SAFETY: NULL is the tested case.
    unsafe {
        assert_eq!(skrymir_shader_load(null(), 4, &mut shader), Result::Argument);
        assert_eq!(message(), "bytes is NULL");
        assert_eq!(skrymir_shader_load([0; 4].as_ptr(), 4, null_mut()), Result::Argument);
        assert_eq!(message(), "shader is NULL");
        assert_eq!(skrymir_shader_validate(null(), null_mut()), Result::Argument);
        assert_eq!(skrymir_context_create(null(), null_mut()), Result::Argument);
        assert_eq!(message(), "device is NULL");
        assert_eq!(skrymir_program_create(null(), null(), null_mut()), Result::Argument);
        assert_eq!(skrymir_pipeline_create(null(), null(), null_mut()), Result::Argument);
        assert_eq!(
            skrymir_program_set_layouts(null(), null_mut(), null_mut()),
            Result::Argument
        );
        assert_eq!(
            skrymir_program_descriptors(null(), null_mut(), null_mut()),
            Result::Argument
        );
        assert_eq!(
            skrymir_program_shader_stages(null(), null_mut(), null_mut()),
            Result::Argument
        );
        assert_eq!(skrymir_draw_submit(null(), null(), null_mut()), Result::Argument);
        assert_eq!(message(), "program is NULL");
        assert_eq!(skrymir_submission_is_done(null(), null_mut()), Result::Argument);
        assert_eq!(skrymir_submission_wait(null(), null_mut()), Result::Argument);
        assert_eq!(skrymir_frame_target(null(), 0, null_mut()), Result::Argument);
        assert_eq!(skrymir_frame_slot(null(), 0, null_mut()), Result::Argument);
        skrymir_submission_destroy(null_mut());
        skrymir_frame_destroy(null_mut());
        assert_eq!(
            skrymir_context_open(c"no such device".as_ptr(), null_mut()),
            Result::Argument
        );
        assert_eq!(skrymir_program_pipeline_layout(null()), vk::PipelineLayout::null());
        assert_eq!(skrymir_pipeline_handle(null()), vk::Pipeline::null());
        skrymir_shader_destroy(null_mut());
        skrymir_context_destroy(null_mut());
        skrymir_program_destroy(null_mut());
        skrymir_pipeline_destroy(null_mut());
        skrymir_string_free(null_mut());
    }
    assert!(shader.is_null());
}

#[test]
fn a_device_without_handles_is_refused() {
    let mut context = null_mut();
    let mut device = DeviceInfo {
        get_instance_proc_addr: None,
        instance: vk::Instance::null(),
        physical_device: vk::PhysicalDevice::null(),
        device: vk::Device::null(),
        features: null(),
        features11: null(),
        features12: null(),
        features13: null(),
        queue: vk::Queue::null(),
        queue_family: 0,
    };
    unsafe extern "system" fn nothing(_: vk::Instance, _: *const std::ffi::c_char) -> vk::PFN_vkVoidFunction {
        None
    }
    // SAFETY: no handle is used before all have been checked.
    unsafe {
        assert_eq!(skrymir_context_create(&device, &mut context), Result::Argument);
        assert_eq!(message(), "get_instance_proc_addr is NULL");
        device.get_instance_proc_addr = Some(nothing);
        assert_eq!(skrymir_context_create(&device, &mut context), Result::Argument);
        assert_eq!(message(), "instance is VK_NULL_HANDLE");
    }
    assert!(context.is_null());
}

#[test]
fn invalid_files_report_format_and_place() {
    let mut bytes = scene::sample::triangle().unwrap();
    let mut shader = null_mut();
    // SAFETY: the bytes are there; the place is valid.
    unsafe {
        assert_eq!(skrymir_shader_load(bytes.as_ptr(), 3, &mut shader), Result::Invalid);
        assert!(message().starts_with("vbc: "), "{}", message());
        assert!(shader.is_null());
        // Any change of one byte is accepted or rejected.
        for at in 0..bytes.len() {
            bytes[at] ^= 0x55;
            let mut shader = null_mut();
            if skrymir_shader_load(bytes.as_ptr(), bytes.len(), &mut shader) == Result::Ok {
                let mut report = null_mut();
                let result = skrymir_shader_validate(shader, &mut report);
                assert!(
                    matches!(result, Result::Ok | Result::Invalid),
                    "{at}: {result:?} {}",
                    message()
                );
                if !report.is_null() {
                    text_of(report);
                }
                let mut json = null_mut();
                if skrymir_shader_reflect(shader, &mut json) == Result::Ok {
                    text_of(json);
                }
                skrymir_shader_destroy(shader);
            }
            bytes[at] ^= 0x55;
        }
    }
}

#[test]
fn a_shader_is_described() {
    let shader = triangle();
    let (mut json, mut size, mut member) = (null_mut(), 7, UniformMember::default());
    // SAFETY: the shader is alive, the places are valid.
    unsafe {
        let mut report = null_mut();
        assert_eq!(skrymir_shader_validate(shader, &mut report), Result::Ok);
        assert_eq!(text_of(report), "");
        assert_eq!(skrymir_shader_reflect(shader, &mut json), Result::Ok);
        assert!(text_of(json).contains("VK_FORMAT_R32G32_SFLOAT"));
        assert_eq!(skrymir_shader_uniform_size(shader, &mut size), Result::Ok);
        assert_eq!(size, 0);
        let found = skrymir_shader_uniform_member(shader, c"tint".as_ptr(), &mut member);
        assert_eq!(found, Result::NotFound);
        assert_eq!(message(), "the shader has no uniform member \"tint\"");
        skrymir_shader_destroy(shader);
    }
}

#[test]
fn a_member_is_found_by_its_name() {
    let bytes = include_bytes!("uniform.vbc");
    let (mut shader, mut member) = (null_mut(), UniformMember::default());
    // SAFETY: the bytes are there, the places are valid.
    unsafe {
        assert_eq!(
            skrymir_shader_load(bytes.as_ptr(), bytes.len(), &mut shader),
            Result::Ok
        );
        assert_eq!(
            skrymir_shader_uniform_member(shader, c"tint".as_ptr(), &mut member),
            Result::Ok
        );
        skrymir_shader_destroy(shader);
    }
    assert_eq!((member.rows, member.columns, member.size), (4, 1, 16));
}

#[test]
fn messages_are_per_thread() {
    let mut shader = null_mut();
    // SAFETY: NULL is rejected.
    let failed = unsafe { skrymir_shader_load(null(), 1, &mut shader) };
    assert_eq!((failed, message().as_str()), (Result::Argument, "bytes is NULL"));
    std::thread::spawn(|| assert_eq!(message(), "")).join().unwrap();
    assert_eq!(message(), "bytes is NULL");
}

/// Objects may be used on any thread.
#[test]
fn objects_may_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Shader>();
    shared::<Context>();
    shared::<Program>();
    shared::<Pipeline>();
}
