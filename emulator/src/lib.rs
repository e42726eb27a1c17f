//! The Mali-400 (Utgard) GPU in software.
//!
//! The instruction sets stand in the crate `utgard`, the arithmetic in `num`; [`memory`] is the GPU's address space
//! and [`texture`] what programs sample out of it; [`exec`] is the engines that run programs, [`gpu`] the jobs around
//! them, [`driver`] a driver of our own for MBS pairs, [`dump`] jobs in words. A job that goes wrong ends with a
//! [`fault`].
//!
//! A vertex program, run over three vertices, and what it handed on:
//!
//! ```
//! # use loader as skrymir_loader;
//! # use utgard as skrymir_utgard;
//! use skrymir_loader::mbs::Stage;
//! use skrymir_emulator::driver::{self, Draw};
//! use skrymir_emulator::exec::wide::Wide;
//! use skrymir_emulator::gpu::Gpu;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vertex = skrymir_utgard::shader::assemble(
//!     ".vertex
//!      .attribute vec4 position
//!      .attribute vec4 color
//!      .varying vec4 gl_Position
//!      .varying vec4 tint
//!      mov.a0 v0.x a0.x, mov.a1 v0.y a0.y, mov.m0 v0.z a0.z, mov.m1 v0.w a0.w
//!      mul.m0 v1.x a1.x a1.x, mul.m1 v1.y a1.y a1.y
//!      mul.m0 v1.z a1.z a1.z, mul.m1 v1.w a1.w a1.w",
//! )?;
//! let fragment = skrymir_utgard::shader::assemble(".fragment\n.varying vec4 tint\n load.v $0 0, stop\n")?;
//! let vertex = vertex.program(Stage::Vertex)?.expect("a vertex program");
//! let fragment = fragment.program(Stage::Fragment)?.expect("a fragment program");
//!
//! let mut draw = Draw::new(&vertex, &fragment, [64, 64]);
//! draw.attributes = vec![
//!     ("position".to_owned(), vec![[0.0, 0.0, 0.0, 1.0], [64.0, 0.0, 0.0, 1.0], [0.0, 64.0, 0.0, 1.0]]),
//!     ("color".to_owned(), vec![[1.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 1.0], [0.0, 0.0, -3.0, 1.0]]),
//! ];
//! let mut gpu = Gpu::new(Box::<Wide>::default());
//! let prepared = driver::prepare(&mut gpu, &draw)?;
//! prepared.run_vertices(&mut gpu)?;
//! assert_eq!(prepared.position(&gpu, 1)?, [64.0, 0.0, 0.0, 1.0]);
//! assert_eq!(prepared.varying(&gpu, 1, 0, 4)?, [0.0, 0.25, 0.0, 1.0]);
//! assert_eq!(prepared.varying(&gpu, 2, 0, 4)?, [0.0, 0.0, 9.0, 1.0]);
//! # Ok(())
//! # }
//! ```

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod blend;
pub mod cancellation;
pub mod driver;
pub mod dump;
pub mod exec;
pub mod fault;
mod fragment_ops;
pub mod gpu;
pub mod memory;
pub mod recorder;
pub mod silicon;
pub mod simd;
pub mod texture;
pub mod thread_pool;
mod work_queue;
