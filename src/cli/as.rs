//! `skrymir as`: text to a file.

use super::flags::Given;
use crate::args::AsArgs;
use crate::formats;
use crate::outcome::{Failure, Outcome, read_text, write};

pub(super) fn run(args: &AsArgs, given: &Given) -> Outcome {
    let text = read_text(&args.file)?;
    let Some(format) = formats::ALL.iter().find(|format| format.assembles(&text, args)) else {
        let file = args.file.display();
        return Err(Failure::bad(format!("{file}: cannot tell which language this is")));
    };
    given.fits(*format)?;
    write(&args.output, format.assemble(&text, args)?)
}
