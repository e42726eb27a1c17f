//! Links shader sources to a VBC, for `run`, `pack` and `compare --engines`.

use crate::declarations;
use crate::error::{Error, Result, Within};
use crate::external_compilers;
use compiler::glsl_es::vulkan::{Linked, to_vulkan};
use compiler::glsl_es::{self, Text};
use loader::spirv;
use loader::vbc::pack::{Names, pack_with_notes};
use loader::vbc::{self, Stage};
use loader::{Report, Severity};
use scene::interface::Sources;
use std::collections::BTreeMap;
use std::path::Path;
use translate::frontend::Settings;
use translate::{Adjust, Language, Options, ShaderStage, Source, Target};

/// Locations of vertex inputs.
const MAX_INPUTS: u8 = 32;

/// An entry point of one stage, or of every stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The stage; every stage if none.
    pub stage: Option<Stage>,
    /// Its name.
    pub name: String,
}

impl Entry {
    /// Parses `NAME` or `STAGE=NAME`, such as `vert=main`.
    ///
    /// # Errors
    /// An unknown stage.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((stage, name)) = text.split_once('=') else {
            let name = text.to_owned();
            return Ok(Self { stage: None, name });
        };
        let found = Stage::ALL.into_iter().find(|known| known.name() == stage);
        match found {
            Some(found) => Ok(Self {
                stage: Some(found),
                name: name.to_owned(),
            }),
            None => {
                let known = Stage::ALL.map(Stage::name).join(", ");
                Err(Error::usage(format_args!("no stage {stage}: there are {known}")))
            }
        }
    }

    /// The name for a stage: that of the stage itself, or of every stage.
    pub fn of(entries: &[Self], stage: Stage) -> Option<&str> {
        let find = |of| entries.iter().find(|entry| entry.stage == of);
        find(Some(stage))
            .or_else(|| find(None))
            .map(|entry| entry.name.as_str())
    }
}

/// A file of one or more stages.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its path, for its extension and for errors.
    pub path: &'a Path,
    /// Its contents.
    pub bytes: &'a [u8],
    /// Entry points, for stages with several.
    pub entries: &'a [Entry],
    /// Settings of the front end.
    pub settings: &'a Settings,
}

impl<'a> File<'a> {
    /// A file with default settings.
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            path,
            bytes,
            entries: &[],
            settings: Settings::NONE,
        }
    }

    /// The source; GLSL if no other language is recognised.
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

    /// Whether the named entry point applies to this stage: a name for every stage is ignored by stages without such an entry
    /// point.
    fn is_meant(&self, source: &Source<'_>, stage: Stage) -> bool {
        let staged = self.entries.iter().any(|entry| entry.stage == Some(stage));
        let wanted = match stage {
            Stage::Vert => ShaderStage::Vertex,
            _ => ShaderStage::Fragment,
        };
        let named = || translate::stages(source).unwrap_or_default();
        let languages = [Language::Wgsl, Language::Spirv];
        staged || !languages.contains(&source.language) || named().is_empty() || named().contains(&wanted)
    }
}

impl File<'_> {
    /// The error of a source, with its line if it is a text.
    fn error(&self, error: translate::Error) -> Error {
        let name = self.path.to_string_lossy();
        match error.line_column() {
            Some(_) => Error::input(error.render(self.bytes, &name)),
            None => Error::from(error),
        }
        .in_file(name)
    }
}

/// Reads a file; the error names it.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).within(|| format!("cannot read {}", path.display()))
}

/// The SPIR-V of one stage of a file.
///
/// # Errors
/// The error of the source, with its line if it is a text.
pub fn stage(file: &File<'_>, stage: Stage, linked: &mut Linked) -> Result<Vec<u32>> {
    let name = file.path.to_string_lossy();
    let source = file.source(stage)?;
    if let Some(text) = old(&source) {
        has_main(&source)?;
        let stage = of(stage).map_err(|error| error.in_file(&name))?;
        return to_vulkan(&text, stage, linked)
            .map_err(|error| Error::input(error.render(&name, text.text)).in_file(&name));
    }
    if source.language == Language::Spirv
        && let Some(entry) = source.entry.filter(|entry| *entry != "main")
    {
        return renamed(&source, stage, entry).map_err(|error| file.error(error));
    }
    // WebGPU's clip space has y upwards.
    let source = Source {
        y_up: source.language == Language::Wgsl,
        ..source
    };
    match translate::compile(&source, stage) {
        Ok(words) => Ok(words),
        Err(error) => {
            external_compilers::instead(&source, stage.into(), &error).unwrap_or_else(|| Err(file.error(error)))
        }
    }
}

