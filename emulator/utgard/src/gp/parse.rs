//! Text to GP instructions: the inverse of the printer, and what people write.
//!
//! An instruction is its units separated by commas, which may go on over lines: `mul.m0 _ a0.x t[0].x, mov.p v0.y ^acc0`.
//! Sources are attributes (`a0.x`), registers (`$1.x`, or `$1.x@0` through port 0), uniforms and temporaries (`t[3].x`,
//! `t[3+a1].x`), results of the last two instructions by number (`^12`) or by unit (`^acc0`, `^^mul1`), and the last
//! instruction's port 0 (`^port.x`). Destinations are the result's number, stores (`v0.x`, `$2.y`, `t[].z`), several of
//! them with `/` between, or `_`. `load a0` fills a port that only the next instruction reads. `set FIELD VALUE`
//! changes a field after everything else.

use super::ops::{self, Op, UNITS, Unit};
use super::{Instruction, WORDS};
use crate::field::{Field, Fields};
use crate::text::{Source, Statement, Word, component, number};
use loader::SourceError;

type Result<T, E = SourceError> = std::result::Result<T, E>;

/// Assembles a program.
///
/// # Errors
/// The first place where the text is no GP program, with what was expected.
pub fn assemble(text: &str) -> Result<Vec<[u32; WORDS]>> {
    assemble_statements(Source(text), &Source(text).statements())
}

/// Assembles statements of a text, such as those that are left when an outer language has taken its own.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_statements(source: Source<'_>, statements: &[Statement<'_>]) -> Result<Vec<[u32; WORDS]>> {
    Ok(instructions(source, statements)?
        .iter()
        .map(Instruction::encode)
        .collect())
}

/// The instructions of a text.
pub(super) fn program(text: &str) -> Result<Vec<Instruction>> {
    instructions(Source(text), &Source(text).statements())
}

