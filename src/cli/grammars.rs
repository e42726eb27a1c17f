//! Machine-readable SPIR-V grammars from files.

use crate::cli::error::Within;
use crate::cli::outcome::{Failure, Outcome, read_text};
use loader::spirv::Grammar;
use loader::spirv::grammar;
use std::path::Path;

/// A grammar's text.
///
/// # Errors
/// Trouble when the file cannot be read.
pub(crate) fn text(path: &Path) -> Outcome<String> {
    read_text(path)
}

/// The grammar files of a folder by name.
///
/// # Errors
/// Trouble when the folder or a file cannot be read.
pub(crate) fn folder(path: &Path) -> Outcome<Vec<(String, String)>> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(path).within(|| format!("cannot read {}", path.display()))?;
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
pub(crate) fn extended(files: &[String]) -> Outcome<std::borrow::Cow<'static, Grammar>> {
    let mut grammar = std::borrow::Cow::Borrowed(Grammar::builtin());
    // Only files are compared with the core grammar's model.
    let core = std::cell::LazyCell::new(|| grammar::compact::read(grammar::BUILTIN).map(|(core, _)| core));
    for argument in files {
        let (set, file) = argument
            .split_once('=')
            .map_or((None, argument.as_str()), |(set, file)| (Some(set), file));
        let text = text(Path::new(file))?;
        let is_core = set.is_none() && text.contains("\"magic_number\"");
        let (model, report) = grammar::read_json(&text, core.as_ref().filter(|_| !is_core))?;
        if let Some(finding) = report.diagnostics.first() {
            return Err(Failure::bad(format_args!("{file}: {finding}")));
        }
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        match set.or_else(|| grammar::set_of_file(&name)) {
            Some(set) => grammar.to_mut().extend_set(set, &model),
            None => grammar.to_mut().extend(&model),
        }
    }
    Ok(grammar)
}