/// A module with the entry point of a stage as `main`.
fn renamed(source: &Source<'_>, stage: Stage, entry: &str) -> translate::Result<Vec<u32>> {
    let options = Options {
        adjust: Adjust {
            entry: Some("main".to_owned()),
            ..Adjust::default()
        },
        check: false,
        ..Options::default()
    };
    let source = Source {
        stage: match stage {
            Stage::Vert => Some(ShaderStage::Vertex),
            Stage::Frag => Some(ShaderStage::Fragment),
            // naga lacks the others.
            _ => None,
        },
        entry: Some(entry),
        ..*source
    };
    let written = translate::translate(&source, Target::Spirv, &options)?;
    Ok(loader::spirv::to_words(&written.bytes)?)
}

/// Whether a text in GLSL ES 1.00 or old GLSL has the requested entry point, which is `main`.
///
/// # Errors
/// When another is requested.
pub fn has_main(source: &Source<'_>) -> Result<()> {
    match source.entry.filter(|entry| *entry != "main") {
        Some(entry) => Err(Error::input(format_args!(
            "glsl: no such entry point: {entry}; there is main"
        ))),
        None => Ok(()),
    }
}

/// Checks the interfaces of two stages in GLSL ES 1.00 or old GLSL against each other; other languages always pass.
///
/// # Errors
/// The error of the reference front end for both stages together.
pub fn check_interfaces(vertex: &File<'_>, fragment: &File<'_>) -> Result<()> {
    use compiler::Stage::{Fragment, Vertex};
    use translate::frontend::{is_available, judge};
    let (Ok(first), Ok(second)) = (vertex.source(Stage::Vert), fragment.source(Stage::Frag)) else {
        return Ok(());
    };
    let (Some(first), Some(second)) = (old(&first), old(&second)) else {
        return Ok(());
    };
    let texts = [first.judged(Vertex), second.judged(Fragment)];
    // An error of one stage alone is reported by its compilation, with its place.
    if !is_available() || texts.iter().any(|text| judge(&[*text]).is_err()) {
        return Ok(());
    }
    judge(&texts).map(drop).map_err(|error| {
        let (vertex, fragment) = (vertex.path.display(), fragment.path.display());
        Error::input(format_args!("{vertex} and {fragment} do not fit each other: {error}"))
    })
}

/// Records the interface of a stage in GLSL ES 1.00 or old GLSL; nothing for other languages.
///
/// # Errors
/// The error of the source, with its line.
pub fn note_interface(file: &File<'_>, stage: Stage, linked: &mut Linked) -> Result<()> {
    let name = file.path.to_string_lossy();
    let source = file.source(stage)?;
    let Some(text) = old(&source) else { return Ok(()) };
    let stage = of(stage).map_err(|error| error.in_file(&name))?;
    linked
        .note(&text, stage)
        .map_err(|error| Error::input(error.render(&name, text.text)).in_file(&name))
}

/// The stage for the compiler.
fn of(stage: Stage) -> Result<compiler::Stage> {
    match stage {
        Stage::Vert => Ok(compiler::Stage::Vertex),
        Stage::Frag => Ok(compiler::Stage::Fragment),
        other => Err(Error::input(format_args!("GLSL ES has no {other} stages"))),
    }
}

/// The text of a source in GLSL ES 1.00 or old GLSL.
fn old<'a>(source: &Source<'a>) -> Option<Text<'a>> {
    let text = std::str::from_utf8(source.bytes).ok()?;
    glsl_es::is_old(source).then(|| Text::of(text, source))
}

/// A VBC linked from sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkedVbc {
    /// The file.
    pub bytes: Vec<u8>,
    /// Information of the sources that the file lacks.
    pub sources: Sources,
    /// Notes about resources whose place differs from the source.
    pub notes: Vec<String>,
}

