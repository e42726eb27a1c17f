//! Scripts as text that reads to the same model.

use super::model::*;
use crate::types::Value;
use std::fmt::{self, Display, Formatter, Write};

/// A word, in quotation marks where it is none by itself.
struct Word<'a>(&'a str);

impl Display for Word<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // A quotation mark that opens nothing is a letter like others, and so is a backslash that is not alone.
        let plain = |c: char| !c.is_whitespace() && c != '#';
        if !self.0.is_empty() && self.0.chars().all(plain) && self.0 != "\\" {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0)
    }
}

fn on(value: bool) -> &'static str {
    if value { "on" } else { "off" }
}

/// ` KEY value` where there is a value.
fn option(f: &mut Formatter<'_>, key: &str, value: Option<impl Display>) -> fmt::Result {
    match value {
        Some(value) => write!(f, " {key} {value}"),
        None => Ok(()),
    }
}

/// A line `KEY value` where there is a value.
fn setting(f: &mut Formatter<'_>, key: &str, value: Option<impl Display>) -> fmt::Result {
    match value {
        Some(value) => writeln!(f, "    {key} {value}"),
        None => Ok(()),
    }
}

fn number(value: f64) -> Value {
    Value::Float(value)
}

fn words(f: &mut Formatter<'_>, words: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    words.into_iter().try_for_each(|word| write!(f, " {word}"))
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "#!amber")?;
        self.statements
            .iter()
            .try_for_each(|statement| write!(f, "{}", statement.command))
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeviceFeature(name) => writeln!(f, "DEVICE_FEATURE {name}"),
            Self::DeviceProperty(name) => writeln!(f, "DEVICE_PROPERTY {name}"),
            Self::DeviceExtension(name) => writeln!(f, "DEVICE_EXTENSION {name}"),
            Self::InstanceExtension(name) => writeln!(f, "INSTANCE_EXTENSION {name}"),
            Self::EngineData { name, value } => writeln!(f, "SET ENGINE_DATA {name} {value}"),
            Self::VirtualFile { path, text } => writeln!(f, "VIRTUAL_FILE {}\n{text}END", Word(path)),
            Self::Shader(shader) => write!(f, "{shader}"),
            Self::Struct(kind) => write!(f, "{kind}"),
            Self::Buffer(buffer) => write!(f, "{buffer}"),
            Self::Image(image) => write!(f, "{image}"),
            Self::Sampler(sampler) => write!(f, "{sampler}"),
            Self::Pipeline(pipeline) => write!(f, "{pipeline}"),
            Self::Foreign(foreign) => write!(f, "{foreign}"),
            Self::Clear { pipeline } => writeln!(f, "CLEAR {pipeline}"),
            Self::ClearColor { pipeline, color } => {
                let [r, g, b, a] = color.map(number);
                writeln!(f, "CLEAR_COLOR {pipeline} {r} {g} {b} {a}")
            }
            Self::ClearDepth { pipeline, value } => writeln!(f, "CLEAR_DEPTH {pipeline} {}", number(*value)),
            Self::ClearStencil { pipeline, value } => writeln!(f, "CLEAR_STENCIL {pipeline} {value}"),
            Self::Copy { from, to } => writeln!(f, "COPY {from} TO {to}"),
            Self::Repeat { count, body } => {
                writeln!(f, "REPEAT {count}")?;
                body.iter()
                    .try_for_each(|statement| write!(f, "{}", statement.command))?;
                writeln!(f, "END")
            }
            Self::Run(run) => write!(f, "{run}"),
            Self::Expect(expect) => write!(f, "{expect}"),
        }
    }
}

impl Display for Foreign {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            let words: Vec<String> = line.iter().map(|word| Word(word).to_string()).collect();
            writeln!(f, "{}", words.join(" "))?;
        }
        Ok(())
    }
}