fn instructions<'a>(source: Source<'a>, statements: &[Statement<'a>]) -> Result<Vec<Instruction>> {
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
                    let message = format!("`{}` is no label of an instruction below 512", word.text);
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

struct Reader<'a> {
    source: Source<'a>,
    at: u32,
    instruction: Instruction,
    target: Option<Word<'a>>,
    sets: Vec<(&'static Field, u32)>,
    /// What the ports, the stores and the shared operations are already used for.
    port0: Option<(u16, u16)>,
    port1: Option<u16>,
    memory: Option<(u16, u16)>,
    stores: [Option<(u16, u16, u16)>; 2],
    acc_op: Option<u16>,
    mul_op: Option<u16>,
    used: [bool; 6],
}

impl<'a> Reader<'a> {
    fn new(source: Source<'a>, at: u32) -> Self {
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
                    "`{}` is no GP operation: they end with their unit, as in add.a0",
                    name.text
                ),
            );
        };
        let unit = if suffix == "m01" { "m0" } else { suffix };
        let Some(at) = UNITS.iter().position(|row| row.suffix == unit) else {
            return self.fail(name, format!("`{suffix}` is no unit: a0, a1, m0, m1, m01, c or p"));
        };
        self.occupy(name, at)?;
        if suffix == "m01" {
            self.occupy(name, 3)?;
        }
        let Some(destination) = operands.first() else {
            return self.fail(name, "a destination is missing, `_` for none");
        };
        self.destination(destination, &UNITS[at])?;
        let operands = &operands[1..];
        match suffix {
            "a0" | "a1" => self.acc(name, op, operands, at),
            "m0" | "m1" => self.product(name, op, operands, at == 2),
            "m01" => self.both(name, op, operands),
            "c" => {
                self.count(name, operands, 1)?;
                self.instruction.complex_op = self.code(name, op, ops::COMPLEX, 16)?.0;
                self.instruction.complex_source = self.operand(&operands[0], operands[0].text)?;
                Ok(())
            }
            _ => self.pass(name, op, operands),
        }
    }

    fn occupy(&mut self, name: &Word<'_>, unit: usize) -> Result<()> {
        if std::mem::replace(&mut self.used[unit], true) {
            return self.fail(
                name,
                format!("`{}`: the instruction uses {} already", name.text, UNITS[unit].name),
            );
        }
        Ok(())
    }

    /// Number and operands of an operation's name; `opN` for a number without a row.
    fn code(&self, name: &Word<'_>, op: &str, table: &[Op], end: i64) -> Result<(u16, usize)> {
        if let Some(op) = ops::by_name(table, op) {
            return Ok((op.code, op.operands.into()));
        }
        match op.strip_prefix("op").and_then(number) {
            Some(code) if (0..end).contains(&code) && ops::by_code(table, code as u16).is_none() => {
                Ok((code as u16, 2))
            }
            _ => self.fail(name, format!("`{op}` is no operation of this unit")),
        }
    }

    fn set(&mut self, name: &Word<'_>, operands: &[Word<'a>]) -> Result<()> {
        self.count(name, operands, 2)?;
        let Some(field) = Instruction::FIELDS.iter().find(|field| field.name == operands[0].text) else {
            return self.fail(
                &operands[0],
                format!("`{}` is no field of a GP instruction", operands[0].text),
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
            && condition.text != format!("^{}", self.at * ops::SLOTS + 4)
        {
            return self.fail(
                condition,
                "a branch reads the pass unit's result of its own instruction",
            );
        }
        self.target = Some(target.clone());
        (self.instruction.branch, self.instruction.flags) = (1, 13);
        Ok(())
    }

    /// `-` around a source.
    fn negated<'t>(word: &Word<'t>) -> (&'t str, u16) {
        word.text.strip_prefix('-').map_or((word.text, 0), |rest| (rest, 1))
    }

    fn acc(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>], unit: usize) -> Result<()> {
        let is_mov = op == "mov";
        let (code, count) = if is_mov {
            (0, 1)
        } else {
            self.code(name, op, ops::ACC, 8)?
        };
        self.count(name, operands, count)?;
        if self.acc_op.is_some_and(|have| have != code) {
            return self.fail(name, "acc0 and acc1 share one operation");
        }
        self.acc_op = Some(code);
        let (text, a_negate) = Self::negated(&operands[0]);
        let a = self.operand(&operands[0], text)?;
        let (b, b_negate) = match operands.get(1) {
            Some(word) => {
                let (text, negate) = Self::negated(word);
                (self.second(word, text, "0.0")?, negate)
            }
            None if is_mov => (ops::IDENTITY, 1),
            // What compilers leave where the operand does not count.
            None => (0, 0),
        };
        let i = &mut self.instruction;
        i.acc_op = code;
        if unit == 0 {
            (i.acc0_a, i.acc0_b, i.acc0_a_negate, i.acc0_b_negate) = (a, b, a_negate, b_negate);
        } else {
            (i.acc1_a, i.acc1_b, i.acc1_a_negate, i.acc1_b_negate) = (a, b, a_negate, b_negate);
        }
        Ok(())
    }

    fn mul_op(&mut self, name: &Word<'_>, code: u16) -> Result<()> {
        let merged = match (self.mul_op, code) {
            (None, code) => code,
            (Some(have), code) if have == code => code,
            // complex2 leaves mul1 a multiplier.
            (Some(ops::COMPLEX2), ops::MUL) | (Some(ops::MUL), ops::COMPLEX2) => ops::COMPLEX2,
            _ => return self.fail(name, "mul0 and mul1 share one operation"),
        };
        self.mul_op = Some(merged);
        self.instruction.mul_op = merged;
        Ok(())
    }

    fn product(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>], first: bool) -> Result<()> {
        let (code, count) = match op {
            "mov" => (ops::MUL, 1),
            "mul" => (ops::MUL, 2),
            "complex2" if first => (ops::COMPLEX2, 2),
            _ => match op.strip_prefix("op").and_then(number) {
                Some(code @ (2 | 5..=7)) => (code as u16, 2),
                _ => return self.fail(name, format!("`{op}` is no operation of this multiplier")),
            },
        };
        self.count(name, operands, count)?;
        if code == ops::MUL && first && self.mul_op == Some(ops::COMPLEX2) {
            return self.fail(name, "mul0 computes complex2 already");
        }
        self.mul_op(name, code)?;
        let (a, b, negate) = match operands {
            [a, b] => {
                let (text, negate) = Self::negated(b);
                let second = if code == ops::COMPLEX2 {
                    self.operand(b, text)?
                } else {
                    self.second(b, text, "1.0")?
                };
                (self.operand(a, a.text)?, second, negate)
            }
            [a] => {
                let (text, negate) = Self::negated(a);
                (self.operand(a, text)?, ops::IDENTITY, negate)
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

    /// Operations that take both multipliers.
    fn both(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>]) -> Result<()> {
        let (code, count) = match op {
            "complex1" => (ops::COMPLEX1, 4),
            "sel" => (ops::SELECT, 3),
            _ => return self.fail(name, format!("`{op}` does not take both multipliers")),
        };
        self.count(name, operands, count)?;
        self.mul_op(name, code)?;
        let mut sources = [ops::IDLE; 4];
        for (source, word) in sources.iter_mut().zip(operands) {
            *source = self.operand(word, word.text)?;
        }
        let i = &mut self.instruction;
        let [a, b, c, d] = sources;
        if code == ops::COMPLEX1 {
            (i.mul0_a, i.mul0_b, i.mul1_a, i.mul1_b) = (a, b, c, d);
        } else {
            (i.mul0_b, i.mul0_a, i.mul1_a) = (a, b, c);
        }
        Ok(())
    }

    fn pass(&mut self, name: &Word<'_>, op: &str, operands: &[Word<'_>]) -> Result<()> {
        let (code, mut count) = self.code(name, op, ops::PASS, 8)?;
        if ops::by_code(ops::PASS, code).is_none() {
            count = 1;
        }
        self.count(name, operands, count)?;
        self.instruction.pass_op = code;
        self.instruction.pass_source = self.operand(&operands[0], operands[0].text)?;
        if let [_, low, high] = operands {
            let limits = [self.operand(low, low.text)?, self.operand(high, high.text)?];
            if limits != [ops::MEMORY, ops::MEMORY + 1] {
                return self.fail(low, "the limits of a clamp are x and y of the memory load");
            }
        }
        Ok(())
    }

    /// A second operand, where a constant may stand.
    fn second(&mut self, word: &Word<'_>, text: &str, identity: &str) -> Result<u16> {
        if text == identity {
            return Ok(ops::IDENTITY);
        }
        let source = self.operand(word, text)?;
        if source == ops::IDENTITY {
            let message = format!("the complex result cannot be a second operand: there its number means {identity}");
            return self.fail(word, message);
        }
        Ok(source)
    }

    /// A source's number; fills the port it needs.
    fn operand(&mut self, word: &Word<'_>, text: &str) -> Result<u16> {
        if text == "_" {
            return Ok(ops::IDLE);
        }
        if let Some(source) = text.strip_prefix('?').and_then(number).filter(|n| (0..32).contains(n)) {
            return Ok(source as u16);
        }
        if let Some(letter) = text.strip_prefix("^port.") {
            return Ok(ops::PORT0_BEFORE + self.letter(word, letter)?);
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
            return Ok(ops::MEMORY + self.memory(word, inner)? + letter);
        }
        let index = |prefix| {
            name.strip_prefix(prefix)
                .and_then(number)
                .filter(|n| (0..16).contains(n))
        };
        if let Some(attribute) = index('a') {
            return self.port0(word, attribute as u16, 1).map(|()| ops::PORT0 + letter);
        }
        let Some(register) = index('$').map(|register| register as u16) else {
            return self.unknown(word, text);
        };
        if !forced && self.port1.is_none_or(|have| have == register) {
            self.port1 = Some(register);
            self.instruction.register1_address = register;
            return Ok(ops::PORT1 + letter);
        }
        self.port0(word, register, 0).map(|()| ops::PORT0 + letter)
    }

    fn unknown<T>(&self, word: &Word<'_>, text: &str) -> Result<T> {
        let message = format!("`{text}` where a source is expected, such as a0.x, $1.x, t[2].x, ^acc0 or ^12");
        self.fail(word, message)
    }

    fn letter(&self, word: &Word<'_>, text: &str) -> Result<u16> {
        let mut letters = text.chars();
        match (letters.next().and_then(component), letters.next()) {
            (Some(letter), None) => Ok(letter as u16),
            _ => self.fail(word, format!("`{text}` is no component: x, y, z or w")),
        }
    }

    fn port0(&mut self, word: &Word<'_>, index: u16, is_attribute: u16) -> Result<()> {
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

    fn memory(&mut self, word: &Word<'_>, inner: &str) -> Result<u16> {
        let (index, offset) = match inner.split_once("+a") {
            Some((index, offset)) => (index, number(offset).filter(|n| (0..7).contains(n))),
            None => (inner, Some(ops::NO_OFFSET.into())),
        };
        let index = number(index).filter(|n| (0..512).contains(n));
        let Some((index, offset)) = index.zip(offset).map(|(i, o)| (i as u16, o as u16)) else {
            return self.fail(word, "a memory source is t[N] or t[N+aR], N below 512");
        };
        if self.memory.is_some_and(|have| have != (index, offset)) {
            return self.fail(word, "the instruction loads another vec4 from memory already");
        }
        self.memory = Some((index, offset));
        (self.instruction.load_address, self.instruction.load_offset) = (index, offset);
        Ok(0)
    }

    /// A result by number, or by unit and age.
    fn result(&self, word: &Word<'_>, text: &str) -> Result<u16> {
        let (unit, ago) = match number(text) {
            Some(number) => {
                let (at, slot) = (number as u32 / ops::SLOTS, number as u32 % ops::SLOTS);
                (UNITS.iter().find(|unit| unit.slot == slot), self.at.wrapping_sub(at))
            }
            None => {
                let (name, ago) = text.strip_prefix('^').map_or((text, 1), |name| (name, 2));
                (UNITS.iter().find(|unit| unit.name == name), ago)
            }
        };
        let source = match (unit, ago) {
            (Some(unit), 1) => Some(unit.last),
            (Some(unit), 2) => unit.before,
            _ => None,
        };
        match source {
            Some(source) => Ok(source),
            None => self.fail(
                word,
                format!("`^{text}` is no result of the last two instructions that can be read"),
            ),
        }
    }

    fn destination(&mut self, word: &Word<'_>, unit: &Unit) -> Result<()> {
        for part in word.text.split('/') {
            if part == "_" || part == format!("^{}", self.at * ops::SLOTS + unit.slot) {
                continue;
            }
            self.store(word, part, unit)?;
        }
        Ok(())
    }

    fn store(&mut self, word: &Word<'_>, part: &str, unit: &Unit) -> Result<()> {
        let Some((name, letter)) = part.rsplit_once('.') else {
            let own = self.at * ops::SLOTS + unit.slot;
            return self.fail(
                word,
                format!("`{part}` where a destination is expected: ^{own}, _, or a store such as v0.x"),
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
            ("t[]", ..) => (1, 0, 0),
            (_, Some(varying), _) => (0, 1, varying),
            (_, _, Some(register)) => (0, 0, register),
            _ => {
                return self.fail(
                    word,
                    format!("`{name}` cannot be stored to: v0 to v15, $0 to $15 or t[]"),
                );
            }
        };
        let half = usize::from(letter / 2);
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
        if temporary == 1 && i.branch == 0 {
            i.flags = 12;
        }
        let field = match letter {
            0 => &mut i.store0_x,
            1 => &mut i.store0_y,
            2 => &mut i.store1_z,
            _ => &mut i.store1_w,
        };
        if *field != ops::NO_STORE {
            return self.fail(word, format!("component {part} is stored already"));
        }
        *field = unit.store;
        Ok(())
    }
}
