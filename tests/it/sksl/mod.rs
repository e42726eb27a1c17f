//! SkSL binaries: format, rules, translation, pictures.

mod cli;
pub mod corpus;
mod corruption;
mod eval;
mod math;
mod pictures;
mod random_program;
pub mod samples;
mod translate;
mod value;
