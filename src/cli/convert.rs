//! `skrymir convert`: a shader to another shading language.

use super::draw::with_files;
use crate::cli::args::PreprocessArgs;
use crate::cli::cleanup::clean_up_on_signals;
use crate::cli::error::Error;
use crate::cli::formats::words;
use crate::cli::log::note;
use crate::cli::outcome::{Failure, Outcome, apart, print, print_json, read, write};
use clap::{Args, ValueEnum};
use compiler::glsl_es::{self, vulkan::Linked};
use lift::interface::Interface;
use loader::mbs::{self, Program, Stage};
use loader::trace::{self, Trace};
use runner::amber::to_amber;
use runner::engines::Subject;
use runner::external_compilers;
use runner::link;
use runner::replay;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use translate::frontend;
use translate::naga::back::{glsl, hlsl};
use translate::{Adjust, At, Check, Depth, Options, ShaderStage, Source, Target, Translation, Way};
use utgard::shader;

/// The output of `convert`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// WGSL
    #[default]
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
    /// A test script with the draw of a scene and shaders, and its picture
    Amber,
}

/// The conversion of depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DepthArg {
    /// From 0..w to -w..w, for OpenGL
    ToGl,
    /// From -w..w to 0..w
    FromGl,
}

/// Arguments of `convert`.
#[derive(Args, Debug, Default)]
#[command(
    after_help = "GLSL, HLSL and MSL of SPIR-V, of a VBC's stage and of GLSL and HLSL are written by SPIRV-Cross, all else by naga. What is
written is read again: GLSL and HLSL by glslang, WGSL by naga, SPIR-V by Skrymir's own rules; MSL is not checked.

Examples:
  skrymir convert shader.spv --to wgsl
  skrymir convert *.spv --to msl -o metal/
  skrymir convert shader.vbc --stage frag --to glsl --profile es310
  skrymir convert scene.toml shader.vert shader.frag --to amber -o draw.amber
  skrymir convert job.trace --job 0 --draw 2 --stage frag --to hlsl --shader-model 60"
)]
pub(crate) struct ConvertArgs {
    /// A SPIR-V module, a VBC file, an SkSL program, WGSL (.wgsl), GLSL (.vert, .frag), HLSL (.hlsl), a Mali-400 program (MBS, or its
    /// text), or a driver's recorded jobs; of a draw (--to amber), a scene and its shaders
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The language to write
    #[arg(long)]
    pub to: Language,
    /// The stage, if the file has several: vert or frag
    #[arg(long, value_parser = parse_stage)]
    pub stage: Option<ShaderStage>,
    /// The entry point, if the stage has several
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Keep the hardware's rounding of a Mali-400 program, for pictures; the default is readable text
    #[arg(long)]
    pub exact: bool,
    /// The file contains bare words of the vertex processor
    #[arg(long, conflicts_with = "pp")]
    pub gp: bool,
    /// The file contains bare words of the fragment processor
    #[arg(long)]
    pub pp: bool,
    /// For a Mali-400 vertex program: the uniform with the viewport's scale, followed by its offset, by name or, for
    /// bare words, by number
    #[arg(long, value_name = "UNIFORM")]
    pub viewport: Option<String>,
    /// For a recording: the geometry job, numbered as by `replay --dump`
    #[arg(long, value_name = "N", requires = "draw")]
    pub job: Option<usize>,
    /// For a recording: the draw of the job, from 0
    #[arg(long, value_name = "M", requires = "job")]
    pub draw: Option<usize>,
    /// The version of GLSL: es100, es300 to es320, core330 to core460, or vulkan for text to be compiled to SPIR-V [default:
    /// core450, or core460 if required]
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    pub profile: Option<Profile>,
    /// The shader model of HLSL: 50, 51, 60 to 67 [default: the oldest sufficient one of 51, 60, 62 and 67]
    #[arg(long, value_name = "MODEL", value_parser = shader_model)]
    pub shader_model: Option<hlsl::ShaderModel>,
    /// The version of Metal's language: 1.0 to 3.1 [default: the oldest sufficient one of 1.2, 2.1, 2.4 and 3.1]
    #[arg(long, value_name = "VERSION", value_parser = metal_version)]
    pub metal_version: Option<(u8, u8)>,
    /// Settings of front ends
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// Rename a variable, type or member
    #[arg(long = "rename", value_name = "OLD=NEW", value_parser = renaming)]
    pub names: Vec<(String, String)>,
    /// Move a descriptor set and binding to another: 0.3=1.0
    #[arg(long = "bind", value_name = "SET.BINDING=SET.BINDING", value_parser = binding)]
    pub places: Vec<([u32; 2], [u32; 2])>,
    /// Rename the entry point; GLSL always uses main
    #[arg(long, value_name = "NAME", value_parser = identifier)]
    pub rename_entry: Option<String>,
    /// Flip the y of a vertex stage's positions
    #[arg(long)]
    pub flip_y: bool,
    /// Convert the depth of a vertex stage's positions from 0..w to -w..w (to-gl), or back
    #[arg(long)]
    pub depth: Option<DepthArg>,
    /// Skip the check of the output
    #[arg(long)]
    pub no_check: bool,
    /// Print the result for each file as JSON: which tools wrote and checked it, the places of its resources, and
    /// without -o the text (`skrymir schema convert`)
    #[arg(long)]
    pub json: bool,
    /// Output file, instead of standard output; SPIR-V and VBC need one. For several files, or if it exists as one, a
    /// folder: a.frag becomes a.frag.wgsl, and a table lists the results
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

impl Language {
    /// The extension of its files.
    fn ending(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Glsl => "glsl",
            Self::Msl => "metal",
            Self::Hlsl => "hlsl",
            Self::Spirv => "spv",
            Self::Vbc => "vbc",
            Self::Amber => "amber",
        }
    }

