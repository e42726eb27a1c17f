//! Looking into recorded frames: what the emulator's observed engine and its jobs tell, made into
//! pages to read, traces to compare and a program to step through.
//!
//! The room knows recordings ([`emulator`]) and the hardware's description ([`utgard`]); files,
//! arguments and sources stay with the command line.
#![forbid(unsafe_code)]

pub mod dap;
pub mod diff;
pub mod error;
pub mod history;
pub mod recorded;
pub mod report;
pub mod serve;
pub mod shrink;
pub mod trim;
pub mod watched;

pub use error::{Error, ErrorKind, Result};
