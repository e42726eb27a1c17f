//! Prints PP instructions in the style of the lima driver's disassembly: one instruction per line, units separated by
//! commas.
//!
//! Fields that the short form does not express are appended as `set UNIT.FIELD VALUE`: the printer assembles its own
//! text and compares, so that the text always assembles to the same words.

use super::ops::Origin;
use super::parse::NOWHERE;
use super::{
    ALL, Alignment, Branch, Combine, Constant, FloatAcc, FloatMul, Form, Instruction, LevelOfDetail, Load, LoadSource,
    Modifier, Sampler, Scalar, ScalarSource, ScalarUnit, Store, StoreTarget, UNITS, Varying, VecAcc, VecMul,
    VectorSource, VectorUnit, parse,
};
use crate::field::Fields;
use crate::text::{COMPONENTS, CONTROL, Row, mask_letters};
use crate::vector::Swizzle;
use num::half;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Printing options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Print the words after every instruction, and its incoming branches before it, as comments.
    pub words: bool,
}

/// An instruction, or a word that is not one.
enum Item {
    Instruction(Box<Instruction>),
    Word(u32),
}

impl Item {
    fn words(&self) -> u32 {
        match self {
            Self::Instruction(instruction) => instruction.words(),
            Self::Word(_) => 1,
        }
    }
}

/// The words as instructions; an invalid one is a literal word, and decoding continues after it.
fn items(words: &[u32]) -> Vec<(u32, Item)> {
    let (mut items, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let item = match Instruction::decode(&words[at..]) {
            Ok(instruction) => Item::Instruction(Box::new(instruction)),
            Err(_) => Item::Word(words[at]),
        };
        let length = item.words() as usize;
        items.push((at as u32, item));
        at += length;
    }
    items
}

/// A program as rows, whose cells by commas assemble to the same words.
pub fn rows(words: &[u32]) -> Vec<Row> {
    rows_of(&items(words))
}

fn rows_of(items: &[(u32, Item)]) -> Vec<Row> {
    let starts: BTreeSet<u32> = items.iter().map(|(at, _)| *at).collect();
    let mut rows: Vec<Row> = items.iter().map(|(at, item)| row(*at, item, &starts)).collect();
    // Fields missing from the short form are those that differ after parsing it.
    let lines: Vec<String> = rows.iter().map(line).collect();
    let again = parse::program(&lines.join("\n"));
    if let Ok(program) = again {
        for ((row, (_, item)), canonical) in rows.iter_mut().zip(items).zip(&program) {
            if let (Item::Instruction(have), Some(canonical)) = (item, canonical) {
                differences(have, canonical, &mut row.cells);
            }
        }
    }
    rows
}

/// A program as text that assembles to the same words.
pub fn disassemble(words: &[u32], options: Options) -> String {
    let items = items(words);
    let rows = rows_of(&items);
    let mut text = String::new();
    let from = if options.words {
        targets(&items)
    } else {
        BTreeMap::new()
    };
    for (row, (at, item)) in rows.iter().zip(&items) {
        if let Some(from) = from.get(at) {
            let _ = writeln!(text, "# from {}", from.join(", "));
        }
        text.push_str(&line(row));
        if options.words {
            let end = (*at + item.words()) as usize;
            let words = words[*at as usize..end].iter().map(|word| format!(" {word:08x}"));
            text.extend(std::iter::once("  #".to_owned()).chain(words));
        }
        text.push('\n');
    }
    text
}

/// For each branch target word, the words of the branches.
fn targets(items: &[(u32, Item)]) -> BTreeMap<u32, Vec<String>> {
    let mut targets = BTreeMap::<u32, Vec<String>>::new();
    for (at, item) in items {
        let Item::Instruction(instruction) = item else { continue };
        if let Some(branch) = instruction.branch.filter(|branch| !branch.is_discard()) {
            let target = at.wrapping_add_signed(branch.signed_target());
            targets.entry(target).or_default().push(at.to_string());
        }
    }
    targets
}

fn row(at: u32, item: &Item, starts: &BTreeSet<u32>) -> Row {
    let cells = match item {
        Item::Word(word) => vec![(CONTROL, format!(".word {word:#010x}"))],
        Item::Instruction(instruction) => cells(at, instruction, starts),
    };
    Row { address: at, cells }
}

fn line(row: &Row) -> String {
    format!("{:>3}: {}", row.address, row.join(", "))
}

