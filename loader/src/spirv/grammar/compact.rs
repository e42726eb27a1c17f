//! The compact text form of the built-in grammar: one line per instruction, kind and enumerant.
//!
//! `spirv 1.6.1` heads the core grammar, `set NAME REVISION` an extended set; `k CATEGORY NAME BASES...` begins a kind,
//! `= NAME VALUE` is an enumerant of it, `i NAME OPCODE CLASS` an instruction. After these follow, in any number: `c:`
//! capabilities, `e:` extensions (comma lists), `v:` first and `l:` last version, and operands as `Kind?:Name`, where
//! the quantifier and the name are optional and blanks in the name are written as `_`.

use super::model::{Enumerant, Instruction, Model, Needs, Number, Operand, OperandKind, Text};
use std::fmt::Write;

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

/// Reads compact text: the core grammar and the extended sets; `None` if a line breaks the format.
pub fn read(text: &'static str) -> Option<(Model, Vec<(String, Model)>)> {
    let mut core = Model::default();
    let mut sets: Vec<(String, Model)> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let tag = words.next()?;
        let model = sets.last_mut().map_or(&mut core, |set| &mut set.1);
        match tag {
            "spirv" => {
                let mut numbers = words.next()?.split('.').map(str::parse);
                core.major_version = numbers.next()?.ok()?;
                core.minor_version = numbers.next()?.ok()?;
                core.revision = numbers.next()?.ok()?;
            }
            "set" => {
                let name = words.next()?.to_owned();
                let revision = words.next()?.parse().ok()?;
                sets.push((
                    name,
                    Model {
                        revision,
                        ..Model::default()
                    },
                ));
            }
            "k" => {
                let (category, kind) = (words.next()?.into(), words.next()?.into());
                let bases = words.map(Text::from).collect();
                model.operand_kinds.push(OperandKind {
                    category,
                    kind,
                    bases,
                    ..OperandKind::default()
                });
            }
            "=" => {
                let (enumerant, value) = (words.next()?.into(), Number::Plain(words.next()?.parse().ok()?));
                let (needs, parameters) = tail(words);
                let row = Enumerant {
                    enumerant,
                    value,
                    parameters,
                    needs,
                };
                model.operand_kinds.last_mut()?.enumerants.push(row);
            }
            "i" => {
                let (opname, opcode) = (words.next()?.into(), words.next()?.parse().ok()?);
                let class = Some(words.next()?).filter(|c| *c != "-").map(Text::from);
                let (needs, operands) = tail(words);
                model.instructions.push(Instruction {
                    opname,
                    opcode,
                    class,
                    operands,
                    needs,
                });
            }
            _ => return None,
        }
    }
    Some((core, sets))
}

fn tail(words: impl Iterator<Item = &'static str>) -> (Needs, Vec<Operand>) {
    let (mut needs, mut operands) = (Needs::default(), Vec::new());
    let list = |text: &'static str| text.split(',').map(Text::from).collect();
    for word in words {
        match parted(word) {
            Some(("c", names)) => needs.capabilities = list(names),
            Some(("e", names)) => needs.extensions = list(names),
            Some(("v", text)) => needs.version = Some(text.into()),
            Some(("l", text)) => needs.last_version = Some(text.into()),
            _ => operands.push(operand(word)),
        }
    }
    (needs, operands)
}

fn operand(word: &'static str) -> Operand {
    let (kind, name) = parted(word).map_or((word, None), |(kind, name)| (kind, Some(with_blanks(name))));
    let (kind, quantifier) = match kind.strip_suffix(['?', '*']) {
        Some(bare) => (bare, Some(kind[bare.len()..].into())),
        None => (kind, None),
    };
    Operand {
        kind: kind.into(),
        quantifier,
        name,
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
