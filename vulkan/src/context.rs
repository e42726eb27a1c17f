//! The device: opened by this crate, or adopted from the caller.

use crate::error::{Error, Result};
use crate::everything::{self, Everything};
use crate::features::{Features, create_device};
use crate::instance::{DeviceInfo, Instance, Validation, choose, describe};
use ash::{ext, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Options for opening a device.
#[derive(Clone, Debug)]
pub struct Options {
    /// Index in the list of [`devices`](crate::devices), or a part of the name (case-insensitive); `None` selects the
    /// best: discrete, then integrated, then software.
    pub device: Option<String>,
    /// Validation layer; an error if requested but not installed.
    pub validation: Validation,
    /// Time limit of one submission. A software driver may take minutes to compile a shader of 60,000 words.
    pub timeout: Duration,
    /// Enable every feature of the device, and those of these extensions that it has; otherwise what VBC and pipelines need.
    pub everything: Option<Vec<String>>,
}

impl Default for Options {
    /// The best device, without validation, with a limit of a quarter of an hour.
    fn default() -> Self {
        Self {
            device: None,
            validation: Validation::Off,
            timeout: Duration::from_secs(15 * 60),
            everything: None,
        }
    }
}

/// A device that an engine has opened, with its enabled features.
pub struct Adopted<'a> {
    /// The engine's instance.
    pub instance: ash::Instance,
    /// The device's physical device.
    pub physical: vk::PhysicalDevice,
    /// The device.
    pub device: ash::Device,
    /// A graphics queue.
    pub queue: vk::Queue,
    /// Family of the queue.
    pub family: u32,
    /// The engine's allocator, shared with it; a new one is created if `None`.
    pub allocator: Option<Arc<Mutex<Allocator>>>,
    /// Held by this crate during its submissions; the engine must hold it during its own.
    pub queue_lock: Arc<Mutex<()>>,
    /// Enabled core features.
    pub core: vk::PhysicalDeviceFeatures,
    /// Enabled Vulkan 1.1 features.
    pub v11: vk::PhysicalDeviceVulkan11Features<'a>,
    /// Enabled Vulkan 1.2 features.
    pub v12: vk::PhysicalDeviceVulkan12Features<'a>,
    /// Enabled Vulkan 1.3 features.
    pub v13: vk::PhysicalDeviceVulkan13Features<'a>,
}

/// Properties of a device that shaders depend on.
#[derive(Clone, Copy, Debug)]
pub struct ShaderProperties {
    /// Supported subgroup operations.
    pub operations: vk::SubgroupFeatureFlags,
    /// Stages that support them.
    pub stages: vk::ShaderStageFlags,
    /// Minimum and maximum subgroup size.
    pub sizes: [u32; 2],
    /// Stages that can require a size.
    pub sized_stages: vk::ShaderStageFlags,
    /// Float controls.
    pub floats: vk::PhysicalDeviceFloatControlsProperties<'static>,
}

/// An open device. Cheap to clone; a device opened by this crate is closed with the last clone and the last object
/// created from it.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub device: ash::Device,
    pub queue: vk::Queue,
    pub family: u32,
    pub submit_lock: Arc<Mutex<()>>,
    pub limits: vk::PhysicalDeviceLimits,
    pub properties: vk::PhysicalDeviceProperties,
    pub features: Features,
    pub info: DeviceInfo,
    pub timeout: Duration,
    pub everything: Everything,
    /// `None` only while dropping: the allocator is dropped before its device.
    allocator: Option<Arc<Mutex<Allocator>>>,
    debug: Option<ext::debug_utils::Device>,
    physical: vk::PhysicalDevice,
    instance: ash::Instance,
    /// The instance, if this crate opened the device; the engine destroys an adopted device.
    own: Option<Arc<Instance>>,
}

/// The parts from which [`Context::assemble`] builds a context.
struct Parts {
    instance: ash::Instance,
    own: Option<Arc<Instance>>,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    family: u32,
    allocator: Arc<Mutex<Allocator>>,
    submit_lock: Arc<Mutex<()>>,
    features: Features,
    info: DeviceInfo,
    timeout: Duration,
    everything: Everything,
}

