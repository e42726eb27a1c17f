//! `skrymir as`: text to a file.

use super::flags::Given;
use crate::cli::args::AsArgs;
use crate::cli::formats::{self, Format};
use crate::cli::outcome::{Failure, Outcome, read_text, write};

pub(super) fn run(args: &AsArgs, given: &Given) -> Outcome {
    let text = read_text(&args.file)?;
    let format = language(&text, args)?;
    given.fits(format)?;
    write(&args.output, format.assemble(&text, args)?)
}

/// The format of a text.
pub(super) fn language(text: &str, args: &AsArgs) -> Outcome<&'static dyn Format> {
    let found = formats::ALL.iter().find(|format| format.assembles(text, args));
    found.copied().ok_or_else(|| {
        let file = args.file.display();
        Failure::bad(format!("{file}: cannot tell which language this is"))
    })
}
