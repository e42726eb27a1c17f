//! Reading VkScript.

use super::model::*;
use super::print::stage;
use crate::amber::Layout;
use crate::error::{Error, Place, Result};
use crate::text::{Text, Token};
use crate::types::{Format, Stage, Tolerance, Topology, TypeName, Value};

/// Characters that stand between numbers as spaces do.
const SEPARATORS: &[char] = &['(', ')', ','];

/// Reads a script.
///
/// # Errors
/// Where the text breaks a rule of the language, with line, column and what was expected there.
pub fn parse(text: &str) -> Result<Script> {
    let mut text = Text::new(text, SEPARATORS);
    let mut script = Script::default();
    while let Some(token) = text.next_across() {
        let expected = "a section ([require], [... shader ...], [vertex data], [indices], [test])";
        let Some(first) = token.text.strip_prefix('[') else {
            return Err(token.wrong(expected));
        };
        let mut words = vec![first];
        while !words.last().is_some_and(|word| word.ends_with(']')) {
            words.push(text.expect("]")?.text);
        }
        let title = words.join(" ");
        let title = title.trim_end_matches(']');
        text.end_line()?;
        text.next_line();
        match title {
            "require" => require(&mut text, &mut script)?,
            "vertex data" => {
                let place = text.place();
                if script.vertex_data.replace(vertex_data(&mut text, place)?).is_some() {
                    return Err(Error::invalid(
                        token.place,
                        "expected one section of vertex data, found two",
                    ));
                }
            }
            "indices" => {
                let all = script.indices.get_or_insert_default();
                while let Some(token) = in_section(&mut text) {
                    all.push(token.unsigned("an index")?);
                }
            }
            "test" => {
                while let Some(token) = in_section(&mut text) {
                    script.test.push(statement(&mut text, token)?);
                    text.end_line()?;
                }
            }
            "comment" => {
                text.lines_until_or_all(|line| line.starts_with('['));
            }
            _ => {
                let (stage, language) = shader_title(title).ok_or_else(|| token.wrong(expected))?;
                let place = text.place();
                let lines = text.lines_until_or_all(|line| line.starts_with('['));
                let comment = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
                let text = match (language, lines) {
                    (Language::Passthrough, lines) if lines.lines().all(comment) => String::new(),
                    (Language::Passthrough, _) => {
                        return Err(Error::invalid(place, "expected no text: this shader is given"));
                    }
                    // A text ends with its last line's end, so that texts compare as they are printed.
                    (_, lines) if lines.is_empty() || lines.ends_with('\n') => lines.to_owned(),
                    (_, lines) => format!("{lines}\n"),
                };
                script.shaders.push(Shader {
                    place,
                    stage,
                    language,
                    text,
                });
            }
        }
    }
    Ok(script)
}

/// The next token, unless it begins a section.
fn in_section<'a>(text: &mut Text<'a>) -> Option<Token<'a>> {
    text.peek_across().filter(|token| !token.text.starts_with('['))?;
    text.next_across()
}

fn shader_title(title: &str) -> Option<(Stage, Language)> {
    let (name, language) = title.split_once(" shader")?;
    let stage = Stage::ALL[..6].iter().copied().find(|known| stage(*known) == name)?;
    let language = match language.trim() {
        "binary" => Language::SpirvHex,
        language => Language::named(language)?,
    };
    (language != Language::Passthrough || stage == Stage::Vertex).then_some((stage, language))
}

fn require(text: &mut Text<'_>, script: &mut Script) -> Result<()> {
    while let Some(token) = in_section(text) {
        let place = token.place;
        let what = match token.text {
            "framebuffer" => Requirement::Framebuffer(format(text)?),
            "depthstencil" => Requirement::DepthStencil(format(text)?),
            "fbsize" => {
                let size = integers(text, "a size in pixels")?;
                if size.contains(&0) {
                    return Err(Error::invalid(place, "expected a size of at least 1"));
                }
                Requirement::Size(size)
            }
            "fence_timeout" => Requirement::FenceTimeout(text.unsigned("milliseconds")?),
            "vulkan" => {
                let token = text.expect("a version")?;
                Requirement::Vulkan(version(token.text).ok_or_else(|| token.wrong("a version such as 1.2"))?)
            }
            name if name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c)) => {
                Requirement::Named(name.to_owned())
            }
            _ => {
                return Err(
                    token.wrong("a feature, an extension, framebuffer, depthstencil, fbsize, fence_timeout or vulkan")
                );
            }
        };
        text.end_line()?;
        script.requires.push(Require { place, what });
    }
    Ok(())
}

