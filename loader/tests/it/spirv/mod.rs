//! SPIR-V: text and rules.

mod instances;
mod mutants;
mod text;
mod verdicts;
