//! SkSL binaries: translation, pictures.

mod cli;
mod corruption;
mod eval;
mod math;
mod pictures;
#[path = "../../../loader/tests/it/sksl/random_program.rs"]
mod random_program;
pub(crate) mod samples;
mod translate;
mod value;
