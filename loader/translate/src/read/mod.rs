//! Reads any source into a validated naga module.

mod control;
mod spirv;
mod vbc;

pub(crate) use spirv::parse as parse_spirv;

use crate::front::{parse_glsl, text_error, validate_text, validated};
use crate::frontend::{self, Dialect, Settings, Text};
use crate::guard::{deep, guarded};
use crate::{Error, ErrorKind, Language, Result, Shader, sksl};
use control::{switches_in_order, undefined_outside};
use loader::SourceError;
use loader::spirv::layout::{Rules, lay_out};
use loader::spirv::transform::{leave_at_merges, without_fallthrough};
use loader::spirv::{ModuleIndex, class, for_wgsl, model, split_interface, split_samplers, with_signs};
use naga::ShaderStage;
use std::ops::Range;
use std::path::Path;

/// The input: bytes, and the entry point to use.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The text or the file's bytes.
    pub bytes: &'a [u8],
    /// Their language.
    pub language: Language,
    /// The stage; optional for files with one stage.
    pub stage: Option<ShaderStage>,
    /// The entry point's name; optional if there is only one (of the stage, if given).
    pub entry: Option<&'a str>,
    /// Members of uniform blocks in SPIR-V may be moved, for users that access them by name: naga rejects layouts that
    /// WGSL cannot express.
    pub any_layout: bool,
    /// Negate the y of a SPIR-V vertex stage's positions, for APIs whose clip space has y upwards (WebGPU, Metal,
    /// Direct3D). Leave it unset if the result is written for Vulkan again. For WGSL, [`compile`](crate::compile) does the
    /// opposite: the text's positions have y upwards, those of the result Vulkan's.
    pub y_up: bool,
    /// Command-line settings for GLSL and HLSL.
    pub settings: &'a Settings,
    /// Path of the text; GLSL and HLSL include files relative to it.
    pub path: &'a Path,
}

