//! Assembles modules from text, as the reference assembler (`spirv-as` of SPIRV-Tools) does.

mod lex;
mod literal;

use super::grammar::{Grammar, Quantifier, Row, Shape};
use super::operand::{Context, NumberType};
use super::{Instruction, MAGIC};
pub use crate::SourceError as Error;
use lex::{Token, begins, tokens};
use std::collections::{HashMap, HashSet};

/// Assembler options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Numeric ids keep their value; other ids fill the gaps.
    pub preserve_numeric_ids: bool,
    /// Like the above, and the header is taken from the disassembler's comments: restores the exact words of a module
    /// that was printed with raw ids.
    pub exact: bool,
    /// The SPIR-V version in the header; 1.6 if absent.
    pub version: Option<u32>,
}

/// Assembles a text.
///
/// # Errors
/// The first place where the text does not follow the grammar.
pub fn assemble(grammar: &Grammar, text: &str, options: Options) -> Result<Vec<u32>, Error> {
    let tokens = tokens(text);
    let keep = options.preserve_numeric_ids || options.exact;
    let kept = tokens
        .iter()
        .filter(|_| keep)
        .filter_map(|t| t.text.strip_prefix('%')?.parse().ok());
    let mut assembler = Assembler {
        grammar,
        text,
        tokens: &tokens,
        at: 0,
        words: vec![MAGIC, options.version.unwrap_or(0x0001_0600), 7 << 16, 0, 0],
        // The context's table is indexed by id: the text has no more ids than tokens.
        context: Context::with_room(tokens.len()),
        named: HashMap::new(),
        kept: kept.collect(),
        next: 1,
        bound: 1,
    };
    while assembler.at < tokens.len() {
        assembler.instruction()?;
    }
    let (mut words, bound) = (assembler.words, assembler.bound);
    words[3] = bound;
    if options.exact {
        header(text, &mut words);
    }
    Ok(words)
}

/// Reads the header from the comments at the start of the text.
fn header(text: &str, words: &mut [u32]) {
    for line in text.lines().map_while(|line| line.strip_prefix("; ")) {
        let Some((key, value)) = line.split_once(": ") else {
            continue;
        };
        match key {
            "Version" => words[1] = super::grammar::version(value).unwrap_or(words[1]),
            "Generator" => words[2] = super::dis::generator(value).unwrap_or(words[2]),
            "Bound" => words[3] = value.parse().unwrap_or(words[3]),
            "Schema" => words[4] = value.parse().unwrap_or(words[4]),
            _ => {}
        }
    }
}

struct Assembler<'g, 't> {
    grammar: &'g Grammar,
    text: &'t str,
    tokens: &'t [Token<'t>],
    at: usize,
    words: Vec<u32>,
    context: Context,
    named: HashMap<&'t str, u32>,
    kept: HashSet<u32>,
    next: u32,
    bound: u32,
}

/// The operands that may follow, in reverse order.
type Pattern<'g> = Vec<(u16, Quantifier, &'g str)>;

impl<'g, 't> Assembler<'g, 't> {
    fn error<T>(&self, token: Option<Token<'t>>, message: impl Into<String>) -> Result<T, Error> {
        let span = token.map_or(self.text.len()..self.text.len(), |t| t.span());
        Err(Error::new(self.text, span, message.into()))
    }

