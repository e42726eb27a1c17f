//! `skrymir convert`: a shader to another shading language.

use crate::args::PreprocessArgs;
use crate::engines::Subject;
use crate::error::Error;
use crate::foreign;
use crate::formats::words;
use crate::outcome::{Failure, Outcome, print, read, write};
use crate::packed;
use crate::replay;
use crate::to_amber::to_amber;
use clap::{Args, ValueEnum};
use compiler::glsl_es::{self, vulkan::Linked};
use lift::interface::Interface;
use loader::mbs::{self, Program, Stage};
use loader::trace::{self, Trace};
use std::path::PathBuf;
use translate::frontend;
use translate::naga::back::{glsl, hlsl};
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
    /// A test script of what `run` draws of a scene and shaders, with the picture
    Amber,
}

/// Arguments of `convert`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir convert shader.spv --to wgsl
  skrymir convert shader.vbc --stage frag --to glsl --profile es310
  skrymir convert scene.toml shader.vert shader.frag --to amber -o draw.amber
  skrymir convert job.trace --job 0 --draw 2 --stage frag --to hlsl --shader-model 60")]
pub struct ConvertArgs {
    /// A SPIR-V module, a VBC file, an SkSL program, WGSL (.wgsl), GLSL (.vert, .frag), HLSL (.hlsl), a Mali-400 program (MBS, or its
    /// text), or a driver's recorded jobs
    pub file: PathBuf,
    /// Of a draw (--to amber): a scene and its shaders are several files
    pub more: Vec<PathBuf>,
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
    /// The version of GLSL: es300 to es320, core330 to core460 [default: core450]
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    pub profile: Option<glsl::Version>,
    /// The shader model of HLSL: 50, 51, 60 to 67 [default: 51]
    #[arg(long, value_name = "MODEL", value_parser = shader_model)]
    pub shader_model: Option<hlsl::ShaderModel>,
    /// The version of Metal's language: 1.0 to 3.1 [default: 1.0]
    #[arg(long, value_name = "VERSION", value_parser = metal_version)]
    pub metal_version: Option<(u8, u8)>,
    /// What sources are compiled with
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
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
            Self::Vbc | Self::Amber => None,
        }
    }
}

fn profile(name: &str) -> Result<glsl::Version, String> {
    let (es, number) = match name.strip_prefix("es") {
        Some(number) => (true, number),
        None => (false, name.strip_prefix("core").unwrap_or(name)),
    };
    let version = number.parse().ok().filter(|number| {
        let known: &[u16] = match es {
            true => &[300, 310, 320],
            false => &[330, 400, 410, 420, 430, 440, 450, 460],
        };
        known.contains(number)
    });
    match version {
        Some(number) if es => Ok(glsl::Version::new_gles(number)),
        Some(number) => Ok(glsl::Version::Desktop(number)),
        None => Err("a profile is es300, es310, es320 or core330 to core460".into()),
    }
}

fn shader_model(name: &str) -> Result<hlsl::ShaderModel, String> {
    use hlsl::ShaderModel::*;
    let models = [V5_0, V5_1, V6_0, V6_1, V6_2, V6_3, V6_4, V6_5, V6_6, V6_7];
    let digits = |model: &hlsl::ShaderModel| model.to_str().replace('_', "");
    let wanted = name.replace(['.', '_'], "");
    let found = models.into_iter().find(|model| digits(model) == wanted);
    found.ok_or_else(|| "a shader model is 50, 51 or 60 to 67".into())
}

fn metal_version(name: &str) -> Result<(u8, u8), String> {
    let wrong = || "a version of Metal's language is 1.0 to 1.2, 2.0 to 2.4, 3.0 or 3.1".to_owned();
    let (major, minor) = name.split_once('.').ok_or_else(wrong)?;
    let version = (major.parse().map_err(|_| wrong())?, minor.parse().map_err(|_| wrong())?);
    match version {
        (1, 0..=2) | (2, 0..=4) | (3, 0..=1) => Ok(version),
        _ => Err(wrong()),
    }
}

/// What the arguments say of the target; what is for another target is a mistake.
fn options(args: &ConvertArgs) -> Outcome<Options> {
    let given = [
        ("profile", args.profile.is_some(), Language::Glsl),
        ("shader-model", args.shader_model.is_some(), Language::Hlsl),
        ("metal-version", args.metal_version.is_some(), Language::Msl),
    ];
    if let Some((name, _, language)) = given
        .into_iter()
        .find(|(_, given, language)| *given && *language != args.to)
    {
        return Err(Failure::usage(format_args!(
            "--{name} is for --to {}",
            format!("{language:?}").to_lowercase()
        )));
    }
    let standard = Options::default();
    Ok(Options {
        glsl: args.profile.unwrap_or(standard.glsl),
        hlsl: args.shader_model.unwrap_or(standard.hlsl),
        msl: args.metal_version.unwrap_or(standard.msl),
    })
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

/// The script of a draw: a scene, and a VBC or the sources of its stages.
fn amber(args: &ConvertArgs) -> Outcome {
    let given = [
        ("--stage", args.stage.is_some()),
        ("--entry", args.entry.is_some()),
        ("--exact", args.exact),
        ("--gp", args.gp),
        ("--pp", args.pp),
        ("--job", args.job.is_some()),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format_args!("{flag} means nothing for --to amber")));
    }
    let is_scene = |path: &&PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == "toml" || ending == "json")
    };
    let files: Vec<&PathBuf> = [&args.file].into_iter().chain(&args.more).collect();
    let (scenes, shaders): (Vec<_>, Vec<_>) = files.into_iter().partition(is_scene);
    let (scene, first, second) = match (&scenes[..], &shaders[..]) {
        ([] | [_], [first]) => (scenes.first(), first, None),
        ([] | [_], [first, second]) => (scenes.first(), first, Some(second)),
        _ => {
            return Err(Failure::usage(
                "a draw is one scene at most, and one or two files of shaders",
            ));
        }
    };
    let scene = super::draw::scene(scene.map(|path| path.as_path()))?;
    let subject = Subject::load(first, second.map(|path| path.as_path()), &args.preprocess).map_err(Failure::Bad)?;
    let Subject::Vbc(bytes, _) = subject else {
        return Err(Failure::usage(
            "programs of a Mali-400 are no scripts: there is no Vulkan in them",
        ));
    };
    let context = vulkan::Context::new(&vulkan::Options::default()).map_err(Error::from)?;
    let text = to_amber(&context, &bytes, &scene).map_err(Failure::Bad)?;
    match &args.output {
        Some(output) => write(output, text),
        None => print(&text),
    }
}

