//! Instance, device choice, device, queue, allocator, validation messages.

use crate::error::{Call, Error, Result};
use ash::{ext, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use loader::vbc::Feature;
use std::ffi::{CStr, c_char, c_void};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How much the validation layer watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// No layer.
    #[default]
    Off,
    /// Core checks.
    Core,
    /// Core checks, synchronisation validation and best practices.
    Full,
}

/// How to open a device.
#[derive(Clone, Debug)]
pub struct Options {
    /// Index as [`devices`] lists them, or a part of the name (case does not matter); `None` takes the best: a
    /// discrete GPU before an integrated one before software.
    pub device: Option<String>,
    /// Validation layer; an error if it is wanted and not installed.
    pub validation: Validation,
    /// How long one submission may take. A software driver compiles a shader of 60,000 words for minutes.
    pub patience: Duration,
}

impl Default for Options {
    /// The best device, unwatched, a quarter of an hour.
    fn default() -> Self {
        Self {
            device: None,
            validation: Validation::Off,
            patience: Duration::from_secs(15 * 60),
        }
    }
}

/// One device of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Position in Vulkan's list; stable while drivers stay the same.
    pub index: usize,
    /// The driver's name of the device.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: &'static str,
    /// Vulkan version of the device: major, minor, patch.
    pub api: [u32; 3],
    /// Driver name and version text.
    pub driver: String,
    /// Whether descriptor indexing is there, so that VBC's bind-once tables run as they are.
    pub bindless: bool,
}

/// The features this crate may switch on, as the device has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pub core: vk::PhysicalDeviceFeatures,
    pub v11: Vk11,
    pub v12: Vk12,
}

/// The Vulkan 1.1 features in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vk11 {
    pub shader_draw_parameters: bool,
}

/// The Vulkan 1.2 features in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vk12 {
    pub scalar_block_layout: bool,
    pub descriptor_indexing: bool,
    pub runtime_descriptor_array: bool,
    pub partially_bound: bool,
    pub update_unused_while_pending: bool,
    pub uniform_texel_dynamic: bool,
    pub storage_texel_dynamic: bool,
}

/// An open device. Cheap to clone; the device closes with the last clone and the last thing made from it.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub device: ash::Device,
    pub queue: vk::Queue,
    pub family: u32,
    pub allocator: ManuallyDrop<Mutex<Allocator>>,
    pub submit_lock: Mutex<()>,
    pub limits: vk::PhysicalDeviceLimits,
    pub properties: vk::PhysicalDeviceProperties,
    pub features: Features,
    pub info: DeviceInfo,
    pub timeout: Duration,
    debug: Option<ext::debug_utils::Device>,
    physical: vk::PhysicalDevice,
    instance: Arc<Instance>,
}

/// Instance and messenger, apart from the device so that listing devices needs no device.
struct Instance {
    raw: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    has_debug_utils: bool,
    messages: Arc<Mutex<Vec<String>>>,
    _entry: ash::Entry,
}

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Lists the devices of this machine; empty where Vulkan is installed but has none.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    let instance = Instance::new(Validation::Off)?;
    let physical = instance.physical()?;
    Ok(physical
        .iter()
        .enumerate()
        .map(|(index, device)| instance.describe(index, *device))
        .collect())
}

impl Context {
    /// Opens a device.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is no Vulkan or no such device, [`Error::Unsupported`] below Vulkan 1.2.
    pub fn new(options: &Options) -> Result<Self> {
        let instance = Arc::new(Instance::new(options.validation)?);
        let physical = instance.physical()?;
        let infos: Vec<_> = physical
            .iter()
            .enumerate()
            .map(|(i, device)| instance.describe(i, *device))
            .collect();
        let info = choose(&infos, options.device.as_deref())?.clone();
        if (info.api[0], info.api[1]) < (1, 2) {
            let [major, minor, _] = info.api;
            let message = format!("{} is Vulkan {major}.{minor}; VBC needs 1.2 (SPIR-V 1.5)", info.name);
            return Err(Error::Unsupported(message));
        }
        Self::open(instance, physical[info.index], info, options.patience)
    }