impl Display for Shader {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "SHADER {} {}", self.stage, self.name)?;
        let Code::Source {
            language,
            target_env,
            from,
        } = &self.code
        else {
            return writeln!(f, " PASSTHROUGH");
        };
        write!(f, " {language}")?;
        option(f, "TARGET_ENV", target_env.as_deref().map(Word))?;
        match from {
            From::Inline(_, text) => writeln!(f, "\n{text}END"),
            From::Virtual(path) => writeln!(f, " VIRTUAL_FILE {}", Word(path)),
            From::File(path) => writeln!(f, " FILE {}", Word(path)),
        }
    }
}

impl Display for Struct {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "STRUCT {}", self.name)?;
        option(f, "STRIDE", self.stride)?;
        writeln!(f)?;
        for member in &self.members {
            write!(f, "  {} {}", member.kind, member.name)?;
            option(f, "OFFSET", member.offset)?;
            option(f, "ARRAY_STRIDE", member.array_stride)?;
            option(f, "MATRIX_STRIDE", member.matrix_stride)?;
            writeln!(f)?;
        }
        writeln!(f, "END")
    }
}

impl Display for Fill {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const PER_LINE: usize = 16;
        match self {
            Self::Data(values) => {
                write!(f, " DATA")?;
                for line in values.chunks(PER_LINE) {
                    write!(f, "\n ")?;
                    words(f, line)?;
                }
                write!(f, "\nEND")
            }
            Self::Value(value) => write!(f, " FILL {value}"),
            Self::Series { from, by } => write!(f, " SERIES_FROM {from} INC_BY {by}"),
            Self::File(kind, path) => write!(f, " FILE {kind} {}", Word(path)),
        }
    }
}

impl Display for Buffer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "BUFFER {}", self.name)?;
        match &self.shape {
            BufferShape::Data {
                kind,
                layout,
                size,
                fill,
            } => {
                write!(f, " DATA_TYPE {kind}")?;
                words(f, *layout)?;
                match size {
                    Some(DataSize::Elements(count)) => write!(f, " SIZE {count}")?,
                    Some(DataSize::Area(width, height)) => write!(f, " WIDTH {width} HEIGHT {height}")?,
                    None => {}
                }
                writeln!(f, "{fill}")
            }
            BufferShape::Format {
                format,
                mip_levels,
                samples,
                fill,
            } => {
                write!(f, " FORMAT {format}")?;
                option(f, "MIP_LEVELS", (*mip_levels != 1).then_some(mip_levels))?;
                option(f, "SAMPLES", (*samples != 1).then_some(samples))?;
                fill.iter().try_for_each(|fill| write!(f, "{fill}"))?;
                writeln!(f)
            }
        }
    }
}

impl Display for Image {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "IMAGE {}", self.name)?;
        match &self.texel {
            Texel::Format(format) => write!(f, " FORMAT {format}")?,
            Texel::Data(kind) => write!(f, " DATA_TYPE {kind}")?,
        }
        option(f, "MIP_LEVELS", (self.mip_levels != 1).then_some(self.mip_levels))?;
        option(f, "SAMPLES", (self.samples != 1).then_some(self.samples))?;
        let [width, height, depth] = self.size;
        write!(f, " {} WIDTH {width}", self.dimension)?;
        if self.dimension >= Dimension::Two {
            write!(f, " HEIGHT {height}")?;
        }
        if self.dimension == Dimension::Three {
            write!(f, " DEPTH {depth}")?;
        }
        self.fill.iter().try_for_each(|fill| write!(f, "{fill}"))?;
        writeln!(f)
    }
}

impl Display for Sampler {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "SAMPLER {}", self.name)?;
        option(f, "MAG_FILTER", self.mag_filter)?;
        option(f, "MIN_FILTER", self.min_filter)?;
        for (axis, mode) in ["U", "V", "W"].into_iter().zip(self.address_mode) {
            option(f, &format!("ADDRESS_MODE_{axis}"), mode)?;
        }
        option(f, "BORDER_COLOR", self.border_color)?;
        option(f, "MIN_LOD", self.min_lod.map(number))?;
        option(f, "MAX_LOD", self.max_lod.map(number))?;
        match self.normalized {
            Some(true) => write!(f, " NORMALIZED_COORDS")?,
            Some(false) => write!(f, " UNNORMALIZED_COORDS")?,
            None => {}
        }
        option(f, "COMPARE", self.compare.map(on))?;
        option(f, "COMPARE_OP", self.compare_op)?;
        writeln!(f)
    }
}

