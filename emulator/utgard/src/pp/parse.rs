//! Text to PP instructions: the inverse of the printer, and what people write.
//!
//! An instruction is a line of units separated by commas, in any order: `load.v $0.xy 0.xy, mul.s0 $0.x $0.x $0.y`.
//! Labels are names or numbers before a colon; a branch may also name a distance in words, `.+5`. `.word N` is a word
//! as it is. `set UNIT.FIELD VALUE` changes a field after everything else. Hints (lengths of other instructions) are
//! filled in.

use super::ops::{self, Op, Source as From};
use super::print::CONDITIONS;
use super::{
    Branch, Combine, Constant, Control, FloatAcc, FloatMul, Instruction, Load, Sampler, Store, UNITS, Varying, VecAcc,
    VecMul,
};
use crate::field::{Field, Fields};
use crate::text::{COMPONENTS, Source, Statement, Word, component, number};
use loader::SourceError;
use num::half;

type Result<T, E = SourceError> = std::result::Result<T, E>;

/// Assembles a program.
///
/// # Errors
/// The first place where the text is no PP program, with what was expected.
pub fn assemble(text: &str) -> Result<Vec<u32>> {
    assemble_statements(Source(text), &Source(text).statements())
}

/// Assembles statements of a text, such as those that are left when an outer language has taken its own.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_statements(source: Source<'_>, statements: &[Statement<'_>]) -> Result<Vec<u32>> {
    let mut words = Vec::new();
    for item in resolve(source, statements)? {
        match item {
            Item::Instruction(instruction) => instruction.encode(&mut words),
            Item::Word(word) => words.push(word),
            Item::Nothing => {}
        }
    }
    Ok(words)
}

/// The instructions of a text, `None` for a word that is none.
pub(super) fn program(text: &str) -> Result<Vec<Option<Instruction>>> {
    let source = Source(text);
    let items = resolve(source, &source.statements())?;
    Ok(items
        .into_iter()
        .map(|item| {
            if let Item::Instruction(instruction) = item {
                Some(*instruction)
            } else {
                None
            }
        })
        .collect())
}

enum Item {
    Instruction(Box<Instruction>),
    Word(u32),
    Nothing,
}

impl Item {
    fn words(&self) -> u32 {
        match self {
            Self::Instruction(instruction) => instruction.words(),
            Self::Word(_) => 1,
            Self::Nothing => 0,
        }
    }
}

/// What a statement leaves open until all are read.
#[derive(Default)]
struct Open<'a> {
    target: Option<Word<'a>>,
    sets: Vec<(usize, &'static Field, u32)>,
    padding: Option<u32>,
}

/// [`UNITS`] and behind them the control word.
const CONTROL: usize = UNITS.len();

fn resolve<'a>(source: Source<'a>, statements: &[Statement<'a>]) -> Result<Vec<Item>> {
    let mut items = Vec::with_capacity(statements.len());
    let mut opens = Vec::with_capacity(statements.len());
    let mut addresses = Vec::with_capacity(statements.len());
    let mut address = 0u32;
    for statement in statements {
        let (item, open) = Reader { source }.statement(statement)?;
        addresses.push(address);
        address += item.words();
        items.push(item);
        opens.push(open);
    }
    let labels = source.labels(statements, &addresses)?;
    let lengths: Vec<u32> = items.iter().map(Item::words).collect();
    let items_count = items.len();
    let ends_at = (0..items.len()).rev().find(|at| lengths[*at] > 0);
    for (at, (item, open)) in items.iter_mut().zip(opens).enumerate() {
        let Item::Instruction(instruction) = item else { continue };
        let last = ends_at == Some(at);
        instruction.control.prefetch = u32::from(!last);
        instruction.control.next_length = if last { 0 } else { lengths[at + 1] };
        if let Some(target) = &open.target {
            let distance = match target.text.strip_prefix('.') {
                Some(distance) => number(distance.trim_start_matches('+')),
                None => labels
                    .get(target.text)
                    .map(|label| i64::from(*label) - i64::from(addresses[at])),
            };
            let Some(distance) = distance.filter(|distance| (-(1 << 26)..1 << 26).contains(distance)) else {
                let message = format!("`{}` is neither a label nor a distance", target.text);
                return Err(source.error(target.span.clone(), message));
            };
            let branch = instruction.branch.get_or_insert_default();
            branch.target = distance as u32 & 0x7ff_ffff;
            let absolute = i64::from(addresses[at]) + distance;
            let first = addresses.partition_point(|address| i64::from(*address) < absolute);
            let there = (first..items_count).find(|at| lengths[*at] > 0 || i64::from(addresses[*at]) != absolute);
            let there = there.filter(|at| i64::from(addresses[*at]) == absolute);
            branch.target_length = there.map_or(0, |at| lengths[at]);
        }
        for (unit, field, value) in open.sets {
            if unit == CONTROL {
                let bits = field.put(instruction.control.to_bits(), value);
                instruction.control = Control::from_bits(bits);
            } else if let Some(bits) = instruction.unit(unit) {
                instruction.set_unit(unit, field.put(bits, value));
            }
        }
        instruction.padding = open.padding.unwrap_or_default();
    }
    Ok(items)
}