impl Context {
    /// Opens a device.
    ///
    /// # Errors
    /// [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) if there is no Vulkan or no such device,
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) below Vulkan 1.2.
    pub fn new(options: &Options) -> Result<Self> {
        let own = Arc::new(Instance::new(options.validation)?);
        let all = own.physical()?;
        let infos: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(index, device)| describe(&own.raw, index, *device))
            .collect();
        let info = choose(&infos, options.device.as_deref())?.clone();
        check_version(&info)?;
        let (instance, physical) = (own.raw.clone(), all[info.index]);
        let family = graphics_family(&instance, physical, &info)?;
        let (device, features, everything) = match &options.everything {
            Some(extensions) => everything::create_device(&instance, physical, family, extensions)?,
            None => {
                let features = Features::of(&instance, physical);
                let device = create_device(&instance, physical, family, &features)?;
                (device, features, Everything::default())
            }
        };
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let allocator = match new_allocator(&instance, physical, &device) {
            Ok(allocator) => allocator,
            Err(error) => {
                // SAFETY: no object was created from the device yet.
                unsafe { device.destroy_device(None) };
                return Err(error);
            }
        };
        let (own, submit_lock, timeout) = (Some(own), Arc::default(), options.timeout);
        let parts = Parts {
            instance,
            own,
            physical,
            device,
            queue,
            family,
            allocator,
            submit_lock,
            features,
            info,
            timeout,
            everything,
        };
        Ok(Self::assemble(parts))
    }

    /// Uses an engine's own device.
    ///
    /// # Safety
    /// The handles are valid and belong together, the features are those that the device was created with, and all of
    /// it outlives the context and every object created from it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) below Vulkan 1.2,
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if no allocator can be created.
    pub unsafe fn adopt(engine: Adopted<'_>) -> Result<Self> {
        let Adopted {
            instance,
            physical,
            device,
            queue,
            family,
            queue_lock: submit_lock,
            ..
        } = engine;
        let info = describe(&instance, 0, physical);
        check_version(&info)?;
        let features = Features::from_vulkan(&engine.core, &engine.v11, &engine.v12, &engine.v13);
        let allocator = match engine.allocator {
            Some(allocator) => allocator,
            None => new_allocator(&instance, physical, &device)?,
        };
        let (own, timeout) = (None, Options::default().timeout);
        let parts = Parts {
            instance,
            own,
            physical,
            device,
            queue,
            family,
            allocator,
            submit_lock,
            features,
            info,
            timeout,
            everything: Everything::default(),
        };
        Ok(Self::assemble(parts))
    }

    fn assemble(parts: Parts) -> Self {
        // SAFETY: the physical device belongs to the instance.
        let properties = unsafe { parts.instance.get_physical_device_properties(parts.physical) };
        let named = parts.own.as_ref().is_some_and(|own| own.has_debug_utils);
        let debug = named.then(|| ext::debug_utils::Device::new(&parts.instance, &parts.device));
        let inner = Inner {
            device: parts.device,
            queue: parts.queue,
            family: parts.family,
            submit_lock: parts.submit_lock,
            limits: properties.limits,
            properties,
            features: parts.features,
            info: parts.info,
            timeout: parts.timeout,
            everything: parts.everything,
            allocator: Some(parts.allocator),
            debug,
            physical: parts.physical,
            instance: parts.instance,
            own: parts.own,
        };
        Self { inner: Arc::new(inner) }
    }

    /// The device in use.
    pub fn info(&self) -> &DeviceInfo {
        &self.inner.info
    }

    /// Whether a feature is enabled, by its name in Vulkan's structures; `None` for an unknown name. A context opened
    /// without [`Options::everything`] reports none.
    pub fn has_feature(&self, name: &str) -> Option<bool> {
        self.inner.everything.features.get(name).copied()
    }

    /// Whether the device or the instance has an extension.
    pub fn has_extension(&self, name: &str) -> bool {
        let own = self.inner.own.as_ref();
        self.inner.everything.extensions.contains(name) || own.is_some_and(|own| own.extensions.contains(name))
    }

    /// The device's subgroup and float control properties.
    pub fn shader_properties(&self) -> ShaderProperties {
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut subgroup)
            .push_next(&mut floats);
        if self.inner.properties.api_version >= vk::API_VERSION_1_3 {
            all = all.push_next(&mut sizes);
        }
        // SAFETY: the physical device belongs to the instance; the chain lives through the call.
        unsafe {
            self.inner
                .instance
                .get_physical_device_properties2(self.inner.physical, &mut all)
        };
        ShaderProperties {
            operations: subgroup.supported_operations,
            stages: subgroup.supported_stages,
            sizes: [sizes.min_subgroup_size, sizes.max_subgroup_size],
            sized_stages: sizes.required_subgroup_size_stages,
            floats: vk::PhysicalDeviceFloatControlsProperties {
                p_next: std::ptr::null_mut(),
                ..floats
            },
        }
    }

    /// The validation layer's messages so far, oldest first. An adopted device's messages go to its engine.
    pub fn messages(&self) -> Vec<String> {
        let list = self
            .inner
            .own
            .as_ref()
            .map(|own| own.messages.lock().expect("no panic while logging").clone());
        list.unwrap_or_default()
    }

    /// The device, for an engine's own calls.
    pub fn device(&self) -> &ash::Device {
        &self.inner.device
    }

    /// The queue and its family, and the lock to hold while submitting to it.
    pub fn queue(&self) -> (vk::Queue, u32, &Mutex<()>) {
        (self.inner.queue, self.inner.family, &self.inner.submit_lock)
    }
}