    /// The target of a translation; none for containers of several shaders.
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

/// The version of GLSL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Profile {
    /// OpenGL's, of a version.
    OpenGl(glsl::Version),
    /// Vulkan's.
    Vulkan,
}

fn profile(name: &str) -> Result<Profile, String> {
    if name == "vulkan" {
        return Ok(Profile::Vulkan);
    }
    let (es, number) = match name.strip_prefix("es") {
        Some(number) => (true, number),
        None => (false, name.strip_prefix("core").unwrap_or(name)),
    };
    let version = number.parse().ok().filter(|number| {
        let known: &[u16] = match es {
            true => &[100, 300, 310, 320],
            false => &[330, 400, 410, 420, 430, 440, 450, 460],
        };
        known.contains(number)
    });
    match version {
        Some(number) if es => Ok(Profile::OpenGl(glsl::Version::new_gles(number))),
        Some(number) => Ok(Profile::OpenGl(glsl::Version::Desktop(number))),
        None => Err("a profile is es100, es300, es310, es320, core330 to core460, or vulkan".into()),
    }
}

/// A valid identifier in every language.
fn identifier(name: &str) -> Result<String, String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_letter) {
        true => Ok(name.to_owned()),
        false => Err("a name is letters, digits and underscores, a letter first".into()),
    }
}

fn renaming(text: &str) -> Result<(String, String), String> {
    let (old, new) = text.split_once('=').ok_or("it is OLD=NEW")?;
    Ok((old.to_owned(), identifier(new)?))
}

fn binding(text: &str) -> Result<([u32; 2], [u32; 2]), String> {
    let wrong = "it is SET.BINDING=SET.BINDING, such as 0.3=1.0";
    let place = |text: &str| {
        let (set, binding) = text.split_once('.')?;
        Some([set.parse().ok()?, binding.parse().ok()?])
    };
    let (old, new) = text.split_once('=').ok_or(wrong)?;
    Ok((place(old).ok_or(wrong)?, place(new).ok_or(wrong)?))
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

/// The options of the target; an option of another target is an error.
pub(super) fn options(args: &ConvertArgs) -> Outcome<Options> {
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
    if args.no_check && matches!(args.to, Language::Msl | Language::Vbc | Language::Amber) {
        return Err(Failure::usage("--no-check: this output is not checked anyway"));
    }
    let adjust = Adjust {
        names: args.names.clone(),
        places: args.places.clone(),
        entry: args.rename_entry.clone(),
        flip_y: args.flip_y,
        depth: args.depth.map(|depth| match depth {
            DepthArg::ToGl => Depth::ToOpenGl,
            DepthArg::FromGl => Depth::FromOpenGl,
        }),
    };
    if args.rename_entry.is_some() && args.to == Language::Glsl {
        return Err(Failure::usage("--rename-entry: GLSL has every entry point as main"));
    }
    if !adjust.is_nothing() && matches!(args.to, Language::Vbc | Language::Amber) {
        return Err(Failure::usage(
            "--rename, --bind, --rename-entry, --flip-y and --depth are for shading languages",
        ));
    }
    Ok(Options {
        adjust,
        glsl: args.profile.and_then(|profile| match profile {
            Profile::OpenGl(version) => Some(version),
            Profile::Vulkan => None,
        }),
        vulkan: args.profile == Some(Profile::Vulkan),
        hlsl: args.shader_model,
        msl: args.metal_version,
        check: !args.no_check,
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
    // Texts may need an installed compiler.
    clean_up_on_signals();
    let given = [
        ("--stage", args.stage.is_some()),
        ("--entry", args.entry.is_some()),
        ("--exact", args.exact),
        ("--gp", args.gp),
        ("--pp", args.pp),
        ("--job", args.job.is_some()),
        ("--viewport", args.viewport.is_some()),
        ("--json", args.json),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format_args!("{flag} means nothing for --to amber")));
    }
    let is_scene = |path: &&PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == "toml" || ending == "json")
    };
    let (scenes, shaders): (Vec<_>, Vec<_>) = args.files.iter().partition(is_scene);
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
    let second = second.map(|path| path.as_path());
    let subject = with_files(first, second, &args.preprocess, |first, second| {
        Subject::new(first, second).map_err(|error| Failure::Bad(error.into()))
    })?;
    let Some(made) = subject.into_vbc() else {
        return Err(Failure::usage(
            "programs of a Mali-400 are no scripts: there is no Vulkan in them",
        ));
    };
    let context = vulkan::Context::new(&vulkan::Options::default()).map_err(Error::from)?;
    let text = to_amber(&context, &made?, &scene).map_err(|error| Failure::Bad(error.into()))?;
    match &args.output {
        Some(output) => write(output, text),
        None => print(&text),
    }
}