struct Reader<'a> {
    source: Source<'a>,
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, word: &Word<'_>, message: impl Into<String>) -> Result<T> {
        Err(self.source.error(word.span.clone(), message))
    }

    fn statement(&self, statement: &Statement<'a>) -> Result<(Item, Open<'a>)> {
        let mut open = Open::default();
        let Some(first) = statement.parts.first() else {
            return Ok((Item::Nothing, open));
        };
        if first[0].text == ".word" {
            let [_, value] = &first[..] else {
                return self.fail(&first[0], "`.word` takes one number");
            };
            if statement.parts.len() > 1 {
                return self.fail(&statement.parts[1][0], "`.word` stands alone");
            }
            let value = self.source.number(value)?;
            return Ok((Item::Word(value as u32), open));
        }
        let mut instruction = Box::<Instruction>::default();
        for part in &statement.parts {
            self.part(part, &mut instruction, &mut open)?;
        }
        for (unit, field, _) in &open.sets {
            if *unit < CONTROL && instruction.unit(*unit).is_none() {
                return self.fail(
                    &first[0],
                    format!(
                        "`set` of {}.{}, but the instruction lacks that unit",
                        UNITS[*unit].0, field.name
                    ),
                );
            }
        }
        Ok((Item::Instruction(instruction), open))
    }

    fn part(&self, part: &[Word<'a>], instruction: &mut Instruction, open: &mut Open<'a>) -> Result<()> {
        let (name, operands) = (&part[0], &part[1..]);
        let mut pieces = name.text.split('.');
        let (op, suffix) = (
            pieces.next().unwrap_or_default(),
            name.text.rsplit('.').next().unwrap_or_default(),
        );
        match (op, suffix) {
            ("nop", "nop") => self.count(name, operands, 0),
            ("sync", "sync") => {
                instruction.control.sync = 1;
                self.count(name, operands, 0)
            }
            ("stop", "stop") => {
                instruction.control.stop = 1;
                self.count(name, operands, 0)
            }
            ("set", "set") => self.set(name, operands, open),
            ("load", "v") => self.put(name, &mut instruction.varying, self.varying(name, operands)?),
            ("texld", _) => self.put(name, &mut instruction.sampler, self.sampler(name, operands)?),
            ("load", "u" | "t") => self.put(name, &mut instruction.load, self.load(name, operands, suffix)?),
            (_, "v0") => {
                let unit = self.vector(name, operands, ops::MUL)?.0;
                self.put(name, &mut instruction.vec_mul, unit)
            }
            (_, "v1") => {
                let (unit, a_is_mul) = self.vector(name, operands, ops::ACC)?;
                let unit = VecAcc {
                    a_is_mul: u32::from(a_is_mul),
                    ..VecAcc::from_bits(unit.to_bits())
                };
                self.put(name, &mut instruction.vec_acc, unit)
            }
            (_, "s0") => {
                let unit = self.float(name, operands, ops::MUL)?.0;
                self.put(name, &mut instruction.float_mul, unit)
            }
            (_, "s1") => {
                let (unit, a_is_mul) = self.float(name, operands, ops::ACC)?;
                let unit = FloatAcc {
                    a_is_mul: u32::from(a_is_mul),
                    ..FloatAcc::from_bits(unit.to_bits())
                };
                self.put(name, &mut instruction.float_acc, unit)
            }
            (_, "s2" | "v2") => self.put(name, &mut instruction.combine, self.combine(name, operands, suffix)?),
            ("store", "t") => self.put(name, &mut instruction.store, self.store(name, operands)?),
            ("fb_color" | "fb_depth", _) => {
                let unit = self.read(name, operands, op)?;
                self.put(name, &mut instruction.store, unit)
            }
            ("branch", _) => {
                let unit = self.branch(name, operands, open)?;
                self.put(name, &mut instruction.branch, unit)
            }
            ("discard", "discard") => {
                self.count(name, operands, 0)?;
                let unit = Branch {
                    kind: 3,
                    greater: 1,
                    equal: 1,
                    less: 1,
                    unknown19: 15,
                    ..Default::default()
                };
                self.put(name, &mut instruction.branch, unit)
            }
            ("const0", "const0") => self.put(name, &mut instruction.const0, self.constant(name, operands)?),
            ("const1", "const1") => self.put(name, &mut instruction.const1, self.constant(name, operands)?),
            _ => self.fail(name, format!("`{}` is no PP operation", name.text)),
        }
    }

    fn put<T>(&self, name: &Word<'_>, slot: &mut Option<T>, unit: T) -> Result<()> {
        if slot.is_some() {
            return self.fail(name, format!("`{}`: the instruction uses this unit already", name.text));
        }
        *slot = Some(unit);
        Ok(())
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

    fn set(&self, name: &Word<'_>, operands: &[Word<'a>], open: &mut Open<'a>) -> Result<()> {
        self.count(name, operands, 2)?;
        let value = self.source.number(&operands[1])? as u32;
        if operands[0].text == "padding" {
            open.padding = Some(value);
            return Ok(());
        }
        let found = operands[0].text.split_once('.').and_then(|(unit, field)| {
            let at = UNITS.iter().position(|row| row.0 == unit);
            let fields = if unit == "control" {
                Control::FIELDS
            } else {
                UNITS[at?].2
            };
            let field = fields.iter().find(|row| row.name == field)?;
            (!["length", "units"].contains(&field.name)).then_some((at.unwrap_or(CONTROL), field))
        });
        let Some((unit, field)) = found else {
            return self.fail(&operands[0], format!("`{}` is no field of a PP unit", operands[0].text));
        };
        if u64::from(value) >> field.width != 0 {
            return self.fail(&operands[1], format!("{value} does not fit {} bits", field.width));
        }
        open.sets.push((unit, field, value));
        Ok(())
    }

    fn register(&self, word: &Word<'_>, text: &str) -> Result<u32> {
        match text {
            "^const0" => return Ok(12),
            "^const1" => return Ok(13),
            "^texture" => return Ok(14),
            "^uniform" => return Ok(15),
            _ => {}
        }
        match text.strip_prefix('$').and_then(number) {
            Some(number) if (0..12).contains(&number) => Ok(number as u32),
            _ => self.fail(
                word,
                format!("`{text}` where a register is expected: $0 to $11, ^const0, ^const1, ^texture or ^uniform"),
            ),
        }
    }

    /// `-`, `abs(…)` around something: what is inside, absolute, negate.
    fn modifiers<'t>(&self, word: &Word<'t>) -> (&'t str, u32, u32) {
        let (text, negate) = word.text.strip_prefix('-').map_or((word.text, 0), |rest| (rest, 1));
        match text.strip_prefix("abs(").and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => (inner, 1, negate),
            None => (text, 0, negate),
        }
    }

    fn scalar(&self, word: &Word<'_>, text: &str) -> Result<u32> {
        let parts = text.rsplit_once('.').and_then(|(name, letter)| {
            let mut letters = letter.chars();
            let letter = component(letters.next()?)?;
            letters.next().is_none().then_some((name, letter))
        });
        let Some((name, letter)) = parts else {
            return self.fail(word, format!("`{text}` where a scalar such as $0.x is expected"));
        };
        Ok(self.register(word, name)? << 2 | letter)
    }

    fn scalar_source(&self, word: &Word<'_>) -> Result<[u32; 3]> {
        let (text, absolute, negate) = self.modifiers(word);
        Ok([self.scalar(word, text)?, absolute, negate])
    }

    /// A name and its swizzle; short ones repeat their last letter.
    fn swizzled<'t>(&self, word: &Word<'_>, text: &'t str) -> Result<(&'t str, u32)> {
        let Some((name, letters)) = text.rsplit_once('.') else {
            return Ok((text, 0xe4));
        };
        let letters: Option<Vec<u32>> = letters.chars().map(component).collect();
        match letters.as_deref() {
            Some(letters @ [.., last]) if letters.len() <= 4 => {
                let of = |at: usize| letters.get(at).unwrap_or(last) << (2 * at);
                Ok((name, (0..4).map(of).sum()))
            }
            _ => self.fail(word, format!("`{text}` has no swizzle of one to four components")),
        }
    }

    /// A register with a write mask; none means all.
    fn masked<'t>(&self, word: &Word<'t>) -> Result<(&'t str, u32)> {
        let Some((name, letters)) = word.text.rsplit_once('.') else {
            return Ok((word.text, 15));
        };
        let mut mask = 0;
        for letter in letters.chars() {
            match component(letter) {
                Some(letter) if mask >> letter == 0 => mask |= 1 << letter,
                _ => return self.fail(word, format!("`{letters}` is no mask: components in order, each once")),
            }
        }
        Ok((name, mask))
    }

    /// An index with its alignment (0, 1, and `vec4` for whole vectors), and the offset register.
    fn index(&self, word: &Word<'_>, text: &str, vec4: u32) -> Result<(i64, u32, Option<u32>)> {
        let (index, offset) = match text.split_once('+') {
            Some((index, offset)) => (index, Some(self.scalar(word, offset)?)),
            None => (text, None),
        };
        let parsed = match index.split_once('.') {
            None => number(index).map(|index| (index, vec4)),
            Some((index, "xy")) => number(index).map(|index| (index * 2, 1)),
            Some((index, "zw")) => number(index).map(|index| (index * 2 + 1, 1)),
            Some((index, letter)) => {
                let letter = COMPONENTS.iter().position(|c| letter.chars().eq([*c]));
                number(index)
                    .zip(letter)
                    .map(|(index, letter)| (index * 4 + letter as i64, 0))
            }
        };
        match parsed {
            Some((index, alignment)) => Ok((index, alignment, offset)),
            None => self.fail(
                word,
                format!("`{text}` where an index such as 2, 2.xy or 2.x is expected"),
            ),
        }
    }

    fn ranged(&self, word: &Word<'_>, value: i64, range: std::ops::Range<i64>, what: &str) -> Result<u32> {
        if range.contains(&value) {
            return Ok(value as u32);
        }
        self.fail(
            word,
            format!("{what} {value} is outside {} to {}", range.start, range.end - 1),
        )
    }

    fn varying(&self, name: &Word<'_>, operands: &[Word<'_>]) -> Result<Varying> {
        self.count(name, operands, 2)?;
        let (destination, mask) = self.masked(&operands[0])?;
        let destination = if destination == "^discard" {
            15
        } else {
            self.register(&operands[0], destination)?
        };
        let word = &operands[1];
        let (function, inner) = match word.text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((function, inner)) if !["abs", "-abs"].contains(&function) => (function, inner),
            _ => ("", word.text),
        };
        let unit = Varying {
            destination,
            mask,
            register: 15,
            ..Default::default()
        };
        if let Some(row) = ops::VARYING
            .iter()
            .find(|row| row.source == From::Builtin && row.name == inner)
        {
            return Ok(Varying {
                kind: row.code,
                alignment: 3,
                ..unit
            });
        }
        let from_register = inner.trim_start_matches('-').starts_with(['$', '^', 'a']);
        let source = if from_register { From::Register } else { From::Memory };
        let Some(row) = ops::VARYING
            .iter()
            .find(|row| row.source == source && row.name == function)
        else {
            return self.fail(word, format!("`{function}` is no way to load a varying"));
        };
        if from_register {
            let inside = Word {
                text: inner,
                span: word.span.clone(),
            };
            let (text, absolute, negate) = self.modifiers(&inside);
            let (register, swizzle) = self.swizzled(word, text)?;
            let register = self.register(word, register)?;
            let alignment = if row.name == "normalize" { 2 } else { 0 };
            let (component, index) = (swizzle & 3, swizzle >> 2);
            return Ok(Varying {
                kind: row.code,
                alignment,
                register,
                negate,
                absolute,
                component,
                index,
                ..unit
            });
        }
        let (index, alignment, offset) = self.index(word, inner, 3)?;
        let index = self.ranged(word, index, 0..64, "the index")?;
        let (register, component) = offset.map_or((15, 0), |offset| (offset >> 2, offset & 3));
        Ok(Varying {
            kind: row.code,
            alignment,
            register,
            component,
            index,
            ..unit
        })
    }

    fn sampler(&self, name: &Word<'_>, operands: &[Word<'_>]) -> Result<Sampler> {
        let mut unit = Sampler {
            constant: Sampler::CONSTANT,
            ..Default::default()
        };
        for piece in name.text.split('.').skip(1) {
            match piece {
                "cube" => unit.kind = 31,
                "b" => unit.lod_enable = 1,
                "l" => (unit.lod_enable, unit.explicit_lod) = (1, 1),
                _ => return self.fail(name, format!("`{piece}` is no way to sample: cube, b or l")),
            }
        }
        self.count(name, operands, 1 + unit.lod_enable as usize)?;
        let (index, alignment, offset) = self.index(&operands[0], operands[0].text, 2)?;
        if alignment != 2 {
            return self.fail(&operands[0], "a sampler's index has no components");
        }
        unit.index = self.ranged(&operands[0], index, 0..1 << 12, "the sampler")?;
        (unit.offset_enable, unit.offset) = offset.map_or((0, 0), |offset| (1, offset));
        if unit.lod_enable == 1 {
            unit.lod = self.scalar(&operands[1], operands[1].text)?;
        }
        Ok(unit)
    }

    fn load(&self, name: &Word<'_>, operands: &[Word<'_>], kind: &str) -> Result<Load> {
        self.count(name, operands, 1)?;
        let (index, alignment, offset) = self.index(&operands[0], operands[0].text, 2)?;
        let index = self.ranged(&operands[0], index, -32768..32768, "the index")? & 0xffff;
        let (offset_enable, offset) = offset.map_or((0, 0), |offset| (1, offset));
        let source = if kind == "t" { 3 } else { 0 };
        Ok(Load {
            source,
            alignment,
            offset,
            offset_enable,
            index,
            ..Default::default()
        })
    }

    /// An operation's row or number and its modifier, from `name[.modifier].unit`.
    fn operation(&self, name: &Word<'_>, table: &[Op]) -> Result<(u32, usize, u32)> {
        let pieces: Vec<&str> = name.text.split('.').collect();
        let modifier = match &pieces[1..pieces.len() - 1] {
            [] => Some(0),
            [modifier] => ops::MODIFIERS
                .iter()
                .skip(1)
                .position(|row| row == modifier)
                .map(|at| at as u32 + 1),
            _ => None,
        };
        let Some(modifier) = modifier else {
            return self.fail(
                name,
                format!("`{}`: modifiers are sat, pos and int, one at most", name.text),
            );
        };
        if let Some(op) = ops::by_name(table, pieces[0]) {
            return Ok((op.code, op.operands.into(), modifier));
        }
        match pieces[0].strip_prefix("op").and_then(number) {
            Some(code) if (0..32).contains(&code) && ops::by_code(table, code as u32).is_none() => {
                Ok((code as u32, 2, modifier))
            }
            _ => self.fail(name, format!("`{}` is no operation of this unit", pieces[0])),
        }
    }

    /// Takes the destination off the front when there is one more operand than the operation reads.
    fn destination<'w, 't>(
        &self,
        name: &Word<'_>,
        operands: &'w [Word<'t>],
        reads: usize,
    ) -> Result<(Option<&'w Word<'t>>, &'w [Word<'t>])> {
        if operands.len() == reads + 1 {
            return Ok((operands.first(), &operands[1..]));
        }
        self.count(name, operands, reads)?;
        Ok((None, operands))
    }

    fn vector(&self, name: &Word<'_>, operands: &[Word<'_>], table: &[Op]) -> Result<(VecMul, bool)> {
        let (op, reads, modifier) = self.operation(name, table)?;
        let (destination, sources) = self.destination(name, operands, reads)?;
        let mut unit = VecMul {
            op,
            modifier,
            a_swizzle: 0xe4,
            b_swizzle: 0,
            ..Default::default()
        };
        if let Some(word) = destination {
            let (register, mask) = self.masked(word)?;
            (unit.destination, unit.mask) = (self.register(word, register)?, mask);
        }
        let (text, absolute, negate) = self.modifiers(&sources[0]);
        let (register, swizzle) = self.swizzled(&sources[0], text)?;
        let a_is_mul = register == "^v0" && name.text.ends_with("v1");
        unit.a = if a_is_mul {
            0
        } else {
            self.register(&sources[0], register)?
        };
        (unit.a_swizzle, unit.a_absolute, unit.a_negate) = (swizzle, absolute, negate);
        if let Some(word) = sources.get(1) {
            let (text, absolute, negate) = self.modifiers(word);
            let (register, swizzle) = self.swizzled(word, text)?;
            unit.b = self.register(word, register)?;
            (unit.b_swizzle, unit.b_absolute, unit.b_negate) = (swizzle, absolute, negate);
        }
        Ok((unit, a_is_mul))
    }

    fn float(&self, name: &Word<'_>, operands: &[Word<'_>], table: &[Op]) -> Result<(FloatMul, bool)> {
        let (op, reads, modifier) = self.operation(name, table)?;
        let (destination, sources) = self.destination(name, operands, reads)?;
        let mut unit = FloatMul {
            op,
            modifier,
            ..Default::default()
        };
        if let Some(word) = destination {
            (unit.destination, unit.write) = (self.scalar(word, word.text)?, 1);
        }
        let (text, ..) = self.modifiers(&sources[0]);
        let a_is_mul = text == "^s0" && name.text.ends_with("s1");
        if a_is_mul {
            (_, unit.a_absolute, unit.a_negate) = self.modifiers(&sources[0]);
        } else {
            [unit.a, unit.a_absolute, unit.a_negate] = self.scalar_source(&sources[0])?;
        }
        if let Some(word) = sources.get(1) {
            [unit.b, unit.b_absolute, unit.b_negate] = self.scalar_source(word)?;
        }
        Ok((unit, a_is_mul))
    }

    fn combine(&self, name: &Word<'_>, operands: &[Word<'_>], suffix: &str) -> Result<Combine> {
        let op = name.text.split('.').next().unwrap_or_default();
        let mut unit = Combine::default();
        if suffix == "s2" {
            self.count(name, operands, 2)?;
            unit.destination = self.scalar(&operands[0], operands[0].text)?;
            if op == "atan_pt2" {
                unit.b_enable = 1;
                unit.modifier = self
                    .operation(
                        name,
                        &[Op {
                            code: 0,
                            name: "atan_pt2",
                            operands: 1,
                        }],
                    )?
                    .2;
                return self.vector_operand(unit, &operands[1]);
            }
            (unit.op, _, unit.modifier) = self.operation(name, ops::COMBINE)?;
            [unit.a, unit.a_absolute, unit.a_negate] = self.scalar_source(&operands[1])?;
            return Ok(unit);
        }
        unit.vector = 1;
        let Some(destination) = operands.first() else {
            return self.fail(name, "a destination is missing");
        };
        let (register, mask) = self.masked(destination)?;
        unit.set_destination_vector(self.register(destination, register)?, mask);
        if op == "mul" {
            self.count(name, operands, 3)?;
            [unit.a, unit.a_absolute, unit.a_negate] = self.scalar_source(&operands[1])?;
            unit.b_enable = 1;
            return self.vector_operand(unit, &operands[2]);
        }
        let (code, reads, _) = self.operation(name, ops::COMBINE_VECTOR)?;
        self.count(name, operands, reads + 1)?;
        unit.op = code;
        [unit.a, unit.a_absolute, unit.a_negate] = self.scalar_source(&operands[1])?;
        if let Some(word) = operands.get(2) {
            [unit.b, unit.b_absolute, unit.b_negate] = self.scalar_source(word)?;
        }
        Ok(unit)
    }

    fn vector_operand(&self, mut unit: Combine, word: &Word<'_>) -> Result<Combine> {
        let (register, swizzle) = self.swizzled(word, word.text)?;
        unit.set_b_vector(self.register(word, register)?, swizzle);
        Ok(unit)
    }

    fn store(&self, name: &Word<'_>, operands: &[Word<'_>]) -> Result<Store> {
        self.count(name, operands, 2)?;
        let (index, alignment, offset) = self.index(&operands[0], operands[0].text, 2)?;
        let index = self.ranged(&operands[0], index, -32768..32768, "the index")? & 0xffff;
        let word = &operands[1];
        let source = if alignment < 2 {
            self.scalar(word, word.text)?
        } else {
            self.register(word, word.text)? << 2
        };
        let (offset_enable, offset) = offset.map_or((0, 0), |offset| (1, offset));
        Ok(Store {
            target: 3,
            source,
            alignment,
            offset,
            offset_enable,
            index,
            ..Default::default()
        })
    }

    fn read(&self, name: &Word<'_>, operands: &[Word<'_>], op: &str) -> Result<Store> {
        self.count(name, operands, 1)?;
        let source = self.register(&operands[0], operands[0].text)? << 2;
        let target = if op == "fb_depth" { 2 } else { 3 };
        Ok(Store {
            target,
            read: 3,
            source,
            alignment: 2,
            ..Default::default()
        })
    }

    fn branch(&self, name: &Word<'_>, operands: &[Word<'a>], open: &mut Open<'a>) -> Result<Branch> {
        let Some(condition) = CONDITIONS.iter().position(|row| *row == name.text) else {
            return self.fail(
                name,
                format!("`{}`: conditions are gt, eq, ge, lt, ne, le and never", name.text),
            );
        };
        let always = condition == 7;
        self.count(name, operands, if always { 1 } else { 3 })?;
        open.target = operands.last().cloned();
        let bit = |at: usize| condition as u32 >> at & 1;
        let mut unit = Branch {
            greater: bit(0),
            equal: bit(1),
            less: bit(2),
            ..Default::default()
        };
        if !always {
            unit.a = self.scalar(&operands[0], operands[0].text)?;
            unit.b = self.scalar(&operands[1], operands[1].text)?;
        }
        Ok(unit)
    }

    fn constant(&self, name: &Word<'_>, operands: &[Word<'_>]) -> Result<Constant> {
        if operands.is_empty() || operands.len() > 4 {
            return self.fail(name, format!("`{}` takes one to four numbers", name.text));
        }
        let mut halves = [0; 4];
        for (half, word) in halves.iter_mut().zip(operands) {
            let Some(value) = half::from_text(word.text) else {
                return self.fail(word, format!("`{}` is no fp16 number", word.text));
            };
            *half = value;
        }
        let [x, y, z, w] = halves;
        Ok(Constant { x, y, z, w })
    }
}
