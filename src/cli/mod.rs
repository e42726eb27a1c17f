//! The command line: one file per verb; the format is chosen by the file's first bytes.

mod args;
mod r#as;
pub(crate) mod bytes;
pub(crate) mod check;
mod cleanup;
mod compare;
mod compile;
pub(crate) mod convert;
mod dap;
mod deferred;
mod devices;
mod diff;
mod dis;
mod draw;
mod engine;
pub(crate) mod error;
mod expect;
mod flags;
pub(crate) mod formats;
#[cfg(target_os = "linux")]
mod gles;
#[cfg(not(target_os = "linux"))]
#[path = "gles/elsewhere.rs"]
mod gles;
mod grammar;
mod grammars;
mod help;
mod info;
mod inspect;
mod json;
mod log;
mod observe;
pub(crate) mod outcome;
mod pack;
mod picture;
mod reflect;
mod replay;
mod rewrite;
mod run;
mod schema;
mod trim;
mod uniforms;
mod view;
mod watch;

use crate::cli::args::{AsArgs, CheckArgs, DisArgs, FormatArgs, InfoArgs, RewriteArgs, RunArgs};
use crate::cli::formats::{Format, Verb};
use crate::cli::log::{Level, detail, set_level};
use crate::cli::outcome::{Outcome, print, read};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use deferred::Deferred;
use flags::Given;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use translate::frontend::Stage;

/// Loads compiled shaders and runs them, with or without the GPU they were compiled for.
///
/// Exit codes: 0 success; 1 the input is at fault (it violates its format, is unsupported, faults, or differs from the
/// expected picture); 2 the command line or the system is.
#[derive(Parser, Debug)]
#[command(name = "skrymir", version, about, long_about, after_help = help::topics(), propagate_version = true)]
struct Cli {
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print every file that is read and written, and the total time
    #[arg(long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print a file's contents
    Info(Deferred<InfoArgs>),
    /// Check files against every rule of their format
    Check(Deferred<CheckArgs>),
    /// Read a file and write it again
    Rewrite(Deferred<RewriteArgs>),
    /// Print a file as text that `as` reads back
    Dis(Deferred<DisArgs>),
    /// Assemble text
    As(Deferred<AsArgs>),
    /// Run a file
    Run(Deferred<RunArgs>),
    /// Compile a shader to a Mali-400 program
    Compile(Deferred<compile::CompileArgs>),
    /// Translate a shader to another shading language
    Convert(Deferred<convert::ConvertArgs>),
    /// Check a machine-readable SPIR-V grammar, or generate the built-in tables from one
    Grammar(Deferred<grammar::GrammarArgs>),
    /// Make a VBC from WGSL, GLSL, SPIR-V or SkSL stages
    Pack(Deferred<pack::PackArgs>),
    /// Print what an engine needs of a VBC: layouts, or Rust structs
    Reflect(Deferred<reflect::ReflectArgs>),
    /// Draw with a pair of Mali-400 programs on the emulator
    Draw(Deferred<draw::DrawArgs>),
    /// Run recorded Mali-400 jobs on the emulator
    Replay(Deferred<replay::ReplayArgs>),
    /// Print the first difference of two recordings: job, draw, field, pixel and instruction
    Diff(Deferred<diff::DiffArgs>),
    /// Keep the smallest part of a recording that replays to the same picture
    Trim(Deferred<trim::TrimArgs>),
    /// Write an HTML page about recorded Mali-400 jobs: draws, pictures, textures, programs, histories of pixels
    Inspect(Deferred<inspect::InspectArgs>),
    /// Debug recordings and pairs from an editor: the Debug Adapter Protocol on standard input and output
    Dap(Deferred<dap::DapArgs>),
    /// Run an OpenGL ES 2 program on the emulator, with Mesa's driver for the Mali-400
    Gles(Deferred<gles::GlesArgs>),
    /// List the Vulkan devices
    Devices(Deferred<devices::DevicesArgs>),
    /// Compare two pictures
    Compare(Deferred<compare::CompareArgs>),
    /// Print the JSON schema of a verb's output
    Schema(Deferred<schema::SchemaArgs>),
    /// Print completions for a shell
    Completions(Deferred<help::CompletionsArgs>),
    /// Print the manual for man
    Man(Deferred<help::ManArgs>),
}

