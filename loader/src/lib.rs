//! Bytes to models and back: every shader format Skrymir knows, without a GPU and without running anything.
//!
//! Each format is a module with its definitions apart from reading, writing, printing and validating. What they share:
//!
//! * [`Error`]: one word wide; names format, place and byte offset, and keeps [`ErrorKind::Invalid`] (the file breaks
//!   its format) apart from [`ErrorKind::Unsupported`] (the file is fine, we cannot do it).
//! * [`SourceError`]: the same for texts, with the span shown as rustc shows it.
//! * [`Diagnostic`]: one finding of a validator; a [`Report`] is all of them.
//! * [`cursor::Cursor`]: bounds-checked little-endian reading that produces those errors.
//! * [`open_enum!`]: enumerants that come from files are open newtypes; an unknown value is an ordinary value.
#![forbid(unsafe_code)]

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod cursor;
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
