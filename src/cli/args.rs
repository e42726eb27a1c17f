//! Arguments of the verbs that formats implement.
//!
//! An argument that only some formats take is listed by those ([`Format::flags`](crate::cli::formats::Format::flags)); for
//! others it is a usage error.

use crate::cli::error::{Error, Result};
use crate::cli::expect::ExpectArgs;
use crate::cli::uniforms::UniformArgs;
use clap::Args;
use runner::link::Entry;
use runner::script::RoundTrip;
use std::path::{Path, PathBuf};
use translate::frontend::Settings;

/// Formats by name; a test compares them with the implemented formats.
pub(crate) const FORMATS: [&str; 10] = [
    "vbc", "mbs", "spirv", "sl", "trace", "sksl", "gp", "pp", "script", "source",
];

/// Concatenates two lists of flags; `N` is the length of both.
///
/// # Panics
/// When both are not `N` together.
pub(crate) const fn and<const N: usize>(list: &[&'static str], more: &[&'static str]) -> [&'static str; N] {
    assert!(list.len() + more.len() == N, "N is the length of both lists");
    let mut all = [""; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < list.len() {
            list[at]
        } else {
            more[at - list.len()]
        };
        at += 1;
    }
    all
}

/// Settings of front ends.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PreprocessArgs {
    /// Define a name before the first line of GLSL, GLSL ES or HLSL [default value: 1]
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
    /// A folder to search for files that GLSL, GLSL ES or HLSL include, after the text's own folder
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Set an `override` of WGSL, by its name or its `@id`
    #[arg(long = "constant", value_name = "NAME=VALUE", value_parser = parse_constant)]
    pub constants: Vec<(String, String)>,
}

impl PreprocessArgs {
    /// Whether the command line says anything of texts.
    pub(crate) fn is_said(&self) -> bool {
        !self.defines.is_empty() || !self.folders.is_empty() || !self.constants.is_empty()
    }

    /// The settings of the arguments.
    ///
    /// # Errors
    /// When an argument applies to none of the files.
    pub(crate) fn settings<'a>(&self, files: impl IntoIterator<Item = (&'a Path, &'a [u8])>) -> Result<Settings> {
        let mut preprocessed = false;
        let mut has_overrides = false;
        if self.is_said() {
            for (path, bytes) in files {
                match translate::Source::new(&path.to_string_lossy(), bytes).map(|source| source.language) {
                    Ok(translate::Language::Glsl | translate::Language::Hlsl) => preprocessed = true,
                    Ok(translate::Language::Wgsl) => has_overrides = true,
                    _ => {}
                }
            }
        }
        let wants_text = !self.defines.is_empty() || !self.folders.is_empty();
        if wants_text && !preprocessed {
            return Err(Error::usage("-D and -I are for texts of GLSL, GLSL ES and HLSL"));
        }
        if !self.constants.is_empty() && !has_overrides {
            return Err(Error::usage("--constant is for WGSL"));
        }
        Ok(Settings {
            defines: self.defines.clone(),
            folders: self.folders.clone(),
            constants: self.constants.clone(),
            by_naga: false,
        })
    }
}

