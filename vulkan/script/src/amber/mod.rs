//! AmberScript: model, reader, printer.

mod model;
mod parse;
mod phrases;
mod pipeline;
mod print;

pub use model::*;
pub use parse::parse;