fn version(text: &str) -> Option<[u32; 3]> {
    let mut all = [0; 3];
    let mut parts = text.split('.');
    for (at, one) in all.iter_mut().enumerate() {
        match parts.next() {
            Some(part) => *one = part.parse().ok()?,
            None if at > 0 => {}
            None => return None,
        }
    }
    parts.next().is_none().then_some(all)
}

fn format(text: &mut Text<'_>) -> Result<Format> {
    let token = text.expect("an image format")?;
    Format::parse(token.text).ok_or_else(|| token.wrong("an image format"))
}

fn integers<const N: usize>(text: &mut Text<'_>, what: &str) -> Result<[u32; N]> {
    let mut all = [0; N];
    for one in &mut all {
        *one = text.unsigned(what)?;
    }
    Ok(all)
}

fn floats<const N: usize>(text: &mut Text<'_>, what: &str) -> Result<[f64; N]> {
    let mut all = [0.0; N];
    for one in &mut all {
        *one = text.float(what)?;
    }
    Ok(all)
}

fn vertex_data(text: &mut Text<'_>, place: Place) -> Result<VertexData> {
    let mut attributes = Vec::new();
    let mut token = in_section(text);
    while let Some(one) = token {
        attributes.push(attribute(&one)?);
        token = text.next();
    }
    if attributes.is_empty() {
        return Err(Error::invalid(place, "expected LOCATION/FORMAT, found no row"));
    }
    let row: usize = attributes.iter().map(Attribute::numbers).sum();
    let mut values = Vec::new();
    while let Some(first) = in_section(text) {
        values.push(first.value("a number")?);
        let mut length = 1;
        while let Some(token) = text.next() {
            values.push(token.value("a number")?);
            length += 1;
        }
        if length != row {
            let message = format!("expected {row} numbers in a row, found {length}");
            return Err(Error::invalid(first.place, message));
        }
    }
    Ok(VertexData {
        place,
        attributes,
        values,
    })
}

fn attribute(token: &Token<'_>) -> Result<Attribute> {
    let what = "LOCATION/FORMAT or LOCATION/TYPE/GLSL-TYPE";
    let read = || {
        let (location, rest) = token.text.split_once('/')?;
        let location = location.parse().ok()?;
        let format = match rest.split_once('/') {
            None => Format::parse(rest)?,
            Some((component, kind)) => gl_format(component, kind)?,
        };
        Some(Attribute { location, format })
    };
    read().ok_or_else(|| token.wrong(what))
}

/// The format of a GL component type and a GLSL type.
fn gl_format(component: &str, kind: &str) -> Option<Format> {
    let (bits, numeric) = match component {
        "byte" => (8, "SINT"),
        "ubyte" => (8, "UINT"),
        "short" => (16, "SINT"),
        "ushort" => (16, "UINT"),
        "int" => (32, "SINT"),
        "uint" => (32, "UINT"),
        "half" => (16, "SFLOAT"),
        "float" => (32, "SFLOAT"),
        "double" => (64, "SFLOAT"),
        _ => return None,
    };
    let count = match data_type(kind)? {
        TypeName::Scalar(_) => 1,
        TypeName::Vector(_, count) => usize::from(count),
        _ => return None,
    };
    let components: String = ["R", "G", "B", "A"]
        .iter()
        .take(count)
        .map(|letter| format!("{letter}{bits}"))
        .collect();
    Format::parse(&format!("{components}_{numeric}"))
}

