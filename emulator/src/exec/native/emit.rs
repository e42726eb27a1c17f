//! A graph as machine code: values in registers while there are enough, on the stack from then on; several rows of lanes
//! side by side, so that one's waiting is another's work.

use super::asm::Isa;
use super::call::Emitted;
use super::emitter::Emitter;
use super::graph::Graph;
use super::order::Order;

/// Makes code of a graph. `copies`: rows of lanes side by side. Nothing where the stack would not do.
pub(super) fn emit(graph: &Graph, isa: Isa, lanes: Which, copies: Copies) -> Option<Emitted> {
    let order = Order::new(graph);
    let copies = match copies {
        Copies::One => 1,
        Copies::Best => order.copies(graph, isa),
    };
    Emitter::new(graph, &order, isa, lanes, copies).finish()
}

/// What lanes code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Those of rows.
    All,
    /// Those of rows of which a mask says so; the others keep what they have.
    Masked,
    /// A whole tile's, which have nothing but [places](super::call::PLACES) and words.
    Tile,
}

/// Rows of lanes side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// For few lanes.
    One,
    /// As many as there are registers for.
    Best,
}
