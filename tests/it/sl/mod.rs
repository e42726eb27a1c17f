//! Swanson SL libraries and their execution.

mod corpus;
mod memory;
mod random;
mod rules;
mod run;
mod text;
