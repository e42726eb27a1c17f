//! The modules of the tests, and damage to them.

use super::module_text::{self, Sample};
use crate::common;
use std::path::Path;

/// Every module at hand: the corpus' stages and what our sources compile to.
pub(super) fn all(folder: &Path) -> Vec<Sample> {
    let mut all = common::corpus("vbc")
        .map(|path| module_text::stages(&path))
        .unwrap_or_default();
    all.extend(module_text::compiled(folder));
    all
}

/// Changes words at random: to any value, to another word of the module, or by a bit; at least one and fewer than
/// `changes`.
pub(super) fn damage(words: &mut [u32], random: &mut fastrand::Rng, changes: u32) {
    for _ in 0..1 + random.u32(..changes) {
        let at = random.usize(..words.len());
        words[at] = match random.u32(..3) {
            0 => random.u32(..),
            1 => words[random.usize(..words.len())],
            _ => words[at] ^ 1 << random.u32(..32),
        };
    }
}
