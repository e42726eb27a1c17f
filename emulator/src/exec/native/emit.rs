//! A graph as machine code: values in registers while there are enough, on the stack from then on; several rows of lanes
//! side by side, so that one's waiting is another's work.

use super::asm::Isa;
use super::emitter::Emitter;
use super::graph::{Effect, Graph, Node, Value};
use crate::exec::inputs::Inputs;
use crate::exec::wide::{Mask, Row};

/// Textures that one piece of code can look into.
pub const MAX_TEXTURES: usize = 8;

/// What code is called with.
#[repr(C)]
pub(super) struct Args {
    /// The first row's first lane.
    pub rows: *mut f32,
    /// The uniforms.
    pub uniforms: *const f32,
    /// The primitive's inputs.
    pub inputs: *const u8,
    /// Constants.
    pub pool: *const u8,
    /// Lanes that are written: a bit each, or a word.
    pub masks: *const u8,
    /// Where words of colours go.
    pub words: *mut u32,
    /// Texels of each texture.
    pub textures: [*const u32; MAX_TEXTURES],
    /// How often the code goes round.
    pub steps: u32,
    /// Lanes that are left to somebody else, wherever they are.
    pub left: u32,
}

/// What code works on.
pub(super) struct Call<'a> {
    /// The rows.
    pub rows: &'a mut [Row],
    /// Lanes that are there, a multiple of what the code takes at a time.
    pub lanes: usize,
    /// The uniforms.
    pub uniforms: &'a [f32],
    /// The primitive.
    pub inputs: &'a Inputs,
    /// Lanes that are written.
    pub mask: Mask,
    /// Texels of the textures the code looks into.
    pub textures: &'a [&'a [u32]],
    /// Where colours go that leave as words.
    pub words: &'a mut [u32],
}

/// What code works on at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub rows: usize,
    pub uniforms: usize,
    pub textures: Vec<usize>,
    pub words: bool,
}

/// Machine code and what has to be known of it. Only [`emit`] makes it, so its bytes keep to what it needs.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Instructions, then constants.
    pub(super) bytes: Vec<u8>,
    /// Where constants begin.
    pub(super) pool: usize,
    /// Lanes of one round.
    pub(super) lanes: usize,
    /// Masks are words, not bits.
    pub(super) mask_lanes: bool,
    pub(super) needs: Needs,
}

/// Makes code of a graph. `masked`: rows keep their lanes where a mask says so. `copies`: rows of lanes side by side.
/// Nothing where the stack would not do.
pub(super) fn emit(graph: &Graph, isa: Isa, masked: bool, copies: Copies) -> Option<Emitted> {
    let plan = Plan::new(graph);
    let copies = match copies {
        Copies::One => 1,
        Copies::Best => plan.copies(graph, isa),
    };
    Emitter::new(graph, &plan, isa, masked, copies).finish()
}

/// Rows of lanes side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// For few lanes.
    One,
    /// As many as there are registers for.
    Best,
}

/// Something to be done, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Compute(Value),
    Effect(Effect),
}

/// What is done in which order, and where values are used.
pub(super) struct Plan {
    pub items: Vec<Item>,
    /// For each value the numbers of the items that use it, ascending.
    pub uses: Vec<Vec<u32>>,
}

impl Plan {
    fn new(graph: &Graph) -> Self {
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

    /// Two rows side by side where the registers are enough for both.
    fn copies(&self, graph: &Graph, isa: Isa) -> usize {
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
        let registers = if isa.evex() { 30 } else { 13 };
        if 2 * most <= registers { 2 } else { 1 }
    }
}

impl Effect {
    pub fn value(&self) -> Value {
        match *self {
            Self::Store(_, value) | Self::StoreAll(_, value) | Self::Words(value) | Self::Require(value) => value,
        }
    }
}

pub(super) fn operands(node: Node) -> impl Iterator<Item = Value> {
    let (count, values) = match node {
        Node::Op(kind, values) => (kind.operands(), values),
        _ => (0, [0; 3]),
    };
    values.into_iter().take(count)
}
