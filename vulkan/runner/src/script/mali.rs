//! The emulated Mali-400 as an engine for scripts.

use crate::compile::{Wanted, compile};
use crate::error::Error;
use crate::mali::vertex_indices;
use emulator::driver::{self, Blend, Contents, Depth, Draw, Image, PrimitiveMode};
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::{Program, Symbol, SymbolType};
use loader::spirv::block::{Class, fields_of};
use loader::spirv::{self, ModuleIndex, class};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use translate::{ShaderStage, Source};
use vulkan::work::{Attachment, Command, Graphics, Raster, Resource, Sampler, Stage, Task, Work};
use vulkan::{ErrorKind, ShaderProperties, vk};

/// Makes an engine.
type Make = fn() -> Box<dyn Engine>;

/// Names of devices on the command line, with their engines; `mali400` is the first of them.
pub const ENGINES: [(&str, Make); 3] = [
    ("mali400/native", || Box::new(Native::default())),
    ("mali400/wide", || Box::new(Wide::default())),
    ("mali400/scalar", || Box::new(Scalar)),
];

/// The emulator with one of its engines.
pub struct Mali {
    engine: Make,
}

impl Mali {
    /// The device of a name.
    pub fn named(name: &str) -> Option<Self> {
        let [(_, first), ..] = ENGINES;
        let found = ENGINES.iter().find(|(known, _)| *known == name);
        match found {
            Some((_, engine)) => Some(Self { engine: *engine }),
            None => (name == "mali400").then_some(Self { engine: first }),
        }
    }
}

type Result<T, E = vulkan::Error> = std::result::Result<T, E>;

fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(ErrorKind::Unsupported(format!("a Mali-400 has no {}", what.into())).into())
}

fn refused(error: impl std::fmt::Display) -> vulkan::Error {
    ErrorKind::Unsupported(format!("a Mali-400: {error}")).into()
}

impl script::run::Engine for Mali {
    fn has_feature(&self, _: &str) -> Option<bool> {
        Some(false)
    }

    fn has_extension(&self, _: &str) -> bool {
        false
    }

    fn version(&self) -> [u32; 3] {
        [1, 0, 0]
    }

    fn properties(&self) -> ShaderProperties {
        ShaderProperties {
            operations: vk::SubgroupFeatureFlags::empty(),
            stages: vk::ShaderStageFlags::empty(),
            sizes: [0; 2],
            sized_stages: vk::ShaderStageFlags::empty(),
            floats: vk::PhysicalDeviceFloatControlsProperties::default(),
        }
    }

    fn execute(&self, work: &Work<'_>, resources: &mut [Resource]) -> Result<Option<Duration>> {
        let Task::Graphics(graphics) = &work.task else {
            return unsupported("compute shaders");
        };
        let target = target(graphics, resources)?;
        for command in &graphics.commands {
            match command {
                Command::Clear { color, depth, stencil } => {
                    let texel = color.map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8);
                    let pixels = (target.size[0] * target.size[1]) as usize;
                    target.put(&texel.repeat(pixels), resources);
                    let word = quantised(f64::from(*depth)) | stencil << 24;
                    target.put_depth_stencil(&vec![word; pixels], resources);
                }
                Command::Draw { .. } => self.draw(work, graphics, command, &target, resources)?,
            }
        }
        Ok(None)
    }
}

impl Mali {
    fn draw(
        &self,
        work: &Work<'_>,
        graphics: &Graphics,
        command: &Command,
        target: &Target,
        resources: &mut [Resource],
    ) -> Result<()> {
        state(graphics, target)?;
        let stage = |wanted: vk::ShaderStageFlags| work.stages.iter().find(|stage| stage.stage == wanted);
        let (Some(vertex), Some(fragment), 2) = (
            stage(vk::ShaderStageFlags::VERTEX),
            stage(vk::ShaderStageFlags::FRAGMENT),
            work.stages.len(),
        ) else {
            return unsupported("pipelines of other than a vertex and a fragment shader");
        };
        let vertex = Compiled::new(vertex, ShaderStage::Vertex)?;
        let fragment = Compiled::new(fragment, ShaderStage::Fragment)?;
        let mut draw = Draw::new(&vertex.program, &fragment.program, graphics.size);
        draw.mode = mode(graphics.state.topology)?;
        vertices(&vertex, graphics, command, resources, &mut draw)?;
        uniforms(work, &[&vertex, &fragment], resources, &mut draw)?;
        textures(work, &fragment, resources, &mut draw)?;
        draw.blend = blend(&graphics.state.blend)?;
        if target.depth.is_some() {
            (draw.depth, draw.stencil) = (depth(&graphics.state)?, stencil(&graphics.state)?);
            draw.keep_depth = true;
        }
        draw.before = Some(Contents {
            rgba: target.rgba(resources),
            depth_stencil: target.depth_stencil(resources),
        });
        let mut gpu = Gpu::new((self.engine)());
        let drawn = || -> driver::Result<_> {
            let prepared = driver::prepare(&mut gpu, &draw)?;
            prepared.submit(&mut gpu)?;
            Ok((prepared.picture(&gpu)?, prepared.depth_stencil(&gpu)?))
        }();
        let (picture, words) = drawn.map_err(|error| match error.kind() {
            driver::ErrorKind::Link(_) => refused(error),
            _ => ErrorKind::Data(error.to_string()).into(),
        })?;
        target.put(&picture.rgba, resources);
        target.put_depth_stencil(&words.unwrap_or_default(), resources);
        Ok(())
    }
}