impl Display for Pipeline {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.base {
            PipelineBase::New(kind) => writeln!(f, "PIPELINE {kind} {}", self.name)?,
            PipelineBase::Derived(parent) => writeln!(f, "DERIVE_PIPELINE {} FROM {parent}", self.name)?,
        }
        self.items.iter().try_for_each(|item| write!(f, "{}", item.setting))?;
        writeln!(f, "END")
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attach(attach) => {
                write!(f, "  ATTACH {}", attach.shader)?;
                option(f, "TYPE", attach.stage)?;
                option(f, "ENTRY_POINT", attach.entry.as_ref())?;
                for Specialize { id, kind, value } in &attach.specialize {
                    write!(f, " SPECIALIZE {id} AS {kind} {value}")?;
                }
                writeln!(f)
            }
            Self::ShaderOptimization { shader, passes } => list(f, "SHADER_OPTIMIZATION", shader, passes),
            Self::CompileOptions { shader, options } => list(f, "COMPILE_OPTIONS", shader, options),
            Self::PolygonMode(mode) => writeln!(f, "  POLYGON_MODE {mode}"),
            Self::PatchControlPoints(points) => writeln!(f, "  PATCH_CONTROL_POINTS {points}"),
            Self::FramebufferSize([width, height]) => writeln!(f, "  FRAMEBUFFER_SIZE {width} {height}"),
            Self::Viewport(viewport) => {
                let ([x, y], [width, height]) = (viewport.position.map(number), viewport.size.map(number));
                write!(f, "  VIEWPORT {x} {y} SIZE {width} {height}")?;
                option(f, "MIN_DEPTH", viewport.min_depth.map(number))?;
                option(f, "MAX_DEPTH", viewport.max_depth.map(number))?;
                writeln!(f)
            }
            Self::Subgroup(subgroup) => {
                writeln!(f, "  SUBGROUP {}", subgroup.shader)?;
                setting(f, "FULLY_POPULATED", subgroup.fully_populated.map(on))?;
                setting(f, "VARYING_SIZE", subgroup.varying_size.map(on))?;
                let size = subgroup.required_size.map(|size| match size {
                    SubgroupSize::Min => "MIN".to_owned(),
                    SubgroupSize::Max => "MAX".to_owned(),
                    SubgroupSize::Exactly(size) => size.to_string(),
                });
                setting(f, "REQUIRED_SIZE", size)?;
                writeln!(f, "  END")
            }
            Self::Depth(depth) => {
                writeln!(f, "  DEPTH")?;
                setting(f, "TEST", depth.test.map(on))?;
                setting(f, "WRITE", depth.write.map(on))?;
                setting(f, "COMPARE_OP", depth.compare_op)?;
                setting(f, "CLAMP", depth.clamp.map(on))?;
                let bounds = depth.bounds.map(|bounds| bounds.map(number));
                setting(f, "BOUNDS", bounds.map(|[min, max]| format!("min {min} max {max}")))?;
                let bias = depth.bias.map(|bias| bias.map(number));
                let bias =
                    bias.map(|[constant, clamp, slope]| format!("constant {constant} clamp {clamp} slope {slope}"));
                setting(f, "BIAS", bias)?;
                writeln!(f, "  END")
            }
            Self::Stencil(stencil) => {
                writeln!(f, "  STENCIL {}", stencil.face)?;
                setting(f, "TEST", stencil.test.map(on))?;
                setting(f, "FAIL_OP", stencil.fail_op)?;
                setting(f, "PASS_OP", stencil.pass_op)?;
                setting(f, "DEPTH_FAIL_OP", stencil.depth_fail_op)?;
                setting(f, "COMPARE_OP", stencil.compare_op)?;
                setting(f, "COMPARE_MASK", stencil.compare_mask)?;
                setting(f, "WRITE_MASK", stencil.write_mask)?;
                setting(f, "REFERENCE", stencil.reference)?;
                writeln!(f, "  END")
            }
            Self::Blend(blend) => {
                writeln!(f, "  BLEND")?;
                setting(f, "SRC_COLOR_FACTOR", blend.src_color)?;
                setting(f, "DST_COLOR_FACTOR", blend.dst_color)?;
                setting(f, "COLOR_OP", blend.color_op)?;
                setting(f, "SRC_ALPHA_FACTOR", blend.src_alpha)?;
                setting(f, "DST_ALPHA_FACTOR", blend.dst_alpha)?;
                setting(f, "ALPHA_OP", blend.alpha_op)?;
                writeln!(f, "  END")
            }
            Self::Bind(bind) => write!(f, "  {bind}"),
            Self::VertexData(data) => {
                write!(f, "  VERTEX_DATA {} LOCATION {}", data.buffer, data.location)?;
                let rate = data.per_instance.map(|each| if each { "instance" } else { "vertex" });
                option(f, "RATE", rate)?;
                option(f, "FORMAT", data.format.as_ref())?;
                option(f, "OFFSET", data.offset)?;
                option(f, "STRIDE", data.stride)?;
                writeln!(f)
            }
            Self::IndexData(buffer) => writeln!(f, "  INDEX_DATA {buffer}"),
            Self::SetKernel {
                argument,
                scalar,
                values,
            } => {
                write!(f, "  SET KERNEL {argument} AS {scalar}")?;
                words(f, values)?;
                writeln!(f)
            }
            Self::Foreign(foreign) => write!(f, "{foreign}"),
        }
    }
}

