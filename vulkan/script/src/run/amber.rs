//! Running AmberScript.

use super::check::{self, Pixels, Values, Wanted};
use super::machine::{Engine, Machine, feature, image, stopped, visible};
use super::shaders::{self, Compile, PASSTHROUGH, Text};
use super::{Report, Stop, Verdict, convert};
use crate::amber::*;
use crate::error::Place;
use crate::layout::{DataLayout, format_of};
use crate::types::{DataType, Format, Stage, Topology, Value};
use ash::vk;
use loader::spirv::transform::{bounded, without_mode};
use loader::spirv::{ModuleIndex, Node, mode, op};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use vulkan::work::{self, Attachment, Binding, Element, Graphics, Raster, Resource, Task, Vertices, Work};

/// Width and height of a framebuffer that nothing is said of.
const FRAMEBUFFER: [u32; 2] = [250, 250];

/// The colour that a graphics pipeline has where it says nothing.
const IMPLICIT_COLOR: &str = "B8G8R8A8_UNORM";

/// The depth and stencil that it has.
const IMPLICIT_DEPTH: &str = "D32_SFLOAT_S8_UINT";

/// The pass of SPIRV-Tools that bounds every index: the only one that changes what a shader computes.
const ROBUST: &str = "--graphics-robust-access";

pub(super) fn run(engine: &dyn Engine, compile: &dyn Compile, script: &Script, path: &Path) -> Report {
    let mut runner = Runner {
        engine,
        compile,
        path,
        machine: Machine::default(),
        shaders: BTreeMap::new(),
        samplers: BTreeMap::new(),
        structs: BTreeMap::new(),
        files: BTreeMap::new(),
        pipelines: BTreeMap::new(),
        code: BTreeMap::new(),
        without: Vec::new(),
    };
    let verdict = match runner.all(script) {
        Ok(()) => Verdict::Holds,
        // Nothing says whether it would with what it asks for.
        Err(Stop(Verdict::Fails(place, why))) if !runner.without.is_empty() => {
            let without = runner.without.join(", ");
            Verdict::Unsupported(format!(
                "the device does not promise {without}; line {}: {why}",
                place.line
            ))
        }
        Err(Stop(verdict)) => verdict,
    };
    Report {
        verdict,
        kept: runner.machine.kept(),
        timed: runner.machine.timed,
        without: runner.without,
    }
}

/// A pipeline with all that is said of it and of its parents.
struct Plan<'a> {
    kind: PipelineKind,
    items: Vec<&'a Item>,
    size: [u32; 2],
    clear: ([f64; 4], f64, u32),
    /// Attachments that are implied: colour, and depth where it is tested.
    color: Option<usize>,
    depth: Option<usize>,
}

/// What pipelines do with an image.
#[derive(Clone, Copy, Default)]
struct ImageUse {
    /// The size of the framebuffers.
    size: [u32; 2],
    /// Whether one draws to it.
    attached: bool,
}

struct Runner<'a> {
    engine: &'a dyn Engine,
    compile: &'a dyn Compile,
    path: &'a Path,
    machine: Machine,
    shaders: BTreeMap<&'a str, (Place, &'a Shader)>,
    samplers: BTreeMap<&'a str, &'a Sampler>,
    structs: BTreeMap<String, &'a Struct>,
    files: BTreeMap<String, String>,
    pipelines: BTreeMap<&'a str, Plan<'a>>,
    /// Shaders that were compiled, by their name and entry point.
    code: BTreeMap<(String, String), shaders::Code>,
    /// Promises that the engine does not give.
    without: Vec<String>,
}

impl<'a> Runner<'a> {
    fn all(&mut self, script: &'a Script) -> Result<(), Stop> {
        for statement in &script.statements {
            self.require(&statement.command)?;
        }
        for statement in &script.statements {
            self.declare(statement)?;
        }
        self.resources(script)?;
        for statement in &script.statements {
            self.step(statement)?;
        }
        Ok(())
    }

