//! Readers, writers, printers and validators for every shader format that Skrymir supports. No GPU, no execution.
//!
//! Each format is a module that keeps its definitions apart from reading, writing, printing and validating. Shared
//! types:
//!
//! * [`Error`]: one word wide; names format, place and byte offset, and distinguishes [`ErrorKind::Invalid`] (the file
//!   breaks its format) from [`ErrorKind::Unsupported`] (the file is valid, the loader does not support it).
//! * [`SourceError`]: the same for texts, with the span shown as rustc shows it.
//! * [`Diagnostic`]: one finding of a validator; a [`Report`] is all of them.
//! * [`cursor::Cursor`]: bounds-checked little-endian reading that produces those errors.
//! * [`open_enum!`]: enumerants that come from files are open newtypes; an unknown value is an ordinary value.
//!
//! Files are read into views or models and written back byte for byte. [`vbc`], [`mbs`], [`spirv`], [`sksl`] and [`sl`]
//! export the same functions. The stages of a VBC, validated and printed:
//!
//! ```
//! use skrymir_loader::{spirv, vbc};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let assembled = spirv::parse("OpCapability Shader\nOpMemoryModel Logical GLSL450")?;
//! # let bytes = vbc::write(&vbc::Model { code: [assembled, vec![], vec![], vec![], vec![]], ..vbc::Model::default() })?;
//! let file = vbc::read(&bytes)?;
//! for finding in vbc::validate(&file).diagnostics {
//!     println!("{finding}");
//! }
//! for stage in vbc::Stage::ALL {
//!     if let Some(code) = file.code(stage) {
//!         print!("{}", spirv::print(&code.words())?);
//!     }
//! }
//! assert_eq!(vbc::write(&file.to_model())?, bytes);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod cursor;
pub mod embedded;
mod error;
pub mod mbs;
mod open_enum;
pub mod reflect;
mod report;
pub mod sksl;
pub mod sl;
mod source;
pub mod spirv;
pub mod trace;
pub mod vbc;

pub use error::{Error, ErrorKind, Result};
pub use report::{Diagnostic, Report, Severity};
pub use source::SourceError;
