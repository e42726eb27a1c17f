//! Shader sources to Mali-400 programs: what `compile` and `draw` have in common.

use crate::error::{Error, Result};
use crate::foreign;
use compiler::{Compiled, Input, Options, Stage, glsl_es};
use std::path::Path;
use translate::{Language, ShaderStage, Source};

/// What is compiled of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// The stage, where the file's name does not say it.
    pub stage: Option<Stage>,
    /// The entry point, where there are several of the stage.
    pub entry: Option<&'a str>,
    /// How.
    pub options: Options,
}

fn of(stage: Stage) -> ShaderStage {
    match stage {
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    }
}

/// HLSL, by way of SPIR-V.
fn hlsl(path: &Path, bytes: &[u8], wanted: Wanted<'_>) -> Result<Compiled> {
    let said = wanted.stage.map(|stage| match stage {
        Stage::Vertex => loader::vbc::Stage::Vert,
        Stage::Fragment => loader::vbc::Stage::Frag,
    });
    let words = foreign::hlsl_module(path, bytes, said, wanted.entry)?;
    let source = Source::new("stage.spv", &words)?;
    compiler::compile(Input::Source(&source), &wanted.options)
        .map_err(|error| Error::input(format_args!("{}: {error}", path.display())))
}

/// Compiles a file of any format that holds shaders.
///
/// # Errors
/// What the compiler refuses, with the place in the source where it has lines.
pub fn compile(path: &Path, bytes: &[u8], wanted: Wanted<'_>) -> Result<Compiled> {
    if foreign::is_hlsl(path) {
        return hlsl(path, bytes, wanted);
    }
    let name = path.to_string_lossy();
    let mut source = Source::new(&name, bytes)?;
    if source.language == Language::Glsl && source.stage.is_none() {
        source.stage = wanted.stage.map(of);
    } else if source.language != Language::Glsl {
        source.stage = wanted.stage.map(of).or(source.stage);
    }
    source.entry = wanted.entry;
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|_| source.language == Language::Glsl);
    let stage = match source.stage {
        Some(ShaderStage::Vertex) => Some(Stage::Vertex),
        Some(ShaderStage::Fragment) => Some(Stage::Fragment),
        _ => None,
    };
    let input = match (text, stage) {
        (Some(text), Some(stage)) if glsl_es::recognises(text) => Input::GlslEs(text, stage),
        _ => Input::Source(&source),
    };
    compiler::compile(input, &wanted.options)
        .map_err(|error| Error::input(error.render(&name, &String::from_utf8_lossy(bytes))))
}
