//! The numbers of the Mali-400 in one place: fp16 and fp32 rules, and the transcendental units, shared by every engine.

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod half;
pub mod lanes;
pub mod math;