impl<'a> Source<'a> {
    /// A source whose language and stage are detected by its first bytes or by the file name: `.wgsl`; `.vert` and
    /// `.vs`, `.frag` and `.fs`, `.comp` and `.cs`, and `.glsl` or `.hlsl` after any of these. A text without such a
    /// name (standard input) is detected by keywords.
    ///
    /// # Errors
    /// If neither identifies the language.
    pub fn new(name: &str, bytes: &'a [u8]) -> Result<Self> {
        let mut stage = stage_of(name);
        let language = match bytes {
            _ if loader::spirv::detect(bytes) => Language::Spirv,
            _ if bytes.starts_with(&loader::vbc::MAGIC) => Language::Vbc,
            _ if name.ends_with(".wgsl") => Language::Wgsl,
            _ if name.ends_with(".hlsl") => Language::Hlsl,
            _ if stage.is_some() || name.ends_with(".glsl") => Language::Glsl,
            _ if loader::sksl::detect(bytes) => Language::Sksl,
            _ => match by_keywords(bytes) {
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
        let stage = stage.filter(|_| matches!(language, Language::Glsl | Language::Hlsl));
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

    /// Sets the stage.
    #[must_use]
    pub fn stage(self, stage: ShaderStage) -> Self {
        let stage = Some(stage);
        Self { stage, ..self }
    }

    /// Sets the entry point.
    #[must_use]
    pub fn entry(self, entry: &'a str) -> Self {
        let entry = Some(entry);
        Self { entry, ..self }
    }

    /// Sets the path and the command-line settings.
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

/// The SPIR-V of one stage of a text that glslang compiles.
pub(crate) fn compiled(source: &Source<'_>, stage: frontend::Stage) -> Result<Vec<u32>> {
    let dialect = match source.language {
        Language::Hlsl => Dialect::Hlsl,
        _ => Dialect::Glsl,
    };
    if let Some(entry) = source
        .entry
        .filter(|entry| dialect == Dialect::Glsl && *entry != "main")
    {
        let message = format!("glsl: no such entry point: {entry}; there is main");
        return Err(ErrorKind::Entry(message).into());
    }
    let text = Text {
        entry: source.entry,
        ..Text::new(source.text()?, source.path, dialect, stage, source.settings)
    };
    let words = frontend::spirv(&text)?.words;
    if dialect == Dialect::Hlsl && frontend::hands_over_textures(&words) {
        let wanted = "a function that takes a texture needs a compiler that inlines it: dxc, or glslangValidator";
        return Err(ErrorKind::Unavailable(wanted.to_owned()).into());
    }
    Ok(words)
}

/// Whether glslang compiles the source.
pub(crate) fn is_compiled(source: &Source<'_>) -> bool {
    match source.language {
        Language::Glsl => frontend::is_available() && !source.settings.by_naga,
        language => language == Language::Hlsl,
    }
}

/// The stage of a source that requires one.
fn required_stage(source: &Source<'_>) -> Result<ShaderStage> {
    source.stage.ok_or_else(|| {
        let language = source.language;
        let message = format!("{language}: name the stage: vertex, fragment or compute");
        ErrorKind::Entry(message).into()
    })
}

/// The same, as glslang's type.
fn stage_compiled(source: &Source<'_>) -> Result<frontend::Stage> {
    let stage = required_stage(source)?;
    frontend::Stage::of_naga(stage).ok_or_else(|| {
        let message = format!("{}: {stage:?} stages are not read", source.language);
        ErrorKind::Language(message).into()
    })
}

/// Maps positions in the words given to naga to lines of the text that they were compiled from.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Byte offsets as naga counts them, each with the line that begins there.
    starts: Vec<(usize, Option<Range<usize>>)>,
}

impl Places {
    /// The positions of the words of [`words`] in their text.
    pub fn new(words: &[u32], text: &str) -> Self {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = at + line.len() - line.trim_start().len();
            at += line.len();
            start.min(at)..(start + line.trim().len()).min(at)
        });
        let lines: Vec<Range<usize>> = lines.collect();
        let uncounted = spirv::uncounted(words);
        let starts = frontend::lines(words).into_iter().map(|(word, line)| {
            let line = line.and_then(|line| lines.get(line - 1)).cloned();
            let next = uncounted.partition_point(|(position, _)| *position < word);
            let less = next.checked_sub(1).map_or(0, |last| uncounted[last].1);
            (4 * (word - less), line)
        });
        Self {
            starts: starts.collect(),
        }
    }

    /// The line of a position in the words; `None` if unknown.
    pub fn line(&self, span: Range<usize>) -> Option<Range<usize>> {
        let last = span.end.saturating_sub(1).max(span.start);
        let next = self.starts.partition_point(|(start, _)| *start <= last);
        self.starts.get(next.checked_sub(1)?)?.1.clone()
    }
}

/// naga's error about a compiled text, with the text's line.
fn of_text(source: &Source<'_>, words: &[u32], error: Error) -> Error {
    let ErrorKind::Module {
        message,
        offset: Some(offset),
        unsupported,
        ..
    } = error.kind()
    else {
        return error;
    };
    let text = source.text().unwrap_or_default();
    let place = *offset as usize;
    let word = place / 4;
    let lines = frontend::lines(words);
    let next = lines.partition_point(|(start, _)| *start <= word);
    let line = next.checked_sub(1).and_then(|last| lines[last].1);
    let message = match line.and_then(|line| Some((line, text.lines().nth(line - 1)?.trim()))) {
        Some((line, text)) => format!("{message} (line {line}: {text})"),
        None => message.clone(),
    };
    ErrorKind::Module {
        language: source.language,
        message,
        offset: None,
        unsupported: *unsupported,
    }
    .into()
}

/// The language of a text, and the stage of GLSL, by keywords.
fn by_keywords(bytes: &[u8]) -> Option<(Language, Option<ShaderStage>)> {
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

/// The stage in a file name's extensions.
fn stage_of(name: &str) -> Option<ShaderStage> {
    let name = name
        .strip_suffix(".glsl")
        .or(name.strip_suffix(".hlsl"))
        .unwrap_or(name);
    match frontend::Stage::of_ending(Path::new(name).extension()?.to_str()?)? {
        frontend::Stage::Vertex => Some(ShaderStage::Vertex),
        frontend::Stage::Fragment => Some(ShaderStage::Fragment),
        frontend::Stage::Compute => Some(ShaderStage::Compute),
        _ => None,
    }
}

/// Reads a shader and validates it.
///
/// Spans in the module of a text are byte ranges of the text, and in that of SPIR-V byte ranges of the words; SkSL has
/// no meaningful spans.
///
/// # Errors
/// The source's error, with line and column in a text; [`Error::is_unsupported`] if naga lacks a feature.
pub fn read(source: &Source<'_>) -> Result<Shader> {
    deep("naga", || read_any(source, false, words))
}

/// [`read`] for a stage whose inputs and outputs the caller adds: a vertex stage may lack a position.
///
/// # Errors
/// See [`read`].
pub fn read_open(source: &Source<'_>) -> Result<Shader> {
    deep("naga", || read_any(source, true, words))
}

/// Validates a module; an open one is validated as fragment stages, which need no outputs.
fn as_open<T>(module: &mut naga::Module, open: bool, validate: impl FnOnce(&naga::Module) -> Result<T>) -> Result<T> {
    let stages: Vec<ShaderStage> = module.entry_points.iter().map(|entry| entry.stage).collect();
    if open {
        module
            .entry_points
            .iter_mut()
            .for_each(|entry| entry.stage = ShaderStage::Fragment);
    }
    let validated = validate(module);
    for (entry, stage) in module.entry_points.iter_mut().zip(stages) {
        entry.stage = stage;
    }
    validated
}

/// Reads a shader for translation to WGSL: features that WGSL lacks are replaced by equivalent ones.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_for_wgsl(source: &Source<'_>) -> Result<Shader> {
    deep("naga", || {
        read_any(source, false, |source| {
            words_for_naga(source, for_wgsl(&unsplit_words(source)?)?)
        })
    })
}

/// The stages of a source's entry points, as far as naga has them; for WGSL, only that of the selected entry point.
///
/// # Errors
/// The source's error.
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
pub(crate) fn stage_of_model(number: u32) -> Option<ShaderStage> {
    match number {
        model::VERTEX => Some(ShaderStage::Vertex),
        model::FRAGMENT => Some(ShaderStage::Fragment),
        model::GL_COMPUTE => Some(ShaderStage::Compute),
        _ => None,
    }
}

fn parse_wgsl(text: &str) -> Result<naga::Module> {
    // naga has the functions and rejects the extension; blanks keep positions.
    const SUBGROUPS: &str = "enable subgroups;";
    let text = &*text.replacen(SUBGROUPS, &" ".repeat(SUBGROUPS.len()), 1);
    crate::nesting::check(Language::Wgsl, text)?;
    guarded("at reading WGSL", || Ok(naga::front::wgsl::parse_str(text)))?.map_err(|error| {
        text_error(
            Language::Wgsl,
            text,
            error.labels().next().map(|l| l.0),
            error.message(),
        )
    })
}

fn read_any(source: &Source<'_>, open: bool, words: impl Fn(&Source<'_>) -> Result<Vec<u32>>) -> Result<Shader> {
    let language = source.language;
    let (module, info) = match language {
        Language::Wgsl => {
            let text = source.text()?;
            let module = parse_wgsl(text)?;
            let info = validate_text(language, text, &module)?;
            (module, info)
        }
        _ if is_compiled(source) => {
            let words = words(source)?;
            parse_spirv(&words, source.y_up, open).map_err(|error| of_text(source, &words, error))?
        }
        Language::Glsl | Language::Hlsl => {
            let text = source.text()?;
            let stage = required_stage(source)?;
            let mut module = parse_glsl(text, stage)?;
            let info = as_open(&mut module, open, |module| validate_text(language, text, module))?;
            (module, info)
        }
        Language::Spirv | Language::Vbc => parse_spirv(&words(source)?, source.y_up, open)?,
        Language::Sksl => {
            let tree = loader::sksl::read(source.bytes)?;
            let module = sksl::to_naga(&tree)?;
            let info = validated(&module)?;
            (module, info)
        }
    };
    // glslang's modules have the entry point main.
    let asked = match is_compiled(source) {
        true => Source { entry: None, ..*source },
        false => *source,
    };
    let entry = find(&module, &asked)?;
    let shader = Shader { module, info, entry };
    match source.settings.constants.as_slice() {
        [] => Ok(shader),
        constants => shader.fixed(constants),
    }
}

