//! A graph as machine code: values in registers while there are enough, on the stack from then on; several rows of lanes
//! side by side, so that one's waiting is another's work.

use crate::exec::native::analysis::ranges::Ranges;
use crate::exec::native::analysis::schedule::Schedule;
use crate::exec::native::call::{Emitted, Rounding, Which};
use crate::exec::native::codegen::emitter::Emitter;
use crate::exec::native::codegen::{arm, x86};
use crate::exec::native::isa::Isa;
use crate::exec::native::trace::graph::Graph;

/// Makes code of a graph. `copies`: rows of lanes side by side, fewer where the stack would not do for all. Nothing where
/// it would not do for one.
pub(crate) fn emit(graph: &Graph, isa: Isa, which: Which, copies: Copies) -> Option<Emitted> {
    emit_rounding(graph, isa, which, copies, Rounding::Exact)
}

/// The same with a way of rounding.
///
/// # Panics
/// Where roundings are speculative and [`Isa::speculates`] does not say so.
pub(crate) fn emit_rounding(
    graph: &Graph,
    isa: Isa,
    which: Which,
    copies: Copies,
    rounding: Rounding,
) -> Option<Emitted> {
    assert!(rounding == Rounding::Exact || isa.speculates());
    let ranges = Ranges::new(graph, rounding);
    let graph = &*ranges.simplified(graph);
    let schedule = Schedule::new(graph);
    let mut copies = match copies {
        Copies::One => 1,
        Copies::Best => schedule.copies(graph, isa, (which, rounding)),
    };
    loop {
        let emitted = emit_copies((graph, &schedule, &ranges), isa, (which, rounding), copies);
        if emitted.is_some() || copies == 1 {
            return emitted;
        }
        copies /= 2;
    }
}

/// The same with exactly `copies` rows of lanes side by side.
fn emit_copies(of: (&Graph, &Schedule, &Ranges), isa: Isa, how: (Which, Rounding), copies: usize) -> Option<Emitted> {
    match isa {
        Isa::Neon => Emitter::<arm::Asm>::new(of, isa, how, copies).finish(),
        Isa::Avx2 { .. } | Isa::Avx512 => Emitter::<x86::Asm>::new(of, isa, how, copies).finish(),
    }
}

/// Rows of lanes side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Copies {
    /// For few lanes.
    One,
    /// As many as it takes to keep the processor busy, as far as registers and what goes to the stack allow it.
    Best,
}
