//! Skia's SkSL binaries on the command line.

use super::{Format, Info, Verb};
use crate::cli::args::{CheckArgs, DRAW_FLAGS, DisArgs, RewriteArgs};
use crate::cli::outcome::Outcome;
use loader::Report;
use loader::sksl;
use translate::validate::Table;

/// Skia's SkSL binaries.
pub(crate) struct Sksl;

impl Format for Sksl {
    fn name(&self) -> &'static str {
        sksl::FORMAT
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        sksl::detect(bytes)
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Dis => &["json", "tree"],
            Verb::Run => DRAW_FLAGS,
            _ => &[],
        }
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Info::of(&sksl::summary(&sksl::read(bytes)?)?)
    }

    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        Ok((sksl::check(bytes), Vec::new()))
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Ok(sksl::write(&sksl::read(bytes)?)?)
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        if args.json {
            return Ok(format!("{:#}\n", sksl::to_json(bytes)?));
        }
        if args.tree {
            return Ok(sksl::to_tree_text(bytes)?);
        }
        Ok(sksl::print(&sksl::read(bytes)?)?)
    }
}
