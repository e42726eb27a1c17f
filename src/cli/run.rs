//! `skrymir run`: run a file on what can run it.

use super::{Outcome, RunArgs, open};

pub(super) fn run(args: &RunArgs) -> Outcome {
    let (bytes, format) = open(&args.file)?;
    format.run(&bytes, args)
}
