//! `skrymir schema`: the JSON that verbs print, as JSON schemas.

use crate::cli::outcome::{Outcome, print};
use clap::{Args, ValueEnum};

/// A verb whose JSON has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Document {
    /// `check --json`
    Check,
    /// `compare --json`
    Compare,
    /// `compile --json`
    Compile,
    /// `convert --json`
    Convert,
    /// `devices --json`
    Devices,
    /// `diff --json`
    Diff,
    /// `dis --json`
    Dis,
    /// `draw --json`
    Draw,
    /// `gles --report`: one line of it
    Gles,
    /// `gles --list --json`
    GlesList,
    /// `grammar --json`
    Grammar,
    /// `info --json`
    Info,
    /// `inspect --json`
    Inspect,
    /// `pack --json`
    Pack,
    /// `reflect`
    Reflect,
    /// `replay --json`
    Replay,
    /// `rewrite --json`
    Rewrite,
    /// `run --json` of a draw
    Run,
    /// `run --json` of compute shaders, also with `--engines`
    RunCompute,
    /// `run --engines --json` of test scripts
    RunEngines,
    /// `run --json` of test scripts
    RunScripts,
    /// `trim --json`
    Trim,
}

impl Document {
    /// The schema (2020-12).
    pub(crate) fn schema(self) -> &'static str {
        match self {
            Self::Check => include_str!("schemas/check.json"),
            Self::Compare => include_str!("schemas/compare.json"),
            Self::Compile => include_str!("schemas/compile.json"),
            Self::Convert => include_str!("schemas/convert.json"),
            Self::Devices => include_str!("schemas/devices.json"),
            Self::Diff => include_str!("schemas/diff.json"),
            Self::Dis => include_str!("schemas/dis.json"),
            Self::Draw => include_str!("schemas/draw.json"),
            Self::Gles => include_str!("schemas/gles.json"),
            Self::GlesList => include_str!("schemas/gles_list.json"),
            Self::Grammar => include_str!("schemas/grammar.json"),
            Self::Info => include_str!("schemas/info.json"),
            Self::Inspect => include_str!("schemas/inspect.json"),
            Self::Pack => include_str!("schemas/pack.json"),
            Self::Reflect => loader::reflect::SCHEMA,
            Self::Replay => include_str!("schemas/replay.json"),
            Self::Rewrite => include_str!("schemas/rewrite.json"),
            Self::Run => include_str!("schemas/run.json"),
            Self::RunCompute => include_str!("schemas/run_compute.json"),
            Self::RunEngines => include_str!("schemas/run_engines.json"),
            Self::RunScripts => include_str!("schemas/run_scripts.json"),
            Self::Trim => include_str!("schemas/trim.json"),
        }
    }
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(after_help = "Example: skrymir schema replay > replay.schema.json")]
pub(crate) struct SchemaArgs {
    /// The verb
    pub verb: Document,
}

pub(super) fn run(args: &SchemaArgs) -> Outcome {
    print(args.verb.schema())
}
