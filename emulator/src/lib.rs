//! The Mali-400 (Utgard) GPU in software.
//!
//! So far the encoding of its vertex processor's instructions: [`isa::gp`].

pub mod isa;
pub mod num;
pub mod random;
