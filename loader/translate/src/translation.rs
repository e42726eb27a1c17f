//! Translates a source to text in another language and checks it, as the command `convert` does.

use crate::checker::{Check, checked_text};
use crate::cross::{self, Dialect, Entry};
use crate::frontend;
use crate::place::{Place, Way};
use crate::read::{is_compiled, read_for_wgsl, stage_of_model, unsplit_words};
use crate::write::naga_text;
use crate::{ErrorKind, Language, Options, Result, Shader, Source, Target, read};
use loader::spirv::transform::{Editor, build, comparable_atomics, for_hlsl, narrow_exponents, without_wide_products};
use loader::spirv::{self, ModuleIndex, class, decoration, model, op};
use naga::ShaderStage;
use naga::back::{glsl, hlsl};

/// A text in another language (words for [`Target::Spirv`]), and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The text.
    pub bytes: Vec<u8>,
    /// The writer.
    pub way: Way,
    /// The language version: `450`, `es310`, `5.1`; empty if there is only one.
    pub version: String,
    /// The checker's result.
    pub check: Check,
    /// The resources; empty if naga wrote the text.
    pub places: Vec<Place>,
}

impl Translation {
    /// A generated text without a checker.
    pub fn unchecked(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            way: Way::Own,
            version: String::new(),
            check: Check::Unchecked,
            places: Vec::new(),
        }
    }
}

/// Versions tried in turn if none is requested; the last is the most capable.
fn dialects(target: Target, options: &Options) -> Vec<Dialect> {
    match (target, options.glsl, options.hlsl, options.msl) {
        (Target::Glsl, ..) if options.vulkan => vec![Dialect::VulkanGlsl],
        (Target::Glsl, Some(version), ..) => vec![Dialect::Glsl(version)],
        (Target::Glsl, None, ..) => vec![
            Dialect::Glsl(glsl::Version::Desktop(450)),
            Dialect::Glsl(glsl::Version::Desktop(460)),
            Dialect::VulkanGlsl,
        ],
        (Target::Hlsl, _, Some(model), _) => vec![Dialect::Hlsl(model)],
        (Target::Hlsl, _, None, _) => {
            use hlsl::ShaderModel::{V5_1, V6_0, V6_2, V6_7};
            [V5_1, V6_0, V6_2, V6_7].map(Dialect::Hlsl).to_vec()
        }
        (Target::Msl, .., Some(version)) => vec![Dialect::Msl(version)],
        (Target::Msl, .., None) => [(1, 2), (2, 1), (2, 4), (3, 1)].map(Dialect::Msl).to_vec(),
        (Target::Wgsl | Target::Spirv, ..) => Vec::new(),
    }
}

/// Reads a source and writes it in another language. The result is checked unless the [options](Options) disable it:
/// GLSL and HLSL by glslang, WGSL by naga, SPIR-V by our own rules. There is no checker for MSL.
///
/// SPIRV-Cross writes GLSL, HLSL and MSL from SPIR-V (and from sources that become SPIR-V first: a VBC's stage, GLSL,
/// HLSL), glslang writes SPIR-V from GLSL and HLSL, and naga everything else. The default version is the oldest of a
/// list that can express the shader.
///
/// # Errors
/// The source's error; [`ErrorKind::Write`] if the language cannot express the shader, or if the checker rejects the
/// result.
pub fn translate(source: &Source<'_>, target: Target, options: &Options) -> Result<Translation> {
    let is_module = is_module(source);
    if !options.adjust.is_nothing() {
        let words = match is_module {
            true => unsplit_words(source)?,
            false => words_of(&read(source)?)?,
        };
        return adjusted(source, &words, target, options);
    }
    if target == Target::Spirv && is_compiled(source) {
        let words = crate::frontend::without_lines(&unsplit_words(source)?);
        valid(&words)?;
        return Ok(Translation {
            bytes: spirv::write(&words)?,
            way: Way::Glslang,
            version: String::new(),
            check: if options.check {
                Check::Passed("skrymir")
            } else {
                Check::LeftOut
            },
            places: Vec::new(),
        });
    }
    if !is_module || target == Target::Spirv || !(target == Target::Wgsl || cross::is_available()) {
        let shader = match target {
            Target::Wgsl => read_for_wgsl(source)?,
            _ => read(source)?,
        };
        // naga writes GLSL ES from 3.00 on.
        return match options.glsl.is_some_and(is_es100) {
            true => translate_shader(&shader, target, options),
            false => by_naga(&shader, target, options),
        };
    }
    if target == Target::Wgsl {
        return by_naga(&read_for_wgsl(source)?, target, options);
    }
    let words = accepted(unsplit_words(source)?)?;
    comparable_atomics(&words)?;
    let words = narrow_exponents(&words)?;
    let entry = entry(&words, source)?;
    if target == Target::Hlsl {
        let words = for_hlsl(&words)?;
        return cross_written(&words, &entry, target, options);
    }
    let written = cross_written(&words, &entry, target, options);
    let Err(error) = written else { return written };
    // Languages differ in the types of operands that their functions take.
    let plain = without_wide_products(&words)?;
    match plain == words {
        true => Err(error),
        false => cross_written(&plain, &entry, target, options).map_err(|_| error),
    }
}