/// The blend mode, if the small driver supports it.
fn blend(state: &vk::PipelineColorBlendAttachmentState) -> Result<Blend> {
    use vk::BlendFactor as F;
    if state.blend_enable == 0 {
        return Ok(Blend::None);
    }
    let color = (state.src_color_blend_factor, state.dst_color_blend_factor);
    let alpha = (state.src_alpha_blend_factor, state.dst_alpha_blend_factor);
    let is_sum = [state.color_blend_op, state.alpha_blend_op] == [vk::BlendOp::ADD; 2];
    let premultiplied = (F::ONE, F::ONE_MINUS_SRC_ALPHA);
    Ok(match (color, alpha) {
        _ if !is_sum => return unsupported("blending by other than sums, here"),
        ((F::ONE, F::ZERO), (F::ONE, F::ZERO)) => Blend::None,
        ((F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA), alpha) if alpha == premultiplied => Blend::Alpha,
        (color, alpha) if color == premultiplied && alpha == premultiplied => Blend::Premultiplied,
        ((F::ONE, F::ONE), (F::ONE, F::ONE)) => Blend::Additive,
        ((F::DST_COLOR, F::ZERO), (F::DST_COLOR | F::DST_ALPHA, F::ZERO)) => Blend::Multiply,
        _ => return unsupported(format!("blending by {color:?} and {alpha:?}, here")),
    })
}

/// Depth testing of a pipeline with a depth attachment.
fn depth(state: &Raster) -> Result<Option<Depth>> {
    Ok(state.depth_test.then_some(Depth {
        compare: crate::mali::state::compare(state.depth_compare).or_else(unsupported)?,
        write: state.depth_write,
    }))
}

/// Stencil testing, where both faces have the same.
fn stencil(state: &Raster) -> Result<Option<[driver::Stencil; 2]>> {
    let Some([front, back]) = state.stencil else {
        return Ok(None);
    };
    let all = |face: &vk::StencilOpState| {
        let operations = [face.fail_op, face.depth_fail_op, face.pass_op];
        let masks = [face.compare_mask, face.write_mask, face.reference];
        (operations, face.compare_op, masks)
    };
    if all(&front) != all(&back) {
        return unsupported("stencil tests that differ by face, here");
    }
    let both = crate::mali::state::stencil(&front).or_else(unsupported)?;
    Ok(Some([both; 2]))
}

/// The largest depth in 24 bits.
const DEEPEST: u32 = 0x00ff_ffff;

/// A depth in 24 bits.
fn quantised(depth: f64) -> u32 {
    (depth.clamp(0.0, 1.0) * f64::from(DEEPEST)).round() as u32
}

/// The render target.
struct Target {
    resource: usize,
    /// Blue comes first.
    swapped: bool,
    size: [u32; 2],
    /// Pixels of a row of the image.
    width: u32,
    /// Depth and stencil: the resource, and pixels of a row of it.
    depth: Option<(usize, u32)>,
}

