//! Addresses in texts, and memory at them.

use emulator::memory::Memory;
use std::collections::BTreeMap;
use std::ops::Range;

/// Limit on places per job.
const MAX_PLACES: usize = 512;

/// Number of bytes shown per place.
const SHOWN: u32 = 64;

/// Prefixes of hexadecimal numbers that are not addresses.
const NUMBERS: [&str; 9] = [
    "colour", "depth", "mask", "bits", "with", "writes", "samples", "by", "blocks",
];

/// Memory at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address of the buffer object.
    pub object: u32,
    /// Its first bytes, from the address on.
    pub bytes: Vec<u8>,
    /// The first line that contains it.
    pub named: String,
}

/// The places in a job's texts.
#[derive(Clone, Debug, Default)]
pub struct Places {
    all: BTreeMap<u32, Place>,
    /// Number of omitted addresses.
    pub left_out: u64,
}

impl Places {
    /// Records the addresses in a text that are in a buffer object.
    pub fn scan(&mut self, memory: &Memory, objects: &[(u32, u32)], text: &str) {
        for line in text.lines() {
            for (_, address) in addresses(line) {
                self.keep(memory, objects, address, line.trim());
            }
        }
    }

    fn keep(&mut self, memory: &Memory, objects: &[(u32, u32)], address: u32, named: &str) {
        let before = objects.partition_point(|(start, _)| *start <= address);
        let Some((object, size)) = before.checked_sub(1).map(|number| objects[number]) else {
            return;
        };
        if address - object >= size || self.all.contains_key(&address) {
            return;
        }
        if self.all.len() >= MAX_PLACES {
            self.left_out += 1;
            return;
        }
        let place = Place {
            object,
            bytes: memory.bytes_up_to(address, SHOWN).into_owned(),
            named: named.chars().take(80).collect(),
        };
        self.all.insert(address, place);
    }

    /// Whether an address is shown.
    pub fn has(&self, address: u32) -> bool {
        self.all.contains_key(&address)
    }

    /// All places by address.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Place)> {
        self.all.iter().map(|(address, place)| (*address, place))
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The addresses in a line, with their ranges.
pub(super) fn addresses(line: &str) -> Vec<(Range<usize>, u32)> {
    let mut found = Vec::new();
    let mut word = "";
    let mut at = 0;
    for part in line.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let text = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        match text.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16)) {
            Some(Ok(address)) if !NUMBERS.contains(&word) => found.push((at..at + text.len(), address)),
            // Further numbers in a list have the first one's meaning.
            Some(_) => {}
            None if text.is_empty() => {}
            None => word = text,
        }
        at += part.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_distinguished_from_numbers() {
        let named = |line: &str| -> Vec<u32> { addresses(line).into_iter().map(|(_, at)| at).collect() };
        assert_eq!(
            named("render state at 0x10002340, positions at 0x20"),
            [0x1000_2340, 0x20]
        );
        assert_eq!(named("cleared to colour 0xff102030 0xff102030, depth 0xffffff"), [0; 0]);
        assert_eq!(named("tile lists at 0x1000 0x2000"), [0x1000, 0x2000]);
        assert_eq!(named("word 3: bits 0x80 are not known"), [0; 0]);
        assert_eq!(addresses("at 0x10, é 0x20")[1], (12..16, 0x20));
    }

    #[test]
    fn places_stay_in_objects_and_bounds() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x3000).unwrap();
        let objects = [(0x1000, 0x3000)];
        let mut places = Places::default();
        places.scan(&memory, &objects, "at 0x1000 0xfff 0x3ff0 0x4000\nat 0x1000");
        assert_eq!(
            places
                .iter()
                .map(|(at, place)| (at, place.bytes.len()))
                .collect::<Vec<_>>(),
            [(0x1000, 64), (0x3ff0, 16)]
        );
        let many: String = (0..600)
            .map(|number| format!("at {:#x}\n", 0x1000 + 4 * number))
            .collect();
        places.scan(&memory, &objects, &many);
        assert_eq!((places.len(), places.left_out), (MAX_PLACES, 89));
    }
}
