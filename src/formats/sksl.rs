//! Skia's SkSL binaries on the command line.

use super::{Format, Info};
use crate::cli::{CheckArgs, DisArgs, InfoArgs, Outcome, RewriteArgs, RunArgs, draw};
use loader::Report;
use loader::sksl::{self, Header, Symbol, Tree};
use serde_json::json;

/// Skia's SkSL binaries.
pub struct Sksl;

impl Format for Sksl {
    fn name(&self) -> &'static str {
        sksl::FORMAT
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        sksl::detect(bytes)
    }

    fn info(&self, bytes: &[u8], _args: &InfoArgs) -> Outcome<Info> {
        Ok(info(&sksl::read(bytes)?))
    }

    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Report {
        sksl::check(bytes)
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Ok(sksl::write(&sksl::read(bytes)?)?)
    }

    fn run(&self, bytes: &[u8], args: &RunArgs) -> Outcome {
        draw::run(&translate::sksl::to_vbc(&sksl::read(bytes)?)?, args)
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        if args.json {
            return Ok(format!("{:#}\n", sksl::to_json(bytes)?));
        }
        if args.tree {
            return Ok(sksl::to_tree_text(bytes)?);
        }
        Ok(sksl::print(&sksl::read(bytes)?))
    }
}

/// Kind and language version, functions and globals by name, and how many nodes there are.
fn info(tree: &Tree) -> Info {
    let (kind, version) = match tree.header {
        Header::Module => ("module".to_owned(), None),
        Header::Program { kind, version, .. } => (kind.to_string(), Some(version.to_string())),
    };
    let (mut functions, mut globals) = (Vec::new(), Vec::new());
    for (_, symbol) in tree.symbols.iter() {
        match symbol {
            Symbol::Function { name, .. } => functions.push(&tree.strings[*name]),
            Symbol::Variable { name, storage, .. } if *storage == sksl::Storage::GLOBAL => {
                globals.push(&tree.strings[*name]);
            }
            _ => {}
        }
    }
    let counts = [
        ("symbols", tree.symbols.len()),
        ("elements", tree.elements.len()),
        ("statements", tree.statements.len()),
        ("expressions", tree.expressions.len()),
    ];
    let mut text = format!("SkSL binary version {}: {kind}", sksl::VERSION);
    if let Some(version) = &version {
        text += &format!(", language version {version}");
    }
    text += &format!("\nfunctions: {}\nglobals: {}\n", functions.join(" "), globals.join(" "));
    for (name, count) in counts {
        text += &format!("{name}: {count}\n");
    }
    let mut json = json!({
        "format": sksl::FORMAT, "version": sksl::VERSION, "kind": kind, "language": version,
        "functions": functions, "globals": globals,
    });
    for (name, count) in counts {
        json[name] = count.into();
    }
    Info { text, json }
}
