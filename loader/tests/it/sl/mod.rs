//! Swanson SL libraries.

mod corpus;
mod random;
mod rules;
mod text;
