//! The tile buffer: what happens to a fragment behind its program, and what finished tiles leave in memory.
//!
//! In: fragments of a primitive with their colours, depths and coverage, and the state of their draw. Out: the tile with those
//! that passed blended into it; at the end, the tile in the layout and the format of the render target ([`write_back`]).

pub(crate) mod access;
pub(crate) mod batch;
mod buffer;
#[cfg(test)]
pub(crate) mod reference;
pub(crate) mod tiled_target;
pub mod write_back;

pub use buffer::*;
