//! Prints GP instructions in the style of the lima driver's disassembly: an instruction is a number, then its units
//! separated by commas, one per line. `^N` is the result of unit `N % 6` of instruction `N / 6`.
//!
//! Fields that the short form does not express are appended as `set FIELD VALUE`: the printer assembles its own text
//! and compares, so that the text always assembles to the same words.

use super::source::SLOTS;
use super::{
    AccOp, Instruction, LoadOffset, MulOp, Operand, PassOp, Product, Source, Stored, Target, Unit, WORDS, parse,
};
use crate::field::{Code, Fields};
use crate::text::{COMPONENTS, CONTROL, Row};

/// Printing options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Print the words after every instruction, and its incoming branches before it, as comments.
    pub words: bool,
}

/// A program as rows, whose cells by commas assemble to the same words.
pub fn rows(program: &[[u32; WORDS]]) -> Vec<Row> {
    let instructions: Vec<Instruction> = program.iter().map(|words| Instruction::decode(*words)).collect();
    rows_of(&instructions)
}

fn rows_of(instructions: &[Instruction]) -> Vec<Row> {
    let count = instructions.len();
    let mut all: Vec<Row> = instructions
        .iter()
        .enumerate()
        .map(|(at, instruction)| Row {
            address: at as u32,
            cells: Printer {
                at: at as u32,
                count,
                instruction,
            }
            .cells(),
        })
        .collect();
    // Fields missing from the short form are those that differ after parsing it.
    let short: String = all.iter().map(|row| row.join(", ") + "\n").collect();
    let labels: String = short
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{at:03}: {line}\n"))
        .collect();
    if let Ok(canonical) = parse::program(&labels) {
        for ((row, have), canonical) in all.iter_mut().zip(instructions).zip(&canonical) {
            let (have, canonical) = (have.to_bits(), canonical.to_bits());
            for field in Instruction::FIELDS
                .iter()
                .filter(|field| field.of(have) != field.of(canonical))
            {
                row.cells
                    .push((CONTROL, format!("set {} {}", field.name, field.of(have))));
            }
        }
    }
    all
}

