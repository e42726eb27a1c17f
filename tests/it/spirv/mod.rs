//! SPIR-V: text, rules, verdicts.

mod bounds;
mod check;
mod judges;
mod module_text;
mod modules;
