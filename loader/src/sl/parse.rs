//! S₀ text to [`Library`].

use super::{Block, Branch, Builder, FORMAT, Invocation, Library, Location, Module, Name, Names, Statement, quote};
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// Parses S₀ text; `file` is the name that locations get where the text has none in comments.
///
/// Errors name line and column (from one) and carry the byte offset in the text.
pub fn parse(text: &str, file: &str) -> Result<Library<'static>> {
    let mut parser = Parser {
        text: text.as_bytes(),
        at: 0,
        line: 0,
        line_start: 0,
        version: 4,
        note: None,
        table: Vec::new(),
        builder: Builder::new(4),
        file,
    };
    parser.skip()?;
    // The table comes first, as it was: a constant twice keeps both its places.
    if !parser.table.is_empty() {
        parser.builder = Builder::with_table(&parser.table);
    }
    while parser.at < parser.text.len() {
        let module = parser.module()?;
        parser.builder.module(module);
    }
    let mut library = parser.builder.finish();
    library.version = parser.version;
    Ok(library)
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

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
    line_start: usize,
    version: u32,
    /// Numbers of the last `/*@…*/`.
    note: Option<Vec<u64>>,
    table: Vec<Vec<u8>>,
    builder: Builder,
    file: &'a str,
}

impl Parser<'_> {
    fn error(&self, message: impl std::fmt::Display) -> Error {
        let (line, column) = (self.line + 1, self.at - self.line_start + 1);
        Error::invalid(
            FORMAT,
            format!("line {line}, column {column}: {message}"),
            self.at as u64,
        )
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
                self.at += 2;
                while !self.text[self.at..].starts_with(b"*/") {
                    if self.peek().is_none() {
                        return Err(self.error("a comment never ends"));
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
        if self.text[self.at..].starts_with(b"version ") {
            self.at += 8;
            self.version = match self.digits()? {
                3 => 3,
                4 => 4,
                other => return Err(self.error(format!("version {other} (3 and 4 are known)"))),
            };
        } else if self.text[self.at..].starts_with(b"constant ") {
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
            self.note = Some(numbers);
        }
        if !self.text[self.at..].starts_with(b"*/") {
            return Err(self.error("expected */"));
        }
        self.at += 2;
        Ok(())
    }

    fn digits(&mut self) -> Result<u64> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        text.parse().map_err(|_| self.error("expected a number"))
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
        Err(self.error(format!("expected {what}")))
    }

    fn bare(&self) -> usize {
        let is = |b: &&u8| b.is_ascii_alphanumeric() || b"_.@$".contains(b);
        self.text[self.at..].iter().take_while(is).count()
    }

    fn keyword(&mut self, word: &str) -> Result<()> {
        self.skip()?;
        if &self.text[self.at..self.at + self.bare()] != word.as_bytes() {
            return Err(self.error(format!("expected {word}")));
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
                    return Err(self.error("expected a name"));
                }
                self.at += length;
                Ok(self.text[self.at - length..self.at].to_vec())
            }
        }
    }

    fn quoted(&mut self) -> Result<Vec<u8>> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a quote"));
        }
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let byte = self.peek().ok_or_else(|| self.error("a quoted name never ends"))?;
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
            _ => return Err(self.error("unknown escape")),
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
            _ => Err(self.error("expected two hexadecimal digits")),
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

    /// The constant and location of what stands from `start` to here, or what the comment behind it says.
    fn noted(&mut self, bytes: &[u8], start: [u64; 2]) -> Result<(u32, Option<Location>)> {
        let end = self.position();
        self.note = None;
        self.skip()?;
        let Some(note) = self.note.take() else {
            let content = self.builder.constant(bytes)?;
            let file = self.builder.constant(self.file.as_bytes())?;
            return Ok((content, Some(Location { file, start, end })));
        };
        let content = note.first().copied().unwrap_or(u64::MAX);
        let same = usize::try_from(content)
            .ok()
            .and_then(|at| self.table.get(at))
            .is_some_and(|old| old == bytes);
        // A name edited beside its comment is a new name at the old place.
        let content = if same {
            content as u32
        } else {
            self.builder.constant(bytes)?
        };
        let location = note.get(1..).filter(|rest| !rest.is_empty());
        Ok((content, location.map(|rest| self.located(rest)).transpose()?))
    }

    fn located(&self, numbers: &[u64]) -> Result<Location> {
        match *numbers {
            [file, a, b, c, d] if (file as usize) < self.table.len() => Ok(Location {
                file: file as u32,
                start: [a, b],
                end: [c, d],
            }),
            _ => Err(self.error("a location wants the index of a constant and four numbers")),
        }
    }

    fn name(&mut self) -> Result<Name> {
        self.skip()?;
        let start = self.position();
        let bytes = self.token()?;
        self.name_of(&bytes, start)
    }

    fn name_of(&mut self, bytes: &[u8], start: [u64; 2]) -> Result<Name> {
        let (content, location) = self.noted(bytes, start)?;
        let location = location.ok_or_else(|| self.error("a name's comment wants six numbers"))?;
        Ok(Name { content, location })
    }

    fn glob(&mut self, start: [u64; 2]) -> Result<Location> {
        let end = self.position();
        self.note = None;
        self.skip()?;
        match self.note.take() {
            Some(note) => self.located(&note),
            None => {
                let file = self.builder.constant(self.file.as_bytes())?;
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
            self.punct(",")?;
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
        self.resolve(&mut blocks, targets)?;
        self.skip()?;
        Ok(Module { name, blocks })
    }

    /// Puts block numbers where the text had names.
    fn resolve(&self, blocks: &mut [Block], targets: Vec<Target>) -> Result<()> {
        let library = &self.builder.library;
        let mut known: HashMap<&[u8], (u32, bool)> = HashMap::new();
        for (index, block) in blocks.iter().enumerate() {
            let bytes = library.bytes(block.name.content);
            known
                .entry(bytes)
                .and_modify(|row| row.1 = true)
                .or_insert((index as u32, false));
        }
        let count = blocks.len() as u64;
        let mut targets = targets.into_iter();
        for block in blocks.iter_mut() {
            for statement in block.branches.iter_mut().flat_map(|branch| &mut branch.statements) {
                let Statement::Closure { block, .. } = statement else {
                    continue;
                };
                let Some((place, target)) = targets.next() else {
                    continue;
                };
                *block = match target {
                    Ok(index) if index < count => index as u32,
                    Ok(index) => return Err(place.lacks(format!("block #{index}: the module has {count}"))),
                    Err(name) => match known.get(&name[..]) {
                        Some((index, false)) => *index,
                        Some(_) => {
                            return Err(place.lacks(format!("two blocks are named {}; use #index", quote(&name))));
                        }
                        None => return Err(place.lacks(format!("no block is named {}", quote(&name)))),
                    },
                };
            }
        }
        Ok(())
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

    /// A name left out: the empty one, of no width.
    fn empty_name(&mut self, at: [u64; 2]) -> Result<Name> {
        let (content, file) = (
            self.builder.constant(b"")?,
            self.builder.constant(self.file.as_bytes())?,
        );
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
                let start = self.position();
                let bytes = self.token()?;
                let (content, location) = self.noted(&bytes, start)?;
                // Version 3 literals have no location of their own unless a comment gives one.
                let kept = self.version >= 4 || !self.table.is_empty();
                Ok(Statement::Literal {
                    dest,
                    content,
                    location: location.filter(|_| kept),
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
                self.punct("->")?;
                self.skip()?;
                let place = self.error("");
                let target = if self.try_punct("#")? {
                    Ok(self.digits()?)
                } else {
                    Err(self.token()?)
                };
                targets.push((Place(place), target));
                Ok(Statement::Closure {
                    dest,
                    block: 0,
                    close_over,
                })
            }
            _ => Err(self.error("expected literal, rename or closure")),
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

/// Where a closure names its block, and the number or the name.
type Target = (Place, Result<u64, Vec<u8>>);

struct Place(Error);

impl Place {
    fn lacks(&self, message: String) -> Error {
        let at = self.0.offset().unwrap_or_default();
        Error::invalid(FORMAT, format!("{}{message}", self.0.message()), at)
    }
}