pub(super) fn run(args: &ConvertArgs) -> Outcome {
    apart(args.json, args.output.as_deref())?;
    if args.to == Language::Amber {
        options(args)?;
        return amber(args);
    }
    let binary = matches!(args.to, Language::Spirv | Language::Vbc);
    if binary && args.output.is_none() {
        return Err(Failure::usage(format_args!(
            "{:?} is not text: name a file with -o",
            args.to
        )));
    }
    let options = options(args)?;
    match (&args.files[..], &args.output) {
        ([file], output) if !output.as_ref().is_some_and(|output| output.is_dir()) => one(file, args, &options),
        (_, None) => Err(Failure::usage("several files are written to a folder: name it with -o")),
        (files, Some(folder)) => several(files, folder, args, &options),
    }
}

/// Converts one file, to standard output or a file.
fn one(file: &Path, args: &ConvertArgs, options: &Options) -> Outcome {
    let written = converted(file, args, options)?;
    if written.way == Way::SpirvCrossVulkan && !options.vulkan {
        let file = file.display();
        note(format_args!(
            "{file}: note[vulkan]: OpenGL cannot say it: this is GLSL for Vulkan"
        ));
    }
    if written.check == Check::NoStage {
        let file = file.display();
        note(format_args!(
            "{file}: note[stage]: Metal has no such stage: the text is for reading"
        ));
    }
    if let Some(output) = &args.output {
        write(output, &written.bytes)?;
    }
    match (args.json, &args.output) {
        (true, output) => print_json(&Value::Array(vec![to_json(file, &Ok((output.clone(), written)))])),
        (false, Some(_)) => Ok(()),
        (false, None) => print(&String::from_utf8_lossy(&written.bytes)),
    }
}

/// The result of a file: its output, if it is a file, or the failure.
type Converted = Result<(Option<PathBuf>, Translation), Failure>;

/// Converts every file into a folder, and prints a table.
fn several(files: &[PathBuf], folder: &Path, args: &ConvertArgs, options: &Options) -> Outcome {
    let mut places: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    let mut outputs = Vec::new();
    for file in files {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(args.to.ending());
        let output = folder.join(name);
        if let Some(other) = places.insert(output.clone(), file) {
            let message = format!(
                "{} and {} would both be {}",
                other.display(),
                file.display(),
                output.display()
            );
            return Err(Failure::usage(message));
        }
        outputs.push(output);
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        Failure::usage(format_args!("cannot make the folder {folder}: {error}"))
    })?;
    let (mut rows, mut lines) = (Vec::new(), String::new());
    let (mut refused, mut trouble) = (0, false);
    for (file, output) in files.iter().zip(outputs) {
        let result: Converted = converted(file, args, options).and_then(|written| {
            write(&output, &written.bytes)?;
            Ok((Some(output), written))
        });
        lines += &line(file, args, &result);
        if let Err(failure) = &result {
            refused += 1;
            trouble |= !matches!(failure, Failure::Bad(_));
        }
        rows.push(to_json(file, &result));
    }
    match args.json {
        true => print_json(&Value::Array(rows))?,
        false => {
            let written = files.len() - refused;
            print(&format!("{lines}{written} of {} files written\n", files.len()))?;
        }
    }
    match (refused, trouble) {
        (0, _) => Ok(()),
        (_, true) => Err(Failure::Reported(crate::cli::error::Cause::Trouble)),
        (_, false) => Err(Failure::Reported(crate::cli::error::Cause::Bad)),
    }
}

