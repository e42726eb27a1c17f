//! `skrymir run`: run a file on what can run it.

use super::flags::Given;
use crate::args::RunArgs;
use crate::formats;
use crate::outcome::{Failure, Outcome, read};
use crate::scripts;

pub(super) fn run(args: &RunArgs, given: &Given) -> Outcome {
    if args.file.is_dir() {
        given.fits(&formats::Script)?;
        return scripts::run(args);
    }
    let bytes = read(&args.file)?;
    // What begins like no format is a shader's source.
    let by_name = scripts::is_script(&args.file).then_some("script");
    let format = formats::find(args.format.name().or(by_name), &bytes).unwrap_or(&formats::SOURCE);
    given.fits(format)?;
    if args.fragment.is_some() && !format.takes_stages() {
        return Err(Failure::usage(format_args!(
            "a second file is a fragment stage beside a vertex stage's source; {} is {}",
            args.file.display(),
            format.name()
        )));
    }
    if !args.script.more.is_empty() && format.name() != "script" {
        return Err(Failure::usage("more than two files are test scripts, and this is none").in_file(&args.file));
    }
    format.run(&bytes, args).map_err(|failure| failure.in_file(&args.file))
}
