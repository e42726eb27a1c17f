//! Swanson SL libraries, versions 3 and 4: modules of S₀ code over a table of binary constants.
//!
//! The layout follows the public description of the format (seed: the SL file format). Where it is silent, the code
//! that decides says so. Nothing here executes S₀.

mod check;
mod model;
mod parse;
mod print;
mod read;
mod summary;
mod targets;
mod varint;
mod write;

pub use check::{RULES, check, free_names, validate};
pub use model::*;
pub use parse::{parse, parse_in};
pub use print::{PrintOptions, print, print_with, quote};
pub use read::{Notes, Options, read, read_with};
pub use summary::{Summary, summary};
pub use varint::{MAX_VARINT, put_varint, varint};
pub use write::{canonical, write};

/// Short name of the format in errors.
pub const FORMAT: &str = "sl";
/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"SLIB";
