//! `skrymir diff`: where two recordings part.

use super::engine::EngineName;
use crate::cli::error::Cause;
use crate::cli::outcome::{Failure, Outcome, print, print_json, read};
use clap::Args;
use loader::trace::Trace;
use std::path::{Path, PathBuf};

/// Arguments of `diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 the recordings are the same, 1 they part (or one is broken), 2 the command line is wrong.
Addresses are followed, not compared: the same data at another place is the same.

Example: skrymir diff good.trace bad.trace")]
pub(crate) struct DiffArgs {
    /// One recording
    pub a: PathBuf,
    /// The other
    pub b: PathBuf,
    /// The engine that runs the jobs
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
    /// Print JSON (`skrymir schema diff`)
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &DiffArgs) -> Outcome {
    args.engine.of_jobs()?;
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let (a, b) = (trace(&args.a, &a)?, trace(&args.b, &b)?);
    let engine = || args.engine.engine().unwrap_or_else(super::engine::plain);
    let found = inspect::diff::diff(&a, &b, engine).map_err(|error| Failure::Bad(error.into()).in_file(&args.a))?;
    match args.json {
        true => print_json(&found.json())?,
        false => print(&found.to_string())?,
    }
    match found.same() {
        true => Ok(()),
        false => Err(Failure::Reported(Cause::Bad)),
    }
}

/// A recording; errors speak of its file.
pub(super) fn trace<'a>(path: &Path, bytes: &'a [u8]) -> Outcome<Trace<'a>> {
    Trace::read(bytes).map_err(|error| Failure::from(error).in_file(path))
}
