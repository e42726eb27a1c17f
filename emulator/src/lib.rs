//! The Mali-400 (Utgard) GPU in software.
//!
//! [`isa`] is the instruction sets as tables, [`num`] the arithmetic, [`exec`] the engines that run programs, [`gpu`] the
//! memory and jobs around them, [`driver`] a driver of our own for MBS pairs.

pub mod driver;
pub mod exec;
pub mod gpu;
pub mod isa;
pub mod num;
pub mod random;
