//! The way in: any source to a validated naga module.

mod spirv;
mod vbc;

pub(crate) use spirv::parse as parse_spirv;

use crate::front::{parse_glsl, text_error, validate_text, validated};
use crate::frontend::{self, Dialect, Settings, Text};
use crate::guard::{deep, guarded};
use crate::{Error, ErrorKind, Language, Result, Shader, sksl};
use loader::SourceError;
use loader::spirv::layout::{Rules, lay_out};
use loader::spirv::{ModuleIndex, class, model, split_inputs, split_samplers};
use naga::ShaderStage;
use std::path::Path;

/// What is read: bytes, and which entry point of them.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The text or the file's bytes.
    pub bytes: &'a [u8],
    /// How they are read.
    pub language: Language,
    /// The stage; files of one stage need none.
    pub stage: Option<ShaderStage>,
    /// The entry point's name; a file with one entry point (of the stage, where that is given) needs none.
    pub entry: Option<&'a str>,
    /// Members of uniform blocks in SPIR-V may be moved, as for a reader that knows them by name: naga refuses layouts
    /// that WGSL cannot have.
    pub any_layout: bool,
    /// Positions that a vertex stage in SPIR-V gives are turned over, for APIs whose clip space has y upwards (WebGPU,
    /// Metal, Direct3D); what is read is to be written for Vulkan again where this is not said.
    pub y_up: bool,
    /// Names and folders that the command line gives to GLSL and HLSL.
    pub settings: &'a Settings,
    /// Where the text is from: GLSL and HLSL include files beside it.
    pub path: &'a Path,
}

impl<'a> Source<'a> {
    /// A source whose language and stage are told by its first bytes or by the ending of the file's name: `.wgsl`;
    /// `.vert` and `.vs`, `.frag` and `.fs`, `.comp` and `.cs`, and `.glsl` with any of them before it. A text without such a
    /// name (standard input) is told by words that only one language has.
    ///
    /// # Errors
    /// When neither says what it is.
    pub fn new(name: &str, bytes: &'a [u8]) -> Result<Self> {
        let mut stage = stage_of(name);
        let language = match bytes {
            _ if loader::spirv::detect(bytes) => Language::Spirv,
            _ if bytes.starts_with(&loader::vbc::MAGIC) => Language::Vbc,
            _ if name.ends_with(".wgsl") => Language::Wgsl,
            _ if stage.is_some() || name.ends_with(".glsl") => Language::Glsl,
            _ if loader::sksl::detect(bytes) => Language::Sksl,
            _ => match told_by_words(bytes) {
                Some((language, said)) => {
                    stage = said;
                    language
                }
                None => {
                    let message = format!("{name}: cannot tell which shading language this is");
                    return Err(ErrorKind::Language(message).into());
                }
            },
        };
        let stage = stage.filter(|_| language == Language::Glsl);
        Ok(Self {
            bytes,
            language,
            stage,
            entry: None,
            any_layout: false,
            y_up: false,
            settings: Settings::NONE,
            path: Path::new(""),
        })
    }

    /// The source with another stage.
    #[must_use]
    pub fn stage(self, stage: ShaderStage) -> Self {
        let stage = Some(stage);
        Self { stage, ..self }
    }

    /// The source with the name of the entry point.
    #[must_use]
    pub fn entry(self, entry: &'a str) -> Self {
        let entry = Some(entry);
        Self { entry, ..self }
    }

    /// The source with where it is from, and what the command line says of it.
    #[must_use]
    pub fn with(self, path: &'a Path, settings: &'a Settings) -> Self {
        Self { path, settings, ..self }
    }

    fn text(&self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&self.bytes[..error.valid_up_to()]);
            let error = SourceError::new(&valid, valid.len()..valid.len(), "this is not UTF-8");
            let (language, file) = (self.language, None);
            ErrorKind::Text { language, error, file }.into()
        })
    }
}

