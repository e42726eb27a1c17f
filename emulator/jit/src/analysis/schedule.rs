//! In which schedule a graph is computed, and where values are used.

use crate::call::{Mode, Rounding, Which};
use crate::graph::{Effect, Graph, Kind, Node, Value};
use crate::isa::Isa;

/// Registers that rows want beside what is computed: an operation's, and one that stays.
const FOR_ROWS: usize = 4;

/// How many values there may be for two registers: going to the stack and back takes units that have little else to do, and
/// what is waited for costs more. Measured with 512 bits on a Zen 5: with 2.4 for one, more rows are faster still, with 3.5
/// slower; with 256 on a Zen 3: with 4.6 (two rows of 32, four of 16) still faster, four rows of 24 or eight of any slower.
fn most_for_two(isa: Isa) -> usize {
    match isa {
        Isa::Avx512 => 5,
        Isa::Avx2 { .. } => 9,
        Isa::Neon => 2,
    }
}

/// Instructions of a round that four rows may have with 256 bits: processors keep some thousands decoded. Measured on a Zen 3,
/// which keeps 4096: with 4100 by [`Schedule::instructions`] two rows are faster, as they are with 8000; with 3900 four.
const DECODED: usize = 4000;

/// Something to be done, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    Compute(Value),
    Effect(Effect),
}

/// What is done in which schedule, and where values are used.
pub(crate) struct Schedule {
    pub items: Vec<Item>,
    /// For each value the numbers of the items that use it, ascending.
    pub uses: Vec<Vec<u32>>,
}

impl Schedule {
    /// The order of a graph.
    pub(crate) fn new(graph: &Graph) -> Self {
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
            let requires = |effect: &&Effect| matches!(effect, Effect::Guard(value) if *value as usize == at);
            items.extend(graph.effects.iter().find(requires).map(|effect| Item::Effect(*effect)));
        }
        let stores = graph
            .effects
            .iter()
            .filter(|effect| !matches!(effect, Effect::Guard(_)));
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

    /// Computed values that are still wanted, at most.
    pub(crate) fn most(&self, graph: &Graph) -> usize {
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

    /// How many values are computed in such ways.
    pub(crate) fn count(&self, graph: &Graph, is: impl Fn(Kind) -> bool) -> usize {
        let is_one = |item: &&Item| match item {
            Item::Compute(value) => matches!(graph.nodes[*value as usize], Node::Op(kind, _) if is(kind)),
            Item::Effect(_) => false,
        };
        self.items.iter().filter(is_one).count()
    }

    /// Instructions that one row takes, about, with 256 bits.
    fn instructions(&self, graph: &Graph, rounding: Rounding) -> usize {
        let of = |item: &Item| match item {
            Item::Effect(_) => 1,
            Item::Compute(value) => match graph.nodes[*value as usize] {
                Node::Op(Kind::RoundHalf, _) if rounding == Rounding::Exact => 7,
                Node::Op(Kind::RoundHalf, _) => 4,
                Node::Op(Kind::Gather(_), _) => 20,
                // And what it takes to have its operands.
                _ => 2,
            },
        };
        self.items.iter().map(of).sum()
    }

    /// Rows side by side: an operation that is rounded takes 19 cycles from its operands to its result, but its
    /// instructions only two, so that of colours of four it takes four rows until something can be done at any time. A
    /// whole tile has them; other calls may have few lanes.
    pub(crate) fn copies(&self, graph: &Graph, Mode { isa, which, rounding }: Mode) -> usize {
        let most = self.most(graph);
        let room = isa.registers() * most_for_two(isa) / 2;
        let wanted = match (which, isa) {
            (_, Isa::Neon) | (Which::All | Which::Masked, _) => 2,
            (Which::Tile, Isa::Avx2 { .. }) if 4 * self.instructions(graph, rounding) > DECODED => 2,
            (Which::Tile, _) => 4,
        };
        [wanted, 2]
            .into_iter()
            .find(|copies| copies * most <= room)
            .unwrap_or(1)
    }

    /// Values that are one number for all lanes and used again in every round, the dearest first, as far as the
    /// registers are more than `copies` of everything else need.
    pub(crate) fn pinned_constants(&self, graph: &Graph, isa: Isa, copies: usize) -> Vec<Value> {
        let room = isa.registers().saturating_sub(copies * self.most(graph) + FOR_ROWS);
        let uses = |value: &Value| self.uses[*value as usize].len();
        let of_all_lanes = |value: &Value| graph.nodes[*value as usize].is_of_all_lanes() && uses(value) > 0;
        let mut values: Vec<Value> = (0..graph.nodes.len() as Value).filter(of_all_lanes).collect();
        // Constants are the cheapest to have again.
        let is_constant = |value: &Value| matches!(graph.nodes[*value as usize], Node::Const(_));
        values.sort_by_key(|value| (is_constant(value), usize::MAX - uses(value)));
        values.truncate(room);
        values
    }
}

impl Effect {
    /// What it needs.
    pub(crate) fn value(&self) -> Value {
        match *self {
            Self::Store(_, value) | Self::StoreAll(_, value) | Self::Words(value) => value,
            Self::Guard(value) => value,
        }
    }
}

/// What a node is computed of.
pub(crate) fn operands(node: Node) -> impl Iterator<Item = Value> {
    let (count, values) = match node {
        Node::Op(kind, values) => (kind.operands(), values),
        _ => (0, [0; 3]),
    };
    values.into_iter().take(count)
}
