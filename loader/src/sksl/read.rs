//! Reads bytes into a [`Tree`].

mod code;

use super::enums::*;
use super::trace::{Silent, Trace};
use super::tree::*;
use super::{FORMAT, MAX_DEPTH, VERSION};
use crate::cursor::Cursor;
use crate::{Error, Result};

/// Reads a program or a module of version 11; no bytes may remain.
///
/// # Errors
/// Unsupported for other versions and for nesting deeper than [`MAX_DEPTH`]; otherwise Invalid with an offset.
pub fn read(bytes: &[u8]) -> Result<Tree> {
    read_traced(bytes, &mut Silent)
}

/// Like [`read`], and reports every node and field to `trace`.
///
/// # Errors
/// See [`read`].
pub fn read_traced(bytes: &[u8], trace: &mut impl Trace) -> Result<Tree> {
    let (tree, size) = read_start(bytes, trace)?;
    match bytes.len() - size {
        0 => Ok(tree),
        left => Err(Error::invalid(
            FORMAT,
            format!("{left} bytes after the end"),
            size as u64,
        )),
    }
}

/// Reads the program at the start of `bytes`; returns it with its size.
///
/// # Errors
/// See [`read`].
pub fn read_prefix(bytes: &[u8]) -> Result<(Tree, usize)> {
    read_start(bytes, &mut Silent)
}

fn read_start(bytes: &[u8], trace: &mut impl Trace) -> Result<(Tree, usize)> {
    let mut cursor = Cursor::new(FORMAT, bytes);
    let version = cursor.u16("version")?;
    if version != VERSION {
        let message = format!("version {version} (only {VERSION} is known in full)");
        return Err(Error::unsupported(FORMAT, message).at(0));
    }
    trace.field("version", 0, 2, u64::from(version));
    let (strings, starts) = strings(&mut cursor, trace)?;
    let n = cursor.remaining();
    let reader = Reader {
        cursor,
        trace,
        strings,
        starts,
        ids: Vec::with_capacity(n / 16),
        scratch: Vec::with_capacity(64),
        depth: 0,
        symbols: Arena::with_capacity(n / 24),
        tables: Arena::with_capacity(8),
        cases: Arena::default(),
        elements: Arena::with_capacity(n / 64),
        statements: Arena::with_capacity(n / 24),
        expressions: Arena::with_capacity(n / 6),
        pool: Vec::with_capacity(n / 5),
    };
    reader.file()
}

/// The string block: the strings, and for each byte offset as references count it (from the length field on) the index
/// of the string that starts there, plus one.
fn strings(cursor: &mut Cursor, trace: &mut impl Trace) -> Result<(Strings, Vec<u16>)> {
    let length = cursor.u16("length of the strings")?;
    trace.field("stringLength", 2, 2, u64::from(length));
    let block = cursor.take(usize::from(length), "strings")?;
    let mut starts = vec![0u16; block.len() + 2];
    let mut strings = Strings {
        text: String::with_capacity(block.len()),
        ranges: Vec::with_capacity(block.len() / 6),
    };
    // The whole block is usually ASCII, lengths included, so one check is enough.
    let plain = if block.is_ascii() {
        std::str::from_utf8(block).ok()
    } else {
        None
    };
    let mut at = 0;
    while at < block.len() {
        let end = at + 1 + usize::from(block[at]);
        let offset = 4 + at as u64;
        let bytes = block
            .get(at + 1..end)
            .ok_or_else(|| Error::invalid(FORMAT, "string runs past the end of the strings", offset))?;
        let text = match plain {
            Some(plain) => &plain[at + 1..end],
            None => std::str::from_utf8(bytes)
                .map_err(|error| Error::invalid(FORMAT, "string is not UTF-8", offset).caused_by(error))?,
        };
        trace.string(offset as u32, text);
        let start = strings.text.len() as u32;
        strings.text += text;
        strings.ranges.push((start, strings.text.len() as u32));
        starts[at + 2] = strings.ranges.len() as u16;
        at = end;
    }
    Ok((strings, starts))
}

