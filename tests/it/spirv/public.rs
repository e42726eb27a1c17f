//! Our rules against SPIRV-Tools' verdicts: public modules, and mutants of them by one word or instruction, chosen by
//! the grammar.

use super::module_text::{Sample, bytes, grammar, in_pairs, installed, tool};
use crate::common;

use skrymir::loader::Severity;
use skrymir::loader::spirv::grammar::Shape;
use skrymir::loader::spirv::operand::{Context, operands};
use skrymir::loader::spirv::{TargetEnv, instructions, op, to_words, validate, validate_for};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// The public modules with SPIRV-Tools' verdict on each.
fn public() -> Vec<(Sample, bool)> {
    let Some(folder) = common::corpus("spirv") else {
        return Vec::new();
    };
    let verdicts = std::fs::read_to_string(folder.join("verdicts.tsv")).expect("the verdicts");
    let rows = verdicts.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let mut fields = line.split('\t');
        let (name, verdict) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let file = std::fs::read(folder.join(format!("{name}.spv"))).expect("a module of the list");
        let words = to_words(&file).expect("whole words");
        let name = name.to_owned();
        (Sample { name, words }, verdict == "Valid")
    })
    .collect()
}

fn ours(words: &[u32]) -> Option<String> {
    let report = validate(grammar(), words);
    (!report.is_valid()).then(|| report.diagnostics[0].to_string())
}

#[test]
fn public_modules_get_the_verdict_of_spirv_tools() {
    let all = public();
    let mut table = [[0; 2]; 2];
    let mut apart = Vec::new();
    for (sample, valid) in &all {
        let found = ours(&sample.words);
        table[usize::from(!valid)][usize::from(found.is_some())] += 1;
        if found.is_none() != *valid {
            apart.push(format!("{}: valid is {valid}, our rules find {found:?}", sample.name));
        }
    }
    println!("{} public modules", all.len());
    println!("{:24} {:>8} {:>8}", "SPIRV-Tools", "we: ok", "we: bad");
    println!("{:24} {:8} {:8}", "valid", table[0][0], table[0][1]);
    println!("{:24} {:8} {:8}", "invalid", table[1][0], table[1][1]);
    assert!(apart.is_empty(), "{apart:#?}");
}

