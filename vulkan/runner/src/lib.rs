//! Runs shader sources and scenes on every engine: Vulkan devices, and the emulated Mali-400.
//!
//! [`link`] makes a VBC of sources, [`compile`] and [`mali::Pair`] make Mali-400 programs of the same files. [`mali`] draws a
//! pair on the emulator, [`lifted`] on a Vulkan device, and [`engines`] compares the pictures of all engines. [`compute`] runs
//! compute shaders, [`script`] has compilers and engines for test scripts, [`mod@replay`] runs recorded jobs, and [`amber`]
//! writes a draw as a script.
//!
//! ```
//! # use emulator as skrymir_emulator;
//! # use scene as skrymir_scene;
//! use skrymir_emulator::exec::scalar::Scalar;
//! use skrymir_scene::Scene;
//! use skrymir_runner::link::File;
//! use skrymir_runner::mali::{self, Pair};
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = "@vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
//!     return vec4f(f32(i % 2) * 4.0 - 1.0, f32(i / 2) * 4.0 - 1.0, 0.0, 1.0);
//! }
//! @fragment fn paint() -> @location(0) vec4f { return vec4f(0.0, 1.0, 0.0, 1.0); }";
//! let pair = Pair::new(&File::new(Path::new("green.wgsl"), source.as_bytes()), None)?;
//! let picture = mali::draw(&pair, &Scene::default(), Box::new(Scalar), 1)?;
//! assert_eq!(picture.at(128, 128), [0, 255, 0, 255]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod amber;
pub mod compile;
pub mod compute;
mod declarations;
pub mod engines;
mod error;
pub mod external_compilers;
pub mod lifted;
pub mod link;
pub mod mali;
pub mod recorded_draw;
pub mod replay;
pub mod script;

pub use error::{Error, ErrorKind, Result};
