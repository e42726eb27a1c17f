//! SkSL binaries: format, rules, translation, pictures.

mod cli;
pub(crate) mod corpus;
mod corruption;
mod eval;
mod math;
mod pictures;
mod random_program;
pub(crate) mod samples;
mod translate;
mod value;
