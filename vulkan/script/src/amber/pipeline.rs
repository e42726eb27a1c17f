//! Reading what stands between PIPELINE and END.

use super::model::*;
use super::phrases::{floats, foreign, integers, on_off, word};
use crate::error::{Error, Result};
use crate::text::Text;
use crate::types::{DataType, Format, Scalar, Stage};

/// Words that begin a line of a pipeline.
const SETTINGS: &str = "ATTACH, SHADER_OPTIMIZATION, COMPILE_OPTIONS, POLYGON_MODE, PATCH_CONTROL_POINTS, \
                        FRAMEBUFFER_SIZE, VIEWPORT, SUBGROUP, DEPTH, STENCIL, BLEND, BIND, VERTEX_DATA, INDEX_DATA, SET, \
                        or END";

/// All of a pipeline behind its first line.
pub(super) fn body(text: &mut Text<'_>, name: String, base: PipelineBase) -> Result<Command> {
    let mut items = Vec::new();
    loop {
        let end = text.place();
        let Some(token) = text.next_across() else {
            return Err(Error::invalid(end, "expected END, found the end of the file"));
        };
        let place = token.place;
        let setting = match token.text {
            "END" => break,
            "ATTACH" => Setting::Attach(attach(text)?),
            "SHADER_OPTIMIZATION" => {
                let shader = text.name("a shader's name")?;
                let passes = list(text)?;
                Setting::ShaderOptimization { shader, passes }
            }
            "COMPILE_OPTIONS" => {
                let shader = text.name("a shader's name")?;
                let options = list(text)?;
                Setting::CompileOptions { shader, options }
            }
            "POLYGON_MODE" => Setting::PolygonMode(word(text, PolygonMode::named, &PolygonMode::expected())?),
            "PATCH_CONTROL_POINTS" => Setting::PatchControlPoints(text.unsigned("a number of points")?),
            "FRAMEBUFFER_SIZE" => Setting::FramebufferSize(size(text)?),
            "VIEWPORT" => Setting::Viewport(viewport(text)?),
            "SUBGROUP" => Setting::Subgroup(subgroup(text)?),
            "DEPTH" => Setting::Depth(depth(text)?),
            "STENCIL" => Setting::Stencil(stencil(text)?),
            "BLEND" => Setting::Blend(blend(text)?),
            "BIND" => bind(text)?,
            "VERTEX_DATA" => Setting::VertexData(vertex_data(text)?),
            "INDEX_DATA" => Setting::IndexData(text.name("a buffer's name")?),
            "SET" => {
                text.keyword("KERNEL")?;
                let argument = argument(text)?;
                text.keyword("AS")?;
                let scalar = word(text, DataType::parse, "a type")?;
                let mut values = vec![text.expect("a number")?.value("a number")?];
                while let Some(token) = text.next() {
                    values.push(token.value("a number")?);
                }
                Setting::SetKernel {
                    argument,
                    scalar,
                    values,
                }
            }
            "SHADER_GROUP"
            | "SHADER_BINDING_TABLE"
            | "FLAGS"
            | "USE_LIBRARY"
            | "MAX_RAY_PAYLOAD_SIZE"
            | "MAX_RAY_HIT_ATTRIBUTE_SIZE"
            | "MAX_RAY_RECURSION_DEPTH" => Setting::Foreign(foreign(text, token)?),
            _ => return Err(token.wrong(SETTINGS)),
        };
        text.end_line()?;
        items.push(Item { place, setting });
    }
    Ok(Command::Pipeline(Pipeline { name, base, items }))
}

/// Words up to END.
fn list(text: &mut Text<'_>) -> Result<Vec<String>> {
    let mut all = Vec::new();
    loop {
        let end = text.place();
        match text.next_across() {
            None => return Err(Error::invalid(end, "expected END, found the end of the file")),
            Some(token) if token.text == "END" => return Ok(all),
            Some(token) => all.push(token.text.to_owned()),
        }
    }
}

