//! Every rule of the format and the language.
//!
//! Conditions that the reader already rejects (unknown ids, counts, enumerants) are not checked again; see
//! [`super::read()`].

use super::builtins;
use super::enums::*;
use super::read::read;
use super::signatures;
use super::tree::*;
use super::types::{self, Scalar, Ty, Typer};
use super::write::write;
use crate::{Report, Severity};
use std::collections::HashSet;

mod expression;
mod statement;
mod symbol;

/// Reads and checks a file; a read error becomes the only finding.
///
/// In addition to [`validate`], a file must be the canonical encoding of its tree: strings in order of first use and
/// all used, ids counted from 1, the shortest layouts.
pub fn check(bytes: &[u8]) -> Report {
    let tree = match read(bytes) {
        Ok(tree) => tree,
        Err(error) => return (&error).into(),
    };
    let mut report = validate(&tree);
    if let Ok(again) = write(&tree)
        && again != bytes
    {
        let same = again.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        let message = "not as the encoder writes it (order of strings or ids, unused strings, longer forms)";
        report.push(Severity::Error, "not-canonical", "", message, Some(same as u64));
    }
    report
}

/// Checks a tree; findings have the offsets that it was read from.
pub fn validate(tree: &Tree) -> Report {
    let mut report = Report::default();
    // The writer's limits come first: they also bound the depth of the checks below.
    if let Err(error) = write(tree) {
        report.diagnostics.push((&error).into());
        return report;
    }
    let mut checker = Checker {
        tree,
        typer: Typer::new(tree),
        report,
        place: String::new(),
        kind: match tree.header {
            Header::Program { kind, .. } => Some(kind),
            Header::Module => None,
        },
        visible: HashSet::new(),
        declared: HashSet::new(),
        returns: Ty::Void,
        loops: 0,
        breakables: 0,
        has_shared: tree
            .list(tree.top)
            .any(|e| matches!(tree.elements[e], Element::Shared { .. })),
    };
    checker.symbols();
    checker.program();
    checker.report
}

/// How an expression is used by its context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
    ReadWrite,
    /// Argument for an `out` or `inout` parameter.
    Argument,
}

struct Checker<'a> {
    tree: &'a Tree,
    typer: Typer<'a>,
    report: Report,
    place: String,
    kind: Option<ProgramKind>,
    /// Declared variables whose scope is open.
    visible: HashSet<Ref>,
    /// Variables declared so far.
    declared: HashSet<Ref>,
    returns: Ty,
    loops: u32,
    breakables: u32,
    has_shared: bool,
}

impl Checker<'_> {
    fn fail(&mut self, rule: &'static str, message: impl Into<String>, offset: u64) {
        self.report
            .push(Severity::Error, rule, &self.place, message, Some(offset));
    }

    fn require(&mut self, holds: bool, rule: &'static str, message: &str, offset: u64) {
        if !holds {
            self.fail(rule, message, offset);
        }
    }

    /// Whether a value of one type may be used as the other. Coercions are explicit in a file, so except for literals
    /// the types must be equal, precision included.
    fn coerces(&self, from: Ty, to: Ty) -> bool {
        match (from, to) {
            (Ty::Unknown | Ty::Generic(_), _) | (_, Ty::Unknown | Ty::Generic(_)) => true,
            (Ty::Scalar(a), Ty::Scalar(b)) => a.stands_for(b),
            (Ty::Vector(a, n), Ty::Vector(b, m)) => n == m && a.stands_for(b),
            (Ty::Matrix(a, c, r), Ty::Matrix(b, d, s)) => (c, r) == (d, s) && a.stands_for(b),
            (Ty::Array(a), Ty::Array(b)) => {
                a == b
                    || (self.array_count(a) == self.array_count(b)
                        && self.coerces(self.typer.element(a), self.typer.element(b)))
            }
            (Ty::Struct(a), Ty::Struct(b)) => a == b || self.struct_name(a) == self.struct_name(b),
            _ => from == to,
        }
    }

    fn array_count(&self, array: Handle<Symbol>) -> Option<i8> {
        match self.tree.symbols[array] {
            Symbol::Array { count, .. } => Some(count),
            _ => None,
        }
    }

    fn struct_name(&self, handle: Handle<Symbol>) -> Option<&str> {
        match &self.tree.symbols[handle] {
            Symbol::Struct { name, .. } => Some(&self.tree.strings[*name]),
            _ => None,
        }
    }
}
