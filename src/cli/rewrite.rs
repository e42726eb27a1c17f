//! `skrymir rewrite`: read, then write.

use super::flags::Given;
use super::open;
use crate::cli::args::RewriteArgs;
use crate::cli::outcome::{Outcome, write};

pub(super) fn run(args: &RewriteArgs, given: &Given) -> Outcome {
    let (bytes, format) = open(&args.file, &args.format, given)?;
    let written = format.rewrite(&bytes, args);
    write(&args.output, written.map_err(|failure| failure.in_file(&args.file))?)
}
