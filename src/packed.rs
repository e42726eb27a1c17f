//! Shader sources to a VBC that can be drawn: what `run`, `pack` and `compare --engines` have in common.

use crate::error::{Error, Result};
use crate::foreign;
use crate::say::detail;
use compiler::glsl_es;
use compiler::glsl_es::vulkan::{Linked, to_vulkan};
use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Stage};
use std::path::Path;
use translate::{Language, ShaderStage, Source};

/// A file of one or more stages.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its path, for its ending and for errors.
    pub path: &'a Path,
    /// What it holds.
    pub bytes: &'a [u8],
    /// The entry point, where there are several of the stage.
    pub entry: Option<&'a str>,
}

impl<'a> File<'a> {
    /// The source; GLSL is what no other language is.
    fn source(&self, stage: Stage) -> Result<Source<'a>> {
        let name = self.path.to_string_lossy();
        let glsl = format!("stage.{stage}.glsl");
        let mut source = Source::new(&name, self.bytes).or_else(|_| Source::new(&glsl, self.bytes))?;
        source.entry = self.entry.filter(|_| source.language != Language::Sksl);
        Ok(source)
    }
}

impl File<'_> {
    /// What is wrong with the source, with its line where it is a text.
    fn error(&self, error: translate::Error) -> Error {
        let name = self.path.to_string_lossy();
        match error.line_column() {
            Some(_) => Error::input(error.render(self.bytes, &name)),
            None => Error::from(error).within(&name),
        }
    }
}

/// The words of one stage of a file.
///
/// # Errors
/// What is wrong with the source, with the line where it is a text.
pub fn stage(file: &File<'_>, stage: Stage, linked: &mut Linked) -> Result<Vec<u32>> {
    let name = file.path.to_string_lossy();
    if name.ends_with(".hlsl") {
        return foreign::hlsl(file.path, file.bytes, stage, file.entry);
    }
    let source = file.source(stage)?;
    if let Some(text) = old(&source) {
        let stage = of(stage).map_err(|error| error.within(&name))?;
        return to_vulkan(text, stage, linked).map_err(|error| Error::input(error.render(&name, text)));
    }
    let refused = match translate::compile(&source, stage) {
        Ok(words) => return Ok(words),
        Err(error) => error,
    };
    // The reference compiler reads more GLSL than naga; where it fails too, naga's words are the better ones.
    if source.language == Language::Glsl
        && let Some(Ok(words)) = foreign::glsl(file.bytes, stage)
    {
        detail(format_args!("{name}: compiled by glslangValidator: {refused}"));
        return Ok(words);
    }
    Err(file.error(refused))
}

/// Notes what a stage in one of the old languages shares with the others; nothing for other sources.
///
/// # Errors
/// What is wrong with the source, with its line.
pub fn note(file: &File<'_>, stage: Stage, linked: &mut Linked) -> Result<()> {
    let name = file.path.to_string_lossy();
    if name.ends_with(".hlsl") {
        return Ok(());
    }
    let source = file.source(stage)?;
    let Some(text) = old(&source) else { return Ok(()) };
    let stage = of(stage).map_err(|error| error.within(&name))?;
    linked
        .note(text, stage)
        .map_err(|error| Error::input(error.render(&name, text)))
}

/// The stage as the old languages have it.
fn of(stage: Stage) -> Result<compiler::Stage> {
    match stage {
        Stage::Vert => Ok(compiler::Stage::Vertex),
        Stage::Frag => Ok(compiler::Stage::Fragment),
        other => Err(Error::input(format_args!("GLSL ES has no {other} stages"))),
    }
}

/// The text of a source that is in one of the old languages, GLSL ES 1.00 and its like.
fn old<'a>(source: &Source<'a>) -> Option<&'a str> {
    let text = std::str::from_utf8(source.bytes).ok()?;
    (source.language == Language::Glsl && glsl_es::recognises(text)).then_some(text)
}

/// A VBC of a vertex and a fragment stage, or of one file: WGSL with both, or a fragment stage alone, which covers the
/// whole picture. Its inputs are then the place in the picture, from (0, 0) at the top left to (1, 1).
///
/// # Errors
/// What is wrong with a source, and what a VBC cannot hold.
pub fn vbc(first: &File<'_>, second: Option<&File<'_>>) -> Result<Vec<u8>> {
    let fragment = second.unwrap_or(first);
    let alone = second.is_none() && !has_vertex(first)?;
    // Uniforms are those of both stages, and the vertex stage says where varyings without locations are.
    let mut linked = Linked::default();
    if !alone {
        note(first, Stage::Vert, &mut linked)?;
    }
    note(fragment, Stage::Frag, &mut linked)?;
    let vertex = match alone {
        true => None,
        false => Some(stage(first, Stage::Vert, &mut linked)?),
    };
    let code = stage(fragment, Stage::Frag, &mut linked)?;
    let vertex = vertex.map_or_else(|| translate::fullscreen(&code), Ok)?;
    let model = pack(&[(Stage::Vert, vertex), (Stage::Frag, code)], &Names::default())?;
    Ok(vbc::write(&model)?)
}

/// Whether a file that stands alone has a vertex stage. One that has nothing else cannot be drawn.
fn has_vertex(file: &File<'_>) -> Result<bool> {
    if file.path.extension().is_some_and(|ending| ending == "hlsl") {
        return Ok(false);
    }
    let source = file.source(Stage::Frag)?;
    let stages = match source.language {
        Language::Wgsl | Language::Spirv => {
            let mut all = source;
            all.entry = None;
            translate::stages(&all).map_err(|error| file.error(error))?
        }
        _ => source.stage.into_iter().collect(),
    };
    if !stages.is_empty() && !stages.contains(&ShaderStage::Fragment) {
        return Err(Error::input(format_args!(
            "{}: a vertex stage alone gives no picture: name the fragment stage behind it",
            file.path.display()
        )));
    }
    Ok(stages.contains(&ShaderStage::Vertex))
}
