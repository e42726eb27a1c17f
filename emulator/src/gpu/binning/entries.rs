//! Primitives in the polygon lists, each with the tiles that it may touch. A list belongs to several tiles, and each of them scans
//! all of it, so scanning is vectorised.

use crate::simd::{Found, dispatch};
use num::lanes::QuadLanes;

/// A primitive in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number among the job's.
    pub primitive: u32,
    /// Column and row of the first tile that it may touch.
    pub first: [u8; 2],
    /// And of the last.
    pub last: [u8; 2],
}

/// Up to this number entries are tested one by one.
const FEW: usize = 8;

/// Entries that are tested together.
const SOME: usize = 64;

/// The first tile's column and row, and how many columns and rows are behind the last one: none of these numbers is more than
/// the same of a tile that is touched.
type Range = [u8; 4];

/// A range that touches no tile.
const NOTHING: Range = [u8::MAX; 4];

/// The primitives of a list, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    primitives: Vec<u32>,
    ranges: Vec<Range>,
}

impl Entries {
    /// Adds primitives, whose numbers count from `first` on.
    pub(crate) fn extend(&mut self, first: u32, entries: &[Entry]) {
        self.primitives
            .extend(entries.iter().map(|entry| first + entry.primitive));
        self.ranges.extend(entries.iter().map(|entry| {
            let ([left, top], [right, bottom]) = (entry.first, entry.last);
            [left, top, u8::MAX - right, u8::MAX - bottom]
        }));
    }

    /// Removes all; the allocation stays.
    pub(crate) fn clear(&mut self) {
        self.primitives.clear();
        self.ranges.clear();
    }

    /// The capacity.
    pub(crate) fn room(&self) -> usize {
        self.primitives.capacity()
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.primitives.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    /// The numbers of those that may touch the tile in a column and row.
    #[inline]
    pub fn touching(&self, [column, row]: [u8; 2]) -> Touching<'_> {
        Touching {
            entries: self,
            tile: [column, row, u8::MAX - column, u8::MAX - row],
            next: 0,
            found: 0,
        }
    }
}

/// Numbers of primitives that may touch a tile.
#[derive(Clone, Debug)]
pub struct Touching<'a> {
    entries: &'a Entries,
    tile: Range,
    /// Entries that were tested.
    next: usize,
    /// A bit for each of the last of these that are still to come.
    found: u64,
}

impl Iterator for Touching<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.found == 0 {
            let ranges = self.entries.ranges.get(self.next..).filter(|left| !left.is_empty())?;
            self.found = touching(ranges, self.tile);
            self.next += SOME;
        }
        let at = self.next - SOME + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        self.entries.primitives.get(at).copied()
    }
}

/// Which of the first ranges a tile is in: a bit for each.
fn touching(ranges: &[Range], tile: Range) -> u64 {
    if ranges.len() <= FEW {
        let is_in = |range: &Range| range.iter().zip(tile).all(|(least, of_tile)| *least <= of_tile);
        return (0..).zip(ranges).map(|(at, range)| u64::from(is_in(range)) << at).sum();
    }
    let mut all = [NOTHING; SOME];
    let all: &[Range; SOME] = ranges.first_chunk().unwrap_or_else(|| {
        all[..ranges.len()].copy_from_slice(ranges);
        &all
    });
    dispatch!(touching_some(all: &[Range; SOME], tile: Range) -> u64, Found::best())
}

/// Compiled for each instruction set.
#[inline(always)]
fn touching_some<L: QuadLanes>(ranges: &[Range; SOME], tile: Range) -> u64 {
    // How much too large each of a range's numbers is: none of those that the tile is in.
    let mut beyond = [0.0; SOME];
    for at in 0..SOME {
        let [left, top, right, bottom] = ranges[at];
        let beyond_tile = u32::from_le_bytes([
            left.saturating_sub(tile[0]),
            top.saturating_sub(tile[1]),
            right.saturating_sub(tile[2]),
            bottom.saturating_sub(tile[3]),
        ]);
        // A number that is none but nought itself: neither the other nought nor one that some would take for it.
        beyond[at] = f32::from_bits(u32::from(beyond_tile != 0) * 1.0f32.to_bits());
    }
    let (mut found, mut at) = (0, 0);
    while at < SOME {
        let is_in = L::eq(L::load(&beyond[at..]), L::splat(0.0));
        found |= u64::from(L::bits(is_in)) << at;
        at += L::COUNT;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// Those that touch a tile come in order, few or many, and no others.
    #[test]
    fn what_touches_a_tile_is_found() {
        let mut random = Rng::with_seed(3);
        for round in 0..2000 {
            let most = [4, 40, 255][round % 3];
            let (mut entries, mut all) = (Entries::default(), Vec::new());
            for primitive in 0..random.u32(..200) {
                let [a, b, c, d] = [0; 4].map(|_| random.u8(..=most));
                let (first, last) = ([a.min(b), c.min(d)], [a.max(b), c.max(d)]);
                let entry = Entry {
                    primitive: 7 * primitive,
                    first,
                    last,
                };
                entries.extend(0, &[entry]);
                all.push(entry);
            }
            let tile = [0; 2].map(|_| random.u8(..=most));
            let is_in =
                |entry: &&Entry| (0..2).all(|axis| (entry.first[axis]..=entry.last[axis]).contains(&tile[axis]));
            let wanted: Vec<u32> = all.iter().filter(is_in).map(|entry| entry.primitive).collect();
            assert_eq!(entries.touching(tile).collect::<Vec<_>>(), wanted);
            assert_eq!((entries.len(), entries.is_empty()), (all.len(), all.is_empty()));
        }
    }
}
