//! Writes a [`Library`] with the shortest varints.

use super::{Branch, FORMAT, Library, Location, MAGIC, Name, Names, Statement, put_varint};
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// Writes a library; the result equals the file that was read if its varints were the shortest.
pub fn write(library: &Library<'_>) -> Result<Vec<u8>> {
    if !matches!(library.version, 3 | 4) {
        return Err(Error::unsupported(
            FORMAT,
            format!("version {} (3 and 4 are known)", library.version),
        ));
    }
    let mut out = MAGIC.to_vec();
    out.extend(library.version.to_be_bytes());
    put_varint(&mut out, library.constants.len() as u64)?;
    for constant in &library.constants {
        put_varint(&mut out, constant.len() as u64)?;
        out.extend_from_slice(constant);
    }
    put_varint(&mut out, library.modules.len() as u64)?;
    for module in &library.modules {
        name(&mut out, &module.name)?;
        put_varint(&mut out, module.blocks.len() as u64)?;
        for block in &module.blocks {
            name(&mut out, &block.name)?;
            names(&mut out, &block.containing)?;
            put_varint(&mut out, block.branches.len() as u64)?;
            for one in &block.branches {
                branch(&mut out, one, library.version)?;
            }
        }
    }
    Ok(out)
}

/// The same library with each constant once, in order of first use, and no unused constant.
pub fn canonical(library: &Library<'_>) -> Library<'static> {
    let mut table = Table {
        library,
        constants: Vec::new(),
        known: HashMap::new(),
    };
    let mut modules = library.modules.clone();
    for module in &mut modules {
        table.name(&mut module.name);
        for block in &mut module.blocks {
            table.name(&mut block.name);
            table.names(&mut block.containing);
            for branch in &mut block.branches {
                table.branch(branch);
            }
        }
    }
    Library {
        version: library.version,
        constants: table.constants.into_iter().map(Cow::Owned).collect(),
        modules,
    }
}

struct Table<'a> {
    library: &'a Library<'a>,
    constants: Vec<Vec<u8>>,
    known: HashMap<&'a [u8], u32>,
}

impl Table<'_> {
    fn constant(&mut self, index: &mut u32) {
        let bytes = self.library.bytes(*index);
        *index = *self.known.entry(bytes).or_insert_with(|| {
            self.constants.push(bytes.to_vec());
            self.constants.len() as u32 - 1
        });
    }

    fn name(&mut self, name: &mut Name) {
        self.constant(&mut name.content);
        self.constant(&mut name.location.file);
    }

    fn names(&mut self, names: &mut Names) {
        names.names.iter_mut().for_each(|name| self.name(name));
        if let Some(glob) = &mut names.glob {
            self.constant(&mut glob.file);
        }
    }

    fn branch(&mut self, branch: &mut Branch) {
        self.name(&mut branch.name);
        self.names(&mut branch.receiving);
        for statement in &mut branch.statements {
            match statement {
                Statement::Closure { dest, close_over, .. } => {
                    self.name(dest);
                    self.names(close_over);
                }
                Statement::Literal {
                    dest,
                    content,
                    location,
                } => {
                    self.name(dest);
                    self.constant(content);
                    if let Some(location) = location {
                        self.constant(&mut location.file);
                    }
                }
                Statement::Rename { dest, source } => {
                    self.name(dest);
                    self.name(source);
                }
            }
        }
        self.name(&mut branch.invocation.target);
        self.name(&mut branch.invocation.branch);
        self.names(&mut branch.invocation.inputs);
    }
}

fn location(out: &mut Vec<u8>, location: &Location) -> Result<()> {
    put_varint(out, location.file.into())?;
    for number in [location.start, location.end].concat() {
        put_varint(out, number)?;
    }
    Ok(())
}

fn name(out: &mut Vec<u8>, name: &Name) -> Result<()> {
    put_varint(out, name.content.into())?;
    location(out, &name.location)
}

fn names(out: &mut Vec<u8>, names: &Names) -> Result<()> {
    put_varint(out, names.names.len() as u64)?;
    for one in &names.names {
        name(out, one)?;
    }
    match &names.glob {
        Some(glob) => {
            out.push(b'*');
            location(out, glob)
        }
        None => {
            out.push(b' ');
            Ok(())
        }
    }
}

fn branch(out: &mut Vec<u8>, branch: &Branch, version: u32) -> Result<()> {
    name(out, &branch.name)?;
    names(out, &branch.receiving)?;
    for one in &branch.statements {
        statement(out, one, version)?;
    }
    out.push(b'I');
    name(out, &branch.invocation.target)?;
    name(out, &branch.invocation.branch)?;
    names(out, &branch.invocation.inputs)
}

fn statement(out: &mut Vec<u8>, statement: &Statement, version: u32) -> Result<()> {
    match statement {
        Statement::Closure {
            dest,
            block,
            close_over,
        } => {
            out.push(b'C');
            name(out, dest)?;
            put_varint(out, (*block).into())?;
            names(out, close_over)
        }
        Statement::Literal {
            dest,
            content,
            location: place,
        } => {
            out.push(b'L');
            name(out, dest)?;
            put_varint(out, (*content).into())?;
            match place {
                // A location in a version 3 file is written back as well.
                Some(place) => location(out, place),
                None if version >= 4 => Err(Error::unsupported(FORMAT, "version 4 requires a literal's location")),
                None => Ok(()),
            }
        }
        Statement::Rename { dest, source } => {
            out.push(b'R');
            name(out, dest)?;
            name(out, source)
        }
    }
}
