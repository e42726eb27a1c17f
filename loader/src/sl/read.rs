//! Reads bytes into a [`Library`]. Every count is checked against the remaining bytes before anything is allocated by
//! it.

use super::{Block, Branch, FORMAT, Invocation, Library, Location, MAGIC, Module, Name, Names, Statement, varint};
use crate::cursor::Cursor;
use crate::{Error, Result};
use std::borrow::Cow;

/// Reading options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Reject varints that are not the shortest, and version 3 files whose literals have locations.
    pub strict: bool,
}

/// Irregularities in the file that the model does not record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Number of varints that were not the shortest.
    pub long_varints: u64,
    /// Offset of the first of them.
    pub first_long: Option<u64>,
    /// A version 3 file that can only be read with version 4's literals.
    pub located_literals: bool,
}

/// Reads a library, leniently.
pub fn read(bytes: &[u8]) -> Result<Library<'_>> {
    Ok(read_with(bytes, &Options::default())?.0)
}

/// Reads a library and reports irregularities.
pub fn read_with<'a>(bytes: &'a [u8], options: &Options) -> Result<(Library<'a>, Notes)> {
    let mut cursor = Cursor::new(FORMAT, bytes);
    if cursor.array::<4>("magic")? != MAGIC {
        return Err(Error::invalid(FORMAT, "no SLIB at the start", 0));
    }
    let version = u32::from_be_bytes(cursor.array("version")?);
    if !matches!(version, 3 | 4) {
        return Err(Error::unsupported(FORMAT, format!("version {version} (3 and 4 are known)")).at(4));
    }
    let attempt = |located| {
        let notes = Notes {
            located_literals: located && version == 3,
            ..Notes::default()
        };
        let mut reader = Reader {
            cursor: cursor.clone(),
            strict: options.strict,
            located,
            constants: 0,
            notes,
        };
        let library = reader.library(version)?;
        Ok((library, reader.notes))
    };
    let first = attempt(version == 4);
    // Some files of version 3 have the literals of version 4: try once more, and report the first error if that fails
    // too.
    if first.is_err() && version == 3 && !options.strict {
        return attempt(true).or(first);
    }
    first
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    strict: bool,
    located: bool,
    constants: u64,
    notes: Notes,
}

