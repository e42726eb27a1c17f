//! Files of every format, in the words of the commands.

use crate::refusal::Refusal;
use loader::{spirv, vbc};
use serde::Serialize;
use serde_json::Value;
use skrymir::command;
use skrymir::command::{Failure, Language};
use std::path::Path;
use translate::ShaderStage;

/// What a verb says of a file, for people and for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Ends with a newline.
    pub text: String,
    /// The document that `--json` prints.
    pub json: Value,
}

fn about(name: &str) -> impl Fn(Failure) -> Refusal {
    move |failure| Refusal::about(failure, [name])
}

/// The format of a file that is neither text nor words alone, by its first bytes.
pub fn format(bytes: &[u8]) -> Option<&'static str> {
    command::find(None, bytes).map(|format| format.name())
}

/// As `skrymir info`; `wanted` names a format for bytes that do not tell it.
///
/// # Errors
/// What the command fails with.
pub fn info(name: &str, bytes: &[u8], wanted: Option<&str>) -> Result<Answer, Refusal> {
    let info = command::info(Path::new(name), bytes, wanted).map_err(about(name))?;
    Ok(Answer {
        text: info.text,
        json: info.json,
    })
}

/// As `skrymir check`: the verdict and what it is founded on.
///
/// # Errors
/// None that is about the file.
pub fn check(name: &str, bytes: &[u8], wanted: Option<&str>) -> Result<Answer, Refusal> {
    let checked = command::check(Path::new(name), bytes, wanted).map_err(about(name))?;
    Ok(Answer {
        text: checked.to_text(),
        json: serde_json::to_value(&checked).unwrap_or_default(),
    })
}

/// As `skrymir dis`; of a VBC with a stage.
///
/// # Errors
/// What the command fails with.
pub fn dis(name: &str, bytes: &[u8], wanted: Option<&str>, stage: Option<&str>) -> Result<String, Refusal> {
    command::dis(Path::new(name), bytes, wanted, stage).map_err(about(name))
}

/// As `skrymir as`.
///
/// # Errors
/// What the command fails with.
pub fn assemble(name: &str, text: &str) -> Result<Vec<u8>, Refusal> {
    command::assemble(Path::new(name), text).map_err(about(name))
}

/// The stages that a VBC has code for.
///
/// # Errors
/// When it is no VBC.
pub fn stages(name: &str, bytes: &[u8]) -> Result<Vec<String>, Refusal> {
    let file = vbc::read(bytes).map_err(|error| Refusal::about(format_args!("{name}: {error}"), [name]))?;
    let stages = vbc::Stage::ALL.into_iter().filter(|stage| file.code(*stage).is_some());
    Ok(stages.map(|stage| stage.to_string()).collect())
}

/// A VBC with the code of one stage replaced by a SPIR-V module.
///
/// # Errors
/// When it is no VBC or has no such stage, or the module is none.
pub fn with_stage(name: &str, bytes: &[u8], stage: &str, module: &[u8]) -> Result<Vec<u8>, Refusal> {
    let wrong = |error: loader::Error| Refusal::about(format_args!("{name}: {error}"), [name]);
    let mut model = vbc::read(bytes).map_err(wrong)?.to_model();
    let mut stages = vbc::Stage::ALL.into_iter();
    let found = stages.find(|known| known.to_string() == stage && !model.code(*known).is_empty());
    let Some(found) = found else {
        return Err(Refusal::about(format_args!("{name}: vbc: no stage {stage}"), [name]));
    };
    *model.code_mut(found) = spirv::read(module).map_err(wrong)?;
    vbc::write(&model).map_err(wrong)
}

/// As `skrymir convert`, to `wgsl`, `glsl`, `hlsl`, `msl`, `spirv` or `vbc`, of the stage `vert`, `frag` or `comp` where there
/// are several.
///
/// # Errors
/// What the command fails with.
pub fn convert(
    name: &str,
    bytes: &[u8],
    wanted: Option<&str>,
    to: &str,
    stage: Option<&str>,
) -> Result<Vec<u8>, Refusal> {
    let unknown = |what: &str| Refusal::about(format_args!("{name}: no {what}"), []);
    let to = match to {
        "wgsl" => Language::Wgsl,
        "glsl" => Language::Glsl,
        "hlsl" => Language::Hlsl,
        "msl" => Language::Msl,
        "spirv" => Language::Spirv,
        "vbc" => Language::Vbc,
        other => return Err(unknown(&format!("language {other}"))),
    };
    let stage = match stage {
        None => None,
        Some("vert") => Some(ShaderStage::Vertex),
        Some("frag") => Some(ShaderStage::Fragment),
        Some("comp") => Some(ShaderStage::Compute),
        Some(other) => return Err(unknown(&format!("stage {other}"))),
    };
    let written = command::convert(Path::new(name), bytes, wanted, to, stage).map_err(about(name))?;
    Ok(written.bytes)
}
