//! MBS: compiled programs of a Mali-200 or Mali-400, with their symbol tables.
//!
//! The container follows the public description where vendor files do (docs/spec/mbs.md). Vendor files usually hold one
//! stage, have shorter attribute records than described, and contain undocumented chunks (`VIDX`, `VINI`). A [`Mbs`]
//! keeps every byte; a [`Program`] is its decoded form and converts back into chunks.

pub mod chunk;
pub mod layout;
mod program;
mod summary;
mod validate;

pub use program::{CoreVersion, NO_PARENT, Program, Stage, Symbol, SymbolType, UNUSED};
pub use summary::{ProgramSummary, Summary, summary};
pub use validate::{RULES, check, validate};

use crate::{Error, Result};
use chunk::Chunk;

/// Short name of the format in errors.
pub use chunk::FORMAT;

/// The first four bytes of a file.
pub const MAGIC: [u8; 4] = *b"MBS1";

/// Reads a file; the same as [`Mbs::read`].
///
/// # Errors
/// See [`Mbs::read`].
pub fn read(bytes: &[u8]) -> Result<Mbs> {
    Mbs::read(bytes)
}

/// Writes a file; the same as [`Mbs::write`].
///
/// # Errors
/// Unsupported if the file is too large for the format's 32-bit sizes.
pub fn write(mbs: &Mbs) -> Result<Vec<u8>> {
    match u32::try_from(mbs.root.size()) {
        Ok(_) => Ok(mbs.write()),
        Err(_) => Err(Error::unsupported(FORMAT, "a file larger than 4 GiB")),
    }
}

/// A file as a tree of chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbs {
    /// The `MBS1` chunk.
    pub root: Chunk,
    /// Bytes after it.
    pub tail: Vec<u8>,
}

impl Mbs {
    /// Reads a file. Unknown chunks, and bytes that do not form chunks, are kept.
    ///
    /// # Errors
    /// If the file does not begin with an `MBS1` chunk that fits in it.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let (root, tail) = chunk::root(bytes)?;
        Ok(Self { root, tail })
    }

    /// Writes the file. A file that was read and not changed comes back byte for byte.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.root.size() + self.tail.len());
        self.root.write(&mut bytes);
        bytes.extend_from_slice(&self.tail);
        bytes
    }

    /// A file with these programs.
    pub fn of(programs: &[Program]) -> Self {
        Self {
            root: Chunk::node(b"MBS1", &[], programs.iter().map(Program::to_chunk).collect()),
            tail: Vec::new(),
        }
    }

    /// The programs, in file order.
    ///
    /// # Errors
    /// If a program's chunk is too short for its fields.
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
    /// See [`Mbs::programs`].
    pub fn program(&self, stage: Stage) -> Result<Option<Program>> {
        let chunk = self
            .root
            .children()
            .iter()
            .find(|chunk| Stage::of(chunk) == Some(stage));
        chunk.map(Program::from_chunk).transpose()
    }
}
