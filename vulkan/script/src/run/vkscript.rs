//! Running VkScript.

use super::amber::{Attached, corners, edges};
use super::check::{self, Pixels, Values, Wanted};
use super::machine::{Engine, Machine, feature, image, stopped, visible};
use super::shaders::{self, Compile, PASSTHROUGH, Text};
use super::{Report, Stop, Verdict, convert};
use crate::amber::{self, Comparator, Layout};
use crate::error::Place;
use crate::layout::DataLayout;
use crate::types::{Array, DataType, Format, Stage, Tolerance, Topology, TypeName};
use crate::vkscript::*;
use ash::vk;
use std::collections::BTreeMap;
use std::path::Path;
use vulkan::work::{self, Attachment, Element, Graphics, Raster, Resource, Task, Vertices, Work};

/// The name under which the picture is kept.
const FRAMEBUFFER: &str = "framebuffer";

pub(super) fn run(engine: &dyn Engine, compile: &dyn Compile, script: &Script, path: &Path) -> Report {
    let mut runner = Runner {
        engine,
        compile,
        path,
        script,
        machine: Machine::default(),
        size: [250, 250],
        color: None,
        depth: None,
        depth_format: None,
        blocks: BTreeMap::new(),
        push: Vec::new(),
        layouts: BTreeMap::new(),
        entries: BTreeMap::new(),
        code: BTreeMap::new(),
        state: Raster::default(),
        bias: ([0.0; 3], false),
        bounds: ([0.0, 1.0], false),
        logic: (vk::LogicOp::COPY, false),
        stencil: (
            [vk::StencilOpState {
                compare_op: vk::CompareOp::ALWAYS,
                compare_mask: !0,
                write_mask: !0,
                ..Default::default()
            }; 2],
            false,
        ),
        tolerances: Vec::new(),
        clear: ([0.0; 4], 1.0, 0),
        vertices: Vec::new(),
        indices: None,
        spirv_1_4: false,
    };
    let verdict = match runner.all() {
        Ok(()) => Verdict::Holds,
        Err(Stop(verdict)) => verdict,
    };
    Report {
        verdict,
        kept: runner.machine.kept(),
        timed: Vec::new(),
        without: Vec::new(),
    }
}

struct Runner<'a> {
    engine: &'a dyn Engine,
    compile: &'a dyn Compile,
    path: &'a Path,
    script: &'a Script,
    machine: Machine,
    size: [u32; 2],
    color: Option<(usize, Format)>,
    depth: Option<usize>,
    depth_format: Option<Format>,
    /// Uniform and storage buffers.
    blocks: BTreeMap<Binding, (Block, usize)>,
    push: Vec<u8>,
    layouts: BTreeMap<&'static str, (Option<Layout>, bool)>,
    entries: BTreeMap<Stage, String>,
    code: BTreeMap<(usize, String), shaders::Code>,
    state: Raster,
    /// Values with whether they are switched on.
    bias: ([f32; 3], bool),
    bounds: ([f32; 2], bool),
    logic: (vk::LogicOp, bool),
    stencil: ([vk::StencilOpState; 2], bool),
    tolerances: Vec<Tolerance>,
    clear: ([f64; 4], f64, u32),
    vertices: Vec<Vertices>,
    indices: Option<(usize, u32)>,
    spirv_1_4: bool,
}