fn list(f: &mut Formatter<'_>, key: &str, shader: &str, entries: &[String]) -> fmt::Result {
    writeln!(f, "  {key} {shader}")?;
    entries
        .iter()
        .try_for_each(|entry| writeln!(f, "    {}", Word(entry)))?;
    writeln!(f, "  END")
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "ARG_NAME {name}"),
            Self::Number(number) => write!(f, "ARG_NUMBER {number}"),
        }
    }
}

impl Display for Bind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Color {
                buffer,
                location,
                base_mip_level,
            } => {
                write!(f, "BIND BUFFER {buffer} AS color LOCATION {location}")?;
                option(f, "BASE_MIP_LEVEL", (*base_mip_level != 0).then_some(base_mip_level))?;
            }
            Self::DepthStencil { buffer } => write!(f, "BIND BUFFER {buffer} AS depth_stencil")?,
            Self::Resolve { buffer } => write!(f, "BIND BUFFER {buffer} AS resolve")?,
            Self::PushConstant { buffer } => write!(f, "BIND BUFFER {buffer} AS push_constant")?,
            Self::Kernel { buffer, kind, argument } => {
                write!(f, "BIND BUFFER {buffer}")?;
                option(f, "AS", *kind)?;
                write!(f, " KERNEL {argument}")?;
            }
            Self::KernelSampler { sampler, argument } => write!(f, "BIND SAMPLER {sampler} KERNEL {argument}")?,
            Self::Buffers(bound) => bound.write(f)?,
            Self::Samplers {
                samplers,
                array,
                set,
                binding,
            } => {
                let array = if *array { "_ARRAY" } else { "" };
                write!(f, "BIND SAMPLER{array}")?;
                words(f, samplers)?;
                write!(f, " DESCRIPTOR_SET {set} BINDING {binding}")?;
            }
            Self::AccelerationStructure { name, set, binding } => {
                write!(
                    f,
                    "BIND ACCELERATION_STRUCTURE {name} DESCRIPTOR_SET {set} BINDING {binding}"
                )?;
            }
        }
        f.write_char('\n')
    }
}

