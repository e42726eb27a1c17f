//! `skrymir schema`: the JSON that verbs print, as JSON schemas.

use crate::outcome::{Outcome, print};
use clap::{Args, ValueEnum};

/// A verb whose JSON has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Document {
    /// `diff --json`
    Diff,
    /// `draw --json`
    Draw,
    /// `reflect --json`
    Reflect,
    /// `replay --json`
    Replay,
    /// `run --timing --json`
    Run,
}

impl Document {
    /// The schema (2020-12).
    pub fn schema(self) -> &'static str {
        match self {
            Self::Diff => include_str!("schemas/diff.json"),
            Self::Draw => include_str!("schemas/draw.json"),
            Self::Reflect => loader::reflect::SCHEMA,
            Self::Replay => include_str!("schemas/replay.json"),
            Self::Run => include_str!("schemas/run.json"),
        }
    }
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(after_help = "Example: skrymir schema replay > replay.schema.json")]
pub struct SchemaArgs {
    /// The verb
    pub verb: Document,
}

pub(super) fn run(args: &SchemaArgs) -> Outcome {
    print(args.verb.schema())
}
