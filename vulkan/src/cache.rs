//! The pipeline cache on disk.

use crate::context::{Context, Inner};
use crate::error::{Call, Result};
use ash::vk;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// First bytes of a cache file.
const MAGIC: &[u8; 8] = b"SKRYPC02";

/// The magic, followed by the BLAKE3 hash of the driver's data.
const HEADER: usize = 8 + blake3::OUT_LEN;

/// A pipeline cache stored in a file; one file per shader file, device and driver version.
///
/// It saves the driver's compile time and has no effect on validation, which always runs. A missing, corrupt or foreign
/// file is an empty cache, never an error; [`PipelineCache::note`] gives the reason.
pub struct PipelineCache {
    pub(crate) raw: vk::PipelineCache,
    file: Option<PathBuf>,
    note: Option<String>,
    context: Arc<Inner>,
}

impl PipelineCache {
    /// A cache without a file.
    pub fn in_memory(context: &Context) -> Result<Self> {
        Self::create(&context.inner, None, None, None)
    }

    /// The cache of this device for a shader file's `content`, in a folder.
    pub fn open(context: &Context, folder: &Path, content: &[u8]) -> Result<Self> {
        let properties = &context.inner.properties;
        let uuid: String = properties
            .pipeline_cache_uuid
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let content = blake3::hash(content).to_hex();
        let file = folder.join(format!("{content}-{uuid}-{:08x}.bin", properties.driver_version));
        let (data, note) = match std::fs::read(&file) {
            Ok(bytes) => match unpack(&bytes, properties) {
                Ok(data) => (Some(data.to_vec()), None),
                Err(why) => (None, Some(format!("pipeline cache {} ignored: {why}", file.display()))),
            },
            Err(_) => (None, None),
        };
        Self::create(&context.inner, Some(file), data, note)
    }

    /// The user's folder of pipeline caches: `$XDG_CACHE_HOME/skrymir/pipelines` or `$HOME/.cache/skrymir/pipelines`.
    pub fn user_folder() -> Option<PathBuf> {
        let set = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        set("XDG_CACHE_HOME")
            .or_else(|| Some(set("HOME")?.join(".cache")))
            .map(|folder| folder.join("skrymir/pipelines"))
    }

    fn create(
        context: &Arc<Inner>,
        file: Option<PathBuf>,
        data: Option<Vec<u8>>,
        note: Option<String>,
    ) -> Result<Self> {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data.as_deref().unwrap_or_default());
        // SAFETY: the data is empty, or whole (hash) and of this device and driver (header), from the user's own folder.
        let raw = unsafe { context.device.create_pipeline_cache(&info, None) }.call("vkCreatePipelineCache")?;
        context.name(raw, "pipeline cache");
        Ok(Self {
            raw,
            file,
            note,
            context: context.clone(),
        })
    }

    /// Why the file was ignored, if it was.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The file and its new contents; `None` for a cache in memory.
    pub fn contents(&self) -> Option<(&Path, Vec<u8>)> {
        let file = self.file.as_deref()?;
        // SAFETY: the cache lives as long as `self`.
        let data = unsafe { self.context.device.get_pipeline_cache_data(self.raw) }.unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(blake3::hash(&data).as_bytes());
        bytes.extend(data);
        Some((file, bytes))
    }

    /// Writes the file through a temporary one, so that readers never see a partial file.
    ///
    /// # Errors
    /// The file system's; on a Vulkan failure an empty file is written.
    pub fn save(&self) -> std::io::Result<()> {
        let Some((file, bytes)) = self.contents() else {
            return Ok(());
        };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let partial = file.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&partial, bytes)?;
        std::fs::rename(partial, file)
    }
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need their cache after creation.
        unsafe { self.context.device.destroy_pipeline_cache(self.raw, None) };
    }
}

/// The driver's data in a cache file, if it is complete and for this device (Vulkan's own header: length, version 1,
/// vendor, device, UUID).
fn unpack<'a>(bytes: &'a [u8], properties: &vk::PhysicalDeviceProperties) -> Result<&'a [u8], &'static str> {
    if bytes.len() < HEADER || &bytes[..8] != MAGIC {
        return Err("not a cache file");
    }
    let data = &bytes[HEADER..];
    if bytes[8..HEADER] != *blake3::hash(data).as_bytes() {
        return Err("corrupt");
    }
    let mut header = vec![32u32, 1, properties.vendor_id, properties.device_id]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect::<Vec<u8>>();
    header.extend(properties.pipeline_cache_uuid);
    if !data.starts_with(&header) {
        return Err("of another device or driver");
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_and_corrupt_files_are_distinguished() {
        let properties = vk::PhysicalDeviceProperties {
            vendor_id: 7,
            device_id: 9,
            ..Default::default()
        };
        let mut data: Vec<u8> = [32u32, 1, 7, 9].into_iter().flat_map(u32::to_le_bytes).collect();
        data.extend([0; 16]);
        let pack = |data: &[u8]| [MAGIC.as_slice(), blake3::hash(data).as_bytes(), data].concat();
        assert_eq!(unpack(&pack(&data), &properties), Ok(data.as_slice()));
        let mut corrupt = pack(&data);
        *corrupt.last_mut().unwrap() ^= 1;
        assert_eq!(unpack(&corrupt, &properties), Err("corrupt"));
        data[8] = 8;
        assert_eq!(unpack(&pack(&data), &properties), Err("of another device or driver"));
        assert_eq!(unpack(b"short", &properties), Err("not a cache file"));
    }
}
