//! `skrymir gles` where there is no Linux: it says so.

use crate::cli::outcome::{Failure, Outcome};
use clap::Args;
use std::ffi::OsString;

/// Arguments of `gles`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct GlesArgs {
    /// Whatever would be run
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

/// Says why it cannot be.
pub(crate) fn run(_: &GlesArgs, _: &[String]) -> Outcome {
    Err(Failure::usage(
        "gles needs Linux: the driver that it runs talks to that kernel's interface (a container or WSL will do)",
    ))
}
