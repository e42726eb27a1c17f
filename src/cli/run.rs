//! `skrymir run`: run a file on what can run it.

use super::flags::Given;
use super::open;
use crate::args::RunArgs;
use crate::outcome::Outcome;

pub(super) fn run(args: &RunArgs, given: &Given) -> Outcome {
    let (bytes, format) = open(&args.file, given)?;
    format.run(&bytes, args)
}
