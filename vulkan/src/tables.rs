//! Bind-once tables: an engine's resources in VBC's tables, accessed by 16-bit indices in push constants.
//!
//! The engine inserts each resource into [`Tables`] once and keeps the [`Handle`]. Before a draw a [`Binder`] pushes
//! the indices of the slots that the shader uses, and binds the set only if needed. The same code works on all devices:
//!
//! * with descriptor indexing there is one page, as large as VBC's tables (8192 samplers and so on);
//! * otherwise a page is limited by the device, and further resources go to further pages. A draw's resources must be
//!   on one page, and a page must be filled before it is used; draws sorted by page rarely rebind.

use crate::context::{Context, Inner};
use crate::error::{Call, Error, Result};
use crate::layout::{self, Bound, TableLayout, descriptor_type};
use ash::vk;
use loader::vbc::fit::{Mode, Resource};
use loader::vbc::{DescriptorKind, Tables as Sizes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The push constants of all programs with tables: indices of all 32 slots.
pub(crate) const TABLE_PUSH: vk::PushConstantRange = vk::PushConstantRange {
    stage_flags: vk::ShaderStageFlags::ALL_GRAPHICS,
    offset: 0,
    size: 64,
};

/// Descriptors reserved for uniforms and subpass inputs when tables are sized by the device's limits.
const RESERVED: u32 = 8;

/// A resource in a table. The engine keeps it alive while it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableResource {
    /// Image and sampler, in `SHADER_READ_ONLY_OPTIMAL`.
    Texture(vk::ImageView, vk::Sampler),
    /// Storage image, in `GENERAL`.
    StorageImage(vk::ImageView),
    /// Storage buffer, all of it.
    Buffer(vk::Buffer),
    /// Uniform texel buffer.
    UniformTexels(vk::BufferView),
    /// Storage texel buffer.
    StorageTexels(vk::BufferView),
}

impl TableResource {
    /// The table's index: the binding number in set 0.
    fn table(self) -> usize {
        match self {
            Self::Texture(..) => 0,
            Self::StorageImage(_) => 1,
            Self::Buffer(_) => 2,
            Self::UniformTexels(_) => 3,
            Self::StorageTexels(_) => 4,
        }
    }
}

/// A resource's place in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    table: u8,
    page: u16,
    entry: u16,
}

impl Handle {
    /// The page; draws sorted by page rarely rebind. Always 0 with descriptor indexing.
    pub fn page(self) -> u16 {
        self.page
    }

    /// The index in its table.
    pub(crate) fn entry(self) -> u16 {
        self.entry
    }
}

/// The tables of one device.
pub struct Tables {
    sizes: Sizes,
    bindless: bool,
    declare: bool,
    layout: Arc<TableLayout>,
    pages: Vec<Page>,
    free: [Vec<Handle>; 5],
    context: Arc<Inner>,
}

/// One set of all five tables.
struct Page {
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    used: [u16; 5],
}

impl Tables {
    /// The device.
    pub(crate) fn context(&self) -> &Inner {
        &self.context
    }

    /// The descriptor set a resource is in.
    pub(crate) fn set(&self, handle: Handle) -> vk::DescriptorSet {
        self.pages[usize::from(handle.page)].set
    }

    /// Tables of VBC's sizes, or limited by the device.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the device cannot index arrays of resources.
    pub fn new(context: &Context) -> Result<Self> {
        let device = &context.inner;
        let full = Sizes::default();
        let fits = layout::check_limits(&bounds(&full), TABLE_PUSH.size, &device.limits).is_ok();
        let bindless = device.features.bindless() && fits;
        let sizes = if bindless { full } else { fitting(&device.limits) };
        let indexes = device.features.indexes_tables();
        // lavapipe lacks the features but indexes correctly (measured); other drivers are unknown.
        if !indexes && device.info.kind != "cpu" {
            return Err(Error::unsupported(format!(
                "{} cannot index arrays of resources",
                device.info.name
            )));
        }
        let layout = Arc::new(table_layout(device, &sizes, bindless)?);
        let (pages, free) = (Vec::new(), Default::default());
        Ok(Self {
            sizes,
            bindless,
            declare: indexes,
            layout,
            pages,
            free,
            context: device.clone(),
        })
    }

