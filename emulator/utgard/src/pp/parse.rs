//! Parses text into PP instructions: the printer's output and hand-written programs.
//!
//! An instruction is a line of units separated by commas, in any order: `load.v $0.xy 0.xy, mul.s0 $0.x $0.x $0.y`.
//! Labels are names or numbers before a colon; a branch may also name a distance in words, `.+5`. `.word N` is a
//! literal word. `set UNIT.FIELD VALUE` overrides a field at the end. Hints (lengths of other instructions) are filled
//! in.

use super::ops::Origin;
use super::{
    ALL, AccOp, Alignment, Branch, BranchKind, Combine, Condition, Constant, Control, FloatAcc, FloatMul, Form,
    Instruction, Load, LoadSource, Modifier, MulOp, Register, Sampler, SamplerKind, Scalar, ScalarFunction,
    ScalarSource, ScalarUnit, Store, StoreMode, StoreTarget, UNITS, Varying, VaryingKind, VecAcc, VecMul,
    VectorFunction, VectorSource, VectorUnit,
};
use crate::field::{Code, Field, Fields};
use crate::text::{COMPONENTS, Source, Statement, Word, component, number};
use crate::vector::{Component, Swizzle};
use loader::SourceError;
use num::half;

type Result<T, E = SourceError> = std::result::Result<T, E>;

/// Destination of a varying that only the sampler reads.
pub(super) const NOWHERE: &str = "^discard";

/// Assembles a program.
///
/// # Errors
/// The first error in the text, with what was expected.
pub fn assemble(text: &str) -> Result<Vec<u32>> {
    assemble_statements(Source(text), &Source(text).statements())
}

/// Assembles some statements of a text, such as those that an outer language did not consume.
///
/// # Errors
/// See [`assemble`].
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

/// The instructions of a text, `None` for a literal word.
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

/// Parts of a statement resolved after all are parsed.
#[derive(Default)]
struct Open<'a> {
    target: Option<Word<'a>>,
    sets: Vec<(usize, &'static Field, u32)>,
    padding: Option<u32>,
}

