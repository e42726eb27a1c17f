//! A graph as machine code: values in registers while there are enough, then on the stack; several rows of lanes side by side, so
//! that the latency of one is hidden by the work of others.

use crate::analysis::ranges::Ranges;
use crate::analysis::schedule::Schedule;
use crate::call::{Emitted, Mode, Rounding};
use crate::codegen::emitter::{Analysis, Emitter};
use crate::codegen::{arm, x86};
use crate::graph::Graph;
use crate::isa::Isa;

/// Compiles a graph. Nothing where even one row of lanes needs more stack than there may be.
///
/// # Panics
/// Where the graph was made for another instruction set, or roundings are speculative and [`Isa::speculates`] is false.
pub(crate) fn emit(graph: &Graph, mode: Mode, copies: Copies) -> Option<Emitted> {
    assert!(graph.is_for(mode.isa), "a graph of another instruction set");
    assert!(mode.rounding == Rounding::Exact || mode.isa.speculates());
    let ranges = Ranges::new(graph, mode.rounding);
    let graph = &*ranges.simplified(graph);
    let schedule = Schedule::new(graph);
    let analysis = Analysis {
        graph,
        schedule: &schedule,
        ranges: &ranges,
    };
    let mut copies = match copies {
        Copies::One => 1,
        Copies::Best => schedule.copies(graph, mode),
    };
    loop {
        let emitted = match mode.isa {
            Isa::Neon => Emitter::<arm::Asm>::new(analysis, mode, copies).finish(),
            Isa::Avx2 { .. } | Isa::Avx512 => Emitter::<x86::Asm>::new(analysis, mode, copies).finish(),
        };
        if emitted.is_some() || copies == 1 {
            return emitted;
        }
        copies /= 2;
    }
}

/// Rows of lanes side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Copies {
    /// One, for few lanes.
    One,
    /// As many as keep the processor busy, as far as registers and stack allow.
    Best,
}