/// A macro, as `NAME` or `NAME=VALUE`.
///
/// # Errors
/// When it is no name.
pub(crate) fn parse_define(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    // A macro with parameters: `F(x)=x`.
    let word = name.split('(').next().unwrap_or_default();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = word.starts_with(|c: char| is_letter(c) && !c.is_ascii_digit()) && word.chars().all(is_letter);
    if !is_name || text.contains(['\n', '\0']) {
        return Err(Error::usage("a definition is NAME or NAME=VALUE, such as SCALE=2.0"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A constant and its value, as `NAME=VALUE`.
///
/// # Errors
/// Without a name or a value.
pub(crate) fn parse_constant(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Error::usage("a constant is NAME=VALUE, such as count=4")),
    }
}

/// The format of a file, if detection by its first bytes fails.
#[derive(Args, Clone, Debug, Default)]
pub struct FormatArgs {
    /// Read the file as this format, regardless of its first bytes
    #[arg(long = "as", value_name = "FORMAT", value_parser = FORMATS, conflicts_with_all = ["gp", "pp"])]
    pub format: Option<String>,
    /// The file contains bare words of a Mali-400 vertex program (`--as gp`)
    #[arg(long, conflicts_with = "pp")]
    pub gp: bool,
    /// The file contains bare words of a Mali-400 fragment program (`--as pp`)
    #[arg(long)]
    pub pp: bool,
}

impl FormatArgs {
    /// The name of the format that was asked for.
    pub fn name(&self) -> Option<&str> {
        match (self.gp, self.pp) {
            (true, _) => Some("gp"),
            (_, true) => Some("pp"),
            _ => self.format.as_deref(),
        }
    }
}

/// Arguments of `info`.
#[derive(Args, Debug, Default)]
#[command(after_help = "Examples:
  skrymir info shader.vbc
  skrymir info job.trace --json
  skrymir info words.bin --gp
  skrymir info game.pak --extract shaders")]
pub(crate) struct InfoArgs {
    /// The file, or - for standard input
    pub file: PathBuf,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Write the VBC, MBS, SPIR-V and SkSL files that are inside the file into a folder
    #[arg(long, value_name = "DIR")]
    pub extract: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug, Default)]
#[command(after_help = "Examples:
  skrymir check *.vbc
  skrymir check shader.spv --target-env vulkan1.2
  skrymir check words.bin --pp --json")]
pub struct CheckArgs {
    /// The files, or - for standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// A grammar to extend the built-in one, or SET=FILE for an extended instruction set (SPIR-V)
    #[arg(long)]
    pub grammar: Vec<String>,
    /// The target environment to validate for, by SPIRV-Tools' names: spv1.0 to spv1.6, vulkan1.0 to vulkan1.4 (SPIR-V)
    #[arg(long, value_name = "ENV", value_parser = target_env)]
    pub target_env: Option<loader::spirv::TargetEnv>,
}

fn target_env(name: &str) -> Result<loader::spirv::TargetEnv, String> {
    use loader::spirv::TargetEnv;
    TargetEnv::named(name).ok_or_else(|| {
        let names: Vec<_> = TargetEnv::ALL.iter().map(|env| env.name()).collect();
        format!("known are {}", names.join(", "))
    })
}

/// Arguments of `rewrite`.
#[derive(Args, Debug, Default)]
#[command(after_help = "Example: skrymir rewrite old.vbc -o new.vbc")]
pub struct RewriteArgs {
    /// The file, or - for standard input
    pub file: PathBuf,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Output file
    #[arg(short, long)]
    pub output: PathBuf,
    /// Write each constant once, in order of first use (SL)
    #[arg(long)]
    pub canonical: bool,
    /// Print what was written as JSON (`skrymir schema rewrite`)
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `dis`.
#[derive(Args, Debug, Default)]
#[command(after_help = "Examples:
  skrymir dis shader.spv --nested-indent
  skrymir dis shader.vbc --stage frag
  skrymir dis words.bin --gp -o words.s")]
pub struct DisArgs {
    /// The file, or - for standard input
    pub file: PathBuf,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Output file, instead of standard output
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// How SPIR-V is printed
    #[command(flatten)]
    pub spirv: SpirvDisArgs,
    /// Keep names' source locations in comments (SL)
    #[arg(long)]
    pub locations: bool,
    /// Print the file's structure with byte offsets
    #[arg(long)]
    pub tree: bool,
    /// Print the file's structure, or its instructions, as JSON (`skrymir schema dis`)
    #[arg(long, conflicts_with_all = ["tree", "locations", "no_indent", "nested_indent", "color", "no_color", "no_header", "offsets", "comment"])]
    pub json: bool,
}

/// Arguments of `as`.
#[derive(Args, Debug, Default)]
#[command(after_help = "Examples:
  skrymir as triangle.frag.s -o triangle.mbs
  skrymir as shader.spvasm -o shader.spv
  skrymir dis a.spv --raw-id | skrymir as - --exact -o b.spv")]
pub struct AsArgs {
    /// The text file, or - for standard input
    pub file: PathBuf,
    /// Output file
    #[arg(short, long)]
    pub output: PathBuf,
    /// Write bare words of a Mali-400 vertex program
    #[arg(long, conflicts_with = "pp")]
    pub gp: bool,
    /// Write bare words of a Mali-400 fragment program
    #[arg(long)]
    pub pp: bool,
    /// Keep numeric ids (SPIR-V)
    #[arg(long)]
    pub preserve_numeric_ids: bool,
    /// Target environment, which sets the version in the header (SPIR-V) [default: spv1.6]
    #[arg(long, value_name = "ENV", value_parser = target_env, conflicts_with = "exact")]
    pub target_env: Option<loader::spirv::TargetEnv>,
    /// Use the header in the disassembler's comments, and keep numeric ids, to get the same words again (SPIR-V)
    #[arg(long)]
    pub exact: bool,
    /// A grammar to extend the built-in one, or SET=FILE for an extended instruction set (SPIR-V)
    #[arg(long)]
    pub grammar: Vec<String>,
}

/// Arguments of `run`; each format uses those that mean something to it.
#[derive(Args, Debug, Default)]
#[command(after_help = "Examples:
  skrymir run shader.vbc -o out.png --scene scene.toml
  skrymir run picture.frag -o out.png --size 640x480 --set tint=1,0.5,0,1
  skrymir run waves.frag -o wave.png --frames 120
  skrymir run waves.frag --view --size 640x480
  skrymir run lit.vert lit.frag -o out.png
  skrymir run effect.sksl.bin -o out.png --expect good.png --tolerance 2
  skrymir run sum.comp --dispatch 64 --scene data.toml --read 1=sum.bin
  skrymir run unit.sl
  skrymir run tests/ more.amber --junit report.xml")]
pub(crate) struct RunArgs {
    /// The file, or - for standard input: a VBC, an SkSL program, a Swanson library, or a shader's source (WGSL, GLSL,
    /// SPIR-V; a fragment stage alone covers the picture), or test scripts and folders of them (AmberScript, VkScript)
    pub file: PathBuf,
    /// The fragment stage, if the first file is the source of a vertex stage
    pub fragment: Option<PathBuf>,
    /// The entry point, if a source has several of a stage; `vert=NAME` and `frag=NAME` for one stage
    #[arg(long, value_name = "[STAGE=]NAME", value_parser = Entry::parse)]
    pub entry: Vec<Entry>,
    /// Settings of front ends
    #[command(flatten)]
    pub preprocess: PreprocessArgs,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Output file for the picture
    #[arg(short, long, value_parser = crate::cli::picture::name())]
    pub output: Option<PathBuf>,
    /// Size of the picture in pixels [default: 256x256]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub size: Option<[u32; 2]>,
    /// Vertices per draw [default: 3]
    #[arg(long, value_name = "N")]
    pub vertices: Option<u32>,
    /// Vertex data, uniforms, images and state (TOML or JSON)
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Uniforms by name, the time, and a sequence of pictures
    #[command(flatten)]
    pub uniforms: UniformArgs,
    /// The device: a Vulkan device's index or part of its name, or the emulator, mali400 or mali400/ENGINE (see
    /// `skrymir devices`)
    /// [default: the first Vulkan device; for Mali-400 programs, the emulator]
    #[arg(long)]
    pub device: Option<String>,
    /// How table slots are bound
    #[arg(long, value_enum, default_value_t)]
    pub bind: Bind,
    /// Read a slot back after the draw and write its bytes to a file
    #[arg(long, value_name = "SLOT=FILE", value_parser = parse_read, conflicts_with = "view")]
    pub read: Vec<(u8, PathBuf)>,
    /// Use the validation layer; any message is a failure
    #[arg(long, conflicts_with = "view")]
    pub validation: bool,
    /// Time limit of the whole run, including the driver's compiler, in seconds [default: 900; for a script, 30 for
    /// each use of the device]
    #[arg(long, value_name = "SECONDS", alias = "patience")]
    pub timeout: Option<u64>,
    /// The expected picture
    #[command(flatten)]
    pub expected: ExpectArgs,
    /// Draw again whenever the file or the scene changes
    #[arg(long, requires = "output", conflicts_with_all = ["expect", "read", "validation"])]
    pub watch: bool,
    /// Pass code to the driver even if our checks or spirv-val reject it; the driver may crash
    #[arg(long)]
    pub unchecked: bool,
    /// Run a compute shader with this number of work groups
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_groups)]
    pub dispatch: Option<[u32; 3]>,
    /// Invocations per group, instead of the compute shader's
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_groups, requires = "dispatch")]
    pub local_size: Option<[u32; 3]>,
    /// Print the time of each part
    #[arg(long, conflicts_with = "view")]
    pub timing: bool,
    /// Print pictures and times, a compute shader's buffers, or the verdicts of scripts as one JSON document
    /// (`skrymir schema run`, `run-compute`, `run-scripts`)
    #[arg(long, conflicts_with = "watch")]
    pub json: bool,
    /// Folder of the pipeline cache [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// The unit to run [default: the only one, or the last] (SL)
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Print every invocation (SL)
    #[arg(long)]
    pub trace: bool,
    /// Maximum number of invocations (SL)
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    pub fuel: u64,
    /// Use no pipeline cache
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
    /// Arguments for scripts
    #[command(flatten)]
    pub script: ScriptArgs,
}

