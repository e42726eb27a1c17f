//! The plugin: loads a file onto a wgpu device, for use in any render pass.

use crate::stage::{Part, Stage, UNIFORM};
use crate::{Error, Result, Uniforms};
use loader::reflect::{Reflection, VertexLayout, reflect};
use loader::vbc;
use std::borrow::Cow;
use std::collections::BTreeSet;
use translate::ShaderStage;

/// Pipeline state that a file does not define.
#[derive(Clone, Debug)]
pub struct Options {
    /// Format of the render targets, one for each of the file's outputs.
    pub format: wgpu::TextureFormat,
    /// Blending; without it colours replace the target's.
    pub blend: Option<wgpu::BlendState>,
    /// Primitive topology.
    pub topology: wgpu::PrimitiveTopology,
}

impl Options {
    /// Triangles without blending.
    pub fn new(format: wgpu::TextureFormat) -> Self {
        Self {
            format,
            blend: None,
            topology: wgpu::PrimitiveTopology::TriangleList,
        }
    }
}

/// Contents of a slot.
#[derive(Clone, Copy, Debug)]
pub struct Texture<'a> {
    /// The slot's number.
    pub slot: u32,
    /// The texture.
    pub view: &'a wgpu::TextureView,
    /// Its sampler.
    pub sampler: &'a wgpu::Sampler,
}

/// A VBC shader or an SkSL effect.
#[derive(Clone, Debug)]
pub struct Effect {
    pipeline: wgpu::RenderPipeline,
    groups: Vec<wgpu::BindGroup>,
    uniforms: Option<(Uniforms, wgpu::Buffer)>,
    vertex: VertexLayout,
}

impl Effect {
    /// Reads a file (VBC, or an SkSL binary of version 11) and creates its pipeline.
    ///
    /// # Errors
    /// If the file is invalid, needs more than vertices, textures and uniforms, cannot be expressed in WGSL, or wgpu
    /// rejects it; and for a slot without a texture.
    pub fn new(device: &wgpu::Device, bytes: &[u8], options: &Options, textures: &[Texture<'_>]) -> Result<Self> {
        let bytes = match bytes.starts_with(&vbc::MAGIC) {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned(translate::sksl::to_vbc(&loader::sksl::read(bytes)?)?),
        };
        let file = vbc::read(&bytes)?;
        vbc::validate(&file).accept(vbc::FORMAT)?;
        let reflection = reflect(&file);
        supported(&reflection)?;
        let vertex = Stage::read(&bytes, ShaderStage::Vertex)?;
        let fragment = Stage::read(&bytes, ShaderStage::Fragment)?;
        let uniforms = Uniforms::of(&[&vertex, &fragment], reflection.uniform.as_ref())?;

        let uniforms = uniforms.map(|uniforms| {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("uniforms"),
                size: uniforms.bytes().len() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            (uniforms, buffer)
        });
        let stages = [&vertex, &fragment];
        let pipeline = watched(device, || pipeline(device, stages, &reflection, options))?;
        let parts = &vertex.parts | &fragment.parts;
        let buffer = uniforms.as_ref().map(|(_, buffer)| buffer);
        let groups = watched(device, || groups(device, &pipeline, &parts, textures, buffer))?;
        Ok(Self {
            pipeline,
            groups,
            uniforms,
            vertex: reflection.vertex,
        })
    }

    /// Names of the uniform's members, each with its number of values.
    pub fn members(&self) -> impl Iterator<Item = (&str, usize)> {
        self.uniforms.iter().flat_map(|(uniforms, _)| uniforms.members())
    }

    /// Layout of the interleaved vertex buffer, by the file's reflection.
    pub fn vertex(&self) -> &VertexLayout {
        &self.vertex
    }

    /// Sets a uniform member, matrices column by column, for later submissions.
    ///
    /// # Errors
    /// If there is no such member, or it has another number of values.
    pub fn set(&mut self, queue: &wgpu::Queue, name: &str, values: &[f32]) -> Result<()> {
        let Some((uniforms, buffer)) = &mut self.uniforms else {
            return Err(Error::Input(format!(
                "no uniform member \"{name}\": the file reads no uniform"
            )));
        };
        uniforms.set(name, values)?;
        queue.write_buffer(buffer, 0, uniforms.bytes());
        Ok(())
    }

    /// Draws in a pass of the application; files without inputs need no vertices.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>, vertices: Option<wgpu::BufferSlice<'_>>, count: u32) {
        pass.set_pipeline(&self.pipeline);
        for (index, group) in (0..).zip(&self.groups) {
            pass.set_bind_group(index, group, &[]);
        }
        if let Some(vertices) = vertices {
            pass.set_vertex_buffer(0, vertices);
        }
        pass.draw(0..count, 0..1);
    }
}

/// Calls `work` and returns the device's errors.
fn watched<T>(device: &wgpu::Device, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let scopes =
        [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal].map(|filter| device.push_error_scope(filter));
    let done = work();
    // Scopes end in the opposite order.
    let [validation, internal] = scopes;
    let said = [internal, validation].map(|scope| pollster::block_on(scope.pop()));
    match said.into_iter().flatten().next() {
        Some(error) => Err(Error::Wgpu(error)),
        None => done,
    }
}