/// Whether a version is GLSL ES 1.00.
fn is_es100(version: glsl::Version) -> bool {
    matches!(version, glsl::Version::Embedded { version: 100, .. })
}

/// Whether a source is SPIR-V, or becomes SPIR-V first.
fn is_module(source: &Source<'_>) -> bool {
    matches!(source.language, Language::Spirv | Language::Vbc) || is_compiled(source)
}

/// Writes a module with SPIRV-Cross, in the first version that can express it.
fn cross_written(words: &[u32], entry: &Entry, target: Target, options: &Options) -> Result<Translation> {
    let (mut refused, mut doubted) = (None, false);
    for dialect in dialects(target, options) {
        let written = cross::write(words, entry, dialect);
        let checked = written.and_then(|(text, places)| {
            let check = match options.check {
                _ if target == Target::Msl && !cross::metal_has_stage(entry.model) => Check::NoStage,
                true => {
                    checked_text(dialect, &text, stage(entry.model), &entry.name).inspect_err(|_| doubted = true)?
                }
                false if target == Target::Msl => Check::Unchecked,
                false => Check::LeftOut,
            };
            Ok(Translation {
                bytes: text.into_bytes(),
                way: dialect.way(),
                version: version(dialect),
                check,
                places,
            })
        });
        match checked {
            // If the checker rejected an older version, an unchecked newer one is not returned.
            Ok(written) if doubted && written.check == Check::Unchecked => {}
            Ok(written) => return Ok(written),
            // Older GLSL names the missing feature; older HLSL and MSL name a version that is tried next.
            Err(error) if target == Target::Glsl => refused = refused.or(Some(error)),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| ErrorKind::Language(format!("{target}: no version of it is known")).into()))
}

/// The words of the entry point of naga's shader.
fn words_of(shader: &Shader) -> Result<Vec<u32>> {
    let shader = shader.clone().fixed(&[])?;
    let (bytes, _) = naga_text(&shader, Target::Spirv, &Options::default())?;
    Ok(spirv::to_words(&bytes)?)
}

/// Translates an adjusted module.
fn adjusted(source: &Source<'_>, words: &[u32], target: Target, options: &Options) -> Result<Translation> {
    valid(words)?;
    // A compiled module has one entry point, under any name.
    let found = entry(words, &asked(source))?;
    let (words, name) = options.adjust.applied(words, &found.name, found.model)?;
    valid(&words)?;
    let bytes = spirv::write(&words)?;
    let changed = Source {
        stage: stage_of_model(found.model),
        ..Source::new("changed.spv", &bytes)?.entry(&name)
    };
    let rest = Options {
        adjust: crate::Adjust::default(),
        ..options.clone()
    };
    translate(&changed, target, &rest)
}

/// The source with the adjusted entry point: compiled texts have one.
fn asked<'a>(source: &Source<'a>) -> Source<'a> {
    match source.language {
        Language::Spirv | Language::Vbc => *source,
        _ => Source {
            entry: None,
            stage: None,
            ..*source
        },
    }
}