    fn open(
        instance: Arc<Instance>,
        physical: vk::PhysicalDevice,
        info: DeviceInfo,
        timeout: Duration,
    ) -> Result<Self> {
        let raw = &instance.raw;
        // SAFETY: `physical` was enumerated from `raw`, which outlives these calls.
        let (properties, families) = unsafe {
            (
                raw.get_physical_device_properties(physical),
                raw.get_physical_device_queue_family_properties(physical),
            )
        };
        let family = families
            .iter()
            .position(|f| f.queue_flags.contains(vk::QueueFlags::GRAPHICS))
            .ok_or_else(|| Error::Unsupported(format!("{} has no graphics queue", info.name)))?
            as u32;
        let features = instance.features(physical);
        let device = create_device(raw, physical, family, &features)?;
        // SAFETY: the queue family was asked for with one queue at device creation.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: raw.clone(),
            device: device.clone(),
            physical_device: physical,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: Default::default(),
        });
        let allocator = match allocator {
            Ok(allocator) => ManuallyDrop::new(Mutex::new(allocator)),
            Err(error) => {
                // SAFETY: nothing was made from the device yet.
                unsafe { device.destroy_device(None) };
                return Err(Error::Memory(error.to_string()));
            }
        };
        let debug = instance
            .has_debug_utils
            .then(|| ext::debug_utils::Device::new(raw, &device));
        let inner = Inner {
            device,
            queue,
            family,
            allocator,
            submit_lock: Mutex::new(()),
            limits: properties.limits,
            properties,
            features,
            info,
            timeout,
            debug,
            physical,
            instance,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The device in use.
    pub fn info(&self) -> &DeviceInfo {
        &self.inner.info
    }

    /// The validation layer's messages so far, oldest first; empty is what every test wants.
    pub fn messages(&self) -> Vec<String> {
        self.inner
            .instance
            .messages
            .lock()
            .expect("no panic while logging")
            .clone()
    }
}

impl Inner {
    /// Names a Vulkan object for debuggers and validation messages; does nothing where debug utils is missing.
    pub fn name(&self, handle: impl vk::Handle, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = std::ffi::CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(handle)
            .object_name(&name);
        // SAFETY: the handle is alive (the caller just made it) and the name ends with NUL. A failure only loses a name.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// What the device can do with images (`optimal`) and texel buffers of a format.
    pub fn format_properties(&self, format: vk::Format) -> vk::FormatProperties {
        // SAFETY: the physical device belongs to the instance, which `self` keeps alive.
        unsafe {
            self.instance
                .raw
                .get_physical_device_format_properties(self.physical, format)
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds an `Arc<Inner>`, so it is gone; the allocator is dropped once,
        // here, and before its device.
        unsafe {
            let _ = self.device.device_wait_idle();
            ManuallyDrop::drop(&mut self.allocator);
            self.device.destroy_device(None);
        }
    }
}

impl Instance {
    fn new(validation: Validation) -> Result<Self> {
        // SAFETY: loads the system's Vulkan loader; its initialisers are trusted as the dynamic linker trusts them.
        let entry =
            unsafe { ash::Entry::load() }.map_err(|error| Error::NoDevice(format!("no Vulkan here: {error}")))?;
        // SAFETY: plain queries of a loaded entry.
        let (layers, extensions) = unsafe {
            (
                entry
                    .enumerate_instance_layer_properties()
                    .call("vkEnumerateInstanceLayerProperties")?,
                entry
                    .enumerate_instance_extension_properties(None)
                    .call("vkEnumerateInstanceExtensionProperties")?,
            )
        };
        let has_layer = layers.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
        let watched = validation != Validation::Off;
        if watched && !has_layer {
            return Err(Error::NoDevice("the validation layer is not installed".into()));
        }
        let has_debug_utils = watched
            || extensions
                .iter()
                .any(|e| e.extension_name_as_c_str() == Ok(ext::debug_utils::NAME));
        let names: Vec<*const c_char> = has_debug_utils
            .then_some(ext::debug_utils::NAME.as_ptr())
            .into_iter()
            .collect();
        let layers: Vec<*const c_char> = watched.then_some(VALIDATION_LAYER.as_ptr()).into_iter().collect();
        let application = vk::ApplicationInfo::default()
            .application_name(c"skrymir")
            .engine_name(c"skrymir")
            .api_version(vk::API_VERSION_1_3);
        let enabled = [
            vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION,
            vk::ValidationFeatureEnableEXT::BEST_PRACTICES,
        ];
        let mut more = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&names);
        if validation == Validation::Full {
            info = info.push_next(&mut more);
        }
        // SAFETY: all pointers in `info` live until the call returns.
        let raw = unsafe { entry.create_instance(&info, None) }
            .map_err(|result| Error::NoDevice(format!("no Vulkan driver here: vkCreateInstance: {result}")))?;
        let mut this = Self {
            raw,
            messenger: None,
            has_debug_utils,
            messages: Arc::default(),
            _entry: entry,
        };
        if watched {
            this.listen()?;
        }
        Ok(this)
    }

    fn listen(&mut self) -> Result<()> {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type};
        let utils = ext::debug_utils::Instance::new(&self._entry, &self.raw);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Type::VALIDATION | Type::PERFORMANCE | Type::GENERAL)
            .pfn_user_callback(Some(on_message))
            .user_data(Arc::as_ptr(&self.messages).cast_mut().cast());
        // SAFETY: the callback's user data is the message list, which lives until after the messenger is destroyed.
        let messenger =
            unsafe { utils.create_debug_utils_messenger(&info, None) }.call("vkCreateDebugUtilsMessengerEXT")?;
        self.messenger = Some((utils, messenger));
        Ok(())
    }

    fn physical(&self) -> Result<Vec<vk::PhysicalDevice>> {
        // SAFETY: the instance is alive.
        unsafe { self.raw.enumerate_physical_devices() }.call("vkEnumeratePhysicalDevices")
    }

    fn describe(&self, index: usize, device: vk::PhysicalDevice) -> DeviceInfo {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: `device` was enumerated from this instance; the chain lives through the call. Drivers below 1.2
        // leave the driver properties as they were: empty.
        unsafe { self.raw.get_physical_device_properties2(device, &mut properties) };
        let properties = properties.properties;
        let text = |chars: &[c_char]| {
            let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).take_while(|c| *c != 0).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let api = properties.api_version;
        DeviceInfo {
            index,
            name: text(&properties.device_name),
            kind: match properties.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
                vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
                vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
                vk::PhysicalDeviceType::CPU => "cpu",
                _ => "other",
            },
            api: [
                vk::api_version_major(api),
                vk::api_version_minor(api),
                vk::api_version_patch(api),
            ],
            driver: format!("{} {}", text(&driver.driver_name), text(&driver.driver_info))
                .trim()
                .to_owned(),
            bindless: self.features(device).bindless(),
        }
    }

    fn features(&self, device: vk::PhysicalDevice) -> Features {
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut v11)
            .push_next(&mut v12);
        // SAFETY: `device` was enumerated from this instance; the chain lives through the call.
        unsafe { self.raw.get_physical_device_features2(device, &mut all) };
        let core = all.features;
        Features {
            core,
            v11: Vk11 {
                shader_draw_parameters: v11.shader_draw_parameters != 0,
            },
            v12: Vk12 {
                scalar_block_layout: v12.scalar_block_layout != 0,
                descriptor_indexing: v12.descriptor_indexing != 0,
                runtime_descriptor_array: v12.runtime_descriptor_array != 0,
                partially_bound: v12.descriptor_binding_partially_bound != 0,
                update_unused_while_pending: v12.descriptor_binding_update_unused_while_pending != 0,
                uniform_texel_dynamic: v12.shader_uniform_texel_buffer_array_dynamic_indexing != 0,
                storage_texel_dynamic: v12.shader_storage_texel_buffer_array_dynamic_indexing != 0,
            },
        }
    }
}

