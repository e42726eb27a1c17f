//! `skrymir rewrite`: read, then write.

use super::{Outcome, RewriteArgs, open, write};

pub(super) fn run(args: &RewriteArgs) -> Outcome {
    let (bytes, format) = open(&args.file)?;
    write(&args.output, format.rewrite(&bytes, args)?)
}
