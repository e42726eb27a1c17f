//! The command line: one file per subcommand, the format chosen by the file's magic.

mod args;
mod asm;
mod check;
mod compare;
pub mod convert;
mod devices;
mod dis;
pub mod draw;
pub mod gles;
pub mod grammar;
mod info;
pub mod mali;
mod observe;
mod pack;
mod reflect;
pub mod replay;
mod rewrite;
mod run;

pub use args::{AsArgs, Bind, CheckArgs, DisArgs, InfoArgs, RewriteArgs, RunArgs, SpirvDisArgs};

use crate::formats::{self, Format};
use anyhow::Context;
use clap::{Parser, Subcommand};
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// Loads compiled shaders and runs them, with or without the GPU they were made for.
#[derive(Parser, Debug)]
#[command(name = "skrymir", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print what a file holds
    Info(InfoArgs),
    /// Check files against every rule of their format
    Check(CheckArgs),
    /// Read a file and write it again
    Rewrite(RewriteArgs),
    /// Print a file as text that `as` reads back
    Dis(DisArgs),
    /// Assemble text
    As(AsArgs),
    /// Run a file
    Run(RunArgs),
    /// Translate SPIR-V or a VBC stage to another shading language
    Convert(convert::ConvertArgs),
    /// Check a machine-readable SPIR-V grammar, or generate the built-in tables from one
    Grammar(grammar::GrammarArgs),
    /// Make a VBC from WGSL, GLSL or SPIR-V stages
    Pack(pack::PackArgs),
    /// Print what an engine needs of a VBC: layouts, or Rust structs
    Reflect(reflect::ReflectArgs),
    /// Draw with a pair of Mali-400 programs on the emulator
    Draw(mali::DrawArgs),
    /// Run recorded Mali-400 jobs on the emulator
    Replay(replay::ReplayArgs),
    /// Run an OpenGL ES 2 program on the emulator, with Mesa's driver for the Mali-400
    Gles(gles::GlesArgs),
    /// List the Vulkan devices
    Devices(devices::DevicesArgs),
    /// Compare two pictures
    Compare(compare::CompareArgs),
}

/// Why a command did not succeed; decides the exit code.
#[derive(Debug)]
pub enum Failure {
    /// The file is bad, or the pictures differ: exit code 1.
    Bad(anyhow::Error),
    /// As [`Failure::Bad`], and everything has been said already.
    BadSilently,
    /// Usage or machine trouble: exit code 2.
    Trouble(anyhow::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bad(error) | Self::Trouble(error) => write!(f, "{error:#}"),
            Self::BadSilently => Ok(()),
        }
    }
}

impl From<loader::Error> for Failure {
    fn from(error: loader::Error) -> Self {
        Self::Bad(error.into())
    }
}

impl From<translate::Error> for Failure {
    fn from(error: translate::Error) -> Self {
        Self::Bad(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    /// Trouble, unless a loader's error is at the bottom of it.
    fn from(error: anyhow::Error) -> Self {
        if error.root_cause().is::<loader::Error>() {
            Self::Bad(error)
        } else {
            Self::Trouble(error)
        }
    }
}

/// What a command gives.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Parses the arguments, runs the command, prints what went wrong.
///
/// Exit codes: 0 fine, 1 the file is bad or the pictures differ, 2 usage or machine trouble.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Info(args) => info::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Rewrite(args) => rewrite::run(&args),
        Command::Dis(args) => dis::run(&args),
        Command::As(args) => asm::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Grammar(args) => grammar::run(&args),
        Command::Pack(args) => pack::run(&args),
        Command::Reflect(args) => reflect::run(&args),
        Command::Draw(args) => mali::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Gles(args) => gles::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Compare(args) => compare::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let text = failure.to_string();
            if !text.is_empty() {
                eprintln!("skrymir: {text}");
            }
            ExitCode::from(if matches!(failure, Failure::Trouble(_)) { 2 } else { 1 })
        }
    }
}

/// Reads a file; a file that cannot be read is machine trouble.
pub fn read(path: &Path) -> Outcome<Vec<u8>> {
    Ok(std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?)
}

/// Writes a file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Outcome {
    Ok(std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?)
}

/// Prints to standard output; a reader that went away (`| head`) ends the command quietly.
pub fn print(text: &str) -> Outcome {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Trouble(error.into())),
        _ => Ok(()),
    }
}

/// Reads a file and finds its format by its first bytes.
pub fn open(path: &Path) -> Outcome<(Vec<u8>, &'static dyn Format)> {
    let bytes = read(path)?;
    let format = formats::detect(&bytes).with_context(|| format!("{}: no known format", path.display()));
    match format {
        Ok(format) => Ok((bytes, format)),
        Err(error) => Err(Failure::Bad(error)),
    }
}
