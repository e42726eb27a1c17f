//! `skrymir dis`: a file as text.

use super::{DisArgs, Outcome, open, print, write};

pub(super) fn run(args: &DisArgs) -> Outcome {
    let (bytes, format) = open(&args.file)?;
    let text = format.dis(&bytes, args)?;
    match &args.output {
        Some(path) => write(path, text),
        None => print(&text),
    }
}
