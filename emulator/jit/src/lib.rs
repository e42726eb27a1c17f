//! A just-in-time compiler for formulas over lanes of floats.
//!
//! A [`graph::Graph`] has values and effects; formulas that are generic in [`num::lanes::Lanes`] are recorded into one by running
//! them with the [`tracer::Tracer`]. [`Variants`] compiles a graph for the processor's instruction set ([`Isa`]), in a variant
//! for each kind of call: few lanes or many, all or some of them, whole tiles. A [`Call`] has the memory that the code works on.
//! Every lane gets the bits that the formula gives on [one lane](num::lanes::One).
//!
//! ```
//! # use num as skrymir_num;
//! use skrymir_num::lanes::Lanes;
//! use skrymir_num::rows::{LANES, Row};
//! use skrymir_jit::graph::{Effect, Graph, Node, RowTypes};
//! use skrymir_jit::tracer::{Tracer, record};
//! use skrymir_jit::{Call, Isa, Variants};
//!
//! fn formula<L: Lanes>(x: L::V, uniform: L::V) -> L::V {
//!     L::sqrt(L::add(L::mul(x, x), uniform))
//! }
//!
//! // None where there is no code for this processor.
//! let Some(isa) = Isa::best() else { return };
//! let mut graph = Graph::new(isa, RowTypes::default());
//! let [x, uniform] = [Node::Row(0), Node::Uniform(0)].map(|node| graph.node(node));
//! let value = record(&mut graph, || formula::<Tracer>(x, uniform));
//! graph.effects.push(Effect::Store(1, value));
//! let variants = Variants::new(graph, isa).expect("memory for code");
//!
//! let mut rows = [Row::splat(4.0), Row::splat(0.0)];
//! rows[0][5] = 0.0;
//! assert!(variants.run(Call { lanes: LANES, uniforms: &[9.0], ..Call::of_rows(&mut rows) }));
//! assert_eq!(rows[1][4..7], [5.0, 3.0, 5.0]);
//! ```
//!
//! Inside, each stage only uses those before it: `analysis` finds ranges, uniformity and the schedule of a graph, `codegen`
//! allocates registers and writes instructions, `runtime` makes code executable and calls it, which is all that is `unsafe`.

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

mod analysis;
mod call;
mod codegen;
pub mod graph;
mod isa;
mod runtime;
#[cfg(test)]
mod tests;
pub mod tracer;

pub use call::{Block, Call, MAX_TEXTURES, TILE_LANES, TILE_ROWS, TILES, Texels, UNIFORMS};
pub use isa::Isa;
pub use runtime::variants::Variants;