#[cold]
fn undefined(id: u16, at: u32, name: &str) -> Error {
    let message = format!("{name}: id {id} is not defined before it is used");
    Error::invalid(FORMAT, message, u64::from(at))
}

struct Reader<'a, 't, T> {
    cursor: Cursor<'a>,
    trace: &'t mut T,
    strings: Strings,
    starts: Vec<u16>,
    /// By id; [`Ref::NONE`] for unused ids.
    ids: Vec<Ref>,
    scratch: Vec<u32>,
    depth: u32,
    symbols: Arena<Symbol>,
    tables: Arena<SymbolTable>,
    cases: Arena<Case>,
    elements: Arena<Element>,
    statements: Arena<Statement>,
    expressions: Arena<Expression>,
    pool: Vec<u32>,
}

impl<T: Trace> Reader<'_, '_, T> {
    /// The rest of the file, and the size of all of it.
    fn file(mut self) -> Result<(Tree, usize)> {
        let first = Command(self.peek("first command")?);
        let (header, table, top) = match first {
            Command::PROGRAM => {
                let offset = self.here();
                self.command("Program", offset)?;
                let kind = ProgramKind(self.u8("kind")?);
                let version = LanguageVersion(self.u8("version")?);
                if !kind.is_known() || !version.is_known() {
                    let what = format!("program kind {kind} or language version {version} does not exist");
                    return Err(Error::invalid(FORMAT, what, u64::from(offset)));
                }
                let table = self.outer_table()?;
                let top = self.top()?;
                let use_flip_rt_uniform = self.bool("useFlipRTUniform")?;
                self.trace.leave();
                (
                    Header::Program {
                        kind,
                        version,
                        use_flip_rt_uniform,
                    },
                    table,
                    top,
                )
            }
            Command::SYMBOL_TABLE => {
                let table = self.outer_table()?;
                (Header::Module, table, self.top()?)
            }
            other => {
                return Err(self
                    .cursor
                    .error(format!("file begins with command {other}, not Program or SymbolTable")));
            }
        };
        let size = self.cursor.offset() as usize;
        let tree = Tree {
            header,
            strings: self.strings,
            symbols: self.symbols,
            tables: self.tables,
            cases: self.cases,
            elements: self.elements,
            statements: self.statements,
            expressions: self.expressions,
            pool: self.pool,
            table,
            top,
        };
        Ok((tree, size))
    }

    fn here(&self) -> u32 {
        self.cursor.offset() as u32
    }

    fn peek(&self, what: &str) -> Result<u8> {
        self.cursor.clone().u8(what)
    }

    /// Reads the command byte (unless the caller has consumed it) and opens a node in the trace.
    fn command(&mut self, name: &'static str, offset: u32) -> Result<()> {
        let command = self.cursor.u8("command")?;
        self.trace.enter(name, offset);
        self.trace.field("command", offset, 1, u64::from(command));
        Ok(())
    }

    /// Opens a node by its command byte.
    fn open(&mut self) -> Result<(Command, u32)> {
        let offset = self.here();
        let command = Command(self.cursor.u8("command")?);
        if T::LOUD {
            self.trace.enter(command.name().unwrap_or("?"), offset);
            self.trace.field("command", offset, 1, u64::from(command.0));
        }
        Ok((command, offset))
    }

    fn wrong(&self, command: Command, offset: u32, wanted: &str) -> Error {
        Error::invalid(
            FORMAT,
            format!("command {command} where {wanted} is expected"),
            u64::from(offset),
        )
    }

    fn u8(&mut self, name: &'static str) -> Result<u8> {
        let offset = self.here();
        let value = self.cursor.u8(name)?;
        self.trace.field(name, offset, 1, u64::from(value));
        Ok(value)
    }

    fn bool(&mut self, name: &'static str) -> Result<bool> {
        let offset = self.here();
        match self.u8(name)? {
            0 => Ok(false),
            1 => Ok(true),
            n => Err(Error::invalid(
                FORMAT,
                format!("{name} is {n}, not 0 or 1"),
                u64::from(offset),
            )),
        }
    }

