//! Shader sources to a VBC that can be drawn: what `run`, `pack` and `compare --engines` have in common.

use crate::args::Entry;
use crate::declared;
use crate::error::{Error, Result};
use crate::foreign;
use crate::scene::interface::Sources;
use compiler::glsl_es::vulkan::{Linked, to_vulkan};
use compiler::glsl_es::{self, Text};
use loader::spirv::{self, Grammar};
use loader::vbc::pack::{Names, pack_with_notes};
use loader::vbc::{self, Stage};
use loader::{Report, Severity};
use std::collections::BTreeMap;
use std::path::Path;
use translate::frontend::Settings;
use translate::{Language, ShaderStage, Source};

/// Locations of vertex inputs that are looked at.
const MOST_INPUTS: u8 = 32;

/// A file of one or more stages.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its path, for its ending and for errors.
    pub path: &'a Path,
    /// What it holds.
    pub bytes: &'a [u8],
    /// Entry points, where a stage has several.
    pub entries: &'a [Entry],
    /// What it is compiled with.
    pub settings: &'a Settings,
}

impl<'a> File<'a> {
    /// The source; GLSL is what no other language is.
    fn source(&self, stage: Stage) -> Result<Source<'a>> {
        let name = self.path.to_string_lossy();
        let glsl = format!("stage.{stage}.glsl");
        let mut source = Source::new(&name, self.bytes).or_else(|_| Source::new(&glsl, self.bytes))?;
        source = source.with(self.path, self.settings);
        source.entry = Entry::of(self.entries, stage).filter(|_| source.language != Language::Sksl);
        if !self.is_meant(&source, stage) {
            source.entry = None;
        }
        Ok(source)
    }

    /// Whether a stage's entry point is that which the arguments name: a name for every stage is no word about the
    /// fragment stage where only the vertex stage has an entry point of that name.
    fn is_meant(&self, source: &Source<'_>, stage: Stage) -> bool {
        let staged = self.entries.iter().any(|entry| entry.stage == Some(stage));
        let wanted = match stage {
            Stage::Vert => ShaderStage::Vertex,
            _ => ShaderStage::Fragment,
        };
        let named = || translate::stages(source).unwrap_or_default();
        staged || source.language != Language::Wgsl || named().is_empty() || named().contains(&wanted)
    }
}

impl File<'_> {
    /// What is wrong with the source, with its line where it is a text.
    fn error(&self, error: translate::Error) -> Error {
        let name = self.path.to_string_lossy();
        match error.line_column() {
            Some(_) => Error::input(error.render(self.bytes, &name)),
            None => Error::from(error),
        }
        .in_file(name)
    }
}

/// The words of one stage of a file.
///
/// # Errors
/// What is wrong with the source, with the line where it is a text.
pub fn stage(file: &File<'_>, stage: Stage, linked: &mut Linked) -> Result<Vec<u32>> {
    let name = file.path.to_string_lossy();
    let source = file.source(stage)?;
    if let Some(text) = old(&source) {
        let stage = of(stage).map_err(|error| error.in_file(&name))?;
        return to_vulkan(&text, stage, linked)
            .map_err(|error| Error::input(error.render(&name, text.text)).in_file(&name));
    }
    // WebGPU's clip space has y upwards.
    let source = Source {
        y_up: source.language == Language::Wgsl,
        ..source
    };
    match translate::compile(&source, stage) {
        Ok(words) => Ok(words),
        Err(error) => foreign::instead(&source, stage.into(), &error).unwrap_or_else(|| Err(file.error(error))),
    }
}

/// Holds the interfaces of two stages in the old languages against each other; other files always pass.
///
/// # Errors
/// What the reference front end says of both together.
pub fn linked(vertex: &File<'_>, fragment: &File<'_>) -> Result<()> {
    use compiler::Stage::{Fragment, Vertex};
    use translate::frontend::{is_available, judge};
    let (Ok(first), Ok(second)) = (vertex.source(Stage::Vert), fragment.source(Stage::Frag)) else {
        return Ok(());
    };
    let (Some(first), Some(second)) = (old(&first), old(&second)) else {
        return Ok(());
    };
    let texts = [first.judged(Vertex), second.judged(Fragment)];
    // What is wrong with one alone is told where that is compiled, with its place.
    if !is_available() || texts.iter().any(|text| judge(&[*text]).is_err()) {
        return Ok(());
    }
    judge(&texts).map(drop).map_err(|error| {
        let (vertex, fragment) = (vertex.path.display(), fragment.path.display());
        Error::input(format_args!("{vertex} and {fragment} do not fit each other: {error}"))
    })
}

/// Notes what a stage in one of the old languages shares with the others; nothing for other sources.
///
/// # Errors
/// What is wrong with the source, with its line.
pub fn note(file: &File<'_>, stage: Stage, linked: &mut Linked) -> Result<()> {
    let name = file.path.to_string_lossy();
    let source = file.source(stage)?;
    let Some(text) = old(&source) else { return Ok(()) };
    let stage = of(stage).map_err(|error| error.in_file(&name))?;
    linked
        .note(&text, stage)
        .map_err(|error| Error::input(error.render(&name, text.text)).in_file(&name))
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
fn old<'a>(source: &Source<'a>) -> Option<Text<'a>> {
    let text = std::str::from_utf8(source.bytes).ok()?;
    glsl_es::is_old(source).then(|| Text::of(text, source))
}

/// A VBC that was made of sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the sources say beside it.
    pub sources: Sources,
    /// What is elsewhere than the sources have it, in words.
    pub notes: Vec<String>,
}

