//! Damaged files: nothing panics, and `check` rejects nearly every change of one field that changes the meaning.
//!
//! A corruption replaces one field, at the reader's position, by another value of the same width: half of the time by
//! any value, half of the time by one at most 8 away, which is the harder case. It *changes the meaning* unless the
//! field is the value of a literal (`float bits`, `int value`, `bool value`, a case's `value`), where any value is a
//! valid program. Everything else counts, including operators and modifier flags, although some changes of those also
//! make a valid program.

use super::{random_program, samples};
use crate::common;

use std::collections::BTreeMap;

use loader::sksl::{self, Trace};

/// Every field of a file: offset, width, name.
#[derive(Default)]
struct Fields(Vec<(u32, u8, &'static str)>);

impl Trace for Fields {
    fn field(&mut self, name: &'static str, offset: u32, width: u8, _value: u64) {
        self.0.push((offset, width, name));
    }
    fn name(&mut self, name: &'static str, offset: u32, _string: u16, _text: &str) {
        self.0.push((offset, 2, name));
    }
}

const LITERALS: [&str; 4] = ["float bits", "int value", "bool value", "value"];

fn samples() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    if let Some(folder) = common::corpus("sksl") {
        let all = common::files(&folder, "bin");
        found.extend(
            all.iter()
                .map(|path| std::fs::read(path).unwrap())
                .filter(|bytes| sksl::read(bytes).is_ok()),
        );
    }
    found.extend((1..=20).map(|seed| sksl::write(&random_program::program(seed)).unwrap()));
    found
}

#[test]
fn changed_fields_are_refused() {
    let samples = samples();
    let mut random = fastrand::Rng::with_seed(1);
    let (mut made, mut refused) = (0, 0);
    let mut missed: BTreeMap<&str, u32> = Default::default();
    let mut rules: BTreeMap<&str, u32> = Default::default();
    while made < 10_000 {
        let mut bytes = samples[random.usize(..samples.len())].clone();
        let mut fields = Fields::default();
        sksl::read_traced(&bytes, &mut fields).unwrap();
        let (offset, width, name) = fields.0[random.usize(..fields.0.len())];
        if LITERALS.contains(&name) {
            continue;
        }
        let place = offset as usize..offset as usize + usize::from(width);
        let mut raw = [0; 8];
        raw[..usize::from(width)].copy_from_slice(&bytes[place.clone()]);
        let old = u64::from_le_bytes(raw);
        let new = match random.bool() {
            true => random.u64(..1 << (8 * u32::from(width))),
            false => old.wrapping_add(random.u64(..17)).wrapping_sub(8),
        };
        bytes[place.clone()].copy_from_slice(&new.to_le_bytes()[..usize::from(width)]);
        if bytes[place] == raw[..usize::from(width)] {
            continue;
        }
        made += 1;
        let report = sksl::check(&bytes);
        for found in report.diagnostics.iter() {
            *rules.entry(found.rule).or_default() += 1;
        }
        if report.is_valid() && sksl::read(&bytes).is_ok() {
            *missed.entry(name).or_default() += 1;
        } else {
            refused += 1;
        }
    }
    println!("sksl: {refused} of {made} changed fields refused; not noticed: {missed:?}");
    println!("sksl: by rule: {rules:?}");
    assert!(refused * 100 >= made * 95);
    // All rules find errors, not only one.
    let least = if common::corpus("sksl").is_some() { 35 } else { 20 };
    assert!(rules.len() >= least, "{} rules found something", rules.len());
}

#[test]
fn no_damage_panics() {
    let samples = samples();
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..4000 {
        let mut bytes = samples[random.usize(..samples.len())].clone();
        for _ in 0..=random.u64(..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        if round % 3 == 0 {
            bytes.truncate(random.usize(..bytes.len()));
        }
        let _ = sksl::check(&bytes);
        if let Ok(tree) = sksl::read(&bytes) {
            let printed = sksl::print(&tree).unwrap();
            let _ = sksl::to_tree_text(&bytes);
            // A file that can be read and written is read as the same tree again.
            if let Ok(again) = sksl::write(&tree) {
                let tree = sksl::read(&again).expect("what the writer writes");
                assert_eq!(sksl::print(&tree).unwrap(), printed);
                assert!(sksl::write(&tree).as_ref() == Ok(&again));
            }
        }
    }
}

#[test]
fn nesting_is_bounded() {
    let tree = samples::negated(5000);
    assert_eq!(sksl::write(&tree).unwrap_err().kind(), loader::ErrorKind::Unsupported);
    assert!(sksl::validate(&tree).has("unsupported"));
    let mut bytes = vec![11, 0, 1, 0, 0, 43, 5, 0, 52, 0, 0, 0, 0, 0, 20, 31];
    bytes.extend([2, 58, 1].repeat(100_000));
    assert_eq!(sksl::read(&bytes).unwrap_err().kind(), loader::ErrorKind::Unsupported);
}
