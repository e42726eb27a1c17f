//! Runs the properties of `fuzz/` over samples, kept findings, small corpora and damaged inputs.
//!
//! `PROPERTY_ROUNDS=100000` damages inputs for longer (default 400 rounds each), `PROPERTY=vbc_read` runs one alone.

use fastrand::Rng;
use properties::ALL;

/// One to four changes: bytes, lengths, pieces of another input.
fn damage(input: &[u8], other: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..1 + random.u32(..4) {
        let at = random.usize(..=bytes.len());
        match random.u32(..6) {
            0 | 1 if at < bytes.len() => bytes[at] = random.u8(..),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.u32(..8),
            3 => bytes.truncate(at),
            4 if !other.is_empty() => {
                let from = random.usize(..other.len());
                let piece = &other[from..(from + random.usize(..32)).min(other.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            _ => bytes.insert(at, random.u8(..)),
        }
    }
    bytes
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn properties_hold() {
    let rounds = number("PROPERTY_ROUNDS").unwrap_or(400);
    let only = std::env::var("PROPERTY").ok();
    let chosen = ALL
        .iter()
        .filter(|property| only.as_ref().is_none_or(|only| only == property.name));
    let mut ran = 0;
    for property in chosen {
        let (inputs, mut random) = (properties::inputs(property).unwrap(), Rng::with_seed(1));
        assert!(!inputs.is_empty(), "{}: nothing to start from", property.name);
        inputs.iter().for_each(|input| (property.check)(input));
        for round in 0..rounds {
            let input = &inputs[random.usize(..inputs.len())];
            let other = &inputs[random.usize(..inputs.len())];
            let damaged = damage(input, other, &mut random);
            let result = std::panic::catch_unwind(|| (property.check)(&damaged));
            if result.is_err() {
                let path = std::env::temp_dir().join(format!("{}-{round}", property.name));
                std::fs::write(&path, &damaged).unwrap();
                panic!("{} does not hold for {}", property.name, path.display());
            }
        }
        ran += 1;
        println!("{}: {} inputs, {rounds} damaged ones", property.name, inputs.len());
    }
    assert!(ran > 0, "no such property");
}
