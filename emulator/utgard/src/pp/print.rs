//! PP instructions as text, in the style of the lima driver's disassembly: one line an instruction, units by commas.
//!
//! What the short form does not say is written behind it as `set UNIT.FIELD VALUE`: the printer assembles its own
//! text and compares, so a text always gives the same words again.

use super::ops::{self, Op, Source};
use super::{
    Branch, Combine, Constant, FloatAcc, FloatMul, Instruction, Load, Sampler, Store, UNITS, Varying, VecAcc, VecMul,
    parse,
};
use crate::field::Fields;
use crate::text::{COMPONENTS, mask_letters};
use num::half;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// How a program is printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The words stand behind every instruction, and where branches come from before it, as comments.
    pub words: bool,
}

/// A program, or a word that is none.
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

/// The words as instructions; what is none is a word by itself, and decoding goes on behind it.
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

/// A program as text that assembles to the same words.
pub fn disassemble(words: &[u32], options: Options) -> String {
    let items = items(words);
    let starts: BTreeSet<u32> = items.iter().map(|(at, _)| *at).collect();
    let mut lines: Vec<String> = items.iter().map(|(at, item)| line(*at, item, &starts)).collect();
    // What the short form leaves out is what differs when it is read again.
    let again = parse::program(&lines.join("\n"));
    if let Ok(program) = again {
        for ((line, (_, item)), canonical) in lines.iter_mut().zip(&items).zip(&program) {
            if let (Item::Instruction(have), Some(canonical)) = (item, canonical) {
                differences(have, canonical, line);
            }
        }
    }
    let mut text = String::new();
    let from = if options.words {
        targets(&items)
    } else {
        BTreeMap::new()
    };
    for (line, (at, item)) in lines.iter().zip(&items) {
        if let Some(from) = from.get(at) {
            let _ = writeln!(text, "# from {}", from.join(", "));
        }
        text.push_str(line);
        if options.words {
            let end = (*at + item.words()) as usize;
            let words = words[*at as usize..end].iter().map(|word| format!(" {word:08x}"));
            text.extend(std::iter::once("  #".to_owned()).chain(words));
        }
        text.push('\n');
    }
    text
}

/// For each word that is branched to the words of the branches.
fn targets(items: &[(u32, Item)]) -> BTreeMap<u32, Vec<String>> {
    let mut targets = BTreeMap::<u32, Vec<String>>::new();
    for (at, item) in items {
        let Item::Instruction(instruction) = item else { continue };
        if let Some(branch) = instruction.branch.filter(|branch| branch.kind != 3) {
            let target = at.wrapping_add_signed(branch.signed_target());
            targets.entry(target).or_default().push(at.to_string());
        }
    }
    targets
}

fn line(at: u32, item: &Item, starts: &BTreeSet<u32>) -> String {
    let body = match item {
        Item::Word(word) => format!(".word {word:#010x}"),
        Item::Instruction(instruction) => parts(at, instruction, starts).join(", "),
    };
    format!("{at:>3}: {body}")
}

/// Appends every field that is not as the short form has it.
fn differences(have: &Instruction, canonical: &Instruction, line: &mut String) {
    let control = (have.control.to_bits(), canonical.control.to_bits());
    for field in super::Control::FIELDS
        .iter()
        .skip(3)
        .filter(|field| field.name != "units")
    {
        let (have, canonical) = (field.of(control.0), field.of(control.1));
        if have != canonical {
            let _ = write!(line, ", set control.{} {have}", field.name);
        }
    }
    for (number, (unit, _, fields)) in UNITS.iter().enumerate() {
        let (Some(have), Some(canonical)) = (have.unit(number), canonical.unit(number)) else {
            continue;
        };
        for field in *fields {
            if field.of(have) != field.of(canonical) {
                let _ = write!(line, ", set {unit}.{} {}", field.name, field.of(have));
            }
        }
    }
    if have.padding != canonical.padding {
        let _ = write!(line, ", set padding {}", have.padding);
    }
}

fn parts(at: u32, instruction: &Instruction, starts: &BTreeSet<u32>) -> Vec<String> {
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
        (instruction.control.sync == 1).then(|| "sync".to_owned()),
        (instruction.control.stop == 1).then(|| "stop".to_owned()),
    ];
    let parts: Vec<String> = units.into_iter().flatten().collect();
    if parts.is_empty() {
        vec!["nop".to_owned()]
    } else {
        parts
    }
}

