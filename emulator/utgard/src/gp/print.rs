//! GP instructions as text, in the style of the lima driver's disassembly: an instruction is a number, then its units
//! separated by commas, one a line. `^N` is the result of unit `N % 6` of instruction `N / 6`.
//!
//! What the short form does not say is written behind it as `set FIELD VALUE`: the printer assembles its own text and
//! compares, so a text always gives the same words again.

use super::ops::{self, Op, UNITS};
use super::{Instruction, Target, WORDS, parse};
use crate::field::Fields;
use crate::text::COMPONENTS;

/// How a program is printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The words stand behind every instruction, and where branches come from before it, as comments.
    pub words: bool,
}

/// A program as text that assembles to the same words.
pub fn disassemble(program: &[[u32; WORDS]], options: Options) -> String {
    let instructions: Vec<Instruction> = program.iter().map(|words| Instruction::decode(*words)).collect();
    let count = instructions.len();
    let mut all: Vec<Vec<String>> = instructions
        .iter()
        .enumerate()
        .map(|(at, instruction)| {
            Printer {
                at: at as u32,
                count,
                instruction,
            }
            .parts()
        })
        .collect();
    // What the short form leaves out is what differs when it is read again.
    let short: String = all.iter().map(|parts| parts.join(", ") + "\n").collect();
    let labels: String = short
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{at:03}: {line}\n"))
        .collect();
    if let Ok(canonical) = parse::program(&labels) {
        for ((parts, have), canonical) in all.iter_mut().zip(&instructions).zip(&canonical) {
            let (have, canonical) = (have.to_bits(), canonical.to_bits());
            for field in Instruction::FIELDS
                .iter()
                .filter(|field| field.of(have) != field.of(canonical))
            {
                parts.push(format!("set {} {}", field.name, field.of(have)));
            }
        }
    }
    let mut text = String::new();
    for (at, (parts, words)) in all.iter().zip(program).enumerate() {
        if options.words {
            let from = instructions
                .iter()
                .enumerate()
                .filter(|(_, i)| i.branch == 1 && usize::from(i.target()) == at);
            let from: Vec<String> = from.map(|(from, _)| format!("{from:03}")).collect();
            if !from.is_empty() {
                text += &format!("# from {}\n", from.join(", "));
            }
        }
        text += &format!("{at:03}: {}", parts.join(",\n     "));
        if options.words {
            let words = words.map(|word| format!("{word:08x}"));
            text += &format!("  # {}", words.join(" "));
        }
        text.push('\n');
    }
    text
}

struct Printer<'a> {
    at: u32,
    count: usize,
    instruction: &'a Instruction,
}

/// Name of an operation, or its number.
fn name(table: &[Op], code: u16) -> String {
    ops::by_code(table, code).map_or_else(|| format!("op{code}"), |op| op.name.to_owned())
}

fn negated(text: String, negate: u16) -> String {
    if negate == 1 { format!("-{text}") } else { text }
}

