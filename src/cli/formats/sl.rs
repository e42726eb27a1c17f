//! Swanson SL libraries on the command line.

use super::{Format, Info, Verb};
use crate::cli::args::{AsArgs, CheckArgs, DisArgs, RewriteArgs};
use crate::cli::outcome::{Outcome, bad_text};
use loader::Report;
use loader::sl::{self, PrintOptions};
use translate::validate::Table;

/// Swanson SL libraries.
pub(crate) struct Sl;

impl Format for Sl {
    fn name(&self) -> &'static str {
        sl::FORMAT
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&sl::MAGIC)
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Dis => &["json", "locations"],
            Verb::Rewrite => &["canonical"],
            Verb::Run => &["module", "trace", "fuel"],
            _ => &[],
        }
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Info::of(&sl::summary(&sl::read(bytes)?)?)
    }

    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        Ok((sl::check(bytes), Vec::new()))
    }

    fn rewrite(&self, bytes: &[u8], args: &RewriteArgs) -> Outcome<Vec<u8>> {
        let library = sl::read(bytes)?;
        Ok(if args.canonical {
            sl::write(&sl::canonical(&library))?
        } else {
            sl::write(&library)?
        })
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        let library = sl::read(bytes)?;
        if args.json {
            return Ok(Info::of(&sl::summary(&library)?)?.to_json_text());
        }
        let locations = args.locations;
        Ok(sl::print_with(&library, &PrintOptions { locations })?)
    }

    fn assembles(&self, _text: &str, args: &AsArgs) -> bool {
        args.file.extension().is_some_and(|ext| ext == "s0")
    }

    fn assemble(&self, text: &str, args: &AsArgs) -> Outcome<Vec<u8>> {
        let file = args.file.file_name().unwrap_or_default().to_string_lossy();
        let library = sl::parse_in(text, &file).map_err(|error| bad_text(&args.file, "sl", &error, text))?;
        Ok(sl::write(&library)?)
    }
}