impl Runner<'_> {
    fn all(&mut self) -> Result<(), Stop> {
        let mut color = Format::parse("B8G8R8A8_UNORM");
        for require in &self.script.requires {
            match &require.what {
                Requirement::Named(name) if name.starts_with("VK_") => {
                    self.spirv_1_4 |= name == "VK_KHR_spirv_1_4";
                    if !self.engine.has_extension(name) {
                        return Err(Stop::unsupported(format!("the device lacks the extension {name}")));
                    }
                }
                Requirement::Named(name) => feature(self.engine, name)?,
                Requirement::Framebuffer(format) => color = Some(format.clone()),
                Requirement::DepthStencil(format) => self.depth_format = Some(format.clone()),
                Requirement::Size(size) => self.size = *size,
                Requirement::FenceTimeout(_) => {}
                Requirement::Vulkan(wanted) => {
                    if self.engine.version() < *wanted {
                        let [major, minor, _] = wanted;
                        return Err(Stop::unsupported(format!(
                            "the device is not of Vulkan {major}.{minor}"
                        )));
                    }
                }
            }
        }
        let [width, height] = self.size;
        if let Some(color) = color {
            let image = image(&color, vk::ImageType::TYPE_2D, [width, height, 1], 1, 1)?;
            let layout = DataLayout::texels(&color);
            let resource = self
                .machine
                .hold(FRAMEBUFFER, Resource::Image(image), layout, Some(color.clone()));
            self.color = Some((resource, color));
        }
        self.vertex_data()?;
        if let Some(indices) = &self.script.indices {
            let bytes = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
            self.indices = Some((self.machine.add(Resource::Buffer(bytes)), indices.len() as u32));
        }
        let script = self.script;
        for statement in &script.test {
            self.step(statement)?;
        }
        Ok(())
    }

    /// A buffer for each attribute.
    fn vertex_data(&mut self) -> Result<(), Stop> {
        let Some(data) = &self.script.vertex_data else {
            return Ok(());
        };
        let row: usize = data.attributes.iter().map(Attribute::numbers).sum();
        let rows = data.values.len() / row;
        let mut first = 0;
        for attribute in &data.attributes {
            let numbers = attribute.numbers();
            let layout = DataLayout::texels(&attribute.format);
            let values = data
                .values
                .chunks_exact(row)
                .flat_map(|row| row[first..first + numbers].iter().copied());
            let bytes = layout.bytes(values, rows);
            first += numbers;
            let format = convert::format(&attribute.format);
            let format =
                format.ok_or_else(|| Stop::unsupported(format!("Vulkan has no format {}", attribute.format)))?;
            self.vertices.push(Vertices {
                location: attribute.location,
                resource: self.machine.add(Resource::Buffer(bytes)),
                offset: 0,
                stride: layout.stride as u32,
                format,
                per_instance: false,
            });
        }
        Ok(())
    }

    fn layout(&self, place: Place, block: Block, kind: &TypeName) -> Result<DataLayout, Stop> {
        let (layout, row_major) = self.layouts.get(block.name()).copied().unwrap_or_default();
        let usual = match block {
            Block::Ubo => Layout::Std140,
            Block::Push | Block::Ssbo => Layout::Std430,
        };
        let layout = layout.unwrap_or(usual);
        // A scalar alone is not an array's element: it lies as the script's offsets say.
        let kind = DataType {
            name: kind.clone(),
            array: Array::None,
        };
        DataLayout::of(&kind, layout, &BTreeMap::new(), row_major).map_err(|error| Stop::invalid(place, error.0))
    }

    /// Writes numbers into bytes, which grow as they have to.
    fn put(&self, place: Place, block: Block, data: &Data, bytes: &mut Vec<u8>) -> Result<(), Stop> {
        const MOST: usize = 1 << 28;
        let layout = self.layout(place, block, &data.kind)?;
        let mut offset = usize::try_from(data.offset).unwrap_or(usize::MAX);
        let each = layout.lanes.len();
        for element in data.values.chunks(each) {
            let end = layout.lanes.last().map_or(0, |last| last.offset + last.scalar.bytes());
            if offset.checked_add(layout.stride).is_none_or(|end| end > MOST) {
                return Err(Stop::unsupported(format!("a buffer of more than {MOST} bytes")));
            }
            if bytes.len() < offset + end {
                bytes.resize(offset + end, 0);
            }
            for (lane, value) in layout.lanes.iter().zip(element) {
                let start = offset + lane.offset;
                crate::layout::store(&mut bytes[start..start + lane.scalar.bytes()], lane.scalar, *value);
            }
            offset += layout.stride;
        }
        Ok(())
    }

    /// The buffer of a descriptor, made where there is none.
    fn block(&mut self, place: Place, block: Block, binding: Binding) -> Result<usize, Stop> {
        if let Some((known, resource)) = self.blocks.get(&binding) {
            if *known != block {
                return Err(Stop::invalid(place, format!("{binding} is of another kind")));
            }
            return Ok(*resource);
        }
        let layout = DataLayout {
            lanes: vec![crate::layout::Lane {
                offset: 0,
                scalar: crate::types::Scalar::Uint8,
            }],
            stride: 1,
        };
        let name = format!("{block}-{}-{}", binding.set, binding.binding);
        let resource = self.machine.hold(&name, Resource::Buffer(Vec::new()), layout, None);
        self.blocks.insert(binding, (block, resource));
        Ok(resource)
    }

    fn subdata(&mut self, place: Place, block: Block, binding: Binding, data: &Data) -> Result<(), Stop> {
        let resource = self.block(place, block, binding)?;
        let Resource::Buffer(mut bytes) = self.machine.resources[resource].clone() else {
            return Ok(());
        };
        self.put(place, block, data, &mut bytes)?;
        self.machine.resources[resource] = Resource::Buffer(bytes);
        Ok(())
    }

    fn resize(&mut self, place: Place, block: Block, binding: Binding, size: u64) -> Result<(), Stop> {
        const MOST: u64 = 1 << 28;
        if size > MOST {
            return Err(Stop::unsupported(format!("a buffer of {size} bytes")));
        }
        let resource = self.block(place, block, binding)?;
        if let Resource::Buffer(bytes) = &mut self.machine.resources[resource] {
            bytes.resize(bytes.len().max(size as usize), 0);
        }
        Ok(())
    }

    fn step(&mut self, statement: &Statement) -> Result<(), Stop> {
        let place = statement.place;
        match &statement.command {
            Command::ClearColor(color) => self.clear.0 = *color,
            Command::ClearDepth(depth) => self.clear.1 = *depth,
            Command::ClearStencil(stencil) => self.clear.2 = *stencil,
            Command::Clear => {
                let (color, depth, stencil) = self.clear;
                let clear = work::Command::Clear {
                    color: color.map(|value| value as f32),
                    depth: depth as f32,
                    stencil,
                };
                self.draw(place, Topology::TriangleList, Vec::new(), None, clear, true)?;
            }
            Command::DrawRect { ortho, patch, rect } => {
                let [x, y, width, height] = *rect;
                let [left, top, right, bottom] = match ortho {
                    true => edges([x, y], [width, height], self.size),
                    false => [x, y, x + width, y + height],
                };
                let corner_list = [[left, bottom], [left, top], [right, bottom], [right, top]];
                let resource = self.machine.corners(&corner_list);
                let topology = match patch {
                    true => Topology::PatchList,
                    false => Topology::TriangleStrip,
                };
                let points = self.state.patch_points;
                if *patch {
                    self.state.patch_points = 4;
                }
                let draw = work::Command::Draw {
                    indexed: false,
                    first: 0,
                    count: 4,
                    first_instance: 0,
                    instances: 1,
                };
                self.draw(place, topology, vec![corners(resource)], None, draw, false)?;
                self.state.patch_points = points;
            }
            Command::DrawArrays {
                indexed,
                topology,
                first,
                count,
                instances,
            } => {
                let indices = match (indexed, self.indices) {
                    (true, None) => return Err(Stop::invalid(place, "indexed, and the script has no [indices]")),
                    (true, Some((resource, _))) => Some((resource, vk::IndexType::UINT32)),
                    (false, _) => None,
                };
                let all = match (indexed, self.indices, self.vertices.first()) {
                    (true, Some((_, all)), _) => all,
                    (_, _, Some(first)) => {
                        visible(&self.machine.resources[first.resource]).len() as u32 / first.stride.max(1)
                    }
                    _ => u32::MAX,
                };
                if first.checked_add(*count).is_none_or(|end| end > all) {
                    return Err(Stop::invalid(
                        place,
                        format!("{count} from {first}, and there are {all}"),
                    ));
                }
                let draw = work::Command::Draw {
                    indexed: *indexed,
                    first: *first,
                    count: *count,
                    first_instance: 0,
                    instances: *instances,
                };
                let vertices = self.vertices.clone();
                self.draw(place, *topology, vertices, indices, draw, false)?;
            }
            Command::Compute(groups) => {
                let stages = self.stages(true)?;
                if stages.is_empty() {
                    return Err(Stop::invalid(place, "the script has no compute shader"));
                }
                self.execute(&stages, Task::Compute(*groups))?;
            }
            Command::Entry { stage, name } => {
                self.entries.insert(*stage, name.clone());
            }
            Command::Probe { relative, rect, color } => self.probe(place, *relative, *rect, color)?,
            Command::ProbeSsbo {
                binding,
                comparison,
                data,
            } => self.probe_ssbo(place, *binding, *comparison, data)?,
            Command::Push(data) => {
                let mut push = std::mem::take(&mut self.push);
                self.put(place, Block::Push, data, &mut push)?;
                push.resize(push.len().next_multiple_of(4), 0);
                self.push = push;
            }
            Command::Ubo { binding, data } => self.subdata(place, Block::Ubo, *binding, data)?,
            Command::Ssbo { binding, data } => self.subdata(place, Block::Ssbo, *binding, data)?,
            Command::UboSize { binding, size } => self.resize(place, Block::Ubo, *binding, *size)?,
            Command::SsboSize { binding, size } => self.resize(place, Block::Ssbo, *binding, *size)?,
            Command::PatchVertices(count) => self.state.patch_points = *count,
            Command::Tolerance(tolerances) => self.tolerances.clone_from(tolerances),
            Command::Layout {
                block,
                layout,
                row_major,
            } => {
                let known = self.layouts.entry(block.name()).or_default();
                known.0 = layout.or(known.0);
                known.1 = row_major.unwrap_or(known.1);
            }
            Command::Set { property, value } => self.set(place, property.name, *value)?,
        }
        Ok(())
    }

    fn set(&mut self, place: Place, name: &str, value: Setting) -> Result<(), Stop> {
        let yes = value == Setting::Bool(true);
        let float = match value {
            Setting::Float(value) => value as f32,
            _ => 0.0,
        };
        let int = match value {
            Setting::Int(value) => value,
            _ => 0,
        };
        let raw = int as i32;
        let blend = &mut self.state.blend;
        if let Some((face, name)) = name.split_once('.') {
            let face = &mut self.stencil.0[usize::from(face == "back")];
            match name {
                "compareOp" => face.compare_op = vk::CompareOp::from_raw(raw),
                "failOp" => face.fail_op = vk::StencilOp::from_raw(raw),
                "passOp" => face.pass_op = vk::StencilOp::from_raw(raw),
                "depthFailOp" => face.depth_fail_op = vk::StencilOp::from_raw(raw),
                "compareMask" => face.compare_mask = int,
                "writeMask" => face.write_mask = int,
                _ => face.reference = int,
            }
            return Ok(());
        }
        match name {
            "primitiveRestartEnable" => self.state.restart = yes,
            "depthClampEnable" => self.state.depth_clamp = yes,
            "rasterizerDiscardEnable" => self.state.discard = yes,
            "depthBiasEnable" => self.bias.1 = yes,
            "logicOpEnable" => self.logic.1 = yes,
            "blendEnable" => blend.blend_enable = yes.into(),
            "depthTestEnable" => self.state.depth_test = yes,
            "depthWriteEnable" => self.state.depth_write = yes,
            "depthBoundsTestEnable" => self.bounds.1 = yes,
            "stencilTestEnable" => self.stencil.1 = yes,
            "polygonMode" => self.state.polygon = vk::PolygonMode::from_raw(raw),
            "logicOp" => self.logic.0 = vk::LogicOp::from_raw(raw),
            "frontFace" => self.state.front = vk::FrontFace::from_raw(raw),
            "cullMode" => self.state.cull = vk::CullModeFlags::from_raw(int),
            "depthBiasConstantFactor" => self.bias.0[0] = float,
            "depthBiasClamp" => self.bias.0[1] = float,
            "depthBiasSlopeFactor" => self.bias.0[2] = float,
            "lineWidth" => self.state.line_width = float,
            "minDepthBounds" => self.bounds.0[0] = float,
            "maxDepthBounds" => self.bounds.0[1] = float,
            "srcColorBlendFactor" => blend.src_color_blend_factor = vk::BlendFactor::from_raw(raw),
            "dstColorBlendFactor" => blend.dst_color_blend_factor = vk::BlendFactor::from_raw(raw),
            "srcAlphaBlendFactor" => blend.src_alpha_blend_factor = vk::BlendFactor::from_raw(raw),
            "dstAlphaBlendFactor" => blend.dst_alpha_blend_factor = vk::BlendFactor::from_raw(raw),
            "colorBlendOp" => blend.color_blend_op = vk::BlendOp::from_raw(raw),
            "alphaBlendOp" => blend.alpha_blend_op = vk::BlendOp::from_raw(raw),
            "depthCompareOp" => self.state.depth_compare = vk::CompareOp::from_raw(raw),
            "colorWriteMask" => blend.color_write_mask = vk::ColorComponentFlags::from_raw(int),
            "patchControlPoints" => self.state.patch_points = int,
            // Each draw names its own.
            "topology" => {}
            other => return Err(Stop::invalid(place, format!("no property {other}"))),
        }
        Ok(())
    }

    /// Shaders of compute, or of graphics.
    fn stages(&mut self, compute: bool) -> Result<Vec<Attached>, Stop> {
        let mut all = Vec::new();
        let script = self.script;
        for (at, shader) in script.shaders.iter().enumerate() {
            if (shader.stage == Stage::Compute) != compute {
                continue;
            }
            let entry = self
                .entries
                .get(&shader.stage)
                .cloned()
                .unwrap_or_else(|| "main".to_owned());
            let key = (at, entry.clone());
            let code = match self.code.get(&key) {
                Some(code) => code.clone(),
                None => {
                    let code = self.compile(shader, &entry)?;
                    self.code.insert(key, code.clone());
                    code
                }
            };
            all.push(attached(shader.stage, code)?);
        }
        Ok(all)
    }

    fn compile(&self, shader: &Shader, entry: &str) -> Result<shaders::Code, Stop> {
        let language = match shader.language {
            Language::Glsl => amber::Language::Glsl,
            Language::SpirvHex => amber::Language::SpirvHex,
            Language::SpirvAsm | Language::Passthrough => amber::Language::SpirvAsm,
        };
        let given = shader.language == Language::Passthrough;
        let files = BTreeMap::new();
        let text = Text {
            bytes: if given {
                PASSTHROUGH.as_bytes()
            } else {
                shader.text.as_bytes()
            },
            language,
            stage: shader.stage,
            target_env: (self.spirv_1_4 && !given).then_some("spv1.4"),
            entry,
            path: self.path,
            files: &files,
            place: (!given).then_some(shader.place),
        };
        shaders::compile(self.compile, shader.stage.name(), &text)
    }

    fn execute(&mut self, stages: &[Attached], task: Task) -> Result<(), Stop> {
        // To clear takes no shaders, which see nothing.
        let bound = self
            .blocks
            .iter()
            .filter(|_| !stages.is_empty())
            .map(|(binding, (block, resource))| work::Binding {
                set: binding.set,
                binding: binding.binding,
                kind: match block {
                    Block::Ubo => vk::DescriptorType::UNIFORM_BUFFER,
                    Block::Ssbo | Block::Push => vk::DescriptorType::STORAGE_BUFFER,
                },
                elements: vec![Element {
                    resource: Some(*resource),
                    ..Element::default()
                }],
            });
        let work = Work {
            stages: stages.iter().map(Attached::stage).collect(),
            bindings: bound.collect(),
            push: if stages.is_empty() { &[] } else { &self.push },
            task,
            timed: false,
        };
        self.engine
            .execute(&work, &mut self.machine.resources)
            .map_err(stopped)?;
        Ok(())
    }

    fn draw(
        &mut self,
        place: Place,
        topology: Topology,
        vertices: Vec<Vertices>,
        indices: Option<(usize, vk::IndexType)>,
        command: work::Command,
        clears: bool,
    ) -> Result<(), Stop> {
        let stages = if clears { Vec::new() } else { self.stages(false)? };
        if !clears && !stages.iter().any(|one| one.stage == vk::ShaderStageFlags::VERTEX) {
            return Err(Stop::invalid(place, "the script has no vertex shader"));
        }
        let mut state = self.state;
        state.topology = convert::topology(topology);
        state.bias = self.bias.1.then_some(self.bias.0);
        state.depth_bounds = self.bounds.1.then_some(self.bounds.0);
        state.logic = self.logic.1.then_some(self.logic.0);
        state.stencil = self.stencil.1.then_some(self.stencil.0);
        let needs = [
            (state.depth_clamp, "depthClamp"),
            (state.depth_bounds.is_some(), "depthBounds"),
            (state.logic.is_some(), "logicOp"),
            (state.polygon != vk::PolygonMode::FILL, "fillModeNonSolid"),
            (state.line_width != 1.0, "wideLines"),
        ];
        for (_, name) in needs.iter().filter(|(needed, _)| *needed) {
            feature(self.engine, name)?;
        }
        let tested = state.depth_test || state.stencil.is_some() || state.depth_bounds.is_some();
        if self.depth.is_none() && (tested || self.depth_format.is_some()) {
            let format = self
                .depth_format
                .clone()
                .or_else(|| Format::parse("D32_SFLOAT_S8_UINT"));
            if let Some(format) = format {
                let [width, height] = self.size;
                let image = image(&format, vk::ImageType::TYPE_2D, [width, height, 1], 1, 1)?;
                self.depth = Some(self.machine.add(Resource::Image(image)));
            }
        }
        let [width, height] = self.size.map(|size| size as f32);
        let attach = |resource: usize| Attachment { resource, level: 0 };
        let graphics = Graphics {
            size: self.size,
            viewport: vk::Viewport {
                width,
                height,
                max_depth: 1.0,
                ..Default::default()
            },
            colors: self.color.iter().map(|(resource, _)| Some(attach(*resource))).collect(),
            resolves: Vec::new(),
            depth: self.depth.map(attach),
            state,
            vertices,
            indices,
            commands: vec![command],
        };
        self.execute(&stages, Task::Graphics(Box::new(graphics)))
    }

    fn probe(&self, place: Place, relative: bool, rect: Option<[f64; 4]>, color: &[f64]) -> Result<(), Stop> {
        let Some((resource, format)) = &self.color else {
            return Ok(());
        };
        let [width, height] = self.size.map(f64::from);
        let [x, y, columns, rows] = match (rect, relative) {
            (None, _) => [0.0, 0.0, width, height],
            (Some([x, y, columns, rows]), true) => [
                x * width,
                y * height,
                (columns * width).max(1.0),
                (rows * height).max(1.0),
            ],
            (Some(rect), false) => rect,
        };
        let whole = |value: f64| value.round().clamp(0.0, f64::from(u32::MAX)) as u32;
        let picture = Pixels {
            format,
            size: self.size,
            bytes: visible(&self.machine.resources[*resource]),
        };
        let wanted = Wanted {
            position: [whole(x), whole(y)],
            size: [whole(columns), whole(rows)],
            color,
            tolerances: &self.tolerances,
        };
        check::pixels(&picture, &wanted).map_err(|why| Stop(Verdict::Fails(place, why)))
    }

    fn probe_ssbo(&self, place: Place, binding: Binding, comparison: Comparison, data: &Data) -> Result<(), Stop> {
        let Some((_, resource)) = self.blocks.get(&binding) else {
            return Err(Stop::invalid(place, format!("no ssbo {binding}")));
        };
        let layout = self.layout(place, Block::Ssbo, &data.kind)?;
        // A part in a million, unless the script says more.
        let usual = [Tolerance {
            value: 0.000_001,
            percent: true,
        }];
        let (comparator, tolerances): (_, &[Tolerance]) = match comparison {
            Comparison::Equal => (Comparator::Eq, &[]),
            Comparison::NotEqual => (Comparator::Ne, &[]),
            Comparison::Less => (Comparator::Lt, &[]),
            Comparison::Greater => (Comparator::Gt, &[]),
            Comparison::LessOrEqual => (Comparator::Le, &[]),
            Comparison::GreaterOrEqual => (Comparator::Ge, &[]),
            Comparison::Fuzzy if self.tolerances.is_empty() => (Comparator::Eq, &usual),
            Comparison::Fuzzy => (Comparator::Eq, &self.tolerances),
        };
        let bytes = visible(&self.machine.resources[*resource]);
        let start = usize::try_from(data.offset).unwrap_or(usize::MAX).min(bytes.len());
        let wanted = Values {
            offset: 0,
            comparator,
            tolerances,
            values: &data.values,
        };
        check::values(&bytes[start..], &layout, &wanted).map_err(|why| {
            Stop(Verdict::Fails(
                place,
                format!("ssbo {binding} from byte {start}: {why}"),
            ))
        })
    }
}

fn attached(stage: Stage, code: shaders::Code) -> Result<Attached, Stop> {
    Ok(Attached {
        shader: stage.name().to_owned(),
        stage: convert::stage(stage).ok_or_else(|| Stop::unsupported("ray tracing"))?,
        code,
        constants: Vec::new(),
        full_subgroups: false,
        varying_subgroups: false,
        subgroup_size: None,
    })
}
