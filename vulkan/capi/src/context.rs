//! The caller's device.

use crate::border::Failure;
use crate::border::{Result, border, destroy, given, put_object};
use ash::vk;
use ash::vk::Handle;
use std::ffi::{CStr, c_char};
use std::sync::Arc;
use vulkan::Adopted;

/// Vulkan's function loader.
pub type GetInstanceProcAddr = Option<vk::PFN_vkGetInstanceProcAddr>;

/// The caller's device, Vulkan 1.2 or later, and the features that it was created with. A features pointer may be NULL
/// if none of the structure's features are enabled; features from extensions are set in the core structure that
/// includes them. Every shader with a block requires `scalarBlockLayout`.
#[repr(C)]
pub struct DeviceInfo {
    /// vkGetInstanceProcAddr.
    pub get_instance_proc_addr: GetInstanceProcAddr,
    /// The instance.
    pub instance: vk::Instance,
    /// The device's physical device.
    pub physical_device: vk::PhysicalDevice,
    /// The device.
    pub device: vk::Device,
    /// Core features.
    pub features: *const vk::PhysicalDeviceFeatures,
    /// Features of Vulkan 1.1.
    pub features11: *const vk::PhysicalDeviceVulkan11Features<'static>,
    /// Features of Vulkan 1.2.
    pub features12: *const vk::PhysicalDeviceVulkan12Features<'static>,
    /// Features of Vulkan 1.3.
    pub features13: *const vk::PhysicalDeviceVulkan13Features<'static>,
    /// A graphics queue for skrymir_draw_submit, which no other thread uses during the call; VK_NULL_HANDLE if nothing is
    /// drawn with the context.
    pub queue: vk::Queue,
    /// The queue's family.
    pub queue_family: u32,
}

/// The caller's device, prepared for creating programs.
pub struct Context(pub(crate) vulkan::Context);

/// Prepares the caller's device for creating programs; the caller keeps ownership. Only skrymir_draw_submit submits to its
/// queue and allocates device memory.
///
/// # Safety
/// `device` is NULL, or its handles are valid and belong together, the features are those that it was created with, and
/// it outlives all objects created from the context. `context` points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_context_create(device: *const DeviceInfo, context: *mut *mut Context) -> Result {
    border(|| {
        // SAFETY: guaranteed by the caller.
        let device = unsafe { given(device, "device") }?;
        // SAFETY: guaranteed by the caller.
        unsafe { put_object(context, "context", || Ok(Context(adopt(device)?))) }
    })
}

/// Opens a device of the library's own, for programs that have none. `device` is a part of its name, or NULL for the best:
/// discrete, then integrated, then software.
///
/// # Safety
/// `device` is NULL or NUL-terminated; `context` points to writable memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_context_open(device: *const c_char, context: *mut *mut Context) -> Result {
    border(|| {
        let device = match device.is_null() {
            true => None,
            // SAFETY: guaranteed by the caller.
            false => Some(unsafe { CStr::from_ptr(device) }.to_string_lossy().into_owned()),
        };
        let options = vulkan::Options {
            device,
            ..vulkan::Options::default()
        };
        // SAFETY: guaranteed by the caller.
        unsafe { put_object(context, "context", || Ok(Context(vulkan::Context::new(&options)?))) }
    })
}

/// Destroys a context; the caller's device and objects created from the context remain valid.
///
/// # Safety
/// NULL, or valid and not used by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_context_destroy(context: *mut Context) {
    // SAFETY: guaranteed by the caller.
    unsafe { destroy(context) }
}

/// # Safety
/// See [`skrymir_context_create`].
unsafe fn adopt(given: &DeviceInfo) -> std::result::Result<vulkan::Context, Failure> {
    let Some(get_instance_proc_addr) = given.get_instance_proc_addr else {
        return Err(Failure::argument("get_instance_proc_addr is NULL"));
    };
    let handles = [
        ("instance", given.instance.is_null()),
        ("physical_device", given.physical_device.is_null()),
        ("device", given.device.is_null()),
    ];
    if let Some((name, _)) = handles.iter().find(|(_, null)| *null) {
        return Err(Failure::argument(format!("{name} is VK_NULL_HANDLE")));
    }
    let entry = ash::StaticFn { get_instance_proc_addr };
    // SAFETY: guaranteed by the caller: the instance is valid, and the loader returns its functions and those of its
    // devices.
    let (instance, device) = unsafe {
        let instance = ash::Instance::load(&entry, given.instance);
        let device = ash::Device::load(instance.fp_v1_0(), given.device);
        (instance, device)
    };
    // SAFETY: guaranteed by the caller for all four: NULL or valid.
    let (core, v11, v12, v13) = unsafe {
        (
            given.features.as_ref().copied(),
            given.features11.as_ref().copied(),
            given.features12.as_ref().copied(),
            given.features13.as_ref().copied(),
        )
    };
    let adopted = Adopted {
        instance,
        physical: given.physical_device,
        device,
        queue: given.queue,
        family: given.queue_family,
        allocator: None,
        queue_lock: Arc::default(),
        core: core.unwrap_or_default(),
        v11: v11.unwrap_or_default(),
        v12: v12.unwrap_or_default(),
        v13: v13.unwrap_or_default(),
    };
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { vulkan::Context::adopt(adopted) }?)
}