/// Writes a shader that has no source, checked as by [`translate`]. Names stay: SPIRV-Cross writes GLSL, in which naga's
/// writer calls inputs, outputs and resources by their places.
///
/// # Errors
/// See [`translate`].
pub fn translate_shader(shader: &Shader, target: Target, options: &Options) -> Result<Translation> {
    if target != Target::Glsl || !cross::is_available() {
        return by_naga(shader, target, options);
    }
    let words = with_names(&words_of(shader)?, shader)?;
    let source = Source::new("shader.wgsl", &[])?;
    if !options.adjust.is_nothing() {
        return adjusted(&source, &words, target, options);
    }
    valid(&words)?;
    let entry = entry(&words, &source)?;
    cross_written(&words, &entry, target, options)
}

/// The module with the names of its shader's inputs and outputs, which naga leaves out.
fn with_names(words: &[u32], shader: &Shader) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut names = Vec::new();
    for variable in index.globals() {
        let name = match (variable.class, index.decoration(variable.id, decoration::LOCATION)) {
            (class::INPUT, Some(location)) => shader.input_name(location),
            (class::OUTPUT, Some(location)) => shader.output_name(location),
            _ => None,
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            continue;
        };
        let mut operands = vec![variable.id];
        operands.extend(spirv::operand::words_of_string(name));
        names.push(build(op::NAME, &operands));
    }
    let mut module = Editor::new(&index)?;
    if let Some(at) = module.names_end() {
        module.insert(at, names);
    }
    Ok(module.words())
}

/// Writes naga's shader with naga's writers, checked as by [`translate`].
fn by_naga(shader: &Shader, target: Target, options: &Options) -> Result<Translation> {
    if !options.adjust.is_nothing() {
        let (words, source) = (words_of(shader)?, Source::new("shader.wgsl", &[])?);
        return adjusted(&source, &words, target, options);
    }
    if options.vulkan && target == Target::Glsl {
        let message = "GLSL for Vulkan is written of SPIR-V, a VBC, GLSL and HLSL, by SPIRV-Cross";
        return Err(ErrorKind::Unavailable(message.to_owned()).into());
    }
    let (mut bytes, name) = naga_text(shader, target, options)?;
    if target == Target::Wgsl && uses_subgroups(&String::from_utf8_lossy(&bytes)) {
        bytes.splice(..0, *b"enable subgroups;\n\n");
    }
    let entry = Entry {
        name,
        model: model_of_stage(shader.stage()),
    };
    let version = match target {
        Target::Glsl => version(Dialect::Glsl(options.glsl_or_default())),
        Target::Hlsl => version(Dialect::Hlsl(options.hlsl_or_default())),
        Target::Msl => version(Dialect::Msl(options.msl_or_default())),
        Target::Wgsl | Target::Spirv => String::new(),
    };
    let text = || String::from_utf8_lossy(&bytes);
    let check = match target {
        _ if !options.check => Check::LeftOut,
        Target::Glsl => checked_text(
            Dialect::Glsl(options.glsl_or_default()),
            &text(),
            stage(entry.model),
            &entry.name,
        )?,
        Target::Hlsl => checked_text(
            Dialect::Hlsl(options.hlsl_or_default()),
            &text(),
            stage(entry.model),
            &entry.name,
        )?,
        Target::Msl => Check::Unchecked,
        // The writer already validates WGSL.
        Target::Wgsl => Check::Passed("naga"),
        Target::Spirv => {
            valid(&spirv::to_words(&bytes)?)?;
            Check::Passed("skrymir")
        }
    };
    Ok(Translation {
        bytes,
        way: Way::Naga,
        version,
        check,
        places: Vec::new(),
    })
}

/// Whether a WGSL text calls subgroup functions or has their built-ins: naga writes both without the extension.
fn uses_subgroups(text: &str) -> bool {
    let calls = |(at, _): (usize, &str)| text[at + "subgroup".len()..].starts_with(|c: char| c.is_ascii_uppercase());
    let others = ["@builtin(subgroup_", "quadBroadcast(", "quadSwap"];
    text.match_indices("subgroup").any(calls) || others.iter().any(|other| text.contains(other))
}