impl RunArgs {
    /// Longest time for the draw.
    pub(crate) fn timeout(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.timeout.unwrap_or(900))
    }
}

/// Flags of `run` for a single draw on a Vulkan device.
pub(crate) const DRAW_FLAGS: &[&str] = &[
    "output",
    "size",
    "vertices",
    "scene",
    "set",
    "time",
    "frames",
    "rate",
    "view",
    "device",
    "bind",
    "read",
    "validation",
    "timeout",
    "expect",
    "tolerance",
    "allow",
    "diff",
    "unchecked",
    "timing",
    "json",
    "cache",
    "no-cache",
];

/// Flags of `run` for a VBC: [`DRAW_FLAGS`], and `--watch`.
pub(crate) const VBC_FLAGS: &[&str] = &and::<{ DRAW_FLAGS.len() + 1 }>(DRAW_FLAGS, &["watch"]);

/// Flags of `run` for sources that draw: [`VBC_FLAGS`], and those that say how they are compiled.
pub(crate) const SOURCE_FLAGS: &[&str] =
    &and::<{ VBC_FLAGS.len() + 4 }>(VBC_FLAGS, &["entry", "define", "include", "constant"]);

/// Flags of `run` for sources: those of draws, and those of compute shaders alone.
pub(crate) const RUN_SOURCE_FLAGS: &[&str] =
    &and::<{ SOURCE_FLAGS.len() + 5 }>(SOURCE_FLAGS, &["dispatch", "local-size", "keep", "through", "engines"]);