fn size(text: &mut Text<'_>) -> Result<[u32; 2]> {
    let place = text.place();
    let size = integers(text, "a size in pixels")?;
    if size.contains(&0) {
        return Err(Error::invalid(place, "expected a size of at least 1"));
    }
    Ok(size)
}

fn attach(text: &mut Text<'_>) -> Result<Attach> {
    let mut attach = Attach {
        shader: text.name("a shader's name")?,
        stage: None,
        entry: None,
        specialize: Vec::new(),
    };
    while let Some(token) = text.next() {
        match token.text {
            "TYPE" => attach.stage = Some(word(text, Stage::named, &Stage::expected())?),
            "ENTRY_POINT" => attach.entry = Some(text.name("an entry point's name")?),
            "SPECIALIZE" => {
                let id = text.unsigned("a constant's number")?;
                text.keyword("AS")?;
                let four = |word: &str| Scalar::named(word).filter(|scalar| scalar.bytes() == 4);
                let kind = word(text, four, "a type of 32 bits (int32, uint32, float)")?;
                let value = text.expect("a number")?.value("a number")?;
                attach.specialize.push(Specialize { id, kind, value });
            }
            _ => return Err(token.wrong("TYPE, ENTRY_POINT or SPECIALIZE")),
        }
    }
    Ok(attach)
}

fn viewport(text: &mut Text<'_>) -> Result<Viewport> {
    let position = floats(text, "a position in pixels")?;
    text.keyword("SIZE")?;
    let mut viewport = Viewport {
        position,
        size: floats(text, "a size in pixels")?,
        min_depth: None,
        max_depth: None,
    };
    while let Some(token) = text.next() {
        let place = match token.text {
            "MIN_DEPTH" => &mut viewport.min_depth,
            "MAX_DEPTH" => &mut viewport.max_depth,
            _ => return Err(token.wrong("MIN_DEPTH or MAX_DEPTH")),
        };
        *place = Some(text.float("a depth")?);
    }
    Ok(viewport)
}

