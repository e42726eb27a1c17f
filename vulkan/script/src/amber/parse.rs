//! Reading AmberScript.

use super::model::*;
use super::phrases::{floats, foreign, integers, on_off, word};
use super::pipeline;
use crate::error::{Error, Place, Result};
use crate::text::{Text, Token};
use crate::types::{DataType, Format, Stage, Tolerance, Topology, Value};

/// Reads a script.
///
/// # Errors
/// Where the text breaks a rule of the language, with line, column and what was expected there.
pub fn parse(text: &str) -> Result<Script> {
    let mut text = Text::new(text, &[]);
    let first = text.place();
    if !text.begins("#!amber") {
        return Err(Error::invalid(first, "expected #!amber on the first line"));
    }
    let mut statements = Vec::new();
    while let Some(token) = text.next_across() {
        statements.push(statement(&mut text, token, false)?);
    }
    Ok(Script { statements })
}

/// Words that begin a statement.
const STATEMENTS: &str = "a statement (DEVICE_FEATURE, DEVICE_PROPERTY, DEVICE_EXTENSION, INSTANCE_EXTENSION, SET, \
                          VIRTUAL_FILE, SHADER, STRUCT, BUFFER, IMAGE, SAMPLER, PIPELINE, DERIVE_PIPELINE, \
                          ACCELERATION_STRUCTURE, DEBUG, CLEAR, CLEAR_COLOR, CLEAR_DEPTH, CLEAR_STENCIL, COPY, REPEAT, \
                          RUN, EXPECT)";

fn statement(text: &mut Text<'_>, token: Token<'_>, repeated: bool) -> Result<Statement> {
    let place = token.place;
    let command = match token.text {
        "CLEAR" => Command::Clear {
            pipeline: text.name("a pipeline's name")?,
        },
        "CLEAR_COLOR" => Command::ClearColor {
            pipeline: text.name("a pipeline's name")?,
            color: floats(text, "a number from 0 to 255")?,
        },
        "CLEAR_DEPTH" => Command::ClearDepth {
            pipeline: text.name("a pipeline's name")?,
            value: text.float("a depth")?,
        },
        "CLEAR_STENCIL" => Command::ClearStencil {
            pipeline: text.name("a pipeline's name")?,
            value: text.unsigned("a number from 0 to 255")?,
        },
        "COPY" => {
            let from = text.name("a buffer's name")?;
            text.keyword("TO")?;
            let to = text.name("a buffer's name")?;
            Command::Copy { from, to }
        }
        "RUN" => Command::Run(run(text)?),
        "EXPECT" => Command::Expect(expect(text)?),
        _ if repeated => {
            return Err(token.wrong("CLEAR, CLEAR_COLOR, CLEAR_DEPTH, CLEAR_STENCIL, COPY, RUN, EXPECT or END"));
        }
        "REPEAT" => return repeat(text, place),
        "DEVICE_FEATURE" => Command::DeviceFeature(text.name("a feature's name")?),
        "DEVICE_PROPERTY" => Command::DeviceProperty(text.name("a property's name")?),
        "DEVICE_EXTENSION" => Command::DeviceExtension(text.name("an extension's name")?),
        "INSTANCE_EXTENSION" => Command::InstanceExtension(text.name("an extension's name")?),
        "SET" => {
            text.keyword("ENGINE_DATA")?;
            let token = text.expect("fence_timeout_ms")?;
            if token.text != "fence_timeout_ms" {
                return Err(token.wrong("fence_timeout_ms"));
            }
            Command::EngineData {
                name: token.text.to_owned(),
                value: text.unsigned("milliseconds")?,
            }
        }
        "VIRTUAL_FILE" => {
            let path = text.name("a path")?;
            text.end_line()?;
            let (_, text) = inline(text)?;
            Command::VirtualFile { path, text }
        }
        "SHADER" => Command::Shader(shader(text)?),
        "STRUCT" => Command::Struct(structure(text)?),
        "BUFFER" => Command::Buffer(buffer(text)?),
        "IMAGE" => Command::Image(image(text)?),
        "SAMPLER" => Command::Sampler(sampler(text)?),
        "PIPELINE" => {
            let named = |word: &str| match word {
                // As the conformance suite writes it.
                "raytracing" => Some(PipelineKind::RayTracing),
                word => PipelineKind::named(word),
            };
            let kind = word(text, named, &PipelineKind::expected())?;
            let name = text.name("the pipeline's name")?;
            text.end_line()?;
            pipeline::body(text, name, PipelineBase::New(kind))?
        }
        "DERIVE_PIPELINE" => {
            let name = text.name("the pipeline's name")?;
            text.keyword("FROM")?;
            let parent = text.name("a pipeline's name")?;
            text.end_line()?;
            pipeline::body(text, name, PipelineBase::Derived(parent))?
        }
        "ACCELERATION_STRUCTURE" | "DEBUG" => Command::Foreign(foreign(text, token)?),
        _ => return Err(token.wrong(STATEMENTS)),
    };
    text.end_line()?;
    Ok(Statement { place, command })
}