/// The command line as clap describes it: verbs and flags.
pub fn description() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Parses the arguments, runs the command, and prints its error.
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(manual) = help::topic(&arguments) {
        return ended(print(manual));
    }
    let mut clap = Cli::command();
    let matches = clap.try_get_matches_from_mut(arguments);
    let matches = matches.unwrap_or_else(|error| error.exit());
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => Level::Quiet,
        (_, true) => Level::Verbose,
        _ => Level::Normal,
    };
    set_level(level);
    match &mut cli.command {
        Command::Run(args) => in_order(&mut args.0.file, args.0.fragment.as_mut()),
        Command::Draw(args) => in_order(&mut args.0.vertex, args.0.fragment.as_mut()),
        Command::Compare(args) => in_order(&mut args.0.a, args.0.b.as_mut()),
        _ => {}
    }
    let start = std::time::Instant::now();
    // `gles` stops its programs itself, and `convert` handles signals from the first program that it starts or file that
    // it writes: the handlers have a thread, and a program without threads allocates faster.
    if !matches!(cli.command, Command::Gles(_) | Command::Convert(_)) {
        cleanup::clean_up_on_signals();
    }
    let outcome = run(&cli.command, &clap, &matches);
    detail(format_args!("{:.3} s", start.elapsed().as_secs_f64()));
    ended(outcome)
}

/// Swaps two files whose extensions are those of a fragment and a vertex stage, in this order, with a note.
fn in_order(first: &mut PathBuf, second: Option<&mut PathBuf>) {
    let stage = |path: &Path| Stage::of_ending(&path.extension()?.to_string_lossy());
    let Some(second) = second else { return };
    if stage(first) == Some(Stage::Fragment) && stage(second) == Some(Stage::Vertex) {
        crate::cli::log::note(format_args!(
            "note: {} is the vertex stage and {} the fragment stage",
            second.display(),
            first.display()
        ));
        std::mem::swap(first, second);
    }
}

/// Prints the failure, if any, and returns the exit code.
fn ended(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let text = failure.to_string();
            if !text.is_empty() {
                crate::cli::log::message(format_args!("skrymir: {text}"));
            }
            ExitCode::from(failure.cause().exit_code())
        }
    }
}

/// Runs a command, given the command line's description and what it was found to be.
fn run(command: &Command, clap: &clap::Command, matches: &ArgMatches) -> Outcome {
    let given = |verb| Given::new(clap, matches, verb);
    match command {
        Command::Info(args) => info::run(args, &given(Verb::Info)),
        Command::Check(args) => check::run(args, &given(Verb::Check)),
        Command::Rewrite(args) => rewrite::run(args, &given(Verb::Rewrite)),
        Command::Dis(args) => dis::run(args, &given(Verb::Dis)),
        Command::As(args) => r#as::run(args, &given(Verb::As)),
        Command::Run(args) => run::run(args, &given(Verb::Run)),
        Command::Compile(args) => compile::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Grammar(args) => grammar::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Reflect(args) => reflect::run(args),
        Command::Draw(args) => draw::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Trim(args) => trim::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Dap(args) => dap::run(args),
        Command::Gles(args) => gles::run(args, &flags::typed(clap, matches, "gles")),
        Command::Devices(args) => devices::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Completions(args) => help::completions(args),
        Command::Man(args) => help::man(args),
    }
}

/// Reads a file and finds its format: the one asked for, or the one its first bytes say.
fn open(path: &Path, wanted: &FormatArgs, given: &Given) -> Outcome<(Vec<u8>, &'static dyn Format)> {
    let bytes = read(path)?;
    let format = bytes::format(path, &bytes, wanted.name())?;
    given.fits(format).map_err(|failure| failure.in_file(path))?;
    Ok((bytes, format))
}
