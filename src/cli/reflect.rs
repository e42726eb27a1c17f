//! `skrymir reflect`: the layouts of a VBC, for engines.

use crate::cli::error::Error;
use crate::cli::outcome::{Outcome, print, read};
use clap::Args;
use loader::{reflect, vbc};
use std::path::PathBuf;

/// Arguments of `reflect`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir reflect shader.vbc
  skrymir reflect shader.vbc --rust > shader.rs")]
pub(crate) struct ReflectArgs {
    /// The VBC file
    #[arg(required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// Print vertex and uniform as Rust structs instead of JSON
    #[arg(long, conflicts_with = "schema")]
    pub rust: bool,
    /// Print the JSON's schema
    #[arg(long)]
    pub schema: bool,
    /// Print JSON (the default)
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &ReflectArgs) -> Outcome {
    let Some(path) = args.file.as_ref().filter(|_| !args.schema) else {
        return print(reflect::SCHEMA);
    };
    let bytes = read(path)?;
    let reflection = reflect::reflect(&vbc::read(&bytes)?);
    if args.rust {
        return print(&reflect::rust::structs(&reflection));
    }
    let json = serde_json::to_string_pretty(&reflection).map_err(Error::from)?;
    print(&(json + "\n"))
}
