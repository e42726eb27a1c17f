//! SPIR-V: text and rules.

mod instances;
mod mutants;
mod passes;
mod summary;
mod text;
mod verdicts;
