//! From a graph to machine code.
//!
//! In: a graph and what the analysis found. Out: bytes with their constants, and what they work on
//! ([`Emitted`](crate::call::Emitted)). Registers, spills and constants are every machine's in common; instructions are
//! `x86`'s or `arm`'s.

pub(crate) mod arm;
mod constants;
pub(crate) mod emit;
pub(crate) mod emitter;
mod regalloc;
pub(crate) mod x86;
