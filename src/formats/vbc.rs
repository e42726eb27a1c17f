//! Vega bytecode on the command line.

use super::{Format, Info};
use crate::cli::{CheckArgs, InfoArgs, Outcome, RewriteArgs, RunArgs, draw};
use loader::{Report, vbc};

/// Vega bytecode.
pub struct Vbc;

impl Format for Vbc {
    fn name(&self) -> &'static str {
        "vbc"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&vbc::MAGIC)
    }

    fn info(&self, bytes: &[u8], _args: &InfoArgs) -> Outcome<Info> {
        let file = vbc::read(bytes)?;
        let (text, json) = (vbc::text::to_text(&file), vbc::json::to_json(&file));
        Ok(Info { text, json })
    }

    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Report {
        vbc::check(bytes)
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Ok(vbc::write(&vbc::read(bytes)?.to_model())?)
    }

    fn run(&self, bytes: &[u8], args: &RunArgs) -> Outcome {
        draw::run(bytes, args)
    }
}
