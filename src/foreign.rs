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

/// Whether a file is one of HLSL by its name.
pub fn is_hlsl(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "hlsl")
}

/// The stage that the name of an HLSL file says: `lit.vert.hlsl`, or `lit.vs.hlsl` as Direct3D's people have it.
pub fn hlsl_stage(path: &Path) -> Option<Stage> {
    let stem = Path::new(path.file_stem()?);
    match stem.extension()?.to_str()? {
        "vert" | "vs" => Some(Stage::Vert),
        "frag" | "ps" => Some(Stage::Frag),
        _ => None,
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
        Some(words) => words.map_err(|error| error.in_file(path.display())),
        None => Err(Error::machine(format_args!(
            "{}: HLSL wants a compiler: dxc, or glslangValidator (Debian's package is glslang-tools)",
            path.display()
        ))),
    }
}

/// The bytes of a module of an HLSL file's stage: the one that is asked for, or that the name says.
///
/// # Errors
/// Usage where nothing says the stage; what the compiler says, or that there is none.
pub fn hlsl_module(path: &Path, text: &[u8], stage: Option<Stage>, entry: Option<&str>) -> Result<Vec<u8>> {
    let stage = stage.or_else(|| hlsl_stage(path)).ok_or_else(|| {
        let file = path.display();
        Error::usage(format_args!(
            "{file}: HLSL does not say its stage: say --stage vert or --stage frag"
        ))
    })?;
    let words = hlsl(path, text, stage, entry)?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
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
        let tool = tool.file_name().unwrap_or(tool.as_os_str()).display();
        return Err(Error::input(format_args!("{tool}: {}", told(&said, &source))));
    }
    Ok(loader::spirv::to_words(&std::fs::read(&binary)?)?)
}

/// What a compiler said, with lines instead of places in its copy of the text.
fn told(said: &str, source: &Path) -> String {
    let source = source.display().to_string();
    let chatter = |line: &&str| {
        !line.is_empty()
            && *line != source
            && !line.starts_with("SPIR-V is not generated")
            && !line.ends_with("No code generated.")
    };
    let lines = said.lines().map(str::trim).filter(chatter);
    let lines: Vec<String> = lines
        .map(|line| {
            let line = line.strip_prefix("ERROR: ").unwrap_or(line);
            line.replace(&format!("{source}:"), "line ")
        })
        .collect();
    let mut told = lines.join("\n");
    if told.to_lowercase().contains("entry point") {
        told += "\n(the entry point is main unless --entry names another)";
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_of_the_users_own_file() {
        let said = "/tmp/x/shader.hlsl\nERROR: /tmp/x/shader.hlsl:3: 'a' : unknown variable \n\
                    ERROR: 1 compilation errors.  No code generated.\n\n\nSPIR-V is not generated for failed compile or link\n";
        assert_eq!(
            told(said, Path::new("/tmp/x/shader.hlsl")),
            "line 3: 'a' : unknown variable"
        );
        let said = "shader.hlsl:3:5: error: missing entry point definition";
        let told = told(said, Path::new("shader.hlsl"));
        assert!(
            told.starts_with("line 3:5: error") && told.contains("--entry"),
            "{told}"
        );
    }

    #[test]
    fn names_say_stages() {
        let stage = |name: &str| hlsl_stage(Path::new(name));
        assert_eq!(stage("a/lit.vs.hlsl"), Some(Stage::Vert));
        assert_eq!(stage("lit.frag.hlsl"), Some(Stage::Frag));
        assert_eq!(stage("lit.hlsl"), None);
    }
}
