//! Round trips of shaders through another compiler or language, to test that the result is the same.

use crate::error::{ErrorKind, Result};
use loader::spirv::{self, ModuleIndex, decoration, op};
use script::Stage;
use script::run::{Code, Compile, CompileError, Text};
use std::path::Path;
use translate::frontend::{self, Dialect, Settings};
use translate::{Options, ShaderStage, Source, Target};

/// The compiler or language of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrip {
    /// SPIR-V to SPIR-V by naga.
    Naga,
    /// To GLSL for Vulkan, and read by glslang.
    Glsl,
    /// To HLSL, and read by glslang.
    Hlsl,
    /// To WGSL, and read by naga.
    Wgsl,
}

impl std::fmt::Display for RoundTrip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Naga => "naga",
            Self::Glsl => "glsl",
            Self::Hlsl => "hlsl",
            Self::Wgsl => "wgsl",
        })
    }
}

/// A compiler followed by a round trip.
#[derive(Clone, Copy, Debug)]
pub struct Through<C> {
    /// The compiler.
    pub compiler: C,
    /// The compiler or language of the round trip.
    pub way: RoundTrip,
    /// A change of the intermediate text; negative controls add an error here.
    pub change: fn(String) -> String,
}

impl<C> Through<C> {
    /// Without a change of the text.
    pub fn new(compiler: C, way: RoundTrip) -> Self {
        Self {
            compiler,
            way,
            change: std::convert::identity,
        }
    }
}

impl<C: Compile> Compile for Through<C> {
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError> {
        let code = self.compiler.compile(text)?;
        let stage = match text.stage {
            Stage::Vertex => ShaderStage::Vertex,
            Stage::Fragment => ShaderStage::Fragment,
            Stage::Compute => ShaderStage::Compute,
            other => {
                return Err(CompileError::Unsupported(format!(
                    "{other} shaders through {}",
                    self.way
                )));
            }
        };
        through(&code.words, &code.entry, stage, self.way, self.change)
            .map(|(words, entry)| Code { words, entry })
            .map_err(CompileError::Unsupported)
    }
}

/// The module after the round trip, and the name of its entry point.
///
/// # Errors
/// The tool that rejects it, and the reason.
pub fn round_trip(
    words: &[u32],
    entry: &str,
    stage: ShaderStage,
    way: RoundTrip,
    change: fn(String) -> String,
) -> Result<(Vec<u32>, String)> {
    through(words, entry, stage, way, change).map_err(|why| ErrorKind::Unsupported(why).into())
}

fn through(
    words: &[u32],
    entry: &str,
    stage: ShaderStage,
    way: RoundTrip,
    change: fn(String) -> String,
) -> Result<(Vec<u32>, String), String> {
    let refused = |error: translate::Error| match way {
        RoundTrip::Naga => format!("naga: {error}"),
        _ => format!("through {way}: {error}"),
    };
    let bytes = spirv::write(words).map_err(|error| error.to_string())?;
    let mut source = Source::new("shader.spv", &bytes).map_err(refused)?.stage(stage);
    source.entry = Some(entry);
    let (target, dialect) = match way {
        RoundTrip::Naga => {
            let shader = translate::read(&source).map_err(refused)?;
            let written = translate::write(&shader, Target::Spirv, &Options::default()).map_err(refused)?;
            let made = spirv::read(&written).map_err(|error| error.to_string())?;
            return same_interface(words, made, way).map(|made| (made, entry.to_owned()));
        }
        RoundTrip::Glsl => (Target::Glsl, Some(Dialect::Glsl)),
        RoundTrip::Hlsl => (Target::Hlsl, Some(Dialect::Hlsl)),
        RoundTrip::Wgsl => (Target::Wgsl, None),
    };
    let options = Options {
        vulkan: target == Target::Glsl,
        ..Options::default()
    };
    let written = translate::translate(&source, target, &options).map_err(refused)?;
    let text = String::from_utf8(written.bytes).map_err(|error| error.to_string())?;
    let text = change(text);
    let made = match dialect {
        Some(dialect) => {
            let stage = frontend::Stage::of_naga(stage).ok_or("glslang has no such stage")?;
            let text = frontend::Text {
                entry: Some(entry).filter(|_| dialect == Dialect::Hlsl),
                ..frontend::Text::new(&text, Path::new("written"), dialect, stage, Settings::NONE)
            };
            frontend::spirv(&text).map_err(refused)?.words
        }
        None => {
            let source = Source::new("written.wgsl", text.as_bytes())
                .map_err(refused)?
                .stage(stage);
            let shader = translate::read(&source)
                .and_then(|shader| shader.fixed(&[]))
                .map_err(refused)?;
            translate::to_spirv(shader.module, stage).map_err(refused)?
        }
    };
    // Drivers trust their input: they hang or crash.
    let report = spirv::validate(&made);
    if let Some(first) = report.diagnostics.first().filter(|_| !report.is_valid()) {
        return Err(format!(
            "through {way}: the text compiles to an invalid module: {first}"
        ));
    }
    same_interface(words, made, way).map(|made| (made, "main".to_owned()))
}

/// The module, if it has the same specialisation constants and descriptors as the original; otherwise the reason.
fn same_interface(before: &[u32], made: Vec<u32>, way: RoundTrip) -> Result<Vec<u32>, String> {
    let constants = |words: &[u32]| {
        let decorations = spirv::instructions(words).flatten();
        let is_one = |words: &[u32]| matches!(words, [_, decoration::SPEC_ID, ..]);
        decorations
            .filter(|one| one.opcode == op::DECORATE && is_one(one.operands()))
            .count()
    };
    if constants(&made) < constants(before) {
        return Err(format!(
            "through {way} specialisation constants have their values already"
        ));
    }
    match has_more(before, &made) {
        true => Err(format!(
            "{way} has samplers and images apart, which the script binds as one"
        )),
        false => Ok(made),
    }
}

/// Whether a module has descriptors that the original lacks.
fn has_more(before: &[u32], after: &[u32]) -> bool {
    let places = |words: &[u32]| -> Vec<(u32, u32)> {
        let Ok(index) = ModuleIndex::new(words) else {
            return Vec::new();
        };
        let set = |id| index.decoration(id, decoration::DESCRIPTOR_SET);
        let bound = index.globals().filter(|one| set(one.id).is_some());
        bound.filter_map(|one| index.place(one.id)).collect()
    };
    let before = places(before);
    places(after).iter().any(|place| !before.contains(place))
}
