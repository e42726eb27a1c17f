//! Compilers that are not ours, asked where they are installed: `dxc` for HLSL, `glslangValidator` for HLSL and for GLSL
//! that naga does not read.

use crate::error::{Error, Result, Within};
use loader::vbc::Stage;
use std::path::Path;
use std::process::{Command, Stdio};

/// What `glslangValidator` calls a stage.
fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Vert => "vert",
        Stage::Tesc => "tesc",
        Stage::Tese => "tese",
        Stage::Geom => "geom",
        Stage::Frag => "frag",
    }
}

/// A stage of HLSL as SPIR-V.
///
/// # Errors
/// What the compiler says, or that there is none.
pub fn hlsl(path: &Path, text: &[u8], stage: Stage, entry: Option<&str>) -> Result<Vec<u32>> {
    let entry = entry.unwrap_or("main");
    let profile = match stage {
        Stage::Vert => "vs_6_0",
        Stage::Tesc => "hs_6_0",
        Stage::Tese => "ds_6_0",
        Stage::Geom => "gs_6_0",
        Stage::Frag => "ps_6_0",
    };
    let dxc = [
        "-spirv",
        "-T",
        profile,
        "-E",
        entry,
        "-fspv-entrypoint-name=main",
        "-fvk-use-scalar-layout",
        "-Fo",
    ];
    let glslang = [
        "-D",
        "-V",
        "-S",
        name(stage),
        "-e",
        "main",
        "--source-entrypoint",
        entry,
        "--auto-map-bindings",
    ];
    let found = run("dxc", &dxc, "hlsl", text).or_else(|| run("glslangValidator", &glslang, "hlsl", text));
    match found {
        Some(words) => words.within(|| path.display()),
        None => Err(Error::machine(format_args!(
            "{}: HLSL wants a compiler: dxc, or glslangValidator (Debian's package is glslang-tools)",
            path.display()
        ))),
    }
}

/// A stage of GLSL as SPIR-V, where there is a compiler for it.
pub fn glsl(text: &[u8], stage: Stage) -> Option<Result<Vec<u32>>> {
    let arguments = [
        "-V",
        "--target-env",
        "vulkan1.1",
        "-S",
        name(stage),
        "--auto-map-bindings",
        "--auto-map-locations",
    ];
    run("glslangValidator", &arguments, name(stage), text)
}

/// Runs a compiler over a text, if it is installed; the file it writes is its last argument.
fn run(tool: &str, arguments: &[&str], ending: &str, text: &[u8]) -> Option<Result<Vec<u32>>> {
    let tool = which::which(tool).ok()?;
    Some(compiled(&tool, arguments, ending, text))
}

fn compiled(tool: &Path, arguments: &[&str], ending: &str, text: &[u8]) -> Result<Vec<u32>> {
    let folder = tempfile::tempdir().within(|| "no folder for the compiler")?;
    let (source, binary) = (
        folder.path().join("shader").with_extension(ending),
        folder.path().join("shader.spv"),
    );
    std::fs::write(&source, text)?;
    let mut command = Command::new(tool);
    command.args(arguments);
    if !arguments.ends_with(&["-Fo"]) {
        command.arg("-o");
    }
    let output = command.arg(&binary).arg(&source).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        // The text's own place instead of that of the copy.
        let said = said.replace(&source.display().to_string(), "line");
        return Err(Error::input(format_args!("{}: {}", tool.display(), said.trim())));
    }
    Ok(loader::spirv::to_words(&std::fs::read(&binary)?)?)
}
