//! A function's blocks as a graph, with edges in two vectors instead of an allocation per node.

/// A block: positions of its label and terminator among the items, and its successors.
pub(super) struct Block {
    pub(super) label: usize,
    pub(super) end: usize,
    pub(super) next: Vec<usize>,
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
