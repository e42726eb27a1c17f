//! Undocumented values that jobs met, each reported once.

use std::collections::BTreeSet;

/// Notes at most; what comes later is counted only.
const LIMIT: usize = 256;

/// The notes of a GPU.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    notes: BTreeSet<String>,
    lost: u64,
}

impl Notes {
    /// Adds a note unless it is there.
    pub fn add(&mut self, note: String) {
        if self.notes.len() < LIMIT {
            self.notes.insert(note);
        } else if !self.notes.contains(&note) {
            self.lost += 1;
        }
    }

    /// Adds another's notes.
    pub fn merge(&mut self, other: Self) {
        self.lost += other.lost;
        other.notes.into_iter().for_each(|note| self.add(note));
    }

    /// The notes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    /// Notes for which there was no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}
