//! `skrymir grammar`: Khronos' machine-readable grammar, checked, summed up, or made into the built-in tables.

use crate::cli::error::{Cause, Error};
use crate::cli::grammars::{folder, text};
use crate::cli::outcome::{Failure, Outcome, print, print_json, write};
use clap::Args;
use loader::Report;
use loader::spirv::grammar::{self, model::Model};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments of `grammar`.
#[derive(Args, Debug)]
#[command(after_help = "Example: skrymir grammar spirv.core.grammar.json")]
pub(crate) struct GrammarArgs {
    /// A grammar file (`*.grammar.json`); with --generate the folder of the grammar files
    pub file: PathBuf,
    /// Write the compact text of the built-in grammar here
    #[arg(long, conflicts_with = "json")]
    pub generate: Option<PathBuf>,
    /// Print JSON (`skrymir schema grammar`)
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &GrammarArgs) -> Outcome {
    if let Some(out) = &args.generate {
        return write(out, grammar::generate(&folder(&args.file)?)?);
    }
    let text = text(&args.file)?;
    let core = grammar::compact::read(grammar::BUILTIN).map(|(core, _)| core);
    let is_core = text.contains("\"magic_number\"");
    let (model, report) = grammar::read_json(&text, core.as_ref().filter(|_| !is_core))?;
    if args.json {
        print_json(&document(&model, &report)?)?;
    } else {
        print(&summary(&args.file, &model))?;
        for finding in &report.diagnostics {
            print(&format!("  {finding}\n"))?;
        }
    }
    if report.is_valid() {
        Ok(())
    } else {
        Err(Failure::Reported(Cause::Bad))
    }
}

fn document(model: &Model, report: &Report) -> Outcome<Value> {
    let core = model.magic_number.is_some();
    Ok(json!({
        "kind": if core { "core" } else { "extended instruction set" },
        "version": core.then(|| format!("{}.{}", model.major_version, model.minor_version)),
        "revision": model.revision,
        "instructions": model.instructions.len(),
        "operand_kinds": model.operand_kinds.len(),
        "enumerants": enumerants(model),
        "diagnostics": serde_json::to_value(&report.diagnostics).map_err(Error::from)?,
    }))
}

fn enumerants(model: &Model) -> usize {
    model.operand_kinds.iter().map(|kind| kind.enumerants.len()).sum()
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
    let enumerants = enumerants(model);
    let (rows, kinds) = (model.instructions.len(), model.operand_kinds.len());
    text + &format!("\n  {rows} instructions, {kinds} operand kinds, {enumerants} enumerants\n")
}
