//! `skrymir dis`: a file as text.

use super::flags::Given;
use super::open;
use crate::cli::args::DisArgs;
use crate::cli::outcome::{Outcome, print, write};

pub(super) fn run(args: &DisArgs, given: &Given) -> Outcome {
    let (bytes, format) = open(&args.file, &args.format, given)?;
    let text = format.dis(&bytes, args);
    let text = text.map_err(|failure| failure.in_file(&args.file))?;
    match &args.output {
        Some(path) => write(path, text),
        None => print(&text),
    }
}
