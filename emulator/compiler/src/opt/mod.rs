//! Makes programs shorter before anything is scheduled.

pub mod fold;
mod passes;

pub use passes::{dead, optimise, optimise_lowered};
