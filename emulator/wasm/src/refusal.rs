//! Why something was not done, and where.

use serde::Serialize;
use std::fmt;

/// An error in the words of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// What the command would say, without its own name in front.
    pub message: String,
    /// The file whose place it is, where there is one.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// Its column in characters, from 1.
    pub column: Option<u32>,
}

impl Refusal {
    /// An error about one of some files: the place is that which its words begin with, `file:line:column:`.
    pub fn about<'a>(error: impl fmt::Display, files: impl IntoIterator<Item = &'a str>) -> Self {
        let message = error.to_string();
        let place = files.into_iter().find_map(|file| {
            let (line, column) = place(&message, file)?;
            Some((file.to_owned(), line, column))
        });
        let (file, line, column) = match place {
            Some((file, line, column)) => (Some(file), Some(line), column),
            None => (None, None, None),
        };
        Self {
            message,
            file,
            line,
            column,
        }
    }
}

/// The first place in a file that a message names.
fn place(message: &str, file: &str) -> Option<(u32, Option<u32>)> {
    message.match_indices(file).find_map(|(at, _)| {
        let rest = message[at + file.len()..].strip_prefix(':')?;
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
        let line = numbers.next()?.parse().ok().filter(|line| *line > 0)?;
        Some((line, numbers.next().and_then(|column| column.parse().ok())))
    })
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_messages() {
        let answer = Refusal::about("a.frag: a.frag:12:3: invalid: x\n 12 | x", ["a.vert", "a.frag"]);
        assert_eq!(
            (answer.line, answer.column, answer.file.as_deref()),
            (Some(12), Some(3), Some("a.frag"))
        );
        let answer = Refusal::about("a.frag:7: no type", ["a.frag"]);
        assert_eq!((answer.line, answer.column), (Some(7), None));
        assert_eq!(Refusal::about("a.frag: limit: 600 instructions", ["a.frag"]).line, None);
    }
}
