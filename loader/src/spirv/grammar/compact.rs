//! The compact text form of the built-in grammar: one line per instruction, kind and enumerant.
//!
//! `spirv 1.6.1` heads the core grammar, `set NAME REVISION` an extended set; `k CATEGORY NAME BASES...` begins a kind,
//! `= NAME VALUE` is an enumerant of it, `i NAME OPCODE CLASS` an instruction. After these follow, in any number: `c:`
//! capabilities, `e:` extensions (comma lists), `v:` first and `l:` last version, and operands as `Kind?:Name`, where
//! the quantifier and the name are optional and blanks in the name are written as `_`.

use super::model::{Enumerant, Instruction, Model, Needs, Number, Operand, OperandKind, Text};
use super::{Gate, Grammar, Names, Quantifier, Rule};
use std::fmt::Write;
use std::str::SplitAsciiWhitespace;

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

/// Reads compact text as a grammar; without models between, because every command that reads SPIR-V waits for it.
pub(super) fn grammar(text: &'static str) -> Option<Grammar> {
    let mut grammar = Grammar::default();
    let mut rest = text;
    while !rest.is_empty() {
        // The core grammar and each set have names of their own.
        let end = rest.find("\nset ").map_or(rest.len(), |at| at + 1);
        let (part, behind) = rest.split_at(end);
        rest = behind;
        add(&mut grammar, part)?;
    }
    Some(grammar)
}

/// Adds one part of the text: the core grammar or a set.
fn add(grammar: &mut Grammar, part: &'static str) -> Option<()> {
    let set = match line(part.lines().next()?)? {
        Line::Set(name, _) => Some(name),
        _ => None,
    };
    let mut names = Names::new(set);
    // Kinds have indices before rows refer to them. Most lines are instructions, which this loop need not take apart.
    let mut is_capability = false;
    for text in part.lines().filter(|text| !text.starts_with('i')) {
        if !is_capability && text.starts_with('=') {
            continue;
        }
        match line(text)? {
            Line::Kind(_, kind, _) => {
                grammar.register(kind, &mut names);
                is_capability = kind == "Capability";
            }
            Line::Enumerant(name, value, _) => _ = names.capabilities.insert(name.into(), value),
            _ => {}
        }
    }
    let mut kind: Option<(&'static str, &'static str, SplitAsciiWhitespace<'static>)> = None;
    let (mut enumerants, mut rows) = (Vec::new(), Vec::new());
    for text in part.lines() {
        let line = line(text)?;
        if !matches!(line, Line::Enumerant(..))
            && let Some((category, name, bases)) = kind.take()
        {
            grammar.define(category, name, bases, std::mem::take(&mut enumerants), &names);
        }
        match line {
            Line::Head(..) | Line::Set(..) => {}
            Line::Kind(category, name, bases) => kind = Some((category, name, bases)),
            Line::Enumerant(name, value, parts) => {
                let (gate, parameters) = gate_and_rules(grammar, parts, &names);
                enumerants.push(super::Enumerant {
                    name: name.into(),
                    value,
                    parameters,
                    gate,
                });
            }
            Line::Instruction(name, opcode, _, parts) => {
                let (gate, operands) = gate_and_rules(grammar, parts, &names);
                rows.push(grammar.row_of(name.into(), opcode, operands, gate));
            }
        }
    }
    if let Some((category, name, bases)) = kind {
        grammar.define(category, name, bases, enumerants, &names);
    }
    match set {
        Some(set) => grammar.add_set(set, rows),
        None => grammar.add_rows(rows),
    }
    Some(())
}

fn gate_and_rules(grammar: &Grammar, parts: Parts, names: &Names) -> (Gate, Vec<Rule>) {
    let (mut capabilities, mut extensions, mut versions) = (None, None, (None, None));
    let mut rules = Vec::new();
    for part in parts {
        match part {
            Part::Capabilities(list) => capabilities = Some(list.split(',')),
            Part::Extensions(list) => extensions = Some(list.split(',')),
            Part::Version(text) => versions.0 = Some(text),
            Part::LastVersion(text) => versions.1 = Some(text),
            Part::Operand(kind, quantifier, name) => rules.push(Rule {
                kind: grammar.kind_named(kind, names),
                quantifier: Quantifier::of(quantifier),
                name: name.unwrap_or_default(),
            }),
        }
    }
    let capabilities = capabilities.into_iter().flatten();
    let extensions = extensions.into_iter().flatten().map(Text::from).collect();
    (grammar.gate(capabilities, extensions, versions, names), rules)
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
        let parts = |grammar: &Grammar| format!("{:?} {:?} {:?}", grammar.kinds, grammar.sets, grammar.rows());
        assert_eq!(parts(&direct), parts(&by_models));
        assert!(direct.rows().len() > 800 && direct.sets.len() > 10);
        for row in by_models.rows() {
            let same = |other: &Grammar| other.row_named(&row.name).map(|row| row.opcode);
            assert_eq!(same(&direct), Some(row.opcode));
        }
        // The text of these models is the text that was read.
        assert_eq!(write(&core, &sets), super::super::BUILTIN);
        assert!(grammar("k\n").is_none() && grammar("i OpNop x -\n").is_none() && read("spirv 1\n").is_none());
    }
}
