//! Tokens of a script with their places. Both languages are read line by line: a token ends at white space, `#` begins a
//! comment, a backslash at the end of a line joins the next one.

use crate::error::{Error, Place, Result};
use crate::types::Value;

/// A word of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    pub place: Place,
}

/// A reader of a script's text.
#[derive(Clone)]
pub(crate) struct Text<'a> {
    rest: &'a str,
    place: Place,
    /// Characters that separate tokens as white space does.
    separators: &'static [char],
}

impl<'a> Text<'a> {
    pub(crate) fn new(text: &'a str, separators: &'static [char]) -> Self {
        Self {
            rest: text,
            place: Place { line: 1, column: 1 },
            separators,
        }
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Whether what is unread begins so.
    pub(crate) fn begins(&self, with: &str) -> bool {
        self.rest.starts_with(with)
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        for character in taken.chars() {
            if character == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    /// Moves past white space, separators, comments and joined lines, up to a token or the line's end.
    fn skip(&mut self) {
        loop {
            let separators = self.separators;
            let blank = |c: char| c != '\n' && (c.is_whitespace() || separators.contains(&c));
            let blanks = self.rest.len() - self.rest.trim_start_matches(blank).len();
            self.advance(blanks);
            if self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.advance(end);
            } else if let Some(after) = self.rest.strip_prefix('\\') {
                let spaces = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
                if !after[spaces..].starts_with('\n') {
                    return;
                }
                self.advance(1 + spaces + 1);
            } else {
                return;
            }
        }
    }

    /// The next token of this line.
    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
        self.skip();
        let place = self.place;
        if self.rest.is_empty() || self.rest.starts_with('\n') {
            return None;
        }
        if let Some(inner) = self.rest.strip_prefix('"')
            && let Some(end) = inner.find(['"', '\n'])
            && inner[end..].starts_with('"')
        {
            self.advance(end + 2);
            let text = &inner[..end];
            return Some(Token { text, place });
        }
        let separators = self.separators;
        let ends = |c: char| c.is_whitespace() || c == '#' || separators.contains(&c);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        // A lone backslash within a line is a token, so that it is reported and not skipped.
        let text = self.advance(end);
        Some(Token { text, place })
    }

    /// The next token of this line, left where it is.
    pub(crate) fn peek(&self) -> Option<Token<'a>> {
        self.clone().next()
    }

    /// The next token, on this line or a later one.
    pub(crate) fn next_across(&mut self) -> Option<Token<'a>> {
        loop {
            if let Some(token) = self.next() {
                return Some(token);
            }
            if self.rest.is_empty() {
                return None;
            }
            self.advance(1);
        }
    }

    /// The next token on this line or a later one, left where it is.
    pub(crate) fn peek_across(&self) -> Option<Token<'a>> {
        self.clone().next_across()
    }

    /// The next token of this line, or an error that says what was expected.
    pub(crate) fn expect(&mut self, what: &str) -> Result<Token<'a>> {
        self.skip();
        let place = self.place;
        self.next()
            .ok_or_else(|| Error::invalid(place, format!("expected {what}, found the end of the line")))
    }

    /// Takes a keyword where it is next.
    pub(crate) fn take(&mut self, keyword: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.text == keyword);
        if found {
            self.next();
        }
        found
    }

    /// A keyword that has to be there.
    pub(crate) fn keyword(&mut self, keyword: &str) -> Result<()> {
        let token = self.expect(keyword)?;
        if token.text == keyword {
            return Ok(());
        }
        Err(token.wrong(keyword))
    }

    /// Ends a line; nothing more may stand on it.
    pub(crate) fn end_line(&mut self) -> Result<()> {
        match self.next() {
            Some(token) => Err(token.wrong("the end of the line")),
            None => Ok(()),
        }
    }

    /// A name.
    pub(crate) fn name(&mut self, what: &str) -> Result<String> {
        Ok(self.expect(what)?.text.to_owned())
    }

    /// A number without a sign.
    pub(crate) fn unsigned<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T> {
        let token = self.expect(what)?;
        token.unsigned(what)
    }

    /// A number with a fraction.
    pub(crate) fn float(&mut self, what: &str) -> Result<f64> {
        let token = self.expect(what)?;
        let value = token.value(what)?.as_f64();
        // What is no number equals nothing, itself included.
        if value.is_nan() {
            return Err(token.wrong(what));
        }
        Ok(value)
    }

    /// The rest of this line and whole lines up to one that `is_end` knows, which stays; as they are.
    pub(crate) fn lines_until(&mut self, is_end: impl Fn(&str) -> bool) -> Result<&'a str> {
        let start = self.place;
        let all = self.rest;
        let mut at = 0;
        while at < all.len() {
            let end = all[at..].find('\n').map_or(all.len(), |end| at + end);
            if is_end(all[at..end].trim_end_matches('\r')) {
                return Ok(self.advance(at));
            }
            at = (end + 1).min(all.len());
        }
        Err(Error::invalid(start, "expected END, found the end of the file"))
    }

    /// As [`Text::lines_until`], where the end of the file is an end, too.
    pub(crate) fn lines_until_or_all(&mut self, is_end: impl Fn(&str) -> bool) -> &'a str {
        match self.lines_until(is_end) {
            Ok(lines) => lines,
            Err(_) => self.advance(self.rest.len()),
        }
    }

    /// Goes to the next line.
    pub(crate) fn next_line(&mut self) {
        let end = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
        self.advance(end);
    }
}

impl Token<'_> {
    /// The error that something else was expected here.
    pub(crate) fn wrong(&self, expected: &str) -> Error {
        let found = shortened(self.text);
        Error::invalid(self.place, format!("expected {expected}, found {found}"))
    }

    /// The number it is.
    pub(crate) fn value(&self, what: &str) -> Result<Value> {
        Value::parse(self.text).ok_or_else(|| self.wrong(what))
    }

    /// The number without a sign that it is.
    pub(crate) fn unsigned<T: TryFrom<u64>>(&self, what: &str) -> Result<T> {
        let number = match Value::parse(self.text) {
            Some(Value::Int(number)) => u64::try_from(number).ok().and_then(|number| T::try_from(number).ok()),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(what))
    }
}

/// A token as a message shows it.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