/// Appends every field that differs from the short form.
fn differences(have: &Instruction, canonical: &Instruction, cells: &mut Vec<(&'static str, String)>) {
    let control = (have.control.to_bits(), canonical.control.to_bits());
    for field in super::Control::FIELDS
        .iter()
        .skip(3)
        .filter(|field| field.name != "units")
    {
        let (have, canonical) = (field.of(control.0), field.of(control.1));
        if have != canonical {
            cells.push((CONTROL, format!("set control.{} {have}", field.name)));
        }
    }
    for (number, (unit, _, fields)) in UNITS.iter().enumerate() {
        let (Some(have), Some(canonical)) = (have.unit(number), canonical.unit(number)) else {
            continue;
        };
        for field in *fields {
            if field.of(have) != field.of(canonical) {
                cells.push((unit, format!("set {unit}.{} {}", field.name, field.of(have))));
            }
        }
    }
    if have.padding != canonical.padding {
        cells.push((CONTROL, format!("set padding {}", have.padding)));
    }
}

/// What an instruction's units do, in the order of [`UNITS`], and what is not theirs.
fn cells(at: u32, instruction: &Instruction, starts: &BTreeSet<u32>) -> Vec<(&'static str, String)> {
    let units = [
        instruction.varying.as_ref().map(varying),
        instruction.sampler.as_ref().map(sampler),
        instruction.load.as_ref().map(load),
        instruction.vec_mul.as_ref().map(vec_mul),
        instruction.float_mul.as_ref().map(float_mul),
        instruction.vec_acc.as_ref().map(vec_acc),
        instruction.float_acc.as_ref().map(float_acc),
        instruction.combine.as_ref().map(combine),
        instruction.store.as_ref().map(store),
        instruction.branch.as_ref().map(|unit| branch(at, unit, starts)),
        instruction.const0.as_ref().map(|unit| constant("const0", unit)),
        instruction.const1.as_ref().map(|unit| constant("const1", unit)),
    ];
    let control = [(instruction.control.sync, "sync"), (instruction.control.stop, "stop")];
    let names = UNITS.iter().map(|(name, ..)| *name);
    let units = names.zip(units).filter_map(|(name, text)| Some((name, text?)));
    let control = control.into_iter().filter(|(is_set, _)| *is_set);
    let mut cells: Vec<_> = units
        .chain(control.map(|(_, name)| (CONTROL, name.to_owned())))
        .collect();
    if cells.is_empty() {
        cells.push((CONTROL, "nop".to_owned()));
    }
    cells
}

fn swizzled(name: String, swizzle: Swizzle) -> String {
    if swizzle == Swizzle::IDENTITY {
        return name;
    }
    format!("{name}.{}", swizzle.letters())
}

fn modified(text: String, absolute: bool, negate: bool) -> String {
    let text = if absolute { format!("abs({text})") } else { text };
    if negate { format!("-{text}") } else { text }
}

fn masked(name: &str, mask: u32) -> String {
    if mask == ALL {
        name.to_owned()
    } else {
        format!("{name}.{}", mask_letters(mask))
    }
}

/// A vector operand; `forwarded` replaces its register.
fn vector_source(source: &VectorSource, forwarded: Option<&str>) -> String {
    let name = forwarded.map_or_else(|| source.register.to_string(), str::to_owned);
    modified(swizzled(name, source.swizzle), source.absolute, source.negate)
}

/// A scalar operand; `forwarded` replaces its register.
fn scalar_source(source: &ScalarSource, forwarded: Option<&str>) -> String {
    let name = forwarded.map_or_else(|| source.scalar.to_string(), str::to_owned);
    modified(name, source.absolute, source.negate)
}

/// An index in units of its alignment: plain for vec4s, with components for smaller units.
fn index(index: i32, alignment: Alignment, offset: Option<Scalar>) -> String {
    let vec4 = |shift: u32| index >> shift;
    let mut text = match alignment {
        Alignment::Float => format!("{}.{}", vec4(2), COMPONENTS[(index & 3) as usize]),
        Alignment::Vec2 => format!("{}.{}", vec4(1), if index & 1 == 0 { "xy" } else { "zw" }),
        Alignment::Vec4 | Alignment::Varying4 => index.to_string(),
    };
    if let Some(offset) = offset {
        let _ = write!(text, "+{offset}");
    }
    text
}

fn varying(unit: &Varying) -> String {
    let destination = unit
        .written()
        .map_or_else(|| NOWHERE.to_owned(), |register| register.to_string());
    let row = unit.kind.row();
    let from = match row.origin {
        Origin::Memory => index(unit.index as i32, unit.alignment, unit.offset()),
        Origin::Register => {
            let source = swizzled(unit.register.to_string(), unit.swizzle());
            modified(source, unit.absolute, unit.negate)
        }
        Origin::Builtin => String::new(),
    };
    let source = match (row.name, from.as_str()) {
        ("", from) => from.to_owned(),
        (name, "") => name.to_owned(),
        (name, from) => format!("{name}({from})"),
    };
    format!("load.v {} {source}", masked(&destination, unit.mask))
}

fn sampler(unit: &Sampler) -> String {
    let cube = if unit.is_cube() { ".cube" } else { "" };
    let (how, level) = match unit.level() {
        LevelOfDetail::Implicit => ("", String::new()),
        LevelOfDetail::Bias(scalar) => (".b", format!(" {scalar}")),
        LevelOfDetail::Explicit(scalar) => (".l", format!(" {scalar}")),
    };
    let offset = unit.offset().map_or_else(String::new, |offset| format!("+{offset}"));
    format!("texld{cube}{how} {}{offset}{level}", unit.index)
}

fn load(unit: &Load) -> String {
    let name = match unit.source {
        LoadSource::Temporary => "load.t",
        LoadSource::Uniform | LoadSource::Undocumented(_) => "load.u",
    };
    format!("{name} {}", index(unit.signed_index(), unit.alignment, unit.offset()))
}

/// An operation's name with modifier and unit.
fn mnemonic(op: impl std::fmt::Display, modifier: Modifier, unit: &str) -> String {
    let dot = if modifier == Modifier::None { "" } else { "." };
    format!("{op}{dot}{}.{unit}", modifier.name())
}

fn join(name: String, operands: impl IntoIterator<Item = String>) -> String {
    operands.into_iter().fold(name, |text, operand| text + " " + &operand)
}

fn vector(name: String, operands: usize, unit: &VectorUnit, forwarded: Option<&str>) -> String {
    let destination = (unit.mask != 0).then(|| masked(&unit.destination.to_string(), unit.mask));
    let sources = [vector_source(&unit.a, forwarded), vector_source(&unit.b, None)];
    join(name, destination.into_iter().chain(sources.into_iter().take(operands)))
}

fn vec_mul(unit: &VecMul) -> String {
    let name = mnemonic(unit.op, unit.modifier, "v0");
    vector(name, unit.op.operands(), &unit.unit(), None)
}

fn vec_acc(unit: &VecAcc) -> String {
    let name = mnemonic(unit.op, unit.modifier, "v1");
    vector(name, unit.op.operands(), &unit.unit(), unit.a_is_mul.then_some("^v0"))
}

fn float(name: String, operands: usize, unit: &ScalarUnit, forwarded: Option<&str>) -> String {
    let destination = unit.write.then(|| unit.destination.to_string());
    let sources = [scalar_source(&unit.a, forwarded), scalar_source(&unit.b, None)];
    join(name, destination.into_iter().chain(sources.into_iter().take(operands)))
}

fn float_mul(unit: &FloatMul) -> String {
    let name = mnemonic(unit.op, unit.modifier, "s0");
    float(name, unit.op.operands(), &unit.unit(), None)
}

fn float_acc(unit: &FloatAcc) -> String {
    let name = mnemonic(unit.op, unit.modifier, "s1");
    float(name, unit.op.operands(), &unit.unit(), unit.a_is_mul.then_some("^s0"))
}

fn combine(unit: &Combine) -> String {
    let a = scalar_source(&unit.a_source(), None);
    let (register, mask) = unit.destination_vector();
    let (scalar, vector) = (unit.destination.to_string(), masked(&register.to_string(), mask));
    match unit.form() {
        Form::Scalar(op) => join(mnemonic(op, unit.modifier, "s2"), [scalar, a]),
        Form::AtanPart2(b) => join(
            mnemonic("atan_pt2", unit.modifier, "s2"),
            [scalar, vector_source(&b, None)],
        ),
        Form::Vector(op) => {
            let sources = [a, scalar_source(&unit.b_source(), None)];
            let operands = [vector].into_iter().chain(sources.into_iter().take(op.operands()));
            join(mnemonic(op, Modifier::None, "v2"), operands)
        }
        Form::Scale(b) => join("mul.v2".to_owned(), [vector, a, vector_source(&b, None)]),
    }
}

fn store(unit: &Store) -> String {
    if unit.reads_tile() {
        let name = match unit.target {
            StoreTarget::Depth => "fb_depth",
            StoreTarget::TemporaryOrColor | StoreTarget::Undocumented(_) => "fb_color",
        };
        return format!("{name} {}", unit.source.register());
    }
    let source = if unit.alignment.is_vector() {
        unit.source.register().to_string()
    } else {
        unit.source.to_string()
    };
    let place = index(unit.signed_index(), unit.alignment, unit.offset());
    format!("store.t {place} {source}")
}

fn branch(at: u32, unit: &Branch, starts: &BTreeSet<u32>) -> String {
    if unit.is_discard() {
        return "discard".to_owned();
    }
    let absolute = i64::from(at) + i64::from(unit.signed_target());
    let target = match u32::try_from(absolute) {
        Ok(target) if starts.contains(&target) => target.to_string(),
        _ => format!(".{:+}", unit.signed_target()),
    };
    let operands = (!unit.always()).then(|| [unit.a.to_string(), unit.b.to_string()]);
    join(
        unit.condition.name().to_owned(),
        operands.into_iter().flatten().chain([target]),
    )
}

fn constant(name: &str, unit: &Constant) -> String {
    join(name.to_owned(), unit.halves().map(half::to_text))
}
