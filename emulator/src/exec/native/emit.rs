//! A graph as machine code: values in registers while there are enough, on the stack from then on; several rows of lanes
//! side by side, so that one's waiting is another's work.

use super::call::{Emitted, Which};
use super::emitter::Emitter;
use super::graph::Graph;
use super::isa::Isa;
use super::order::Order;
use super::{arm, x86};

/// Makes code of a graph. `copies`: rows of lanes side by side. Nothing where the stack would not do.
pub(super) fn emit(graph: &Graph, isa: Isa, which: Which, copies: Copies) -> Option<Emitted> {
    let order = Order::new(graph);
    let copies = match copies {
        Copies::One => 1,
        Copies::Best => order.copies(graph, isa),
    };
    match isa {
        Isa::Neon => Emitter::<arm::Asm>::new(graph, &order, isa, which, copies).finish(),
        Isa::Avx2 { .. } | Isa::Avx512 => Emitter::<x86::Asm>::new(graph, &order, isa, which, copies).finish(),
    }
}

/// Rows of lanes side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// For few lanes.
    One,
    /// As many as there are registers for.
    Best,
}