    fn next(&mut self) -> Option<Token<'t>> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn id(&mut self, name: &'t str) -> u32 {
        let number = name.parse().ok().filter(|id| self.kept.contains(id));
        let id = match number.or_else(|| self.named.get(name).copied()) {
            Some(id) => id,
            None => {
                while self.kept.contains(&self.next) {
                    self.next += 1;
                }
                self.named.insert(name, self.next);
                self.next += 1;
                self.next - 1
            }
        };
        self.bound = self.bound.max(id.saturating_add(1));
        id
    }

    fn instruction(&mut self) -> Result<(), Error> {
        let Some(mut token) = self.next() else { return Ok(()) };
        if token.text.starts_with('!') {
            return self.raw(token);
        }
        let mut result = None;
        if token.text.starts_with('%') {
            result = Some(token);
            let equals = self.next();
            if equals.is_none_or(|t| t.text != "=") {
                return self.error(equals.or(Some(token)), "expected `=` behind a result");
            }
            match self.next() {
                Some(op) => token = op,
                None => return self.error(None, "expected an opcode behind `=`"),
            }
        }
        if !token.text.starts_with("Op") {
            return self.error(Some(token), format!("expected an opcode, found `{}`", token.text));
        }
        let Some(row) = self.grammar.row_named(token.text) else {
            return self.error(Some(token), format!("`{}` is not an opcode", token.text));
        };
        match result {
            None if row.has_result => {
                return self.error(
                    Some(token),
                    format!("{} has a result: expected `%name =` before it", row.name),
                );
            }
            Some(result) if !row.has_result => return self.error(Some(result), format!("{} has no result", row.name)),
            _ => {}
        }
        let start = self.words.len();
        self.words.push(0);
        self.operands(row, result, token)?;
        let length = self.words.len() - start;
        if length > 0xffff {
            return self.error(
                Some(token),
                format!("{} would take {length} words, 65535 are the most", row.name),
            );
        }
        self.words[start] = (length as u32) << 16 | row.opcode;
        let instruction = Instruction {
            opcode: row.opcode as u16,
            words: &self.words[start..],
            position: start,
        };
        self.context.note(self.grammar, Some(row), &instruction);
        Ok(())
    }

    /// An instruction given as words: up to the next instruction, every token is a number, an id or a string.
    fn raw(&mut self, first: Token<'t>) -> Result<(), Error> {
        self.bare(first, "an instruction given as words")?;
        while !begins(&self.tokens[self.at.min(self.tokens.len())..]) {
            let Some(token) = self.next() else { break };
            self.bare(token, "an instruction given as words")?;
        }
        Ok(())
    }

    fn operands(&mut self, row: &'g Row, result: Option<Token<'t>>, op: Token<'t>) -> Result<(), Error> {
        let start = self.words.len() - 1;
        let mut pattern: Pattern<'g> = Vec::new();
        push(&mut pattern, &row.operands);
        let mut bare = false;
        while let Some(&(kind, quantifier, name)) = pattern.last() {
            let shape = self.grammar.shape(kind);
            if *shape == Shape::Result {
                pattern.pop();
                if let Some(token) = result {
                    let id = self.id_of(token, &row.name)?;
                    self.words.push(id);
                }
                continue;
            }
            let ends = begins(&self.tokens[self.at.min(self.tokens.len())..]);
            if ends && (quantifier != Quantifier::One || bare) {
                // After bare words only the result may remain.
                pattern.retain(|p| *self.grammar.shape(p.0) == Shape::Result);
                if pattern.is_empty() { break } else { continue }
            }
            if quantifier != Quantifier::Many {
                pattern.pop();
            }
            if let Shape::Composite(parts) = shape {
                pattern.extend(parts.iter().rev().map(|kind| (*kind, Quantifier::One, name)));
                continue;
            }
            let expected = || describe(self.grammar, kind, name);
            if ends {
                let message = format!("{} ends too early: expected {}", row.name, expected());
                return self.error(Some(op), message);
            }
            let Some(token) = self.next() else {
                return self.error(Some(op), "the text ends here");
            };
            if bare || token.text.starts_with('!') {
                if !bare {
                    // After a bare word nothing is known except the place of the result.
                    let results: Pattern<'g> = pattern
                        .drain(..)
                        .filter(|p| *self.grammar.shape(p.0) == Shape::Result)
                        .collect();
                    pattern.push((u16::MAX, Quantifier::Many, "word"));
                    pattern.extend(results);
                    bare = true;
                }
                self.bare(token, &row.name)?;
                continue;
            }
            match self.operand(kind, shape, token, start, &mut pattern) {
                Ok(()) => {}
                Err(Some(why)) => {
                    return self.error(
                        Some(token),
                        format!("{}: expected {}: {why}, found `{}`", row.name, expected(), token.text),
                    );
                }
                Err(None) => {
                    return self.error(
                        Some(token),
                        format!("{}: expected {}, found `{}`", row.name, expected(), token.text),
                    );
                }
            }
        }
        if begins(&self.tokens[self.at.min(self.tokens.len())..]) {
            return Ok(());
        }
        let extra = self.next();
        let text = extra.map_or("", |t| t.text);
        self.error(
            extra,
            format!(
                "{} has no further operand: expected an instruction, found `{text}`",
                row.name
            ),
        )
    }

    fn id_of(&mut self, token: Token<'t>, op: &str) -> Result<u32, Error> {
        match token.text.strip_prefix('%') {
            Some(name) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => {
                Ok(self.id(name))
            }
            _ => self.error(
                Some(token),
                format!("{op}: expected an id such as %name, found `{}`", token.text),
            ),
        }
    }

    /// A number, id or string without a known kind.
    fn bare(&mut self, token: Token<'t>, op: &str) -> Result<(), Error> {
        let text = token.text;
        if text.starts_with('%') {
            let id = self.id_of(token, op)?;
            self.words.push(id);
        } else if text.starts_with('"') {
            match literal::string(text) {
                Some(words) => self.words.extend(words),
                None => return self.error(Some(token), format!("{op}: expected a string in quotation marks")),
            }
        } else if let Some(value) = literal::unsigned(text.strip_prefix('!').unwrap_or(text)) {
            self.words.push(value);
        } else if let Ok(words) =
            literal::number(text, NumberType::Signed(32)).or_else(|_| literal::number(text, NumberType::Float(32)))
        {
            self.words.extend(words);
        } else {
            return self.error(
                Some(token),
                format!("{op}: expected a number, an id or a string, found `{text}`"),
            );
        }
        Ok(())
    }

    /// An operand of a known kind; the error may be more specific than the expected kind.
    fn operand(
        &mut self,
        kind: u16,
        shape: &Shape,
        token: Token<'t>,
        start: usize,
        pattern: &mut Pattern<'g>,
    ) -> Result<(), Option<String>> {
        let text = token.text;
        let grammar = self.grammar;
        match shape {
            Shape::Id | Shape::ResultType => {
                let id = self.id_of(token, "").map_err(|_| None)?;
                self.words.push(id);
            }
            Shape::Integer | Shape::ContextNumber => {
                let opcode_is_switch = pattern_is_switch(pattern, grammar);
                let number = match shape {
                    Shape::ContextNumber => self.context.number(self.words[start + 1]),
                    _ if opcode_is_switch => self.context.number(self.words[start + 1]),
                    _ => NumberType::Unsigned(32),
                };
                let words = literal::number(text, number).map_err(Some)?;
                self.words.extend(words);
            }
            Shape::Float => self
                .words
                .extend(literal::number(text, NumberType::Float(32)).map_err(Some)?),
            Shape::String => self.words.extend(literal::string(text).ok_or(None)?),
            Shape::Value => {
                let row = grammar.kind(kind).and_then(|k| k.by_name(text)).ok_or(None)?;
                self.words.push(row.value);
                push(pattern, row.parameters());
            }
            Shape::Mask => {
                let table = grammar.kind(kind).ok_or(None)?;
                let mut rows = Vec::new();
                for name in text.split('|') {
                    rows.push(
                        table
                            .by_name(name)
                            .ok_or_else(|| Some(format!("`{name}` is none of its bits")))?,
                    );
                }
                self.words.push(rows.iter().fold(0, |mask, row| mask | row.value));
                rows.sort_by_key(|row| row.value);
                rows.dedup_by_key(|row| row.value);
                rows.iter().rev().for_each(|row| push(pattern, row.parameters()));
            }
            Shape::SpecOp => {
                let row = grammar
                    .row_named(&format!("Op{text}"))
                    .filter(|r| r.has_type && r.has_result)
                    .ok_or(None)?;
                self.words.push(row.opcode);
                push(pattern, row.operands.get(2..).unwrap_or(&[]));
            }
            Shape::ExtInst => {
                let set = self.words.last().and_then(|id| self.context.set(*id));
                let rows = set.flatten().map(|at| grammar.sets[at].rows());
                let row = rows.and_then(|rows| rows.iter().find(|r| r.name == text));
                match row {
                    Some(row) => {
                        self.words.push(row.opcode);
                        pattern.clear();
                        push(pattern, &row.operands);
                    }
                    None => {
                        let number = literal::unsigned(text).filter(|_| rows.is_none());
                        self.words.push(number.ok_or_else(|| match set {
                            None => Some("no OpExtInstImport before this gives the set".to_owned()),
                            Some(_) => None,
                        })?);
                    }
                }
            }
            Shape::Raw | Shape::Composite(_) | Shape::Result => return Err(None),
        }
        Ok(())
    }
}