/// The SPIR-V words that naga reads for a module, a VBC's stage, or a text that glslang compiles: with separate
/// samplers, and with scalar and vector vertex inputs only. The spans in naga's module refer to them.
///
/// # Errors
/// The file's error; sources that do not become SPIR-V.
pub fn words(source: &Source<'_>) -> Result<Vec<u32>> {
    words_for_naga(source, unsplit_words(source)?)
}

fn words_for_naga(source: &Source<'_>, words: Vec<u32>) -> Result<Vec<u32>> {
    let words = split_interface(&split_samplers(&with_signs(&words)?)?)?;
    let words = undefined_outside(&leave_at_merges(&words)?).into_owned();
    let words = match switches_in_order(&words) {
        Ok(ordered) => ordered.into_owned(),
        // Cases in no order that naga reads are copied.
        Err(error) if error.is_unsupported() => {
            switches_in_order(&undefined_outside(&without_fallthrough(&words)?))?.into_owned()
        }
        Err(error) => return Err(error),
    };
    if !source.any_layout {
        return Ok(words);
    }
    Ok(lay_out(&words, Rules::Uniform, |_, variable| {
        variable.class == class::UNIFORM
    })?)
}

/// The SPIR-V of a source, unchanged.
pub(crate) fn unsplit_words(source: &Source<'_>) -> Result<Vec<u32>> {
    match source.language {
        _ if is_compiled(source) => compiled(source, stage_compiled(source)?),
        Language::Spirv => Ok(loader::spirv::to_words(source.bytes)?),
        Language::Vbc => vbc::words(source),
        other => Err(ErrorKind::Language(format!("{other}: this is not SPIR-V")).into()),
    }
}

