//! SPIR-V: walking, and what is built on it.

pub mod block;
pub mod transform;
mod walk;

pub use walk::{Instruction, Instructions, instructions};

/// First word of a module in the reader's byte order.
pub const MAGIC: u32 = 0x0723_0203;

/// Words in a module's header: magic, version, generator, id bound, schema.
pub const HEADER_WORDS: usize = 5;
