//! SPIR-V: text and rules.

mod instances;
mod text;
mod verdicts;
