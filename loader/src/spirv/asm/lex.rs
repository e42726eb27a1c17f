//! Splits assembly text into tokens.

use std::ops::Range;

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// Whether it is the first on its line.
    pub(super) first: bool,
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// All tokens of a text; `;` begins a comment, and blanks inside quotation marks belong to the token.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut first) = (Vec::new(), 0, true);
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => {
                first = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b';' => at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at),
            _ => {
                let length = word(&bytes[at..]);
                found.push(Token {
                    text: &text[at..at + length],
                    start: at,
                    first,
                });
                first = false;
                at += length;
            }
        }
    }
    found
}

fn word(bytes: &[u8]) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b' ' | b'\t' | b'\r' | b'\n' | b';' if !quoted => return at,
            _ => {}
        }
    }
    bytes.len()
}

/// Whether these tokens begin an instruction.
pub(super) fn begins(tokens: &[Token<'_>]) -> bool {
    let op = |token: Option<&Token<'_>>| {
        token.is_some_and(|t| t.text.starts_with("Op") && t.text.as_bytes().get(2).is_some_and(u8::is_ascii_uppercase))
    };
    match tokens.first() {
        None => true,
        Some(token) if token.text.starts_with('!') => token.first,
        Some(token) if token.text.starts_with('%') => tokens.get(1).is_some_and(|t| t.text == "=") && op(tokens.get(2)),
        first => op(first),
    }
}
