//! `skrymir dis`: a file as text.

use super::{DisArgs, Outcome, open, print, write};
use crate::formats::mbs;

pub(super) fn run(args: &DisArgs) -> Outcome {
    let text = if args.gp || args.pp {
        mbs::dis_words(&super::read(&args.file)?, args.gp)?
    } else {
        let (bytes, format) = open(&args.file)?;
        format.dis(&bytes, args)?
    };
    match &args.output {
        Some(path) => write(path, text),
        None => print(&text),
    }
}