fn repeat(text: &mut Text<'_>, place: Place) -> Result<Statement> {
    let count = text.unsigned("how often")?;
    text.end_line()?;
    let mut body = Vec::new();
    loop {
        let end = text.place();
        match text.next_across() {
            None => return Err(Error::invalid(end, "expected END, found the end of the file")),
            Some(token) if token.text == "END" => break,
            Some(token) => body.push(statement(text, token, true)?),
        }
    }
    text.end_line()?;
    let command = Command::Repeat { count, body };
    Ok(Statement { place, command })
}

/// Lines up to one that begins with END, which is taken.
fn inline(text: &mut Text<'_>) -> Result<(Place, String)> {
    text.next_line();
    let place = text.place();
    let lines = text.lines_until(|line| line.split([' ', '\t', '#']).find(|word| !word.is_empty()) == Some("END"))?;
    text.keyword("END")?;
    Ok((place, lines.to_owned()))
}

fn shader(text: &mut Text<'_>) -> Result<Shader> {
    let stage = word(text, Stage::named, &Stage::expected())?;
    let name = text.name("the shader's name")?;
    let languages = format!("PASSTHROUGH or a language ({})", Language::expected());
    let token = text.expect(&languages)?;
    if token.text == "PASSTHROUGH" {
        if stage != Stage::Vertex {
            return Err(Error::invalid(token.place, "only a vertex shader can be PASSTHROUGH"));
        }
        let code = Code::Passthrough;
        return Ok(Shader { stage, name, code });
    }
    let language = Language::named(token.text).ok_or_else(|| token.wrong(&languages))?;
    let mut target_env = None;
    if text.take("TARGET_ENV") {
        target_env = Some(text.name("a target environment")?);
    }
    let from = if text.take("VIRTUAL_FILE") {
        From::Virtual(text.name("a path")?)
    } else if text.take("FILE") {
        From::File(text.name("a path")?)
    } else if language == Language::SpirvBin {
        return Err(text
            .expect("FILE")
            .map_or_else(|error| error, |token| token.wrong("FILE")));
    } else {
        text.end_line()?;
        let (place, source) = inline(text)?;
        From::Inline(place, source)
    };
    let code = Code::Source {
        language,
        target_env,
        from,
    };
    Ok(Shader { stage, name, code })
}

fn data_type(text: &mut Text<'_>) -> Result<DataType> {
    word(text, DataType::parse, "a type")
}

fn format(text: &mut Text<'_>) -> Result<Format> {
    word(text, Format::parse, "an image format")
}

fn structure(text: &mut Text<'_>) -> Result<Struct> {
    let name = text.name("the structure's name")?;
    let stride = text.take("STRIDE").then(|| text.unsigned("bytes")).transpose()?;
    text.end_line()?;
    let mut members = Vec::new();
    loop {
        let end = text.place();
        let Some(token) = text.next_across() else {
            return Err(Error::invalid(end, "expected END, found the end of the file"));
        };
        if token.text == "END" {
            break;
        }
        let mut member = Member {
            place: token.place,
            kind: DataType::parse(token.text).ok_or_else(|| token.wrong("a type or END"))?,
            name: text.name("the member's name")?,
            offset: None,
            array_stride: None,
            matrix_stride: None,
        };
        while let Some(token) = text.next() {
            let place = match token.text {
                "OFFSET" => &mut member.offset,
                "ARRAY_STRIDE" => &mut member.array_stride,
                "MATRIX_STRIDE" => &mut member.matrix_stride,
                _ => return Err(token.wrong("OFFSET, ARRAY_STRIDE or MATRIX_STRIDE")),
            };
            *place = Some(text.unsigned("bytes")?);
        }
        members.push(member);
    }
    if members.is_empty() {
        return Err(Error::invalid(text.place(), "expected a member, found none"));
    }
    Ok(Struct { name, stride, members })
}

