//! The C interface of Skrymir: VBC shaders on the caller's Vulkan device.
//!
//! A C or C++ program loads a file ([`skrymir_shader_load`]), validates it ([`skrymir_shader_validate`]), reads its
//! reflection ([`skrymir_shader_reflect`]), passes its Vulkan device ([`skrymir_context_create`]), and gets descriptor
//! set layouts, a pipeline layout and pipelines ([`skrymir_program_create`], [`skrymir_pipeline_create`]), or shader stages
//! for pipelines that it creates itself ([`skrymir_program_shader_stages`]). The program itself creates descriptors and
//! buffers, and draws; [`skrymir_draw_submit`] draws from plain data to plain data. `include/skrymir.h` is the header, and
//! `examples/capi` in the repository has programs that draw.
//!
//! # Conventions
//!
//! * Every function that can fail returns a [`Result`]; [`skrymir_error_message`] has the message, per thread.
//! * Pointers are checked for NULL, enumerations for known values; sizes and handles are trusted.
//! * No panic crosses the boundary: a panic of the library is [`Result::Panic`].
//! * The caller owns objects from `skrymir_..._create` and `skrymir_shader_load`, and destroys them with the function
//!   of that name, in any order: objects keep what they are made from. The caller's instance and device must outlive
//!   them.
//! * Any number of threads may use one object at once.
//!
//! A caller in a language with a C interface, here Rust:
//!
//! ```
//! use skrymir_capi::{Result, skrymir_error_message, skrymir_shader_destroy, skrymir_shader_load, skrymir_shader_uniform_size};
//! use std::ffi::CStr;
//! use std::ptr::null_mut;
//!
//! # let path = "../../tests/data/vbc/textured.vbc";
//! let bytes = std::fs::read(path).expect("a file");
//! let (mut shader, mut size) = (null_mut(), 0);
//! // SAFETY: the pointers are to what they say, and the shader is destroyed once.
//! unsafe {
//!     assert_eq!(skrymir_shader_load(bytes.as_ptr(), bytes.len(), &mut shader), Result::Ok);
//!     assert_eq!(skrymir_shader_uniform_size(shader, &mut size), Result::Ok);
//!     skrymir_shader_destroy(shader);
//!     assert_eq!(size, 88);
//!
//!     assert_eq!(skrymir_shader_load(bytes.as_ptr(), 100, &mut shader), Result::Invalid);
//!     let message = CStr::from_ptr(skrymir_error_message()).to_string_lossy();
//!     assert!(message.starts_with("vbc: "), "{message}");
//! }
//! ```

mod border;
mod context;
mod draw;
mod pipeline;
mod program;
mod shader;

pub use border::{Result, skrymir_error_message, skrymir_string_free, skrymir_version};
pub use context::{
    Context, DeviceInfo, GetInstanceProcAddr, skrymir_context_create, skrymir_context_destroy, skrymir_context_open,
};
pub use draw::{
    DrawInfo, Frame, Pixels, ResourceData, Submission, VertexData, skrymir_draw_submit, skrymir_frame_destroy,
    skrymir_frame_slot, skrymir_frame_target, skrymir_submission_destroy, skrymir_submission_is_done,
    skrymir_submission_wait,
};
pub use pipeline::{
    Blend, Pipeline, PipelineInfo, VertexBuffers, VkPipeline, skrymir_pipeline_create, skrymir_pipeline_destroy,
    skrymir_pipeline_handle, skrymir_program_vertex_input,
};
pub use program::{
    Descriptor, NO_SLOT, Program, skrymir_program_create, skrymir_program_descriptors, skrymir_program_destroy,
    skrymir_program_pipeline_layout, skrymir_program_set_layouts, skrymir_program_shader_stages,
};
pub use shader::{
    Shader, UniformMember, skrymir_shader_destroy, skrymir_shader_load, skrymir_shader_reflect,
    skrymir_shader_uniform_member, skrymir_shader_uniform_size, skrymir_shader_validate,
};
