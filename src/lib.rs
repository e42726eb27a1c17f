//! Skrymir loads compiled shaders and runs them, with or without the GPU they were made for.
//!
//! This crate is the facade: [`loader`] reads and writes the formats, [`emulator`] is the Mali-400 in software,
//! [`vulkan`] runs VBC on a Vulkan device. The command line tool is built from [`cli`] and [`formats`].

pub mod args;
pub mod cli;
pub mod compile;
pub mod ending;
pub mod engines;
pub mod error;
pub mod formats;
#[cfg(target_os = "linux")]
pub mod gles;
pub mod grammar;
pub mod lifted;
pub mod mali;
pub mod outcome;
pub mod pack;
pub mod picture;
pub mod recorded_draw;
pub mod replay;
pub mod run;
pub mod s0;
pub mod say;

pub use compiler;
pub use emulator;
pub use error::{Error, ErrorKind, Result};
pub use loader;
pub use scene::{self, harness, sample, watch};
#[cfg(target_os = "linux")]
pub use shim;
pub use translate;
pub use vulkan;
