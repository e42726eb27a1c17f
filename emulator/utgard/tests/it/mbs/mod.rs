//! MBS files as text.

mod corpus;
mod robustness;