/// Calls `read` with each word at a line's start up to END.
fn block(
    text: &mut Text<'_>,
    mut read: impl FnMut(&mut Text<'_>, &str) -> Result<Option<()>>,
    words: &str,
) -> Result<()> {
    text.end_line()?;
    loop {
        let end = text.place();
        let Some(token) = text.next_across() else {
            return Err(Error::invalid(end, "expected END, found the end of the file"));
        };
        if token.text == "END" {
            return Ok(());
        }
        read(text, token.text)?.ok_or_else(|| token.wrong(words))?;
        text.end_line()?;
    }
}

fn subgroup(text: &mut Text<'_>) -> Result<Subgroup> {
    let mut subgroup = Subgroup {
        shader: text.name("a shader's name")?,
        fully_populated: None,
        varying_size: None,
        required_size: None,
    };
    let read = |text: &mut Text<'_>, word: &str| {
        match word {
            "FULLY_POPULATED" => subgroup.fully_populated = Some(on_off(text)?),
            "VARYING_SIZE" => subgroup.varying_size = Some(on_off(text)?),
            "REQUIRED_SIZE" => {
                let what = "MIN, MAX or a power of two";
                let token = text.expect(what)?;
                subgroup.required_size = Some(match token.text {
                    "MIN" => SubgroupSize::Min,
                    "MAX" => SubgroupSize::Max,
                    _ => SubgroupSize::Exactly(token.unsigned(what)?),
                });
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    };
    block(text, read, "FULLY_POPULATED, VARYING_SIZE, REQUIRED_SIZE or END")?;
    Ok(subgroup)
}

fn depth(text: &mut Text<'_>) -> Result<Depth> {
    let mut depth = Depth::default();
    let read = |text: &mut Text<'_>, key: &str| {
        match key {
            "TEST" => depth.test = Some(on_off(text)?),
            "WRITE" => depth.write = Some(on_off(text)?),
            "COMPARE_OP" => depth.compare_op = Some(word(text, CompareOp::named, &CompareOp::expected())?),
            "CLAMP" => depth.clamp = Some(on_off(text)?),
            "BOUNDS" => depth.bounds = Some(named(text, ["min", "max"])?),
            "BIAS" => depth.bias = Some(named(text, ["constant", "clamp", "slope"])?),
            _ => return Ok(None),
        }
        Ok(Some(()))
    };
    block(text, read, "TEST, WRITE, COMPARE_OP, CLAMP, BOUNDS, BIAS or END")?;
    Ok(depth)
}

/// Numbers behind their names.
fn named<const N: usize>(text: &mut Text<'_>, names: [&str; N]) -> Result<[f64; N]> {
    let mut all = [0.0; N];
    for (one, name) in all.iter_mut().zip(names) {
        text.keyword(name)?;
        *one = text.float("a number")?;
    }
    Ok(all)
}

fn stencil(text: &mut Text<'_>) -> Result<Stencil> {
    let mut stencil = Stencil {
        face: word(text, Face::named, &Face::expected())?,
        test: None,
        fail_op: None,
        pass_op: None,
        depth_fail_op: None,
        compare_op: None,
        compare_mask: None,
        write_mask: None,
        reference: None,
    };
    let op = |text: &mut Text<'_>| word(text, StencilOp::named, &StencilOp::expected());
    let read = |text: &mut Text<'_>, key: &str| {
        match key {
            "TEST" => stencil.test = Some(on_off(text)?),
            "FAIL_OP" => stencil.fail_op = Some(op(text)?),
            "PASS_OP" => stencil.pass_op = Some(op(text)?),
            "DEPTH_FAIL_OP" => stencil.depth_fail_op = Some(op(text)?),
            "COMPARE_OP" => stencil.compare_op = Some(word(text, CompareOp::named, &CompareOp::expected())?),
            "COMPARE_MASK" => stencil.compare_mask = Some(text.unsigned("a number from 0 to 255")?),
            "WRITE_MASK" => stencil.write_mask = Some(text.unsigned("a number from 0 to 255")?),
            "REFERENCE" => stencil.reference = Some(text.unsigned("a number from 0 to 255")?),
            _ => return Ok(None),
        }
        Ok(Some(()))
    };
    let words = "TEST, FAIL_OP, PASS_OP, DEPTH_FAIL_OP, COMPARE_OP, COMPARE_MASK, WRITE_MASK, REFERENCE or END";
    block(text, read, words)?;
    Ok(stencil)
}

fn blend(text: &mut Text<'_>) -> Result<Blend> {
    let mut blend = Blend::default();
    let factor = |text: &mut Text<'_>| word(text, BlendFactor::named, &BlendFactor::expected());
    let op = |text: &mut Text<'_>| word(text, BlendOp::named, &BlendOp::expected());
    let read = |text: &mut Text<'_>, key: &str| {
        match key {
            "SRC_COLOR_FACTOR" => blend.src_color = Some(factor(text)?),
            "DST_COLOR_FACTOR" => blend.dst_color = Some(factor(text)?),
            "COLOR_OP" => blend.color_op = Some(op(text)?),
            "SRC_ALPHA_FACTOR" => blend.src_alpha = Some(factor(text)?),
            "DST_ALPHA_FACTOR" => blend.dst_alpha = Some(factor(text)?),
            "ALPHA_OP" => blend.alpha_op = Some(op(text)?),
            _ => return Ok(None),
        }
        Ok(Some(()))
    };
    let words = "SRC_COLOR_FACTOR, DST_COLOR_FACTOR, COLOR_OP, SRC_ALPHA_FACTOR, DST_ALPHA_FACTOR, ALPHA_OP or END";
    block(text, read, words)?;
    Ok(blend)
}

