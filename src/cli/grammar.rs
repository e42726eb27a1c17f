//! `skrymir grammar`: Khronos' machine-readable grammar, checked, summed up, or made into the built-in tables.

use super::{Failure, Outcome, print, read, write};
use anyhow::{Context, anyhow};
use clap::Args;
use loader::spirv::Grammar;
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
        Err(Failure::BadSilently)
    }
}

fn text(path: &Path) -> Outcome<String> {
    Ok(String::from_utf8(read(path)?).with_context(|| format!("{} is not text", path.display()))?)
}

/// The grammar files of a folder by name.
///
/// # Errors
/// Trouble when the folder or a file cannot be read.
pub fn folder(path: &Path) -> Outcome<Vec<(String, String)>> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".grammar.json") {
            files.push((name, text(&entry.path())?));
        }
    }
    files.sort();
    Ok(files)
}

/// The built-in grammar, extended by files given as `FILE` or `SET=FILE`.
///
/// # Errors
/// Bad when a file is no grammar.
pub fn extended(files: &[String]) -> Outcome<std::borrow::Cow<'static, Grammar>> {
    let mut grammar = std::borrow::Cow::Borrowed(Grammar::builtin());
    let core = grammar::compact::read(grammar::BUILTIN).map(|(core, _)| core);
    for argument in files {
        let (set, file) = argument
            .split_once('=')
            .map_or((None, argument.as_str()), |(set, file)| (Some(set), file));
        let text = text(Path::new(file))?;
        let is_core = set.is_none() && text.contains("\"magic_number\"");
        let (model, report) = grammar::read_json(&text, core.as_ref().filter(|_| !is_core))?;
        if let Some(finding) = report.diagnostics.first() {
            return Err(Failure::Bad(anyhow!("{file}: {finding}")));
        }
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        match set.or_else(|| grammar::set_of_file(&name)) {
            Some(set) => grammar.to_mut().extend_set(set, &model),
            None => grammar.to_mut().extend(&model),
        }
    }
    Ok(grammar)
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
