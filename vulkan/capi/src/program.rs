//! A shader on the caller's device: modules and layouts.

use crate::border::{Result, border, destroy, given, list, put_object};
use crate::context::Context;
use crate::shader::Shader;
use ash::vk;
use loader::vbc;
use vulkan::BindMode;

/// Modules, descriptor set layouts and the pipeline layout of a shader on a device.
pub struct Program(pub(crate) vulkan::Program);

/// The slot of a descriptor that is not a slot.
pub const NO_SLOT: u32 = u32::MAX;

/// A binding of a program's set layouts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Descriptor set: 0 for slots, 1 for the uniform block, 2 for subpass inputs.
    pub set: u32,
    /// Binding in the set; in set 0, the slot.
    pub binding: u32,
    /// The descriptor type.
    pub descriptor_type: vk::DescriptorType,
    /// Number of descriptors.
    pub count: u32,
    /// Stages that use it.
    pub stages: vk::ShaderStageFlags,
    /// The slot of the file's tables, or SKRYMIR_NO_SLOT.
    pub slot: u32,
}

/// Creates a shader's modules and layouts: an ordinary descriptor for each slot that the code uses (set 0, binding =
/// slot), the uniform block (set 1, binding 0), subpass inputs (set 2), no push constants. Files that break a rule of
/// the format are rejected, and so are those that exceed the device's features or limits, because drivers do not check.
///
/// # Safety
/// `context` and `shader` are valid; `program` points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_create(
    context: *const Context,
    shader: *const Shader,
    program: *mut *mut Program,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let (context, shader) = unsafe { (given(context, "context")?, given(shader, "shader")?) };
        // SAFETY: guaranteed by the caller.
        unsafe {
            put_object(program, "program", || {
                let file = shader.read()?;
                vbc::validate(&file).accept(vbc::FORMAT)?;
                Ok(Program(vulkan::Program::new(&context.0, &file, BindMode::Lowered)?))
            })
        }
    })
}

/// The pipeline layout, owned by the program; VK_NULL_HANDLE for NULL.
///
/// # Safety
/// NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_pipeline_layout(program: *const Program) -> vk::PipelineLayout {
    // SAFETY: guaranteed by the caller.
    unsafe { program.as_ref() }.map_or_else(vk::PipelineLayout::null, |program| program.0.layout())
}

/// The descriptor set layouts by set, owned by the program: without an array their number, else as many as fit, as
/// Vulkan returns lists. Empty sets have a layout without bindings.
///
/// # Safety
/// `program` is valid; `count` points to a number, `layouts` is NULL or has space for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_set_layouts(
    program: *const Program,
    count: *mut u32,
    layouts: *mut vk::DescriptorSetLayout,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let program = unsafe { given(program, "program") }?;
        // SAFETY: guaranteed by the caller.
        unsafe { list(program.0.set_layouts(), count, layouts, "set layouts") }
    })
}

/// The bindings of all set layouts, ascending: without an array their number, else as many as fit.
///
/// # Safety
/// `program` is valid; `count` points to a number, `descriptors` is NULL or has space for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_descriptors(
    program: *const Program,
    count: *mut u32,
    descriptors: *mut Descriptor,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let program = unsafe { given(program, "program") }?;
        let all = program.0.descriptors().map(|descriptor| Descriptor {
            set: descriptor.set,
            binding: descriptor.binding,
            descriptor_type: descriptor.kind,
            count: descriptor.count,
            stages: descriptor.stages,
            slot: descriptor.slot.map_or(NO_SLOT, u32::from),
        });
        let all: Vec<_> = all.collect();
        // SAFETY: guaranteed by the caller.
        unsafe { list(&all, count, descriptors, "descriptors") }
    })
}

/// The shader stages in pipeline order, for pipelines that the caller creates: without an array their number, else as many
/// as fit. Their modules are owned by the program.
///
/// # Safety
/// `program` is valid; `count` points to a number, `stages` is NULL or has space for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_shader_stages(
    program: *const Program,
    count: *mut u32,
    stages: *mut vk::PipelineShaderStageCreateInfo<'static>,
) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let program = unsafe { given(program, "program") }?;
        let all: Vec<_> = program.0.shader_stages().collect();
        // SAFETY: guaranteed by the caller.
        unsafe { list(&all, count, stages, "shader stages") }
    })
}

/// Destroys a program; pipelines created from it remain valid.
///
/// # Safety
/// NULL, or valid and not used by another thread; no set allocated with its layouts is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_destroy(program: *mut Program) {
    // SAFETY: guaranteed by the caller.
    unsafe { destroy(program) }
}
