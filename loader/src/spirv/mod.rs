//! SPIR-V: grammar, walking, printing, assembling, validation and transformations.

pub mod asm;
pub mod block;
mod check;
pub mod dis;
mod environment;
pub mod grammar;
mod half;
mod ids;
mod index;
mod known;
pub mod layout;
mod names;
mod number;
pub mod operand;
mod specialize;
pub mod spirv_val;
mod split;
mod summary;
pub mod transform;
mod walk;
pub mod work;

pub use check::{validate, validate_for};
pub use environment::{Api, TargetEnv};
pub use grammar::Grammar;
pub use half::half_steps;
pub use index::{Image, Located, ModuleIndex, Node};
pub use known::{capability, class, decoration, dim, image_format, mode, model, op};
pub use specialize::specialize;
pub use split::split_samplers;
pub use summary::{EntryPoint, Resource, SpecConstant, Summary, Variable, summary};
pub use transform::{for_wgsl, split_interface, with_signs};
pub use walk::{Bytes, Instruction, InstructionIn, Instructions, Source, Words, instructions, to_words};

/// The format's name in errors.
pub const FORMAT: &str = "spirv";

/// First word of a module in the reader's byte order.
pub const MAGIC: u32 = 0x0723_0203;

/// Words in a module's header: magic, version, generator, id bound, schema.
pub const HEADER_WORDS: usize = 5;

/// The words of a module, from bytes of either byte order.
///
/// # Errors
/// Invalid if the bytes are not whole words or lack the magic number.
pub fn read(bytes: &[u8]) -> crate::Result<Vec<u32>> {
    to_words(bytes)
}

/// The bytes of a module, little-endian.
///
/// # Errors
/// Invalid if the module has no header.
pub fn write(words: &[u32]) -> crate::Result<Vec<u8>> {
    if words.len() < HEADER_WORDS {
        let message = format!("{} words are no module: its header has {HEADER_WORDS}", words.len());
        return Err(crate::Error::new(crate::ErrorKind::Invalid, FORMAT, message));
    }
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// Prints a module as text that [`parse`] reads; [`dis`] has options.
///
/// # Errors
/// Invalid if the module has no header.
pub fn print(words: &[u32]) -> crate::Result<String> {
    dis::disassemble(Grammar::builtin(), words, dis::Options::default())
}

/// Assembles a module from text; [`asm`] has options.
///
/// # Errors
/// The error with line and column.
pub fn parse(text: &str) -> Result<Vec<u32>, asm::Error> {
    asm::assemble(Grammar::builtin(), text, asm::Options::default())
}

/// Reads and validates with the built-in grammar; a read error becomes the only finding.
pub fn check(bytes: &[u8]) -> crate::Report {
    match read(bytes) {
        Ok(words) => validate(&words),
        Err(error) => (&error).into(),
    }
}

/// Whether bytes begin with the magic number, in either byte order.
pub fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes())
}
