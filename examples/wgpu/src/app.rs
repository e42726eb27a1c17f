//! The application around the effects: a device, a target and a render pass, without a window.

use crate::Effect;

/// Format of the target.
pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Any error of the application.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A wgpu device without a window.
#[derive(Clone, Debug)]
pub struct App {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// The device's name and backend.
    pub name: String,
}

/// An effect with its vertices.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// The effect.
    pub effect: &'a Effect,
    /// Its vertices, interleaved as [`Effect::vertex`] says; none for effects without inputs.
    pub vertices: Option<&'a wgpu::Buffer>,
    /// Number of vertices.
    pub count: u32,
}

impl App {
    /// Opens a device, including a software one.
    ///
    /// # Errors
    /// If there is none.
    pub fn new() -> Result<Self> {
        let instance = wgpu::Instance::default();
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
        let info = adapter.get_info();
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;
        let name = format!("{} ({})", info.name, info.backend);
        Ok(Self { device, queue, name })
    }

    /// A buffer of vertices.
    pub fn vertices(&self, values: &[f32]) -> wgpu::Buffer {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("vertices"),
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// A texture with its texels, four bytes each.
    pub fn texture(&self, [width, height]: [u32; 2], texels: &[u8]) -> wgpu::TextureView {
        let texture = self.target(
            [width, height],
            wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        );
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * width),
            rows_per_image: None,
        };
        self.queue
            .write_texture(texture.as_image_copy(), texels, layout, texture.size());
        texture.create_view(&Default::default())
    }

    fn target(&self, [width, height]: [u32; 2], usage: wgpu::TextureUsages) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width,
                height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage,
            view_formats: &[],
        })
    }

    /// A frame of the application: its pass clears to a colour, and draws the effects in order. Returns the pixels,
    /// four bytes each.
    ///
    /// # Errors
    /// If wgpu cannot read the picture back.
    pub fn frame(&self, [width, height]: [u32; 2], clear: wgpu::Color, effects: &[Drawn<'_>]) -> Result<Vec<u8>> {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let target = self.target([width, height], usage);
        let view = target.create_view(&Default::default());
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(clear),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        for drawn in effects {
            drawn
                .effect
                .draw(&mut pass, drawn.vertices.map(|buffer| buffer.slice(..)), drawn.count);
        }
        drop(pass);
        self.read(encoder, &target)
    }

    /// Copies a target to the host.
    fn read(&self, mut encoder: wgpu::CommandEncoder, target: &wgpu::Texture) -> Result<Vec<u8>> {
        let (row, height) = (4 * target.width(), target.height());
        let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(padded) * u64::from(height),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let to = wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded),
                rows_per_image: None,
            },
        };
        encoder.copy_texture_to_buffer(target.as_image_copy(), to, target.size());
        self.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let mapped = buffer.get_mapped_range(..)?;
        Ok(mapped
            .chunks_exact(padded as usize)
            .flat_map(|line| &line[..row as usize])
            .copied()
            .collect())
    }
}
