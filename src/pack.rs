//! Stages in WGSL, GLSL or SPIR-V to a VBC: naga is the compiler, [`loader::vbc::pack`] derives the reflection.

use anyhow::{Context, Result, anyhow, bail};
use loader::vbc::pack::Names;
use loader::vbc::{BaseType, Stage, Tables, Variable};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// One stage's words from a file's bytes: SPIR-V by its magic, SkSL binaries by how they begin, WGSL by the file's
/// ending, GLSL otherwise.
///
/// # Errors
/// The compiler's, with its explanation.
pub fn compile(path: &Path, bytes: &[u8], stage: Stage) -> Result<Vec<u32>> {
    if bytes.starts_with(&loader::spirv::MAGIC.to_le_bytes()) {
        if !bytes.len().is_multiple_of(4) {
            bail!("{}: SPIR-V of {} bytes is not whole words", path.display(), bytes.len());
        }
        return Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four")))
            .collect());
    }
    if loader::sksl::detect(bytes) {
        return sksl(bytes, stage).with_context(|| path.display().to_string());
    }
    let text = std::str::from_utf8(bytes).with_context(|| format!("{} is neither SPIR-V nor text", path.display()))?;
    let naga_stage = match stage {
        Stage::Vert => naga::ShaderStage::Vertex,
        Stage::Frag => naga::ShaderStage::Fragment,
        _ => bail!("{}: {stage} stages are taken as SPIR-V only", path.display()),
    };
    let module = match path.extension().is_some_and(|extension| extension == "wgsl") {
        true => naga::front::wgsl::parse_str(text)
            .map_err(|error| anyhow!("{}", error.emit_to_string_with_path(text, &path.to_string_lossy())))?,
        false => naga::front::glsl::Frontend::default()
            .parse(&naga::front::glsl::Options::from(naga_stage), text)
            .map_err(|error| anyhow!("{}: {}", path.display(), error.emit_to_string(text)))?,
    };
    to_spirv(module, naga_stage).with_context(|| path.display().to_string())
}

/// The words of an SkSL program of a stage.
fn sksl(bytes: &[u8], stage: Stage) -> Result<Vec<u32>> {
    let tree = loader::sksl::read(bytes)?;
    let own = crate::sksl::stage(&tree)?;
    let fits = matches!(
        (own, stage),
        (naga::ShaderStage::Vertex, Stage::Vert) | (naga::ShaderStage::Fragment, Stage::Frag)
    );
    if !fits {
        bail!("a program of stage {own:?} as {stage} stage");
    }
    Ok(crate::sksl::to_stage(&tree)?)
}

/// SPIR-V 1.5 of a module's only entry point of a stage, called `main` as VBC has it.
///
/// # Errors
/// What naga's validator or writer finds.
pub fn to_spirv(mut module: naga::Module, stage: naga::ShaderStage) -> Result<Vec<u32>> {
    module.entry_points.retain(|entry| entry.stage == stage);
    let [entry] = &mut module.entry_points[..] else {
        bail!(
            "{} entry points of stage {stage:?}; one is wanted",
            module.entry_points.len()
        );
    };
    entry.name = "main".into();
    let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = naga::valid::Validator::new(flags, capabilities)
        .validate(&module)
        .map_err(|error| anyhow!("{}", naga_chain(&error)))?;
    let options = naga::back::spv::Options {
        lang_version: (1, 5),
        // VBC keeps Vulkan's clip space as it is; names give the uniform's members theirs.
        flags: naga::back::spv::WriterFlags::DEBUG,
        ..Default::default()
    };
    let pipeline = naga::back::spv::PipelineOptions {
        shader_stage: stage,
        entry_point: "main".into(),
    };
    Ok(naga::back::spv::write_vec(&module, &info, &options, Some(&pipeline))?)
}

/// An error with what caused it.
fn naga_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// What a names file (TOML) can say:
///
/// ```toml
/// uniform = ["mvp", "tint"]                  # names of the uniform's members, in order
/// tables = { samplers = 16 }                 # table sizes
/// [unused-inputs]                            # inputs the code does not read: location = type, columns x rows
/// 3 = "float2"
/// 4 = "float4x4"
/// 8 = "int[3]"
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct NamesFile {
    uniform: Vec<String>,
    tables: BTreeMap<String, u16>,
    unused_inputs: BTreeMap<String, String>,
}

/// Reads a names file.
///
/// # Errors
/// Syntax, unknown keys and types.
pub fn names(text: &str) -> Result<Names> {
    let file: NamesFile = toml::from_str(text)?;
    let mut sizes = Tables::default().sizes();
    for (name, size) in &file.tables {
        let table = Tables::NAMES.iter().position(|known| known == name);
        let table = table.with_context(|| format!("no table \"{name}\"; there are {}", Tables::NAMES.join(", ")))?;
        sizes[table] = *size;
    }
    let unused = file.unused_inputs.iter().map(|(location, ty)| {
        let location = location
            .parse()
            .with_context(|| format!("\"{location}\" is no location"))?;
        variable(location, ty).with_context(|| format!("\"{ty}\" is no type of vertex inputs"))
    });
    let unused_inputs = unused.collect::<Result<_>>()?;
    Ok(Names {
        uniform: file.uniform,
        unused_inputs,
        tables: Tables::from_sizes(sizes),
    })
}

/// A vertex input by the name of its type in VSL.
fn variable(location: u8, ty: &str) -> Option<Variable> {
    let (ty, array) = match ty.split_once('[') {
        Some((ty, count)) => (ty, count.strip_suffix(']')?.parse().ok()?),
        None => (ty, 1),
    };
    let split = ty.find(|c: char| c.is_ascii_digit()).unwrap_or(ty.len());
    let base = BaseType::from_name(&ty[..split]).filter(|base| base.is_numeric())?;
    let dims = match ty[split..].split_once('x') {
        Some((columns, rows)) => [rows.parse().ok()?, columns.parse().ok()?],
        None if split == ty.len() => [1, 1],
        None => [ty[split..].parse().ok()?, 1],
    };
    Some(Variable {
        location,
        base,
        dims,
        array,
    })
}
