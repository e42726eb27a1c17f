//! Instruction sets as tables: one row per field; decoding, encoding and checks follow from the rows.

pub mod gp;
