//! SPIR-V: text and rules.

mod group;
mod instances;
mod machine;
mod meaning;
mod mutants;
mod passes;
mod summary;
mod text;
mod types;
mod verdicts;
