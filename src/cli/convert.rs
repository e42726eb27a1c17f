//! `skrymir convert`: a shader to another shading language.

use crate::error::Error;
use crate::outcome::{Failure, Outcome, print, read, write};
use crate::replay;
use clap::{Args, ValueEnum};
use lift::interface::Interface;
use loader::mbs::{self, Program, Stage};
use loader::trace::{self, Trace};
use std::path::PathBuf;
use translate::{Options, ShaderStage, Source, Target};
use utgard::shader;

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
    /// A SPIR-V module, a VBC file, an SkSL program, WGSL (.wgsl), GLSL (.vert, .frag), a Mali-400 program (MBS, or its
    /// text), or a driver's recorded jobs
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
    /// A Mali-400 program with its hardware's rounding, for pictures; without it is for reading
    #[arg(long)]
    pub exact: bool,
    /// The file is bare words of the vertex processor
    #[arg(long, conflicts_with = "pp")]
    pub gp: bool,
    /// The file is bare words of the fragment processor
    #[arg(long)]
    pub pp: bool,
    /// Of a recording: the geometry job, counted as `replay --dump` does
    #[arg(long, value_name = "N", requires = "draw")]
    pub job: Option<usize>,
    /// Of a recording: the draw of the job, from 0 on
    #[arg(long, value_name = "M", requires = "job")]
    pub draw: Option<usize>,
    /// Where to write instead of printing; SPIR-V and VBC are only written
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

impl Language {
    /// The language as shaders are translated to it; a VBC is a file of several.
    fn target(self) -> Option<Target> {
        match self {
            Self::Wgsl => Some(Target::Wgsl),
            Self::Glsl => Some(Target::Glsl),
            Self::Msl => Some(Target::Msl),
            Self::Hlsl => Some(Target::Hlsl),
            Self::Spirv => Some(Target::Spirv),
            Self::Vbc => None,
        }
    }
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
        return Err(Failure::usage(format_args!(
            "{:?} is not text: name a file with -o",
            args.to
        )));
    }
    let bytes = read(&args.file)?;
    let name = args.file.to_string_lossy();
    let recorded = recorded_program(&bytes, args)?;
    let found = match recorded {
        None => mali_program(&bytes, args)?.map(|program| (lift::interface(&program), program)),
        found => found,
    };
    if let Some((interface, program)) = found {
        let written = lifted(&program, &interface, args)?;
        return match &args.output {
            Some(output) => write(output, written),
            None => print(&String::from_utf8_lossy(&written)),
        };
    }
    if args.exact {
        return Err(Failure::usage("--exact is for Mali-400 programs"));
    }
    let written = produce(&name, &bytes, args).map_err(|error| match error.line_column() {
        Some(_) => Error::input(error.render(&bytes, &name)),
        None => Error::input(format_args!("{name}: {error}")),
    });
    let written = written.map_err(Failure::Bad)?;
    match &args.output {
        Some(output) => write(output, written),
        None => print(&String::from_utf8_lossy(&written)),
    }
}

fn produce(name: &str, bytes: &[u8], args: &ConvertArgs) -> translate::Result<Vec<u8>> {
    let Some(target) = args.to.target() else {
        return translate::sksl::to_vbc(&loader::sksl::read(bytes)?);
    };
    let mut source = Source::new(name, bytes)?;
    source.stage = args.stage.or(source.stage);
    source.entry = args.entry.as_deref();
    translate::write(&translate::read(&source)?, target, &Options::default())
}

/// The Mali-400 program that the file is, if it is one.
fn mali_program(bytes: &[u8], args: &ConvertArgs) -> Outcome<Option<Program>> {
    if args.gp || args.pp {
        let unit = if args.gp { 16 } else { 4 };
        if bytes.is_empty() || !bytes.len().is_multiple_of(unit) {
            return Err(Failure::bad(format!(
                "mali: {} bytes are no multiple of {unit}",
                bytes.len()
            )));
        }
        let words = bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        let stage = if args.gp { Stage::Vertex } else { Stage::Fragment };
        return Ok(Some(Program::new(stage, words.collect())));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| shader::recognises(text));
    let file = match text {
        Some(text) => shader::assemble(text).map_err(|error| {
            let text = error.render(text, &args.file.display().to_string());
            Failure::bad(format_args!("mbs: {error}\n{}", text.trim_end()))
        })?,
        None if bytes.starts_with(&mbs::MAGIC) => mbs::read(bytes)?,
        None => return Ok(None),
    };
    let mut programs = file.programs()?;
    if let Some(stage) = args.stage {
        let vertex = stage == ShaderStage::Vertex;
        programs.retain(|program| (program.stage == Stage::Vertex) == vertex);
    }
    match programs.len() {
        1 => Ok(programs.pop()),
        0 => Err(Failure::bad("mbs: the file has no program of that stage")),
        _ => Err(Failure::usage(
            "the file has programs of both stages: say --stage vert or --stage frag",
        )),
    }
}

/// The program of a recorded draw, if the file is a recording.
fn recorded_program(bytes: &[u8], args: &ConvertArgs) -> Outcome<Option<(Interface, Program)>> {
    let (job, number) = match (args.job, args.draw, bytes.starts_with(trace::MAGIC)) {
        (Some(job), Some(number), true) => (job, number),
        (_, _, true) => {
            let message = "trace: a recording has many programs: say --job, --draw and --stage";
            return Err(Failure::usage(message));
        }
        (Some(_), _, false) => return Err(Failure::usage("--job is for recordings")),
        _ => return Ok(None),
    };
    let draws = replay::draws(&Trace::read(bytes)?, job)?;
    let draw = draws.get(number).ok_or_else(|| {
        let count = draws.len();
        Failure::bad(format_args!(
            "trace: job {job} has {count} draws, and no number {number}"
        ))
    })?;
    let stage = match args.stage {
        Some(ShaderStage::Vertex) => Stage::Vertex,
        Some(ShaderStage::Fragment) => Stage::Fragment,
        _ => {
            let message = "trace: a draw has programs of both stages: say --stage vert or --stage frag";
            return Err(Failure::usage(message));
        }
    };
    match draw.program(stage) {
        Some(found) => Ok(Some(found)),
        None => Err(Failure::bad(format_args!(
            "trace: draw {number} of job {job} has positions that no program of the job made"
        ))),
    }
}

/// A Mali-400 program in another language. Clip space is the language's own.
fn lifted(program: &Program, interface: &Interface, args: &ConvertArgs) -> Outcome<Vec<u8>> {
    if args.entry.is_some() {
        return Err(Failure::usage(
            "--entry: a Mali-400 program has no names for entry points",
        ));
    }
    let target = args
        .to
        .target()
        .ok_or_else(|| Failure::usage("a VBC needs a vertex and a fragment program: skrymir pack"))?;
    let options = lift::Options {
        exact: args.exact,
        convention: lift::Convention {
            rows_down: args.to == Language::Spirv,
            height: None,
        },
        viewport: None,
    };
    let shader =
        lift::lift(program.stage, &program.code, interface, &options).map_err(|error| Failure::Bad(error.into()))?;
    Ok(translate::write(&shader, target, &Options::default())?)
}