/// The SPIR-V of a text that glslang reads.
fn compiled(source: &Source<'_>, dialect: Dialect) -> Result<Vec<u32>> {
    let stage = source.stage.and_then(frontend::Stage::of_naga).ok_or_else(|| {
        let language = source.language;
        Error::from(ErrorKind::Entry(format!(
            "{language}: say which stage it is: vertex, fragment or compute"
        )))
    })?;
    let text = Text {
        entry: source.entry,
        ..Text::new(source.text()?, source.path, dialect, stage, source.settings)
    };
    Ok(frontend::spirv(&text)?.words)
}

/// The language of a text, and the stage of GLSL, by what each of them has to say somewhere.
fn told_by_words(bytes: &[u8]) -> Option<(Language, Option<ShaderStage>)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["@vertex", "@fragment", "@compute"]) {
        return Some((Language::Wgsl, None));
    }
    if !has(&["void main("]) {
        return None;
    }
    let stages = [
        (ShaderStage::Vertex, &["gl_Position"][..]),
        (ShaderStage::Fragment, &["gl_FragColor", "gl_FragData", "gl_FragCoord"]),
        (ShaderStage::Compute, &["local_size_x"]),
    ];
    let stage = stages.into_iter().find(|(_, words)| has(words)).map(|(stage, _)| stage);
    Some((Language::Glsl, stage))
}

/// The stage a file's name says, by its endings.
fn stage_of(name: &str) -> Option<ShaderStage> {
    let name = name.strip_suffix(".glsl").unwrap_or(name);
    match Path::new(name).extension()?.to_str()? {
        "vert" | "vs" => Some(ShaderStage::Vertex),
        "frag" | "fs" => Some(ShaderStage::Fragment),
        "comp" | "cs" => Some(ShaderStage::Compute),
        _ => None,
    }
}

/// Reads a shader and validates it.
///
/// Spans in the module of a text are byte ranges of the text, in the module of SPIR-V byte ranges of the words; those
/// of SkSL mean nothing.
///
/// # Errors
/// What is wrong with it, with line and column in a text; [`Error::is_unsupported`] where naga cannot hold it.
pub fn read(source: &Source<'_>) -> Result<Shader> {
    deep(|| read_any(source))
}

/// The stages that a source has entry points of; of those that naga knows. Of WGSL those of the source's entry point, where
/// it says one.
///
/// # Errors
/// What is wrong with the source.
pub fn stages(source: &Source<'_>) -> Result<Vec<ShaderStage>> {
    let module = match source.language {
        Language::Spirv => {
            let words = loader::spirv::to_words(source.bytes)?;
            let index = ModuleIndex::new(&words[..])?;
            let models = index.entry_points().filter_map(|node| node.operand(0));
            return Ok(models.filter_map(stage_of_model).collect());
        }
        Language::Wgsl => {
            let text = source.text()?;
            parse_wgsl(text)?
        }
        _ => return Ok(source.stage.into_iter().collect()),
    };
    let mut entries = module.entry_points;
    entries.retain(|entry| source.entry.is_none_or(|name| entry.name == name));
    Ok(entries.iter().map(|entry| entry.stage).collect())
}

/// The stage of an execution model.
fn stage_of_model(number: u32) -> Option<ShaderStage> {
    match number {
        model::VERTEX => Some(ShaderStage::Vertex),
        model::FRAGMENT => Some(ShaderStage::Fragment),
        model::GL_COMPUTE => Some(ShaderStage::Compute),
        _ => None,
    }
}

fn parse_wgsl(text: &str) -> Result<naga::Module> {
    guarded("at reading WGSL", || Ok(naga::front::wgsl::parse_str(text)))?.map_err(|error| {
        text_error(
            Language::Wgsl,
            text,
            error.labels().next().map(|l| l.0),
            error.message(),
        )
    })
}

