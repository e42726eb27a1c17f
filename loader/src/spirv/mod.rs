//! SPIR-V: grammar, walking, printing, assembling, and what is built on them.

pub mod asm;
pub mod block;
mod check;
pub mod dis;
mod environment;
pub mod grammar;
mod ids;
mod index;
mod known;
mod names;
mod number;
pub mod operand;
mod split;
pub mod transform;
mod walk;

pub use check::{check, check_for};
pub use environment::{Api, TargetEnv};
pub use grammar::Grammar;
pub use index::{Image, Located, ModuleIndex, Node};
pub use known::{capability, class, decoration, dim, image_format, mode, model, op};
pub use split::split_samplers;
pub use walk::{Bytes, Instruction, InstructionIn, Instructions, Source, Words, instructions, to_words};

/// First word of a module in the reader's byte order.
pub const MAGIC: u32 = 0x0723_0203;

/// Words in a module's header: magic, version, generator, id bound, schema.
pub const HEADER_WORDS: usize = 5;

/// Whether bytes begin as a module does, in either byte order.
pub fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes())
}