    /// A one-byte enumerant from a closed set.
    fn known<E: Copy>(&mut self, name: &'static str, make: fn(u8) -> E, is_known: fn(E) -> bool) -> Result<E> {
        let offset = self.here();
        let raw = self.u8(name)?;
        let value = make(raw);
        if is_known(value) {
            return Ok(value);
        }
        Err(Error::invalid(
            FORMAT,
            format!("{name} {raw} does not exist"),
            u64::from(offset),
        ))
    }

    fn u16(&mut self, name: &'static str) -> Result<u16> {
        let offset = self.here();
        let value = self.cursor.u16(name)?;
        self.trace.field(name, offset, 2, u64::from(value));
        Ok(value)
    }

    fn u32(&mut self, name: &'static str) -> Result<u32> {
        let offset = self.here();
        let value = self.cursor.u32(name)?;
        self.trace.field(name, offset, 4, u64::from(value));
        Ok(value)
    }

    fn str(&mut self, name: &'static str) -> Result<Str> {
        let at = self.here();
        let offset = self.cursor.u16(name)?;
        let found = self.starts.get(usize::from(offset)).copied().unwrap_or(0);
        if found == 0 {
            let message = format!("{name}: no string starts at string offset {offset}");
            return Err(Error::invalid(FORMAT, message, u64::from(at)));
        }
        let string = Str(u32::from(found) - 1);
        if T::LOUD {
            self.trace.name(name, at, offset, &self.strings[string]);
        }
        Ok(string)
    }

    /// A symbol id without the builtin escape.
    fn id(&mut self, name: &'static str) -> Result<Ref> {
        let at = self.here();
        let id = self.u16(name)?;
        self.resolve(id, at, name)
    }

    fn resolve(&self, id: u16, at: u32, name: &str) -> Result<Ref> {
        match self.ids.get(usize::from(id)) {
            Some(&found) if found != Ref::NONE => Ok(found),
            _ => Err(undefined(id, at, name)),
        }
    }

    /// A symbol id, or 65535 and the name of a built-in.
    fn id_or_builtin(&mut self, name: &'static str) -> Result<Ref> {
        let at = self.here();
        match self.u16(name)? {
            u16::MAX => Ok(Ref::builtin(self.str("builtin")?)),
            id => self.resolve(id, at, name),
        }
    }

    fn define(&mut self, id: u16, at: u32, symbol: Symbol, offset: u32) -> Result<Ref> {
        let slot = usize::from(id);
        if id == 0 || id == u16::MAX {
            return Err(Error::invalid(
                FORMAT,
                format!("a symbol cannot have id {id}"),
                u64::from(at),
            ));
        }
        if slot >= self.ids.len() {
            self.ids.resize(slot + 1, Ref::NONE);
        }
        if self.ids[slot] != Ref::NONE {
            return Err(Error::invalid(
                FORMAT,
                format!("id {id} is defined twice"),
                u64::from(at),
            ));
        }
        let made = Ref::symbol(self.symbols.add(symbol, offset));
        self.ids[slot] = made;
        Ok(made)
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let message = format!("nodes nested deeper than {MAX_DEPTH}");
        Error::unsupported(FORMAT, message).at(self.cursor.offset())
    }

    /// Reads `count` items into a list. Every item takes bytes, so a large count cannot cause a large allocation.
    fn items<W: Word>(&mut self, count: usize, mut item: impl FnMut(&mut Self) -> Result<W>) -> Result<List<W>> {
        let mark = self.scratch.len();
        for _ in 0..count {
            let word = item(self)?.to_word();
            self.scratch.push(word);
        }
        Ok(self.gather(mark))
    }

    fn gather<W: Word>(&mut self, mark: usize) -> List<W> {
        let start = self.pool.len();
        self.pool.extend(self.scratch.drain(mark..));
        List::new(start as u32, (self.pool.len() - start) as u32)
    }

    // Layouts, modifiers, symbols.

