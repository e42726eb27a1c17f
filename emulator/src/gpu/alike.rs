//! Tiles beside each other that one primitive covers: what is found out for the first is so for the others.

use super::met::Number;
use super::scene::Scene;
use std::ops::Range;

/// Tiles of a row that one and the same primitive covers, and nothing else touches, where they mention the same lists.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Columns of tiles.
    pub columns: Range<u32>,
    /// Row of tiles.
    pub row: u32,
    /// What one of them mentions.
    pub mentions: Range<usize>,
    /// The primitive.
    pub only: Number,
}

impl Alike {
    /// The primitive of a tile that is one of them.
    #[inline]
    pub fn of(&self, scene: &Scene<'_>, mentions: &Range<usize>, [column, row]: [u32; 2]) -> Option<Number> {
        let is_one = self.row == row && self.columns.contains(&column) && scene.are_alike(&self.mentions, mentions);
        is_one.then_some(self.only)
    }
}
