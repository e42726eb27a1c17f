//! An engine with its own Vulkan device draws many objects with different textures: every texture is added to the
//! tables once, and each draw pushes an index.
//!
//! ```text
//! cargo run --example engine [OUT.png]
//! ```
//!
//! The same code runs with descriptor indexing (one set for everything) and without (a page per 32 textures on
//! lavapipe; the objects are sorted by page, so each page is bound once).

use anyhow::{Context as _, Result};
use ash::vk;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use vulkan::{
    Adopted, Binder, Context, Dim, Draw, GraphicsPipeline, Program, SamplerDesc, Tables, Target, TexelFormat, Texels,
    Texture,
};

/// A textured triangle: `in(0) float2` position, slots 0 and 5 sampled and mixed 3:1.
const SHADER: &[u8] = include_bytes!("../tests/data/vbc/two_samplers.vbc");

const SIZE: u32 = 512;
const COLUMNS: usize = 16;
const TEXTURES: usize = 64;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The engine's Vulkan objects, independent of this library.
struct Engine {
    device: ash::Device,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    queue: vk::Queue,
    _entry: ash::Entry,
}

impl Engine {
    fn new() -> Result<Self> {
        // SAFETY: creates an instance and a device, with the features that VBC and dynamic rendering need.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;
            let physical = *instance
                .enumerate_physical_devices()?
                .first()
                .context("a Vulkan device")?;
            let mut v12 = Self::v12();
            let mut v13 = Self::v13();
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .push_next(&mut v12)
                .push_next(&mut v13);
            let device = instance.create_device(physical, &info, None)?;
            let queue = device.get_device_queue(0, 0);
            Ok(Self {
                device,
                instance,
                physical,
                queue,
                _entry: entry,
            })
        }
    }

    fn v12() -> vk::PhysicalDeviceVulkan12Features<'static> {
        vk::PhysicalDeviceVulkan12Features::default().scalar_block_layout(true)
    }

    fn v13() -> vk::PhysicalDeviceVulkan13Features<'static> {
        vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true)
    }

    /// Passes the device to the library; the engine still owns it.
    fn adopt(&self) -> Result<Context> {
        let adopted = Adopted {
            instance: self.instance.clone(),
            physical: self.physical,
            device: self.device.clone(),
            queue: self.queue,
            family: 0,
            allocator: None,
            queue_lock: Arc::new(Mutex::new(())),
            core: Default::default(),
            v11: Default::default(),
            v12: Self::v12(),
            v13: Self::v13(),
        };
        // SAFETY: the handles belong together, the features are those of `new`, and the engine outlives the context.
        Ok(unsafe { Context::adopt(adopted) }?)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: everything made from the device is gone by then.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// A texture of one colour.
fn texels(index: usize) -> Texels {
    let hue = index as f32 / TEXTURES as f32 * std::f32::consts::TAU;
    let channel = |turn: f32| ((hue + turn).sin() * 0.5 + 0.5) * 255.0;
    let color = [channel(0.0) as u8, channel(2.1) as u8, channel(4.2) as u8, 255];
    Texels {
        dim: Dim::D2,
        format: TexelFormat::RGBA8,
        extent: [4, 4, 1],
        layers: 1,
        levels: 1,
        bytes: color.repeat(16),
    }
}

/// Three vertices of each object's triangle, in a grid over the picture.
fn vertices(objects: usize) -> Vec<[f32; 2]> {
    let step = 2.0 / COLUMNS as f32;
    (0..objects)
        .flat_map(|object| {
            let (x, y) = (
                (object % COLUMNS) as f32 * step - 1.0,
                (object / COLUMNS) as f32 * step - 1.0,
            );
            [
                [x + step * 0.5, y + step * 0.1],
                [x + step * 0.9, y + step * 0.9],
                [x + step * 0.1, y + step * 0.9],
            ]
        })
        .collect()
}

/// A buffer in host-visible memory, as in small engines.
fn buffer(engine: &Engine, usage: vk::BufferUsageFlags, bytes: &[u8]) -> Result<(vk::Buffer, vk::DeviceMemory)> {
    // SAFETY: creates a buffer; its memory is host-visible and stays mapped while it is filled.
    unsafe {
        let info = vk::BufferCreateInfo::default().size(bytes.len() as u64).usage(usage);
        let buffer = engine.device.create_buffer(&info, None)?;
        let needs = engine.device.get_buffer_memory_requirements(buffer);
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = allocate(engine, needs, host)?;
        engine.device.bind_buffer_memory(buffer, memory, 0)?;
        let mapped = engine
            .device
            .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.cast(), bytes.len());
        engine.device.unmap_memory(memory);
        Ok((buffer, memory))
    }
}