/// A row of the table.
fn line(file: &Path, args: &ConvertArgs, result: &Converted) -> String {
    let name = file.display();
    match result {
        Ok((output, written)) => {
            let language = format!("{} {}", args.to.ending(), written.version);
            let output = output.as_deref().unwrap_or(Path::new("-"));
            format!(
                "{name}: {}: {}, by {}, {}\n",
                output.display(),
                language.trim_end(),
                written.way,
                written.check
            )
        }
        Err(failure) => format!("{name}: refused: {}\n", first_line(failure, file)),
    }
}

/// The failure in one line, without the file's name.
fn first_line(failure: &Failure, file: &Path) -> String {
    let said = failure.to_string();
    let said = said.strip_prefix(&format!("{}: ", file.display())).unwrap_or(&said);
    said.lines().next().unwrap_or_default().to_owned()
}

/// The result of a file as JSON.
fn to_json(file: &Path, result: &Converted) -> Value {
    match result {
        Ok((output, written)) => json!({
            "file": file.to_string_lossy(),
            "output": output.as_ref().map(|output| output.to_string_lossy()),
            "text": output.is_none().then(|| String::from_utf8_lossy(&written.bytes)),
            "writer": written.way.to_string(),
            "version": written.version,
            "check": written.check.to_string(),
            "resources": written.places.iter().map(resource).collect::<Vec<_>>(),
            "refused": null,
        }),
        Err(failure) => json!({
            "file": file.to_string_lossy(),
            "output": null,
            "refused": first_line(failure, file),
        }),
    }
}

/// A resource: its place in the module, and its place in the text.
fn resource(place: &translate::Place) -> Value {
    let at = match &place.at {
        At::Binding(binding) => json!({ "binding": binding }),
        At::Combined(pairs) => {
            let one = |(name, binding): &(String, u32)| json!({ "name": name, "binding": binding });
            json!({ "combined": pairs.iter().map(one).collect::<Vec<_>>() })
        }
        At::Registers(registers) => json!({ "at": registers }),
        _ => Value::Null,
    };
    json!({ "kind": place.kind, "name": place.name, "set": place.set, "binding": place.binding, "written": at })
}

/// Converts a file.
fn converted(file: &Path, args: &ConvertArgs, options: &Options) -> Outcome<Translation> {
    converted_bytes(file, &read(file)?, args, options)
}

/// Converts the bytes of a file.
pub(super) fn converted_bytes(
    file: &Path,
    bytes: &[u8],
    args: &ConvertArgs,
    options: &Options,
) -> Outcome<Translation> {
    let name = file.to_string_lossy();
    let recorded = recorded_program(bytes, args)?;
    let found = match recorded {
        None => mali_program(file, bytes, args)?.map(|program| (lift::interface(&program), program)),
        found => found,
    };
    if let Some((interface, program)) = found {
        return lifted(file, &program, interface, args, options);
    }
    if args.exact {
        return Err(Failure::usage("--exact is for Mali-400 programs"));
    }
    if args.viewport.is_some() {
        return Err(Failure::usage("--viewport is for Mali-400 vertex programs"));
    }
    let settings = args.preprocess.settings([(file, bytes)])?;
    let rendered = |error: translate::Error| match error.line_column() {
        Some(_) => Error::input(error.render(bytes, &name)),
        None => Error::input(format_args!("{name}: {error}")),
    };
    let written = match args.to.target() {
        None => loader::sksl::read(bytes)
            .map_err(translate::Error::from)
            .and_then(|tree| translate::sksl::to_vbc(&tree))
            .map(Translation::unchecked)
            .map_err(rendered),
        Some(target) => Source::new(&name, bytes).map_err(rendered).and_then(|source| {
            let source = Source {
                stage: args.stage.or(source.stage),
                entry: args.entry.as_deref(),
                ..source.with(file, &settings)
            };
            produce(&source, target, options, rendered)
        }),
    };
    written.map_err(Failure::Bad)
}