impl LinkedVbc {
    /// A file without sources.
    pub fn of_vbc(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.to_vec(),
            ..Self::default()
        }
    }
}

/// Links a vertex and a fragment stage, or one file: WGSL with both, or a fragment stage alone, which covers the picture.
/// Its input is then the position in the picture, from (0, 0) at the top left to (1, 1).
///
/// # Errors
/// The error of a source, or a construct that VBC cannot express.
pub fn link(first: &File<'_>, second: Option<&File<'_>>) -> Result<LinkedVbc> {
    let fragment = second.unwrap_or(first);
    let alone = second.is_none() && !has_vertex(first)?;
    // Uniforms are shared by both stages, and the vertex stage assigns locations to varyings without any.
    let mut linked = Linked::default();
    if !alone {
        note_interface(first, Stage::Vert, &mut linked)?;
    }
    note_interface(fragment, Stage::Frag, &mut linked)?;
    if !alone {
        check_interfaces(first, fragment)?;
    }
    let vertex = match alone {
        true => None,
        false => Some(stage(first, Stage::Vert, &mut linked)?),
    };
    let code = stage(fragment, Stage::Frag, &mut linked)?;
    let vertex = vertex.map_or_else(|| translate::fullscreen(&code), Ok)?;
    let sources = [(Stage::Vert, *first), (Stage::Frag, *fragment)];
    let mut made = link_stages(
        &[(Stage::Vert, vertex), (Stage::Frag, code)],
        &Names::default(),
        &sources,
    )?;
    // The generated vertex stage of a lone fragment stage uses Vulkan's clip space.
    let vertex = first.source(Stage::Vert)?;
    let attributes = linked
        .attributes()
        .filter_map(|(location, name)| Some((location.try_into().ok()?, name.to_owned())));
    made.sources.inputs.extend(attributes);
    made.sources.y_up = !alone && (vertex.language == Language::Wgsl || old(&vertex).is_some());
    Ok(made)
}

/// Packs stages into a VBC.
///
/// # Errors
/// A construct that VBC cannot express, with its line in a source.
pub fn link_stages(stages: &[(Stage, Vec<u32>)], names: &Names, sources: &[(Stage, File<'_>)]) -> Result<LinkedVbc> {
    let packed = pack_with_notes(stages, names).map_err(|error| with_line(error, sources))?;
    let texts = sources
        .iter()
        .filter_map(|(_, file)| std::str::from_utf8(file.bytes).ok());
    Ok(LinkedVbc {
        bytes: vbc::write(&packed.model)?,
        sources: Sources {
            slots: packed.slots,
            inputs: inputs(sources),
            declared: texts.flat_map(declarations::names).collect(),
            y_up: false,
        },
        notes: packed.notes,
    })
}

/// Names of the vertex stage's inputs if naga reads the source: naga writes inputs without names.
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
    (0..MAX_INPUTS).filter_map(named).collect()
}

/// Checks a VBC against the format's rules, and its code against SPIR-V's.
///
/// # Errors
/// The first violation.
pub fn check(bytes: Vec<u8>) -> Result<Vec<u8>> {
    let error = |report: Report| report.diagnostics.into_iter().find(|d| d.severity == Severity::Error);
    if let Some(error) = error(vbc::check(&bytes)) {
        return Err(Error::input(format_args!(
            "the packed file violates the format: {error}"
        )));
    }
    let file = vbc::read(&bytes)?;
    for (stage, code) in Stage::ALL
        .into_iter()
        .filter_map(|stage| Some((stage, file.code(stage)?)))
    {
        if let Some(error) = error(spirv::validate(&code.words())) {
            return Err(Error::input(format_args!("{stage}: the code is not valid: {error}")));
        }
    }
    drop(file);
    Ok(bytes)
}

/// Adds the source line that declares the name quoted in the error.
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

/// Whether a lone file has a vertex stage; a vertex stage alone is an error.
fn has_vertex(file: &File<'_>) -> Result<bool> {
    let source = file.source(Stage::Frag)?;
    if source.language == Language::Hlsl {
        // HLSL's stages are known from the entry points only.
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
