//! Sorting of primitives' entries into the lists of blocks of tiles: first every piece computes where its entries go,
//! then every block collects its own from all pieces.

use super::entries::{Entries, Entry};
use std::ops::Range;

/// Entries that are counted together.
const SOME: usize = 1 << 12;

/// The grid of blocks of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Columns and rows of tiles in a block, as powers of two.
    pub shift: [u32; 2],
    /// Blocks in a row.
    pub width: u32,
    /// All blocks.
    pub blocks: u32,
}

/// Entries that follow each other and go into the same blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    blocks: Range<u32>,
    entries: Range<u32>,
}

impl Grid {
    /// Where entries of a piece from the `first` on go. No run crosses a border between shares of blocks. `more` gets the number
    /// of entries by which lists grow, and returns whether they may.
    #[must_use]
    pub(super) fn sort(
        &self,
        entries: &[Entry],
        first: usize,
        share: u32,
        runs: &mut Vec<Run>,
        more: &dyn Fn(usize) -> bool,
    ) -> bool {
        let (mut rest, mut at, mut count) = (entries.get(first..).unwrap_or(&[]), first as u32, 0);
        while let Some(entry) = rest.first() {
            // Consecutive primitives are near each other, most of them in one block.
            let ends = self.ends(entry);
            let same = rest.iter().take_while(|entry| self.ends(entry) == ends).count();
            rest = &rest[same..];
            let [[left, top], [right, bottom]] = ends.map(|end| end.map(u64::from));
            for row in top..bottom + 1 {
                let before = row * u64::from(self.width);
                let block = |column: u64| (before + column).min(u64::from(self.blocks)) as u32;
                let (mut next, end) = (block(left), block(right + 1));
                while next < end {
                    let border = (next - next % share).saturating_add(share).min(end);
                    runs.push(Run {
                        blocks: next..border,
                        entries: at..at + same as u32,
                    });
                    count += (border - next) as usize * same;
                    next = border;
                }
                if count >= SOME && !more(std::mem::take(&mut count)) {
                    return false;
                }
            }
            at += same as u32;
        }
        more(count)
    }

    /// Column and row of the first block that a primitive touches, and of the last.
    #[inline(always)]
    fn ends(&self, entry: &Entry) -> [[u32; 2]; 2] {
        let [x, y] = self.shift;
        let block = |[column, row]: [u8; 2]| [u32::from(column) >> x, u32::from(row) >> y];
        [block(entry.first), block(entry.last)]
    }
}

/// Sorts runs by share; the sort is stable.
pub(super) fn by_share(runs: &mut [Run], share: u32) {
    runs.sort_by_key(|run| run.blocks.start / share);
}

/// Puts entries of a piece, whose numbers count from `first` on, into the lists of the `number`th share of `share` blocks; the
/// runs are in the order of shares.
pub(super) fn list(lists: &mut [Entries], number: u32, share: u32, first: u32, entries: &[Entry], runs: &[Run]) {
    let before = runs.partition_point(|run| run.blocks.start / share < number);
    for run in runs[before..]
        .iter()
        .take_while(|run| run.blocks.start / share == number)
    {
        let of_run = &entries[run.entries.start as usize..run.entries.end as usize];
        for block in run.blocks.clone() {
            lists[(block - number * share) as usize].extend(first, of_run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::cell::Cell;

    /// Every block has the entries that touch it, in their order, whatever the shares are; blocks behind the last have none.
    #[test]
    fn blocks_have_what_touches_them() {
        let mut random = Rng::with_seed(5);
        for _ in 0..300 {
            let grid = Grid {
                shift: [0; 2].map(|_| random.u32(..4)),
                width: random.u32(1..20),
                blocks: random.u32(..200),
            };
            let mut entries = Vec::new();
            for primitive in 0..random.u32(..200) {
                let [a, b, c, d] = [0; 4].map(|_| random.u8(..40));
                entries.push(Entry {
                    primitive,
                    first: [a.min(b), c.min(d)],
                    last: [a.max(b), c.max(d)],
                });
                // And some that touch the same.
                let again = Entry {
                    primitive: primitive + 1000,
                    ..entries[entries.len() - 1]
                };
                entries.extend((0..random.u32(..3)).map(|_| again));
            }
            let mut wanted = vec![Entries::default(); grid.blocks as usize];
            let mut all = 0;
            for entry in &entries {
                let [[left, top], [right, bottom]] = grid.ends(entry);
                for (row, column) in (top..=bottom).flat_map(|row| (left..=right).map(move |column| (row, column))) {
                    if let Some(list) = wanted.get_mut((row * grid.width + column) as usize) {
                        list.extend(7, &[*entry]);
                        all += 1;
                    }
                }
            }
            let share = random.u32(1..30);
            let (mut runs, counted) = (Vec::new(), Cell::new(0));
            let more = |more| {
                counted.set(counted.get() + more);
                true
            };
            let half = entries.len() / 2;
            assert!(grid.sort(&entries[..half], 0, share, &mut runs, &more));
            assert!(grid.sort(&entries, half, share, &mut runs, &more));
            by_share(&mut runs, share);
            let mut lists = vec![Entries::default(); grid.blocks as usize];
            for (number, lists) in (0..).zip(lists.chunks_mut(share as usize)) {
                list(lists, number, share, 7, &entries, &runs);
            }
            // A row that is as wide as the grid goes on in the next, where blocks have another order.
            if entries.iter().all(|entry| grid.ends(entry)[1][0] < grid.width) {
                assert!(lists == wanted, "{grid:?} {share}");
            }
            assert_eq!(counted.get(), all);
        }
    }

    /// Sorting stops at the limit of entries.
    #[test]
    fn lists_may_be_too_long() {
        let grid = Grid {
            shift: [0; 2],
            width: 256,
            blocks: 65536,
        };
        let entry = |primitive| Entry {
            primitive,
            first: [0; 2],
            last: [255; 2],
        };
        let entries: Vec<Entry> = (0..100).map(entry).collect();
        let (mut runs, counted) = (Vec::new(), Cell::new(0));
        let few = |more| {
            counted.set(counted.get() + more);
            counted.get() < 200_000
        };
        assert!(!grid.sort(&entries, 0, 65536, &mut runs, &few));
        assert!((200_000..300_000).contains(&counted.get()) && runs.len() < 300);
    }
}