    fn layout(&mut self) -> Result<Layout> {
        let (command, offset) = self.open()?;
        let layout = match command {
            Command::DEFAULT_LAYOUT => Layout::DEFAULT,
            Command::BUILTIN_LAYOUT => Layout {
                builtin: self.u16("builtin")? as i16,
                ..Layout::DEFAULT
            },
            Command::LAYOUT => Layout {
                flags: self.u32("flags")?,
                location: self.u8("location")? as i8,
                offset: self.u16("offset")? as i16,
                binding: self.u16("binding")? as i16,
                index: self.u8("index")? as i8,
                set: self.u8("set")? as i8,
                builtin: self.u16("builtin")? as i16,
                input_attachment_index: self.u8("inputAttachmentIndex")? as i8,
            },
            other => return Err(self.wrong(other, offset, "a layout")),
        };
        self.trace.leave();
        Ok(layout)
    }

    fn modifiers(&mut self) -> Result<Modifiers> {
        let (command, offset) = self.open()?;
        let modifiers = match command {
            Command::DEFAULT_MODIFIERS => Modifiers::default(),
            Command::MODIFIERS_8BIT => {
                let layout = self.layout()?;
                Modifiers {
                    layout,
                    flags: u32::from(self.u8("flags")?),
                }
            }
            Command::MODIFIERS => {
                let layout = self.layout()?;
                Modifiers {
                    layout,
                    flags: self.u32("flags")?,
                }
            }
            other => return Err(self.wrong(other, offset, "modifiers")),
        };
        self.trace.leave();
        Ok(modifiers)
    }

    fn symbol(&mut self) -> Result<Ref> {
        self.deeper()?;
        let (command, offset) = self.open()?;
        let made = match command {
            Command::SYMBOL_REF => self.id_or_builtin("id")?,
            Command::FIELD => {
                let owner = self.id("ownerId")?;
                let index = self.u8("index")?;
                Ref::symbol(self.symbols.add(Symbol::Field { owner, index }, offset))
            }
            Command::ARRAY_TYPE
            | Command::STRUCT_TYPE
            | Command::FUNCTION_DECLARATION
            | Command::UNRESOLVED_FUNCTION
            | Command::VARIABLE => {
                let at = self.here();
                let id = self.u16("newId")?;
                let symbol = self.definition(command)?;
                self.define(id, at, symbol, offset)?
            }
            other => return Err(self.wrong(other, offset, "a symbol")),
        };
        self.trace.leave();
        self.depth -= 1;
        Ok(made)
    }

    /// The definition after a new id.
    fn definition(&mut self, command: Command) -> Result<Symbol> {
        Ok(match command {
            Command::ARRAY_TYPE => {
                let component = self.ty()?;
                Symbol::Array {
                    component,
                    count: self.u8("count")? as i8,
                }
            }
            Command::STRUCT_TYPE => {
                let name = self.str("name")?;
                let count = self.u8("fieldCount")?;
                let mut fields = Vec::new();
                for _ in 0..count {
                    let modifiers = self.modifiers()?;
                    let name = self.str("field name")?;
                    fields.push(StructField {
                        modifiers,
                        name,
                        ty: self.ty()?,
                    });
                }
                Symbol::Struct {
                    name,
                    fields,
                    interface_block: self.bool("isInterfaceBlock")?,
                }
            }
            Command::FUNCTION_DECLARATION => {
                let modifiers = self.modifiers()?;
                let name = self.str("name")?;
                let count = usize::from(self.u8("parameterCount")?);
                let parameters = self.items(count, Self::parameter)?;
                Symbol::Function {
                    modifiers,
                    name,
                    parameters,
                    returns: self.ty()?,
                }
            }
            Command::UNRESOLVED_FUNCTION => {
                let count = usize::from(self.u8("count")?);
                Symbol::Overloads {
                    functions: self.items(count, Self::symbol)?,
                }
            }
            _ => {
                let modifiers = self.modifiers()?;
                let name = self.str("name")?;
                let ty = self.ty()?;
                let storage = self.known("storage", Storage, Storage::is_known)?;
                Symbol::Variable {
                    modifiers,
                    name,
                    ty,
                    storage,
                }
            }
        })
    }

    /// A parameter's id; 0 in a built-in overload, whose variables are not in the file.
    fn parameter(&mut self) -> Result<Ref> {
        let at = self.here();
        match self.u16("parameter")? {
            0 => Ok(Ref::NONE),
            id => self.resolve(id, at, "parameter"),
        }
    }

