//! `skrymir info`: what a file holds.

use super::{InfoArgs, Outcome, open, print};

pub(super) fn run(args: &InfoArgs) -> Outcome {
    let (bytes, format) = open(&args.file)?;
    let info = format.info(&bytes, args)?;
    if args.json {
        return print(&format!("{:#}\n", info.json));
    }
    print(&info.text)
}
