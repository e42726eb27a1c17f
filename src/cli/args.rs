//! Arguments of the verbs every format shares.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `info`.
#[derive(Args, Debug, Default)]
pub struct InfoArgs {
    /// The file
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug, Default)]
pub struct CheckArgs {
    /// The files
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `rewrite`.
#[derive(Args, Debug, Default)]
pub struct RewriteArgs {
    /// The file
    pub file: PathBuf,
    /// Where to write
    #[arg(short, long)]
    pub output: PathBuf,
}

/// Arguments of `dis`.
#[derive(Args, Debug, Default)]
pub struct DisArgs {
    /// The file
    pub file: PathBuf,
    /// Where to write the text instead of printing it
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

/// Arguments of `as`.
#[derive(Args, Debug, Default)]
pub struct AsArgs {
    /// The text file
    pub file: PathBuf,
    /// Where to write
    #[arg(short, long)]
    pub output: PathBuf,
}

/// Arguments of `run`.
#[derive(Args, Debug, Default)]
pub struct RunArgs {
    /// The file
    pub file: PathBuf,
    /// Where to write the picture
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}