/// A type as GLSL writes it.
fn data_type(text: &str) -> Option<TypeName> {
    let size = |text: &str| text.parse::<u8>().ok().filter(|size| (2..=4).contains(size));
    for (scalar, name, prefix) in GLSL {
        if text == name {
            return Some(TypeName::Scalar(scalar));
        }
        let Some(shape) = text.strip_prefix(prefix) else {
            continue;
        };
        if let Some(count) = shape.strip_prefix("vec").and_then(size) {
            return Some(TypeName::Vector(scalar, count));
        }
        if let Some(shape) = shape.strip_prefix("mat") {
            let (columns, rows) = shape.split_once('x').unwrap_or((shape, shape));
            if let (Some(columns), Some(rows)) = (size(columns), size(rows)) {
                return Some(TypeName::Matrix { scalar, columns, rows });
            }
        }
    }
    None
}

fn binding(text: &mut Text<'_>) -> Result<Binding> {
    let what = "a binding, such as 3 or 0:3";
    let token = text.expect(what)?;
    let read = || {
        let (set, binding) = token.text.split_once(':').unwrap_or(("0", token.text));
        Some(Binding {
            set: set.parse().ok()?,
            binding: binding.parse().ok()?,
        })
    };
    read().ok_or_else(|| token.wrong(what))
}

fn kind(text: &mut Text<'_>) -> Result<TypeName> {
    let token = text.expect("a type")?;
    data_type(token.text).ok_or_else(|| token.wrong("a type, such as float or vec4"))
}

/// Numbers up to the line's end: whole elements of a type.
fn values(text: &mut Text<'_>, kind: &TypeName) -> Result<Vec<Value>> {
    let place = text.place();
    let mut all = vec![text.expect("a number")?.value("a number")?];
    while let Some(token) = text.next() {
        all.push(token.value("a number")?);
    }
    let each = match kind {
        TypeName::Vector(_, count) => usize::from(*count),
        TypeName::Matrix { columns, rows, .. } => usize::from(columns * rows),
        _ => 1,
    };
    if !all.len().is_multiple_of(each) {
        let message = format!("expected a multiple of {each} numbers, found {}", all.len());
        return Err(Error::invalid(place, message));
    }
    Ok(all)
}

fn data(text: &mut Text<'_>) -> Result<Data> {
    let kind = kind(text)?;
    let offset = text.unsigned("a byte offset")?;
    let values = values(text, &kind)?;
    Ok(Data { kind, offset, values })
}

fn statement(text: &mut Text<'_>, token: Token<'_>) -> Result<Statement> {
    let place = token.place;
    let command = match token.text {
        "clear" => clear(text)?,
        "draw" => draw(text)?,
        "compute" if text.take("entrypoint") => entry(text, Stage::Compute)?,
        "compute" => Command::Compute(integers(text, "a number of work groups")?),
        "probe" => probe(text, false)?,
        "relative" => {
            text.keyword("probe")?;
            probe(text, true)?
        }
        "uniform" if text.take("ubo") => {
            let binding = binding(text)?;
            let data = data(text)?;
            Command::Ubo { binding, data }
        }
        "push" | "ubo" | "ssbo" if text.take("layout") => layout(text, token)?,
        "uniform" | "push" => Command::Push(data(text)?),
        "ubo" | "ssbo" => {
            let binding = binding(text)?;
            match (token.text, text.take("subdata")) {
                ("ubo", true) => Command::Ubo {
                    binding,
                    data: data(text)?,
                },
                ("ubo", false) => Command::UboSize {
                    binding,
                    size: text.unsigned("subdata or a size")?,
                },
                (_, true) => Command::Ssbo {
                    binding,
                    data: data(text)?,
                },
                (_, false) => Command::SsboSize {
                    binding,
                    size: text.unsigned("subdata or a size")?,
                },
            }
        }
        "patch" => {
            text.keyword("parameter")?;
            text.keyword("vertices")?;
            Command::PatchVertices(text.unsigned("a number of vertices")?)
        }
        "tolerance" => {
            let mut all = Vec::new();
            while let Some(token) = text.next() {
                all.push(Tolerance::parse(token.text).ok_or_else(|| token.wrong("a tolerance, such as 0.5 or 1%"))?);
            }
            if !matches!(all.len(), 1..=4) {
                return Err(Error::invalid(
                    place,
                    format!("expected one to four tolerances, found {}", all.len()),
                ));
            }
            Command::Tolerance(all)
        }
        "tessellation" => {
            let of = text.expect("control or evaluation")?;
            let stage = match of.text {
                "control" => Stage::TessellationControl,
                "evaluation" => Stage::TessellationEvaluation,
                _ => return Err(of.wrong("control or evaluation")),
            };
            text.keyword("entrypoint")?;
            entry(text, stage)?
        }
        "vertex" | "fragment" | "geometry" => {
            text.keyword("entrypoint")?;
            let stage = Stage::named(token.text).ok_or_else(|| token.wrong("a stage"))?;
            entry(text, stage)?
        }
        _ => set(text, token)?,
    };
    Ok(Statement { place, command })
}