/// The index of the control word, after [`UNITS`].
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
        instruction.control.prefetch = !last;
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
                return self.fail(&statement.parts[1][0], "`.word` must be alone in its statement");
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
                instruction.control.sync = true;
                self.count(name, operands, 0)
            }
            ("stop", "stop") => {
                instruction.control.stop = true;
                self.count(name, operands, 0)
            }
            ("set", "set") => self.set(name, operands, open),
            ("load", "v") => self.put(name, &mut instruction.varying, self.varying(name, operands)?),
            ("texld", _) => self.put(name, &mut instruction.sampler, self.sampler(name, operands)?),
            ("load", "u" | "t") => self.put(name, &mut instruction.load, self.load(name, operands, suffix)?),
            (_, "v0") => {
                let (op, modifier) = self.operation(name, MulOp::from_name)?;
                let (unit, _) = self.vector(name, operands, op.operands(), modifier)?;
                self.put(name, &mut instruction.vec_mul, VecMul::new(op, unit))
            }
            (_, "v1") => {
                let (op, modifier) = self.operation(name, AccOp::from_name)?;
                let (unit, a_is_mul) = self.vector(name, operands, op.operands(), modifier)?;
                let unit = VecAcc::new(op, unit);
                self.put(name, &mut instruction.vec_acc, VecAcc { a_is_mul, ..unit })
            }
            (_, "s0") => {
                let (op, modifier) = self.operation(name, MulOp::from_name)?;
                let (unit, _) = self.float(name, operands, op.operands(), modifier)?;
                self.put(name, &mut instruction.float_mul, FloatMul::new(op, unit))
            }
            (_, "s1") => {
                let (op, modifier) = self.operation(name, AccOp::from_name)?;
                let (unit, a_is_mul) = self.float(name, operands, op.operands(), modifier)?;
                let unit = FloatAcc::new(op, unit);
                self.put(name, &mut instruction.float_acc, FloatAcc { a_is_mul, ..unit })
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
                let unit = Branch::discard();
                self.put(name, &mut instruction.branch, unit)
            }
            ("const0", "const0") => self.put(name, &mut instruction.const0, self.constant(name, operands)?),
            ("const1", "const1") => self.put(name, &mut instruction.const1, self.constant(name, operands)?),
            _ => self.fail(name, format!("`{}` is not a PP operation", name.text)),
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
            return self.fail(
                &operands[0],
                format!("`{}` is not a field of a PP unit", operands[0].text),
            );
        };
        if u64::from(value) >> field.width != 0 {
            return self.fail(&operands[1], format!("{value} does not fit {} bits", field.width));
        }
        open.sets.push((unit, field, value));
        Ok(())
    }

    fn register(&self, word: &Word<'_>, text: &str) -> Result<Register> {
        Register::from_name(text).map_or_else(
            || {
                let message =
                    format!("`{text}` where a register is expected: $0 to $11, ^const0, ^const1, ^texture or ^uniform");
                self.fail(word, message)
            },
            Ok,
        )
    }

    /// Parses `-` and `abs(…)`: the inner text, absolute, negate.
    fn modifiers<'t>(&self, word: &Word<'t>) -> (&'t str, bool, bool) {
        let (text, negate) = word
            .text
            .strip_prefix('-')
            .map_or((word.text, false), |rest| (rest, true));
        match text.strip_prefix("abs(").and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => (inner, true, negate),
            None => (text, false, negate),
        }
    }

    fn scalar(&self, word: &Word<'_>, text: &str) -> Result<Scalar> {
        let parts = text.rsplit_once('.').and_then(|(name, letter)| {
            let mut letters = letter.chars();
            let letter = component(letters.next()?)?;
            letters.next().is_none().then_some((name, letter))
        });
        let Some((name, letter)) = parts else {
            return self.fail(word, format!("`{text}` where a scalar such as $0.x is expected"));
        };
        Ok(self.register(word, name)?.component(Component::from_code(letter)))
    }

    fn scalar_source(&self, word: &Word<'_>) -> Result<ScalarSource> {
        let (text, absolute, negate) = self.modifiers(word);
        Ok(ScalarSource {
            scalar: self.scalar(word, text)?,
            absolute,
            negate,
        })
    }

    /// A name and its swizzle; short ones repeat their last letter.
    fn swizzled<'t>(&self, word: &Word<'_>, text: &'t str) -> Result<(&'t str, Swizzle)> {
        let Some((name, letters)) = text.rsplit_once('.') else {
            return Ok((text, Swizzle::IDENTITY));
        };
        let letters: Option<Vec<u32>> = letters.chars().map(component).collect();
        match letters.as_deref() {
            Some(letters @ [.., last]) if letters.len() <= 4 => {
                let of = |at: usize| Component::from_code(*letters.get(at).unwrap_or(last));
                Ok((name, Swizzle::new(std::array::from_fn(of))))
            }
            _ => self.fail(word, format!("`{text}` has no swizzle of one to four components")),
        }
    }

    /// A vector operand and whether it is `forwarded`, the name of a result that replaces a register.
    fn vector_source(&self, word: &Word<'_>, forwarded: Option<&str>) -> Result<(VectorSource, bool)> {
        let (text, absolute, negate) = self.modifiers(word);
        let (name, swizzle) = self.swizzled(word, text)?;
        let is_forwarded = forwarded == Some(name);
        let register = if is_forwarded {
            Register::default()
        } else {
            self.register(word, name)?
        };
        let source = VectorSource {
            register,
            swizzle,
            absolute,
            negate,
        };
        Ok((source, is_forwarded))
    }

    /// A register with a write mask; no mask means all components.
    fn masked<'t>(&self, word: &Word<'t>) -> Result<(&'t str, u32)> {
        let Some((name, letters)) = word.text.rsplit_once('.') else {
            return Ok((word.text, ALL));
        };
        let mut mask = 0;
        for letter in letters.chars() {
            match component(letter) {
                Some(letter) if mask >> letter == 0 => mask |= 1 << letter,
                _ => {
                    return self.fail(
                        word,
                        format!("`{letters}` is not a mask: components in order, each once"),
                    );
                }
            }
        }
        Ok((name, mask))
    }

    /// An index with its alignment (`vec4` for whole vectors), and the offset register.
    fn index(&self, word: &Word<'_>, text: &str, vec4: Alignment) -> Result<(i64, Alignment, Option<Scalar>)> {
        let (index, offset) = match text.split_once('+') {
            Some((index, offset)) => (index, Some(self.scalar(word, offset)?)),
            None => (text, None),
        };
        let parsed = match index.split_once('.') {
            None => number(index).map(|index| (index, vec4)),
            Some((index, "xy")) => number(index).map(|index| (index * 2, Alignment::Vec2)),
            Some((index, "zw")) => number(index).map(|index| (index * 2 + 1, Alignment::Vec2)),
            Some((index, letter)) => {
                let letter = COMPONENTS.iter().position(|c| letter.chars().eq([*c]));
                let parsed = number(index).zip(letter);
                parsed.map(|(index, letter)| (index * 4 + letter as i64, Alignment::Float))
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
        let destination = if destination == NOWHERE {
            Register::NONE
        } else {
            self.register(&operands[0], destination)?
        };
        let word = &operands[1];
        let (function, inner) = match word.text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((function, inner)) if !["abs", "-abs"].contains(&function) => (function, inner),
            _ => ("", word.text),
        };
        let kind = |origin: Origin, name: &str| {
            let mut kinds = VaryingKind::ALL.iter().copied();
            kinds.find(|kind| kind.row().origin == origin && kind.name() == name)
        };
        let unit = Varying {
            destination,
            mask,
            register: Register::NONE,
            ..Default::default()
        };
        if let Some(kind) = kind(Origin::Builtin, inner) {
            return Ok(Varying {
                kind,
                alignment: Alignment::Varying4,
                ..unit
            });
        }
        let from_register = inner.trim_start_matches('-').starts_with(['$', '^', 'a']);
        let origin = if from_register {
            Origin::Register
        } else {
            Origin::Memory
        };
        let Some(kind) = kind(origin, function) else {
            return self.fail(word, format!("`{function}` is not a kind of varying load"));
        };
        if from_register {
            let inside = Word {
                text: inner,
                span: word.span.clone(),
            };
            let (source, _) = self.vector_source(&inside, None)?;
            let alignment = match kind {
                VaryingKind::Normalize => Alignment::Vec4,
                _ => Alignment::Float,
            };
            let swizzle = source.swizzle.code();
            return Ok(Varying {
                kind,
                alignment,
                register: source.register,
                negate: source.negate,
                absolute: source.absolute,
                component: swizzle & 3,
                index: swizzle >> 2,
                ..unit
            });
        }
        let (index, alignment, offset) = self.index(word, inner, Alignment::Varying4)?;
        let index = self.ranged(word, index, 0..64, "the index")?;
        let offset = offset.unwrap_or(Register::NONE.component(Component::X));
        Ok(Varying {
            kind,
            alignment,
            register: offset.register(),
            component: offset.component() as u32,
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
                "cube" => unit.kind = SamplerKind::Cube,
                "b" => unit.lod_enable = true,
                "l" => (unit.lod_enable, unit.explicit_lod) = (true, true),
                _ => return self.fail(name, format!("`{piece}` is not a sampling mode: cube, b or l")),
            }
        }
        self.count(name, operands, 1 + usize::from(unit.lod_enable))?;
        let (index, alignment, offset) = self.index(&operands[0], operands[0].text, Alignment::Vec4)?;
        if alignment != Alignment::Vec4 {
            return self.fail(&operands[0], "a sampler's index has no components");
        }
        unit.index = self.ranged(&operands[0], index, 0..1 << 12, "the sampler")?;
        (unit.offset_enable, unit.offset) = (offset.is_some(), offset.unwrap_or_default());
        if unit.lod_enable {
            unit.lod = self.scalar(&operands[1], operands[1].text)?;
        }
        Ok(unit)
    }

    fn load(&self, name: &Word<'_>, operands: &[Word<'_>], kind: &str) -> Result<Load> {
        self.count(name, operands, 1)?;
        let (index, alignment, offset) = self.index(&operands[0], operands[0].text, Alignment::Vec4)?;
        let index = self.ranged(&operands[0], index, -32768..32768, "the index")? & 0xffff;
        let (offset_enable, offset) = (offset.is_some(), offset.unwrap_or_default());
        let source = if kind == "t" {
            LoadSource::Temporary
        } else {
            LoadSource::Uniform
        };
        Ok(Load {
            source,
            alignment,
            offset,
            offset_enable,
            index,
            ..Default::default()
        })
    }

    /// An operation and its modifier, from `name[.modifier].unit`.
    fn operation<T>(&self, name: &Word<'_>, from_name: impl Fn(&str) -> Option<T>) -> Result<(T, Modifier)> {
        let pieces: Vec<&str> = name.text.split('.').collect();
        let modifier = match pieces.get(1..pieces.len() - 1).unwrap_or_default() {
            [] => Some(Modifier::None),
            [modifier] => Modifier::ALL
                .into_iter()
                .find(|row| *row != Modifier::None && row.name() == *modifier),
            _ => None,
        };
        let Some(modifier) = modifier else {
            return self.fail(
                name,
                format!("`{}`: modifiers are sat, pos and int, one at most", name.text),
            );
        };
        match from_name(pieces[0]) {
            Some(op) => Ok((op, modifier)),
            None => self.fail(name, format!("`{}` is not an operation of this unit", pieces[0])),
        }
    }

    /// Removes the destination from the front if there is one operand more than the operation reads.
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

    /// A vector unit with this many operands; whether the first is the multiplier's result.
    fn vector(
        &self,
        name: &Word<'_>,
        operands: &[Word<'_>],
        reads: usize,
        modifier: Modifier,
    ) -> Result<(VectorUnit, bool)> {
        let (destination, sources) = self.destination(name, operands, reads)?;
        let mut unit = VectorUnit {
            modifier,
            ..Default::default()
        };
        if let Some(word) = destination {
            let (register, mask) = self.masked(word)?;
            (unit.destination, unit.mask) = (self.register(word, register)?, mask);
        }
        let forwarded = name.text.ends_with("v1").then_some("^v0");
        let (a, a_is_mul) = self.vector_source(&sources[0], forwarded)?;
        unit.a = a;
        if let Some(word) = sources.get(1) {
            unit.b = self.vector_source(word, None)?.0;
        }
        Ok((unit, a_is_mul))
    }

    /// A scalar unit with this many operands; whether the first is the multiplier's result.
    fn float(
        &self,
        name: &Word<'_>,
        operands: &[Word<'_>],
        reads: usize,
        modifier: Modifier,
    ) -> Result<(ScalarUnit, bool)> {
        let (destination, sources) = self.destination(name, operands, reads)?;
        let mut unit = ScalarUnit {
            modifier,
            ..Default::default()
        };
        if let Some(word) = destination {
            (unit.destination, unit.write) = (self.scalar(word, word.text)?, true);
        }
        let (text, absolute, negate) = self.modifiers(&sources[0]);
        let a_is_mul = text == "^s0" && name.text.ends_with("s1");
        unit.a = if a_is_mul {
            ScalarSource {
                absolute,
                negate,
                ..Default::default()
            }
        } else {
            self.scalar_source(&sources[0])?
        };
        if let Some(word) = sources.get(1) {
            unit.b = self.scalar_source(word)?;
        }
        Ok((unit, a_is_mul))
    }

    fn combine(&self, name: &Word<'_>, operands: &[Word<'_>], suffix: &str) -> Result<Combine> {
        if suffix == "s2" {
            return self.combine_scalar(name, operands);
        }
        let mut unit = Combine::default();
        let Some(destination) = operands.first() else {
            return self.fail(name, "a destination is missing");
        };
        let (register, mask) = self.masked(destination)?;
        unit.set_destination_vector(self.register(destination, register)?, mask);
        // A vector's destination is in the place of a scalar's modifier.
        let plain = |modifier: Modifier| match modifier {
            Modifier::None => Ok(()),
            _ => self.fail(
                name,
                format!("`{}`: vectors of the combine unit have no modifiers", name.text),
            ),
        };
        let scale = |name: &str| (name == "mul").then_some(());
        if let Ok(((), modifier)) = self.operation(name, scale) {
            plain(modifier)?;
            self.count(name, operands, 3)?;
            set_first(&mut unit, self.scalar_source(&operands[1])?);
            unit.set_form(Form::Scale(self.plain_vector(&operands[2])?));
            return Ok(unit);
        }
        let (op, modifier) = self.operation(name, VectorFunction::from_name)?;
        plain(modifier)?;
        self.count(name, operands, op.operands() + 1)?;
        unit.set_form(Form::Vector(op));
        set_first(&mut unit, self.scalar_source(&operands[1])?);
        if let Some(word) = operands.get(2) {
            let b = self.scalar_source(word)?;
            (unit.b, unit.b_absolute, unit.b_negate) = (b.scalar, b.absolute, b.negate);
        }
        Ok(unit)
    }

    fn combine_scalar(&self, name: &Word<'_>, operands: &[Word<'_>]) -> Result<Combine> {
        self.count(name, operands, 2)?;
        let mut unit = Combine {
            destination: self.scalar(&operands[0], operands[0].text)?,
            ..Combine::default()
        };
        let last_part = |name: &str| (name == "atan_pt2").then_some(());
        if let Ok(((), modifier)) = self.operation(name, last_part) {
            unit.modifier = modifier;
            unit.set_form(Form::AtanPart2(self.plain_vector(&operands[1])?));
            return Ok(unit);
        }
        let (op, modifier) = self.operation(name, ScalarFunction::from_name)?;
        unit.modifier = modifier;
        unit.set_form(Form::Scalar(op));
        set_first(&mut unit, self.scalar_source(&operands[1])?);
        Ok(unit)
    }

    /// A vector operand without modifiers.
    fn plain_vector(&self, word: &Word<'_>) -> Result<VectorSource> {
        let (register, swizzle) = self.swizzled(word, word.text)?;
        Ok(VectorSource {
            register: self.register(word, register)?,
            swizzle,
            ..Default::default()
        })
    }

    fn store(&self, name: &Word<'_>, operands: &[Word<'_>]) -> Result<Store> {
        self.count(name, operands, 2)?;
        let (index, alignment, offset) = self.index(&operands[0], operands[0].text, Alignment::Vec4)?;
        let index = self.ranged(&operands[0], index, -32768..32768, "the index")? & 0xffff;
        let word = &operands[1];
        let source = if alignment.is_vector() {
            self.register(word, word.text)?.component(Component::X)
        } else {
            self.scalar(word, word.text)?
        };
        let (offset_enable, offset) = (offset.is_some(), offset.unwrap_or_default());
        Ok(Store {
            target: StoreTarget::TemporaryOrColor,
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
        let source = self.register(&operands[0], operands[0].text)?.component(Component::X);
        let target = if op == "fb_depth" {
            StoreTarget::Depth
        } else {
            StoreTarget::TemporaryOrColor
        };
        Ok(Store {
            target,
            read: StoreMode::ReadTile,
            source,
            alignment: Alignment::Vec4,
            ..Default::default()
        })
    }

    fn branch(&self, name: &Word<'_>, operands: &[Word<'a>], open: &mut Open<'a>) -> Result<Branch> {
        let named = Condition::ALL.into_iter().find(|row| row.name() == name.text);
        let Some(condition) = named else {
            return self.fail(
                name,
                format!("`{}`: conditions are gt, eq, ge, lt, ne, le and never", name.text),
            );
        };
        let mut unit = Branch {
            kind: BranchKind::Branch,
            condition,
            ..Default::default()
        };
        self.count(name, operands, if unit.always() { 1 } else { 3 })?;
        open.target = operands.last().cloned();
        if let [a, b, _] = operands {
            unit.a = self.scalar(a, a.text)?;
            unit.b = self.scalar(b, b.text)?;
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
                return self.fail(word, format!("`{}` is not an fp16 number", word.text));
            };
            *half = value;
        }
        let [x, y, z, w] = halves;
        Ok(Constant { x, y, z, w })
    }
}

fn set_first(unit: &mut Combine, a: ScalarSource) {
    (unit.a, unit.a_absolute, unit.a_negate) = (a.scalar, a.absolute, a.negate);
}