/// Translates a source; GLSL ES 1.00 and old GLSL become a stage for Vulkan first.
fn produce(
    source: &Source<'_>,
    target: Target,
    options: &Options,
    rendered: impl Fn(translate::Error) -> Error,
) -> crate::cli::error::Result<Translation> {
    // Texts may need an installed compiler.
    if !matches!(source.language, translate::Language::Spirv | translate::Language::Vbc) {
        clean_up_on_signals();
    }
    let module = match glsl_es::is_old(source) {
        true => link::has_main(source).map_err(Error::from).and_then(|()| old(source))?,
        false => match translate::translate(source, target, options) {
            Ok(written) => return Ok(written),
            Err(error) => {
                let stage = source.stage.and_then(frontend::Stage::of_naga);
                match external_compilers::module(source, stage, &error) {
                    Some(module) => module?,
                    None => return Err(rendered(error)),
                }
            }
        },
    };
    let source = Source::new("stage.spv", &module);
    source
        .and_then(|source| translate::translate(&source, target, options))
        .map_err(rendered)
}

/// The module of a text in one of the old languages.
fn old(source: &Source<'_>) -> crate::cli::error::Result<Vec<u8>> {
    let stage = match source.stage {
        Some(ShaderStage::Vertex) => loader::vbc::Stage::Vert,
        Some(ShaderStage::Fragment) => loader::vbc::Stage::Frag,
        _ => return Err(Error::usage("say which stage it is: --stage vert or --stage frag")),
    };
    let file = link::File {
        path: source.path,
        bytes: source.bytes,
        entries: &[],
        settings: source.settings,
    };
    let words = link::stage(&file, stage, &mut Linked::default())?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// The file's Mali-400 program, if it is one.
fn mali_program(path: &Path, bytes: &[u8], args: &ConvertArgs) -> Outcome<Option<Program>> {
    if args.gp || args.pp {
        let own = if args.gp {
            ShaderStage::Vertex
        } else {
            ShaderStage::Fragment
        };
        if args.stage.is_some_and(|stage| stage != own) {
            return Err(Failure::usage(
                "--gp are words of a vertex stage, --pp of a fragment stage",
            ));
        }
        let words = if args.gp { words::GP } else { words::PP };
        return Ok(Some(words.program(bytes)?));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| shader::recognises(text));
    let file = match text {
        Some(text) => shader::assemble(text).map_err(|error| {
            let text = error.render(text, &path.display().to_string());
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
    if args.gp || args.pp {
        return Err(Failure::usage("--gp and --pp are for bare words: this is a recording"));
    }
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

/// The first float of the uniform that the viewport is in: by name, or by number of four floats each.
fn viewport(program: &Program, interface: &Interface, uniform: &str) -> Outcome<u32> {
    if program.stage != Stage::Vertex {
        return Err(Failure::usage("--viewport is for Mali-400 vertex programs"));
    }
    let mut named = interface.uniforms.iter();
    if let Some(found) = named.find(|found| found.name == uniform) {
        return Ok(found.float);
    }
    // Scale and offset are two.
    let last = u32::from(utgard::gp::flow::MEMORY_VEC4S) - 2;
    match uniform.parse::<u32>() {
        Ok(number) if number <= last => Ok(4 * number),
        _ => {
            let have: Vec<&str> = interface.uniforms.iter().map(|known| known.name.as_str()).collect();
            let have = match have.is_empty() {
                true => format!("its uniforms have numbers, 0 to {last}"),
                false => format!("it has {}, and numbers 0 to {last}", have.join(", ")),
            };
            Err(Failure::usage(format_args!(
                "the program has no uniform {uniform}; {have}"
            )))
        }
    }
}

/// A Mali-400 program in another language. Clip space is the language's own.
fn lifted(
    file: &Path,
    program: &Program,
    mut interface: Interface,
    args: &ConvertArgs,
    written: &Options,
) -> Outcome<Translation> {
    if args.entry.is_some() {
        return Err(Failure::usage(
            "--entry: a Mali-400 program has no names for entry points",
        ));
    }
    if args.preprocess.is_said() {
        return Err(Failure::usage("-D, -I and --constant are for sources of shaders"));
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
    if let Some(uniform) = &args.viewport {
        interface.viewport = Some(viewport(program, &interface, uniform)?);
    }
    let lift = |interface: &Interface| lift::lift(program.stage, &program.code, interface, &options);
    let shader = match lift(&interface) {
        Err(error) if program.stage == Stage::Vertex && interface.viewport.is_none() => {
            interface.in_window = true;
            let shader = lift(&interface).map_err(|_| Failure::Bad(error.into()))?;
            let file = file.display();
            note(format_args!(
                "{file}: note[window]: the position is in the window: where the viewport is is not known (--viewport UNIFORM says it)"
            ));
            shader
        }
        shader => shader.map_err(|error| Failure::Bad(error.into()))?,
    };
    Ok(translate::translate_shader(&shader, target, written)?)
}
