//! Mutants of modules: changes of one word or instruction, chosen by the grammar.

use loader::spirv::grammar::{Row, Shape};
use loader::spirv::operand::{Context, operands};
use loader::spirv::{Grammar, instructions, op};
use std::collections::BTreeMap;

fn grammar() -> &'static Grammar {
    Grammar::builtin()
}

/// What a change is to.
pub(crate) const WAYS: [&str; 12] = [
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
pub(crate) fn mutate(words: &[u32], way: usize, random: &mut fastrand::Rng) -> Option<Vec<u32>> {
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
            out[place.at] = random.choice(grammar.kind(place.kind)?.enumerants())?.value;
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
            let kinds = |row: &Row| -> Vec<u16> { row.operands.iter().map(|operand| operand.kind).collect() };
            let same = grammar
                .rows()
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