/// A vec4 register's name.
pub(super) fn register(number: u32) -> String {
    match number {
        12 => "^const0".to_owned(),
        13 => "^const1".to_owned(),
        14 => "^texture".to_owned(),
        15 => "^uniform".to_owned(),
        other => format!("${other}"),
    }
}

fn scalar(number: u32) -> String {
    format!("{}.{}", register(number >> 2), COMPONENTS[(number & 3) as usize])
}

fn swizzled(name: String, swizzle: u32) -> String {
    if swizzle == 0xe4 {
        return name;
    }
    let letters: String = (0..4)
        .map(|at| COMPONENTS[(swizzle >> (2 * at) & 3) as usize])
        .collect();
    format!("{name}.{letters}")
}

fn modified(text: String, absolute: u32, negate: u32) -> String {
    let text = if absolute == 1 { format!("abs({text})") } else { text };
    if negate == 1 { format!("-{text}") } else { text }
}

fn masked(name: &str, mask: u32) -> String {
    if mask == 15 {
        name.to_owned()
    } else {
        format!("{name}.{}", mask_letters(mask))
    }
}

/// An index in units of its alignment: vec4s plain, smaller ones with the components they are.
fn index(index: i32, alignment: u32, offset: Option<u32>) -> String {
    let vec4 = |shift: u32| index >> shift;
    let mut text = match alignment {
        0 => format!("{}.{}", vec4(2), COMPONENTS[(index & 3) as usize]),
        1 => format!("{}.{}", vec4(1), if index & 1 == 0 { "xy" } else { "zw" }),
        _ => index.to_string(),
    };
    if let Some(offset) = offset {
        let _ = write!(text, "+{}", scalar(offset));
    }
    text
}

fn varying(unit: &Varying) -> String {
    let destination = if unit.destination == 15 {
        "^discard".to_owned()
    } else {
        register(unit.destination)
    };
    let kind = ops::VARYING[(unit.kind & 15) as usize];
    let from = match kind.source {
        Source::Memory => {
            let offset = (unit.register != 15).then_some(unit.register << 2 | unit.component);
            index(unit.index as i32, unit.alignment, offset)
        }
        Source::Register => {
            let source = swizzled(register(unit.register), unit.swizzle());
            modified(source, unit.absolute, unit.negate)
        }
        Source::Builtin => String::new(),
    };
    let source = match (kind.name, from.as_str()) {
        ("", from) => from.to_owned(),
        (name, "") => name.to_owned(),
        (name, from) => format!("{name}({from})"),
    };
    format!("load.v {} {source}", masked(&destination, unit.mask))
}

fn sampler(unit: &Sampler) -> String {
    let cube = if unit.kind == 31 { ".cube" } else { "" };
    let lod = match (unit.lod_enable, unit.explicit_lod) {
        (1, 1) => ".l",
        (1, _) => ".b",
        _ => "",
    };
    let mut text = format!("texld{cube}{lod} {}", unit.index);
    if unit.offset_enable == 1 {
        let _ = write!(text, "+{}", scalar(unit.offset));
    }
    if unit.lod_enable == 1 {
        let _ = write!(text, " {}", scalar(unit.lod));
    }
    text
}

fn load(unit: &Load) -> String {
    let name = if unit.source == 3 { "load.t" } else { "load.u" };
    let offset = (unit.offset_enable == 1).then_some(unit.offset);
    format!("{name} {}", index(unit.signed_index(), unit.alignment, offset))
}

/// An operation's name with modifier and unit, and how many operands to print.
fn mnemonic(table: &[Op], code: u32, modifier: u32, unit: &str) -> (String, u8) {
    let (name, operands) = match ops::by_code(table, code) {
        Some(op) => (op.name.to_owned(), op.operands),
        None => (format!("op{code}"), 2),
    };
    let modifier = ops::MODIFIERS[(modifier & 3) as usize];
    let dot = if modifier.is_empty() { "" } else { "." };
    (format!("{name}{dot}{modifier}.{unit}"), operands)
}

fn join(name: String, operands: impl IntoIterator<Item = String>) -> String {
    operands.into_iter().fold(name, |text, operand| text + " " + &operand)
}

/// The vec4 units but for where the first operand comes from.
fn vector(table: &[Op], unit: &VecMul, name: &str, a: String) -> String {
    let (name, operands) = mnemonic(table, unit.op, unit.modifier, name);
    let destination = (unit.mask != 0).then(|| masked(&register(unit.destination), unit.mask));
    let a = modified(swizzled(a, unit.a_swizzle), unit.a_absolute, unit.a_negate);
    let b = modified(
        swizzled(register(unit.b), unit.b_swizzle),
        unit.b_absolute,
        unit.b_negate,
    );
    join(
        name,
        destination.into_iter().chain([a]).chain((operands == 2).then_some(b)),
    )
}

