//! Parses S₀ text into a [`Library`].

use super::targets::{Result, Target, Targets};
use super::{Block, Branch, Builder, Invocation, Library, Location, Module, Name, Names, Statement, canonical};
use crate::SourceError;
use std::borrow::Cow;
use std::ops::Range;

/// Parses S₀ text; [`parse_in`] names its file.
///
/// # Errors
/// As [`parse_in`].
pub fn parse(text: &str) -> Result<Library<'static>> {
    parse_in(text, "")
}

/// Parses S₀ text; `file` is the file name of locations that no comment gives.
///
/// The grammar is the author's of 2020 with the inputs of 2022 (docs/spec/swanson-sl.md, section 5), plus extensions:
/// `branch NAME receiving (…) {…}` for blocks of several branches, `*` for globs, comments. Names are bare, quoted, or
/// hexadecimal bytes in brackets.
///
/// # Errors
/// The first place where the text breaks the grammar or names an undefined block.
pub fn parse_in(text: &str, file: &str) -> Result<Library<'static>> {
    let mut parser = Parser {
        source: text,
        text: text.as_bytes(),
        at: 0,
        line: 0,
        line_start: 0,
        version: 4,
        note: None,
        head: true,
        located_literals: false,
        table: Vec::new(),
        builder: Builder::new(4),
        file,
    };
    parser.skip()?;
    parser.head = false;
    // The original table comes first and keeps both copies of a duplicate constant.
    if !parser.table.is_empty() {
        parser.builder = Builder::with_table(&parser.table);
    }
    while parser.at < parser.text.len() {
        let module = parser.module()?;
        parser.builder.module(module);
    }
    let mut library = parser.builder.finish();
    library.version = parser.version;
    // Version 3's literals have no location, unless comments give one.
    if library.version == 3 && !parser.located_literals {
        library.literal_locations().for_each(|location| *location = None);
    }
    // Text without a table may produce unreferenced constants, such as names of merged blocks.
    Ok(match parser.table.is_empty() {
        true => canonical(&library),
        false => library,
    })
}

impl Builder {
    fn with_table(table: &[Vec<u8>]) -> Self {
        let mut builder = Self::new(4);
        for (index, bytes) in table.iter().enumerate() {
            builder.library.constants.push(Cow::Owned(bytes.clone()));
            builder.known.entry(bytes.clone()).or_insert(index as u32);
        }
        builder
    }
}

/// Numbers of a comment `/*@…*/`, and its place.
struct Note {
    span: Range<usize>,
    numbers: Vec<u64>,
}

/// A name or literal with the location of its comment, if any.
struct Noted {
    content: u32,
    location: Option<Location>,
    /// The location is the comment's.
    has_location: bool,
}

struct Parser<'a> {
    source: &'a str,
    text: &'a [u8],
    at: usize,
    line: u64,
    line_start: usize,
    version: u32,
    /// The last `/*@…*/` with numbers.
    note: Option<Note>,
    /// Only comments so far: the version and the table of constants are allowed only here.
    head: bool,
    /// Some literal's comment gives its location.
    located_literals: bool,
    table: Vec<Vec<u8>>,
    builder: Builder,
    file: &'a str,
}