impl Features {
    /// Whether the device has a feature; every feature here is also switched on.
    pub fn has(&self, feature: Feature) -> bool {
        let core = &self.core;
        match feature {
            Feature::ScalarBlockLayout => self.v12.scalar_block_layout,
            Feature::SampledImageIndexing => core.shader_sampled_image_array_dynamic_indexing != 0,
            Feature::StorageImageIndexing => core.shader_storage_image_array_dynamic_indexing != 0,
            Feature::StorageBufferIndexing => core.shader_storage_buffer_array_dynamic_indexing != 0,
            Feature::UniformTexelBufferIndexing => self.v12.uniform_texel_dynamic,
            Feature::StorageTexelBufferIndexing => self.v12.storage_texel_dynamic,
            Feature::StorageImageExtendedFormats => core.shader_storage_image_extended_formats != 0,
            Feature::VertexPipelineStoresAndAtomics => core.vertex_pipeline_stores_and_atomics != 0,
            Feature::FragmentStoresAndAtomics => core.fragment_stores_and_atomics != 0,
            Feature::GeometryShader => core.geometry_shader != 0,
            Feature::TessellationShader => core.tessellation_shader != 0,
            Feature::ShaderDrawParameters => self.v11.shader_draw_parameters,
            Feature::ShaderClipDistance => core.shader_clip_distance != 0,
            Feature::ShaderCullDistance => core.shader_cull_distance != 0,
            Feature::SampleRateShading => core.sample_rate_shading != 0,
            Feature::ShaderImageGatherExtended => core.shader_image_gather_extended != 0,
        }
    }