/// Flags of `run` for scripts.
pub(crate) const SCRIPT_FLAGS: &[&str] = &[
    "device",
    "validation",
    "timeout",
    "json",
    "junit",
    "filter",
    "strict",
    "keep",
    "through",
    "engines",
];

/// How table slots are bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Bind {
    /// Bindless if the device supports it, else lowered
    #[default]
    Auto,
    /// Full tables, as in the file
    Bindless,
    /// One descriptor per slot
    Lowered,
}

impl From<Bind> for vulkan::BindMode {
    fn from(bind: Bind) -> Self {
        match bind {
            Bind::Auto => Self::Auto,
            Bind::Bindless => Self::Bindless,
            Bind::Lowered => Self::Lowered,
        }
    }
}

/// Arguments of `dis` for SPIR-V.
#[derive(Args, Debug, Default)]
pub struct SpirvDisArgs {
    /// The stage, if the file has several: vert, tesc, tese, geom or frag (VBC)
    #[arg(long)]
    pub stage: Option<String>,
    /// Ids as numbers instead of names
    #[arg(long)]
    pub raw_id: bool,
    /// Do not indent
    #[arg(long)]
    pub no_indent: bool,
    /// Indent nested constructs
    #[arg(long)]
    pub nested_indent: bool,
    /// Colours: results blue, other ids yellow, numbers red, strings green [default: on a terminal, unless NO_COLOR is set]
    #[arg(long, conflicts_with = "no_color")]
    pub color: bool,
    /// No colours
    #[arg(long)]
    pub no_color: bool,
    /// Do not print the header
    #[arg(long)]
    pub no_header: bool,
    /// Print the byte offset after every instruction
    #[arg(long)]
    pub offsets: bool,
    /// Print headings
    #[arg(long)]
    pub comment: bool,
    /// A grammar to extend the built-in one, or SET=FILE for an extended instruction set
    #[arg(long)]
    pub grammar: Vec<String>,
}

