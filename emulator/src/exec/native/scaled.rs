//! Products and sums that become halves, computed larger: of 8192 times a number its half takes a product and a difference, of
//! the number itself one instruction more. Factors and addends that are constants, or of all lanes, or wanted again and again
//! carry the 8192 at little cost.

use super::graph::{Effect, Graph, Kind, Node, Value};
use super::order::{Order, operands};
use std::borrow::Cow;

/// How much larger: as many bits as a float has more than a half.
pub(super) const SCALE: f32 = 8192.0;

/// How often a value has to be wanted before it is worth to have it scaled, too.
const WORTH_SCALING: u32 = 3;

/// How deep sums of products may be for what they are made of to be looked at.
const DEEPEST: u32 = 4;

/// The graph with such products and sums.
pub(super) fn scaled(graph: &Graph) -> Cow<'_, Graph> {
    let mut sums = Sums::of(graph, &Order::new(graph));
    sums.find();
    if sums.large.iter().all(Option::is_none) {
        return Cow::Borrowed(graph);
    }
    Cow::Owned(sums.rebuilt())
}

/// Which products and sums are computed larger.
struct Sums<'a> {
    graph: &'a Graph,
    /// For each value how many operations and effects want it.
    uses: Vec<usize>,
    /// Values that are rounded, and nothing else is done with them.
    rounded: Vec<Value>,
    /// For each value in how many products it is that are such.
    wanted: Vec<u32>,
    /// For each value that is computed larger which operands have to be.
    large: Vec<Option<Vec<usize>>>,
}

impl<'a> Sums<'a> {
    fn of(graph: &'a Graph, order: &Order) -> Self {
        let uses: Vec<usize> = order.uses.iter().map(Vec::len).collect();
        let of = |(node, here): (&Node, &usize)| match *node {
            Node::Op(Kind::RoundHalf | Kind::HalfUnit, [from, ..]) => {
                (*here > 0 && uses[from as usize] == 1).then_some(from)
            }
            _ => None,
        };
        let rounded: Vec<Value> = graph.nodes.iter().zip(&uses).filter_map(of).collect();
        let mut wanted = vec![0; graph.nodes.len()];
        for from in &rounded {
            if let Node::Op(Kind::Mul | Kind::Fused, _) = graph.nodes[*from as usize] {
                operands(graph.nodes[*from as usize]).for_each(|operand| wanted[operand as usize] += 1);
            }
        }
        Self {
            graph,
            uses,
            rounded,
            wanted,
            large: vec![None; graph.nodes.len()],
        }
    }

    /// How good a value is to be had larger, with so many sums and products around it; nothing where it is not.
    fn rank(&self, value: Value, depth: u32) -> Option<u32> {
        match self.graph.nodes[value as usize] {
            Node::Const(bits) => {
                let scaled = f32::from_bits(bits) * SCALE;
                (scaled / SCALE).to_bits().eq(&bits).then_some(u32::MAX)
            }
            node if node.is_of_all_lanes() => Some(u32::MAX - 1),
            _ if self.wanted[value as usize] >= WORTH_SCALING => Some(self.wanted[value as usize]),
            _ if self.uses[value as usize] == 1 && depth < DEEPEST => self.parts(value, depth + 1).map(|_| 0),
            _ => None,
        }
    }

    /// Of a product or a sum the numbers of the operands that have to be larger for it to be; nothing where they are not to be
    /// had.
    fn parts(&self, value: Value, depth: u32) -> Option<Vec<usize>> {
        let Node::Op(kind, all) = self.graph.nodes[value as usize] else {
            return None;
        };
        let rank = |at: usize| self.rank(all[at], depth);
        // What is larger for one operand is so for another, too.
        let rank_alone = |at: usize| {
            let same = all[..kind.operands()].iter().filter(|value| **value == all[at]);
            let is_alone = same.count() == 1;
            rank(at).filter(|rank| *rank > 0 || is_alone)
        };
        match kind {
            Kind::Mul | Kind::Fused => {
                let [first, second] = [0, 1].map(rank_alone);
                first.max(second)?;
                let mut parts = vec![usize::from(second > first)];
                if kind == Kind::Fused {
                    rank_alone(2)?;
                    parts.push(2);
                }
                Some(parts)
            }
            Kind::Add | Kind::Sub => rank(0).and(rank(1)).map(|_| vec![0, 1]),
            _ => None,
        }
    }

    /// Whether a value is computed larger itself, not something like it.
    fn is_own(&self, value: Value, depth: u32) -> bool {
        self.rank(value, depth) == Some(0)
    }

    /// Finds what is computed larger.
    fn find(&mut self) {
        let mut found: Vec<(Value, u32)> = self.rounded.iter().map(|from| (*from, 0)).collect();
        while let Some((value, depth)) = found.pop() {
            let (Some(parts), Node::Op(_, all)) = (self.parts(value, depth), self.graph.nodes[value as usize]) else {
                continue;
            };
            let own = parts.iter().map(|part| all[*part]);
            found.extend(
                own.filter(|part| self.is_own(*part, depth))
                    .map(|part| (part, depth + 1)),
            );
            self.large[value as usize] = Some(parts);
        }
    }

    /// What an operation on a value becomes.
    fn kind(&self, kind: Kind, from: Value) -> Kind {
        match kind {
            Kind::RoundHalf if self.large[from as usize].is_some() => Kind::RoundScaled,
            Kind::HalfUnit if self.large[from as usize].is_some() => Kind::HalfUnitScaled,
            _ => kind,
        }
    }

    /// The graph with all of them.
    fn rebuilt(&self) -> Graph {
        let graph = self.graph;
        let mut all = graph.empty();
        let mut values: Vec<Value> = Vec::with_capacity(graph.nodes.len());
        for (at, node) in graph.nodes.iter().enumerate() {
            let Node::Op(kind, mut operands) = *node else {
                values.push(all.node(*node));
                continue;
            };
            let becomes = self.kind(kind, operands[0]);
            let is_large = operands.map(|operand| self.large[operand as usize].is_some());
            for operand in &mut operands[..kind.operands()] {
                *operand = values[*operand as usize];
            }
            let parts = self.large[at].iter().flatten();
            for part in parts.copied().filter(|part| !is_large[*part]) {
                operands[part] = all.times(operands[part], SCALE);
            }
            values.push(all.node(Node::Op(becomes, operands)));
        }
        all.effects = graph.effects.iter().map(|effect| effect.of(&values)).collect();
        for (value, input) in &graph.planes {
            let becomes = values[*value as usize];
            match self.large[*value as usize].is_some() {
                true => all.large_planes.push(becomes),
                false => all.planes.push((becomes, *input)),
            }
        }
        all
    }
}

impl Effect {
    /// The same of what its value is now.
    fn of(self, values: &[Value]) -> Self {
        let of = |value: Value| values[value as usize];
        match self {
            Self::Store(row, value) => Self::Store(row, of(value)),
            Self::StoreAll(row, value) => Self::StoreAll(row, of(value)),
            Self::Words(value) => Self::Words(of(value)),
            Self::Require(value) => Self::Require(of(value)),
            Self::Done(value) => Self::Done(of(value)),
        }
    }
}