    /// A symbol that must be a type.
    fn ty(&mut self) -> Result<Ref> {
        let offset = self.here();
        let found = self.symbol()?;
        match found.target() {
            Target::Symbol(handle) if !matches!(self.symbols[handle], Symbol::Array { .. } | Symbol::Struct { .. }) => {
                Err(Error::invalid(
                    FORMAT,
                    "a symbol that is not a type where a type must be",
                    u64::from(offset),
                ))
            }
            _ => Ok(found),
        }
    }

    fn outer_table(&mut self) -> Result<Handle<SymbolTable>> {
        let offset = self.here();
        self.table()?
            .ok_or_else(|| self.wrong(Command::VOID, offset, "a symbol table"))
    }

    fn table(&mut self) -> Result<Option<Handle<SymbolTable>>> {
        let (command, offset) = self.open()?;
        let made = match command {
            Command::VOID => None,
            Command::SYMBOL_TABLE => {
                let builtin = self.bool("isBuiltin")?;
                let count = usize::from(self.u16("ownedCount")?);
                let owned = self.items(count, Self::symbol)?;
                let names = usize::from(self.u16("symbolCount")?);
                let names = self.items(names, |s| s.entry(count))?;
                Some(self.tables.add(SymbolTable { builtin, owned, names }, offset))
            }
            other => return Err(self.wrong(other, offset, "a symbol table or Void")),
        };
        self.trace.leave();
        Ok(made)
    }

    fn entry(&mut self, owned: usize) -> Result<Entry> {
        let at = self.here();
        match self.u16("symbol")? {
            u16::MAX => Ok(Entry::Builtin(self.str("builtin")?)),
            index if usize::from(index) < owned => Ok(Entry::Owned(index)),
            index => {
                let message = format!("symbol index {index}, but the table owns {owned}");
                Err(Error::invalid(FORMAT, message, u64::from(at)))
            }
        }
    }

    // Elements.

    fn top(&mut self) -> Result<List<Handle<Element>>> {
        let (command, offset) = self.open()?;
        if command != Command::ELEMENTS {
            return Err(self.wrong(command, offset, "Elements"));
        }
        let mark = self.scratch.len();
        while Command(self.peek("element or ElementsComplete")?) != Command::ELEMENTS_COMPLETE {
            let element = self.element()?;
            self.scratch.push(element.to_word());
        }
        let end = self.here();
        self.command("ElementsComplete", end)?;
        self.trace.leave();
        self.trace.leave();
        Ok(self.gather(mark))
    }

    fn element(&mut self) -> Result<Handle<Element>> {
        self.deeper()?;
        let (command, offset) = self.open()?;
        let element = match command {
            Command::FUNCTION_DEFINITION => {
                let declaration = self.id("declaration")?;
                Element::Function {
                    declaration,
                    body: self.statement()?,
                }
            }
            Command::FUNCTION_PROTOTYPE => Element::Prototype {
                declaration: self.id("declaration")?,
            },
            Command::GLOBAL_VAR => {
                let at = self.here();
                let declaration = self.statement()?;
                if !matches!(self.statements[declaration], Statement::Variable { .. }) {
                    let message = "a global that is not a variable declaration";
                    return Err(Error::invalid(FORMAT, message, u64::from(at)));
                }
                Element::Global { declaration }
            }
            Command::INTERFACE_BLOCK => Element::InterfaceBlock {
                variable: self.symbol()?,
                type_name: self.str("typeName")?,
                instance_name: self.str("instanceName")?,
                array_size: self.u8("arraySize")?,
            },
            Command::STRUCT_DEFINITION => Element::Struct { ty: self.ty()? },
            Command::SHARED_FUNCTION => {
                let count = usize::from(self.u8("parameterCount")?);
                let parameters = self.items(count, Self::symbol)?;
                let declaration = self.symbol()?;
                Element::Shared {
                    parameters,
                    declaration,
                    definition: self.element()?,
                }
            }
            other => return Err(self.wrong(other, offset, "an element")),
        };
        self.trace.leave();
        self.depth -= 1;
        Ok(self.elements.add(element, offset))
    }

    // Statements.
}