fn read_any(source: &Source<'_>) -> Result<Shader> {
    let language = source.language;
    let (module, info) = match language {
        Language::Wgsl => {
            let text = source.text()?;
            let module = parse_wgsl(text)?;
            let info = validate_text(language, text, &module)?;
            (module, info)
        }
        Language::Glsl => {
            let text = source.text()?;
            let stage = source.stage.ok_or_else(|| {
                Error::from(ErrorKind::Entry(
                    "glsl: say which stage it is: vertex, fragment or compute".into(),
                ))
            })?;
            let module = parse_glsl(text, stage)?;
            let info = validate_text(language, text, &module)?;
            (module, info)
        }
        Language::Hlsl | Language::Spirv | Language::Vbc => parse_spirv(&words(source)?, source.y_up)?,
        Language::Sksl => {
            let tree = loader::sksl::read(source.bytes)?;
            let module = sksl::to_naga(&tree)?;
            let info = validated(&module)?;
            (module, info)
        }
    };
    let entry = find(&module, source)?;
    Ok(Shader { module, info, entry })
}

/// The SPIR-V words that naga is given of a module or a VBC's stage: samplers apart from images, vertex inputs of
/// numbers and vectors. The spans in its module count in them.
///
/// # Errors
/// What is wrong with the file, and sources that are not of SPIR-V.
pub fn words(source: &Source<'_>) -> Result<Vec<u32>> {
    let words = match source.language {
        Language::Hlsl => compiled(source, Dialect::Hlsl)?,
        Language::Spirv => loader::spirv::to_words(source.bytes)?,
        Language::Vbc => vbc::words(source)?,
        other => return Err(ErrorKind::Language(format!("{other}: this is no SPIR-V")).into()),
    };
    let words = split_inputs(&split_samplers(&words)?)?;
    if !source.any_layout {
        return Ok(words);
    }
    Ok(lay_out(&words, Rules::Uniform, |_, variable| {
        variable.class == class::UNIFORM
    })?)
}

/// The stage as naga has it; it has no tessellation and no geometry.
pub(crate) fn naga_stage(stage: loader::vbc::Stage) -> Option<ShaderStage> {
    use loader::vbc::Stage;
    match stage {
        Stage::Vert => Some(ShaderStage::Vertex),
        Stage::Frag => Some(ShaderStage::Fragment),
        _ => None,
    }
}

/// The one entry point that fits what was asked for.
fn find(module: &naga::Module, source: &Source<'_>) -> Result<usize> {
    let all = module.entry_points.iter().enumerate();
    let fits = |entry: &naga::EntryPoint| {
        source.entry.is_none_or(|name| entry.name == name) && source.stage.is_none_or(|stage| entry.stage == stage)
    };
    let found: Vec<usize> = all.filter(|(_, entry)| fits(entry)).map(|(index, _)| index).collect();
    if let [index] = found[..] {
        return Ok(index);
    }
    let name = |entry: &naga::EntryPoint| format!("{} ({:?})", entry.name, entry.stage).to_lowercase();
    let have: Vec<String> = module.entry_points.iter().map(name).collect();
    let language = source.language;
    let message = match (&have[..], &found[..]) {
        ([], _) => format!("{language}: there is no entry point"),
        (_, []) => format!("{language}: no such entry point; there are: {}", have.join(", ")),
        _ => format!("{language}: say which entry point: {}", have.join(", ")),
    };
    Err(ErrorKind::Entry(message).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Target, compile, write};

    #[test]
    fn positions_are_turned_over_where_y_is_upwards() {
        let text = "@vertex fn vs(@location(0) at: vec4f) -> @builtin(position) vec4f { return at; }";
        let wgsl = Source::new("a.wgsl", text.as_bytes()).unwrap();
        let words = compile(&wgsl, loader::vbc::Stage::Vert).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let negations = |y_up| {
            let source = Source::new("a.spv", &bytes).unwrap();
            let shader = read(&Source { y_up, ..source }).unwrap();
            let text = write(&shader, Target::Wgsl, &Options::default()).unwrap();
            String::from_utf8(text).unwrap().matches("-(").count()
        };
        assert_eq!([negations(false), negations(true)], [0, 1]);
    }
}
