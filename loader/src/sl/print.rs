//! Prints a [`Library`] as S₀ text.

use super::{Branch, Library, Location, Module, Name, Names, Statement};
use crate::Result;
use std::collections::HashSet;
use std::fmt::Write;

/// Printing options.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// Keep the table of constants and every name's index and location in comments `/*@…*/`: the text then parses to an
    /// identical library.
    pub locations: bool,
}

/// Prints a library as text that [`parse`](super::parse()) reads; [`print_with`] has options.
///
/// # Errors
/// As [`print_with`].
pub fn print(library: &Library<'_>) -> Result<String> {
    print_with(library, &PrintOptions::default())
}

/// Prints a library; [`super::parse`] reads it back.
///
/// A block of one branch with the empty name is printed in the short form. A block whose name is not unique is referred
/// to as `#index`.
///
/// # Errors
/// If the library cannot be [written](super::write()).
pub fn print_with(library: &Library<'_>, options: &PrintOptions) -> Result<String> {
    super::write(library)?;
    let mut printer = Printer {
        library,
        exact: options.locations,
        shared: HashSet::new(),
        out: format!("/*@version {}*/\n", library.version),
    };
    if options.locations {
        for constant in &library.constants {
            let _ = writeln!(printer.out, "/*@constant {}*/", quoted(constant));
        }
    }
    for module in &library.modules {
        printer.module(module);
    }
    Ok(printer.out)
}

/// A name as S₀ text: bare if possible, else quoted.
pub fn quote(bytes: &[u8]) -> String {
    let bare = |b: &u8| b.is_ascii_alphanumeric() || b"_.@$".contains(b);
    if !bytes.is_empty() && bytes.iter().all(bare) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    quoted(bytes)
}

fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            // The star is escaped so that a constant cannot close the comment around it.
            b' '..=b'~' if byte != b'*' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

struct Printer<'a> {
    library: &'a Library<'a>,
    exact: bool,
    /// Names shared by several blocks of the current module.
    shared: HashSet<&'a [u8]>,
    out: String,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn location(&mut self, content: Option<u32>, location: Option<&Location>) {
        if !self.exact {
            return;
        }
        let mut numbers: Vec<u64> = content.map(u64::from).into_iter().collect();
        if let Some(l) = location {
            numbers.extend([l.file.into(), l.start[0], l.start[1], l.end[0], l.end[1]]);
        }
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let _ = write!(self.out, "/*@{}*/", numbers.join(" "));
    }

    fn name(&mut self, name: &Name) {
        let text = quote(self.library.bytes(name.content));
        self.push(&text);
        self.location(Some(name.content), Some(&name.location));
    }

    fn names(&mut self, names: &Names) {
        self.push("(");
        for (index, name) in names.names.iter().enumerate() {
            self.push(if index == 0 { "" } else { ", " });
            self.name(name);
        }
        if let Some(glob) = &names.glob {
            self.push(if names.names.is_empty() { "*" } else { ", *" });
            self.location(None, Some(glob));
        }
        self.push(")");
    }

    fn module(&mut self, module: &Module) {
        let library = self.library;
        let mut seen = HashSet::new();
        let names = module.blocks.iter().map(|block| library.bytes(block.name.content));
        self.shared = names.filter(|name| !seen.insert(*name)).collect();
        self.push("module ");
        self.name(&module.name);
        self.push(" {\n");
        for block in &module.blocks {
            self.push("  ");
            self.name(&block.name);
            self.push(": containing ");
            self.names(&block.containing);
            let short = matches!(&block.branches[..], [one] if self.library.bytes(one.name.content).is_empty());
            for branch in &block.branches {
                if short && !self.exact {
                    self.push(" receiving ");
                } else {
                    self.push("\n  branch ");
                    self.name(&branch.name);
                    self.push(" receiving ");
                }
                self.branch(module, branch);
            }
            self.push("\n");
        }
        self.push("}\n");
    }

    fn branch(&mut self, module: &Module, branch: &Branch) {
        self.names(&branch.receiving);
        self.push(" {\n");
        for statement in &branch.statements {
            self.push("    ");
            self.statement(module, statement);
            self.push(";\n");
        }
        self.push("    -> ");
        self.name(&branch.invocation.target);
        if self.exact || !self.library.bytes(branch.invocation.branch.content).is_empty() {
            self.push(" ");
            self.name(&branch.invocation.branch);
        }
        self.push(" ");
        self.names(&branch.invocation.inputs);
        self.push(";\n  }");
    }

    fn statement(&mut self, module: &Module, statement: &Statement) {
        match statement {
            Statement::Closure {
                dest,
                block,
                close_over,
            } => {
                self.name(dest);
                self.push(" = closure containing ");
                self.names(close_over);
                self.push(" -> ");
                let target = module.blocks.get(*block as usize);
                let name = target.map(|target| self.library.bytes(target.name.content));
                let text = match name.filter(|name| !self.shared.contains(name)) {
                    Some(name) => quote(name),
                    None => format!("#{block}"),
                };
                self.push(&text);
            }
            Statement::Literal {
                dest,
                content,
                location,
            } => {
                self.name(dest);
                self.push(" = literal ");
                let text = quoted(self.library.bytes(*content));
                self.push(&text);
                self.location(Some(*content), location.as_ref());
            }
            Statement::Rename { dest, source } => {
                self.name(dest);
                self.push(" = rename ");
                self.name(source);
            }
        }
    }
}
