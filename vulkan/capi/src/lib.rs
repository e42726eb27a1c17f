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
