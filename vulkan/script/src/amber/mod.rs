//! AmberScript: model, reader, printer.

mod model;
mod parse;
mod pipeline;
mod print;

pub use model::*;
pub use parse::parse;
