//! In which order a graph is computed, and where values are used.

use super::asm::Isa;
use super::graph::{Effect, Graph, Node, Value};

/// Something to be done, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Compute(Value),
    Effect(Effect),
}

/// What is done in which order, and where values are used.
pub(super) struct Order {
    pub items: Vec<Item>,
    /// For each value the numbers of the items that use it, ascending.
    pub uses: Vec<Vec<u32>>,
}

impl Order {
    /// The order of a graph.
    pub fn new(graph: &Graph) -> Self {
        let mut needed = vec![false; graph.nodes.len()];
        for effect in &graph.effects {
            needed[effect.value() as usize] = true;
        }
        for at in (0..graph.nodes.len()).rev().filter(|at| !graph.nodes[*at].is_leaf()) {
            if needed[at] {
                operands(graph.nodes[at]).for_each(|value| needed[value as usize] = true);
            }
        }
        let mut items = Vec::new();
        for at in (0..graph.nodes.len()).filter(|at| needed[*at] && !graph.nodes[*at].is_leaf()) {
            items.push(Item::Compute(at as Value));
            let requires = |effect: &&Effect| matches!(effect, Effect::Require(value) if *value as usize == at);
            items.extend(graph.effects.iter().find(requires).map(|effect| Item::Effect(*effect)));
        }
        let stores = graph
            .effects
            .iter()
            .filter(|effect| !matches!(effect, Effect::Require(_)));
        items.extend(stores.map(|effect| Item::Effect(*effect)));
        let mut uses = vec![Vec::new(); graph.nodes.len()];
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Compute(value) => operands(graph.nodes[*value as usize]).for_each(|value| {
                    if uses[value as usize].last() != Some(&(at as u32)) {
                        uses[value as usize].push(at as u32);
                    }
                }),
                Item::Effect(effect) => uses[effect.value() as usize].push(at as u32),
            }
        }
        Self { items, uses }
    }

    /// Values that are needed at once at most, those that can be had again aside.
    fn pressure(&self, graph: &Graph) -> usize {
        let (mut live, mut most) = (0usize, 0);
        for (at, item) in self.items.iter().enumerate() {
            let Item::Compute(value) = *item else { continue };
            live += 1;
            most = most.max(live);
            let ends = |value: Value| {
                !graph.nodes[value as usize].is_leaf() && self.uses[value as usize].last() == Some(&(at as u32))
            };
            let mut ended: Vec<Value> = operands(graph.nodes[value as usize])
                .filter(|value| ends(*value))
                .collect();
            ended.dedup();
            live = live.saturating_sub(ended.len());
        }
        most
    }

    /// Two rows side by side where the registers are enough for both.
    pub fn copies(&self, graph: &Graph, isa: Isa) -> usize {
        if 2 * self.pressure(graph) < isa.registers() {
            2
        } else {
            1
        }
    }

    /// Values that are the same for all lanes and have registers of their own: those that are used most, as far as there are
    /// registers nobody else needs.
    pub fn residents(&self, graph: &Graph, isa: Isa, copies: usize) -> Vec<Value> {
        // Some are for rows and for what is on its way.
        let busy = copies * (self.pressure(graph) + 2) + 2;
        let mut leaves: Vec<Value> = (0..graph.nodes.len() as Value)
            .filter(|value| graph.nodes[*value as usize].is_uniform() && !self.uses[*value as usize].is_empty())
            .collect();
        leaves.sort_by_key(|value| std::cmp::Reverse(self.uses[*value as usize].len()));
        leaves.truncate(isa.registers().saturating_sub(busy));
        leaves
    }
}

impl Effect {
    /// What it needs.
    pub fn value(&self) -> Value {
        match *self {
            Self::Store(_, value) | Self::StoreAll(_, value) | Self::Words(value) | Self::Require(value) => value,
        }
    }
}

/// What a node is computed of.
pub(super) fn operands(node: Node) -> impl Iterator<Item = Value> {
    let (count, values) = match node {
        Node::Op(kind, values) => (kind.operands(), values),
        _ => (0, [0; 3]),
    };
    values.into_iter().take(count)
}