fn target(graphics: &Graphics, resources: &[Resource]) -> Result<Target> {
    let (&[Some(Attachment { resource, level: 0 })], []) = (&graphics.colors[..], &graphics.resolves[..]) else {
        return unsupported("pipelines of other than one colour");
    };
    let Some(Resource::Image(image)) = resources.get(resource) else {
        return unsupported("buffers to draw to");
    };
    let swapped = match image.format {
        vk::Format::R8G8B8A8_UNORM => false,
        vk::Format::B8G8R8A8_UNORM => true,
        other => return unsupported(format!("pictures of {other:?} here")),
    };
    if image.samples != 1 {
        return unsupported("samples that stay apart");
    }
    let [width, height, _] = image.size;
    let size = graphics.size;
    if size[0] > width || size[1] > height {
        return Err(ErrorKind::Data(format!("a framebuffer of {size:?} is larger than an attachment of it")).into());
    }
    let depth = match graphics.depth {
        None => None,
        Some(Attachment { resource, level: 0 }) => match resources.get(resource) {
            Some(Resource::Image(image))
                if image.samples == 1 && size[0] <= image.size[0] && size[1] <= image.size[1] =>
            {
                Some((resource, image.size[0]))
            }
            _ => return unsupported("such depth buffers"),
        },
        Some(_) => return unsupported("depth buffers with levels"),
    };
    Ok(Target {
        resource,
        swapped,
        size,
        width,
        depth,
    })
}

impl Target {
    /// The place of a row's bytes in the image.
    fn row(&self, at: usize) -> std::ops::Range<usize> {
        let start = at * self.width as usize * 4;
        start..start + self.size[0] as usize * 4
    }

    fn rgba(&self, resources: &[Resource]) -> Vec<u8> {
        let Some(Resource::Image(image)) = resources.get(self.resource) else {
            return Vec::new();
        };
        let Some(plane) = image.planes.first() else {
            return Vec::new();
        };
        let rows = (0..self.size[1] as usize).filter_map(|at| plane.bytes.get(self.row(at)));
        let mut all: Vec<u8> = rows.flatten().copied().collect();
        self.swap(&mut all);
        all
    }

    fn put(&self, rgba: &[u8], resources: &mut [Resource]) {
        let mut all = rgba.to_vec();
        self.swap(&mut all);
        let Some(Resource::Image(image)) = resources.get_mut(self.resource) else {
            return;
        };
        let Some(plane) = image.planes.first_mut() else { return };
        for (at, row) in all.chunks_exact(self.size[0] as usize * 4).enumerate() {
            if let Some(place) = plane.bytes.get_mut(self.row(at)) {
                place.copy_from_slice(row);
            }
        }
    }

    /// Depth (bits 23-0) and stencil (bits 31-24) of each pixel; nothing without such an attachment.
    fn depth_stencil(&self, resources: &[Resource]) -> Vec<u32> {
        let Some((Resource::Image(image), width)) =
            self.depth.and_then(|(at, width)| Some((resources.get(at)?, width)))
        else {
            return Vec::new();
        };
        let [columns, rows] = self.size;
        let mut words = vec![0; (columns * rows) as usize];
        for plane in &image.planes {
            for (at, word) in (0..).zip(&mut words) {
                let place = (at / columns * width + at % columns) as usize * plane.texel;
                let Some(texel) = plane.bytes.get(place..place + plane.texel) else {
                    continue;
                };
                let raw = texel.iter().rev().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
                *word |= match (plane.aspect, image.format) {
                    (vk::ImageAspectFlags::STENCIL, _) => raw << 24,
                    (_, vk::Format::D32_SFLOAT | vk::Format::D32_SFLOAT_S8_UINT) => {
                        quantised(f32::from_bits(raw).into())
                    }
                    (..) if plane.texel == 2 => quantised(f64::from(raw) / f64::from(u16::MAX)),
                    (..) => raw & DEEPEST,
                };
            }
        }
        words
    }

    /// Writes [`Self::depth_stencil`] back.
    fn put_depth_stencil(&self, words: &[u32], resources: &mut [Resource]) {
        let Some((Resource::Image(image), width)) =
            self.depth.and_then(|(at, width)| Some((resources.get_mut(at)?, width)))
        else {
            return;
        };
        let columns = self.size[0];
        for plane in &mut image.planes {
            for (at, word) in (0..).zip(words) {
                let place = (at / columns * width + at % columns) as usize * plane.texel;
                let depth = f64::from(word & DEEPEST) / f64::from(DEEPEST);
                let raw = match (plane.aspect, image.format) {
                    (vk::ImageAspectFlags::STENCIL, _) => word >> 24,
                    (_, vk::Format::D32_SFLOAT | vk::Format::D32_SFLOAT_S8_UINT) => (depth as f32).to_bits(),
                    (..) if plane.texel == 2 => (depth * f64::from(u16::MAX)).round() as u32,
                    (..) => word & DEEPEST,
                };
                if let Some(texel) = plane.bytes.get_mut(place..place + plane.texel) {
                    texel.copy_from_slice(&raw.to_le_bytes()[..plane.texel]);
                }
            }
        }
    }

