//! The C interface of Skrymir: VBC shaders on a Vulkan device of the caller's.
//!
//! A C or C++ program loads a file ([`skrymir_shader_load`]), has it checked ([`skrymir_shader_validate`]) and
//! described ([`skrymir_shader_reflect`]), hands over its own Vulkan device ([`skrymir_context_create`]), and gets
//! descriptor set layouts, a pipeline layout and pipelines on it ([`skrymir_program_create`],
//! [`skrymir_pipeline_create`]); descriptors, buffers and draws are its own. `include/skrymir.h` is the header, and
//! `examples/capi` in the repository a program that draws.
//!
//! # The border
//!
//! * Every function that can fail returns a [`Result`]; [`skrymir_error_message`] has the words, per thread.
//! * Pointers are checked for NULL, enumerations for known numbers; sizes and handles are the caller's word.
//! * Nothing panics across the border: a panic of the library is [`Result::Panic`].
//! * What `skrymir_..._create` and `skrymir_shader_load` give is the caller's, who destroys it with the function of
//!   that name. Objects hold what they are made from, so that the order does not matter; the caller's instance and device outlive all.
//! * Objects do not change once they are made: any number of threads may use one at once.
//!
//! As a language with a C interface calls it, here Rust:
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
mod pipeline;
mod program;
mod shader;

pub use border::{Result, skrymir_error_message, skrymir_string_free, skrymir_version};
pub use context::{Context, DeviceInfo, GetInstanceProcAddr, skrymir_context_create, skrymir_context_destroy};
pub use pipeline::{
    Blend, Pipeline, PipelineInfo, VertexBuffers, VkPipeline, skrymir_pipeline_create, skrymir_pipeline_destroy,
    skrymir_pipeline_handle, skrymir_program_vertex_input,
};
pub use program::{
    Descriptor, NO_SLOT, Program, skrymir_program_create, skrymir_program_descriptors, skrymir_program_destroy,
    skrymir_program_pipeline_layout, skrymir_program_set_layouts,
};
pub use shader::{
    Shader, UniformMember, skrymir_shader_destroy, skrymir_shader_load, skrymir_shader_reflect,
    skrymir_shader_uniform_member, skrymir_shader_uniform_size, skrymir_shader_validate,
};
