//! `skrymir as`: text to a file.

use super::{AsArgs, Outcome, read, write};
use crate::formats;
use anyhow::{Context, anyhow};

pub(super) fn run(args: &AsArgs) -> Outcome {
    let text = String::from_utf8(read(&args.file)?).with_context(|| format!("{} is not text", args.file.display()))?;
    let Some(format) = formats::ALL.iter().find(|format| format.assembles(&text, args)) else {
        return Err(anyhow!("{}: cannot tell which language this is", args.file.display()).into());
    };
    write(&args.output, format.assemble(&text, args)?)
}
