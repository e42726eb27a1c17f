//! Immediate dominators by Lengauer and Tarjan's algorithm with path compression: near linear for every graph.

use super::graph::Edges;

const NONE: usize = usize::MAX;

/// Immediate dominators of a graph entered at node 0, given each node's successors. The entry dominates itself;
/// unreachable nodes have `usize::MAX`.
pub(super) fn immediate_dominators<'a>(count: usize, next: impl Fn(usize) -> &'a [usize]) -> Vec<usize> {
    let mut idom = vec![NONE; count];
    if count == 0 {
        return idom;
    }
    let Numbering { nodes, number, parent } = depth_first(count, &next);
    let edges = |from: usize| next(nodes[from]).iter().map(|to| number[*to]).map(move |to| (to, from));
    let before = Edges::new(nodes.len(), (0..nodes.len()).flat_map(edges));
    // From here on nodes are depth-first numbers.
    let mut forest = Forest {
        ancestor: vec![NONE; nodes.len()],
        label: (0..nodes.len()).collect(),
        semi: (0..nodes.len()).collect(),
        path: Vec::new(),
    };
    let mut dominator = vec![0; nodes.len()];
    // Nodes by semidominator, as linked lists: `first` of a list, `then` the next in it.
    let (mut first, mut then) = (vec![NONE; nodes.len()], vec![NONE; nodes.len()]);
    for node in (1..nodes.len()).rev() {
        for &from in before.of(node) {
            let lowest = forest.lowest(from);
            forest.semi[node] = forest.semi[node].min(forest.semi[lowest]);
        }
        let semi = forest.semi[node];
        then[node] = std::mem::replace(&mut first[semi], node);
        forest.ancestor[node] = parent[node];
        let mut waiting = std::mem::replace(&mut first[parent[node]], NONE);
        while waiting != NONE {
            let lowest = forest.lowest(waiting);
            dominator[waiting] = if forest.semi[lowest] < forest.semi[waiting] {
                lowest
            } else {
                parent[node]
            };
            waiting = then[waiting];
        }
    }
    for node in 1..nodes.len() {
        if dominator[node] != forest.semi[node] {
            dominator[node] = dominator[dominator[node]];
        }
    }
    for (node, dominator) in nodes.iter().zip(dominator) {
        idom[*node] = nodes[dominator];
    }
    idom
}

struct Numbering {
    /// Nodes in depth-first order.
    nodes: Vec<usize>,
    /// The depth-first number of each node.
    number: Vec<usize>,
    /// By number: the number of the depth-first parent.
    parent: Vec<usize>,
}

fn depth_first<'a>(count: usize, next: &impl Fn(usize) -> &'a [usize]) -> Numbering {
    let (mut nodes, mut number, mut parent) = (vec![0], vec![NONE; count], vec![0]);
    number[0] = 0;
    let mut stack = vec![(0, 0)];
    while let Some((node, at)) = stack.pop() {
        if let Some(&to) = next(node).get(at) {
            stack.push((node, at + 1));
            if number[to] == NONE {
                number[to] = nodes.len();
                nodes.push(to);
                parent.push(number[node]);
                stack.push((to, 0));
            }
        }
    }
    Numbering { nodes, number, parent }
}

struct Forest {
    ancestor: Vec<usize>,
    label: Vec<usize>,
    semi: Vec<usize>,
    path: Vec<usize>,
}

impl Forest {
    /// The ancestor in the forest with the lowest semidominator.
    fn lowest(&mut self, node: usize) -> usize {
        let mut at = node;
        while self.ancestor[at] != NONE && self.ancestor[self.ancestor[at]] != NONE {
            self.path.push(at);
            at = self.ancestor[at];
        }
        while let Some(at) = self.path.pop() {
            let above = self.ancestor[at];
            if self.semi[self.label[above]] < self.semi[self.label[at]] {
                self.label[at] = self.label[above];
            }
            self.ancestor[at] = self.ancestor[above];
        }
        self.label[node]
    }
}

/// Depth-first intervals of the dominator tree: `a` dominates `b` if b's interval is within a's.
pub(super) struct Tree(Vec<(u32, u32)>);

impl Tree {
    pub(super) fn new(idom: &[usize]) -> Self {
        let below = idom.iter().enumerate().skip(1).filter(|(_, parent)| **parent != NONE);
        let children = Edges::new(idom.len(), below.map(|(block, parent)| (*parent, block)));
        let (mut spans, mut clock, mut stack) = (vec![(0, 0); idom.len()], 1, vec![(0, 0)]);
        spans[0].0 = clock;
        while let Some((block, next)) = stack.pop() {
            clock += 1;
            match children.of(block).get(next) {
                Some(&child) => {
                    spans[child].0 = clock;
                    stack.extend([(block, next + 1), (child, 0)]);
                }
                None => spans[block].1 = clock,
            }
        }
        Self(spans)
    }

    pub(super) fn reached(&self, block: usize) -> bool {
        self.0[block].0 != 0
    }

    pub(super) fn dominates(&self, a: usize, b: usize) -> bool {
        self.reached(a) && self.0[a].0 <= self.0[b].0 && self.0[b].1 <= self.0[a].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By definition: a dominates b if b is unreachable without a.
    fn slow(next: &[Vec<usize>]) -> Vec<usize> {
        let reached = |without: usize| {
            let (mut seen, mut stack) = (vec![false; next.len()], vec![0]);
            while let Some(node) = stack.pop() {
                if node != without && !std::mem::replace(&mut seen[node], true) {
                    stack.extend(&next[node]);
                }
            }
            seen
        };
        let all = reached(NONE);
        let dominated: Vec<Vec<bool>> = (0..next.len()).map(reached).collect();
        let dominates = |a: usize, b: usize| all[a] && !dominated[a][b];
        let over = |b: usize| (0..next.len()).filter(move |a| *a != b && dominates(*a, b));
        (0..next.len())
            .map(|b| match b {
                0 => 0,
                _ if !all[b] => NONE,
                // The immediate dominator is dominated by all others.
                _ => over(b).find(|a| over(b).all(|c| dominates(c, *a))).expect("the entry"),
            })
            .collect()
    }

    #[test]
    fn random_graphs_match_the_definition() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..2000 {
            let count = 1 + round % 12;
            let next: Vec<Vec<usize>> = (0..count)
                .map(|_| (0..random.usize(..4)).map(|_| random.usize(..count)).collect())
                .collect();
            assert_eq!(immediate_dominators(count, |n| &next[n]), slow(&next), "{next:?}");
        }
    }
}
