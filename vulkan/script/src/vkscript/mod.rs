//! VkScript, which is VkRunner's language: model, reader, printer.

mod model;
mod parse;
mod print;

pub use model::*;
pub use parse::parse;
