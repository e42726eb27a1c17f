//! `skrymir grammar`: Khronos' machine-readable grammar, checked, summed up, or made into the built-in tables.

use crate::error::Cause;
use crate::grammar::{folder, text};
use crate::outcome::{Failure, Outcome, print, write};
use clap::Args;
use loader::spirv::grammar::{self, model::Model};
use std::path::{Path, PathBuf};

/// Arguments of `grammar`.
#[derive(Args, Debug)]
pub struct GrammarArgs {
    /// A grammar file (`*.grammar.json`); with --generate the folder they lie in
    pub file: PathBuf,
    /// Write the compact text of the built-in grammar here
    #[arg(long)]
    pub generate: Option<PathBuf>,
}

pub(super) fn run(args: &GrammarArgs) -> Outcome {
    if let Some(out) = &args.generate {
        return write(out, grammar::generate(&folder(&args.file)?)?);
    }
    let text = text(&args.file)?;
    let core = grammar::compact::read(grammar::BUILTIN).map(|(core, _)| core);
    let is_core = text.contains("\"magic_number\"");
    let (model, report) = grammar::read_json(&text, core.as_ref().filter(|_| !is_core))?;
    print(&summary(&args.file, &model))?;
    for finding in &report.diagnostics {
        print(&format!("  {finding}\n"))?;
    }
    if report.is_valid() {
        Ok(())
    } else {
        Err(Failure::Reported(Cause::Bad))
    }
}

fn summary(path: &Path, model: &Model) -> String {
    let mut text = format!("{}: ", path.display());
    text += &match &model.magic_number {
        Some(_) => format!(
            "SPIR-V {}.{} revision {}",
            model.major_version, model.minor_version, model.revision
        ),
        None => format!("extended instruction set, revision {}", model.revision),
    };
    let enumerants: usize = model.operand_kinds.iter().map(|k| k.enumerants.len()).sum();
    let (rows, kinds) = (model.instructions.len(), model.operand_kinds.len());
    text + &format!("\n  {rows} instructions, {kinds} operand kinds, {enumerants} enumerants\n")
}
