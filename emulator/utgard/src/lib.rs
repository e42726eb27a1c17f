//! Instruction sets as tables: one row per field and per operation; decoding, encoding, printing, parsing, checks and
//! random programs follow from the rows.

pub mod field;
pub mod flow;
pub mod gp;
pub mod pp;
pub mod shader;
pub mod stats;
pub mod text;
pub mod vector;
