//! Vega bytecode on the command line.

use super::{Format, Info, Verb, listing, spirv};
use crate::cli::args::{CheckArgs, DisArgs, RewriteArgs, VBC_FLAGS, and};
use crate::cli::grammars;
use crate::cli::outcome::{Failure, Outcome};
use loader::{Report, vbc};
use serde_json::json;
use translate::validate::{self, Table};

/// Flags of `dis`: those for SPIR-V, and that which says the stage.
const DIS_FLAGS: &[&str] = &and::<{ spirv::DIS_FLAGS.len() + 1 }>(spirv::DIS_FLAGS, &["stage"]);

/// Vega bytecode.
pub(crate) struct Vbc;

impl Format for Vbc {
    fn name(&self) -> &'static str {
        "vbc"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&vbc::MAGIC)
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Check => &["grammar"],
            Verb::Dis => DIS_FLAGS,
            Verb::Run => VBC_FLAGS,
            _ => &[],
        }
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Info::of(&vbc::summary(&vbc::read(bytes)?)?)
    }

    /// Findings about the file, and each validator's verdict on each stage.
    fn check(&self, bytes: &[u8], args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let grammar = grammars::extended(&args.grammar)?;
        let tables = stages(bytes, None).unwrap_or_default();
        let tables = tables
            .iter()
            .map(|(stage, words)| validate::all(&grammar, stage, words));
        Ok((vbc::check(bytes), tables.collect()))
    }

    /// One stage: the text of several would not assemble to anything. JSON has all of them.
    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        let stages = stages(bytes, args.spirv.stage.as_deref())?;
        if args.json {
            let (grammar, options) = spirv::printing(args)?;
            let stages = stages.iter().map(|(stage, words)| {
                let instructions = listing::module(words, &grammar, options)?;
                Ok(json!({ "stage": stage, "instructions": instructions }))
            });
            let stages = stages.collect::<Outcome<Vec<_>>>()?;
            return Ok(listing::text(&json!({ "format": vbc::FORMAT, "stages": stages })));
        }
        match &stages[..] {
            [(_, words)] => spirv::print_words(words, args),
            several => {
                let names: Vec<&str> = several.iter().map(|stage| stage.0.as_str()).collect();
                Err(Failure::usage(format!("vbc: say which --stage: {}", names.join(", "))))
            }
        }
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Ok(vbc::write(&vbc::read(bytes)?.to_model())?)
    }
}

/// The stages of a file with their names and words, or the one asked for by name.
///
/// # Errors
/// Bad when the file cannot be read or has no such stage.
pub(crate) fn stages(bytes: &[u8], wanted: Option<&str>) -> Outcome<Vec<(String, Vec<u32>)>> {
    let file = vbc::read(bytes)?;
    let all = vbc::Stage::ALL
        .into_iter()
        .filter_map(|stage| Some((stage.to_string(), file.code(stage)?.words())));
    let found: Vec<_> = all
        .filter(|(name, _)| wanted.is_none_or(|wanted| wanted == name))
        .collect();
    if found.is_empty() {
        return Err(Failure::bad(format_args!(
            "vbc: no stage {}",
            wanted.unwrap_or("at all")
        )));
    }
    Ok(found)
}
