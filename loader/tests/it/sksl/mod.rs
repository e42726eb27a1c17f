//! SkSL binaries: format and rules.

mod corpus;
mod corruption;
mod entries;
mod random_program;
mod rules;
#[path = "../../../../tests/it/sksl/samples.rs"]
#[allow(dead_code)] // other tests use the rest
mod samples;
