//! `skrymir dis`: a file as text.

use super::flags::Given;
use super::open;
use crate::args::DisArgs;
use crate::formats::mbs;
use crate::outcome::{Outcome, print, read, write};

pub(super) fn run(args: &DisArgs, given: &Given) -> Outcome {
    let text = if args.gp || args.pp {
        given.is_empty_for("bare words", &[])?;
        mbs::dis_words(&read(&args.file)?, args.gp)
    } else {
        let (bytes, format) = open(&args.file, given)?;
        format.dis(&bytes, args)
    };
    let text = text.map_err(|failure| failure.in_file(&args.file))?;
    match &args.output {
        Some(path) => write(path, text),
        None => print(&text),
    }
}