fn entry(text: &mut Text<'_>, stage: Stage) -> Result<Command> {
    let name = text.name("an entry point's name")?;
    Ok(Command::Entry { stage, name })
}

fn clear(text: &mut Text<'_>) -> Result<Command> {
    let Some(token) = text.next() else {
        return Ok(Command::Clear);
    };
    match token.text {
        "color" => Ok(Command::ClearColor(floats(text, "a number")?)),
        "depth" => Ok(Command::ClearDepth(text.float("a depth")?)),
        "stencil" => Ok(Command::ClearStencil(text.unsigned("a number")?)),
        _ => Err(token.wrong("color, depth, stencil or the end of the line")),
    }
}

fn draw(text: &mut Text<'_>) -> Result<Command> {
    let token = text.expect("rect or arrays")?;
    match token.text {
        "rect" => {
            let ortho = text.take("ortho");
            let patch = text.take("patch");
            let rect = floats(text, "a number")?;
            Ok(Command::DrawRect { ortho, patch, rect })
        }
        "arrays" => {
            let (mut indexed, mut instanced) = (false, false);
            loop {
                if text.take("indexed") {
                    indexed = true;
                } else if text.take("instanced") {
                    instanced = true;
                } else {
                    break;
                }
            }
            let token = text.expect("a topology")?;
            let topology = topology(token.text).ok_or_else(|| token.wrong(&Topology::expected()))?;
            let [first, count] = integers(text, "a number of vertices")?;
            let given = instanced && text.peek().is_some();
            let instances = if given {
                text.unsigned("a number of instances")?
            } else {
                1
            };
            Ok(Command::DrawArrays {
                indexed,
                topology,
                first,
                count,
                instances,
            })
        }
        _ => Err(token.wrong("rect or arrays")),
    }
}

fn topology(name: &str) -> Option<Topology> {
    let gl = match name {
        "GL_POINTS" => "POINT_LIST",
        "GL_LINES" => "LINE_LIST",
        "GL_LINES_ADJACENCY" => "LINE_LIST_WITH_ADJACENCY",
        "GL_LINE_STRIP" => "LINE_STRIP",
        "GL_LINE_STRIP_ADJACENCY" => "LINE_STRIP_WITH_ADJACENCY",
        "GL_TRIANGLES" => "TRIANGLE_LIST",
        "GL_TRIANGLES_ADJACENCY" => "TRIANGLE_LIST_WITH_ADJACENCY",
        "GL_TRIANGLE_STRIP" => "TRIANGLE_STRIP",
        "GL_TRIANGLE_STRIP_ADJACENCY" => "TRIANGLE_STRIP_WITH_ADJACENCY",
        "GL_TRIANGLE_FAN" => "TRIANGLE_FAN",
        "GL_PATCHES" => "PATCH_LIST",
        _ => name.strip_prefix("VK_PRIMITIVE_TOPOLOGY_").unwrap_or(name),
    };
    Topology::named(gl)
}