    /// Entries of each table per page.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Whether all resources are on one page.
    pub fn is_bindless(&self) -> bool {
        self.bindless
    }

    pub(crate) fn mode(&self) -> Mode {
        Mode::Cut {
            tables: self.sizes,
            declare: self.declare,
        }
    }

    pub(crate) fn layout(&self) -> Arc<TableLayout> {
        self.layout.clone()
    }

    /// Inserts a resource into its table, on the first page with a free entry.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the tables of a bindless device are full,
    /// [`ErrorKind::Vulkan`](crate::ErrorKind::Vulkan) for a new page.
    pub fn insert(&mut self, resource: TableResource) -> Result<Handle> {
        let table = resource.table();
        if let Some(handle) = self.free[table].pop() {
            self.write(handle, resource);
            return Ok(handle);
        }
        let size = self.sizes.sizes()[table];
        let page = match self.pages.iter().position(|page| page.used[table] < size) {
            Some(page) => page,
            None if self.bindless && !self.pages.is_empty() => {
                return Err(Error::unsupported(format!("more than {size} {}", Sizes::NAMES[table])));
            }
            None => self.add_page()?,
        };
        let entry = self.pages[page].used[table];
        self.pages[page].used[table] += 1;
        let handle = Handle {
            table: table as u8,
            page: page as u16,
            entry,
        };
        if entry == 0 && !self.bindless {
            // Without partially bound tables, every entry that the code could index must be valid.
            for entry in 0..size {
                self.write(Handle { entry, ..handle }, resource);
            }
        }
        self.write(handle, resource);
        Ok(handle)
    }

    /// Replaces the resource of a handle by another of the same kind. No draw that uses the page may be running.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) for a different kind.
    pub fn replace(&mut self, handle: Handle, resource: TableResource) -> Result<()> {
        if resource.table() != usize::from(handle.table) {
            return Err(Error::data("a handle keeps its kind of resource"));
        }
        self.write(handle, resource);
        Ok(())
    }

    /// Frees an entry for the next resource of its kind.
    pub fn remove(&mut self, handle: Handle) {
        self.free[usize::from(handle.table)].push(handle);
    }

