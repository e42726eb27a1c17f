//! From formulas to a graph of values.
//!
//! In: the formulas that all engines share, generic in [`Lanes`](num::lanes::Lanes). Out: an SSA [`graph`], recorded by lanes
//! that compute nothing ([`tracer`]).

pub(crate) mod graph;
pub(crate) mod tracer;