/// Allocates memory for one resource; small sizes are rounded up, as an engine's allocator would.
fn allocate(
    engine: &Engine,
    needs: vk::MemoryRequirements,
    wanted: vk::MemoryPropertyFlags,
) -> Result<vk::DeviceMemory> {
    // SAFETY: queries and one allocation.
    unsafe {
        let types = engine.instance.get_physical_device_memory_properties(engine.physical);
        let fits = |index: &u32| {
            needs.memory_type_bits & (1 << index) != 0
                && types.memory_types[*index as usize].property_flags.contains(wanted)
        };
        let index = (0..types.memory_type_count)
            .find(fits)
            .context("a fitting memory type")?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size((needs.size + 1).max(1 << 20))
            .memory_type_index(index);
        Ok(engine.device.allocate_memory(&info, None)?)
    }
}

/// The engine's render target.
struct Canvas {
    image: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
}

impl Canvas {
    fn new(engine: &Engine) -> Result<Self> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(FORMAT)
            .extent(vk::Extent3D {
                width: SIZE,
                height: SIZE,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
        // SAFETY: creates an image with its own memory.
        unsafe {
            let image = engine.device.create_image(&info, None)?;
            let needs = engine.device.get_image_memory_requirements(image);
            let memory = allocate(engine, needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            engine.device.bind_image_memory(image, memory, 0)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(FORMAT)
                .subresource_range(RANGE);
            Ok(Self {
                image,
                memory,
                view: engine.device.create_image_view(&info, None)?,
            })
        }
    }
}

const RANGE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

fn main() -> Result<()> {
    let output = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("engine.png"), PathBuf::from);
    let engine = Engine::new()?;
    let canvas = Canvas::new(&engine)?;
    let objects = COLUMNS * COLUMNS;
    let corners: Vec<u8> = vertices(objects)
        .iter()
        .flatten()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let (vertex_buffer, vertex_memory) = buffer(&engine, vk::BufferUsageFlags::VERTEX_BUFFER, &corners)?;
    let pixels = vec![0; (SIZE * SIZE * 4) as usize];
    let (read_buffer, read_memory) = buffer(&engine, vk::BufferUsageFlags::TRANSFER_DST, &pixels)?;
    {
        // This block is the part that uses the library.
        let context = engine.adopt()?;
        let mut tables = Tables::new(&context)?;
        let mut textures = Vec::new();
        let mut handles = Vec::new();
        for index in 0..TEXTURES {
            let texture = Texture::upload(&context, &texels(index), SamplerDesc::default())?.wait()?;
            handles.push(tables.insert(texture.resource())?);
            textures.push(texture);
        }
        let vbc = loader::vbc::read(SHADER)?;
        let program = Program::for_tables(&context, &vbc, &tables, &|_| Ok(()))?;
        let target = Target::Formats {
            colors: &[FORMAT],
            depth: vk::Format::UNDEFINED,
        };
        let pipeline = GraphicsPipeline::new(&program, &Draw::default().state(), &target, None)?;
        let mut order: Vec<usize> = (0..objects).collect();
        order.sort_by_key(|object| handles[object % TEXTURES].page());
        draw(&engine, &canvas, vertex_buffer, read_buffer, |commands| {
            let mut binder = Binder::default();
            // SAFETY: the command buffer is recording within the engine's rendering.
            unsafe {
                engine
                    .device
                    .cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline.raw());
                for object in &order {
                    let texture = handles[object % TEXTURES];
                    binder.bind(commands, &program, &tables, &[(0, texture), (5, texture)])?;
                    engine.device.cmd_draw(commands, 3, 1, *object as u32 * 3, 0);
                }
            }
            Ok(())
        })?;
        let kind = if tables.is_bindless() { "one set" } else { "pages" };
        println!(
            "{objects} objects, {TEXTURES} textures in {kind} of {} samplers",
            tables.sizes().samplers
        );
    }
    // SAFETY: the device is idle; the memory is host-visible and as large as the picture.
    unsafe {
        let mapped = engine
            .device
            .map_memory(read_memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        let rgba = std::slice::from_raw_parts(mapped.cast::<u8>(), pixels.len()).to_vec();
        let picture = skrymir::picture::Picture {
            width: SIZE,
            height: SIZE,
            rgba,
        };
        std::fs::write(&output, picture.to_png()?)?;
        engine.device.destroy_buffer(vertex_buffer, None);
        engine.device.destroy_buffer(read_buffer, None);
        engine.device.free_memory(vertex_memory, None);
        engine.device.free_memory(read_memory, None);
        engine.device.destroy_image_view(canvas.view, None);
        engine.device.destroy_image(canvas.image, None);
        engine.device.free_memory(canvas.memory, None);
    }
    println!("picture: {}", std::path::absolute(&output)?.display());
    Ok(())
}

/// Draws a frame: clears, calls `record`, copies the picture to a buffer, waits.
fn draw(
    engine: &Engine,
    canvas: &Canvas,
    vertices: vk::Buffer,
    read: vk::Buffer,
    record: impl FnOnce(vk::CommandBuffer) -> Result<()>,
) -> Result<()> {
    let device = &engine.device;
    let area = vk::Rect2D {
        offset: Default::default(),
        extent: vk::Extent2D {
            width: SIZE,
            height: SIZE,
        },
    };
    let size = SIZE as f32;
    let viewport = vk::Viewport {
        x: 0.0,
        y: 0.0,
        width: size,
        height: size,
        min_depth: 0.0,
        max_depth: 1.0,
    };
    let clear = vk::ClearValue {
        color: vk::ClearColorValue {
            float32: [0.05, 0.05, 0.08, 1.0],
        },
    };
    let attachment = [vk::RenderingAttachmentInfo::default()
        .image_view(canvas.view)
        .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear)];
    let rendering = vk::RenderingInfo::default()
        .render_area(area)
        .layer_count(1)
        .color_attachments(&attachment);
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: 0,
        layer_count: 1,
    };
    let copy = vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(vk::Extent3D {
            width: SIZE,
            height: SIZE,
            depth: 1,
        });
    // SAFETY: one command buffer of its own pool, which is waited for before any object is destroyed.
    unsafe {
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        transition(
            device,
            commands,
            canvas.image,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        );
        device.cmd_begin_rendering(commands, &rendering);
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[area]);
        device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
        record(commands)?;
        device.cmd_end_rendering(commands);
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        transition(
            device,
            commands,
            canvas.image,
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            source,
        );
        device.cmd_copy_image_to_buffer(commands, canvas.image, source, read, &[copy]);
        device.end_command_buffer(commands)?;
        let buffers = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        device.queue_submit(engine.queue, &submit, vk::Fence::null())?;
        device.queue_wait_idle(engine.queue)?;
        device.destroy_command_pool(pool, None);
    }
    Ok(())
}

/// Moves the canvas between drawing and copying.
///
/// # Safety
/// The command buffer is recording.
unsafe fn transition(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    let (drawn, copied) = (
        vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
        vk::PipelineStageFlags::TRANSFER,
    );
    let write = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let (stages, accesses) = match to {
        vk::ImageLayout::TRANSFER_SRC_OPTIMAL => ((drawn, copied), (write, vk::AccessFlags::TRANSFER_READ)),
        _ => (
            (vk::PipelineStageFlags::TOP_OF_PIPE, drawn),
            (vk::AccessFlags::empty(), write),
        ),
    };
    let barrier = vk::ImageMemoryBarrier::default()
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(accesses.0)
        .dst_access_mask(accesses.1)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(RANGE);
    // SAFETY: the caller's; the image is the canvas.
    unsafe {
        device.cmd_pipeline_barrier(
            commands,
            stages.0,
            stages.1,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            &[barrier],
        );
    }
}
