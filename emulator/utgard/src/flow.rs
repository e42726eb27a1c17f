//! Control flow of programs of both instruction sets: possible successors, and the lengths of paths.

/// An instruction in the flow graph: its cost and its successors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its address: instruction index (GP) or word (PP).
    pub address: u32,
    /// Minimum cycles.
    pub cycles: u32,
    /// Indices of its possible successors.
    pub next: Vec<usize>,
    /// Whether the program may end after it.
    pub ends: bool,
}

/// A finding of a verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the rule.
    pub rule: &'static str,
    /// Address of the instruction.
    pub address: u32,
    /// What is wrong.
    pub message: String,
}

/// Cycles of the paths through a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// The shortest path to an end; `None` if none is reachable.
    pub shortest: Option<u32>,
    /// The longest; `None` if there is a loop on the way.
    pub longest: Option<u32>,
    /// Number of unreachable instructions.
    pub unreachable: u32,
}

/// The paths from the first node to an end.
pub fn paths(nodes: &[Node]) -> Paths {
    let reached = reachable(nodes);
    let unreachable = reached.iter().filter(|reached| !**reached).count() as u32;
    Paths {
        shortest: shortest(nodes),
        longest: longest(nodes),
        unreachable,
    }
}

/// For each node whether the first leads to it.
pub(crate) fn reachable(nodes: &[Node]) -> Vec<bool> {
    let mut reached = vec![false; nodes.len()];
    let mut pending: Vec<usize> = nodes.first().map(|_| 0).into_iter().collect();
    while let Some(at) = pending.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            pending.extend(nodes[at].next.iter().filter(|next| **next < nodes.len()));
        }
    }
    reached
}

fn shortest(nodes: &[Node]) -> Option<u32> {
    use std::cmp::Reverse;
    let mut best = vec![u32::MAX; nodes.len()];
    let mut queue = std::collections::BinaryHeap::new();
    queue.push(Reverse((nodes.first()?.cycles, 0)));
    while let Some(Reverse((cost, at))) = queue.pop() {
        if cost >= best[at] {
            continue;
        }
        best[at] = cost;
        for next in nodes[at].next.iter().filter(|next| **next < nodes.len()) {
            queue.push(Reverse((cost.saturating_add(nodes[*next].cycles), *next)));
        }
    }
    nodes
        .iter()
        .zip(best)
        .filter(|(node, cost)| node.ends && *cost != u32::MAX)
        .map(|(_, cost)| cost)
        .min()
}

/// The longest path, in depth-first finishing order; `None` if there is a loop.
fn longest(nodes: &[Node]) -> Option<u32> {
    nodes.first()?;
    // 0 unvisited, 1 on the current path, 2 done.
    let mut state = vec![0u8; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack = vec![(0usize, 0usize)];
    state[0] = 1;
    while let Some((at, edge)) = stack.pop() {
        let Some(next) = nodes[at].next.get(edge) else {
            state[at] = 2;
            order.push(at);
            continue;
        };
        stack.push((at, edge + 1));
        match state.get(*next) {
            Some(0) => {
                state[*next] = 1;
                stack.push((*next, 0));
            }
            Some(1) => return None,
            _ => {}
        }
    }
    let mut cost = vec![None; nodes.len()];
    for at in order {
        let node = &nodes[at];
        let behind = node
            .next
            .iter()
            .filter_map(|next| cost.get(*next).copied().flatten())
            .max();
        let here: Option<u32> = if node.ends { Some(behind.unwrap_or(0)) } else { behind };
        cost[at] = here.map(|behind| behind.saturating_add(node.cycles));
    }
    cost[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(next: &[usize], ends: bool) -> Node {
        Node {
            address: 0,
            cycles: 1,
            next: next.to_vec(),
            ends,
        }
    }

    #[test]
    fn paths_are_counted() {
        let fork = [
            node(&[1, 2], false),
            node(&[2], false),
            node(&[], true),
            node(&[2], false),
        ];
        assert_eq!(
            paths(&fork),
            Paths {
                shortest: Some(2),
                longest: Some(3),
                unreachable: 1
            }
        );
        let around = [node(&[1], false), node(&[0, 2], false), node(&[], true)];
        assert_eq!(
            paths(&around),
            Paths {
                shortest: Some(3),
                longest: None,
                unreachable: 0
            }
        );
        assert_eq!(paths(&[node(&[0], false)]).shortest, None);
        assert_eq!(paths(&[]), Paths::default());
    }
}