fn vec_mul(unit: &VecMul) -> String {
    vector(ops::MUL, unit, "v0", register(unit.a))
}

fn vec_acc(unit: &VecAcc) -> String {
    let a = if unit.a_is_mul == 1 {
        "^v0".to_owned()
    } else {
        register(unit.a)
    };
    vector(ops::ACC, &VecMul::from_bits(unit.to_bits()), "v1", a)
}

/// The scalar units but for where the first operand comes from.
fn float(table: &[Op], unit: &FloatMul, name: &str, a: String) -> String {
    let (name, operands) = mnemonic(table, unit.op, unit.modifier, name);
    let destination = (unit.write == 1).then(|| scalar(unit.destination));
    let a = modified(a, unit.a_absolute, unit.a_negate);
    let b = modified(scalar(unit.b), unit.b_absolute, unit.b_negate);
    join(
        name,
        destination.into_iter().chain([a]).chain((operands == 2).then_some(b)),
    )
}

fn float_mul(unit: &FloatMul) -> String {
    float(ops::MUL, unit, "s0", scalar(unit.a))
}

fn float_acc(unit: &FloatAcc) -> String {
    let a = if unit.a_is_mul == 1 {
        "^s0".to_owned()
    } else {
        scalar(unit.a)
    };
    float(ops::ACC, &FloatMul::from_bits(unit.to_bits()), "s1", a)
}

fn combine(unit: &Combine) -> String {
    let a = modified(scalar(unit.a), unit.a_absolute, unit.a_negate);
    let b_scalar = modified(scalar(unit.b), unit.b_absolute, unit.b_negate);
    let (b, swizzle) = unit.b_vector();
    let b_vector = swizzled(register(b), swizzle);
    let (destination, mask) = unit.destination_vector();
    let vector = masked(&register(destination), mask);
    match (unit.vector, unit.b_enable) {
        (0, 0) => join(
            mnemonic(ops::COMBINE, unit.op, unit.modifier, "s2").0,
            [scalar(unit.destination), a],
        ),
        (0, _) => join(
            mnemonic(&[], 0, unit.modifier, "s2").0.replace("op0", "atan_pt2"),
            [scalar(unit.destination), b_vector],
        ),
        (_, 0) => {
            let (name, operands) = mnemonic(ops::COMBINE_VECTOR, unit.op, 0, "v2");
            join(name, [vector, a].into_iter().chain((operands == 2).then_some(b_scalar)))
        }
        _ => join("mul.v2".to_owned(), [vector, a, b_vector]),
    }
}

fn store(unit: &Store) -> String {
    if unit.read == 3 {
        let name = if unit.target == 2 { "fb_depth" } else { "fb_color" };
        return format!("{name} {}", register(unit.source >> 2));
    }
    let offset = (unit.offset_enable == 1).then_some(unit.offset);
    let source = if unit.alignment < 2 {
        scalar(unit.source)
    } else {
        register(unit.source >> 2)
    };
    format!(
        "store.t {} {source}",
        index(unit.signed_index(), unit.alignment, offset)
    )
}

/// Conditions by their three bits: greater, equal, less.
pub(super) const CONDITIONS: [&str; 8] = [
    "branch.never",
    "branch.gt",
    "branch.eq",
    "branch.ge",
    "branch.lt",
    "branch.ne",
    "branch.le",
    "branch",
];

fn branch(at: u32, unit: &Branch, starts: &BTreeSet<u32>) -> String {
    if unit.kind == 3 {
        return "discard".to_owned();
    }
    let condition = unit.condition();
    let absolute = i64::from(at) + i64::from(unit.signed_target());
    let target = match u32::try_from(absolute) {
        Ok(target) if starts.contains(&target) => target.to_string(),
        _ => format!(".{:+}", unit.signed_target()),
    };
    let operands = (condition != 7).then(|| [scalar(unit.a), scalar(unit.b)]);
    join(
        CONDITIONS[condition as usize].to_owned(),
        operands.into_iter().flatten().chain([target]),
    )
}

fn constant(name: &str, unit: &Constant) -> String {
    join(name.to_owned(), unit.halves().map(half::to_text))
}
