//! The MBS container.

mod corpus;
mod robustness;
mod rules;
