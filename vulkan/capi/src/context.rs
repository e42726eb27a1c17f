//! The caller's device.

use crate::border::Failure;
use crate::border::{Result, border, destroy, given, put_object};
use ash::vk;
use ash::vk::Handle;
use std::sync::Arc;
use vulkan::Adopted;

/// How Vulkan's functions are found.
pub type GetInstanceProcAddr = Option<vk::PFN_vkGetInstanceProcAddr>;

/// A device of the caller's, Vulkan 1.2 or later, and the features that it was created with. Features may be NULL where
/// none of that structure were switched on; those of extensions count under the core structure that took them in.
/// `scalarBlockLayout` is needed by every shader with a block.
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
}

/// The caller's device, ready for programs.
pub struct Context(pub(crate) vulkan::Context);

/// Takes the caller's device for making programs; it stays the caller's. Nothing is submitted to its queues, and no
/// device memory is taken.
///
/// # Safety
/// `device` is NULL or its handles are alive and belong together, the features are those that it was created with, and
/// it outlives everything made from the context. `context` points to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_context_create(device: *const DeviceInfo, context: *mut *mut Context) -> Result {
    border(|| {
        // SAFETY: the caller's.
        let device = unsafe { given(device, "device") }?;
        // SAFETY: the caller's.
        unsafe { put_object(context, "context", || Ok(Context(adopt(device)?))) }
    })
}

/// Destroys a context; the caller's device stays, and what was made from the context too.
///
/// # Safety
/// NULL, or alive and used by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skrymir_context_destroy(context: *mut Context) {
    // SAFETY: the caller's.
    unsafe { destroy(context) }
}

/// # Safety
/// As [`skrymir_context_create`].
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
    // SAFETY: the caller's: the instance is alive, and the function finds its functions and those of its devices.
    let (instance, device) = unsafe {
        let instance = ash::Instance::load(&entry, given.instance);
        let device = ash::Device::load(instance.fp_v1_0(), given.device);
        (instance, device)
    };
    // SAFETY: the caller's, of all four: NULL or alive.
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
        // Nothing is submitted here: uploads and draws are the caller's.
        queue: vk::Queue::null(),
        family: 0,
        allocator: None,
        queue_lock: Arc::default(),
        core: core.unwrap_or_default(),
        v11: v11.unwrap_or_default(),
        v12: v12.unwrap_or_default(),
        v13: v13.unwrap_or_default(),
    };
    // SAFETY: the caller's.
    Ok(unsafe { vulkan::Context::adopt(adopted) }?)
}
