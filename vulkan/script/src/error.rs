//! What is wrong with a script, and where.

use std::fmt;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a script's text; both count from 1.
///
/// All places are equal: where a statement stands says nothing about what it does, so that two scripts that differ in
/// white space are the same model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Whether a script breaks its language, or asks for what is not done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text breaks a rule of the language.
    Invalid,
    /// The language allows it; this program does not do it.
    Unsupported,
}

impl ErrorKind {
    /// What precedes the message.
    fn prefix(self) -> &'static str {
        match self {
            Self::Invalid => "",
            Self::Unsupported => "unsupported: ",
        }
    }
}

/// An error in a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("script: {place}: {}{message}", kind.prefix())]
pub struct Error {
    /// Whose fault it is.
    pub kind: ErrorKind,
    /// Where it is.
    pub place: Place,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Error {
    /// A broken rule.
    pub fn invalid(place: Place, message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Invalid,
            place,
            message: message.into(),
        }
    }

    /// What the language has and this program does not.
    pub fn unsupported(place: Place, message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Unsupported,
            place,
            message: message.into(),
        }
    }
}