/// naga's stage; it lacks tessellation and geometry.
pub(crate) fn naga_stage(stage: loader::vbc::Stage) -> Option<ShaderStage> {
    use loader::vbc::Stage;
    match stage {
        Stage::Vert => Some(ShaderStage::Vertex),
        Stage::Frag => Some(ShaderStage::Fragment),
        _ => None,
    }
}

/// The only entry point that matches the request.
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
        _ => format!("{language}: choose an entry point: {}", have.join(", ")),
    };
    Err(ErrorKind::Entry(message).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Target, compile, write};

    #[test]
    fn glsl_is_read() {
        let text = "#version 450\nlayout(set = 0, binding = 1) uniform U { float time; } u;\n\
                    layout(set = 0, binding = 2) uniform sampler2D picture;\nlayout(location = 0) in vec2 at;\n\
                    layout(location = 0) out vec4 tint;\nfloat late = u.time * 2.0;\nfloat second(float x);\n\
                    float first(float x) { return second(x) + 1.0; }\nfloat second(float x) { return x * late; }\n\
                    void main() { tint = vec4(vec3(at.x > 0.5), first(texture(picture, at).x)); }\n";
        let source = Source::new("a.frag", text.as_bytes()).unwrap();
        let shader = read(&source).unwrap();
        let wgsl = String::from_utf8(write(&shader, Target::Wgsl, &Options::default()).unwrap()).unwrap();
        assert!(wgsl.contains("textureSample"), "{wgsl}");
        if frontend::is_available() {
            let words = words(&source).unwrap();
            let places = Places::new(&words, text);
            let lines: Vec<&str> = (0..4 * words.len())
                .step_by(4)
                .filter_map(|at| Some(&text[places.line(at..at + 4)?]))
                .collect();
            assert!(lines.iter().any(|line| line.starts_with("void main()")), "{lines:?}");
        }
    }

    #[test]
    fn hlsl_registers_get_separate_bindings() {
        let text = "Texture2D image : register(t1);\nSamplerState smp : register(s1);\n\
                    float4 main(float2 at : AT) : SV_Target { return image.Sample(smp, at); }\n";
        let source = Source::new("a.ps.hlsl", text.as_bytes()).unwrap();
        assert_eq!(
            (source.language, source.stage),
            (Language::Hlsl, Some(ShaderStage::Fragment))
        );
        if frontend::is_available() {
            let shader = read(&source).unwrap();
            let bindings = shader
                .module
                .global_variables
                .iter()
                .filter_map(|(_, global)| global.binding);
            let numbers: std::collections::BTreeSet<u32> = bindings.map(|binding| binding.binding).collect();
            assert_eq!(numbers.len(), 2, "{numbers:?}");
            assert!(numbers.contains(&1), "{numbers:?}");
        }
    }

    #[test]
    fn positions_are_flipped_if_y_is_up() {
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

    #[test]
    fn constants_have_their_default_or_the_given_value() {
        let text = "override scale: f32 = 2.0; @id(7) override on: bool; override count = 3u;\n\
            @fragment fn fs() -> @location(0) vec4f { return vec4f(scale * 0.25 * f32(count), f32(on), 0.0, 1.0); }";
        let written = |text: &str, constants: &[(&str, &str)], target| {
            let settings = Settings {
                constants: constants
                    .iter()
                    .map(|(name, value)| ((*name).into(), (*value).into()))
                    .collect(),
                ..Settings::default()
            };
            let source = Source::new("a.wgsl", text.as_bytes()).unwrap();
            let source = source.with(Path::new(""), &settings);
            let shader = read(&source)?;
            write(&shader, target, &Options::default()).map(|text| String::from_utf8(text).unwrap())
        };
        let message = |constants: &[(&str, &str)]| written(text, constants, Target::Glsl).unwrap_err().to_string();
        let glsl = written(text, &[("7", "true"), ("scale", "8")], Target::Glsl).unwrap();
        assert!(glsl.contains("vec4(6.0, 1.0, 0.0, 1.0)"), "{glsl}");
        assert!(
            message(&[]).contains("the constant 7 has no default"),
            "{}",
            message(&[])
        );
        let error = message(&[("7", "true"), ("none", "1")]);
        assert!(
            error.contains("none") && error.contains("scale, 7 (on), count"),
            "{error}"
        );
        assert!(message(&[("7", "maybe")]).contains("maybe"));
        assert!(message(&[("7", "1"), ("count", "-1")]).contains("constants"));
        // WGSL output keeps overrides.
        let plain = text.replace("on: bool;", "on: bool = true;");
        assert!(written(&plain, &[], Target::Wgsl).unwrap().contains("override"));
    }
}