fn check_version(info: &DeviceInfo) -> Result<()> {
    let [major, minor, _] = info.api;
    let message = format!("{} is Vulkan {major}.{minor}; VBC needs 1.2 (SPIR-V 1.5)", info.name);
    if (major, minor) < (1, 2) {
        Err(Error::unsupported(message))
    } else {
        Ok(())
    }
}

fn graphics_family(instance: &ash::Instance, physical: vk::PhysicalDevice, info: &DeviceInfo) -> Result<u32> {
    // SAFETY: the physical device was enumerated from the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let draws = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
    let found = families.iter().position(draws);
    found
        .map(|index| index as u32)
        .ok_or_else(|| Error::unsupported(format!("{} has no graphics queue", info.name)))
}

fn new_allocator(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
) -> Result<Arc<Mutex<Allocator>>> {
    let allocator = Allocator::new(&AllocatorCreateDesc {
        instance: instance.clone(),
        device: device.clone(),
        physical_device: physical,
        debug_settings: Default::default(),
        buffer_device_address: false,
        allocation_sizes: Default::default(),
    });
    allocator
        .map(|allocator| Arc::new(Mutex::new(allocator)))
        .map_err(|error| Error::memory(error.to_string()))
}

impl Inner {
    /// The allocator.
    pub(crate) fn allocator(&self) -> &Mutex<Allocator> {
        self.allocator
            .as_ref()
            .expect("it is there until the device is dropped")
    }

    /// Names a Vulkan object for debuggers and validation messages; no effect without debug utils.
    pub(crate) fn name(&self, handle: impl vk::Handle, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = std::ffi::CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(handle)
            .object_name(&name);
        // SAFETY: the handle is valid (the caller just created it) and the name is NUL-terminated. A failure only loses
        // a name.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// Checks that the device supports such an image.
    pub(crate) fn check_image(&self, desc: &vk::ImageCreateInfo<'_>) -> Result<()> {
        let tiling = vk::ImageTiling::OPTIMAL;
        let flags = vk::ImageCreateFlags::empty();
        // SAFETY: the physical device belongs to the instance.
        let found = unsafe {
            self.instance.get_physical_device_image_format_properties(
                self.physical,
                desc.format,
                desc.image_type,
                tiling,
                desc.usage,
                flags,
            )
        };
        let fits = found.is_ok_and(|most| {
            let (size, extent) = (most.max_extent, desc.extent);
            most.sample_counts.contains(desc.samples)
                && desc.mip_levels <= most.max_mip_levels
                && extent.width <= size.width
                && extent.height <= size.height
                && extent.depth <= size.depth
        });
        if fits {
            return Ok(());
        }
        let vk::Extent3D { width, height, depth } = desc.extent;
        let (format, samples, levels, usage) = (desc.format, desc.samples.as_raw(), desc.mip_levels, desc.usage);
        let message = format!(
            "images of {format:?}, {width}x{height}x{depth} with {levels} levels and {samples} samples, as {usage:?}"
        );
        Err(Error::unsupported(message))
    }

    /// The device's support for images (`optimal`) and texel buffers of a format.
    pub(crate) fn format_properties(&self, format: vk::Format) -> vk::FormatProperties {
        // SAFETY: the physical device belongs to the instance, which `self` or the engine keeps alive.
        unsafe {
            self.instance
                .get_physical_device_format_properties(self.physical, format)
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.own.is_none() {
            return;
        }
        // SAFETY: everything created from the device holds an `Arc<Inner>`, so it is gone; the allocator is not shared
        // and is dropped before its device.
        // and goes before its device.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.allocator = None;
            self.device.destroy_device(None);
        }
    }
}
