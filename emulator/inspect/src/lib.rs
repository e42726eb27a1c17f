//! Inspection of recorded frames: HTML reports, comparison of recordings, and a debug adapter, based on the emulator's
//! observed engine.
//!
//! This crate depends on recordings ([`emulator`]) and the hardware description ([`utgard`]); files, arguments and
//! sources are handled by the command line.
//!
//! A recording's report, and the first difference to another recording:
//!
//! ```
//! # use emulator as skrymir_emulator;
//! # use loader as skrymir_loader;
//! use skrymir_emulator::driver::{self, Draw};
//! use skrymir_emulator::exec::scalar::Scalar;
//! use skrymir_emulator::gpu::Gpu;
//! use skrymir_loader::mbs::Stage;
//! use skrymir_loader::trace::{Pipe, Record, Trace};
//! use skrymir_inspect::{diff, report};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let vertex = utgard::shader::assemble(
//! #     ".vertex\n.attribute vec4 position\n.varying vec4 gl_Position\n
//! #      mov.a0 v0.x a0.x, mov.a1 v0.y a0.y, mov.m0 v0.z a0.z, mov.m1 v0.w a0.w\n",
//! # )?;
//! # let fragment = utgard::shader::assemble(".fragment\n.uniform vec4 color\nload.u 0, mov.v1 $0 ^uniform, stop\n")?;
//! # let vertex = vertex.program(Stage::Vertex)?.expect("a vertex program");
//! # let fragment = fragment.program(Stage::Fragment)?.expect("a fragment program");
//! # let record = |red: f32| -> Result<Vec<u8>, Box<dyn std::error::Error>> {
//! #     let mut draw = Draw::new(&vertex, &fragment, [16, 16]);
//! #     let corners = vec![[0.0, 0.0, 0.0, 1.0], [64.0, 0.0, 0.0, 1.0], [0.0, 64.0, 0.0, 1.0]];
//! #     draw.attributes = vec![("position".to_owned(), corners)];
//! #     draw.uniforms = vec![("color".to_owned(), vec![red, 0.0, 0.0, 1.0])];
//! #     let mut gpu = Gpu::new(Box::new(Scalar));
//! #     let prepared = driver::prepare(&mut gpu, &draw)?;
//! #     let (gp, pp) = prepared.frames();
//! #     let objects: Vec<_> = gpu.memory.objects().map(|(at, bytes)| (at, bytes.into_owned())).collect();
//! #     let mut records = Vec::new();
//! #     for (address, bytes) in &objects {
//! #         records.push((0, Record::Buffer { address: *address, size: bytes.len() as u32, flags: 0 }));
//! #         records.push((0, Record::Page { address: *address, bytes }));
//! #     }
//! #     let used: Vec<_> = objects.iter().map(|(address, _)| (*address, 3)).collect();
//! #     for (pipe, frame) in [(Pipe::Gp, gp), (Pipe::Pp, pp)] {
//! #         records.push((0, Record::Submit { pipe, frame: frame.to_vec(), objects: used.clone() }));
//! #     }
//! #     Ok(Trace { gpu: 1, pps: 1, records }.write())
//! # };
//! // Two recordings of a red triangle, one of them darker:
//! let (bright, dark) = (record(1.0)?, record(0.5)?);
//! let (bright, dark) = (Trace::read(&bright)?, Trace::read(&dark)?);
//!
//! let options = report::Options { name: "bright.trace", pixels: &[[3, 4]] };
//! let collected = report::collect(&bright, &options)?;
//! assert_eq!(collected.jobs.len(), 2);
//! let page = report::page(&collected, false);
//! assert!(page.contains("bright.trace"));
//!
//! let parts = diff::diff(&bright, &dark, || Box::new(Scalar))?;
//! assert!(!parts.same());
//! let pixel = parts.pixel.expect("a pixel that is not the same");
//! assert_eq!(pixel.values.map(|color| color[0]), [255, 128]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod dap;
pub mod diff;
pub mod error;
pub mod history;
pub mod recorded;
pub mod report;
#[cfg(not(target_family = "wasm"))]
pub mod serve;
pub mod shrink;
pub mod trim;
#[cfg(not(target_family = "wasm"))]
pub mod view;
pub mod watched;

pub use error::{Error, ErrorKind, Result};
