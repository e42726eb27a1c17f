//! The compact text form of the built-in grammar: one line per instruction, kind and enumerant.
//!
//! `spirv 1.6.1` heads the core grammar, `set NAME REVISION` an extended set; `k CATEGORY NAME BASES...` begins a kind,
//! `= NAME VALUE` is an enumerant of it, `i NAME OPCODE CLASS` an instruction. After these follow, in any number: `c:`
//! capabilities, `e:` extensions (comma lists), `v:` first and `l:` last version, and operands as `Kind?:Name`, where
//! the quantifier and the name are optional and blanks in the name are written as `_`.

use super::lazy::Lazy;
use super::model::{Enumerant, Instruction, Model, Needs, Number, Operand, OperandKind, Text};
use super::{Details, Gate, Grammar, Names, Quantifier, Row, Rule, Values};
use std::fmt::Write;
use std::ops::Range;
use std::str::SplitAsciiWhitespace;
use std::sync::Arc;

/// Writes the core grammar and the named extended sets as compact text.
pub fn write(core: &Model, sets: &[(String, Model)]) -> String {
    let mut out = format!(
        "spirv {}.{}.{}\n",
        core.major_version, core.minor_version, core.revision
    );
    body(core, &mut out);
    for (name, set) in sets {
        let _ = writeln!(out, "set {name} {}", set.revision);
        body(set, &mut out);
    }
    out
}

fn body(model: &Model, out: &mut String) {
    for kind in &model.operand_kinds {
        let _ = write!(out, "k {} {}", kind.category, kind.kind);
        for base in &kind.bases {
            let _ = write!(out, " {base}");
        }
        out.push('\n');
        for row in &kind.enumerants {
            let _ = write!(out, "= {} {}", row.enumerant, row.value.value().unwrap_or_default());
            needs(&row.needs, out);
            operands(&row.parameters, out);
        }
    }
    for row in &model.instructions {
        let class = row.class.as_deref().unwrap_or("-");
        let _ = write!(out, "i {} {} {class}", row.opname, row.opcode);
        needs(&row.needs, out);
        operands(&row.operands, out);
    }
}

fn needs(needs: &Needs, out: &mut String) {
    for (tag, list) in [("c", &needs.capabilities), ("e", &needs.extensions)] {
        if !list.is_empty() {
            let _ = write!(out, " {tag}:{}", list.join(","));
        }
    }
    for (tag, text) in [("v", &needs.version), ("l", &needs.last_version)] {
        // Newer files mark instructions of version 1.0 explicitly.
        if let Some(text) = text.as_deref().filter(|text| *text != "1.0") {
            let _ = write!(out, " {tag}:{text}");
        }
    }
}

fn operands(operands: &[Operand], out: &mut String) {
    for operand in operands {
        let _ = write!(out, " {}{}", operand.kind, operand.quantifier.as_deref().unwrap_or(""));
        // Names of a whole operand list span several lines and are useless in messages.
        if let Some(name) = operand.name.as_deref().filter(|name| !name.contains(['\n', ','])) {
            let _ = write!(out, ":{}", name.trim_matches('\'').replace(' ', "_"));
        }
    }
    out.push('\n');
}

/// Reads compact text as models: the core grammar and the extended sets; `None` if a line breaks the format.
pub fn read(text: &'static str) -> Option<(Model, Vec<(String, Model)>)> {
    let mut core = Model::default();
    let mut sets: Vec<(String, Model)> = Vec::new();
    for text in text.lines() {
        let model = sets.last_mut().map_or(&mut core, |set| &mut set.1);
        match line(text)? {
            Line::Head(major, minor, revision) => {
                (model.major_version, model.minor_version, model.revision) = (major, minor, revision);
            }
            Line::Set(name, revision) => {
                let model = Model {
                    revision,
                    ..Model::default()
                };
                sets.push((name.to_owned(), model));
            }
            Line::Kind(category, kind, bases) => model.operand_kinds.push(OperandKind {
                category: category.into(),
                kind: kind.into(),
                bases: bases.map(Text::from).collect(),
                ..OperandKind::default()
            }),
            Line::Enumerant(name, value, parts) => {
                let (needs, parameters) = needs_and_operands(parts);
                model.operand_kinds.last_mut()?.enumerants.push(Enumerant {
                    enumerant: name.into(),
                    value: Number::Plain(value),
                    parameters,
                    needs,
                });
            }
            Line::Instruction(name, opcode, class, parts) => {
                let (needs, operands) = needs_and_operands(parts);
                model.instructions.push(Instruction {
                    opname: name.into(),
                    opcode,
                    class: Some(class).filter(|class| *class != "-").map(Text::from),
                    operands,
                    needs,
                });
            }
        }
    }
    Some((core, sets))
}