    /// What the engine has to have.
    fn require(&mut self, command: &Command) -> Result<(), Stop> {
        match command {
            Command::DeviceFeature(name) | Command::DeviceProperty(name) => feature(self.engine, name),
            Command::DeviceExtension(name) | Command::InstanceExtension(name) => {
                if name.contains("ray_tracing") || name.contains("acceleration_structure") {
                    return Err(Stop::unsupported("ray tracing"));
                }
                match self.engine.has_extension(name) {
                    true => Ok(()),
                    false => Err(Stop::unsupported(format!("the device lacks the extension {name}"))),
                }
            }
            Command::Foreign(foreign) => Err(Stop::unsupported(foreign.beyond.name())),
            Command::Shader(Shader { stage, code, .. }) => match code {
                _ if stage.is_ray_tracing() => Err(Stop::unsupported("ray tracing")),
                Code::Source {
                    language: Language::OpenClC,
                    ..
                } => Err(Stop::unsupported("OpenCL C")),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn declare(&mut self, statement: &'a Statement) -> Result<(), Stop> {
        let place = statement.place;
        let (name, twice): (&str, bool) = match &statement.command {
            Command::VirtualFile { path, text } => (path, self.files.insert(path.clone(), text.clone()).is_some()),
            Command::Shader(shader) => (
                &shader.name,
                self.shaders.insert(&shader.name, (place, shader)).is_some(),
            ),
            Command::Struct(kind) => (&kind.name, self.structs.insert(kind.name.clone(), kind).is_some()),
            Command::Sampler(sampler) => (&sampler.name, self.samplers.insert(&sampler.name, sampler).is_some()),
            Command::Pipeline(pipeline) => {
                let (kind, mut items) = match &pipeline.base {
                    PipelineBase::New(kind) => (*kind, Vec::new()),
                    PipelineBase::Derived(parent) => match self.pipelines.get(parent.as_str()) {
                        Some(parent) => (parent.kind, parent.items.clone()),
                        None => return Err(Stop::invalid(place, format!("no pipeline {parent}"))),
                    },
                };
                items.extend(&pipeline.items);
                let size = items.iter().rev().find_map(|item| match item.setting {
                    Setting::FramebufferSize(size) => Some(size),
                    _ => None,
                });
                let plan = Plan {
                    kind,
                    items,
                    size: size.unwrap_or(FRAMEBUFFER),
                    clear: ([0.0; 4], 1.0, 0),
                    color: None,
                    depth: None,
                };
                (&pipeline.name, self.pipelines.insert(&pipeline.name, plan).is_some())
            }
            _ => return Ok(()),
        };
        if twice {
            return Err(Stop::invalid(place, format!("there are two of the name {name}")));
        }
        Ok(())
    }

    /// The images of all pipelines, with the sizes of the framebuffers that they are used with.
    fn images(&self) -> BTreeMap<&'a str, ImageUse> {
        let mut images: BTreeMap<&str, ImageUse> = BTreeMap::new();
        for plan in self.pipelines.values() {
            for item in &plan.items {
                let used: Vec<(&str, u32)> = match &item.setting {
                    Setting::Bind(Bind::Color {
                        buffer, base_mip_level, ..
                    }) => vec![(buffer, *base_mip_level)],
                    Setting::Bind(Bind::DepthStencil { buffer } | Bind::Resolve { buffer }) => vec![(buffer, 0)],
                    Setting::Bind(Bind::Buffers(bound)) if bound.kind.is_image() => {
                        bound.buffers.iter().map(|buffer| (buffer.as_str(), 0)).collect()
                    }
                    _ => continue,
                };
                let attached = !matches!(&item.setting, Setting::Bind(Bind::Buffers(_)));
                for (name, level) in used {
                    let size = plan.size.map(|size| size << level.min(16));
                    let known = images.entry(name).or_default();
                    known.attached |= attached;
                    // What is drawn to says the size; what is only read has it from there.
                    if attached || known.size == [0, 0] {
                        known.size = [known.size[0].max(size[0]), known.size[1].max(size[1])];
                    }
                }
            }
        }
        images
    }

    /// Whether a pipeline has it as a buffer.
    fn is_buffer(&self, name: &str) -> bool {
        let mut items = self.pipelines.values().flat_map(|plan| &plan.items);
        items.any(|item| match &item.setting {
            Setting::Bind(Bind::Buffers(bound)) => {
                !bound.kind.is_image() && bound.buffers.iter().any(|buffer| buffer == name)
            }
            _ => false,
        })
    }

    /// Makes every buffer and image.
    fn resources(&mut self, script: &'a Script) -> Result<(), Stop> {
        let images = self.images();
        for statement in &script.statements {
            let place = statement.place;
            let name = match &statement.command {
                Command::Buffer(buffer) => &buffer.name,
                Command::Image(image) => &image.name,
                _ => continue,
            };
            if self.machine.named(name).is_some() {
                return Err(Stop::invalid(place, format!("there are two of the name {name}")));
            }
            match &statement.command {
                Command::Buffer(buffer) => {
                    let size = images.get(name.as_str()).map(|one| one.size);
                    self.buffer(place, buffer, size)?;
                }
                Command::Image(image) => self.image(place, image, images.get(name.as_str()).copied())?,
                _ => {}
            }
        }
        let names: Vec<&str> = self.pipelines.keys().copied().collect();
        for name in names {
            let plan = &self.pipelines[name];
            let has = |wanted: fn(&Setting) -> bool| plan.items.iter().any(|item| wanted(&item.setting));
            let graphics = plan.kind == PipelineKind::Graphics;
            let color = has(|setting| matches!(setting, Setting::Bind(Bind::Color { .. })));
            let depth = has(|setting| matches!(setting, Setting::Bind(Bind::DepthStencil { .. })));
            let tested = has(|setting| matches!(setting, Setting::Depth(_) | Setting::Stencil(_)));
            let [width, height] = plan.size;
            let mut implied = |wanted: bool, format: &str| -> Result<Option<usize>, Stop> {
                let Some(format) = Format::parse(format).filter(|_| wanted) else {
                    return Ok(None);
                };
                let image = image(&format, vk::ImageType::TYPE_2D, [width, height, 1], 1, 1)?;
                Ok(Some(self.machine.add(Resource::Image(image))))
            };
            let color = implied(graphics && !color, IMPLICIT_COLOR)?;
            let depth = implied(graphics && !depth && tested, IMPLICIT_DEPTH)?;
            if let Some(plan) = self.pipelines.get_mut(name) {
                (plan.color, plan.depth) = (color, depth);
            }
        }
        Ok(())
    }

    fn layout(&self, place: Place, kind: &DataType, layout: Option<Layout>) -> Result<DataLayout, Stop> {
        DataLayout::new(kind, layout.unwrap_or(Layout::Std430), &self.structs)
            .map_err(|error| Stop::invalid(place, error.0))
    }

    fn buffer(&mut self, place: Place, buffer: &Buffer, drawn: Option<[u32; 2]>) -> Result<(), Stop> {
        match &buffer.shape {
            BufferShape::Format {
                format,
                mip_levels,
                samples,
                fill,
            } => {
                let layout = DataLayout::texels(format);
                let (bytes, size) = match fill {
                    Some(Fill::File(FileKind::Png, path)) => {
                        let (size, bytes) = self.png(place, path, format)?;
                        (Some(bytes), size)
                    }
                    Some(_) => {
                        return Err(Stop::unsupported(
                            "a FORMAT buffer that is filled with other than a PNG file",
                        ));
                    }
                    None => (None, drawn.unwrap_or([1, 1])),
                };
                let [width, height] = size;
                let mut image = image(
                    format,
                    vk::ImageType::TYPE_2D,
                    [width, height, 1],
                    *mip_levels,
                    *samples,
                )?;
                if let (Some(bytes), Some(plane)) = (bytes, image.planes.first_mut()) {
                    let length = bytes.len().min(plane.bytes.len());
                    plane.bytes[..length].copy_from_slice(&bytes[..length]);
                }
                self.machine
                    .hold(&buffer.name, Resource::Image(image), layout, Some(format.clone()));
            }
            BufferShape::Data {
                kind,
                layout,
                size,
                fill,
            } => {
                let layout = self.layout(place, kind, *layout)?;
                let count = match size {
                    Some(DataSize::Elements(count)) => Some(u64::from(*count)),
                    Some(DataSize::Area(width, height)) => Some(u64::from(*width) * u64::from(*height)),
                    None => None,
                };
                let bytes = self.filled(place, &layout, fill, count)?;
                let format = format_of(&kind.name);
                let resource = match drawn {
                    None => Resource::Buffer(bytes),
                    Some(_) => {
                        let format = format
                            .clone()
                            .ok_or_else(|| Stop::invalid(place, format!("{kind} is no texel")))?;
                        let count = (bytes.len() / layout.stride.max(1)) as u32;
                        let [width, height] = match size {
                            Some(DataSize::Area(width, height)) => [*width, *height],
                            _ => [count.max(1), 1],
                        };
                        let mut image = image(&format, vk::ImageType::TYPE_2D, [width, height, 1], 1, 1)?;
                        put_texels(&mut image, &bytes, layout.stride, format.bytes());
                        Resource::Image(image)
                    }
                };
                self.machine.hold(&buffer.name, resource, layout, format);
            }
        }
        Ok(())
    }

    /// An image: no smaller than the framebuffers that it is drawn to in, and a buffer where pipelines only have it as one.
    fn image(&mut self, place: Place, decl: &Image, used: Option<ImageUse>) -> Result<(), Stop> {
        let (format, layout) = match &decl.texel {
            Texel::Format(format) => (format.clone(), DataLayout::texels(format)),
            Texel::Data(kind) => {
                let format =
                    format_of(&kind.name).ok_or_else(|| Stop::invalid(place, format!("{kind} is no texel")))?;
                let layout = DataLayout::texels(&format);
                (format, layout)
            }
        };
        let dimension = match decl.dimension {
            Dimension::One => vk::ImageType::TYPE_1D,
            Dimension::Two => vk::ImageType::TYPE_2D,
            Dimension::Three => vk::ImageType::TYPE_3D,
        };
        let count = decl.size.iter().map(|size| u64::from(*size)).product();
        let bytes = match &decl.fill {
            Some(Fill::File(FileKind::Png, path)) => Some(self.png(place, path, &format)?.1),
            Some(fill) => Some(self.filled(place, &layout, fill, Some(count))?),
            None => None,
        };
        if used.is_none() && self.is_buffer(&decl.name) {
            let bytes = bytes.unwrap_or_else(|| vec![0; count as usize * layout.stride]);
            self.machine
                .hold(&decl.name, Resource::Buffer(bytes), layout, Some(format));
            return Ok(());
        }
        let mut size = decl.size;
        if let Some(used) = used.filter(|used| used.attached && decl.fill.is_none()) {
            (size[0], size[1]) = (size[0].max(used.size[0]), size[1].max(used.size[1]));
        }
        let mut image = image(&format, dimension, size, decl.mip_levels, decl.samples)?;
        if let Some(bytes) = bytes {
            put_texels(&mut image, &bytes, layout.stride, format.bytes());
        }
        self.machine
            .hold(&decl.name, Resource::Image(image), layout, Some(format));
        Ok(())
    }

    /// A buffer's first contents.
    fn filled(&self, place: Place, layout: &DataLayout, fill: &Fill, count: Option<u64>) -> Result<Vec<u8>, Stop> {
        const MOST: u64 = 1 << 30;
        let lanes = layout.lanes.len().max(1);
        let text: Vec<Value>;
        let (values, given): (Box<dyn Iterator<Item = Value> + '_>, Option<usize>) = match fill {
            Fill::Data(values) => (Box::new(values.iter().copied()), Some(values.len())),
            Fill::Value(value) => (Box::new(std::iter::repeat(*value)), None),
            Fill::Series { from, by } => (Box::new(series(*from, *by)), None),
            Fill::File(FileKind::Text, path) => {
                let bytes = self.file(place, path)?;
                let words = String::from_utf8_lossy(&bytes).into_owned();
                let read = |word: &str| {
                    let wrong = || Stop::invalid(place, format!("{path}: expected a number, found {word:?}"));
                    Value::parse(word).ok_or_else(wrong)
                };
                text = words.split_whitespace().map(read).collect::<Result<_, _>>()?;
                (Box::new(text.clone().into_iter()), Some(text.len()))
            }
            Fill::File(FileKind::Binary, path) => {
                let mut bytes = self.file(place, path)?;
                if let Some(count) = count {
                    bytes.resize((count.min(MOST) as usize) * layout.stride, 0);
                }
                return Ok(bytes);
            }
            Fill::File(FileKind::Png, _) => return Err(Stop::unsupported("data from a PNG file")),
        };
        let elements = match (count, given) {
            (Some(count), Some(given)) if given.div_ceil(lanes) as u64 > count => {
                let message = format!("{given} numbers are more than {count} elements of {lanes} have");
                return Err(Stop::invalid(place, message));
            }
            (Some(count), _) => count,
            (None, given) => {
                let given = given.unwrap_or(0);
                if !given.is_multiple_of(lanes) {
                    let message = format!("expected a multiple of {lanes} numbers, found {given}");
                    return Err(Stop::invalid(place, message));
                }
                (given / lanes) as u64
            }
        };
        if elements.saturating_mul(layout.stride as u64) > MOST {
            return Err(Stop::unsupported(format!("a buffer of {elements} elements")));
        }
        Ok(layout.bytes(values, elements as usize))
    }

    /// A file beside the script.
    fn file(&self, place: Place, name: &str) -> Result<Vec<u8>, Stop> {
        if let Some(text) = self.files.get(name) {
            return Ok(text.clone().into_bytes());
        }
        let path = self.path.parent().unwrap_or(Path::new("")).join(name);
        std::fs::read(&path).map_err(|error| Stop(Verdict::NoFile(place, format!("{}: {error}", path.display()))))
    }

    /// A picture's size and its texels in a format of four bytes.
    fn png(&self, place: Place, name: &str, format: &Format) -> Result<([u32; 2], Vec<u8>), Stop> {
        let bytes = self.file(place, name)?;
        let wrong = |error: png::DecodingError| Stop::invalid(place, format!("{name}: {error}"));
        let mut decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().map_err(wrong)?;
        let size = reader.output_buffer_size().filter(|size| *size < 1 << 30);
        let mut texels = vec![0; size.ok_or_else(|| Stop::unsupported(format!("{name} is too large")))?];
        let frame = reader.next_frame(&mut texels).map_err(wrong)?;
        texels.truncate(frame.buffer_size());
        if frame.color_type != png::ColorType::Rgba {
            let pixels = texels.chunks_exact(2);
            texels = pixels.flat_map(|two| [two[0], two[0], two[0], two[1]]).collect();
        }
        match format.name().get(..8) {
            Some("R8G8B8A8") => {}
            Some("B8G8R8A8") => texels.chunks_exact_mut(4).for_each(|texel| texel.swap(0, 2)),
            _ => return Err(Stop::invalid(place, format!("{name} has no texels of {format}"))),
        }
        Ok(([frame.width, frame.height], texels))
    }

    fn step(&mut self, statement: &'a Statement) -> Result<(), Stop> {
        let place = statement.place;
        match &statement.command {
            Command::ClearColor { pipeline, color } => self.plan(place, pipeline)?.clear.0 = *color,
            Command::ClearDepth { pipeline, value } => self.plan(place, pipeline)?.clear.1 = *value,
            Command::ClearStencil { pipeline, value } => self.plan(place, pipeline)?.clear.2 = *value,
            Command::Clear { pipeline } => {
                let (color, depth, stencil) = self.plan(place, pipeline)?.clear;
                let clear = work::Command::Clear {
                    color: color.map(|value| (value / 255.0) as f32),
                    depth: depth as f32,
                    stencil,
                };
                self.draw(place, pipeline, false, Drawn::only(clear))?;
            }
            Command::Copy { from, to } => {
                let (from, to) = (self.named(place, from)?, self.named(place, to)?);
                let same = match (&self.machine.resources[from], &self.machine.resources[to]) {
                    (Resource::Buffer(from), Resource::Buffer(to)) => from.len() == to.len(),
                    (Resource::Image(from), Resource::Image(to)) => from.format == to.format && from.samples == 1,
                    _ => false,
                };
                if !same {
                    return Err(Stop::invalid(place, "the buffers to copy are not of one type and size"));
                }
                self.machine.resources[to] = self.machine.resources[from].clone();
            }
            Command::Repeat { count, body } => {
                for _ in 0..*count {
                    for statement in body {
                        self.step(statement)?;
                    }
                }
            }
            Command::Run(run) => self.run(place, run)?,
            Command::Expect(expect) => {
                let failed = |why: String| Stop(Verdict::Fails(place, format!("{}: {why}", expect.buffer)));
                self.expect(place, expect)?.map_err(failed)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn plan(&mut self, place: Place, name: &str) -> Result<&mut Plan<'a>, Stop> {
        let plan = self.pipelines.get_mut(name);
        plan.ok_or_else(|| Stop::invalid(place, format!("no pipeline {name}")))
    }

    fn named(&self, place: Place, name: &str) -> Result<usize, Stop> {
        let found = self.machine.named(name).map(|held| held.resource);
        found.ok_or_else(|| Stop::invalid(place, format!("no buffer {name}")))
    }

    fn run(&mut self, place: Place, run: &Run) -> Result<(), Stop> {
        let plan = self.plan(place, &run.pipeline)?;
        let (size, kind) = (plan.size, plan.kind);
        let vertices = plan
            .items
            .iter()
            .filter(|item| matches!(item.setting, Setting::VertexData(_)))
            .count();
        let wrong_kind = |wanted: &str| Stop::invalid(place, format!("{} is no {wanted} pipeline", run.pipeline));
        match &run.how {
            How::Rays(_) => Err(Stop::unsupported("ray tracing")),
            How::Compute(groups) => {
                if kind != PipelineKind::Compute {
                    return Err(wrong_kind("compute"));
                }
                self.compute(place, &run.pipeline, run.timed, *groups)
            }
            _ if kind != PipelineKind::Graphics => Err(wrong_kind("graphics")),
            How::Rect { position, size: rect } => {
                let [left, top, right, bottom] = edges(*position, *rect, size);
                let corners = [[left, bottom], [left, top], [right, bottom], [right, top]];
                let corners = self.machine.corners(&corners);
                self.draw(
                    place,
                    &run.pipeline,
                    run.timed,
                    Drawn::corners(Topology::TriangleStrip, corners, 4),
                )
            }
            How::Grid {
                position,
                size: rect,
                cells,
            } => {
                if vertices > 1 {
                    let message = format!(
                        "DRAW_GRID has vertices of its own, and {} {vertices} buffers of them",
                        run.pipeline
                    );
                    return Err(Stop::invalid(place, message));
                }
                let corners = grid(*position, *rect, *cells, size);
                let corners = corners.ok_or_else(|| Stop::unsupported(format!("a grid of {cells:?} cells")))?;
                let count = corners.len() as u32;
                let corners = self.machine.corners(&corners);
                self.draw(
                    place,
                    &run.pipeline,
                    run.timed,
                    Drawn::corners(Topology::TriangleList, corners, count),
                )
            }
            How::Array(array) => {
                let drawn = Drawn {
                    command: None,
                    topology: array.topology,
                    corners: None,
                    array: Some(*array),
                };
                self.draw(place, &run.pipeline, run.timed, drawn)
            }
        }
    }

    fn compute(&mut self, place: Place, pipeline: &str, timed: bool, groups: [u32; 3]) -> Result<(), Stop> {
        let used = self.used(place, pipeline)?;
        self.execute(place, used, timed, Task::Compute(groups))
    }

    fn execute(&mut self, place: Place, used: Used, timed: bool, task: Task) -> Result<(), Stop> {
        let work = Work {
            stages: used.stages.iter().map(Attached::stage).collect(),
            bindings: used.bindings,
            push: &used.push,
            task,
            timed,
        };
        let time = self
            .engine
            .execute(&work, &mut self.machine.resources)
            .map_err(stopped)?;
        self.machine.timed.extend(time.map(|time| (place.line, time)));
        Ok(())
    }

    fn draw(&mut self, place: Place, pipeline: &str, timed: bool, drawn: Drawn) -> Result<(), Stop> {
        let used = match drawn.command {
            // To clear takes no shaders.
            Some(_) => Used::default(),
            None => self.used(place, pipeline)?,
        };
        self.plan(place, pipeline)?;
        let plan = &self.pipelines[pipeline];
        if plan.kind != PipelineKind::Graphics {
            return Err(Stop::invalid(place, format!("{pipeline} is no graphics pipeline")));
        }
        let mut graphics = self.framebuffer(plan)?;
        self.raster(plan, &mut graphics.state)?;
        graphics.state.topology = convert::topology(drawn.topology);
        let command = match (drawn.command, drawn.corners, drawn.array) {
            (Some(command), ..) => command,
            (_, Some((resource, count)), _) => {
                graphics.vertices = vec![corners(resource)];
                work::Command::Draw {
                    indexed: false,
                    first: 0,
                    count,
                    first_instance: 0,
                    instances: 1,
                }
            }
            (_, _, Some(array)) => self.array(place, plan, &array, &mut graphics)?,
            _ => return Ok(()),
        };
        graphics.commands = vec![command];
        self.execute(place, used, timed, Task::Graphics(Box::new(graphics)))
    }

    /// A draw of the pipeline's vertices.
    fn array(
        &self,
        place: Place,
        plan: &Plan<'_>,
        array: &DrawArray,
        graphics: &mut Graphics,
    ) -> Result<work::Command, Stop> {
        let (mut vertices, mut indices) = (BTreeMap::new(), None);
        for item in &plan.items {
            match &item.setting {
                Setting::VertexData(data) => {
                    vertices.insert(data.location, self.vertices(item.place, data)?);
                }
                Setting::IndexData(name) => {
                    let held = self.machine.named(name);
                    let held = held.ok_or_else(|| Stop::invalid(item.place, format!("no buffer {name}")))?;
                    let kind = match held.layout.stride {
                        1 => vk::IndexType::UINT8_EXT,
                        2 => vk::IndexType::UINT16,
                        4 => vk::IndexType::UINT32,
                        bytes => return Err(Stop::invalid(item.place, format!("indices of {bytes} bytes"))),
                    };
                    indices = Some((held.resource, kind, held.layout.stride));
                }
                _ => {}
            }
        }
        let elements = |resource: usize, offset: u32, stride: usize| {
            let bytes = visible(&self.machine.resources[resource])
                .len()
                .saturating_sub(offset as usize);
            bytes.checked_div(stride).unwrap_or(0) as u32
        };
        let all = match (array.indexed, indices) {
            (true, None) => return Err(Stop::invalid(place, "INDEXED, and the pipeline has no INDEX_DATA")),
            (true, Some((resource, kind, stride))) => {
                if kind == vk::IndexType::UINT8_EXT {
                    feature(self.engine, "IndexTypeUint8Features.indexTypeUint8")?;
                }
                graphics.indices = Some((resource, kind));
                elements(resource, 0, stride)
            }
            (false, _) => {
                let first = vertices.values().find(|one: &&Vertices| !one.per_instance);
                first.map_or(0, |one| elements(one.resource, one.offset, one.stride as usize))
            }
        };
        graphics.vertices = vertices.into_values().collect();
        let first = array.start.unwrap_or(0);
        let count = array.count.unwrap_or(all.saturating_sub(first));
        let past = first.checked_add(count).is_none_or(|end| end > all);
        if past && (array.indexed || !graphics.vertices.is_empty()) {
            return Err(Stop::invalid(
                place,
                format!("{count} from {first}, and there are {all}"),
            ));
        }
        Ok(work::Command::Draw {
            indexed: array.indexed,
            first,
            count,
            first_instance: array.start_instance.unwrap_or(0),
            instances: array.instances.unwrap_or(1),
        })
    }

    fn vertices(&self, place: Place, data: &VertexData) -> Result<Vertices, Stop> {
        let held = self.machine.named(&data.buffer);
        let held = held.ok_or_else(|| Stop::invalid(place, format!("no buffer {}", data.buffer)))?;
        let format = match (&data.format, &held.format) {
            (Some(format), _) | (None, Some(format)) => format,
            (None, None) => return Err(Stop::unsupported("vertex data that are matrices or structures")),
        };
        let stride = match (data.stride, &data.format) {
            (Some(stride), _) => stride,
            (None, Some(format)) => format.bytes() as u32,
            (None, None) => held.layout.stride as u32,
        };
        Ok(Vertices {
            location: data.location,
            resource: held.resource,
            offset: data.offset.unwrap_or(0),
            stride,
            format: convert::format(format)
                .ok_or_else(|| Stop::unsupported(format!("Vulkan has no format {format}")))?,
            per_instance: data.per_instance.unwrap_or(false),
        })
    }

    fn framebuffer(&self, plan: &Plan<'_>) -> Result<Graphics, Stop> {
        let [width, height] = plan.size.map(|size| size as f32);
        let mut graphics = Graphics {
            size: plan.size,
            viewport: vk::Viewport {
                width,
                height,
                max_depth: 1.0,
                ..Default::default()
            },
            colors: Vec::new(),
            resolves: Vec::new(),
            depth: plan.depth.map(|resource| Attachment { resource, level: 0 }),
            state: Raster::default(),
            vertices: Vec::new(),
            indices: None,
            commands: Vec::new(),
        };
        let mut resolves = Vec::new();
        for item in &plan.items {
            let attach = |name: &str, level: u32| {
                let resource = self.named(item.place, name)?;
                Ok::<_, Stop>(Attachment { resource, level })
            };
            match &item.setting {
                Setting::Bind(Bind::Color {
                    buffer,
                    location,
                    base_mip_level,
                }) => {
                    const MOST: u32 = 64;
                    if *location >= MOST {
                        return Err(Stop::unsupported(format!("colour attachment {location}")));
                    }
                    let at = *location as usize;
                    graphics.colors.resize(graphics.colors.len().max(at + 1), None);
                    graphics.colors[at] = Some(attach(buffer, *base_mip_level)?);
                }
                Setting::Bind(Bind::DepthStencil { buffer }) => graphics.depth = Some(attach(buffer, 0)?),
                Setting::Bind(Bind::Resolve { buffer }) => resolves.push(attach(buffer, 0)?),
                Setting::Viewport(viewport) => {
                    graphics.viewport = vk::Viewport {
                        x: viewport.position[0] as f32,
                        y: viewport.position[1] as f32,
                        width: viewport.size[0] as f32,
                        height: viewport.size[1] as f32,
                        min_depth: viewport.min_depth.unwrap_or(0.0) as f32,
                        max_depth: viewport.max_depth.unwrap_or(1.0) as f32,
                    };
                }
                _ => {}
            }
        }
        if let Some(resource) = plan.color {
            graphics.colors = vec![Some(Attachment { resource, level: 0 })];
        }
        if !resolves.is_empty() {
            // They belong to the colours of several samples, in their order.
            let mut resolves = resolves.into_iter();
            let several = |color: &Attachment| match &self.machine.resources[color.resource] {
                Resource::Image(image) => image.samples > 1,
                Resource::Buffer(_) => false,
            };
            let of = |color: &Option<Attachment>| {
                color
                    .as_ref()
                    .filter(|color| several(color))
                    .and_then(|_| resolves.next())
            };
            graphics.resolves = graphics.colors.iter().map(of).collect();
        }
        Ok(graphics)
    }

    fn raster(&self, plan: &Plan<'_>, state: &mut Raster) -> Result<(), Stop> {
        let need = |name: &str| feature(self.engine, name);
        for item in &plan.items {
            match &item.setting {
                Setting::PolygonMode(mode) => {
                    if *mode != PolygonMode::Fill {
                        need("fillModeNonSolid")?;
                    }
                    state.polygon = convert::polygon(*mode);
                }
                Setting::PatchControlPoints(points) => state.patch_points = *points,
                Setting::Depth(depth) => {
                    state.depth_test = depth.test.unwrap_or(state.depth_test);
                    state.depth_write = depth.write.unwrap_or(state.depth_write);
                    state.depth_compare = depth.compare_op.map_or(state.depth_compare, convert::compare);
                    state.depth_clamp = depth.clamp.unwrap_or(state.depth_clamp);
                    state.depth_bounds = depth
                        .bounds
                        .map(|both| both.map(|one| one as f32))
                        .or(state.depth_bounds);
                    state.bias = depth.bias.map(|all| all.map(|one| one as f32)).or(state.bias);
                    if state.depth_clamp {
                        need("depthClamp")?;
                    }
                    if state.depth_bounds.is_some_and(|bounds| bounds == [0.0, 1.0]) {
                        state.depth_bounds = None;
                    }
                    if state.depth_bounds.is_some() {
                        need("depthBounds")?;
                    }
                    if state.bias.is_some_and(|bias| bias[1] != 0.0) {
                        need("depthBiasClamp")?;
                    }
                }
                Setting::Stencil(stencil) => self.stencil(stencil, state),
                Setting::Blend(blend) => {
                    let factor = |factor: Option<BlendFactor>, other| factor.map_or(other, convert::factor);
                    let op = |op: Option<BlendOp>| convert::blend(op.unwrap_or(BlendOp::Add));
                    let ((color, advanced), (alpha, _)) = (op(blend.color_op), op(blend.alpha_op));
                    if advanced && !self.engine.has_extension("VK_EXT_blend_operation_advanced") {
                        return Err(Stop::unsupported(
                            "the device lacks the extension VK_EXT_blend_operation_advanced",
                        ));
                    }
                    state.blend = state
                        .blend
                        .blend_enable(true)
                        .src_color_blend_factor(factor(blend.src_color, vk::BlendFactor::ONE))
                        .dst_color_blend_factor(factor(blend.dst_color, vk::BlendFactor::ZERO))
                        .color_blend_op(color)
                        .src_alpha_blend_factor(factor(blend.src_alpha, vk::BlendFactor::ONE))
                        .dst_alpha_blend_factor(factor(blend.dst_alpha, vk::BlendFactor::ZERO))
                        .alpha_blend_op(alpha);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn stencil(&self, stencil: &Stencil, state: &mut Raster) {
        if stencil.test == Some(false) {
            state.stencil = None;
            return;
        }
        let mut faces = state.stencil.unwrap_or_default();
        let which = match stencil.face {
            Face::Front => 0..1,
            Face::Back => 1..2,
            Face::Both => 0..2,
        };
        for face in &mut faces[which] {
            let op = |op: Option<StencilOp>| convert::stencil(op.unwrap_or(StencilOp::Keep));
            *face = vk::StencilOpState {
                fail_op: op(stencil.fail_op),
                pass_op: op(stencil.pass_op),
                depth_fail_op: op(stencil.depth_fail_op),
                compare_op: convert::compare(stencil.compare_op.unwrap_or(CompareOp::Always)),
                compare_mask: stencil.compare_mask.unwrap_or(0),
                write_mask: stencil.write_mask.unwrap_or(0),
                reference: stencil.reference.unwrap_or(0),
            };
        }
        state.stencil = Some(faces);
    }

    /// Shaders, descriptors and push constants of a pipeline.
    fn used(&mut self, place: Place, pipeline: &str) -> Result<Used, Stop> {
        let items = self.plan(place, pipeline)?.items.clone();
        let mut stages: BTreeMap<Stage, Attached> = BTreeMap::new();
        let mut bindings: BTreeMap<(u32, u32), Binding> = BTreeMap::new();
        let mut push = Vec::new();
        for item in &items {
            match &item.setting {
                Setting::Attach(attach) => {
                    let attached = self.attach(item.place, attach)?;
                    stages.insert(attached.0, attached.1);
                }
                Setting::Subgroup(subgroup) => {
                    let attached = stages.values_mut().find(|one| one.shader == subgroup.shader);
                    let missing = || Stop::invalid(item.place, format!("no shader {} is attached", subgroup.shader));
                    subgroups(self.engine, subgroup, attached.ok_or_else(missing)?)?;
                }
                Setting::Bind(bind) => {
                    let bound = match bind {
                        Bind::Buffers(bound) => self.bind(item.place, bound)?,
                        Bind::Samplers {
                            samplers, set, binding, ..
                        } => Binding {
                            set: *set,
                            binding: *binding,
                            kind: vk::DescriptorType::SAMPLER,
                            elements: samplers
                                .iter()
                                .map(|name| {
                                    let sampler = Some(self.sampler(item.place, name)?);
                                    Ok(Element {
                                        sampler,
                                        ..Element::default()
                                    })
                                })
                                .collect::<Result<_, Stop>>()?,
                        },
                        Bind::PushConstant { buffer } => {
                            let resource = self.named(item.place, buffer)?;
                            push = visible(&self.machine.resources[resource]).to_vec();
                            push.resize(push.len().next_multiple_of(4), 0);
                            continue;
                        }
                        Bind::Color { .. } | Bind::DepthStencil { .. } | Bind::Resolve { .. } => continue,
                        Bind::Kernel { .. } | Bind::KernelSampler { .. } => return Err(Stop::unsupported("OpenCL C")),
                        Bind::AccelerationStructure { .. } => return Err(Stop::unsupported("ray tracing")),
                    };
                    bindings.insert((bound.set, bound.binding), bound);
                }
                // Other passes leave what a shader computes as it is.
                Setting::ShaderOptimization { shader, passes } if passes.iter().any(|pass| pass == ROBUST) => {
                    let attached = stages.values_mut().find(|one| one.shader == *shader);
                    let missing = || Stop::invalid(item.place, format!("no shader {shader} is attached"));
                    let code = &mut attached.ok_or_else(missing)?.code;
                    code.words = bounded(&code.words).map_err(|error| Stop::unsupported(error.to_string()))?;
                }
                Setting::Foreign(foreign) => return Err(Stop::unsupported(foreign.beyond.name())),
                Setting::CompileOptions { .. } | Setting::SetKernel { .. } => {
                    return Err(Stop::unsupported("OpenCL C"));
                }
                _ => {}
            }
        }
        if stages.is_empty() {
            return Err(Stop::invalid(place, format!("the pipeline {pipeline} has no shaders")));
        }
        for attached in stages.values_mut() {
            for promise in promises(self.engine, attached)? {
                if !self.without.contains(&promise) {
                    self.without.push(promise);
                }
            }
        }
        let stages = stages.into_values().collect();
        let bindings = bindings.into_values().collect();
        Ok(Used { stages, bindings, push })
    }

    fn attach(&mut self, place: Place, attach: &Attach) -> Result<(Stage, Attached), Stop> {
        let found = self.shaders.get(attach.shader.as_str()).copied();
        let (at, shader) = found.ok_or_else(|| Stop::invalid(place, format!("no shader {}", attach.shader)))?;
        let stage = match (shader.stage, attach.stage) {
            (Stage::Multi, None) => return Err(Stop::invalid(place, "a multi shader is attached with a TYPE")),
            (Stage::Multi, Some(stage)) => stage,
            (own, Some(stage)) if own != stage => {
                return Err(Stop::invalid(place, format!("{} is a {own} shader", shader.name)));
            }
            (own, _) => own,
        };
        let flag = convert::stage(stage).ok_or_else(|| Stop::unsupported("ray tracing"))?;
        let entry = attach.entry.clone().unwrap_or_else(|| "main".to_owned());
        let key = (shader.name.clone(), entry.clone());
        let code = match self.code.get(&key) {
            Some(code) => code.clone(),
            None => {
                let code = self.compile(at, shader, &entry)?;
                self.code.insert(key, code.clone());
                code
            }
        };
        let constants = attach.specialize.iter().map(|one| {
            let mut bytes = [0; 4];
            crate::layout::store(&mut bytes, one.kind, one.value);
            (one.id, bytes)
        });
        let attached = Attached {
            shader: shader.name.clone(),
            stage: flag,
            code,
            constants: constants.collect(),
            full_subgroups: false,
            varying_subgroups: false,
            subgroup_size: None,
        };
        Ok((stage, attached))
    }

    fn compile(&self, place: Place, shader: &Shader, entry: &str) -> Result<shaders::Code, Stop> {
        let beside;
        let (language, target_env, bytes, begins): (_, _, Cow<'_, [u8]>, _) = match &shader.code {
            Code::Passthrough => (Language::SpirvAsm, None, PASSTHROUGH.as_bytes().into(), None),
            Code::Source {
                language,
                target_env,
                from,
            } => match from {
                From::Inline(begins, text) => (*language, target_env.as_deref(), text.as_bytes().into(), Some(*begins)),
                From::Virtual(name) => {
                    let text = self.files.get(name);
                    let text = text.ok_or_else(|| Stop::invalid(place, format!("no VIRTUAL_FILE {name}")))?;
                    (*language, target_env.as_deref(), text.as_bytes().into(), None)
                }
                From::File(name) => {
                    beside = self.file(place, name)?;
                    (*language, target_env.as_deref(), beside.into(), None)
                }
            },
        };
        let text = Text {
            bytes: &bytes,
            language,
            stage: shader.stage,
            target_env,
            entry,
            path: self.path,
            files: &self.files,
            place: begins,
        };
        shaders::compile(self.compile, &shader.name, &text)
    }

    fn sampler(&self, place: Place, name: &str) -> Result<work::Sampler, Stop> {
        let found = self.samplers.get(name);
        let sampler = found.ok_or_else(|| Stop::invalid(place, format!("no sampler {name}")))?;
        let unnormalized = sampler.normalized == Some(false);
        let filter = |filter: Option<Filter>| convert::filter(filter.unwrap_or(Filter::Nearest));
        let lod = [
            sampler.min_lod.unwrap_or(0.0) as f32,
            sampler.max_lod.unwrap_or(1.0) as f32,
        ];
        Ok(work::Sampler {
            mag: filter(sampler.mag_filter),
            min: filter(sampler.min_filter),
            address: sampler
                .address_mode
                .map(|mode| convert::address(mode.unwrap_or(AddressMode::Repeat))),
            border: convert::border(sampler.border_color.unwrap_or(BorderColor::FloatTransparentBlack)),
            lod: if unnormalized { [0.0; 2] } else { lod },
            unnormalized,
            compare: (sampler.compare == Some(true))
                .then(|| convert::compare(sampler.compare_op.unwrap_or(CompareOp::Never))),
        })
    }

    fn bind(&self, place: Place, bound: &BindBuffers) -> Result<Binding, Stop> {
        let mut elements = Vec::new();
        for (at, name) in bound.buffers.iter().enumerate() {
            let held = self.machine.named(name);
            let held = held.ok_or_else(|| Stop::invalid(place, format!("no buffer {name}")))?;
            let sampler = bound.samplers.get(at).or(bound.samplers.first());
            let format = match (bound.kind, &held.format) {
                (BindKind::UniformTexelBuffer | BindKind::StorageTexelBuffer, Some(format)) => convert::format(format),
                (BindKind::UniformTexelBuffer | BindKind::StorageTexelBuffer, None) => None,
                _ => Some(vk::Format::UNDEFINED),
            };
            let dynamic = bound.offsets.get(at).copied().unwrap_or(0);
            elements.push(Element {
                resource: Some(held.resource),
                sampler: sampler.map(|name| self.sampler(place, name)).transpose()?,
                level: bound.base_mip_level,
                offset: bound.descriptor_offsets.get(at).copied().unwrap_or(0),
                range: bound.descriptor_ranges.get(at).copied().flatten(),
                dynamic: u32::try_from(dynamic).map_err(|_| Stop::invalid(place, "an offset of more than 32 bits"))?,
                format: format.ok_or_else(|| Stop::invalid(place, format!("{name} has no format of texels")))?,
            });
        }
        Ok(Binding {
            set: bound.set,
            binding: bound.binding,
            kind: convert::descriptor(bound.kind),
            elements,
        })
    }

    /// Whether it holds; otherwise why not.
    fn expect(&self, place: Place, expect: &Expect) -> Result<Result<(), String>, Stop> {
        let held = self.machine.named(&expect.buffer);
        let held = held.ok_or_else(|| Stop::invalid(place, format!("no buffer {}", expect.buffer)))?;
        let resource = &self.machine.resources[held.resource];
        let bytes = visible(resource);
        let other = |name: &str| {
            let resource = self.named(place, name)?;
            Ok::<_, Stop>(visible(&self.machine.resources[resource]))
        };
        Ok(match &expect.check {
            Check::EqBuffer(name) => check::equal(bytes, other(name)?).map_err(|why| format!("is not {name}: {why}")),
            Check::Rmse { other: name, tolerance } => check::rmse(bytes, other(name)?, &held.layout, *tolerance),
            Check::HistogramEmd { other: name, tolerance } => {
                check::histogram(bytes, other(name)?, &held.layout, *tolerance)
            }
            Check::Values {
                offset,
                comparator,
                tolerances,
                values,
            } => {
                let wanted = Values {
                    offset: *offset,
                    comparator: *comparator,
                    tolerances,
                    values,
                };
                check::values(bytes, &held.layout, &wanted)
            }
            Check::Pixels {
                position,
                size,
                color,
                tolerances,
            } => {
                let (Resource::Image(image), Some(format)) = (resource, &held.format) else {
                    return Err(Stop::invalid(place, format!("{} is no image", expect.buffer)));
                };
                let scale = if format.is_integer() { 1.0 } else { 255.0 };
                let color: Vec<f64> = color.iter().map(|value| value / scale).collect();
                let tolerances: Vec<_> = tolerances
                    .iter()
                    .map(|one| crate::types::Tolerance {
                        value: if one.percent { one.value } else { one.value / scale },
                        ..*one
                    })
                    .collect();
                let picture = Pixels {
                    format,
                    size: [image.size[0], image.size[1]],
                    bytes,
                };
                let wanted = Wanted {
                    position: *position,
                    size: *size,
                    color: &color,
                    tolerances: &tolerances,
                };
                check::pixels(&picture, &wanted)
            }
        })
    }
}

/// Numbers in equal steps: integers as long as both are.
fn series(from: Value, by: Value) -> impl Iterator<Item = Value> {
    std::iter::successors(Some(from), move |last| {
        Some(match (last, by) {
            (Value::Int(last), Value::Int(by)) => Value::Int(last + by),
            (last, by) => Value::Float(last.as_f64() + by.as_f64()),
        })
    })
}

/// Puts elements into an image's first level; an element may be longer than a texel.
fn put_texels(image: &mut work::ImageData, bytes: &[u8], stride: usize, texel: usize) {
    let Some(plane) = image.planes.first_mut() else { return };
    for (place, element) in plane
        .bytes
        .chunks_exact_mut(texel.max(1))
        .zip(bytes.chunks_exact(stride.max(1)))
    {
        let length = texel.min(stride);
        place[..length].copy_from_slice(&element[..length]);
    }
}

/// Left, top, right and bottom from -1 to 1.
pub(super) fn edges(position: [f64; 2], size: [f64; 2], framebuffer: [u32; 2]) -> [f64; 4] {
    let [width, height] = framebuffer.map(f64::from);
    let place = |pixel: f64, all: f64| pixel / all * 2.0 - 1.0;
    [
        place(position[0], width),
        place(position[1], height),
        place(position[0] + size[0], width),
        place(position[1] + size[1], height),
    ]
}

/// Two triangles for each cell.
fn grid(position: [f64; 2], size: [f64; 2], [columns, rows]: [u32; 2], framebuffer: [u32; 2]) -> Option<Vec<[f64; 2]>> {
    const MOST: u64 = 1 << 22;
    if !(1..=MOST).contains(&(u64::from(columns) * u64::from(rows))) {
        return None;
    }
    let cell = [size[0] / f64::from(columns), size[1] / f64::from(rows)];
    let mut corners = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let start = [
                position[0] + cell[0] * f64::from(column),
                position[1] + cell[1] * f64::from(row),
            ];
            let [left, top, right, bottom] = edges(start, cell, framebuffer);
            corners.extend([
                [left, top],
                [left, bottom],
                [right, top],
                [right, top],
                [left, bottom],
                [right, bottom],
            ]);
        }
    }
    Some(corners)
}

/// Corners as vertex input 0.
pub(super) fn corners(resource: usize) -> Vertices {
    Vertices {
        location: 0,
        resource,
        offset: 0,
        stride: 8,
        format: vk::Format::R32G32_SFLOAT,
        per_instance: false,
    }
}

/// What is done in a framebuffer.
struct Drawn {
    command: Option<work::Command>,
    topology: Topology,
    /// The buffer of corners, and how many.
    corners: Option<(usize, u32)>,
    array: Option<DrawArray>,
}

impl Drawn {
    fn only(command: work::Command) -> Self {
        Self {
            command: Some(command),
            topology: Topology::TriangleList,
            corners: None,
            array: None,
        }
    }

    fn corners(topology: Topology, resource: usize, count: u32) -> Self {
        Self {
            command: None,
            topology,
            corners: Some((resource, count)),
            array: None,
        }
    }
}

/// A pipeline's shader.
pub(super) struct Attached {
    pub shader: String,
    pub stage: vk::ShaderStageFlags,
    pub code: shaders::Code,
    pub constants: Vec<(u32, [u8; 4])>,
    pub full_subgroups: bool,
    pub varying_subgroups: bool,
    pub subgroup_size: Option<u32>,
}

impl Attached {
    pub(crate) fn stage(&self) -> work::Stage<'_> {
        work::Stage {
            stage: self.stage,
            words: &self.code.words,
            entry: &self.code.entry,
            constants: self.constants.clone(),
            full_subgroups: self.full_subgroups,
            varying_subgroups: self.varying_subgroups,
            subgroup_size: self.subgroup_size,
        }
    }
}

/// What a pipeline uses.
#[derive(Default)]
struct Used {
    stages: Vec<Attached>,
    bindings: Vec<Binding>,
    push: Vec<u8>,
}

/// Modes that promise how lanes come together, with the features and extensions that have them. A device without such a
/// feature runs the same instructions.
const PROMISES: [(&str, u32, &str, &str); 2] = [
    (
        "SubgroupUniformControlFlowKHR",
        mode::SUBGROUP_UNIFORM_CONTROL_FLOW,
        "shaderSubgroupUniformControlFlow",
        "SPV_KHR_subgroup_uniform_control_flow",
    ),
    (
        "MaximallyReconvergesKHR",
        mode::MAXIMALLY_RECONVERGES,
        "shaderMaximalReconvergence",
        "SPV_KHR_maximal_reconvergence",
    ),
];

/// Takes out of a shader what it has promised to it and the engine does not promise, and says what that was.
fn promises(engine: &dyn Engine, attached: &mut Attached) -> Result<Vec<String>, Stop> {
    let wrong = |error: loader::Error| Stop(Verdict::Invalid(format!("shader {}: {error}", attached.shader)));
    let index = ModuleIndex::new(&attached.code.words[..]).map_err(wrong)?;
    let asked = PROMISES.iter().filter(|(_, mode, ..)| index.has_mode(*mode));
    let asked: Vec<_> = asked
        .filter(|(_, _, name, _)| engine.has_feature(name) != Some(true))
        .collect();
    let is_size = |node: &Node<'_>| node.opcode == op::EXECUTION_MODE && node.operand(1) == Some(mode::LOCAL_SIZE);
    let width = index.instructions().find(is_size).and_then(|node| node.operand(2));
    let mut words = attached.code.words.clone();
    let mut without = Vec::new();
    for (name, mode, _, extension) in asked {
        words = without_mode(&words, *mode, extension).map_err(wrong)?;
        without.push((*name).to_owned());
    }
    attached.code.words = words;
    let [least, most] = engine.properties().sizes;
    let size = attached
        .subgroup_size
        .unwrap_or(if attached.varying_subgroups { most } else { least });
    if let Some(width) = width.filter(|width| attached.full_subgroups && size > 0 && !width.is_multiple_of(size)) {
        attached.full_subgroups = false;
        without.push(format!("full subgroups of {size} in groups of {width}"));
    }
    Ok(without)
}

/// What a shader wants of subgroups, where the device can.
fn subgroups(engine: &dyn Engine, subgroup: &Subgroup, attached: &mut Attached) -> Result<(), Stop> {
    attached.full_subgroups = subgroup.fully_populated == Some(true);
    attached.varying_subgroups = subgroup.varying_size == Some(true);
    if attached.full_subgroups {
        feature(engine, "SubgroupSizeControl.computeFullSubgroups")?;
    }
    if attached.varying_subgroups || subgroup.required_size.is_some() {
        feature(engine, "SubgroupSizeControl.subgroupSizeControl")?;
    }
    let Some(size) = subgroup.required_size else {
        return Ok(());
    };
    let properties = engine.properties();
    let [least, most] = properties.sizes;
    let size = match size {
        SubgroupSize::Min => least,
        SubgroupSize::Max => most,
        SubgroupSize::Exactly(size) => size,
    };
    if !(least..=most).contains(&size) || !properties.sized_stages.contains(attached.stage) {
        return Err(Stop::unsupported(format!(
            "subgroups of {size}, the device has {least} to {most}"
        )));
    }
    attached.subgroup_size = Some(size);
    Ok(())
}
