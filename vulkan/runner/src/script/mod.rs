//! Compilers and engines for test scripts: AmberScript and VkScript.

mod mali;
mod round_trip;

pub use mali::{ENGINES, Mali};
pub use round_trip::{RoundTrip, Through, round_trip};

use loader::spirv::{self, Grammar, TargetEnv, asm};
use script::amber::Language;
use script::run::{Code, Compile, CompileError, Text};
use std::path::{Path, PathBuf};
use translate::frontend;
use vulkan::DeviceInfo;

/// An engine for scripts and compute shaders.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Its name in output.
    pub name: String,
    /// Its `--device`.
    pub device: Option<String>,
    /// The compiler or language that shaders go through first.
    pub through: Option<RoundTrip>,
}

impl Engine {
    /// All engines: each Vulkan device, as it is and through naga, and the emulator's; those whose name contains `device`.
    pub fn all(device: Option<&str>) -> Vec<Self> {
        let devices = vulkan::devices().unwrap_or_default();
        let wanted = |info: &&DeviceInfo| device.is_none_or(|wanted| info.name.contains(wanted));
        let mut all = Vec::new();
        for info in devices.iter().filter(wanted) {
            for (name, through) in [("", None), (", through naga", Some(RoundTrip::Naga))] {
                all.push(Self {
                    name: format!("{}{name}", info.name),
                    device: Some(info.index.to_string()),
                    through,
                });
            }
        }
        let emulated = ENGINES.iter().map(|(name, _)| (*name).to_owned());
        let emulated = emulated.filter(|name| device.is_none_or(|wanted| name.contains(wanted)));
        all.extend(emulated.map(|name| Self {
            device: Some(name.clone()),
            name,
            through: None,
        }));
        all
    }

    /// Whether it is one of the emulator's.
    pub fn is_emulated(&self) -> bool {
        self.device.as_deref().and_then(Mali::named).is_some()
    }
}

/// The default compiler: the loader's assembler and validator for SPIR-V, glslang for GLSL and HLSL.
#[derive(Clone, Copy, Debug)]
pub struct Compiler;

impl Compile for Compiler {
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError> {
        let words = match text.language {
            Language::Glsl => return front(text, frontend::Dialect::Glsl),
            Language::Hlsl => return front(text, frontend::Dialect::Hlsl),
            Language::OpenClC => return Err(CompileError::Unsupported("OpenCL C".into())),
            Language::SpirvBin => spirv::read(text.bytes).map_err(|error| CompileError::Invalid(error.to_string()))?,
            Language::SpirvHex => hexadecimal(text)?,
            Language::SpirvAsm => assembled(text)?,
        };
        validated(&words)
            .accept("spirv")
            .map_err(|error| CompileError::Invalid(error.to_string()))?;
        Ok(Code {
            words,
            entry: text.entry.to_owned(),
        })
    }
}

fn as_text<'a>(text: &Text<'a>) -> Result<&'a str, CompileError> {
    std::str::from_utf8(text.bytes).map_err(|_| CompileError::Invalid("it is not text".into()))
}

fn assembled(text: &Text<'_>) -> Result<Vec<u32>, CompileError> {
    let assemble = |env: TargetEnv| {
        let options = asm::Options {
            version: Some(env.version()),
            ..asm::Options::default()
        };
        asm::assemble(Grammar::builtin(), as_text(text)?, options)
            .map_err(|error| CompileError::Invalid(error.to_string()))
    };
    let Some(name) = text.target_env else {
        // Suites give the version to their runner, outside the script: the first one that fits is used.
        let mut all = DEFAULT_ENVS.iter().filter_map(|name| TargetEnv::named(name));
        let first = assemble(all.next().unwrap_or(TargetEnv::UNIVERSAL))?;
        if is_valid(&first) {
            return Ok(first);
        }
        let later = all.filter_map(|env| assemble(env).ok()).find(|words| is_valid(words));
        return Ok(later.unwrap_or(first));
    };
    let env = TargetEnv::named(name);
    assemble(env.ok_or_else(|| CompileError::Unsupported(format!("the target environment {name}")))?)
}

/// Target environments that are tried for assembly without one.
const DEFAULT_ENVS: [&str; 4] = ["spv1.0", "spv1.3", "spv1.4", "spv1.5"];

/// Our validator's report on a module, for its own version.
fn validated(words: &[u32]) -> loader::Report {
    let version = words.get(1).copied().unwrap_or(0);
    let env = TargetEnv::ALL.iter().find(|env| env.version() == version);
    spirv::validate_for(Grammar::builtin(), words, env.copied().unwrap_or(TargetEnv::UNIVERSAL))
}

fn is_valid(words: &[u32]) -> bool {
    validated(words).accept("spirv").is_ok()
}

/// Words in hexadecimal.
fn hexadecimal(text: &Text<'_>) -> Result<Vec<u32>, CompileError> {
    let word = |word: &str| {
        let digits = word.strip_prefix("0x").or(word.strip_prefix("0X")).unwrap_or(word);
        let wrong = || CompileError::Invalid(format!("expected a word in hexadecimal, found {word:?}"));
        u32::from_str_radix(digits, 16).map_err(|_| wrong())
    };
    let words = as_text(text)?
        .split([' ', '\t', '\r', '\n', ','])
        .filter(|one| !one.is_empty());
    let words = words.map(word).collect::<Result<Vec<u32>, _>>()?;
    let bytes = spirv::write(&words);
    bytes
        .and_then(|bytes| spirv::read(&bytes))
        .map_err(|error| CompileError::Invalid(error.to_string()))
}

fn front(text: &Text<'_>, dialect: frontend::Dialect) -> Result<Code, CompileError> {
    use script::Stage as S;
    let stage = match text.stage {
        S::Vertex => frontend::Stage::Vertex,
        S::Fragment => frontend::Stage::Fragment,
        S::Geometry => frontend::Stage::Geometry,
        S::TessellationControl => frontend::Stage::TessellationControl,
        S::TessellationEvaluation => frontend::Stage::TessellationEvaluation,
        S::Compute => frontend::Stage::Compute,
        other => return Err(CompileError::Unsupported(format!("{other} shaders in {dialect:?}"))),
    };
    if !frontend::is_available() {
        return Err(CompileError::Unsupported(
            "this program was built without glslang".into(),
        ));
    }
    // Files inside the script take precedence over files beside it.
    let mut settings = frontend::Settings::NONE.clone();
    let folder = match text.files.is_empty() {
        true => None,
        false => Some(tempfile::tempdir().map_err(|error| CompileError::Unsupported(error.to_string()))?),
    };
    let mut path = text.path.to_owned();
    if let Some(folder) = &folder {
        for (name, contents) in text.files {
            // No path leaves the folder.
            let plain = Path::new(name)
                .components()
                .filter(|part| matches!(part, std::path::Component::Normal(_)));
            let file = folder.path().join(plain.collect::<PathBuf>());
            let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&file, contents))
                .map_err(|error| CompileError::Unsupported(error.to_string()))?;
        }
        settings.folders = vec![
            folder.path().to_owned(),
            text.path.parent().unwrap_or(Path::new("")).to_owned(),
        ];
        path = folder.path().join("script");
    }
    let source = as_text(text)?;
    let mut source = frontend::Text::new(source, &path, dialect, stage, &settings);
    source.entry = (dialect == frontend::Dialect::Hlsl).then_some(text.entry);
    match frontend::spirv(&source) {
        Ok(module) => Ok(Code {
            words: module.words,
            entry: "main".to_owned(),
        }),
        Err(error) => Err(CompileError::Invalid(error.to_string())),
    }
}
