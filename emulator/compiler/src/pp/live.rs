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

#[cfg(test)]
mod tests {
    use super::super::node::{End, MOVE, Node, NodeBlock, Operand, Src};
    use super::*;
    use std::collections::BTreeSet;
    use utgard::pp::Condition;

    #[test]
    fn sets_hold_what_was_added() {
        let mut random = fastrand::Rng::with_seed(1);
        for cells in [1u32, 2, 63, 64, 65, 128, 200] {
            let mut sets = [Set::new(cells), Set::new(cells)];
            let mut known = [BTreeSet::new(), BTreeSet::new()];
            for _ in 0..cells / 2 + 1 {
                let (which, cell) = (random.usize(..2), random.u32(..cells));
                sets[which].add(cell);
                known[which].insert(cell);
            }
            for (set, known) in sets.iter().zip(&known) {
                assert!((0..cells).all(|cell| set.has(cell) == known.contains(&cell)));
                assert!(set.iter().eq(known.iter().copied()), "{cells}");
            }
            let [mut a, b] = sets;
            let is_new = !known[1].is_subset(&known[0]);
            assert_eq!(a.join(&b), is_new, "{cells}");
            assert!(a.iter().eq(known[0].union(&known[1]).copied()), "{cells}");
            assert!(!a.join(&b), "nothing is new the second time");
        }
    }

    /// Times in random ranges below 40.
    fn random_ranges(random: &mut fastrand::Rng) -> Ranges {
        let mut ranges = Ranges::default();
        for _ in 0..random.usize(..5) {
            let start = random.u32(..38);
            ranges.add(start, start + random.u32(1..6).min(40 - start));
        }
        ranges
    }

    fn times(ranges: &Ranges) -> BTreeSet<u32> {
        ranges.0.iter().flat_map(|(start, end)| *start..*end).collect()
    }

    #[test]
    fn ranges_are_sets_of_times() {
        let mut random = fastrand::Rng::with_seed(2);
        let (mut apart, mut met) = (0, 0);
        for _ in 0..2000 {
            let [mut a, mut b] = [random_ranges(&mut random), random_ranges(&mut random)];
            let (of_a, of_b) = (times(&a), times(&b));
            a.tidy();
            b.tidy();
            assert_eq!((times(&a), times(&b)), (of_a.clone(), of_b.clone()));
            assert!(a.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "{a:?}");
            assert_eq!(a.length() as usize, of_a.len());
            let overlap = !of_a.is_disjoint(&of_b);
            (met, apart) = (met + u32::from(overlap), apart + u32::from(!overlap));
            assert_eq!(a.overlaps(&b), overlap, "{a:?} {b:?}");
            assert_eq!(b.overlaps(&a), overlap, "{a:?} {b:?}");
            let mut taken = Taken::default();
            taken.take(&a);
            assert_eq!(taken.is_free(&b), !overlap, "{a:?} {b:?}");
            if !overlap {
                taken.take(&b);
                let third = random_ranges(&mut random);
                let free = times(&third)
                    .iter()
                    .all(|time| !of_a.contains(time) && !of_b.contains(time));
                assert_eq!(taken.is_free(&third), free);
            }
            a.join(&b);
            assert_eq!(times(&a), of_a.union(&of_b).copied().collect());
            assert!(a.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "{a:?}");
        }
        assert!(apart > 200 && met > 200, "{apart} {met}");
    }

    /// Blocks of moves and sums between few cells, with ends of every kind.
    fn random_nodes(random: &mut fastrand::Rng) -> Nodes {
        let cells = random.u32(2..9);
        let count = random.usize(1..6);
        let blocks = (0..count).map(|at| {
            let nodes = (0..random.usize(..4)).map(|_| {
                let src = (0..random.usize(1..3)).map(|_| Operand::one(Src::Cell(random.u32(..cells))));
                let src = src.collect();
                Node::new(MOVE, vec![random.u32(..cells)], src, None)
            });
            let nodes = nodes.collect();
            let end = match random.u8(..4) {
                _ if at + 1 == count => End::Stop,
                0 => End::Jump(random.usize(..count)),
                1 => End::Discard,
                _ => End::Branch {
                    a: Src::Cell(random.u32(..cells)),
                    b: Src::Const(0),
                    condition: Condition::Ne,
                    then: random.usize(..count),
                    other: at + 1,
                },
            };
            NodeBlock { nodes, end }
        });
        Nodes {
            blocks: blocks.collect(),
            cells,
            outputs: vec![random.u32(..cells)],
            ..Nodes::default()
        }
    }

    /// Whether a cell is read from a place of a block on, before it is written: all ways are walked.
    fn is_read(nodes: &Nodes, cell: Cell, from: (usize, usize), seen: &mut BTreeSet<usize>) -> bool {
        let (block, first) = from;
        let data = &nodes.blocks[block];
        for node in &data.nodes[first..] {
            if node.reads().any(|(read, _)| read == cell) {
                return true;
            }
            if node.dst.contains(&cell) {
                return false;
            }
        }
        if data.end.reads().contains(&cell) || data.end == End::Stop && nodes.outputs.contains(&cell) {
            return true;
        }
        let next = data.end.targets();
        next.into_iter()
            .any(|to| seen.insert(to) && is_read(nodes, cell, (to, 0), seen))
    }

    #[test]
    fn cells_live_where_they_are_read_later() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut alive = 0;
        for _ in 0..500 {
            let nodes = random_nodes(&mut random);
            let out = live_out(&nodes);
            let ranges = ranges(&nodes);
            let mut base = 0;
            for (at, block) in nodes.blocks.iter().enumerate() {
                let count = block.nodes.len();
                for cell in 0..nodes.cells {
                    let behind = |place: usize| is_read(&nodes, cell, (at, place), &mut BTreeSet::new());
                    // Behind the block: the end's own reads aside.
                    let outside = block.end == End::Stop && nodes.outputs.contains(&cell)
                        || block
                            .end
                            .targets()
                            .into_iter()
                            .any(|to| is_read(&nodes, cell, (to, 0), &mut BTreeSet::from([to])));
                    assert_eq!(out[at].has(cell), outside, "{nodes:?}: {cell} behind {at}");
                    let held = times(&ranges[cell as usize]);
                    for place in 0..count {
                        // A node reads at an even time and writes at the odd one behind it.
                        let time = base + 2 * place as u32 + 1;
                        let wanted = behind(place + 1) || block.nodes[place].dst.contains(&cell);
                        assert_eq!(held.contains(&time), wanted, "{nodes:?}: {cell} behind {place} of {at}");
                    }
                    assert_eq!(held.contains(&(base + 2 * count as u32 + 1)), outside, "{nodes:?}");
                    alive += u32::from(outside);
                }
                base += 2 * count as u32 + 2;
            }
        }
        assert!(alive > 500, "{alive}");
    }
}
