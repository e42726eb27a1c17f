//! `skrymir compile`: a shader to Mali-400 machine code.

use crate::cli::args::PreprocessArgs;
use crate::cli::error::Error;
use crate::cli::outcome::{Failure, Outcome, apart, print, read, write};
use clap::{Args, ValueEnum};
use compiler::{Options, Stage};
use loader::mbs::Mbs;
use runner::compile::{Wanted, compile};
use std::path::PathBuf;
use translate::{ShaderStage, Source};

/// A stage by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StageName {
    /// Vertex processor
    Vert,
    /// Fragment processor
    Frag,
}

impl From<StageName> for ShaderStage {
    fn from(stage: StageName) -> Self {
        match stage {
            StageName::Vert => Self::Vertex,
            StageName::Frag => Self::Fragment,
        }
    }
}

/// Arguments of `compile`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir compile lit.frag -o lit.mbs --report
  skrymir compile both.wgsl --stage frag --entry paint --text")]
pub(crate) struct CompileArgs {
    /// WGSL, GLSL (.vert, .frag; also ES), HLSL, SPIR-V, a VBC file or an SkSL program
    pub file: PathBuf,
    /// The entry point, if the stage has several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The stage, if the file has several
    #[arg(long)]
    pub stage: Option<StageName>,
    /// Settings of front ends
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Output file for the program (MBS)
    #[arg(short, long, required_unless_present_any = ["report", "text", "json"])]
    pub output: Option<PathBuf>,
    /// Print the program's cost
    #[arg(long)]
    pub report: bool,
    /// Print the report as JSON (`skrymir schema compile`)
    #[arg(long)]
    pub json: bool,
    /// Print the program as assembly
    #[arg(long, conflicts_with = "json")]
    pub text: bool,
    /// Fragment programs: pack instructions only in combinations that a real driver is known to use
    #[arg(long)]
    pub conservative: bool,
}

pub(super) fn run(args: &CompileArgs) -> Outcome {
    apart(args.json, args.output.as_deref())?;
    let bytes = read(&args.file)?;
    let own = Source::new(&args.file.to_string_lossy(), &bytes)
        .ok()
        .and_then(|source| source.stage);
    if let (Some(own), Some(wanted)) = (own, args.stage)
        && own != ShaderStage::from(wanted)
    {
        return Err(Failure::usage(format_args!(
            "--stage: {} is a {} stage by its name",
            args.file.display(),
            format!("{own:?}").to_lowercase()
        )));
    }
    let settings = args.preprocess.settings([(args.file.as_path(), bytes.as_slice())])?;
    let wanted = Wanted {
        stage: args.stage.map(|stage| match stage {
            StageName::Vert => Stage::Vertex,
            StageName::Frag => Stage::Fragment,
        }),
        entry: args.entry.as_deref(),
        options: Options {
            conservative: args.conservative,
        },
        settings: &settings,
    };
    let compiled = compile(&args.file, &bytes, wanted)?;
    let mbs = Mbs::of(std::slice::from_ref(&compiled.program));
    if let Some(output) = &args.output {
        write(output, mbs.write())?;
    }
    if args.text {
        let text = utgard::shader::disassemble(&mbs).map_err(Failure::bad)?;
        print(&text)?;
    }
    if args.json {
        let json = serde_json::to_string_pretty(&compiled.report).map_err(Error::from)?;
        print(&format!("{json}\n"))?;
    } else if args.report {
        print(&compiled.report.to_string())?;
    }
    Ok(())
}
