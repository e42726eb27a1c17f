//! Machine code of 64-bit ARM: NEON.

mod asm;
mod select;
#[cfg(test)]
mod tests;

pub(crate) use asm::Asm;
