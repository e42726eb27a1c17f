//! Scripts as text that reads to the same model.

use super::model::*;
use crate::types::{Scalar, TypeName, Value};
use std::fmt::{self, Display, Formatter};

fn words(f: &mut Formatter<'_>, words: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    words.into_iter().try_for_each(|word| write!(f, " {word}"))
}

fn floats(f: &mut Formatter<'_>, values: &[f64]) -> fmt::Result {
    words(f, values.iter().map(|value| Value::Float(*value)))
}

/// A type as GLSL writes it.
fn glsl(kind: &TypeName) -> String {
    let of = |wanted: Scalar| {
        GLSL.iter()
            .find(|(scalar, ..)| *scalar == wanted)
            .map_or(("", ""), |row| (row.1, row.2))
    };
    match kind {
        TypeName::Scalar(scalar) => of(*scalar).0.to_owned(),
        TypeName::Vector(scalar, count) => format!("{}vec{count}", of(*scalar).1),
        TypeName::Matrix { scalar, columns, rows } => format!("{}mat{columns}x{rows}", of(*scalar).1),
        // The reader makes none of these.
        TypeName::Format(_) | TypeName::Struct(_) => kind.to_string(),
    }
}

/// The stage as a section's name has it.
pub(super) fn stage(stage: crate::types::Stage) -> String {
    stage.name().replace('_', " ")
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.requires.is_empty() {
            writeln!(f, "[require]")?;
            self.requires
                .iter()
                .try_for_each(|require| writeln!(f, "{}", require.what))?;
            writeln!(f)?;
        }
        for shader in &self.shaders {
            let language = match shader.language.name() {
                "" => String::new(),
                name => format!(" {name}"),
            };
            write!(f, "[{} shader{language}]\n{}", stage(shader.stage), shader.text)?;
        }
        if let Some(data) = &self.vertex_data {
            write!(f, "[vertex data]\n ")?;
            words(
                f,
                data.attributes
                    .iter()
                    .map(|one| format!("{}/{}", one.location, one.format)),
            )?;
            writeln!(f)?;
            let row: usize = data.attributes.iter().map(Attribute::numbers).sum();
            for row in data.values.chunks(row.max(1)) {
                words(f, row)?;
                writeln!(f)?;
            }
            writeln!(f)?;
        }
        if let Some(indices) = &self.indices {
            writeln!(f, "[indices]")?;
            for row in indices.chunks(16) {
                words(f, row)?;
                writeln!(f)?;
            }
            writeln!(f)?;
        }
        writeln!(f, "[test]")?;
        self.test
            .iter()
            .try_for_each(|statement| writeln!(f, "{}", statement.command))
    }
}

impl Display for Requirement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "{name}"),
            Self::Framebuffer(format) => write!(f, "framebuffer {format}"),
            Self::DepthStencil(format) => write!(f, "depthstencil {format}"),
            Self::Size([width, height]) => write!(f, "fbsize {width} {height}"),
            Self::FenceTimeout(milliseconds) => write!(f, "fence_timeout {milliseconds}"),
            Self::Vulkan([major, minor, patch]) => write!(f, "vulkan {major}.{minor}.{patch}"),
        }
    }
}

impl Display for Binding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.set, self.binding)
    }
}

impl Display for Data {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", glsl(&self.kind), self.offset)?;
        words(f, &self.values)
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clear => write!(f, "clear"),
            Self::ClearColor(color) => {
                write!(f, "clear color")?;
                floats(f, color)
            }
            Self::ClearDepth(depth) => write!(f, "clear depth {}", Value::Float(*depth)),
            Self::ClearStencil(stencil) => write!(f, "clear stencil {stencil}"),
            Self::DrawRect { ortho, patch, rect } => {
                let (ortho, patch) = (if *ortho { " ortho" } else { "" }, if *patch { " patch" } else { "" });
                write!(f, "draw rect{ortho}{patch}")?;
                floats(f, rect)
            }
            Self::DrawArrays {
                indexed,
                topology,
                first,
                count,
                instances,
            } => {
                let (indexed, instanced) = (
                    if *indexed { " indexed" } else { "" },
                    if *instances == 1 { "" } else { " instanced" },
                );
                write!(f, "draw arrays{indexed}{instanced} {topology} {first} {count}")?;
                words(f, (*instances != 1).then_some(instances))
            }
            Self::Compute(groups) => {
                write!(f, "compute")?;
                words(f, groups)
            }
            Self::Entry { stage: of, name } => write!(f, "{} entrypoint {name}", stage(*of)),
            Self::Probe { relative, rect, color } => {
                let letters = if color.len() == 4 { "rgba" } else { "rgb" };
                match rect {
                    None => {
                        write!(f, "probe all {letters}")?;
                        floats(f, color)
                    }
                    Some(rect) => {
                        let relative = if *relative { "relative " } else { "" };
                        write!(f, "{relative}probe rect {letters} (")?;
                        floats(f, rect)?;
                        write!(f, " ) (")?;
                        floats(f, color)?;
                        write!(f, " )")
                    }
                }
            }
            Self::ProbeSsbo {
                binding,
                comparison,
                data,
            } => {
                write!(
                    f,
                    "probe ssbo {} {binding} {} {comparison}",
                    glsl(&data.kind),
                    data.offset
                )?;
                words(f, &data.values)
            }
            Self::Push(data) => write!(f, "uniform {data}"),
            Self::Ubo { binding, data } => write!(f, "uniform ubo {binding} {data}"),
            Self::UboSize { binding, size } => write!(f, "ubo {binding} {size}"),
            Self::Ssbo { binding, data } => write!(f, "ssbo {binding} subdata {data}"),
            Self::SsboSize { binding, size } => write!(f, "ssbo {binding} {size}"),
            Self::PatchVertices(count) => write!(f, "patch parameter vertices {count}"),
            Self::Tolerance(tolerances) => {
                write!(f, "tolerance")?;
                words(f, tolerances)
            }
            Self::Layout {
                block,
                layout,
                row_major,
            } => {
                write!(f, "{block} layout")?;
                words(f, layout.map(|layout| layout.name().to_lowercase()))?;
                words(f, row_major.map(|row| if row { "row_major" } else { "column_major" }))
            }
            Self::Set { property, value } => write!(f, "{} {}", property.name, Written(property, *value)),
        }
    }
}

/// A property's value as the language writes it.
struct Written(&'static Property, Setting);

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.1, self.0.domain) {
            (Setting::Bool(value), _) => write!(f, "{value}"),
            (Setting::Float(value), _) => write!(f, "{}", Value::Float(value)),
            (Setting::Int(value), Domain::Constant(prefix, names)) => match names.get(value as usize) {
                Some(name) => write!(f, "{prefix}{name}"),
                None => write!(f, "{value}"),
            },
            (Setting::Int(0), Domain::Bits(..)) => write!(f, "0"),
            (Setting::Int(value), Domain::Bits(prefix, names, suffix)) => {
                let set = |(bit, _): &(usize, &&str)| value >> bit & 1 != 0;
                let words = names.iter().enumerate().filter(set);
                let words: Vec<String> = words.map(|(_, name)| format!("{prefix}{name}{suffix}")).collect();
                write!(f, "{}", words.join("|"))
            }
            (Setting::Int(value), _) => write!(f, "{value}"),
        }
    }
}
