//! Installed compilers: `dxc` for HLSL that glslang rejects, and `glslangValidator` if this program was built without
//! glslang.

use crate::error::{Error, Result, Within};

use std::path::Path;
use std::process::{Command, Stdio};
use translate::frontend::{Stage, registers_apart};
use translate::{ErrorKind, Language, Source};

/// Compiles a text that the front end rejected with an installed compiler; none if no such compiler is installed.
pub fn instead(source: &Source<'_>, stage: Stage, refused: &translate::Error) -> Option<Result<Vec<u32>>> {
    let lacks = matches!(refused.kind(), ErrorKind::Unavailable(_));
    let found = match source.language {
        Language::Hlsl => hlsl(source, stage, lacks)?,
        Language::Glsl if !translate::frontend::is_available() => glsl(source, stage)?,
        _ => return None,
    };
    // If both reject the text, the front end's error is reported.
    if found.is_err() && !lacks {
        return None;
    }
    let name = source.path.display();
    log::debug!("{name}: compiled by an installed compiler: {refused}");
    Some(found.map_err(|error| error.in_file(name)))
}

/// As [`instead`], with the module's bytes.
pub fn module(source: &Source<'_>, stage: Option<Stage>, refused: &translate::Error) -> Option<Result<Vec<u8>>> {
    let words = instead(source, stage?, refused)?;
    Some(words.map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()))
}

/// A compiler's arguments, with the definitions and folders of the settings; the output file follows.
fn arguments(own: &[&str], source: &Source<'_>, last: &str) -> Vec<String> {
    let settings = source.settings;
    let defines = settings.defines.iter().map(|(name, value)| format!("-D{name}={value}"));
    let folders = settings.folders.iter().map(|folder| format!("-I{}", folder.display()));
    let own = own.iter().map(|argument| (*argument).to_owned());
    own.chain(defines).chain(folders).chain([last.to_owned()]).collect()
}

fn hlsl(source: &Source<'_>, stage: Stage, lacks: bool) -> Option<Result<Vec<u32>>> {
    let entry = source.entry.unwrap_or("main");
    let profile = match stage {
        Stage::Vertex => "vs_6_0",
        Stage::TessellationControl => "hs_6_0",
        Stage::TessellationEvaluation => "ds_6_0",
        Stage::Geometry => "gs_6_0",
        Stage::Fragment => "ps_6_0",
        Stage::Compute => "cs_6_0",
        _ => return None,
    };
    let dxc = [
        "-spirv",
        "-T",
        profile,
        "-E",
        entry,
        "-fspv-entrypoint-name=main",
        "-fvk-use-scalar-layout",
    ];
    let glslang = [
        "-D",
        "-V",
        "-S",
        stage.ending(),
        "-e",
        "main",
        "--source-entrypoint",
        entry,
        "--auto-map-bindings",
    ];
    let found = run("dxc", &arguments(&dxc, source, "-Fo"), "hlsl", source.bytes);
    let found = found.or_else(|| match lacks {
        true => run(
            "glslangValidator",
            &arguments(&glslang, source, "-o"),
            "hlsl",
            source.bytes,
        ),
        false => None,
    })?;
    Some(found.map(|mut words| {
        registers_apart(&mut words);
        words
    }))
}

fn glsl(source: &Source<'_>, stage: Stage) -> Option<Result<Vec<u32>>> {
    let own = [
        "-V",
        "--target-env",
        "vulkan1.1",
        "-S",
        stage.ending(),
        "--auto-map-bindings",
        "--auto-map-locations",
    ];
    run(
        "glslangValidator",
        &arguments(&own, source, "-o"),
        stage.ending(),
        source.bytes,
    )
}

/// Runs a compiler over a text, if it is installed; `arguments` end with the flag of the output file.
fn run(tool: &str, arguments: &[String], ending: &str, text: &[u8]) -> Option<Result<Vec<u32>>> {
    let tool = which::which(tool).ok()?;
    Some(compiled(&tool, arguments, ending, text))
}

fn compiled(tool: &Path, arguments: &[String], ending: &str, text: &[u8]) -> Result<Vec<u32>> {
    let folder = tempfile::tempdir().within(|| "no folder for the compiler")?;
    let (source, binary) = (
        folder.path().join("shader").with_extension(ending),
        folder.path().join("shader.spv"),
    );
    std::fs::write(&source, text)?;
    let mut command = Command::new(tool);
    let output = command
        .args(arguments)
        .arg(&binary)
        .arg(&source)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let tool = tool.file_name().unwrap_or(tool.as_os_str()).display();
        return Err(Error::input(format_args!("{tool}: {}", cleaned(&said, &source))));
    }
    Ok(loader::spirv::to_words(&std::fs::read(&binary)?)?)
}

/// A compiler's output, with line numbers instead of places in the temporary file.
fn cleaned(said: &str, source: &Path) -> String {
    let source = source.display().to_string();
    let is_noise = |line: &&str| {
        !line.is_empty()
            && *line != source
            && !line.starts_with("SPIR-V is not generated")
            && !line.ends_with("No code generated.")
    };
    let lines = said.lines().map(str::trim).filter(is_noise);
    let lines: Vec<String> = lines
        .map(|line| {
            let line = line.strip_prefix("ERROR: ").unwrap_or(line);
            line.replace(&format!("{source}:"), "line ")
        })
        .collect();
    let mut text = lines.join("\n");
    if text.to_lowercase().contains("entry point") {
        text += "\n(the entry point is main unless --entry names another)";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_of_the_users_own_file() {
        let said = "/tmp/x/shader.hlsl\nERROR: /tmp/x/shader.hlsl:3: 'a' : unknown variable \n\
                    ERROR: 1 compilation errors.  No code generated.\n\n\nSPIR-V is not generated for failed compile or link\n";
        assert_eq!(
            cleaned(said, Path::new("/tmp/x/shader.hlsl")),
            "line 3: 'a' : unknown variable"
        );
        let said = "shader.hlsl:3:5: error: missing entry point definition";
        let text = cleaned(said, Path::new("shader.hlsl"));
        assert!(
            text.starts_with("line 3:5: error") && text.contains("--entry"),
            "{text}"
        );
    }
}