/// What fills a buffer, where the next word says so.
fn fill(text: &mut Text<'_>) -> Result<Option<Fill>> {
    let Some(token) = text.peek() else { return Ok(None) };
    let fill = match token.text {
        "DATA" => {
            text.next();
            let mut values = Vec::new();
            loop {
                let end = text.place();
                let Some(token) = text.next_across() else {
                    return Err(Error::invalid(end, "expected END, found the end of the file"));
                };
                if token.text == "END" {
                    break;
                }
                values.push(token.value("a number or END")?);
            }
            if values.is_empty() {
                return Err(Error::invalid(token.place, "expected numbers, found none"));
            }
            Fill::Data(values)
        }
        "FILL" => {
            text.next();
            Fill::Value(text.expect("a number")?.value("a number")?)
        }
        "SERIES_FROM" => {
            text.next();
            let from = text.expect("a number")?.value("a number")?;
            text.keyword("INC_BY")?;
            let by = text.expect("a number")?.value("a number")?;
            Fill::Series { from, by }
        }
        "FILE" => {
            text.next();
            let token = text.expect("TEXT, BINARY, PNG or a path")?;
            match FileKind::named(token.text) {
                Some(kind) => Fill::File(kind, text.name("a path")?),
                // Scripts from before there were other kinds name pictures alone.
                None => Fill::File(FileKind::Png, token.text.to_owned()),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(fill))
}

/// Levels and samples, in any order.
fn levels_and_samples(text: &mut Text<'_>) -> Result<(u32, u32)> {
    let (mut levels, mut samples) = (1, 1);
    loop {
        if text.take("MIP_LEVELS") {
            levels = counted(text, "how many levels", |levels| (1..=32).contains(&levels))?;
        } else if text.take("SAMPLES") {
            samples = counted(text, "1, 2, 4, 8, 16, 32 or 64", |samples: u32| {
                samples.is_power_of_two() && samples <= 64
            })?;
        } else {
            return Ok((levels, samples));
        }
    }
}

fn counted(text: &mut Text<'_>, what: &str, fits: impl Fn(u32) -> bool) -> Result<u32> {
    let token = text.expect(what)?;
    token
        .unsigned(what)
        .ok()
        .filter(|count| fits(*count))
        .ok_or_else(|| token.wrong(what))
}

fn buffer(text: &mut Text<'_>) -> Result<Buffer> {
    let name = text.name("the buffer's name")?;
    let token = text.expect("DATA_TYPE or FORMAT")?;
    let shape = match token.text {
        "DATA_TYPE" => {
            let kind = data_type(text)?;
            let mut layout = None;
            if let Some(found) = text.peek().and_then(|token| Layout::named(token.text)) {
                layout = Some(found);
                text.next();
            }
            let size = if text.take("SIZE") {
                Some(DataSize::Elements(text.unsigned("how many elements")?))
            } else if text.take("WIDTH") {
                let width = text.unsigned("a width")?;
                text.keyword("HEIGHT")?;
                Some(DataSize::Area(width, text.unsigned("a height")?))
            } else {
                None
            };
            let what = "DATA, FILL, SERIES_FROM or FILE";
            let Some(fill) = fill(text)? else {
                return Err(text.expect(what).map_or_else(|error| error, |token| token.wrong(what)));
            };
            if size.is_none() && !matches!(fill, Fill::Data(_)) {
                return Err(Error::invalid(
                    token.place,
                    "expected SIZE: only DATA says how many there are",
                ));
            }
            BufferShape::Data {
                kind,
                layout,
                size,
                fill,
            }
        }
        "FORMAT" => {
            let format = format(text)?;
            let (mip_levels, samples) = levels_and_samples(text)?;
            let fill = fill(text)?;
            BufferShape::Format {
                format,
                mip_levels,
                samples,
                fill,
            }
        }
        _ => return Err(token.wrong("DATA_TYPE or FORMAT")),
    };
    Ok(Buffer { name, shape })
}

fn image(text: &mut Text<'_>) -> Result<Image> {
    let name = text.name("the image's name")?;
    let token = text.expect("FORMAT or DATA_TYPE")?;
    let texel = match token.text {
        "FORMAT" => Texel::Format(format(text)?),
        "DATA_TYPE" => Texel::Data(data_type(text)?),
        _ => return Err(token.wrong("FORMAT or DATA_TYPE")),
    };
    let (mip_levels, samples) = levels_and_samples(text)?;
    let dimension = word(text, Dimension::named, &Dimension::expected())?;
    let sizes = ["WIDTH", "HEIGHT", "DEPTH"];
    let mut size = [1; 3];
    for (axis, key) in sizes.into_iter().enumerate().take(dimension as usize + 1) {
        text.keyword(key)?;
        size[axis] = counted(text, "a size of at least 1", |size| size > 0)?;
    }
    let (levels, more) = levels_and_samples(text)?;
    let fill = fill(text)?;
    Ok(Image {
        name,
        texel,
        mip_levels: mip_levels.max(levels),
        samples: samples.max(more),
        dimension,
        size,
        fill,
    })
}

fn sampler(text: &mut Text<'_>) -> Result<Sampler> {
    let mut sampler = Sampler {
        name: text.name("the sampler's name")?,
        ..Sampler::default()
    };
    while let Some(token) = text.next() {
        match token.text {
            "MAG_FILTER" => sampler.mag_filter = Some(word(text, Filter::named, &Filter::expected())?),
            "MIN_FILTER" => sampler.min_filter = Some(word(text, Filter::named, &Filter::expected())?),
            "ADDRESS_MODE_U" => sampler.address_mode[0] = Some(address_mode(text)?),
            "ADDRESS_MODE_V" => sampler.address_mode[1] = Some(address_mode(text)?),
            "ADDRESS_MODE_W" => sampler.address_mode[2] = Some(address_mode(text)?),
            "BORDER_COLOR" => {
                sampler.border_color = Some(word(text, BorderColor::named, &BorderColor::expected())?);
            }
            "MIN_LOD" => sampler.min_lod = Some(text.float("a level")?),
            "MAX_LOD" => sampler.max_lod = Some(text.float("a level")?),
            "NORMALIZED_COORDS" => sampler.normalized = Some(true),
            "UNNORMALIZED_COORDS" => sampler.normalized = Some(false),
            "COMPARE" => sampler.compare = Some(on_off(text)?),
            "COMPARE_OP" => sampler.compare_op = Some(word(text, CompareOp::named, &CompareOp::expected())?),
            _ => {
                return Err(token.wrong(
                    "MAG_FILTER, MIN_FILTER, ADDRESS_MODE_U, ADDRESS_MODE_V, ADDRESS_MODE_W, BORDER_COLOR, MIN_LOD, \
                     MAX_LOD, NORMALIZED_COORDS, UNNORMALIZED_COORDS, COMPARE or COMPARE_OP",
                ));
            }
        }
    }
    Ok(sampler)
}

fn address_mode(text: &mut Text<'_>) -> Result<AddressMode> {
    word(text, AddressMode::named, &AddressMode::expected())
}

fn run(text: &mut Text<'_>) -> Result<Run> {
    let timed = text.take("TIMED_EXECUTION");
    let pipeline = text.name("a pipeline's name")?;
    let what = "DRAW_RECT, DRAW_GRID, DRAW_ARRAY, RAYGEN or numbers of work groups";
    let token = text.expect(what)?;
    let how = match token.text {
        "DRAW_RECT" => {
            let (position, size) = rectangle(text)?;
            How::Rect { position, size }
        }
        "DRAW_GRID" => {
            let (position, size) = rectangle(text)?;
            text.keyword("CELLS")?;
            let cells = integers(text, "a number of cells")?;
            How::Grid { position, size, cells }
        }
        "DRAW_ARRAY" => How::Array(draw_array(text)?),
        "RAYGEN" => {
            let mut words = vec![token.text.to_owned()];
            while let Some(token) = text.next() {
                words.push(token.text.to_owned());
            }
            How::Rays(words)
        }
        _ => {
            let x = token.unsigned(what)?;
            let [y, z] = integers(text, "a number of work groups")?;
            How::Compute([x, y, z])
        }
    };
    Ok(Run { timed, pipeline, how })
}

fn rectangle(text: &mut Text<'_>) -> Result<([f64; 2], [f64; 2])> {
    text.keyword("POS")?;
    let position = floats(text, "a position in pixels")?;
    text.keyword("SIZE")?;
    Ok((position, floats(text, "a size in pixels")?))
}

fn draw_array(text: &mut Text<'_>) -> Result<DrawArray> {
    text.keyword("AS")?;
    let mut draw = DrawArray {
        topology: word(text, Topology::named, &Topology::expected())?,
        indexed: text.take("INDEXED"),
        start: None,
        count: None,
        start_instance: None,
        instances: None,
    };
    while let Some(token) = text.next() {
        let place = match token.text {
            "START_IDX" => &mut draw.start,
            "COUNT" => &mut draw.count,
            "START_INSTANCE" => &mut draw.start_instance,
            "INSTANCE_COUNT" => &mut draw.instances,
            _ => return Err(token.wrong("START_IDX, COUNT, START_INSTANCE or INSTANCE_COUNT")),
        };
        *place = Some(text.unsigned("a number")?);
    }
    Ok(draw)
}

/// Tolerances, one to four.
fn tolerances(text: &mut Text<'_>) -> Result<Vec<Tolerance>> {
    let what = "a tolerance, such as 0.5 or 1%";
    let token = text.expect(what)?;
    let mut all = vec![Tolerance::parse(token.text).ok_or_else(|| token.wrong(what))?];
    while all.len() < 4
        && let Some(more) = text.peek().and_then(|token| Tolerance::parse(token.text))
    {
        text.next();
        all.push(more);
    }
    Ok(all)
}

fn expect(text: &mut Text<'_>) -> Result<Expect> {
    let buffer = text.name("a buffer's name")?;
    let what = "IDX, EQ_BUFFER, RMSE_BUFFER or EQ_HISTOGRAM_EMD_BUFFER";
    let token = text.expect(what)?;
    let check = match token.text {
        "EQ_BUFFER" => Check::EqBuffer(text.name("a buffer's name")?),
        "RMSE_BUFFER" | "EQ_HISTOGRAM_EMD_BUFFER" => {
            let other = text.name("a buffer's name")?;
            text.keyword("TOLERANCE")?;
            let tolerance = text.float("a number")?;
            match token.text {
                "RMSE_BUFFER" => Check::Rmse { other, tolerance },
                _ => Check::HistogramEmd { other, tolerance },
            }
        }
        "IDX" => {
            let index = text.expect("a number")?;
            match text.peek() {
                Some(second) if second.text.starts_with(|c: char| c.is_ascii_digit()) => {
                    text.next();
                    pixels(text, [index.unsigned("a pixel")?, second.unsigned("a pixel")?])?
                }
                _ => values(text, index.unsigned("a byte offset")?)?,
            }
        }
        _ => return Err(token.wrong(what)),
    };
    Ok(Expect { buffer, check })
}

fn pixels(text: &mut Text<'_>, position: [u32; 2]) -> Result<Check> {
    text.keyword("SIZE")?;
    let size = integers(text, "a size in pixels")?;
    let mut tolerance = Vec::new();
    if text.take("TOLERANCE") {
        tolerance = tolerances(text)?;
    }
    let named = |word: &str| match word {
        "EQ_RGB" => Some(3),
        "EQ_RGBA" => Some(4),
        _ => None,
    };
    let components = word(text, named, "EQ_RGB or EQ_RGBA")?;
    let mut color = Vec::new();
    for _ in 0..components {
        color.push(text.float("a number from 0 to 255")?);
    }
    if text.take("TOLERANCE") {
        tolerance = tolerances(text)?;
    }
    Ok(Check::Pixels {
        position,
        size,
        color,
        tolerances: tolerance,
    })
}

fn values(text: &mut Text<'_>, offset: u64) -> Result<Check> {
    let mut tolerance = Vec::new();
    if text.take("TOLERANCE") {
        tolerance = tolerances(text)?;
    }
    let token = text.expect(&format!("TOLERANCE, SIZE or a comparator ({})", Comparator::expected()))?;
    let comparator = Comparator::named(token.text).ok_or_else(|| token.wrong(&Comparator::expected()))?;
    if !tolerance.is_empty() && comparator != Comparator::Eq {
        return Err(Error::invalid(token.place, "expected EQ: only that has a tolerance"));
    }
    let mut values: Vec<Value> = vec![text.expect("a number")?.value("a number")?];
    while let Some(token) = text.next() {
        values.push(token.value("a number")?);
    }
    Ok(Check::Values {
        offset,
        comparator,
        tolerances: tolerance,
        values,
    })
}
