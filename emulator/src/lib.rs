//! The Mali-400 (Utgard) GPU in software.
//!
//! The instruction sets stand in the crate `utgard`, the arithmetic in `num`; [`exec`] is the engines that run programs,
//! [`gpu`] the memory and jobs around them, [`driver`] a driver of our own for MBS pairs, [`dump`] jobs in words.

pub mod driver;
pub mod dump;
pub mod exec;
pub mod gpu;
pub mod simd;
