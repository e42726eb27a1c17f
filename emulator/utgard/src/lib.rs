//! The Mali-400 as tables: one row per field and per operation of both instruction sets, of command streams, frames,
//! render states, texture descriptors and tile lists. Decoding, encoding, printing, parsing, checks and random programs
//! follow from the rows. Nothing is executed here.

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod field;
pub mod flow;
pub mod frame;
pub mod gp;
pub mod pp;
pub mod shader;
pub mod state;
pub mod stats;
pub mod stream;
mod symbols;
pub mod text;
pub mod texture;
pub mod vector;
pub mod words;
