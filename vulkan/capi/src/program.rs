//! A shader on the caller's device: modules and layouts.

use crate::border::{Result, border, destroy, given, list, put_object};
use crate::context::Context;
use crate::shader::Shader;
use ash::vk;
use loader::vbc;
use vulkan::BindMode;

/// Modules, descriptor set layouts and the pipeline layout of a shader on a device.
pub struct Program(pub(crate) vulkan::Program);

/// The slot of a descriptor that belongs to none.
pub const NO_SLOT: u32 = u32::MAX;

/// One binding of a program's set layouts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Descriptor set: 0 for slots, 1 for the uniform block, 2 for subpass inputs.
    pub set: u32,
    /// Binding in the set; in set 0 that is the slot.
    pub binding: u32,
    /// What is bound.
    pub descriptor_type: vk::DescriptorType,
    /// Descriptors.
    pub count: u32,
    /// Stages that use it.
    pub stages: vk::ShaderStageFlags,
    /// The slot of the file's tables that it is, or SKRYMIR_NO_SLOT.
    pub slot: u32,
}

/// Makes a shader's modules and layouts: an ordinary descriptor for each slot that the code uses (set 0, binding =
/// slot), the uniform block (set 1, binding 0), subpass inputs (set 2), no push constants. A file that breaks a rule of
/// its format is refused, and so is one that the device lacks a feature or the room for; drivers trust what they get.
///
/// # Safety
/// `context` and `shader` are alive; `program` points to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_create(
    context: *const Context,
    shader: *const Shader,
    program: *mut *mut Program,
) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let (context, shader) = unsafe { (given(context, "context")?, given(shader, "shader")?) };
        // SAFETY: the caller's.
        unsafe {
            put_object(program, "program", || {
                let file = shader.read()?;
                vbc::validate(&file).accept(vbc::FORMAT)?;
                Ok(Program(vulkan::Program::new(&context.0, &file, BindMode::Lowered)?))
            })
        }
    })
}

/// The pipeline layout, the program's own; VK_NULL_HANDLE for NULL.
///
/// # Safety
/// NULL or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_pipeline_layout(program: *const Program) -> vk::PipelineLayout {
    // SAFETY: the caller's.
    unsafe { program.as_ref() }.map_or_else(vk::PipelineLayout::null, |program| program.0.layout())
}

/// The descriptor set layouts by set, the program's own: without a place their number, else as many as there is room
/// for, as Vulkan gives lists. Sets that nothing is in have a layout without bindings.
///
/// # Safety
/// `program` is alive; `count` points to a number, `layouts` is NULL or has room for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_set_layouts(
    program: *const Program,
    count: *mut u32,
    layouts: *mut vk::DescriptorSetLayout,
) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let program = unsafe { given(program, "program") }?;
        // SAFETY: the caller's.
        unsafe { list(program.0.set_layouts(), count, layouts, "set layouts") }
    })
}

/// The bindings of all set layouts, ascending: without a place their number, else as many as there is room for.
///
/// # Safety
/// `program` is alive; `count` points to a number, `descriptors` is NULL or has room for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_descriptors(
    program: *const Program,
    count: *mut u32,
    descriptors: *mut Descriptor,
) -> Result {
    border(|| {
        // SAFETY: the caller's.
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
        // SAFETY: the caller's.
        unsafe { list(&all, count, descriptors, "descriptors") }
    })
}

/// Destroys a program; pipelines made from it stay, and hold what they need.
///
/// # Safety
/// NULL, or alive and used by no other thread; no set made with its layouts is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_program_destroy(program: *mut Program) {
    // SAFETY: the caller's.
    unsafe { destroy(program) }
}
