//! Products that become halves, computed larger: of 8192 times a number its half takes a product and a difference, of the
//! number itself one instruction more. A factor or an addend that is a constant, or of all lanes, or wanted again and again
//! carries the 8192 at little cost.

use super::graph::{Effect, Graph, Kind, Node, Value};
use super::order::{Order, operands};
use std::borrow::Cow;

/// How much larger: as many bits as a float has more than a half.
pub(super) const SCALE: f32 = 8192.0;

/// How often a value has to be wanted before it is worth to have it scaled, too.
const WORTH_SCALING: u32 = 3;

/// The graph with such products.
pub(super) fn scaled(graph: &Graph) -> Cow<'_, Graph> {
    let order = Order::new(graph);
    let products = Products::of(graph, &order);
    if !(0..graph.nodes.len() as Value).any(|value| products.part(graph, value).is_some()) {
        return Cow::Borrowed(graph);
    }
    Cow::Owned(products.rebuilt(graph))
}

/// Which products may be computed larger.
struct Products {
    /// For each value whether nobody wants it but one that rounds it.
    is_only_rounded: Vec<bool>,
    /// For each value how many such products it is in.
    wanted: Vec<u32>,
}

impl Products {
    fn of(graph: &Graph, order: &Order) -> Self {
        let count = graph.nodes.len();
        let mut is_only_rounded = vec![false; count];
        let mut wanted = vec![0; count];
        for (value, node) in graph.nodes.iter().enumerate() {
            let Node::Op(Kind::RoundHalf | Kind::HalfUnit, [from, ..]) = *node else {
                continue;
            };
            let is_product = matches!(graph.nodes[from as usize], Node::Op(Kind::Mul | Kind::Fused, _));
            if order.uses[value].is_empty() || !is_product || order.uses[from as usize].len() != 1 {
                continue;
            }
            is_only_rounded[from as usize] = true;
            operands(graph.nodes[from as usize]).for_each(|operand| wanted[operand as usize] += 1);
        }
        Self {
            is_only_rounded,
            wanted,
        }
    }

    /// How good a value is to be scaled; nothing where it is not.
    fn rank(&self, graph: &Graph, value: Value) -> Option<u32> {
        match graph.nodes[value as usize] {
            Node::Const(bits) => {
                let scaled = f32::from_bits(bits) * SCALE;
                (scaled / SCALE).to_bits().eq(&bits).then_some(u32::MAX)
            }
            node if node.is_of_all_lanes() => Some(u32::MAX - 1),
            _ => Some(self.wanted[value as usize]).filter(|wanted| *wanted >= WORTH_SCALING),
        }
    }

    /// Of a product that may be computed larger the number of the factor to be scaled.
    fn part(&self, graph: &Graph, value: Value) -> Option<usize> {
        if !self.is_only_rounded[value as usize] {
            return None;
        }
        let Node::Op(kind, [a, b, c]) = graph.nodes[value as usize] else {
            return None;
        };
        if kind == Kind::Fused {
            self.rank(graph, c)?;
        }
        let [first, second] = [a, b].map(|factor| self.rank(graph, factor));
        first.max(second)?;
        Some(usize::from(second > first))
    }

    /// What an operation on a value becomes.
    fn kind(&self, graph: &Graph, kind: Kind, from: Value) -> Kind {
        match kind {
            Kind::RoundHalf if self.part(graph, from).is_some() => Kind::RoundScaled,
            Kind::HalfUnit if self.part(graph, from).is_some() => Kind::HalfUnitScaled,
            _ => kind,
        }
    }

    /// The graph with all of them.
    fn rebuilt(&self, graph: &Graph) -> Graph {
        let mut all = graph.empty();
        let mut values: Vec<Value> = Vec::with_capacity(graph.nodes.len());
        for (at, node) in graph.nodes.iter().enumerate() {
            let Node::Op(kind, mut operands) = *node else {
                values.push(all.node(*node));
                continue;
            };
            let becomes = self.kind(graph, kind, operands[0]);
            for operand in &mut operands[..kind.operands()] {
                *operand = values[*operand as usize];
            }
            if let Some(part) = self.part(graph, at as Value) {
                let addend = (kind == Kind::Fused).then_some(2);
                for scaled in [Some(part), addend].into_iter().flatten() {
                    operands[scaled] = all.times(operands[scaled], SCALE);
                }
            }
            values.push(all.node(Node::Op(becomes, operands)));
        }
        all.effects = graph.effects.iter().map(|effect| effect.of(&values)).collect();
        all.planes = graph
            .planes
            .iter()
            .map(|(value, input)| (values[*value as usize], *input))
            .collect();
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
        }
    }
}
