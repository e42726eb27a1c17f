//! The instance, its devices, and the validation layer's messages.

use crate::error::{Call, Error, Result};
use crate::features::Features;
use ash::{ext, vk};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex};

/// Level of validation.
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

/// A device of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Index in Vulkan's list; stable while the drivers are unchanged.
    pub index: usize,
    /// The driver's name of the device.
    pub name: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: &'static str,
    /// Vulkan version of the device: major, minor, patch.
    pub api: [u32; 3],
    /// Driver name and version text.
    pub driver: String,
    /// Whether it has descriptor indexing, so that VBC's tables can be bound once.
    pub bindless: bool,
}

/// Instance and messenger, separate from the device so that devices can be listed without one.
pub(crate) struct Instance {
    pub raw: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    pub has_debug_utils: bool,
    /// Available instance extensions.
    pub extensions: BTreeSet<String>,
    pub messages: Arc<Mutex<Vec<String>>>,
    _entry: ash::Entry,
}

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Lists the devices of this machine; empty if Vulkan is installed but has none.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    let instance = Instance::new(Validation::Off)?;
    let physical = instance.physical()?;
    Ok(physical
        .iter()
        .enumerate()
        .map(|(index, device)| describe(&instance.raw, index, *device))
        .collect())
}

/// The entry points of the system's Vulkan loader.
#[cfg(not(target_family = "wasm"))]
fn entry() -> Result<ash::Entry> {
    // SAFETY: loads the system's Vulkan loader; whose initialisers are trusted like those of any dynamic library.
    unsafe { ash::Entry::load() }.map_err(|error| Error::no_device(no_vulkan(&error)))
}

/// None: WebAssembly loads no libraries.
#[cfg(target_family = "wasm")]
fn entry() -> Result<ash::Entry> {
    Err(Error::no_device(
        "no Vulkan here: this is WebAssembly, which loads no drivers",
    ))
}

/// Why there is no Vulkan; a statically linked program names the build that can load libraries.
#[cfg(not(target_family = "wasm"))]
fn no_vulkan(error: &ash::LoadingError) -> String {
    if cfg!(target_feature = "crt-static") {
        return "no Vulkan here: this program is linked statically and loads no drivers; \
                the .deb, or one built for glibc (cargo build --release), does"
            .to_owned();
    }
    format!("no Vulkan here: {error}")
}

impl Instance {
    pub(crate) fn new(validation: Validation) -> Result<Self> {
        let entry = entry()?;
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
            return Err(Error::no_device(
                "the validation layer is not installed (Debian's package is vulkan-validationlayers)",
            ));
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
            .map_err(|result| Error::no_device(format!("no Vulkan driver here: vkCreateInstance: {result}")))?;
        let mut this = Self {
            raw,
            messenger: None,
            has_debug_utils,
            extensions: extensions
                .iter()
                .filter_map(|one| Some(one.extension_name_as_c_str().ok()?.to_string_lossy().into_owned()))
                .collect(),
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
            // General messages come from drivers; their errors are returned as results.
            .message_type(Type::VALIDATION | Type::PERFORMANCE)
            .pfn_user_callback(Some(on_message))
            .user_data(Arc::as_ptr(&self.messages).cast_mut().cast());
        // SAFETY: the callback's user data is the message list, which outlives the messenger.
        let messenger =
            unsafe { utils.create_debug_utils_messenger(&info, None) }.call("vkCreateDebugUtilsMessengerEXT")?;
        self.messenger = Some((utils, messenger));
        Ok(())
    }

    pub(crate) fn physical(&self) -> Result<Vec<vk::PhysicalDevice>> {
        // SAFETY: the instance is alive.
        unsafe { self.raw.enumerate_physical_devices() }.call("vkEnumeratePhysicalDevices")
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: devices hold an `Arc<Instance>`, so none is left; the messenger is destroyed before its instance.
        unsafe {
            if let Some((utils, messenger)) = self.messenger.take() {
                utils.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// The properties that a device reports.
pub(crate) fn describe(instance: &ash::Instance, index: usize, device: vk::PhysicalDevice) -> DeviceInfo {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: `device` was enumerated from `instance`; the chain lives through the call. Drivers below 1.2 leave the
    // driver properties empty.
    unsafe { instance.get_physical_device_properties2(device, &mut properties) };
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
        bindless: Features::of(instance, device).bindless(),
    }
}

/// Collects a message; never unwinds into the driver.
unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid callback data, and `user` is the list that outlives the messenger.
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

/// The requested device, or the best one.
pub(crate) fn choose<'a>(infos: &'a [DeviceInfo], wanted: Option<&str>) -> Result<&'a DeviceInfo> {
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
            .ok_or_else(|| Error::no_device("no Vulkan device here"));
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
            Error::no_device(format!("no device \"{wanted}\"; there are: {}", names.join(", ")))
        })
}
