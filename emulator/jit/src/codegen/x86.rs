//! Machine code of x86: AVX-512 and AVX2.

mod asm;
mod select;
#[cfg(test)]
mod tests;

pub(crate) use asm::Asm;
