//! The Mali-400 (Utgard) GPU in software.
//!
//! The instruction sets stand in the crate `utgard`, the arithmetic in `num`; [`memory`] is the GPU's address space
//! and [`texture`] what programs sample out of it; [`exec`] is the engines that run programs, [`gpu`] the jobs around
//! them, [`driver`] a driver of our own for MBS pairs, [`dump`] jobs in words. A job that goes wrong ends with a
//! [`fault`].

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod driver;
pub mod dump;
pub mod exec;
pub mod fault;
pub mod gpu;
pub mod memory;
pub mod simd;
pub mod texture;