impl Made {
    /// A file whose sources are not known.
    pub fn of_vbc(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            ..Self::default()
        }
    }
}

/// A VBC of a vertex and a fragment stage, or of one file: WGSL with both, or a fragment stage alone, which covers the
/// whole picture. Its inputs are then the place in the picture, from (0, 0) at the top left to (1, 1).
///
/// # Errors
/// What is wrong with a source, and what a VBC cannot hold.
pub fn vbc(first: &File<'_>, second: Option<&File<'_>>) -> Result<Made> {
    let fragment = second.unwrap_or(first);
    let alone = second.is_none() && !has_vertex(first)?;
    // Uniforms are those of both stages, and the vertex stage says where varyings without locations are.
    let mut linked = Linked::default();
    if !alone {
        note(first, Stage::Vert, &mut linked)?;
    }
    note(fragment, Stage::Frag, &mut linked)?;
    if !alone {
        self::linked(first, fragment)?;
    }
    let vertex = match alone {
        true => None,
        false => Some(stage(first, Stage::Vert, &mut linked)?),
    };
    let code = stage(fragment, Stage::Frag, &mut linked)?;
    let vertex = vertex.map_or_else(|| translate::fullscreen(&code), Ok)?;
    let sources = [(Stage::Vert, *first), (Stage::Frag, *fragment)];
    let mut made = file(
        &[(Stage::Vert, vertex), (Stage::Frag, code)],
        &Names::default(),
        &sources,
    )?;
    // A fragment stage alone has a vertex stage of ours in front, which is Vulkan's.
    let vertex = first.source(Stage::Vert)?;
    made.sources.y_up = !alone && (vertex.language == Language::Wgsl || old(&vertex).is_some());
    Ok(made)
}

/// A VBC of stages.
///
/// # Errors
/// What a VBC cannot hold, with its line in a source.
pub fn file(stages: &[(Stage, Vec<u32>)], names: &Names, sources: &[(Stage, File<'_>)]) -> Result<Made> {
    let packed = pack_with_notes(stages, names).map_err(|error| with_line(error, sources))?;
    let texts = sources
        .iter()
        .filter_map(|(_, file)| std::str::from_utf8(file.bytes).ok());
    Ok(Made {
        bytes: vbc::write(&packed.model)?,
        sources: Sources {
            slots: packed.slots,
            inputs: inputs(sources),
            declared: texts.flat_map(declared::names).collect(),
            y_up: false,
        },
        notes: packed.notes,
    })
}

/// Names of the vertex stage's inputs, where naga reads the source: it writes inputs without names.
fn inputs(sources: &[(Stage, File<'_>)]) -> BTreeMap<u8, String> {
    let vertex = sources.iter().find(|(stage, _)| *stage == Stage::Vert);
    let source = vertex.and_then(|(_, file)| file.source(Stage::Vert).ok());
    let by_naga = |source: &Source<'_>| match source.language {
        Language::Wgsl => true,
        Language::Glsl => !translate::frontend::is_available() && old(source).is_none(),
        _ => false,
    };
    let Some(source) = source.filter(by_naga) else {
        return BTreeMap::new();
    };
    let source = Source {
        stage: Some(ShaderStage::Vertex),
        any_layout: true,
        ..source
    };
    let Ok(shader) = translate::read(&source) else {
        return BTreeMap::new();
    };
    let named = |location: u8| Some((location, shader.input_name(location.into())?.to_owned()));
    (0..MOST_INPUTS).filter_map(named).collect()
}

/// Refuses a VBC that breaks a rule of the format, or whose code breaks one of SPIR-V.
///
/// # Errors
/// The first rule that is broken.
pub fn checked(bytes: Vec<u8>) -> Result<Vec<u8>> {
    let error = |report: Report| report.diagnostics.into_iter().find(|d| d.severity == Severity::Error);
    if let Some(error) = error(vbc::check(&bytes)) {
        return Err(Error::input(format_args!("what was packed breaks the format: {error}")));
    }
    let file = vbc::read(&bytes)?;
    for (stage, code) in Stage::ALL
        .into_iter()
        .filter_map(|stage| Some((stage, file.code(stage)?)))
    {
        if let Some(error) = error(spirv::validate(Grammar::builtin(), &code.words())) {
            return Err(Error::input(format_args!("{stage}: the code is not valid: {error}")));
        }
    }
    drop(file);
    Ok(bytes)
}

/// The error with the line of a source where what it names in quotes is declared.
fn with_line(error: loader::Error, sources: &[(Stage, File<'_>)]) -> Error {
    let text = error.to_string();
    let place = text.split('"').nth(1).filter(|name| !name.is_empty()).and_then(|name| {
        sources.iter().find_map(|(_, file)| {
            let source = std::str::from_utf8(file.bytes).ok()?;
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let names = |line: &str| line.split(|letter| !is_word(letter)).any(|word| word == name);
            let at = source.lines().position(names)?;
            Some(format!("{}:{}", file.path.display(), at + 1))
        })
    });
    match place {
        Some(place) => Error::from(error).in_file(place),
        None => error.into(),
    }
}

/// Whether a file that stands alone has a vertex stage. One that has nothing else cannot be drawn.
fn has_vertex(file: &File<'_>) -> Result<bool> {
    let source = file.source(Stage::Frag)?;
    if source.language == Language::Hlsl {
        // Its entry points are what is known of its stages.
        return Ok(file.entries.iter().any(|entry| entry.stage == Some(Stage::Vert)));
    }
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
