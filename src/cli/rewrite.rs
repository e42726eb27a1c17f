//! `skrymir rewrite`: read, then write.

use super::flags::Given;
use super::open;
use crate::cli::args::RewriteArgs;
use crate::cli::outcome::{Outcome, apart, print_json, write};
use serde_json::json;

pub(super) fn run(args: &RewriteArgs, given: &Given) -> Outcome {
    let (bytes, format) = open(&args.file, &args.format, given)?;
    apart(args.json, Some(&args.output))?;
    let written = format
        .rewrite(&bytes, args)
        .map_err(|failure| failure.in_file(&args.file))?;
    write(&args.output, &written)?;
    match args.json {
        true => print_json(&json!({
            "file": args.file.to_string_lossy(),
            "format": format.name(),
            "output": args.output.to_string_lossy(),
            "bytes": written.len(),
            "unchanged": written == bytes,
        })),
        false => Ok(()),
    }
}