/// Width and height as `WxH`.
///
/// # Errors
/// When it is not that, or zero.
pub(crate) fn parse_size(text: &str) -> Result<[u32; 2]> {
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let size = text
        .split_once('x')
        .and_then(|(width, height)| Some([number(width)?, number(height)?]));
    size.ok_or_else(|| Error::usage("a size is WxH, such as 640x480"))
}

/// Counts along three axes as `X,Y,Z`; those that are left out are 1.
///
/// # Errors
/// When it is not that, or zero.
pub(crate) fn parse_groups(text: &str) -> Result<[u32; 3]> {
    let mut all = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    let wrong = || Error::usage("it is X,Y,Z: one to three numbers from 1 on, such as 16,16,1");
    if parts.len() > all.len() {
        return Err(wrong());
    }
    for (one, part) in all.iter_mut().zip(parts) {
        *one = part.parse().ok().filter(|count| *count > 0).ok_or_else(wrong)?;
    }
    Ok(all)
}

/// A slot to read back and the file to write it to, as `SLOT=FILE`.
///
/// # Errors
/// When it is not that.
pub(crate) fn parse_read(text: &str) -> Result<(u8, PathBuf)> {
    let read = text
        .split_once('=')
        .and_then(|(slot, file)| Some((slot.parse().ok()?, file.into())));
    read.ok_or_else(|| Error::usage("a read-back is SLOT=FILE, such as 3=out.bin"))
}

/// A round trip of shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Through {
    /// SPIR-V to SPIR-V by naga
    Naga,
    /// To GLSL for Vulkan, and read by glslang
    Glsl,
    /// To HLSL, and read by glslang
    Hlsl,
    /// To WGSL, and read by naga
    Wgsl,
}

impl From<Through> for RoundTrip {
    fn from(through: Through) -> Self {
        match through {
            Through::Naga => Self::Naga,
            Through::Glsl => Self::Glsl,
            Through::Hlsl => Self::Hlsl,
            Through::Wgsl => Self::Wgsl,
        }
    }
}

/// Arguments of `run` for scripts.
#[derive(Args, Debug, Default)]
pub(crate) struct ScriptArgs {
    /// More scripts, and folders of them (scripts)
    pub more: Vec<PathBuf>,
    /// Run only scripts whose path contains this text (scripts)
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Treat unsupported scripts as failures (scripts)
    #[arg(long)]
    pub strict: bool,
    /// Write the final contents of every buffer and image to this folder (scripts, compute shaders)
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Write the verdicts as JUnit XML (scripts)
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Translate shaders through another compiler or language first (scripts, compute shaders)
    #[arg(long, value_enum)]
    pub through: Option<Through>,
    /// Run each on every Vulkan device, as it is and through naga, and on the emulated Mali-400, and print
    /// different verdicts (scripts) or differing buffers (compute shaders)
    #[arg(long, conflicts_with_all = ["through", "junit", "keep"])]
    pub engines: bool,
    /// Run in this process, and print one line of JSON per script
    #[arg(long, hide = true)]
    pub lines: bool,
}
