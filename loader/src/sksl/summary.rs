//! The summary of a program that `info` prints.

use super::{FORMAT, Header, Storage, Symbol, Tree, VERSION, print};
use serde::Serialize;
use std::fmt;

/// Kind and language version, functions and globals by name, and node counts.
#[derive(Clone, Debug, Serialize)]
pub struct Summary<'a> {
    /// Always `sksl`.
    pub format: &'static str,
    /// Version of the binary format.
    pub version: u16,
    /// The program's kind; `module` for a module.
    pub kind: String,
    /// The language version; absent in modules.
    pub language: Option<String>,
    /// Functions, in file order.
    pub functions: Vec<&'a str>,
    /// Global variables, in file order.
    pub globals: Vec<&'a str>,
    /// Result, name and parameters of each function.
    pub signatures: Vec<String>,
    /// Modifiers, type and name of each global variable; those set by the caller have `uniform`, `in` or `out`.
    pub declarations: Vec<String>,
    /// Number of symbols.
    pub symbols: usize,
    /// Number of top-level elements.
    pub elements: usize,
    /// Number of statements.
    pub statements: usize,
    /// Number of expressions.
    pub expressions: usize,
}

/// Summarises a program.
///
/// # Errors
/// None: the result is that of every format's summary.
pub fn summary(tree: &Tree) -> crate::Result<Summary<'_>> {
    let (kind, language) = match tree.header {
        Header::Module => ("module".to_owned(), None),
        Header::Program { kind, version, .. } => (kind.to_string(), Some(version.to_string())),
    };
    let (mut functions, mut globals) = (Vec::new(), Vec::new());
    let (mut signatures, mut declarations) = (Vec::new(), Vec::new());
    for (_, symbol) in tree.symbols.iter() {
        match symbol {
            Symbol::Function { name, .. } => {
                functions.push(&tree.strings[*name]);
                signatures.extend(print::declared(tree, symbol));
            }
            Symbol::Variable { name, storage, .. } if *storage == Storage::GLOBAL => {
                globals.push(&tree.strings[*name]);
                declarations.extend(print::declared(tree, symbol));
            }
            _ => {}
        }
    }
    Ok(Summary {
        format: FORMAT,
        version: VERSION,
        kind,
        language,
        functions,
        globals,
        signatures,
        declarations,
        symbols: tree.symbols.len(),
        elements: tree.elements.len(),
        statements: tree.statements.len(),
        expressions: tree.expressions.len(),
    })
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SkSL binary version {}: {}", self.version, self.kind)?;
        if let Some(language) = &self.language {
            write!(f, ", language version {language}")?;
        }
        writeln!(f)?;
        for (what, lines) in [("functions", &self.signatures), ("globals", &self.declarations)] {
            writeln!(f, "{what}:")?;
            lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        writeln!(f, "symbols: {}\nelements: {}", self.symbols, self.elements)?;
        writeln!(f, "statements: {}\nexpressions: {}", self.statements, self.expressions)
    }
}
