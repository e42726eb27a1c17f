//! Compiles shader files to Mali-400 programs, for `compile` and `draw`.

use crate::error::{Error, Result};
use crate::external_compilers;
use crate::link;
use compiler::{Compiled, Input, Options, Stage, glsl_es};
use std::path::Path;
use translate::frontend::{self, Settings};
use translate::{Language, ShaderStage, Source};

/// The stage and options to compile a file with.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The stage, if the file's name does not determine it.
    pub stage: Option<Stage>,
    /// The entry point, if the stage has several.
    pub entry: Option<&'a str>,
    /// Options of the compiler.
    pub options: Options,
    /// Settings of the front end.
    pub settings: &'a Settings,
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        Self {
            stage: None,
            entry: None,
            options: Options::default(),
            settings: Settings::NONE,
        }
    }
}

fn of(stage: Stage) -> ShaderStage {
    match stage {
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    }
}

/// Compiles a shader file of any format.
///
/// # Errors
/// The compiler's error, with the place in the source if it has lines.
pub fn compile(path: &Path, bytes: &[u8], wanted: Wanted<'_>) -> Result<Compiled> {
    let name = path.to_string_lossy();
    let mut source = Source::new(&name, bytes)?.with(path, wanted.settings);
    let said = wanted.stage.map(of);
    source.stage = match source.language {
        Language::Glsl | Language::Hlsl => source.stage.or(said),
        _ => said.or(source.stage),
    };
    source.entry = wanted.entry;
    if glsl_es::is_old(&source) {
        link::has_main(&source)?;
    }
    if source.language == Language::Hlsl && source.stage.is_none() {
        return Err(Error::usage(format_args!("{name}: say --stage vert or --stage frag")));
    }
    let refused = match compiler::compile(Input::Source(&source), &wanted.options) {
        Ok(compiled) => return Ok(compiled),
        Err(error) => error,
    };
    let stage = source.stage.and_then(frontend::Stage::of_naga);
    if let Some(module) = refused
        .reader()
        .and_then(|error| external_compilers::module(&source, stage, error))
    {
        let module = module?;
        let source = Source::new("stage.spv", &module)?;
        return compiler::compile(Input::Source(&source), &wanted.options)
            .map_err(|error| Error::input(format_args!("{name}: {error}")));
    }
    Err(Error::input(refused.render(&name, &String::from_utf8_lossy(bytes))))
}
