//! MBS: compiled programs of a Mali-200 or Mali-400, with their symbol tables.
//!
//! The container as it is described publicly, and what vendor-compiled files really hold (docs/spec/mbs.md): files
//! hold one stage as a rule, attributes have shorter records than described, and chunks that are described nowhere
//! (`VIDX`, `VINI`). A [`Mbs`] keeps every byte; a [`Program`] is what is in it as values, and goes back into chunks.

pub mod chunk;
pub mod layout;
mod program;
mod summary;
mod validate;

pub use program::{CoreVersion, NO_PARENT, Program, Stage, Symbol, SymbolType, UNUSED};
pub use summary::{ProgramSummary, Summary, summary};
pub use validate::{RULES, check, validate};

use crate::Result;
use chunk::Chunk;

/// Short name of the format in errors.
pub use chunk::FORMAT;

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"MBS1";

/// Reads a file: [`Mbs::read`].
///
/// # Errors
/// As that.
pub fn read(bytes: &[u8]) -> Result<Mbs> {
    Mbs::read(bytes)
}

/// The bytes of a file: [`Mbs::write`].
pub fn write(mbs: &Mbs) -> Vec<u8> {
    mbs.write()
}

/// A file, as its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbs {
    /// The `MBS1` chunk.
    pub root: Chunk,
    /// Bytes behind it.
    pub tail: Vec<u8>,
}

impl Mbs {
    /// Reads a file. Chunks that are not known, and bytes that are no chunks, are kept.
    ///
    /// # Errors
    /// When the file does not begin with an `MBS1` chunk that lies in it.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let (root, tail) = chunk::root(bytes)?;
        Ok(Self { root, tail })
    }

    /// The file's bytes: those that were read.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.root.size() + self.tail.len());
        self.root.write(&mut bytes);
        bytes.extend_from_slice(&self.tail);
        bytes
    }

    /// A file of programs.
    pub fn of(programs: &[Program]) -> Self {
        Self {
            root: Chunk::node(b"MBS1", &[], programs.iter().map(Program::to_chunk).collect()),
            tail: Vec::new(),
        }
    }

    /// The programs, in the file's order.
    ///
    /// # Errors
    /// When a program's chunks are too short for what they must hold.
    pub fn programs(&self) -> Result<Vec<Program>> {
        let chunks = self.root.children().iter();
        chunks
            .filter(|chunk| Stage::of(chunk).is_some())
            .map(Program::from_chunk)
            .collect()
    }

    /// The first program of a stage.
    ///
    /// # Errors
    /// As [`Mbs::programs`].
    pub fn program(&self, stage: Stage) -> Result<Option<Program>> {
        let chunk = self
            .root
            .children()
            .iter()
            .find(|chunk| Stage::of(chunk) == Some(stage));
        chunk.map(Program::from_chunk).transpose()
    }
}
