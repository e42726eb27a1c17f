//! When cells hold something that is read later.

use super::node::{Cell, CellMap, Nodes};
use std::collections::BTreeMap;

/// A set of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub(super) fn new(cells: u32) -> Self {
        Self(vec![0; cells as usize / 64 + 1])
    }

    pub(super) fn has(&self, cell: Cell) -> bool {
        self.0[cell as usize / 64] >> (cell % 64) & 1 == 1
    }

    pub(super) fn add(&mut self, cell: Cell) {
        self.0[cell as usize / 64] |= 1 << (cell % 64);
    }

    /// Adds all of another set; whether anything is new.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut new = false;
        for (have, more) in self.0.iter_mut().zip(&other.0) {
            new |= *more & !*have != 0;
            *have |= more;
        }
        new
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        (0u32..).step_by(64).zip(&self.0).flat_map(|(first, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(first + bit)
            })
        })
    }
}

/// Cells that are read behind each block.
pub(super) fn live_out(nodes: &Nodes) -> Vec<Set> {
    let count = nodes.blocks.len();
    let mut reads = vec![Set::new(nodes.cells); count];
    let mut writes = vec![Set::new(nodes.cells); count];
    for (at, block) in nodes.blocks.iter().enumerate() {
        for node in &block.nodes {
            for (cell, _) in node.reads() {
                if !writes[at].has(cell) {
                    reads[at].add(cell);
                }
            }
            for cell in &node.dst {
                writes[at].add(*cell);
            }
        }
        for cell in block.end.reads() {
            if !writes[at].has(cell) {
                reads[at].add(cell);
            }
        }
    }
    let mut out = vec![Set::new(nodes.cells); count];
    let mut live_in = reads;
    for (at, block) in nodes.blocks.iter().enumerate() {
        if block.end == super::node::End::Stop {
            for cell in &nodes.outputs {
                out[at].add(*cell);
            }
        }
    }
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            for to in nodes.blocks[at].end.targets() {
                changed |= out[at].join(&live_in[to]);
            }
            let mut through = out[at].clone();
            for (have, wrote) in through.0.iter_mut().zip(&writes[at].0) {
                *have &= !wrote;
            }
            changed |= live_in[at].join(&through);
        }
        if !changed {
            return out;
        }
    }
}

/// Half-open ranges of time, sorted, not touching.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranges(pub Vec<(u32, u32)>);

impl Ranges {
    pub(super) fn add(&mut self, start: u32, end: u32) {
        self.0.push((start, end));
    }

    pub(super) fn tidy(&mut self) {
        self.0.sort_unstable();
        let mut tidy: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for (start, end) in self.0.drain(..) {
            match tidy.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => tidy.push((start, end)),
            }
        }
        self.0 = tidy;
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let (mut a, mut b) = (0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            if x.0 < y.1 && y.0 < x.1 {
                return true;
            }
            if x.1 <= y.1 {
                a += 1;
            } else {
                b += 1;
            }
        }
        false
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.0.extend(&other.0);
        self.tidy();
    }

    pub(super) fn length(&self) -> u32 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }
}

/// When a lane of a register is taken: ranges that do not overlap, by their start.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken(BTreeMap<u32, u32>);

impl Taken {
    /// Takes ranges that are free.
    pub(super) fn take(&mut self, ranges: &Ranges) {
        self.0.extend(ranges.0.iter().copied());
    }

    /// Nothing of the ranges is taken.
    pub(super) fn is_free(&self, ranges: &Ranges) -> bool {
        ranges.0.iter().all(|(start, end)| {
            let last = self.0.range(..end).next_back();
            last.is_none_or(|(_, taken)| taken <= start)
        })
    }
}

/// Ranges of all cells, with nodes in their order: node number n of the program reads at 2n and writes at 2n + 1.
pub(super) fn ranges(nodes: &Nodes) -> Vec<Ranges> {
    let out = live_out(nodes);
    let mut all = vec![Ranges::default(); nodes.cells as usize];
    let mut base = 0u32;
    for (at, block) in nodes.blocks.iter().enumerate() {
        let end = base + 2 * block.nodes.len() as u32 + 2;
        // Where each live cell's range ends, walking backwards.
        let mut open: CellMap<u32> = out[at].iter().map(|cell| (cell, end)).collect();
        for cell in block.end.reads() {
            open.entry(cell).or_insert(end - 1);
        }
        for (number, node) in block.nodes.iter().enumerate().rev() {
            let time = base + 2 * number as u32;
            for cell in &node.dst {
                let until = open.remove(cell).unwrap_or(time + 2);
                all[*cell as usize].add(time + 1, until);
            }
            for (cell, _) in node.reads() {
                open.entry(cell).or_insert(time);
            }
        }
        for (cell, until) in open {
            all[cell as usize].add(base, until.max(base + 1));
        }
        base = end;
    }
    all.iter_mut().for_each(Ranges::tidy);
    all
}