fn vertex_data(text: &mut Text<'_>) -> Result<VertexData> {
    let buffer = text.name("a buffer's name")?;
    text.keyword("LOCATION")?;
    let mut data = VertexData {
        buffer,
        location: text.unsigned("a location")?,
        per_instance: None,
        format: None,
        offset: None,
        stride: None,
    };
    while let Some(token) = text.next() {
        match token.text {
            "RATE" => {
                let named = |word: &str| match word {
                    "vertex" => Some(false),
                    "instance" => Some(true),
                    _ => None,
                };
                data.per_instance = Some(word(text, named, "vertex or instance")?);
            }
            "FORMAT" => data.format = Some(word(text, Format::parse, "an image format")?),
            "OFFSET" => data.offset = Some(text.unsigned("bytes")?),
            "STRIDE" => data.stride = Some(text.unsigned("bytes")?),
            _ => return Err(token.wrong("RATE, FORMAT, OFFSET or STRIDE")),
        }
    }
    Ok(data)
}

fn argument(text: &mut Text<'_>) -> Result<Argument> {
    let token = text.expect("ARG_NAME or ARG_NUMBER")?;
    match token.text {
        "ARG_NAME" => Ok(Argument::Name(text.name("an argument's name")?)),
        "ARG_NUMBER" => Ok(Argument::Number(text.unsigned("an argument's number")?)),
        _ => Err(token.wrong("ARG_NAME or ARG_NUMBER")),
    }
}

fn set_and_binding(text: &mut Text<'_>) -> Result<(u32, u32)> {
    text.keyword("DESCRIPTOR_SET")?;
    let set = text.unsigned("a set's number")?;
    text.keyword("BINDING")?;
    Ok((set, text.unsigned("a binding's number")?))
}

/// Names up to one of these words.
fn names_until(text: &mut Text<'_>, what: &str, ends: &[&str]) -> Result<Vec<String>> {
    let mut names = vec![text.name(what)?];
    while let Some(token) = text.peek()
        && !ends.contains(&token.text)
    {
        text.next();
        names.push(token.text.to_owned());
    }
    Ok(names)
}

fn bind(text: &mut Text<'_>) -> Result<Setting> {
    let what = "BUFFER, BUFFER_ARRAY, SAMPLER, SAMPLER_ARRAY or ACCELERATION_STRUCTURE";
    let token = text.expect(what)?;
    let array = token.text.ends_with("_ARRAY");
    let bind = match token.text {
        "BUFFER" | "BUFFER_ARRAY" => bind_buffers(text, array)?,
        "SAMPLER" | "SAMPLER_ARRAY" => {
            let samplers = match array {
                true => names_until(text, "a sampler's name", &["DESCRIPTOR_SET"])?,
                false => vec![text.name("a sampler's name")?],
            };
            if text.take("KERNEL") {
                Bind::KernelSampler {
                    sampler: samplers.into_iter().next().unwrap_or_default(),
                    argument: argument(text)?,
                }
            } else {
                let (set, binding) = set_and_binding(text)?;
                Bind::Samplers {
                    samplers,
                    array,
                    set,
                    binding,
                }
            }
        }
        "ACCELERATION_STRUCTURE" => {
            let name = text.name("an acceleration structure's name")?;
            let (set, binding) = set_and_binding(text)?;
            Bind::AccelerationStructure { name, set, binding }
        }
        _ => return Err(token.wrong(what)),
    };
    Ok(Setting::Bind(bind))
}

