//! A function's blocks as a graph, with edges in two vectors instead of an allocation per node.

use super::Checked;
use crate::spirv::op;
use std::ops::Range;

/// A block: positions of its label and terminator among the items, and its successors.
pub(super) struct Block {
    pub(super) label: usize,
    pub(super) end: usize,
    pub(super) next: Vec<usize>,
}

/// The blocks of a function's instructions.
pub(super) struct BlockMap {
    /// Position of the function among the items.
    start: usize,
    /// Number of the block of each of its instructions; `u32::MAX` before the first.
    blocks: Vec<u32>,
}

impl BlockMap {
    /// For a function at these positions, given its blocks in order.
    pub(super) fn new(function: Range<usize>, blocks: &[Block]) -> Self {
        let mut of = vec![u32::MAX; function.len()];
        for (number, block) in blocks.iter().enumerate() {
            let until = blocks.get(number + 1).map_or(function.end, |next| next.label);
            of[block.label - function.start..until - function.start].fill(number as u32);
        }
        Self {
            start: function.start,
            blocks: of,
        }
    }

    /// The block of the item at a position.
    pub(super) fn of(&self, at: usize) -> Option<usize> {
        let number = *self.blocks.get(at.checked_sub(self.start)?)?;
        (number != u32::MAX).then_some(number as usize)
    }

    /// The block that defines an id.
    pub(super) fn defining(&self, module: &Checked<'_>, id: u32) -> Option<usize> {
        self.of((module.defs.get(id) as usize).checked_sub(1)?)
    }

    /// The block of a label.
    pub(super) fn labelled(&self, module: &Checked<'_>, id: u32) -> Option<usize> {
        self.defining(module, id).filter(|_| module.opcode(id) == op::LABEL)
    }
}

/// The successors of each node, in the order of the edges.
pub(super) struct Edges {
    /// Start of each node's targets, plus one final end.
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Edges {
    /// Edges `(from, to)` of a graph of `count` nodes; `from` is below `count`.
    pub(super) fn new(count: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        edges.clone().for_each(|(from, _)| starts[from + 1] += 1);
        for node in 0..count {
            starts[node + 1] += starts[node];
        }
        let mut targets = vec![0; starts[count]];
        // Each node's start advances to its end, which was the next one's start.
        for (from, to) in edges {
            targets[starts[from]] = to;
            starts[from] += 1;
        }
        starts.copy_within(..count, 1);
        starts[0] = 0;
        Self { starts, targets }
    }

    /// The successors of a node.
    pub(super) fn of(&self, node: usize) -> &[usize] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }

    /// All targets, with repetitions.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        self.targets.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_keep_their_order() {
        let edges = Edges::new(4, [(2, 1), (0, 3), (2, 0), (2, 1)].into_iter());
        let all: Vec<&[usize]> = (0..4).map(|node| edges.of(node)).collect();
        assert_eq!(all, [&[3][..], &[], &[1, 0, 1], &[]]);
        assert_eq!(edges.targets().collect::<Vec<_>>(), [3, 1, 0, 1]);
        assert_eq!(Edges::new(0, std::iter::empty()).targets().count(), 0);
    }
}