fn probe(text: &mut Text<'_>, relative: bool) -> Result<Command> {
    let what = "all, rect, ssbo, rgb or rgba";
    let token = text.expect(what)?;
    if token.text == "ssbo" && !relative {
        let kind = kind(text)?;
        let binding = binding(text)?;
        let offset = text.unsigned("a byte offset")?;
        let token = text.expect(&Comparison::expected())?;
        let comparison = Comparison::named(token.text).ok_or_else(|| token.wrong(&Comparison::expected()))?;
        let values = values(text, &kind)?;
        let data = Data { kind, offset, values };
        return Ok(Command::ProbeSsbo {
            binding,
            comparison,
            data,
        });
    }
    let (all, rect) = (token.text == "all" && !relative, token.text == "rect");
    let letters = if all || rect {
        text.expect("rgb or rgba")?
    } else {
        token
    };
    let components = match letters.text {
        "rgb" => 3,
        "rgba" => 4,
        _ if all || rect => return Err(letters.wrong("rgb or rgba")),
        _ => return Err(letters.wrong(what)),
    };
    let rect = match (all, rect) {
        (true, _) => None,
        (_, true) => Some(floats(text, "a number")?),
        _ => {
            let [x, y] = floats(text, "a number")?;
            // A point is as large as a pixel, which nought stands for where sizes are relative.
            let size = if relative { 0.0 } else { 1.0 };
            Some([x, y, size, size])
        }
    };
    let mut color = Vec::new();
    for _ in 0..components {
        color.push(text.float("a number")?);
    }
    Ok(Command::Probe { relative, rect, color })
}

fn layout(text: &mut Text<'_>, token: Token<'_>) -> Result<Command> {
    let block = Block::named(token.text).ok_or_else(|| token.wrong(&Block::expected()))?;
    let (mut layout, mut row_major) = (None, None);
    while let Some(token) = text.next() {
        match token.text {
            "std140" => layout = Some(Layout::Std140),
            "std430" => layout = Some(Layout::Std430),
            "scalar" => layout = Some(Layout::Scalar),
            "row_major" => row_major = Some(true),
            "column_major" => row_major = Some(false),
            _ => return Err(token.wrong("std140, std430, scalar, row_major or column_major")),
        }
    }
    Ok(Command::Layout {
        block,
        layout,
        row_major,
    })
}

fn set(text: &mut Text<'_>, token: Token<'_>) -> Result<Command> {
    let known = PROPERTIES.iter().find(|property| property.name == token.text);
    let property = known.ok_or_else(|| {
        token.wrong("clear, draw, compute, probe, relative, uniform, push, ubo, ssbo, patch, tolerance, an entry point or a property of the pipeline")
    })?;
    let value = match property.domain {
        Domain::Bool => {
            let token = text.expect("true or false")?;
            Setting::Bool(match token.text {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => return Err(token.wrong("true or false")),
            })
        }
        Domain::Float => Setting::Float(text.float("a number")?),
        Domain::Int => Setting::Int(text.unsigned("a number")?),
        Domain::Constant(prefix, names) => {
            let what = format!("one of {prefix}{}", names.join(", "));
            let token = text.expect(&what)?;
            let name = token.text.strip_prefix(prefix).unwrap_or(token.text);
            let number = names.iter().position(|known| *known == name);
            Setting::Int(number.ok_or_else(|| token.wrong(&what))? as u32)
        }
        Domain::Bits(prefix, names, suffix) => Setting::Int(bits(text, prefix, names, suffix)?),
    };
    Ok(Command::Set { property, value })
}

/// Names with bars between them.
fn bits(text: &mut Text<'_>, prefix: &str, names: &[&str], suffix: &str) -> Result<u32> {
    let what = format!("bits of {prefix}{}{suffix}", names.join(", "));
    let mut all = 0;
    let mut token = text.expect(&what)?;
    loop {
        for word in token.text.split('|').filter(|word| !word.is_empty()) {
            let short = word.strip_prefix(prefix).unwrap_or(word);
            let short = short.strip_suffix(suffix).unwrap_or(short);
            all |= match (short, names.iter().position(|name| *name == short)) {
                (_, Some(bit)) => 1 << bit,
                ("NONE" | "0", _) => 0,
                ("FRONT_AND_BACK", _) => 3,
                _ => return Err(token.wrong(&what)),
            };
        }
        match text.next() {
            Some(more) => token = more,
            None => return Ok(all),
        }
    }
}