/// A program as text that assembles to the same words.
pub fn disassemble(program: &[[u32; WORDS]], options: Options) -> String {
    let instructions: Vec<Instruction> = program.iter().map(|words| Instruction::decode(*words)).collect();
    let all = rows_of(&instructions);
    let mut text = String::new();
    for (at, (row, words)) in all.iter().zip(program).enumerate() {
        if options.words {
            let from = instructions
                .iter()
                .enumerate()
                .filter(|(_, i)| i.branch && usize::from(i.target()) == at);
            let from: Vec<String> = from.map(|(from, _)| format!("{from:03}")).collect();
            if !from.is_empty() {
                text += &format!("# from {}\n", from.join(", "));
            }
        }
        text += &format!("{at:03}: {}", row.join(",\n     "));
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

fn negated(text: String, negate: bool) -> String {
    if negate { format!("-{text}") } else { text }
}

impl Printer<'_> {
    /// What each unit does, and the branch.
    fn cells(&self) -> Vec<(&'static str, String)> {
        let units = [
            (Unit::Acc0.name(), self.acc(Unit::Acc0)),
            (Unit::Acc1.name(), self.acc(Unit::Acc1)),
            (Unit::Mul0.name(), self.mul0()),
            (Unit::Mul1.name(), self.mul1()),
            (Unit::Complex.name(), self.complex()),
            (Unit::Pass.name(), self.pass()),
            ("branch", self.branch()),
        ];
        let units = units.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let mut cells: Vec<_> = units.collect();
        if cells.is_empty() {
            cells.push((CONTROL, "nop".to_owned()));
        }
        cells
    }

    fn source(&self, source: Source) -> String {
        let i = self.instruction;
        match source {
            Source::Port0(c) if i.register0_is_attribute => format!("a{}.{}", i.register0_address, c.letter()),
            Source::Port0(c) => format!("${}.{}@0", i.register0_address, c.letter()),
            Source::Port1(c) => format!("${}.{}", i.register1_address, c.letter()),
            Source::Memory(c) if i.load_offset == LoadOffset::Nothing => {
                format!("t[{}].{}", i.load_address, c.letter())
            }
            Source::Memory(c) => format!("t[{}+a{}].{}", i.load_address, i.load_offset.code(), c.letter()),
            Source::Port0Before(c) => format!("^port.{}", c.letter()),
            Source::Idle => "_".to_owned(),
            Source::Undocumented(code) => format!("?{code}"),
            Source::Result(unit, age) => match self.at.checked_sub(age.instructions() as u32) {
                Some(at) => format!("^{}", at * SLOTS + unit.row().slot),
                None => format!("{}{}", &"^^"[..age.instructions()], unit.name()),
            },
        }
    }

    /// The second operand of adders and multipliers, where the identity is a constant.
    fn second(&self, operand: Operand, identity: &str) -> String {
        match operand {
            Operand::Identity => identity.to_owned(),
            Operand::Source(source) => self.source(source),
        }
    }

    /// Name of the unit's result, and its stores.
    fn destination(&self, unit: Unit) -> String {
        let mut text = format!("^{}", self.at * SLOTS + unit.row().slot);
        for ((stored, target), letter) in self.instruction.stores().into_iter().zip(COMPONENTS) {
            if stored == Stored::Unit(unit) {
                text += &match target {
                    Target::Temporary => format!("/t[].{letter}"),
                    Target::Varying(address) => format!("/v{address}.{letter}"),
                    Target::Register(address) => format!("/${address}.{letter}"),
                };
            }
        }
        text
    }

    fn acc(&self, unit: Unit) -> Option<String> {
        let op = self.instruction.acc_op;
        let sum = match unit {
            Unit::Acc0 => self.instruction.sums()[0],
            _ => self.instruction.sums()[1],
        }?;
        let (d, a) = (self.destination(unit), negated(self.source(sum.a), sum.a_negate));
        let suffix = unit.row().suffix;
        if (op, sum.b, sum.b_negate) == (AccOp::Add, Operand::Identity, true) {
            return Some(format!("mov.{suffix} {d} {a}"));
        }
        if op.operands() == 1 {
            return Some(format!("{op}.{suffix} {d} {a}"));
        }
        let b = negated(self.second(sum.b, "0.0"), sum.b_negate);
        Some(format!("{op}.{suffix} {d} {a} {b}"))
    }

    fn mul0(&self) -> Option<String> {
        let i = self.instruction;
        let product = i.products()[0]?;
        let d = self.destination(Unit::Mul0);
        let source = |source| self.source(source);
        Some(match i.mul_op {
            MulOp::Complex1 => {
                let [a, b, c, e] = [i.mul0_a, i.mul0_b, i.mul1_a, i.mul1_b].map(source);
                format!("complex1.m01 {d} {a} {b} {c} {e}")
            }
            MulOp::Select => {
                let [condition, no, yes] = [i.mul0_b, i.mul0_a, i.mul1_a].map(source);
                format!("sel.m01 {d} {condition} {no} {yes}")
            }
            MulOp::Complex2 => format!("complex2.m0 {d} {} {}", source(i.mul0_a), source(i.mul0_b)),
            MulOp::Mul | MulOp::Undocumented(_) => self.product(Unit::Mul0, &d, &product),
        })
    }

    fn mul1(&self) -> Option<String> {
        let product = self.instruction.products()[1].filter(|_| self.instruction.is_busy(Unit::Mul1))?;
        Some(self.product(Unit::Mul1, &self.destination(Unit::Mul1), &product))
    }

    fn product(&self, unit: Unit, destination: &str, product: &Product) -> String {
        let op = match self.instruction.mul_op {
            // Then the second multiplier multiplies.
            MulOp::Complex2 => MulOp::Mul,
            op => op,
        };
        let (a, suffix) = (self.source(product.a), unit.row().suffix);
        if (op, product.b) == (MulOp::Mul, Operand::Identity) {
            return format!("mov.{suffix} {destination} {}", negated(a, product.negate));
        }
        let b = negated(self.second(product.b, "1.0"), product.negate);
        format!("{op}.{suffix} {destination} {a} {b}")
    }

    fn complex(&self) -> Option<String> {
        let i = self.instruction;
        let text = |source| {
            format!(
                "{}.c {} {}",
                i.complex_op,
                self.destination(Unit::Complex),
                self.source(source)
            )
        };
        Some(i.complex_source).filter(|source| source.is_used()).map(text)
    }

    fn pass(&self) -> Option<String> {
        let i = self.instruction;
        i.pass_source.is_used().then(|| {
            let (d, source) = (self.destination(Unit::Pass), self.source(i.pass_source));
            let mut text = format!("{}.p {d} {source}", i.pass_op);
            if i.pass_op == PassOp::Clamp {
                let [low, high] = Source::LIMITS.map(|limit| self.source(limit));
                text += &format!(" {low} {high}");
            }
            text
        })
    }

    fn branch(&self) -> Option<String> {
        let i = self.instruction;
        i.branch.then(|| {
            let target = i.target();
            let at = if usize::from(target) < self.count { "" } else { "@" };
            format!("branch ^{} {at}{target:03}", self.at * SLOTS + Unit::Pass.row().slot)
        })
    }
}