    /// Whether VBC's full tables can be bound once and indexed as they are (facts of the engine that made the
    /// format: partially bound tables, indexed dynamically).
    pub fn bindless(&self) -> bool {
        self.v12.partially_bound
            && self.core.shader_sampled_image_array_dynamic_indexing != 0
            && self.core.shader_storage_image_array_dynamic_indexing != 0
            && self.core.shader_storage_buffer_array_dynamic_indexing != 0
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: devices hold an `Arc<Instance>`, so none is left; the messenger goes before its instance.
        unsafe {
            if let Some((utils, messenger)) = self.messenger.take() {
                utils.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// Collects a message; never unwinds into the driver.
unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan gives valid callback data, and `user` is the list that outlives the messenger.
    unsafe {
        let list = &*user.cast::<Mutex<Vec<String>>>();
        let text = (*data)
            .message_as_c_str()
            .map(|text| text.to_string_lossy().into_owned())
            .unwrap_or_default();
        if let Ok(mut list) = list.lock() {
            list.push(text);
        }
    }
    vk::FALSE
}

fn choose<'a>(infos: &'a [DeviceInfo], wanted: Option<&str>) -> Result<&'a DeviceInfo> {
    let rank = |info: &&DeviceInfo| match info.kind {
        "discrete" => 0,
        "integrated" => 1,
        "virtual" => 2,
        "cpu" => 3,
        _ => 4,
    };
    let Some(wanted) = wanted else {
        return infos
            .iter()
            .min_by_key(rank)
            .ok_or_else(|| Error::NoDevice("no Vulkan device here".into()));
    };
    let lower = wanted.to_lowercase();
    let by_index = wanted.parse().ok().and_then(|index: usize| infos.get(index));
    by_index
        .or_else(|| infos.iter().find(|info| info.name.to_lowercase().contains(&lower)))
        .ok_or_else(|| {
            let names: Vec<_> = infos
                .iter()
                .map(|info| format!("{} {}", info.index, info.name))
                .collect();
            Error::NoDevice(format!("no device \"{wanted}\"; there are: {}", names.join(", ")))
        })
}

/// Creates the device with every feature of [`Features`] that it has and VBC can need.
fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    features: &Features,
) -> Result<ash::Device> {
    let has = &features.core;
    let core = vk::PhysicalDeviceFeatures {
        independent_blend: has.independent_blend,
        geometry_shader: has.geometry_shader,
        tessellation_shader: has.tessellation_shader,
        fill_mode_non_solid: has.fill_mode_non_solid,
        large_points: has.large_points,
        shader_clip_distance: has.shader_clip_distance,
        shader_cull_distance: has.shader_cull_distance,
        sample_rate_shading: has.sample_rate_shading,
        shader_image_gather_extended: has.shader_image_gather_extended,
        vertex_pipeline_stores_and_atomics: has.vertex_pipeline_stores_and_atomics,
        fragment_stores_and_atomics: has.fragment_stores_and_atomics,
        shader_storage_image_extended_formats: has.shader_storage_image_extended_formats,
        shader_sampled_image_array_dynamic_indexing: has.shader_sampled_image_array_dynamic_indexing,
        shader_storage_image_array_dynamic_indexing: has.shader_storage_image_array_dynamic_indexing,
        shader_storage_buffer_array_dynamic_indexing: has.shader_storage_buffer_array_dynamic_indexing,
        ..Default::default()
    };
    let v12 = &features.v12;
    let mut want11 =
        vk::PhysicalDeviceVulkan11Features::default().shader_draw_parameters(features.v11.shader_draw_parameters);
    let mut want12 = vk::PhysicalDeviceVulkan12Features::default()
        .scalar_block_layout(v12.scalar_block_layout)
        .descriptor_indexing(v12.descriptor_indexing)
        .runtime_descriptor_array(v12.runtime_descriptor_array)
        .descriptor_binding_partially_bound(v12.partially_bound)
        .descriptor_binding_update_unused_while_pending(v12.update_unused_while_pending)
        .shader_uniform_texel_buffer_array_dynamic_indexing(v12.uniform_texel_dynamic)
        .shader_storage_texel_buffer_array_dynamic_indexing(v12.storage_texel_dynamic);
    let queue = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queue)
        .enabled_features(&core)
        .push_next(&mut want11)
        .push_next(&mut want12);
    // SAFETY: every feature asked for was reported by this device; pointers live through the call.
    unsafe { instance.create_device(physical, &info, None) }.call("vkCreateDevice")
}