    fn swap(&self, rgba: &mut [u8]) {
        if self.swapped {
            rgba.chunks_exact_mut(4).for_each(|texel| texel.swap(0, 2));
        }
    }
}

/// Rejects state that the small driver does not support.
fn state(graphics: &Graphics, target: &Target) -> Result<()> {
    let state = &graphics.state;
    let [width, height] = target.size.map(|size| size as f32);
    let viewport = &graphics.viewport;
    let whole = [viewport.x, viewport.y, viewport.width, viewport.height] == [0.0, 0.0, width, height]
        && [viewport.min_depth, viewport.max_depth] == [0.0, 1.0];
    let foreign = [
        ("viewport other than the whole picture, here", !whole),
        ("polygons as lines or points", state.polygon != vk::PolygonMode::FILL),
        ("culling here", !state.cull.is_empty()),
        (
            "masks of colours here",
            state.blend.color_write_mask != vk::ColorComponentFlags::RGBA,
        ),
        ("logical operations here", state.logic.is_some()),
        (
            "depth or stencil test without an attachment",
            target.depth.is_none() && (state.depth_test || state.stencil.is_some()),
        ),
        ("depth bounds", state.depth_bounds.is_some()),
        ("depth bias here", state.bias.is_some()),
        ("clamped depth", state.depth_clamp),
        ("restarts of primitives", state.restart),
        ("wide lines here", state.line_width != 1.0),
        ("draws without fragments", state.discard),
    ];
    match foreign.iter().find(|(_, said)| *said) {
        Some((what, _)) => unsupported(*what),
        None => Ok(()),
    }
}

fn mode(topology: vk::PrimitiveTopology) -> Result<PrimitiveMode> {
    Ok(match topology {
        vk::PrimitiveTopology::POINT_LIST => PrimitiveMode::Points,
        vk::PrimitiveTopology::LINE_LIST => PrimitiveMode::Lines,
        vk::PrimitiveTopology::LINE_STRIP => PrimitiveMode::LineStrip,
        vk::PrimitiveTopology::TRIANGLE_LIST => PrimitiveMode::Triangles,
        vk::PrimitiveTopology::TRIANGLE_STRIP => PrimitiveMode::TriangleStrip,
        vk::PrimitiveTopology::TRIANGLE_FAN => PrimitiveMode::TriangleFan,
        other => return unsupported(format!("{other:?}")),
    })
}

/// A compiled shader with the names of its symbols.
struct Compiled<'a> {
    program: Program,
    index: ModuleIndex<'a>,
    shader: translate::Shader,
}

impl<'a> Compiled<'a> {
    fn new(stage: &Stage<'a>, of: ShaderStage) -> Result<Self> {
        if !stage.constants.is_empty() {
            return unsupported("specialisation constants");
        }
        let bytes = spirv::write(stage.words)?;
        let source = Source {
            any_layout: true,
            entry: Some(stage.entry),
            ..Source::new("shader.spv", &bytes).map_err(refused)?.stage(of)
        };
        let shader = translate::read(&source).map_err(refused)?;
        let wanted = Wanted {
            stage: Some(match of {
                ShaderStage::Vertex => compiler::Stage::Vertex,
                _ => compiler::Stage::Fragment,
            }),
            entry: Some(stage.entry),
            ..Wanted::default()
        };
        let first_line = |error: Error| refused(error.to_string().lines().next().unwrap_or_default());
        let program = compile(Path::new("shader.spv"), &bytes, wanted)
            .map_err(first_line)?
            .program;
        let index = ModuleIndex::new(stage.words).map_err(refused)?;
        Ok(Self { program, index, shader })
    }
}

