//! `skrymir run`: run a file on what can run it.

use super::flags::Given;
use crate::args::RunArgs;
use crate::formats;
use crate::outcome::{Failure, Outcome, read};

pub(super) fn run(args: &RunArgs, given: &Given) -> Outcome {
    let bytes = read(&args.file)?;
    // What begins like no format is a shader's source.
    let format = formats::find(args.format.name(), &bytes).unwrap_or(&formats::SOURCE);
    given.fits(format)?;
    if args.fragment.is_some() && !format.takes_stages() {
        return Err(Failure::usage(format_args!(
            "a second file is a fragment stage beside a vertex stage's source; {} is {}",
            args.file.display(),
            format.name()
        )));
    }
    format.run(&bytes, args).map_err(|failure| failure.in_file(&args.file))
}
