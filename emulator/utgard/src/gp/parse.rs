//! Parses text into GP instructions: the printer's output and hand-written programs.
//!
//! An instruction is its units separated by commas, and may continue over several lines: `mul.m0 _ a0.x t[0].x, mov.p
//! v0.y ^acc0`. Sources are attributes (`a0.x`), registers (`$1.x`, or `$1.x@0` through port 0), uniforms and
//! temporaries (`t[3].x`, `t[3+a1].x`), results of the last two instructions by number (`^12`) or by unit (`^acc0`,
//! `^^mul1`), and the last instruction's port 0 (`^port.x`). Destinations are the result's number, stores (`v0.x`,
//! `$2.y`, `t[].z`), several of them separated by `/`, or `_`. `load a0` fills a port that only the next instruction
//! reads. `set FIELD VALUE` overrides a field at the end.

use super::ops::Takes;
use super::source::SLOTS;
use super::{
    AccOp, Age, ComplexOp, Component, Instruction, LoadOffset, MulOp, PassOp, Source, Stored, UNITS, Unit, WORDS, flags,
};
use crate::field::{Code, Field, Fields};
use crate::text::{Source as Text, Statement, Word, component, number};
use loader::SourceError;

type Result<T, E = SourceError> = std::result::Result<T, E>;

/// Assembles a program.
///
/// # Errors
/// The first error in the text, with what was expected.
pub fn assemble(text: &str) -> Result<Vec<[u32; WORDS]>> {
    assemble_statements(Text(text), &Text(text).statements())
}

/// Assembles some statements of a text, such as those that an outer language did not consume.
///
/// # Errors
/// See [`assemble`].
pub fn assemble_statements(source: Text<'_>, statements: &[Statement<'_>]) -> Result<Vec<[u32; WORDS]>> {
    Ok(instructions(source, statements)?
        .iter()
        .map(Instruction::encode)
        .collect())
}

/// The instructions of a text.
pub(super) fn program(text: &str) -> Result<Vec<Instruction>> {
    instructions(Text(text), &Text(text).statements())
}

fn instructions<'a>(source: Text<'a>, statements: &[Statement<'a>]) -> Result<Vec<Instruction>> {
    let mut readers = Vec::with_capacity(statements.len());
    let mut addresses = Vec::with_capacity(statements.len());
    for statement in statements {
        let at = readers.len() as u32;
        addresses.push(at);
        if statement.parts.is_empty() {
            continue;
        }
        let mut reader = Reader::new(source, at);
        for part in &statement.parts {
            reader.part(part)?;
        }
        readers.push(reader);
    }
    let labels = source.labels(statements, &addresses)?;
    readers
        .into_iter()
        .map(|reader| {
            let mut instruction = reader.instruction;
            if let Some(word) = reader.target {
                let target = match word.text.strip_prefix('@') {
                    Some(absolute) => absolute.parse().ok(),
                    None => labels.get(word.text).copied(),
                };
                let Some(target) = target.filter(|target| *target < 512) else {
                    let message = format!("`{}` is not a label of an instruction below 512", word.text);
                    return Err(source.error(word.span, message));
                };
                instruction.set_target(target as u16);
            }
            let mut bits = instruction.to_bits();
            for (field, value) in reader.sets {
                bits = field.put(bits, value);
            }
            Ok(Instruction::from_bits(bits))
        })
        .collect()
}

/// Suffix of operations that use both multipliers.
const BOTH: &str = "m01";

struct Reader<'a> {
    source: Text<'a>,
    at: u32,
    instruction: Instruction,
    target: Option<Word<'a>>,
    sets: Vec<(&'static Field, u32)>,
    /// Uses of the ports, stores and shared operations so far.
    port0: Option<(u16, bool)>,
    port1: Option<u16>,
    memory: Option<(u16, LoadOffset)>,
    stores: [Option<(bool, bool, u16)>; 2],
    acc_op: Option<AccOp>,
    mul_op: Option<MulOp>,
    used: [bool; 6],
}

impl<'a> Reader<'a> {
    fn new(source: Text<'a>, at: u32) -> Self {
        Self {
            source,
            at,
            instruction: Instruction::nop(),
            target: None,
            sets: Vec::new(),
            port0: None,
            port1: None,
            memory: None,
            stores: [None; 2],
            acc_op: None,
            mul_op: None,
            used: [false; 6],
        }
    }