/// Rejects resources that the plugin does not support, by name.
fn supported(reflection: &Reflection) -> Result<()> {
    let other = |stage: &&&str| !matches!(**stage, "VK_SHADER_STAGE_VERTEX_BIT" | "VK_SHADER_STAGE_FRAGMENT_BIT");
    if let Some(stage) = reflection.stages.iter().find(other) {
        return Err(Error::Unsupported(format!("{stage}, which wgpu does not have")));
    }
    if !reflection.subpass_inputs.is_empty() {
        return Err(Error::Unsupported(
            "subpass inputs, which wgpu does not have".to_owned(),
        ));
    }
    let sampled = |kind: &str| kind == "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER";
    match reflection.slots.iter().find(|slot| !sampled(slot.descriptor_type)) {
        Some(slot) => Err(Error::Unsupported(format!(
            "slot {}: {}",
            slot.slot, slot.descriptor_type
        ))),
        None => Ok(()),
    }
}

/// wgpu's format of a vertex attribute.
fn vertex_format(name: &str) -> Result<wgpu::VertexFormat> {
    use wgpu::VertexFormat as Format;
    Ok(match name {
        "VK_FORMAT_R32_SFLOAT" => Format::Float32,
        "VK_FORMAT_R32G32_SFLOAT" => Format::Float32x2,
        "VK_FORMAT_R32G32B32_SFLOAT" => Format::Float32x3,
        "VK_FORMAT_R32G32B32A32_SFLOAT" => Format::Float32x4,
        "VK_FORMAT_R32_SINT" => Format::Sint32,
        "VK_FORMAT_R32G32_SINT" => Format::Sint32x2,
        "VK_FORMAT_R32G32B32_SINT" => Format::Sint32x3,
        "VK_FORMAT_R32G32B32A32_SINT" => Format::Sint32x4,
        "VK_FORMAT_R32_UINT" => Format::Uint32,
        "VK_FORMAT_R32G32_UINT" => Format::Uint32x2,
        "VK_FORMAT_R32G32B32_UINT" => Format::Uint32x3,
        "VK_FORMAT_R32G32B32A32_UINT" => Format::Uint32x4,
        other => return Err(Error::Unsupported(format!("vertices of {other}"))),
    })
}

fn pipeline(
    device: &wgpu::Device,
    [vertex, fragment]: [&Stage; 2],
    reflection: &Reflection,
    options: &Options,
) -> Result<wgpu::RenderPipeline> {
    let module = |stage: &Stage| -> Result<_> {
        Ok(device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(stage.text()?.into()),
        }))
    };
    let (vertex, fragment) = (module(vertex)?, module(fragment)?);
    let converted = |attribute: &loader::reflect::VertexAttribute| -> Result<_> {
        Ok(wgpu::VertexAttribute {
            format: vertex_format(attribute.format)?,
            offset: attribute.offset.into(),
            shader_location: attribute.location,
        })
    };
    let attributes: Vec<_> = reflection
        .vertex
        .attributes
        .iter()
        .map(converted)
        .collect::<Result<_>>()?;
    let interleaved = wgpu::VertexBufferLayout {
        array_stride: reflection.vertex.stride.into(),
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    };
    let buffers = [Some(interleaved)];
    let target = wgpu::ColorTargetState {
        format: options.format,
        blend: options.blend,
        write_mask: wgpu::ColorWrites::ALL,
    };
    let targets: Vec<_> = reflection.outputs.iter().map(|_| Some(target.clone())).collect();
    Ok(device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        // Only the resources that the stages use.
        layout: None,
        vertex: wgpu::VertexState {
            module: &vertex,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: if attributes.is_empty() { &[] } else { &buffers },
        },
        primitive: wgpu::PrimitiveState {
            topology: options.topology,
            ..Default::default()
        },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &fragment,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    }))
}

/// The bind groups: textures and samplers, then the uniform block if there is one.
fn groups(
    device: &wgpu::Device,
    pipeline: &wgpu::RenderPipeline,
    parts: &BTreeSet<Part>,
    textures: &[Texture<'_>],
    uniform: Option<&wgpu::Buffer>,
) -> Result<Vec<wgpu::BindGroup>> {
    let mut sets = vec![Vec::new()];
    for part in parts {
        let (Part::Texture(slot) | Part::Sampler(slot)) = *part;
        let texture = textures.iter().find(|texture| texture.slot == slot);
        let texture = texture.ok_or_else(|| Error::Input(format!("slot {slot} has no texture")))?;
        let resource = match part {
            Part::Texture(_) => wgpu::BindingResource::TextureView(texture.view),
            Part::Sampler(_) => wgpu::BindingResource::Sampler(texture.sampler),
        };
        let binding = part.binding();
        sets[0].push(wgpu::BindGroupEntry { binding, resource });
    }
    if let Some(buffer) = uniform {
        let (binding, resource) = (UNIFORM.binding, buffer.as_entire_binding());
        sets.push(vec![wgpu::BindGroupEntry { binding, resource }]);
    }
    if uniform.is_none() && parts.is_empty() {
        return Ok(Vec::new());
    }
    let group = |(index, entries): (u32, &Vec<wgpu::BindGroupEntry<'_>>)| {
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(index),
            entries,
        })
    };
    Ok((0..).zip(&sets).map(group).collect())
}
