//! The Mali-400 as tables: one row per field and per operation of both instruction sets, of command streams, frames,
//! render states, texture descriptors and tile lists. Decoding, encoding, printing, parsing, checks and random programs
//! are generated from the rows. Nothing is executed here.
//!
//! ```
//! use skrymir_utgard::pp::{self, Instruction};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A fragment program, from text to words and back.
//! let words = pp::assemble("load.v $1 0\nmul.v0 $0 $1 $1, stop\n")?;
//! let first = Instruction::decode(&words)?;
//! assert!(first.varying.is_some() && first.vec_mul.is_none());
//! let text = pp::disassemble(&words, pp::Options::default());
//! assert!(text.contains("load.v $1 0"), "{text}");
//! assert_eq!(pp::assemble(&text)?, words);
//!
//! // It ends, and reads only what is defined; an error in a text has its place.
//! assert!(pp::flow::verify(&words, None).is_empty());
//! let wrong = pp::assemble("load.v $1 0\nmull.v0 $0 $1 $1").unwrap_err();
//! assert_eq!((wrong.line, wrong.column), (2, 1));
//! # Ok(())
//! # }
//! ```

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod debug;
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
