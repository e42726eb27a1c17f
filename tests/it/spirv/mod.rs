//! SPIR-V: text, rules, verdicts.

mod bounds;
mod check;
pub(crate) mod module_text;
mod modules;
mod passes;
mod public;
mod samples;
mod translate;
mod validators;