impl<'a> Reader<'a> {
    fn library(&mut self, version: u32) -> Result<Library<'a>> {
        let count = self.count(1, "binary count")?;
        let mut constants = Vec::new();
        for index in 0..count {
            let constant = self.constant();
            constants.push(constant.map_err(|e| e.within(format!("binary {index}")))?);
        }
        self.constants = constants.len() as u64;
        let count = self.count(7, "module count")?;
        let modules = self.each(count, "module", Self::module)?;
        if !self.cursor.is_empty() {
            let message = format!("{} bytes behind the last module", self.cursor.remaining());
            return Err(self.cursor.error(message));
        }
        Ok(Library {
            version,
            constants,
            modules,
        })
    }

    fn number(&mut self, what: &str) -> Result<u64> {
        let at = self.cursor.offset();
        let (value, shortest) = varint(&mut self.cursor, what)?;
        if !shortest {
            if self.strict {
                return Err(Error::invalid(FORMAT, format!("{what}: varint longer than needed"), at));
            }
            self.notes.long_varints += 1;
            self.notes.first_long.get_or_insert(at);
        }
        Ok(value)
    }

    /// A count of items of at least `size` bytes each.
    fn count(&mut self, size: u64, what: &str) -> Result<usize> {
        let at = self.cursor.offset();
        let count = self.number(what)?;
        let left = self.cursor.remaining() as u64;
        if count > left / size {
            let message = format!("{what} {count}: {left} bytes left cannot hold that");
            return Err(Error::invalid(FORMAT, message, at));
        }
        Ok(count as usize)
    }

    fn each<T>(&mut self, count: usize, what: &str, one: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        for index in 0..count {
            all.push(one(self).map_err(|e| e.within(format!("{what} {index}")))?);
        }
        Ok(all)
    }

    fn constant(&mut self) -> Result<Cow<'a, [u8]>> {
        let length = self.count(1, "length")?;
        Ok(Cow::Borrowed(self.cursor.take(length, "content")?))
    }

    fn index(&mut self, what: &str) -> Result<u32> {
        let at = self.cursor.offset();
        let index = self.number(what)?;
        match u32::try_from(index) {
            Ok(small) if index < self.constants => Ok(small),
            _ => {
                let message = format!("{what} {index}: there are {} binaries", self.constants);
                Err(Error::invalid(FORMAT, message, at))
            }
        }
    }

    fn location(&mut self) -> Result<Location> {
        Ok(Location {
            file: self.index("source file")?,
            start: [self.number("start line")?, self.number("start column")?],
            end: [self.number("end line")?, self.number("end column")?],
        })
    }

    fn name(&mut self) -> Result<Name> {
        Ok(Name {
            content: self.index("name")?,
            location: self.location()?,
        })
    }

    fn names(&mut self) -> Result<Names> {
        let count = self.count(6, "name count")?;
        let names = self.each(count, "name", Self::name)?;
        let at = self.cursor.offset();
        let glob = match self.cursor.u8("glob")? {
            b'*' => Some(self.location()?),
            b' ' => None,
            byte => {
                return Err(Error::invalid(
                    FORMAT,
                    format!("glob: {byte:#04x} is neither * nor space"),
                    at,
                ));
            }
        };
        Ok(Names { names, glob })
    }

    fn module(&mut self) -> Result<Module> {
        let name = self.name()?;
        let count = self.count(9, "block count")?;
        let blocks = self.each(count, "block", |reader| reader.block(count))?;
        Ok(Module { name, blocks })
    }

    fn block(&mut self, blocks: usize) -> Result<Block> {
        let name = self.name()?;
        let containing = self.names().map_err(|e| e.within("containing"))?;
        let count = self.count(23, "branch count")?;
        let branches = self.each(count, "branch", |reader| reader.branch(blocks))?;
        Ok(Block {
            name,
            containing,
            branches,
        })
    }

    fn branch(&mut self, blocks: usize) -> Result<Branch> {
        let name = self.name()?;
        let receiving = self.names().map_err(|e| e.within("receiving"))?;
        let mut statements = Vec::new();
        loop {
            let at = self.cursor.offset();
            let code = self.cursor.u8("statement")?;
            let place = format!("statement {}", statements.len());
            if code == b'I' {
                let invocation = self.invocation().map_err(|e| e.within("invocation"))?;
                return Ok(Branch {
                    name,
                    receiving,
                    statements,
                    invocation,
                });
            }
            let statement = self.statement(code, at, blocks);
            statements.push(statement.map_err(|e| e.within(place))?);
        }
    }

    fn statement(&mut self, code: u8, at: u64, blocks: usize) -> Result<Statement> {
        Ok(match code {
            b'C' => Statement::Closure {
                dest: self.name()?,
                block: self.block_index(blocks)?,
                close_over: self.names()?,
            },
            b'L' => Statement::Literal {
                dest: self.name()?,
                content: self.index("literal")?,
                location: if self.located { Some(self.location()?) } else { None },
            },
            b'R' => Statement::Rename {
                dest: self.name()?,
                source: self.name()?,
            },
            _ => {
                return Err(Error::invalid(
                    FORMAT,
                    format!("code {code:#04x} is none of C L R I"),
                    at,
                ));
            }
        })
    }

    fn block_index(&mut self, blocks: usize) -> Result<u32> {
        let at = self.cursor.offset();
        let block = self.number("block")?;
        match u32::try_from(block) {
            Ok(small) if block < blocks as u64 => Ok(small),
            _ => Err(Error::invalid(
                FORMAT,
                format!("block {block}: the module has {blocks}"),
                at,
            )),
        }
    }

    fn invocation(&mut self) -> Result<Invocation> {
        Ok(Invocation {
            target: self.name()?,
            branch: self.name()?,
            inputs: self.names()?,
        })
    }
}