impl Printer<'_> {
    fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = [
            self.acc(0),
            self.acc(1),
            self.mul0(),
            self.mul1(),
            self.complex(),
            self.pass(),
            self.branch(),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            parts.push("nop".to_owned());
        }
        parts
    }

    fn source(&self, source: u16) -> String {
        let i = self.instruction;
        let letter = COMPONENTS[usize::from(source & 3)];
        match source {
            0..=3 if i.register0_is_attribute == 1 => format!("a{}.{letter}", i.register0_address),
            0..=3 => format!("${}.{letter}@0", i.register0_address),
            4..=7 => format!("${}.{letter}", i.register1_address),
            8..=11 => format!("?{source}"),
            12..=15 if i.load_offset == ops::NO_OFFSET => format!("t[{}].{letter}", i.load_address),
            12..=15 => format!("t[{}+a{}].{letter}", i.load_address, i.load_offset),
            28..=31 => format!("^port.{letter}"),
            ops::IDLE => "_".to_owned(),
            _ => self.result(source),
        }
    }

    /// A result of one of the two instructions before.
    fn result(&self, source: u16) -> String {
        for unit in &UNITS {
            for (ago, number) in [(1, Some(unit.last)), (2, unit.before)] {
                if number == Some(source) {
                    return match self.at.checked_sub(ago) {
                        Some(at) => format!("^{}", at * ops::SLOTS + unit.slot),
                        None => format!("{}{}", &"^^"[..ago as usize], unit.name),
                    };
                }
            }
        }
        format!("?{source}")
    }

    /// The second operand of adders and multipliers, where the identity is a constant.
    fn second(&self, source: u16, identity: &str) -> String {
        if source == ops::IDENTITY {
            identity.to_owned()
        } else {
            self.source(source)
        }
    }

    /// Name of the unit's result, and where it is stored.
    fn destination(&self, suffix: &str) -> String {
        let Some(unit) = UNITS.iter().find(|unit| unit.suffix == suffix) else {
            return "_".to_owned();
        };
        let mut text = format!("^{}", self.at * ops::SLOTS + unit.slot);
        for ((store, target), letter) in self.instruction.stores().into_iter().zip(COMPONENTS) {
            if store == unit.store {
                text += &match target {
                    Target::Temporary => format!("/t[].{letter}"),
                    Target::Varying(address) => format!("/v{address}.{letter}"),
                    Target::Register(address) => format!("/${address}.{letter}"),
                };
            }
        }
        text
    }

    fn acc(&self, unit: usize) -> Option<String> {
        let i = self.instruction;
        let (a, b, a_negate, b_negate, suffix) = match unit {
            0 => (i.acc0_a, i.acc0_b, i.acc0_a_negate, i.acc0_b_negate, "a0"),
            _ => (i.acc1_a, i.acc1_b, i.acc1_a_negate, i.acc1_b_negate, "a1"),
        };
        if a == ops::IDLE {
            return None;
        }
        let (d, a) = (self.destination(suffix), negated(self.source(a), a_negate));
        if (i.acc_op, b, b_negate) == (0, ops::IDENTITY, 1) {
            return Some(format!("mov.{suffix} {d} {a}"));
        }
        let name = name(ops::ACC, i.acc_op);
        if ops::by_code(ops::ACC, i.acc_op).is_some_and(|op| op.operands == 1) {
            return Some(format!("{name}.{suffix} {d} {a}"));
        }
        Some(format!(
            "{name}.{suffix} {d} {a} {}",
            negated(self.second(b, "0.0"), b_negate)
        ))
    }

    fn mul0(&self) -> Option<String> {
        let i = self.instruction;
        if i.mul0_a == ops::IDLE || i.mul0_b == ops::IDLE {
            return None;
        }
        let d = self.destination("m0");
        let source = |source| self.source(source);
        Some(match i.mul_op {
            ops::COMPLEX1 => {
                let [a, b, c, e] = [i.mul0_a, i.mul0_b, i.mul1_a, i.mul1_b].map(source);
                format!("complex1.m01 {d} {a} {b} {c} {e}")
            }
            ops::SELECT => {
                let [condition, no, yes] = [i.mul0_b, i.mul0_a, i.mul1_a].map(source);
                format!("sel.m01 {d} {condition} {no} {yes}")
            }
            ops::COMPLEX2 => format!("complex2.m0 {d} {} {}", source(i.mul0_a), source(i.mul0_b)),
            _ => self.product("m0", &d, i.mul0_a, i.mul0_b, i.mul0_negate),
        })
    }

    fn mul1(&self) -> Option<String> {
        let i = self.instruction;
        let taken = matches!(i.mul_op, ops::COMPLEX1 | ops::SELECT);
        if taken || i.mul1_a == ops::IDLE || i.mul1_b == ops::IDLE {
            return None;
        }
        Some(self.product("m1", &self.destination("m1"), i.mul1_a, i.mul1_b, i.mul1_negate))
    }

    fn product(&self, suffix: &str, destination: &str, a: u16, b: u16, negate: u16) -> String {
        let op = self.instruction.mul_op;
        let name = if matches!(op, ops::MUL | ops::COMPLEX2) {
            "mul".to_owned()
        } else {
            format!("op{op}")
        };
        let a = self.source(a);
        if name == "mul" && b == ops::IDENTITY {
            return format!("mov.{suffix} {destination} {}", negated(a, negate));
        }
        format!(
            "{name}.{suffix} {destination} {a} {}",
            negated(self.second(b, "1.0"), negate)
        )
    }

    fn complex(&self) -> Option<String> {
        let i = self.instruction;
        (i.complex_source != ops::IDLE).then(|| {
            let name = name(ops::COMPLEX, i.complex_op);
            format!("{name}.c {} {}", self.destination("c"), self.source(i.complex_source))
        })
    }

    fn pass(&self) -> Option<String> {
        let i = self.instruction;
        (i.pass_source != ops::IDLE).then(|| {
            let name = name(ops::PASS, i.pass_op);
            let mut text = format!("{name}.p {} {}", self.destination("p"), self.source(i.pass_source));
            if i.pass_op == ops::CLAMP {
                text += &format!(" {} {}", self.source(ops::MEMORY), self.source(ops::MEMORY + 1));
            }
            text
        })
    }

    fn branch(&self) -> Option<String> {
        let i = self.instruction;
        (i.branch == 1).then(|| {
            let target = i.target();
            let at = if usize::from(target) < self.count { "" } else { "@" };
            format!("branch ^{} {at}{target:03}", self.at * ops::SLOTS + 4)
        })
    }
}