/// Whether an integer about to be read is a case of OpSwitch: only there a single id follows it and the pair repeats.
fn pattern_is_switch(pattern: &Pattern<'_>, grammar: &Grammar) -> bool {
    pattern
        .iter()
        .any(|p| grammar.kind(p.0).is_some_and(|k| k.name == "PairLiteralIntegerIdRef"))
}

fn push<'g>(pattern: &mut Pattern<'g>, rules: &'g [super::grammar::Rule]) {
    pattern.extend(rules.iter().rev().map(|r| (r.kind, r.quantifier, &*r.name)));
}

/// Describes an operand, for messages.
fn describe(grammar: &Grammar, kind: u16, name: &str) -> String {
    let what = match grammar.shape(kind) {
        Shape::Id | Shape::ResultType | Shape::Result => "an id such as %name".to_owned(),
        Shape::Integer | Shape::ContextNumber | Shape::Float => "a number".to_owned(),
        Shape::String => "a string in quotation marks".to_owned(),
        Shape::SpecOp => "an opcode without Op".to_owned(),
        Shape::ExtInst => "an instruction of the extended set".to_owned(),
        _ => grammar.kind(kind).map_or("a word".to_owned(), |k| k.name.clone()),
    };
    let name = name.trim_matches('\'');
    if name.is_empty() || name.contains('\n') {
        what
    } else {
        format!("{what} ({name})")
    }
}