fn version(dialect: Dialect) -> String {
    match dialect {
        Dialect::Glsl(glsl::Version::Desktop(number)) => number.to_string(),
        Dialect::Glsl(glsl::Version::Embedded { version, .. }) => format!("es{version}"),
        Dialect::VulkanGlsl => "460".to_owned(),
        Dialect::Hlsl(model) => model.to_str().replace('_', "."),
        Dialect::Msl((major, minor)) => format!("{major}.{minor}"),
    }
}

/// Versions to try if the header's is older than the module needs.
const LATER: [u32; 4] = [0x0001_0300, 0x0001_0400, 0x0001_0500, 0x0001_0600];

/// A module that our validator accepts: unchanged, or in the first later version in which it is valid. Assemblers write
/// 1.0 by default.
fn accepted(mut words: Vec<u32>) -> Result<Vec<u32>> {
    let Err(error) = valid(&words) else {
        return Ok(words);
    };
    for version in LATER {
        if words.get(1).is_some_and(|own| *own < version) {
            words[1] = version;
            if valid(&words).is_ok() {
                return Ok(words);
            }
        }
    }
    Err(error)
}

/// Refuses a module that our validator refuses.
fn valid(words: &[u32]) -> Result<()> {
    let report = spirv::validate(words);
    let mut found = report.diagnostics.iter();
    match found.find(|found| found.severity == loader::Severity::Error) {
        Some(found) => {
            let message = format!("[{}] {}: {}", found.rule, found.place, found.message);
            Err(loader::Error::invalid(spirv::FORMAT, message, found.offset.unwrap_or(0)).into())
        }
        None => Ok(()),
    }
}

/// Execution models, with glslang's stage for each.
const STAGES: [(u32, frontend::Stage); 16] = {
    use frontend::Stage::*;
    [
        (model::VERTEX, Vertex),
        (1, TessellationControl),
        (2, TessellationEvaluation),
        (3, Geometry),
        (model::FRAGMENT, Fragment),
        (model::GL_COMPUTE, Compute),
        (5267, Task),
        (5268, Mesh),
        (5313, RayGeneration),
        (5314, Intersection),
        (5315, AnyHit),
        (5316, ClosestHit),
        (5317, Miss),
        (5318, Callable),
        (5364, Task),
        (5365, Mesh),
    ]
};

fn stage(model: u32) -> Option<frontend::Stage> {
    Some(STAGES.iter().find(|(number, _)| *number == model)?.1)
}

/// The execution model of naga's stage.
fn model_of_stage(stage: ShaderStage) -> u32 {
    let wanted = frontend::Stage::of_naga(stage);
    let found = STAGES.iter().find(|(_, stage)| Some(*stage) == wanted);
    found.map_or(u32::MAX, |(number, _)| *number)
}

/// The only entry point of a module that matches the request.
fn entry(words: &[u32], source: &Source<'_>) -> Result<Entry> {
    let index = ModuleIndex::new(words)?;
    let all: Vec<Entry> = index
        .entry_points()
        .filter_map(|node| {
            let tail: Vec<u32> = node.tail(2).collect();
            Some(Entry {
                name: spirv::operand::string(&tail)?.0,
                model: node.operand(0)?,
            })
        })
        .collect();
    let asked = asked(source);
    let asked = (asked.entry, asked.stage);
    let fits = |entry: &&Entry| {
        let (name, stage) = asked;
        name.is_none_or(|name| entry.name == name)
            && stage.is_none_or(|stage| stage_of_model(entry.model) == Some(stage))
    };
    let found: Vec<&Entry> = all.iter().filter(fits).collect();
    if let [entry] = found[..] {
        return Ok(entry.clone());
    }
    let name = |entry: &Entry| {
        let stage =
            stage(entry.model).map_or_else(|| entry.model.to_string(), |stage| format!("{stage:?}").to_lowercase());
        format!("{} ({stage})", entry.name)
    };
    let have: Vec<String> = all.iter().map(name).collect();
    let language = source.language;
    let message = match (&have[..], &found[..]) {
        ([], _) => format!("{language}: there is no entry point"),
        (_, []) => format!("{language}: no such entry point; there are: {}", have.join(", ")),
        _ => format!("{language}: choose an entry point: {}", have.join(", ")),
    };
    Err(ErrorKind::Entry(message).into())
}