fn bind_buffers(text: &mut Text<'_>, array: bool) -> Result<Bind> {
    let buffers = match array {
        true => names_until(text, "a buffer's name", &["AS", "KERNEL", "DESCRIPTOR_SET"])?,
        false => vec![text.name("a buffer's name")?],
    };
    let first = buffers[0].clone();
    if text.take("KERNEL") {
        return Ok(Bind::Kernel {
            buffer: first,
            kind: None,
            argument: argument(text)?,
        });
    }
    text.keyword("AS")?;
    let what = format!("color, depth_stencil, resolve, push_constant, {}", BindKind::expected());
    let token = text.expect(&what)?;
    let attachment = match token.text {
        "color" => {
            text.keyword("LOCATION")?;
            let location = text.unsigned("a location")?;
            let base_mip_level = level(text)?;
            Some(Bind::Color {
                buffer: first.clone(),
                location,
                base_mip_level,
            })
        }
        "depth_stencil" => Some(Bind::DepthStencil { buffer: first.clone() }),
        "resolve" => Some(Bind::Resolve { buffer: first.clone() }),
        "push_constant" => Some(Bind::PushConstant { buffer: first.clone() }),
        _ => None,
    };
    if let Some(attachment) = attachment {
        if array {
            return Err(token.wrong(&BindKind::expected()));
        }
        return Ok(attachment);
    }
    let kind = BindKind::named(token.text).ok_or_else(|| token.wrong(&what))?;
    let mut samplers = Vec::new();
    if kind == BindKind::CombinedImageSampler {
        text.keyword("SAMPLER")?;
        samplers = names_until(
            text,
            "a sampler's name",
            &["DESCRIPTOR_SET", "KERNEL", "BASE_MIP_LEVEL"],
        )?;
    }
    if text.take("KERNEL") {
        return Ok(Bind::Kernel {
            buffer: first,
            kind: Some(kind),
            argument: argument(text)?,
        });
    }
    let (set, binding) = set_and_binding(text)?;
    let mut bound = BindBuffers {
        buffers,
        array,
        kind,
        samplers,
        set,
        binding,
        base_mip_level: 0,
        offsets: Vec::new(),
        descriptor_offsets: Vec::new(),
        descriptor_ranges: Vec::new(),
    };
    rest_of_bind(text, &mut bound)?;
    Ok(Bind::Buffers(bound))
}

fn level(text: &mut Text<'_>) -> Result<u32> {
    match text.take("BASE_MIP_LEVEL") {
        true => text.unsigned("a level"),
        false => Ok(0),
    }
}

fn rest_of_bind(text: &mut Text<'_>, bound: &mut BindBuffers) -> Result<()> {
    let count = bound.buffers.len();
    while let Some(token) = text.peek() {
        let place = token.place;
        match token.text {
            "BASE_MIP_LEVEL" => bound.base_mip_level = level(text)?,
            "OFFSET" if bound.kind.is_dynamic() => {
                text.next();
                bound.offsets = numbers(text, |token| token.unsigned("an offset"))?;
            }
            "DESCRIPTOR_OFFSET" => {
                text.next();
                bound.descriptor_offsets = numbers(text, |token| token.unsigned("an offset"))?;
            }
            "DESCRIPTOR_RANGE" => {
                text.next();
                let read = |token: crate::text::Token<'_>| match token.text {
                    "-1" => Ok(None),
                    _ => token.unsigned("a range, or -1").map(Some),
                };
                bound.descriptor_ranges = numbers(text, read)?;
            }
            _ => return Err(token.wrong("BASE_MIP_LEVEL, OFFSET, DESCRIPTOR_OFFSET or DESCRIPTOR_RANGE")),
        }
        let lists = [
            bound.offsets.len(),
            bound.descriptor_offsets.len(),
            bound.descriptor_ranges.len(),
        ];
        if lists.iter().any(|length| *length > 0 && *length != count) {
            return Err(Error::invalid(
                place,
                format!("expected a number for each of {count} buffers"),
            ));
        }
    }
    if bound.kind.is_dynamic() && bound.offsets.is_empty() {
        return Err(Error::invalid(
            text.place(),
            "expected OFFSET: a dynamic buffer has one",
        ));
    }
    Ok(())
}

/// Numbers up to the line's end or a word.
fn numbers<T>(text: &mut Text<'_>, read: impl Fn(crate::text::Token<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut all = vec![read(text.expect("a number")?)?];
    while let Some(token) = text.peek()
        && token.text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    {
        text.next();
        all.push(read(token)?);
    }
    Ok(all)
}