/// The attributes of a draw, and which vertices it takes.
fn vertices(
    vertex: &Compiled<'_>,
    graphics: &Graphics,
    command: &Command,
    resources: &[Resource],
    draw: &mut Draw<'_>,
) -> Result<()> {
    let Command::Draw {
        indexed,
        first,
        count,
        first_instance: 0,
        instances: 1,
    } = *command
    else {
        return unsupported("instances");
    };
    let bytes = |resource: usize| match resources.get(resource) {
        Some(Resource::Buffer(bytes)) => Ok(&bytes[..]),
        _ => unsupported("vertices out of images"),
    };
    let (start, vertices) = match (indexed, graphics.indices) {
        (false, _) => (first, count),
        (true, None) => return unsupported("indices out of nowhere"),
        (true, Some((resource, kind))) => {
            let size = match kind {
                vk::IndexType::UINT16 => 2,
                vk::IndexType::UINT32 => 4,
                _ => 1,
            };
            let index = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
            let all = bytes(resource)?.chunks_exact(size).map(index);
            let all: Vec<u32> = all.skip(first as usize).take(count as usize).collect();
            let most = all.iter().max().copied().unwrap_or(0);
            let Ok(all) = all.into_iter().map(u16::try_from).collect() else {
                return unsupported("indices of more than 16 bits");
            };
            draw.indices = Some(all);
            (0, most + 1)
        }
    };
    draw.count = if indexed { count } else { vertices };
    let [_, (_, symbols), _] = vertex.program.tables();
    for symbol in symbols.iter().filter(|symbol| symbol.is_used()) {
        let name = symbol.name();
        if name == "gl_VertexIndex" {
            draw.attributes.push((name, vertex_indices(vertices)));
            continue;
        }
        let location = (0..64).find(|location| match vertex.shader.input_name(*location) {
            Some(known) if !known.is_empty() => known == name,
            _ => format!("location{location}") == name,
        });
        let given = graphics.vertices.iter().find(|one| Some(one.location) == location);
        let Some(given) = given.filter(|one| !one.per_instance) else {
            return unsupported(format!("vertex data for {name}"));
        };
        let (components, class) = numbers(given.format)?;
        let data = bytes(given.resource)?;
        let mut all = Vec::new();
        for at in start..start.saturating_add(vertices) {
            let place = given.offset as usize + at as usize * given.stride as usize;
            let mut value = [0.0, 0.0, 0.0, 1.0];
            for (component, value) in value.iter_mut().take(components).enumerate() {
                let place = place + component * 4;
                let Some(&[a, b, c, d]) = data.get(place..place + 4) else {
                    return unsupported("vertices past the end of a buffer");
                };
                *value = number(class, [a, b, c, d]);
            }
            all.push(value);
        }
        draw.attributes.push((name, all));
    }
    Ok(())
}

/// The components of vertex data, which are words here.
fn numbers(format: vk::Format) -> Result<(usize, Class)> {
    use vk::Format as F;
    Ok(match format {
        F::R32_SFLOAT => (1, Class::Float),
        F::R32G32_SFLOAT => (2, Class::Float),
        F::R32G32B32_SFLOAT => (3, Class::Float),
        F::R32G32B32A32_SFLOAT => (4, Class::Float),
        F::R32_SINT => (1, Class::Int),
        F::R32_UINT => (1, Class::Uint),
        other => return unsupported(format!("vertices of {other:?} here")),
    })
}

/// A word as the hardware has it: a float.
fn number(class: Class, bytes: [u8; 4]) -> f32 {
    match class {
        Class::Float => f32::from_le_bytes(bytes),
        Class::Int => i32::from_le_bytes(bytes) as f32,
        Class::Uint => u32::from_le_bytes(bytes) as f32,
    }
}

/// The members of uniform blocks and push constants by their names; none may be left out.
fn uniforms(work: &Work<'_>, programs: &[&Compiled<'_>], resources: &[Resource], draw: &mut Draw<'_>) -> Result<()> {
    let mut known: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for compiled in programs {
        for variable in compiled.index.globals() {
            let bytes = match (variable.class, compiled.index.place(variable.id)) {
                (class::PUSH_CONSTANT, _) => work.push,
                (class::UNIFORM, Some((set, binding))) => {
                    let bound = work
                        .bindings
                        .iter()
                        .find(|one| (one.set, one.binding) == (set, binding));
                    let element = bound.and_then(|one| one.elements.first());
                    let found = element.and_then(|one| Some((resources.get(one.resource?)?, one)));
                    let Some((Resource::Buffer(bytes), element)) = found else {
                        return unsupported(format!("uniforms at set {set} binding {binding}"));
                    };
                    bytes
                        .get(element.offset as usize + element.dynamic as usize..)
                        .unwrap_or_default()
                }
                _ => continue,
            };
            members(&compiled.index, variable.pointee, bytes, &mut known)?;
        }
    }
    for compiled in programs {
        let [(_, symbols), ..] = compiled.program.tables();
        let is_number = |symbol: &&Symbol| {
            let kinds = [SymbolType::FLOAT, SymbolType::INT, SymbolType::BOOL, SymbolType::MATRIX];
            symbol.is_used() && kinds.contains(&symbol.kind)
        };
        for symbol in symbols.iter().filter(is_number) {
            let name = symbol.name();
            if symbol.initial.is_some() || name.starts_with("gl_") || name.starts_with("skrymir_") {
                continue;
            }
            let Some(values) = known.get(name.rsplit('.').next().unwrap_or(&name)) else {
                return unsupported(format!("value for the uniform {name}"));
            };
            if !draw.uniforms.iter().any(|(given, _)| *given == name) {
                draw.uniforms.push((name, values.clone()));
            }
        }
    }
    Ok(())
}