    fn add_page(&mut self) -> Result<usize> {
        let sizes: Vec<_> = std::iter::zip(DescriptorKind::TABLES, self.sizes.sizes())
            .map(|(kind, count)| vk::DescriptorPoolSize {
                ty: descriptor_type(kind),
                descriptor_count: count.into(),
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let device = &self.context.device;
        // SAFETY: plain creation; the layout outlives the page.
        unsafe {
            let pool = device
                .create_descriptor_pool(&info, None)
                .call("vkCreateDescriptorPool")?;
            self.pages.push(Page {
                pool,
                set: vk::DescriptorSet::null(),
                used: [0; 5],
            });
            let layouts = [self.layout.raw];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let set = device
                .allocate_descriptor_sets(&info)
                .call("vkAllocateDescriptorSets")?[0];
            self.context.name(set, &format!("tables {}", self.pages.len() - 1));
            self.pages.last_mut().expect("just pushed").set = set;
        }
        Ok(self.pages.len() - 1)
    }

    fn write(&self, handle: Handle, resource: TableResource) {
        // Infos that the write points to.
        let (image, buffer, view);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.pages[usize::from(handle.page)].set)
            .dst_binding(handle.table.into())
            .dst_array_element(handle.entry.into())
            .descriptor_type(descriptor_type(DescriptorKind::TABLES[usize::from(handle.table)]));
        let write = match resource {
            TableResource::Texture(image_view, sampler) => {
                let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
                image = [vk::DescriptorImageInfo {
                    sampler,
                    image_view,
                    image_layout,
                }];
                write.image_info(&image)
            }
            TableResource::StorageImage(image_view) => {
                let (sampler, image_layout) = (vk::Sampler::null(), vk::ImageLayout::GENERAL);
                image = [vk::DescriptorImageInfo {
                    sampler,
                    image_view,
                    image_layout,
                }];
                write.image_info(&image)
            }
            TableResource::Buffer(raw) => {
                buffer = [vk::DescriptorBufferInfo::default().buffer(raw).range(vk::WHOLE_SIZE)];
                write.buffer_info(&buffer)
            }
            TableResource::UniformTexels(raw) | TableResource::StorageTexels(raw) => {
                view = [raw];
                write.texel_buffer_view(&view)
            }
        };
        // SAFETY: page, table and entry belong to this set; the engine keeps the resource alive, and does not change
        // pages in use.
        unsafe { self.context.device.update_descriptor_sets(&[write], &[]) };
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        for page in &self.pages {
            // SAFETY: the engine has waited for the draws that use the tables.
            unsafe { self.context.device.destroy_descriptor_pool(page.pool, None) };
        }
    }
}

/// The five tables as bindings visible to every stage.
fn bounds(sizes: &Sizes) -> BTreeMap<(u32, u32), Bound> {
    let table = |(binding, (kind, count)): (usize, (DescriptorKind, u16))| {
        let binding = binding as u32;
        let resource = Resource {
            set: 0,
            binding,
            slot: None,
            count: count.into(),
            kind,
            image: None,
        };
        (
            (0, binding),
            Bound {
                resource,
                stages: vk::ShaderStageFlags::ALL_GRAPHICS,
                slots: Vec::new(),
            },
        )
    };
    std::iter::zip(DescriptorKind::TABLES, sizes.sizes())
        .enumerate()
        .map(table)
        .collect()
}

fn table_layout(device: &Arc<Inner>, sizes: &Sizes, partial: bool) -> Result<TableLayout> {
    let bounds = bounds(sizes);
    layout::check_limits(&bounds, TABLE_PUSH.size, &device.limits)?;
    let raw = layout::set_layout(device, bounds.values(), partial, false)?;
    device.name(raw, "tables");
    Ok(TableLayout {
        raw,
        context: device.clone(),
    })
}

/// The largest tables within a device's per-stage limits; rarely used ones shrink first.
fn fitting(limits: &vk::PhysicalDeviceLimits) -> Sizes {
    let full = Sizes::default();
    let least = |full: u16, limit: u32| u32::from(full).min(limit);
    let samplers = least(
        full.samplers,
        limits
            .max_per_stage_descriptor_samplers
            .min(limits.max_per_stage_descriptor_sampled_images),
    );
    let mut sizes = [
        samplers,
        least(full.images, limits.max_per_stage_descriptor_storage_images / 2),
        least(full.buffers, limits.max_per_stage_descriptor_storage_buffers),
        least(full.rotexels, limits.max_per_stage_descriptor_sampled_images - samplers),
        least(full.rwtexels, limits.max_per_stage_descriptor_storage_images / 2),
    ];
    let most = limits.max_per_stage_resources.saturating_sub(RESERVED);
    while sizes.iter().sum::<u32>() > most && sizes.iter().any(|size| *size > 1) {
        let rare = [1, 3, 4]
            .into_iter()
            .filter(|table| sizes[*table] > 8)
            .max_by_key(|table| sizes[*table]);
        let largest = rare
            .or_else(|| (0..5).max_by_key(|table| sizes[*table]))
            .expect("five tables");
        sizes[largest] = (sizes[largest] / 2).max(1);
    }
    Sizes::from_sizes(sizes.map(|size| size.clamp(1, u32::from(u16::MAX)) as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// lavapipe's limits, as measured.
    fn lavapipe() -> vk::PhysicalDeviceLimits {
        vk::PhysicalDeviceLimits {
            max_bound_descriptor_sets: 8,
            max_push_constants_size: 128,
            max_per_stage_resources: 128,
            max_per_stage_descriptor_samplers: 32,
            max_per_stage_descriptor_sampled_images: 128,
            max_per_stage_descriptor_storage_images: 64,
            max_per_stage_descriptor_storage_buffers: 32,
            max_descriptor_set_samplers: 32768,
            max_descriptor_set_sampled_images: 256,
            max_descriptor_set_storage_images: 256,
            max_descriptor_set_storage_buffers: 256,
            ..Default::default()
        }
    }

    #[test]
    fn tables_shrink_to_the_limits() {
        let sizes = fitting(&lavapipe());
        assert_eq!(sizes.samplers, 32, "engines have more textures than anything else");
        assert!(
            layout::check_limits(&bounds(&sizes), 64, &lavapipe()).is_ok(),
            "{sizes:?}"
        );
        assert!(layout::check_limits(&bounds(&Sizes::default()), 64, &lavapipe()).is_err());
    }
}
