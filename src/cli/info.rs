//! `skrymir info`: a file's contents.

use super::flags::Given;
use super::open;
use crate::cli::args::InfoArgs;
use crate::cli::outcome::{Outcome, print};

pub(super) fn run(args: &InfoArgs, given: &Given) -> Outcome {
    let (bytes, format) = open(&args.file, &args.format, given)?;
    let info = format.info(&bytes).map_err(|failure| failure.in_file(&args.file))?;
    if args.json {
        return crate::cli::outcome::print_json(&info.json);
    }
    print(&info.text)
}