#[test]
fn public_modules_get_the_verdict_for_each_target_environment() {
    let all = public();
    if all.is_empty() || !installed("spirv-val") {
        println!("no public modules or no spirv-val here: nothing to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for env in TargetEnv::ALL {
        let apart = Mutex::new(Vec::new());
        in_pairs(&all, |at, (sample, _)| {
            let theirs = reference(sample, at, folder.path(), &["--target-env", env.name()]);
            let report = validate_for(grammar(), &sample.words, *env);
            let mut errors = report.diagnostics.iter().filter(|d| d.severity == Severity::Error);
            let newer = theirs.is_none() && errors.all(|found| NEWER.contains(&found.rule));
            if report.is_valid() != theirs.is_none() && !newer {
                apart
                    .lock()
                    .unwrap()
                    .push(format!("{}: {theirs:?}; we {report:?}", sample.name));
            }
        });
        let apart = apart.into_inner().unwrap();
        println!("{env:16} {} of {} verdicts differ", apart.len(), all.len());
        apart.iter().for_each(|line| println!("  {line}"));
        assert!(apart.is_empty(), "{env}");
    }
}

/// Rules of the specification that SPIRV-Tools checks since 2023.1, which distributions have.
const NEWER: [&str; 4] = [
    "vulkan-explicit-layout",
    "vulkan-physical-layout",
    "vulkan-local-size",
    "mesh",
];

const WAYS: [&str; 12] = [
    "id of the same kind",
    "enumerant",
    "literal",
    "removed",
    "doubled",
    "swapped",
    "branch retargeted",
    "version",
    "declaration removed",
    "opcode of the same shape",
    "moved",
    "operand dropped",
];

/// Mutable parts of a module.
struct Anatomy {
    /// Position, length and opcode of each instruction.
    spans: Vec<(usize, usize, u16)>,
    /// Opcode that defines each id.
    defs: BTreeMap<u32, u16>,
    places: Vec<Place>,
    first_function: usize,
}

/// An operand's word.
struct Place {
    at: usize,
    kind: u16,
    class: Class,
    opcode: u16,
    in_function: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Id,
    Enumerant,
    Literal,
}

impl Anatomy {
    fn of(words: &[u32]) -> Self {
        let (grammar, mut context) = (grammar(), Context::new(words));
        let mut this = Self {
            spans: Vec::new(),
            defs: BTreeMap::new(),
            places: Vec::new(),
            first_function: usize::MAX,
        };
        for instruction in instructions(words).flatten() {
            let opcode = instruction.opcode;
            let row = grammar.row(opcode);
            context.note(grammar, row, &instruction);
            if opcode == op::FUNCTION && this.first_function == usize::MAX {
                this.first_function = this.spans.len();
            }
            this.spans.push((instruction.position, instruction.words.len(), opcode));
            for operand in operands(grammar, &context, row, &instruction).flatten() {
                let class = match operand.shape {
                    Shape::Id | Shape::ResultType => Class::Id,
                    Shape::Value | Shape::Mask => Class::Enumerant,
                    Shape::Integer | Shape::ContextNumber => Class::Literal,
                    Shape::Result => {
                        this.defs.insert(operand.words[0], opcode);
                        continue;
                    }
                    _ => continue,
                };
                if !matches!(opcode, op::SOURCE | op::NAME | op::MEMBER_NAME) {
                    this.places.push(Place {
                        at: instruction.position + operand.at,
                        kind: operand.kind,
                        class,
                        opcode,
                        in_function: this.first_function != usize::MAX,
                    });
                }
            }
        }
        this.first_function = this.first_function.min(this.spans.len());
        this
    }

    fn place(&self, random: &mut fastrand::Rng, wanted: impl Fn(&Place) -> bool) -> Option<&Place> {
        let in_function = random.bool();
        let all: Vec<&Place> = self.places.iter().filter(|place| wanted(place)).collect();
        let near: Vec<&Place> = all
            .iter()
            .copied()
            .filter(|place| place.in_function == in_function)
            .collect();
        random.choice(if near.is_empty() { all } else { near })
    }

    /// An instruction of the declarations as often as one of the functions.
    fn span(&self, random: &mut fastrand::Rng) -> usize {
        let (first, count) = (self.first_function, self.spans.len());
        match random.bool() && first < count {
            true => random.usize(first..count),
            false => random.usize(0..first.max(1)),
        }
    }
}

/// Ids that may replace each other: types, values, functions, variables, labels, others.
fn kind_of_definition(opcode: u16) -> u8 {
    match opcode {
        op::TYPE_VOID..=op::TYPE_FORWARD_POINTER => 0,
        op::FUNCTION => 2,
        op::VARIABLE => 3,
        op::LABEL => 4,
        op::EXT_INST_IMPORT | op::DECORATION_GROUP => 5,
        _ => 1,
    }
}

/// One change to a module, if there is anything to change.
fn mutate(words: &[u32], way: usize, random: &mut fastrand::Rng) -> Option<Vec<u32>> {
    let grammar = grammar();
    let anatomy = Anatomy::of(words);
    let mut out = words.to_vec();
    let n = anatomy.span(random);
    let (at, length, opcode) = anatomy.spans[n];
    match way {
        0 | 6 => {
            let is_label = |place: &Place| anatomy.defs.get(&words[place.at]) == Some(&op::LABEL);
            let branches = |place: &Place| (op::LOOP_MERGE..=op::SWITCH).contains(&place.opcode) && is_label(place);
            let place = anatomy.place(random, |place| {
                place.class == Class::Id && (way == 0 || branches(place))
            })?;
            let kind = kind_of_definition(*anatomy.defs.get(&words[place.at])?);
            let same = anatomy
                .defs
                .iter()
                .filter(|def| kind_of_definition(*def.1) == kind)
                .map(|def| *def.0);
            out[place.at] = random.choice(same.collect::<Vec<_>>())?;
        }
        1 => {
            let place = anatomy.place(random, |place| place.class == Class::Enumerant)?;
            out[place.at] = random.choice(&grammar.kind(place.kind)?.enumerants)?.value;
        }
        2 => {
            let place = anatomy.place(random, |place| place.class == Class::Literal)?;
            let old = words[place.at];
            out[place.at] = [
                old.wrapping_add(1),
                old.wrapping_sub(1),
                random.u32(0..20),
                old.wrapping_mul(2),
            ][random.usize(0..4)];
        }
        3 => drop(out.drain(at..at + length)),
        4 => {
            let mut copy = words[at..at + length].to_vec();
            let row = grammar.row(opcode)?;
            if row.has_result && random.u8(0..8) > 0 {
                copy[1 + usize::from(row.has_type)] = out[3];
                out[3] += 1;
            }
            out.splice(at + length..at + length, copy);
        }
        5 => {
            let (next, after, _) = *anatomy.spans.get(n + 1)?;
            let both = [&words[next..next + after], &words[at..at + length]].concat();
            out.splice(at..next + after, both);
        }
        7 => out[1] = 0x10000 + 0x100 * random.u32(0..7),
        8 => {
            let declares = [op::CAPABILITY, op::EXTENSION, op::EXECUTION_MODE];
            let all = anatomy.spans.iter().filter(|span| declares.contains(&span.2));
            let (at, length, _) = *random.choice(all.collect::<Vec<_>>())?;
            out.drain(at..at + length);
        }
        9 => {
            let row = grammar.row(opcode)?;
            let kinds = |row: &skrymir::loader::spirv::grammar::Row| -> Vec<u16> {
                row.operands.iter().map(|operand| operand.kind).collect()
            };
            let same = grammar
                .rows()
                .iter()
                .filter(|other| other.opcode != row.opcode && kinds(other) == kinds(row));
            let other = random.choice(same.collect::<Vec<_>>())?;
            out[at] = out[at] & 0xffff_0000 | other.opcode;
        }
        10 => {
            let (to, _, _) = anatomy.spans[anatomy.span(random)];
            let moved = words[at..at + length].to_vec();
            out.drain(at..at + length);
            let to = if to > at { to - length } else { to };
            out.splice(to..to, moved);
        }
        _ if length >= 3 => {
            out.remove(at + length - 1);
            out[at] -= 0x10000;
        }
        _ => return None,
    }
    (out != words).then_some(out)
}

/// Default number of mutants without `SPIRV_MUTANTS`; each takes milliseconds.
const MUTANTS: usize = 2400;

/// A number from the environment: `SPIRV_SEED=7 SPIRV_MUTANTS=20000` for other and more mutants.
fn number(name: &str, otherwise: usize) -> usize {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn mutants_of_public_modules_get_the_verdict_of_spirv_tools() {
    let all: Vec<Sample> = public().into_iter().filter(|row| row.1).map(|row| row.0).collect();
    if all.is_empty() || !installed("spirv-val") {
        println!("no public modules or no spirv-val here: nothing to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (wanted, seed) = (number("SPIRV_MUTANTS", MUTANTS), number("SPIRV_SEED", 16));
    let mut random = fastrand::Rng::with_seed(seed as u64);
    let mut mutants = Vec::new();
    while mutants.len() < wanted {
        let (base, way) = (&all[random.usize(0..all.len())], mutants.len() % WAYS.len());
        if base.words.len() > 6000 {
            continue;
        }
        if let Some(words) = mutate(&base.words, way, &mut random) {
            let name = format!("{} ({})", base.name, WAYS[way]);
            mutants.push((way, Sample { name, words }));
        }
    }
    let table = Mutex::new(BTreeMap::<usize, [usize; 4]>::new());
    let apart = Mutex::new(Vec::new());
    in_pairs(&mutants, |at, (way, sample)| {
        let (theirs, found) = (reference(sample, at, folder.path(), &[]), ours(&sample.words));
        let column = 2 * usize::from(theirs.is_none()) + usize::from(found.is_none() != theirs.is_none());
        table.lock().unwrap().entry(*way).or_default()[column] += 1;
        if found.is_none() != theirs.is_none() {
            apart
                .lock()
                .unwrap()
                .push(format!("{}: {theirs:?}; we {found:?}", sample.name));
        }
    });
    let (table, apart) = (table.into_inner().unwrap(), apart.into_inner().unwrap());
    println!(
        "{:26} {:>8} {:>8} {:>8} {:>8}",
        "mutation", "both bad", "only val", "both ok", "only we"
    );
    for (way, row) in &table {
        println!("{:26} {:8} {:8} {:8} {:8}", WAYS[*way], row[0], row[1], row[2], row[3]);
    }
    println!("{} of {} verdicts differ", apart.len(), mutants.len());
    apart.iter().for_each(|line| println!("  {line}"));
    let invalid: usize = table.values().map(|row| row[0] + row[1]).sum();
    assert!(invalid > wanted / 2, "too few mutants that SPIRV-Tools rejects");
    assert!(
        apart.len() * 1000 <= wanted,
        "more than one verdict in a thousand differs"
    );
}

fn reference(sample: &Sample, at: usize, folder: &Path, flags: &[&str]) -> Option<String> {
    let file = folder.join(format!("p{at}.spv"));
    std::fs::write(&file, bytes(&sample.words)).unwrap();
    let output = tool("spirv-val", flags, &[&file]);
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| text.lines().next().unwrap_or_default().to_owned())
}