pub(super) fn run(args: &ConvertArgs) -> Outcome {
    if args.to == Language::Amber {
        options(args)?;
        return amber(args);
    }
    if !args.more.is_empty() {
        return Err(Failure::usage("several files are for --to amber"));
    }
    let binary = matches!(args.to, Language::Spirv | Language::Vbc);
    if binary && args.output.is_none() {
        return Err(Failure::usage(format_args!(
            "{:?} is not text: name a file with -o",
            args.to
        )));
    }
    let options = options(args)?;
    let bytes = read(&args.file)?;
    let name = args.file.to_string_lossy();
    let recorded = recorded_program(&bytes, args)?;
    let found = match recorded {
        None => mali_program(&bytes, args)?.map(|program| (lift::interface(&program), program)),
        found => found,
    };
    if let Some((interface, program)) = found {
        let written = lifted(&program, &interface, args, &options)?;
        return match &args.output {
            Some(output) => write(output, written),
            None => print(&String::from_utf8_lossy(&written)),
        };
    }
    if args.exact {
        return Err(Failure::usage("--exact is for Mali-400 programs"));
    }
    let settings = args.preprocess.settings([(args.file.as_path(), bytes.as_slice())])?;
    let told = |error: translate::Error| match error.line_column() {
        Some(_) => Error::input(error.render(&bytes, &name)),
        None => Error::input(format_args!("{name}: {error}")),
    };
    let written = match args.to.target() {
        None => loader::sksl::read(&bytes)
            .map_err(translate::Error::from)
            .and_then(|tree| translate::sksl::to_vbc(&tree))
            .map_err(told),
        Some(target) => Source::new(&name, &bytes).map_err(told).and_then(|source| {
            let source = Source {
                stage: args.stage.or(source.stage),
                entry: args.entry.as_deref(),
                ..source.with(&args.file, &settings)
            };
            produce(&source, target, &options, told)
        }),
    };
    let written = written.map_err(Failure::Bad)?;
    match &args.output {
        Some(output) => write(output, written),
        None => print(&String::from_utf8_lossy(&written)),
    }
}

/// A source in another language; GLSL ES 1.00 and its like go by way of a stage for Vulkan.
fn produce(
    source: &Source<'_>,
    target: Target,
    options: &Options,
    told: impl Fn(translate::Error) -> Error,
) -> crate::error::Result<Vec<u8>> {
    let module = match glsl_es::is_old(source) {
        true => old(source)?,
        false => match translate::read(source) {
            Ok(shader) => return translate::write(&shader, target, options).map_err(told),
            Err(error) => {
                let stage = source.stage.and_then(frontend::Stage::of_naga);
                match foreign::module(source, stage, &error) {
                    Some(module) => module?,
                    None => return Err(told(error)),
                }
            }
        },
    };
    let shader = Source::new("stage.spv", &module).and_then(|source| translate::read(&source));
    shader
        .and_then(|shader| translate::write(&shader, target, options))
        .map_err(told)
}

/// The module of a text in one of the old languages.
fn old(source: &Source<'_>) -> crate::error::Result<Vec<u8>> {
    let stage = match source.stage {
        Some(ShaderStage::Vertex) => loader::vbc::Stage::Vert,
        Some(ShaderStage::Fragment) => loader::vbc::Stage::Frag,
        _ => return Err(Error::usage("say which stage it is: --stage vert or --stage frag")),
    };
    let file = packed::File {
        path: source.path,
        bytes: source.bytes,
        entries: &[],
        settings: source.settings,
    };
    let words = packed::stage(&file, stage, &mut Linked::default())?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// The Mali-400 program that the file is, if it is one.
fn mali_program(bytes: &[u8], args: &ConvertArgs) -> Outcome<Option<Program>> {
    if args.gp || args.pp {
        let words = if args.gp { words::GP } else { words::PP };
        return Ok(Some(words.program(bytes)?));
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
fn lifted(program: &Program, interface: &Interface, args: &ConvertArgs, written: &Options) -> Outcome<Vec<u8>> {
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
    Ok(translate::write(&shader, target, written)?)
}
