//! A graph as machine code: values in registers while there are enough, on the stack from then on; several rows of lanes
//! side by side, so that one's waiting is another's work.

use super::call::{Emitted, Rounding, Which};
use super::emitter::Emitter;
use super::graph::Graph;
use super::isa::Isa;
use super::order::Order;
use super::ranges::Ranges;
use super::{arm, x86};

/// Makes code of a graph. `copies`: rows of lanes side by side, fewer where the stack would not do for all. Nothing where
/// it would not do for one.
pub(super) fn emit(graph: &Graph, isa: Isa, which: Which, copies: Copies) -> Option<Emitted> {
    emit_rounding(graph, isa, which, copies, Rounding::Exact)
}

/// The same with a way of rounding.
///
/// # Panics
/// Where roundings are speculative and [`Isa::speculates`] does not say so.
pub(super) fn emit_rounding(
    graph: &Graph,
    isa: Isa,
    which: Which,
    copies: Copies,
    rounding: Rounding,
) -> Option<Emitted> {
    assert!(rounding == Rounding::Exact || isa.speculates());
    let ranges = Ranges::new(graph, rounding);
    let graph = &*ranges.simplified(graph);
    let order = Order::new(graph);
    let mut copies = match copies {
        Copies::One => 1,
        Copies::Best => order.copies(graph, isa, (which, rounding)),
    };
    loop {
        let emitted = emit_copies((graph, &order, &ranges), isa, (which, rounding), copies);
        if emitted.is_some() || copies == 1 {
            return emitted;
        }
        copies /= 2;
    }
}

/// The same with exactly so many rows of lanes side by side.
fn emit_copies(of: (&Graph, &Order, &Ranges), isa: Isa, how: (Which, Rounding), copies: usize) -> Option<Emitted> {
    match isa {
        Isa::Neon => Emitter::<arm::Asm>::new(of, isa, how, copies).finish(),
        Isa::Avx2 { .. } | Isa::Avx512 => Emitter::<x86::Asm>::new(of, isa, how, copies).finish(),
    }
}

/// Rows of lanes side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// For few lanes.
    One,
    /// As many as it takes to keep the processor busy, as far as registers and what goes to the stack allow it.
    Best,
}