    fn fail<T>(&self, word: &Word<'_>, message: impl Into<String>) -> Result<T> {
        Err(self.source.error(word.span.clone(), message))
    }

    fn count(&self, name: &Word<'_>, operands: &[Word<'_>], want: usize) -> Result<()> {
        if operands.len() == want {
            return Ok(());
        }
        let word = operands.get(want).unwrap_or(name);
        self.fail(
            word,
            format!("`{}` takes {want} operands, not {}", name.text, operands.len()),
        )
    }

    fn part(&mut self, part: &[Word<'a>]) -> Result<()> {
        let (name, operands) = (&part[0], &part[1..]);
        match name.text {
            "nop" => return self.count(name, operands, 0),
            "set" => return self.set(name, operands),
            "load" => {
                self.count(name, operands, 1)?;
                let text = format!("{}.x", operands[0].text);
                return self.operand(&operands[0], &text).map(drop);
            }
            "branch" => return self.branch(name, operands),
            _ => {}
        }
        let Some((op, suffix)) = name.text.rsplit_once('.') else {
            return self.fail(
                name,
                format!(
                    "`{}` is not a GP operation: the name ends with its unit, as in add.a0",
                    name.text
                ),
            );
        };
        let first = if suffix == BOTH { "m0" } else { suffix };
        let Some(unit) = UNITS.iter().find(|row| row.suffix == first).map(|row| row.unit) else {
            return self.fail(name, format!("`{suffix}` is not a unit: a0, a1, m0, m1, m01, c or p"));
        };
        self.occupy(name, unit)?;
        if suffix == BOTH {
            self.occupy(name, Unit::Mul1)?;
        }
        let Some(destination) = operands.first() else {
            return self.fail(name, "a destination is missing, `_` for none");
        };
        self.destination(destination, unit)?;
        let operands = &operands[1..];
        match unit {
            Unit::Acc0 | Unit::Acc1 => self.acc(name, op, operands, unit),
            Unit::Mul0 if suffix == BOTH => self.both(name, op, operands),
            Unit::Mul0 | Unit::Mul1 => self.product(name, op, operands, unit),
            Unit::Complex => self.complex(name, op, operands),
            Unit::Pass => self.pass(name, op, operands),
        }
    }

    fn occupy(&mut self, name: &Word<'_>, unit: Unit) -> Result<()> {
        if std::mem::replace(&mut self.used[unit.index()], true) {
            return self.fail(
                name,
                format!("`{}`: the instruction uses {} already", name.text, unit.name()),
            );
        }
        Ok(())
    }

    /// Looks up a name in a unit's table.
    fn operation<T>(&self, name: &Word<'_>, op: &str, found: Option<T>) -> Result<T> {
        found.map_or_else(
            || self.fail(name, format!("`{op}` is not an operation of this unit")),
            Ok,
        )
    }

    fn set(&mut self, name: &Word<'_>, operands: &[Word<'a>]) -> Result<()> {
        self.count(name, operands, 2)?;
        let Some(field) = Instruction::FIELDS.iter().find(|field| field.name == operands[0].text) else {
            return self.fail(
                &operands[0],
                format!("`{}` is not a field of a GP instruction", operands[0].text),
            );
        };
        let value = self.source.number(&operands[1])?;
        if value < 0 || value >> field.width != 0 {
            return self.fail(&operands[1], format!("{value} does not fit {} bits", field.width));
        }
        self.sets.push((field, value as u32));
        Ok(())
    }

    fn branch(&mut self, name: &Word<'_>, operands: &[Word<'a>]) -> Result<()> {
        let (Some(target), [] | [_]) = (operands.last(), &operands[..operands.len().saturating_sub(1)]) else {
            return self.fail(name, "`branch` takes a label");
        };
        if let [condition, _] = operands
            && condition.text != self.own(Unit::Pass)
        {
            return self.fail(
                condition,
                "a branch reads the pass unit's result of its own instruction",
            );
        }
        self.target = Some(target.clone());
        (self.instruction.branch, self.instruction.flags) = (true, flags::BRANCH);
        Ok(())
    }

    /// `-` around a source.
    fn negated<'t>(word: &Word<'t>) -> (&'t str, bool) {
        word.text
            .strip_prefix('-')
            .map_or((word.text, false), |rest| (rest, true))
    }

    fn acc(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>], unit: Unit) -> Result<()> {
        let is_mov = op == "mov";
        let (op, count) = if is_mov {
            (AccOp::Add, 1)
        } else {
            let op = self.operation(name, op, AccOp::from_name(op))?;
            (op, op.operands())
        };
        self.count(name, operands, count)?;
        if self.acc_op.is_some_and(|have| have != op) {
            return self.fail(name, "acc0 and acc1 share one operation");
        }
        self.acc_op = Some(op);
        let (text, a_negate) = Self::negated(&operands[0]);
        let a = self.operand(&operands[0], text)?;
        let (b, b_negate) = match operands.get(1) {
            Some(word) => {
                let (text, negate) = Self::negated(word);
                (self.second(word, text, "0.0")?, negate)
            }
            None if is_mov => (Source::IDENTITY, true),
            // The compilers' value of an unused operand.
            None => (Source::default(), false),
        };
        let i = &mut self.instruction;
        i.acc_op = op;
        if unit == Unit::Acc0 {
            (i.acc0_a, i.acc0_b, i.acc0_a_negate, i.acc0_b_negate) = (a, b, a_negate, b_negate);
        } else {
            (i.acc1_a, i.acc1_b, i.acc1_a_negate, i.acc1_b_negate) = (a, b, a_negate, b_negate);
        }
        Ok(())
    }

    fn mul_op(&mut self, name: &Word<'_>, op: MulOp) -> Result<()> {
        let merged = match (self.mul_op, op) {
            (None, op) => op,
            (Some(have), op) if have == op => op,
            // complex2 leaves mul1 as a multiplier.
            (Some(MulOp::Complex2), MulOp::Mul) | (Some(MulOp::Mul), MulOp::Complex2) => MulOp::Complex2,
            _ => return self.fail(name, "mul0 and mul1 share one operation"),
        };
        self.mul_op = Some(merged);
        self.instruction.mul_op = merged;
        Ok(())
    }

    fn product(&mut self, name: &Word<'_>, text: &str, operands: &[Word<'_>], unit: Unit) -> Result<()> {
        let first = unit == Unit::Mul0;
        let (op, count) = match (text, MulOp::from_name(text)) {
            ("mov", _) => (MulOp::Mul, 1),
            (_, Some(op)) if op.row().takes == Takes::Each || op.row().takes == Takes::First && first => {
                (op, op.operands())
            }
            _ => return self.fail(name, format!("`{text}` is not an operation of this multiplier")),
        };
        self.count(name, operands, count)?;
        if op == MulOp::Mul && first && self.mul_op == Some(MulOp::Complex2) {
            return self.fail(name, "mul0 computes complex2 already");
        }
        self.mul_op(name, op)?;
        let (a, b, negate) = match operands {
            [a, b] => {
                let (text, negate) = Self::negated(b);
                let second = if op == MulOp::Complex2 {
                    self.operand(b, text)?
                } else {
                    self.second(b, text, "1.0")?
                };
                (self.operand(a, a.text)?, second, negate)
            }
            [a] => {
                let (text, negate) = Self::negated(a);
                (self.operand(a, text)?, Source::IDENTITY, negate)
            }
            _ => return Ok(()),
        };
        let i = &mut self.instruction;
        if first {
            (i.mul0_a, i.mul0_b, i.mul0_negate) = (a, b, negate);
        } else {
            (i.mul1_a, i.mul1_b, i.mul1_negate) = (a, b, negate);
        }
        Ok(())
    }

    /// Operations that use both multipliers.
    fn both(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>]) -> Result<()> {
        let found = MulOp::from_name(op).filter(|op| op.row().takes == Takes::Both);
        let Some(op) = found else {
            return self.fail(name, format!("`{op}` does not take both multipliers"));
        };
        self.count(name, operands, op.operands())?;
        self.mul_op(name, op)?;
        let mut sources = [Source::Idle; 4];
        for (source, word) in sources.iter_mut().zip(operands) {
            *source = self.operand(word, word.text)?;
        }
        let i = &mut self.instruction;
        let [a, b, c, d] = sources;
        if op == MulOp::Select {
            (i.mul0_b, i.mul0_a, i.mul1_a) = (a, b, c);
        } else {
            (i.mul0_a, i.mul0_b, i.mul1_a, i.mul1_b) = (a, b, c, d);
        }
        Ok(())
    }

    fn complex(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>]) -> Result<()> {
        self.count(name, operands, 1)?;
        self.instruction.complex_op = self.operation(name, op, ComplexOp::from_name(op))?;
        self.instruction.complex_source = self.operand(&operands[0], operands[0].text)?;
        Ok(())
    }

    fn pass(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>]) -> Result<()> {
        let op = self.operation(name, op, PassOp::from_name(op))?;
        self.count(name, operands, op.operands())?;
        self.instruction.pass_op = op;
        self.instruction.pass_source = self.operand(&operands[0], operands[0].text)?;
        if let [_, low, high] = operands {
            let limits = [self.operand(low, low.text)?, self.operand(high, high.text)?];
            if limits != Source::LIMITS {
                return self.fail(low, "the limits of a clamp are x and y of the memory load");
            }
        }
        Ok(())
    }

    /// A second operand, which may be a constant.
    fn second(&mut self, word: &Word<'_>, text: &str, identity: &str) -> Result<Source> {
        if text == identity {
            return Ok(Source::IDENTITY);
        }
        let source = self.operand(word, text)?;
        if source == Source::IDENTITY {
            let message = format!("the complex result cannot be a second operand: there its number means {identity}");
            return self.fail(word, message);
        }
        Ok(source)
    }

    /// A source; claims the port it needs.
    fn operand(&mut self, word: &Word<'_>, text: &str) -> Result<Source> {
        if text == "_" {
            return Ok(Source::Idle);
        }
        if let Some(source) = text.strip_prefix('?').and_then(number).filter(|n| (0..32).contains(n)) {
            return Ok(Source::from_code(source as u32));
        }
        if let Some(letter) = text.strip_prefix("^port.") {
            return Ok(Source::Port0Before(self.letter(word, letter)?));
        }
        if let Some(result) = text.strip_prefix('^') {
            return self.result(word, result);
        }
        let Some((name, letter)) = text.rsplit_once('.') else {
            return self.unknown(word, text);
        };
        let (letter, forced) = letter
            .strip_suffix("@0")
            .map_or((letter, false), |letter| (letter, true));
        let letter = self.letter(word, letter)?;
        if let Some(inner) = name.strip_prefix("t[").and_then(|rest| rest.strip_suffix(']')) {
            self.memory(word, inner)?;
            return Ok(Source::Memory(letter));
        }
        let index = |prefix| {
            name.strip_prefix(prefix)
                .and_then(number)
                .filter(|n| (0..16).contains(n))
        };
        if let Some(attribute) = index('a') {
            self.port0(word, attribute as u16, true)?;
            return Ok(Source::Port0(letter));
        }
        let Some(register) = index('$').map(|register| register as u16) else {
            return self.unknown(word, text);
        };
        if !forced && self.port1.is_none_or(|have| have == register) {
            self.port1 = Some(register);
            self.instruction.register1_address = register;
            return Ok(Source::Port1(letter));
        }
        self.port0(word, register, false)?;
        Ok(Source::Port0(letter))
    }

    fn unknown<T>(&self, word: &Word<'_>, text: &str) -> Result<T> {
        let message = format!("`{text}` where a source is expected, such as a0.x, $1.x, t[2].x, ^acc0 or ^12");
        self.fail(word, message)
    }

    fn letter(&self, word: &Word<'_>, text: &str) -> Result<Component> {
        let mut letters = text.chars();
        match (letters.next().and_then(component), letters.next()) {
            (Some(letter), None) => Ok(Component::from_code(letter)),
            _ => self.fail(word, format!("`{text}` is not a component: x, y, z or w")),
        }
    }

    fn port0(&mut self, word: &Word<'_>, index: u16, is_attribute: bool) -> Result<()> {
        if self.port0.is_some_and(|have| have != (index, is_attribute)) {
            return self.fail(word, "port 0 loads another vec4 in this instruction already");
        }
        self.port0 = Some((index, is_attribute));
        (
            self.instruction.register0_address,
            self.instruction.register0_is_attribute,
        ) = (index, is_attribute);
        Ok(())
    }

    fn memory(&mut self, word: &Word<'_>, inner: &str) -> Result<()> {
        let (index, offset) = match inner.split_once("+a") {
            Some((index, offset)) => {
                let offset = number(offset).filter(|n| (0..7).contains(n));
                (index, offset.map(|offset| LoadOffset::from_code(offset as u32)))
            }
            None => (inner, Some(LoadOffset::Nothing)),
        };
        let index = number(index).filter(|n| (0..512).contains(n)).map(|n| n as u16);
        let Some((index, offset)) = index.zip(offset) else {
            return self.fail(word, "a memory source is t[N] or t[N+aR], N below 512");
        };
        if self.memory.is_some_and(|have| have != (index, offset)) {
            return self.fail(word, "the instruction loads another vec4 from memory already");
        }
        self.memory = Some((index, offset));
        (self.instruction.load_address, self.instruction.load_offset) = (index, offset);
        Ok(())
    }

    /// A result by number, or by unit and age.
    fn result(&self, word: &Word<'_>, text: &str) -> Result<Source> {
        let (unit, ago) = match number(text) {
            Some(number) => {
                let (at, slot) = (number as u32 / SLOTS, number as u32 % SLOTS);
                (UNITS.iter().find(|row| row.slot == slot), self.at.wrapping_sub(at))
            }
            None => {
                let (name, ago) = text.strip_prefix('^').map_or((text, 1), |name| (name, 2));
                (UNITS.iter().find(|row| row.name == name), ago)
            }
        };
        let age = match ago {
            1 => Some(Age::One),
            2 => Some(Age::Two),
            _ => None,
        };
        let source = unit.zip(age).and_then(|(row, age)| Source::result(row.unit, age));
        source.map_or_else(
            || {
                let message = format!("`^{text}` is not a result of the last two instructions that can be read");
                self.fail(word, message)
            },
            Ok,
        )
    }

    /// Name of a unit's result in this instruction.
    fn own(&self, unit: Unit) -> String {
        format!("^{}", self.at * SLOTS + unit.row().slot)
    }

    fn destination(&mut self, word: &Word<'_>, unit: Unit) -> Result<()> {
        for part in word.text.split('/') {
            if part == "_" || part == self.own(unit) {
                continue;
            }
            self.store(word, part, unit)?;
        }
        Ok(())
    }

    fn store(&mut self, word: &Word<'_>, part: &str, unit: Unit) -> Result<()> {
        let Some((name, letter)) = part.rsplit_once('.') else {
            let own = self.own(unit);
            return self.fail(
                word,
                format!("`{part}` where a destination is expected: {own}, _, or a store such as v0.x"),
            );
        };
        let letter = self.letter(word, letter)?;
        let index = |prefix| {
            name.strip_prefix(prefix)
                .and_then(number)
                .filter(|n| (0..16).contains(n))
                .map(|n| n as u16)
        };
        let target = match (name, index('v'), index('$')) {
            ("t[]", ..) => (true, false, 0),
            (_, Some(varying), _) => (false, true, varying),
            (_, _, Some(register)) => (false, false, register),
            _ => {
                return self.fail(
                    word,
                    format!("`{name}` cannot be stored to: v0 to v15, $0 to $15 or t[]"),
                );
            }
        };
        let half = letter.index() / 2;
        if self.stores[half].is_some_and(|have| have != target) {
            let pair = ["x and y", "z and w"][half];
            return self.fail(word, format!("{pair} of an instruction are stored to one place"));
        }
        self.stores[half] = Some(target);
        let i = &mut self.instruction;
        let (temporary, varying, address) = target;
        if half == 0 {
            (i.store0_temporary, i.store0_varying, i.store0_address) = (temporary, varying, address);
        } else {
            (i.store1_temporary, i.store1_varying, i.store1_address) = (temporary, varying, address);
        }
        if temporary && !i.branch {
            i.flags = flags::TEMPORARY;
        }
        let field = match letter {
            Component::X => &mut i.store0_x,
            Component::Y => &mut i.store0_y,
            Component::Z => &mut i.store1_z,
            Component::W => &mut i.store1_w,
        };
        if *field != Stored::Nothing {
            return self.fail(word, format!("component {part} is stored already"));
        }
        *field = Stored::Unit(unit);
        Ok(())
    }
}
