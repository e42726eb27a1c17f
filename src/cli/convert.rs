//! `skrymir convert`: SPIR-V, a stage of a VBC file, or an SkSL program to another shading language by way of naga.

use super::{Failure, Outcome, print, read, write};
use crate::formats;
use crate::judges::{Verdict, caught, naga_module};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use loader::spirv;
use naga::valid::ModuleInfo;
use std::path::PathBuf;

/// Languages naga writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// WebGPU's language
    Wgsl,
    /// OpenGL's language
    Glsl,
    /// Metal's language
    Msl,
    /// Direct3D's language
    Hlsl,
    /// SPIR-V (of an SkSL program)
    Spirv,
    /// A VBC file that draws (of an SkSL runtime effect or fragment program)
    Vbc,
}

/// Arguments of `convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// A SPIR-V module, a VBC file, or an SkSL program
    pub file: PathBuf,
    /// The language to write
    #[arg(long)]
    pub to: Language,
    /// The stage of a VBC file: vert, tesc, tese, geom or frag
    #[arg(long)]
    pub stage: Option<String>,
    /// Where to write instead of printing; SPIR-V and VBC are only written
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

pub(super) fn run(args: &ConvertArgs) -> Outcome {
    let bytes = read(&args.file)?;
    let binary = matches!(args.to, Language::Spirv | Language::Vbc);
    let Some(output) = &args.output else {
        if binary {
            return Err(Failure::Trouble(anyhow!(
                "{:?} is not text: name a file with -o",
                args.to
            )));
        }
        return print(&String::from_utf8_lossy(&produce(&bytes, args)?));
    };
    write(output, produce(&bytes, args)?)
}

fn produce(bytes: &[u8], args: &ConvertArgs) -> Outcome<Vec<u8>> {
    let bad = |why: String| Failure::Bad(anyhow!("{}: {why}", args.file.display()));
    match formats::detect(bytes).filter(|format| format.name() == "sksl") {
        Some(format) => effect(format, bytes, args.to).map_err(|failure| match failure {
            Failure::Bad(error) => bad(error.to_string()),
            other => other,
        }),
        None => convert(&spirv_words(bytes, args)?, args.to)
            .map(String::into_bytes)
            .map_err(bad),
    }
}

/// An effect goes through naga, or all the way to a file that `run` draws.
fn effect(format: &dyn formats::Format, bytes: &[u8], to: Language) -> Outcome<Vec<u8>> {
    if to == Language::Vbc {
        return Ok(crate::sksl::to_vbc(&loader::sksl::read(bytes)?)?);
    }
    let module = format.to_naga(bytes)?;
    if to == Language::Spirv {
        let stage = crate::sksl::stage(&loader::sksl::read(bytes)?)?;
        let words = crate::sksl::to_spirv(&module, stage)?;
        return Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    }
    let (flags, capabilities) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = naga::valid::Validator::new(flags, capabilities).validate(&module);
    let info = info.map_err(|error| Failure::Bad(anyhow!("naga refuses it: {error}")))?;
    let written = caught(|| text(&module, &info, to)).unwrap_or_else(|panic| Err(format!("panicked: {panic}")));
    let written = written.map_err(|why| Failure::Bad(anyhow!("naga cannot write it: {why}")))?;
    if to == Language::Wgsl {
        // WGSL has one layout for each type, and naga writes types whose layout in the module is another.
        let valid = naga::front::wgsl::parse_str(&written)
            .map_err(|error| error.emit_to_string(&written))
            .and_then(|module| {
                let mut validator = naga::valid::Validator::new(flags, capabilities);
                validator
                    .validate(&module)
                    .map_err(|error| error.emit_to_string(&written))
            });
        valid.map_err(|why| Failure::Bad(anyhow!("unsupported: what naga writes of it is no WGSL: {why}")))?;
    }
    Ok(written.into_bytes())
}

/// The words of a SPIR-V file, or of the one stage of a VBC file.
fn spirv_words(bytes: &[u8], args: &ConvertArgs) -> Outcome<Vec<u32>> {
    if !bytes.starts_with(&loader::vbc::MAGIC) {
        return Ok(spirv::to_words(bytes)?);
    }
    let mut stages = formats::vbc_stages(bytes, args.stage.as_deref())?;
    if stages.len() > 1 {
        let names: Vec<&str> = stages.iter().map(|s| s.0.as_str()).collect();
        return Err(Failure::Trouble(anyhow!("say which --stage: {}", names.join(", "))));
    }
    Ok(stages.remove(0).1)
}

/// A module in another language, its combined samplers split.
///
/// # Errors
/// Why not: which instruction cannot be split, read or written.
pub fn convert(words: &[u32], to: Language) -> Result<String, String> {
    let split = spirv::split_samplers(words).map_err(|error| error.to_string())?;
    let read = caught(|| naga_module(&split)).unwrap_or_else(|panic| Err(Verdict::Panicked(panic)));
    let (module, info) = read.map_err(|verdict| format!("naga cannot read it: {verdict}"))?;
    let written = caught(|| text(&module, &info, to)).unwrap_or_else(|panic| Err(format!("panicked: {panic}")));
    written.map_err(|why| format!("naga cannot write it: {why}"))
}

fn text(module: &naga::Module, info: &ModuleInfo, to: Language) -> Result<String, String> {
    use naga::back::{glsl, hlsl, msl, wgsl};
    match to {
        Language::Spirv | Language::Vbc => Err("only SkSL programs are converted to that".into()),
        Language::Wgsl => wgsl::write_string(module, info, wgsl::WriterFlags::empty()).map_err(|e| e.to_string()),
        Language::Msl => {
            let options = msl::Options {
                fake_missing_bindings: true,
                ..msl::Options::default()
            };
            msl::write_string(module, info, &options, &msl::PipelineOptions::default())
                .map(|out| out.0)
                .map_err(|e| e.to_string())
        }
        Language::Hlsl => {
            let mut out = String::new();
            let (options, pipeline) = (hlsl::Options::default(), hlsl::PipelineOptions::default());
            hlsl::Writer::new(&mut out, &options, &pipeline)
                .write(module, info, None)
                .map_err(|e| e.to_string())?;
            Ok(out)
        }
        Language::Glsl => {
            let mut out = String::new();
            let entry = module.entry_points.first().ok_or("no entry point")?;
            let pipeline = glsl::PipelineOptions {
                shader_stage: entry.stage,
                entry_point: entry.name.clone(),
                multiview: None,
            };
            let options = glsl::Options {
                version: glsl::Version::Desktop(450),
                ..glsl::Options::default()
            };
            let policies = naga::proc::BoundsCheckPolicies::default();
            glsl::Writer::new(&mut out, module, info, &options, &pipeline, policies)
                .map_err(|e| e.to_string())?
                .write()
                .map_err(|e| e.to_string())?;
            Ok(out)
        }
    }
}
