//! `skrymir convert`: a shader to another shading language.

use crate::outcome::{Failure, Outcome, print, read, write};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use translate::{Options, ShaderStage, Source, Target};

/// What `convert` writes.
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
    /// SPIR-V
    Spirv,
    /// A VBC file that draws (of an SkSL runtime effect or fragment program)
    Vbc,
}

/// Arguments of `convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// A SPIR-V module, a VBC file, an SkSL program, WGSL (.wgsl) or GLSL (.vert, .frag)
    pub file: PathBuf,
    /// The language to write
    #[arg(long)]
    pub to: Language,
    /// The stage of a file that has several: vert or frag
    #[arg(long, value_parser = parse_stage)]
    pub stage: Option<ShaderStage>,
    /// The entry point, where there are several of the stage
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Where to write instead of printing; SPIR-V and VBC are only written
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

fn parse_stage(name: &str) -> Result<ShaderStage, String> {
    match name {
        "vert" => Ok(ShaderStage::Vertex),
        "frag" => Ok(ShaderStage::Fragment),
        "comp" => Ok(ShaderStage::Compute),
        "tesc" | "tese" | "geom" => Err(format!("naga has no {name} stages, so they cannot be converted")),
        _ => Err("a stage is vert, frag or comp".into()),
    }
}

pub(super) fn run(args: &ConvertArgs) -> Outcome {
    let binary = matches!(args.to, Language::Spirv | Language::Vbc);
    if binary && args.output.is_none() {
        return Err(Failure::Trouble(anyhow!(
            "{:?} is not text: name a file with -o",
            args.to
        )));
    }
    let bytes = read(&args.file)?;
    let name = args.file.to_string_lossy();
    let written = produce(&name, &bytes, args).map_err(|error| match error.line_column() {
        Some(_) => anyhow!("{}", error.render(&bytes, &name)),
        None => anyhow!("{name}: {error}"),
    });
    let written = written.map_err(Failure::Bad)?;
    match &args.output {
        Some(output) => write(output, written),
        None => print(&String::from_utf8_lossy(&written)),
    }
}

fn produce(name: &str, bytes: &[u8], args: &ConvertArgs) -> translate::Result<Vec<u8>> {
    let target = match args.to {
        Language::Wgsl => Target::Wgsl,
        Language::Glsl => Target::Glsl,
        Language::Msl => Target::Msl,
        Language::Hlsl => Target::Hlsl,
        Language::Spirv => Target::Spirv,
        Language::Vbc => return translate::sksl::to_vbc(&loader::sksl::read(bytes)?),
    };
    let mut source = Source::new(name, bytes)?;
    source.stage = args.stage.or(source.stage);
    source.entry = args.entry.as_deref();
    translate::write(&translate::read(&source)?, target, &Options::default())
}