impl Parser<'_> {
    /// An error at the next token.
    fn error(&self, message: impl Into<String>) -> SourceError {
        self.error_at(self.at..self.at + self.bare().max(1), message)
    }

    fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> SourceError {
        SourceError::new(self.source, span, message)
    }

    /// The next token, for messages.
    fn found(&self) -> String {
        match self.source.get(self.at..).map(|rest| rest.chars().next()) {
            Some(Some(first)) => match self.bare() {
                0 => format!("{first:?}"),
                length => self.source[self.at..self.at + length].to_owned(),
            },
            Some(None) => "the end".to_owned(),
            None => "half a character".to_owned(),
        }
    }

    fn expected(&self, what: &str) -> SourceError {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    fn constant(&mut self, bytes: &[u8]) -> Result<u32> {
        let constant = self.builder.constant(bytes);
        constant.map_err(|error| self.error(error.message()))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn position(&self) -> [u64; 2] {
        [self.line, (self.at - self.line_start) as u64]
    }

    fn step(&mut self) {
        if self.peek() == Some(b'\n') {
            self.line += 1;
            self.line_start = self.at + 1;
        }
        self.at += 1;
    }

    /// White space and comments.
    fn skip(&mut self) -> Result<()> {
        loop {
            let rest = &self.text[self.at..];
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                self.step();
            } else if rest.starts_with(b"//") {
                while self.peek().is_some_and(|b| b != b'\n') {
                    self.step();
                }
            } else if rest.starts_with(b"/*@") {
                self.at += 3;
                self.directive()?;
            } else if rest.starts_with(b"/*") {
                let start = self.at;
                self.at += 2;
                while !self.text[self.at..].starts_with(b"*/") {
                    if self.peek().is_none() {
                        return Err(self.error_at(start..start + 2, "a comment never ends"));
                    }
                    self.step();
                }
                self.at += 2;
            } else {
                return Ok(());
            }
        }
    }

    fn blanks(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn directive(&mut self) -> Result<()> {
        let start = self.at;
        let rest = &self.text[start..];
        let (version, constant) = (rest.starts_with(b"version "), rest.starts_with(b"constant "));
        if (version || constant) && !self.head {
            let message = "the version and the constants come before the first module";
            return Err(self.error(message));
        }
        if version {
            self.at += 8;
            let number = self.at;
            self.version = match self.digits()? {
                3 => 3,
                4 => 4,
                other => {
                    return Err(self.error_at(number..self.at, format!("version {other} (3 and 4 are known)")));
                }
            };
        } else if constant {
            self.at += 9;
            let bytes = self.quoted()?;
            self.table.push(bytes);
        } else {
            let mut numbers = Vec::new();
            while self.peek() != Some(b'*') {
                if numbers.len() == 6 {
                    return Err(self.error("a location has at most six numbers"));
                }
                numbers.push(self.digits()?);
                self.blanks();
            }
            self.note = Some(Note {
                span: start - 3..self.at + 2,
                numbers,
            });
        }
        if !self.text[self.at..].starts_with(b"*/") {
            return Err(self.expected("`*/`"));
        }
        self.at += 2;
        Ok(())
    }

    fn digits(&mut self) -> Result<u64> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        let end = self.at;
        match self.source[start..end].parse() {
            Ok(number) => Ok(number),
            Err(_) if start == end => Err(self.expected("a number")),
            Err(_) => Err(self.error_at(start..end, "a number of more than 64 bits")),
        }
    }

    fn try_punct(&mut self, what: &str) -> Result<bool> {
        self.skip()?;
        let found = self.text[self.at..].starts_with(what.as_bytes());
        if found {
            self.at += what.len();
        }
        Ok(found)
    }

    fn punct(&mut self, what: &str) -> Result<()> {
        if self.try_punct(what)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{what}`")))
    }

    fn bare(&self) -> usize {
        let is = |b: &&u8| b.is_ascii_alphanumeric() || b"_.@$".contains(b);
        self.text[self.at..].iter().take_while(is).count()
    }

    fn keyword(&mut self, word: &str) -> Result<()> {
        self.skip()?;
        if &self.text[self.at..self.at + self.bare()] != word.as_bytes() {
            return Err(self.expected(&format!("`{word}`")));
        }
        self.at += word.len();
        Ok(())
    }

    /// The bytes of a bare or quoted name, or of a literal.
    fn token(&mut self) -> Result<Vec<u8>> {
        self.skip()?;
        match self.peek() {
            Some(b'"') => self.quoted(),
            Some(b'[') => self.hex(),
            _ => {
                let length = self.bare();
                if length == 0 {
                    return Err(self.expected("a name"));
                }
                self.at += length;
                Ok(self.text[self.at - length..self.at].to_vec())
            }
        }
    }

    fn quoted(&mut self) -> Result<Vec<u8>> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a quote"));
        }
        let start = self.at;
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.error_at(start..start + 1, "a quoted name never ends"));
            };
            self.step();
            match byte {
                b'"' => return Ok(out),
                b'\\' => out.push(self.escape()?),
                _ => out.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<u8> {
        let byte = self.peek();
        let plain = match byte {
            Some(b'\\' | b'"') => byte.unwrap_or_default(),
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'f') => 0x0c,
            Some(b'v') => 0x0b,
            Some(b'x') => {
                self.at += 1;
                return self.hex_byte();
            }
            _ => {
                let message = "unknown escape: there are \\\\ \\\" \\n \\r \\t \\f \\v and \\xHH";
                return Err(self.error_at(self.at - 1..self.at + 1, message));
            }
        };
        self.at += 1;
        Ok(plain)
    }

    fn hex_byte(&mut self) -> Result<u8> {
        let digit = |at: usize| self.text.get(at).and_then(|&b| char::from(b).to_digit(16));
        match (digit(self.at), digit(self.at + 1)) {
            (Some(high), Some(low)) => {
                self.at += 2;
                Ok((high * 16 + low) as u8)
            }
            _ => Err(self.expected("two hexadecimal digits")),
        }
    }

    fn hex(&mut self) -> Result<Vec<u8>> {
        self.at += 1;
        let mut out = Vec::new();
        while !self.try_punct("]")? {
            out.push(self.hex_byte()?);
        }
        Ok(out)
    }

    /// The constant and location of the token from `start` to here, or those in the comment after it.
    fn noted(&mut self, bytes: &[u8], start: [u64; 2]) -> Result<Noted> {
        let end = self.position();
        self.note = None;
        self.skip()?;
        let Some(note) = self.note.take() else {
            let content = self.constant(bytes)?;
            let file = self.constant(self.file.as_bytes())?;
            return Ok(Noted {
                content,
                location: Some(Location { file, start, end }),
                has_location: false,
            });
        };
        let content = note.numbers.first().copied().unwrap_or(u64::MAX);
        let same = usize::try_from(content)
            .ok()
            .and_then(|at| self.table.get(at))
            .is_some_and(|old| old == bytes);
        // A name that was edited beside its comment is a new name at the old location.
        let content = if same { content as u32 } else { self.constant(bytes)? };
        let has_location = note.numbers.len() > 1;
        let location = has_location.then(|| self.located(&note, 1)).transpose()?;
        Ok(Noted {
            content,
            location,
            has_location,
        })
    }

    /// The location in a comment, from its number `from` on.
    fn located(&self, note: &Note, from: usize) -> Result<Location> {
        match *note.numbers.get(from..).unwrap_or_default() {
            [file, a, b, c, d] if (file as usize) < self.table.len() => Ok(Location {
                file: file as u32,
                start: [a, b],
                end: [c, d],
            }),
            _ => {
                let message = "a location is the index of a constant and four numbers";
                Err(self.error_at(note.span.clone(), message))
            }
        }
    }

    fn name(&mut self) -> Result<Name> {
        self.skip()?;
        let (at, start) = (self.at, self.position());
        let bytes = self.token()?;
        let end = self.at;
        let Noted { content, location, .. } = self.noted(&bytes, start)?;
        match location {
            Some(location) => Ok(Name { content, location }),
            None => Err(self.error_at(at..end, "a name's comment needs six numbers")),
        }
    }

    fn glob(&mut self, start: [u64; 2]) -> Result<Location> {
        let end = self.position();
        self.note = None;
        self.skip()?;
        match self.note.take() {
            Some(note) => self.located(&note, 0),
            None => {
                let file = self.constant(self.file.as_bytes())?;
                Ok(Location { file, start, end })
            }
        }
    }

    fn names(&mut self) -> Result<Names> {
        self.punct("(")?;
        let mut names = Names::default();
        if self.try_punct(")")? {
            return Ok(names);
        }
        loop {
            self.skip()?;
            let start = self.position();
            if self.try_punct("*")? {
                names.glob = Some(self.glob(start)?);
                self.punct(")")?;
                return Ok(names);
            }
            names.names.push(self.name()?);
            if self.try_punct(")")? {
                return Ok(names);
            }
            if !self.try_punct(",")? {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn module(&mut self) -> Result<Module> {
        self.keyword("module")?;
        let name = self.name()?;
        self.punct("{")?;
        let (mut blocks, mut targets) = (Vec::new(), Vec::new());
        while !self.try_punct("}")? {
            blocks.push(self.block(&mut targets)?);
        }
        let blocks = Targets {
            source: self.source,
            builder: &mut self.builder,
        }
        .resolve(blocks, targets)?;
        self.skip()?;
        Ok(Module { name, blocks })
    }

    fn is_keyword_then(&self, word: &str) -> bool {
        let length = self.bare();
        let after = &self.text[self.at + length..];
        let next = after.iter().find(|b| !b.is_ascii_whitespace());
        &self.text[self.at..self.at + length] == word.as_bytes() && next != Some(&b':') && !after.starts_with(b"/*")
    }

    fn block(&mut self, targets: &mut Vec<Target>) -> Result<Block> {
        let name = self.name()?;
        self.punct(":")?;
        self.keyword("containing")?;
        let containing = self.names()?;
        let mut branches = Vec::new();
        self.skip()?;
        if self.is_keyword_then("receiving") {
            let position = self.position();
            let empty = self.empty_name(position)?;
            branches.push(self.branch(empty, targets)?);
        } else {
            while self.is_keyword_then("branch") {
                self.keyword("branch")?;
                let name = self.name()?;
                branches.push(self.branch(name, targets)?);
                self.skip()?;
            }
        }
        Ok(Block {
            name,
            containing,
            branches,
        })
    }

    /// An omitted name: empty, of zero width.
    fn empty_name(&mut self, at: [u64; 2]) -> Result<Name> {
        let (content, file) = (self.constant(b"")?, self.constant(self.file.as_bytes())?);
        let location = Location {
            file,
            start: at,
            end: at,
        };
        Ok(Name { content, location })
    }

    fn branch(&mut self, name: Name, targets: &mut Vec<Target>) -> Result<Branch> {
        self.keyword("receiving")?;
        let receiving = self.names()?;
        self.punct("{")?;
        let mut statements = Vec::new();
        while !self.try_punct("->")? {
            statements.push(self.statement(targets)?);
            self.punct(";")?;
        }
        let invocation = self.invocation()?;
        self.punct(";")?;
        self.punct("}")?;
        Ok(Branch {
            name,
            receiving,
            statements,
            invocation,
        })
    }

    fn statement(&mut self, targets: &mut Vec<Target>) -> Result<Statement> {
        let dest = self.name()?;
        self.punct("=")?;
        self.skip()?;
        let word = &self.text[self.at..self.at + self.bare()];
        let length = word.len();
        match word {
            b"literal" => {
                self.at += length;
                self.skip()?;
                let (at, start) = (self.at, self.position());
                let bytes = self.token()?;
                let end = self.at;
                let Noted {
                    content,
                    location,
                    has_location,
                } = self.noted(&bytes, start)?;
                self.located_literals |= has_location;
                if self.version >= 4 && location.is_none() {
                    return Err(self.error_at(at..end, "a literal's comment needs six numbers in version 4"));
                }
                Ok(Statement::Literal {
                    dest,
                    content,
                    location,
                })
            }
            b"rename" => {
                self.at += length;
                Ok(Statement::Rename {
                    dest,
                    source: self.name()?,
                })
            }
            b"closure" => {
                self.at += length;
                self.keyword("containing")?;
                let close_over = self.names()?;
                self.skip()?;
                let target = match &self.text[self.at..self.at + self.bare()] {
                    b"branch" => self.branch_list()?,
                    _ => self.target()?,
                };
                targets.push(target);
                Ok(Statement::Closure {
                    dest,
                    block: 0,
                    close_over,
                })
            }
            b"atom" => Err(self.error("SL libraries have no atoms: a host may offer them as a primitive")),
            _ => Err(self.expected("`literal`, `rename` or `closure`")),
        }
    }

    /// `-> block` or `-> #index`.
    fn target(&mut self) -> Result<Target> {
        self.punct("->")?;
        self.skip()?;
        let start = self.at;
        if self.try_punct("#")? {
            let index = self.digits()?;
            return Ok(Target::Index(start..self.at, index));
        }
        let name = self.token()?;
        Ok(Target::Name(start..self.at, name))
    }

    /// `branch NAME = block, …`, the form of 2020: blocks had one body, and a closure listed several.
    fn branch_list(&mut self) -> Result<Target> {
        let start = self.at;
        let mut branches = Vec::new();
        loop {
            self.keyword("branch")?;
            let name = self.name()?;
            self.punct("=")?;
            self.skip()?;
            let at = self.at;
            let block = self.token()?;
            branches.push((name, at..self.at, block));
            if !self.try_punct(",")? {
                return Ok(Target::Branches(start..self.at, branches));
            }
        }
    }

    fn invocation(&mut self) -> Result<Invocation> {
        let target = self.name()?;
        self.skip()?;
        let at = self.position();
        let branch = match self.peek() {
            Some(b'(' | b';') => self.empty_name(at)?,
            _ => self.name()?,
        };
        self.skip()?;
        let inputs = match self.peek() {
            Some(b';') => Names {
                names: Vec::new(),
                glob: Some(self.glob(at)?),
            },
            _ => self.names()?,
        };
        Ok(Invocation { target, branch, inputs })
    }
}