fn needs_and_operands(parts: Parts) -> (Needs, Vec<Operand>) {
    let (mut needs, mut operands) = (Needs::default(), Vec::new());
    let list = |text: &'static str| text.split(',').map(Text::from).collect();
    for part in parts {
        match part {
            Part::Capabilities(names) => needs.capabilities = list(names),
            Part::Extensions(names) => needs.extensions = list(names),
            Part::Version(text) => needs.version = Some(text.into()),
            Part::LastVersion(text) => needs.last_version = Some(text.into()),
            Part::Operand(kind, quantifier, name) => operands.push(Operand {
                kind: kind.into(),
                quantifier: Some(quantifier).filter(|text| !text.is_empty()).map(Text::from),
                name,
            }),
        }
    }
    (needs, operands)
}

/// The core grammar or a set, by the places of its lines in the text.
#[derive(Default)]
struct Section {
    set: Option<&'static str>,
    /// Category, name and bases of each kind, with the lines of its enumerants.
    kinds: Vec<(&'static str, &'static str, SplitAsciiWhitespace<'static>, Range<usize>)>,
    /// Lines of the instructions.
    rows: Range<usize>,
    /// Name and opcode of each instruction of the core grammar, with its line.
    named: Vec<(&'static str, u16, &'static str)>,
}

/// Adds a line to those before it.
fn extend(lines: &mut Range<usize>, at: usize, end: usize) {
    *lines = if lines.start == lines.end { at } else { lines.start }..end;
}

/// Reads compact text as a grammar: names now, and what they stand for when it is asked for.
pub(super) fn grammar(text: &'static str) -> Option<Grammar> {
    let mut sections: Vec<Section> = Vec::new();
    let mut end = 0;
    for newline in memchr::memchr_iter(b'\n', text.as_bytes()) {
        let at = std::mem::replace(&mut end, newline + 1);
        let line = &text[at..end];
        match (line.as_bytes()[0], sections.last_mut()) {
            (b'=', Some(section)) => extend(&mut section.kinds.last_mut()?.3, at, end),
            (b'i', Some(section)) => {
                extend(&mut section.rows, at, end);
                if section.set.is_none() {
                    let mut words = line.split_ascii_whitespace().skip(1);
                    section.named.push((words.next()?, words.next()?.parse().ok()?, line));
                }
            }
            (_, section) => match (self::line(line)?, section) {
                (Line::Head(..), None) => sections.push(Section::default()),
                (Line::Set(name, _), _) => sections.push(Section {
                    set: Some(name),
                    ..Section::default()
                }),
                (Line::Kind(category, name, bases), Some(section)) => {
                    section.kinds.push((category, name, bases, 0..0));
                }
                _ => return None,
            },
        }
    }
    if end != text.len() {
        return None;
    }
    let mut grammar = Grammar::default();
    for section in sections {
        add(&mut grammar, text, section);
    }
    Some(grammar)
}

/// Adds one section of the text.
fn add(grammar: &mut Grammar, text: &'static str, section: Section) {
    let mut names = match section.set {
        Some(_) => grammar.names_of_set(),
        None => Names::default(),
    };
    // Kinds have indices before rows refer to them.
    for (_, kind, _, values) in &section.kinds {
        grammar.register((*kind).into(), section.set, &mut names);
        if *kind == "Capability" {
            let capabilities = text[values.clone()].lines().filter_map(|text| match line(text)? {
                Line::Enumerant(name, value, _) => Some((name.into(), value)),
                _ => None,
            });
            names.capabilities.extend(capabilities);
        }
    }
    let names = Arc::new(names);
    for (category, kind, bases, values) in section.kinds {
        let values = Lazy::of_text(&text[values], &names, values_of);
        grammar.define(category, kind, bases, values, &names);
    }
    match section.set {
        Some(set) => grammar.add_set(set, Lazy::of_text(&text[section.rows], &names, rows_of)),
        None => {
            let rows = section
                .named
                .into_iter()
                .map(|(name, opcode, line)| super::Instruction {
                    name: name.into(),
                    opcode,
                    row: Lazy::of_text(line, &names, |line, names| row_of(line, names).unwrap_or_default()),
                });
            grammar.set_rows(rows.collect());
            grammar.names = names;
        }
    }
}

/// The enumerants of a kind.
fn values_of(lines: &'static str, names: &Arc<Names>) -> Values {
    let rows = lines.lines().filter_map(|text| match line(text)? {
        Line::Enumerant(name, value, _) => Some(super::Enumerant {
            name: name.into(),
            value,
            details: Lazy::of_text(text, names, |text, names| details_of(text, names).unwrap_or_default()),
        }),
        _ => None,
    });
    Values::new(rows.collect())
}

/// What the line of an enumerant says besides name and number.
fn details_of(text: &'static str, names: &Names) -> Option<Details> {
    let Line::Enumerant(_, _, parts) = line(text)? else {
        return None;
    };
    let (gate, parameters) = gate_and_rules(parts, names);
    Some(Details { parameters, gate })
}

/// The instructions of a set by number.
fn rows_of(lines: &'static str, names: &Arc<Names>) -> Vec<Row> {
    let mut rows: Vec<Row> = lines.lines().filter_map(|line| row_of(line, names)).collect();
    rows.sort_by_key(|row| row.opcode);
    rows
}

/// The instruction of a line.
fn row_of(text: &'static str, names: &Names) -> Option<Row> {
    let Line::Instruction(name, opcode, _, parts) = line(text)? else {
        return None;
    };
    let (gate, operands) = gate_and_rules(parts, names);
    Some(names.row(name.into(), opcode, operands, gate))
}

fn gate_and_rules(parts: Parts, names: &Names) -> (Gate, Vec<Rule>) {
    let (mut capabilities, mut extensions, mut versions) = (None, None, (None, None));
    let mut rules = Vec::new();
    for part in parts {
        match part {
            Part::Capabilities(list) => capabilities = Some(list.split(',')),
            Part::Extensions(list) => extensions = Some(list.split(',')),
            Part::Version(text) => versions.0 = Some(text),
            Part::LastVersion(text) => versions.1 = Some(text),
            Part::Operand(kind, quantifier, name) => rules.push(Rule {
                kind: names.kind(kind),
                quantifier: Quantifier::of(quantifier),
                name: name.unwrap_or_default(),
            }),
        }
    }
    let capabilities = capabilities.into_iter().flatten();
    let extensions = extensions.into_iter().flatten().map(Text::from).collect();
    (names.gate(capabilities, extensions, versions), rules)
}

/// One line of the text.
enum Line {
    /// Major and minor version, and revision.
    Head(u32, u32, u32),
    /// Name and revision of a set.
    Set(&'static str, u32),
    /// Category, name and bases of a kind.
    Kind(&'static str, &'static str, SplitAsciiWhitespace<'static>),
    /// Name and number of an enumerant.
    Enumerant(&'static str, u32, Parts),
    /// Name, number and class of an instruction.
    Instruction(&'static str, u32, &'static str, Parts),
}

/// Takes a line of the text apart; `None` if it breaks the format.
fn line(text: &'static str) -> Option<Line> {
    let mut words = text.split_ascii_whitespace();
    Some(match words.next()? {
        "spirv" => {
            let mut numbers = words.next()?.split('.').map(str::parse);
            Line::Head(numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?)
        }
        "set" => Line::Set(words.next()?, words.next()?.parse().ok()?),
        "k" => Line::Kind(words.next()?, words.next()?, words),
        "=" => Line::Enumerant(words.next()?, words.next()?.parse().ok()?, Parts(words)),
        "i" => Line::Instruction(words.next()?, words.next()?.parse().ok()?, words.next()?, Parts(words)),
        _ => return None,
    })
}

/// A word behind an enumerant's or instruction's number.
enum Part {
    /// Names between commas.
    Capabilities(&'static str),
    /// Names between commas.
    Extensions(&'static str),
    /// First version.
    Version(&'static str),
    /// Last version.
    LastVersion(&'static str),
    /// Kind, quantifier and name of an operand.
    Operand(&'static str, &'static str, Option<Text>),
}

/// The words behind an enumerant's or instruction's number.
struct Parts(SplitAsciiWhitespace<'static>);

impl Iterator for Parts {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let word = self.0.next()?;
        Some(match parted(word) {
            Some(("c", names)) => Part::Capabilities(names),
            Some(("e", names)) => Part::Extensions(names),
            Some(("v", text)) => Part::Version(text),
            Some(("l", text)) => Part::LastVersion(text),
            operand => {
                let (kind, name) = operand.map_or((word, None), |(kind, name)| (kind, Some(with_blanks(name))));
                let bare = kind.strip_suffix(['?', '*']).unwrap_or(kind);
                Part::Operand(bare, &kind[bare.len()..], name)
            }
        })
    }
}

/// The parts before and behind the first colon.
fn parted(word: &'static str) -> Option<(&'static str, &'static str)> {
    // Faster than `split_once` for words that are this short, and there are 15,000.
    let at = word.bytes().position(|byte| byte == b':')?;
    Some((&word[..at], &word[at + 1..]))
}

fn with_blanks(name: &'static str) -> Text {
    match name.bytes().any(|byte| byte == b'_') {
        true => name.replace('_', " ").into(),
        false => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_reading_give_the_same_grammar() {
        let direct = grammar(super::super::BUILTIN).unwrap();
        let (core, sets) = read(super::super::BUILTIN).unwrap();
        let mut by_models = Grammar::default();
        by_models.extend(&core);
        for (name, set) in &sets {
            by_models.extend_set(name, set);
        }
        let parts = |grammar: &Grammar| {
            let rows: Vec<&Row> = grammar.rows().collect();
            format!("{:?} {:?} {rows:?}", grammar.kinds, grammar.sets)
        };
        assert_eq!(parts(&direct), parts(&by_models));
        assert!(direct.rows().len() > 800 && direct.sets.len() > 10);
        for row in by_models.rows() {
            let same = |other: &Grammar| other.row_named(&row.name).map(|row| row.opcode);
            assert_eq!(same(&direct), Some(row.opcode));
        }
        // The text of these models is the text that was read.
        assert_eq!(write(&core, &sets), super::super::BUILTIN);
        assert!(
            grammar("k\n").is_none()
                && grammar("i OpNop x -\n").is_none()
                && grammar("spirv 1.6.1").is_none()
                && read("spirv 1\n").is_none()
        );
    }
}
