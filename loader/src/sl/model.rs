//! The contents of an SL file as stored: names are indices into the table of constants.

use super::FORMAT;
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// A library: the file's version, its constants in the file's order, and its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library<'a> {
    /// 3 or 4.
    pub version: u32,
    /// The binary constants, borrowed from the file.
    pub constants: Vec<Cow<'a, [u8]>>,
    /// The modules.
    pub modules: Vec<Module>,
}

/// A source range; lines and columns count from zero, the end is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    /// Index of the constant that names the source file.
    pub file: u32,
    /// First line and column.
    pub start: [u64; 2],
    /// Line and column after the last character.
    pub end: [u64; 2],
}

/// A name: bytes in the table, and where it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Name {
    /// Index of the constant with the name's bytes.
    pub content: u32,
    /// Where it was written.
    pub location: Location,
}

/// Names and, with a glob, the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The listed names.
    pub names: Vec<Name>,
    /// Where the glob was written, if there is one.
    pub glob: Option<Location>,
}

/// An S₀ module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The module's name.
    pub name: Name,
    /// Blocks; the first is the loader.
    pub blocks: Vec<Block>,
}

/// A block: what its closures contain, and its branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The block's name.
    pub name: Name,
    /// The names that a closure of this block holds.
    pub containing: Names,
    /// The branches.
    pub branches: Vec<Branch>,
}

/// A branch: what it receives and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The branch's name, often empty.
    pub name: Name,
    /// The names that an invocation passes.
    pub receiving: Names,
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// The invocation at its end.
    pub invocation: Invocation,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `dest = closure containing (…) -> block`.
    Closure {
        /// The name it defines.
        dest: Name,
        /// Index of a block of the same module.
        block: u32,
        /// The names that move into the closure.
        close_over: Names,
    },
    /// `dest = literal content`.
    Literal {
        /// The name it defines.
        dest: Name,
        /// Index of the constant with the bytes.
        content: u32,
        /// Where the literal was written; present in version 4, absent in version 3.
        location: Option<Location>,
    },
    /// `dest = rename source`.
    Rename {
        /// The name it defines.
        dest: Name,
        /// The name it consumes.
        source: Name,
    },
}

/// `-> target branch (inputs)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The name of the invoked closure.
    pub target: Name,
    /// The branch's name.
    pub branch: Name,
    /// The names that are passed.
    pub inputs: Names,
}

impl Library<'_> {
    /// The bytes of a constant; empty for an index out of range, which the reader rejects.
    pub fn bytes(&self, constant: u32) -> &[u8] {
        self.constants.get(constant as usize).map_or(&[], |bytes| bytes)
    }

    /// A constant as text, with invalid UTF-8 replaced.
    pub fn text(&self, constant: u32) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(constant))
    }

    /// `file:line:column` of a location, counted from one.
    pub fn place(&self, location: &Location) -> String {
        let [line, column] = location.start.map(|n| n.saturating_add(1));
        format!("{}:{line}:{column}", self.text(location.file))
    }

    /// The index of the module with this name.
    pub fn module(&self, name: &[u8]) -> Option<usize> {
        self.modules
            .iter()
            .position(|module| self.bytes(module.name.content) == name)
    }
}

impl Library<'_> {
    /// The locations of all literals.
    pub(super) fn literal_locations(&mut self) -> impl Iterator<Item = &mut Option<Location>> {
        let blocks = self.modules.iter_mut().flat_map(|module| &mut module.blocks);
        let branches = blocks.flat_map(|block| &mut block.branches);
        let statements = branches.flat_map(|branch| &mut branch.statements);
        statements.filter_map(|statement| match statement {
            Statement::Literal { location, .. } => Some(location),
            _ => None,
        })
    }
}

/// Builds a library: interns constants.
#[derive(Clone, Debug)]
pub struct Builder {
    pub(super) library: Library<'static>,
    pub(super) known: HashMap<Vec<u8>, u32>,
}

impl Builder {
    /// An empty library of version 3 or 4.
    pub fn new(version: u32) -> Self {
        let library = Library {
            version,
            constants: Vec::new(),
            modules: Vec::new(),
        };
        Self {
            library,
            known: HashMap::new(),
        }
    }

    /// The index of a constant, which is added if it is new.
    pub fn constant(&mut self, bytes: &[u8]) -> Result<u32> {
        if let Some(&index) = self.known.get(bytes) {
            return Ok(index);
        }
        let index = u32::try_from(self.library.constants.len())
            .map_err(|_| Error::unsupported(FORMAT, "more than 2^32 constants"))?;
        self.library.constants.push(Cow::Owned(bytes.to_vec()));
        self.known.insert(bytes.to_vec(), index);
        Ok(index)
    }

    /// A name without a source location: its file is the empty constant.
    pub fn name(&mut self, bytes: &[u8]) -> Result<Name> {
        let (content, file) = (self.constant(bytes)?, self.constant(b"")?);
        let location = Location {
            file,
            ..Location::default()
        };
        Ok(Name { content, location })
    }

    /// Adds a module.
    pub fn module(&mut self, module: Module) {
        self.library.modules.push(module);
    }

    /// The library.
    pub fn finish(self) -> Library<'static> {
        self.library
    }
}