fn members(index: &ModuleIndex<'_>, ty: u32, bytes: &[u8], known: &mut BTreeMap<String, Vec<f32>>) -> Result<()> {
    use loader::spirv::decoration::OFFSET;
    let fields = fields_of(index, ty).unwrap_or_default();
    for member in 0..index.members(ty).map_or(0, |all| all.len()) as u32 {
        let offset = index.member_decoration(ty, member, OFFSET).unwrap_or(0);
        let (Some(name), Some(field)) = (
            index.member_name(ty, member),
            fields.iter().find(|field| field.offset == offset),
        ) else {
            continue;
        };
        let mut values = Vec::new();
        for element in 0..field.count {
            for column in 0..field.columns {
                for row in 0..field.rows {
                    let place = u64::from(offset)
                        + u64::from(element) * u64::from(field.array_stride)
                        + u64::from(column) * u64::from(field.matrix_stride)
                        + u64::from(row) * 4;
                    let Some(&[a, b, c, d]) = bytes.get(place as usize..place as usize + 4) else {
                        return unsupported(format!("value for the uniform {name}"));
                    };
                    values.push(number(field.class, [a, b, c, d]));
                }
            }
        }
        if known.get(&name).is_some_and(|other| *other != values) {
            return unsupported(format!("two uniforms of the name {name}"));
        }
        known.insert(name, values);
    }
    Ok(())
}

/// The images that a fragment program samples.
fn textures(work: &Work<'_>, fragment: &Compiled<'_>, resources: &[Resource], draw: &mut Draw<'_>) -> Result<()> {
    let [(_, symbols), ..] = fragment.program.tables();
    for symbol in symbols {
        if symbol.kind != SymbolType::SAMPLER_2D {
            if symbol.kind == SymbolType::SAMPLER_CUBE {
                return unsupported("cubes out of scripts");
            }
            continue;
        }
        let name = symbol.name();
        let bound = work.bindings.iter().find(|one| {
            match fragment
                .shader
                .binding_name(one.set, one.binding)
                .filter(|known| !known.is_empty())
            {
                Some(known) => known == name,
                None => format!("binding{}", one.binding) == name,
            }
        });
        let element = bound.and_then(|one| one.elements.first());
        let found = element.and_then(|one| Some((resources.get(one.resource?)?, one.sampler.as_ref()?)));
        let Some((Resource::Image(image), sampler)) = found else {
            return unsupported(format!("image with a sampler for {name}"));
        };
        draw.textures.push((name, texture(image, sampler)?));
    }
    Ok(())
}

fn texture(image: &vulkan::work::ImageData, sampler: &Sampler) -> Result<Image> {
    let address = sampler.address[0];
    let plain = image.levels == 1
        && image.samples == 1
        && image.dimension == vk::ImageType::TYPE_2D
        && sampler.mag == sampler.min
        && sampler.address[1] == address
        && !sampler.unnormalized
        && sampler.compare.is_none();
    let repeat = match address {
        vk::SamplerAddressMode::REPEAT => true,
        vk::SamplerAddressMode::CLAMP_TO_EDGE => false,
        other => return unsupported(format!("{other:?} here")),
    };
    let mut rgba = image.planes.first().map_or(Vec::new(), |plane| plane.bytes.clone());
    match image.format {
        vk::Format::R8G8B8A8_UNORM if plain => {}
        vk::Format::B8G8R8A8_UNORM if plain => rgba.chunks_exact_mut(4).for_each(|texel| texel.swap(0, 2)),
        other => return unsupported(format!("such images of {other:?} here")),
    }
    Ok(Image {
        width: image.size[0],
        height: image.size[1],
        rgba,
        linear: sampler.mag == vk::Filter::LINEAR,
        repeat,
    })
}