impl BindBuffers {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let array = if self.array { "_ARRAY" } else { "" };
        write!(f, "BIND BUFFER{array}")?;
        words(f, &self.buffers)?;
        write!(f, " AS {}", self.kind)?;
        if !self.samplers.is_empty() {
            write!(f, " SAMPLER")?;
            words(f, &self.samplers)?;
        }
        write!(f, " DESCRIPTOR_SET {} BINDING {}", self.set, self.binding)?;
        option(
            f,
            "BASE_MIP_LEVEL",
            (self.base_mip_level != 0).then_some(self.base_mip_level),
        )?;
        let mut list = |key: &str, values: Vec<String>| {
            if values.is_empty() {
                return Ok(());
            }
            write!(f, " {key}")?;
            words(f, values)
        };
        list("OFFSET", self.offsets.iter().map(u64::to_string).collect())?;
        list(
            "DESCRIPTOR_OFFSET",
            self.descriptor_offsets.iter().map(u64::to_string).collect(),
        )?;
        let range = |range: &Option<u64>| range.map_or("-1".to_owned(), |range| range.to_string());
        list("DESCRIPTOR_RANGE", self.descriptor_ranges.iter().map(range).collect())
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let timed = if self.timed { "TIMED_EXECUTION " } else { "" };
        write!(f, "RUN {timed}{}", self.pipeline)?;
        match &self.how {
            How::Compute([x, y, z]) => write!(f, " {x} {y} {z}")?,
            How::Rect { position, size } => {
                let ([x, y], [width, height]) = (position.map(number), size.map(number));
                write!(f, " DRAW_RECT POS {x} {y} SIZE {width} {height}")?;
            }
            How::Grid { position, size, cells } => {
                let ([x, y], [width, height], [columns, rows]) = (position.map(number), size.map(number), cells);
                write!(f, " DRAW_GRID POS {x} {y} SIZE {width} {height} CELLS {columns} {rows}")?;
            }
            How::Array(draw) => {
                write!(f, " DRAW_ARRAY AS {}", draw.topology)?;
                if draw.indexed {
                    write!(f, " INDEXED")?;
                }
                option(f, "START_IDX", draw.start)?;
                option(f, "COUNT", draw.count)?;
                option(f, "START_INSTANCE", draw.start_instance)?;
                option(f, "INSTANCE_COUNT", draw.instances)?;
            }
            How::Rays(rest) => words(f, rest)?,
        }
        writeln!(f)
    }
}

impl Display for Expect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "EXPECT {}", self.buffer)?;
        match &self.check {
            Check::Values {
                offset,
                comparator,
                tolerances,
                values,
            } => {
                write!(f, " IDX {offset}")?;
                if !tolerances.is_empty() {
                    write!(f, " TOLERANCE")?;
                    words(f, tolerances)?;
                }
                write!(f, " {comparator}")?;
                words(f, values)?;
            }
            Check::Pixels {
                position: [x, y],
                size: [width, height],
                color,
                tolerances,
            } => {
                let letters = if color.len() == 4 { "EQ_RGBA" } else { "EQ_RGB" };
                write!(f, " IDX {x} {y} SIZE {width} {height} {letters}")?;
                words(f, color.iter().map(|value| number(*value)))?;
                if !tolerances.is_empty() {
                    write!(f, " TOLERANCE")?;
                    words(f, tolerances)?;
                }
            }
            Check::EqBuffer(other) => write!(f, " EQ_BUFFER {other}")?,
            Check::Rmse { other, tolerance } => write!(f, " RMSE_BUFFER {other} TOLERANCE {}", number(*tolerance))?,
            Check::HistogramEmd { other, tolerance } => {
                write!(f, " EQ_HISTOGRAM_EMD_BUFFER {other} TOLERANCE {}", number(*tolerance))?;
            }
        }
        writeln!(f)
    }
}
