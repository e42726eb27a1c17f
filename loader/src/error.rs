//! The error type of the loaders.

use std::error::Error as Cause;
use std::fmt;
use std::sync::Arc;

/// Result with the loader's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong: the file breaks its format, or the format allows something that the loader does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The bytes break a rule of the format.
    Invalid,
    /// The bytes may be valid, but this program (or the target) does not support them.
    Unsupported,
}

/// An error with format, place and byte offset; one machine word wide.
///
/// Displays as `vbc: uniform member 3: name runs past end of file (at offset 0x1f4)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, thiserror::Error)]
#[error("{format}: {}{message}{}", self.prefix(), self.suffix())]
struct Inner {
    kind: ErrorKind,
    format: &'static str,
    place: String,
    message: String,
    offset: Option<u64>,
    source: Option<Arc<dyn Cause + Send + Sync>>,
}

/// Compares kind, place and message, not the cause.
impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.format, self.offset) == (other.kind, other.format, other.offset)
            && (&self.place, &self.message) == (&other.place, &other.message)
    }
}

impl Eq for Inner {}

impl Inner {
    /// The place and the kind, in front of the message.
    fn prefix(&self) -> String {
        let place = match self.place.as_str() {
            "" => String::new(),
            place => format!("{place}: "),
        };
        match self.kind {
            ErrorKind::Invalid => place,
            ErrorKind::Unsupported => place + "unsupported: ",
        }
    }

    /// The offset, behind the message.
    fn suffix(&self) -> String {
        let offset = self.offset.map(|offset| format!(" (at offset {offset:#x})"));
        offset.unwrap_or_default()
    }
}

impl Error {
    /// An error of `kind` in a file of `format` (its short lower-case name).
    pub fn new(kind: ErrorKind, format: &'static str, message: impl Into<String>) -> Self {
        let (place, message) = (String::new(), message.into());
        Self(Box::new(Inner {
            kind,
            format,
            place,
            message,
            offset: None,
            source: None,
        }))
    }

    /// [`ErrorKind::Invalid`] at a byte offset from the start of the file.
    pub fn invalid(format: &'static str, message: impl Into<String>, offset: u64) -> Self {
        Self::new(ErrorKind::Invalid, format, message).at(offset)
    }

    /// [`ErrorKind::Unsupported`]; add an offset with [`Error::at`].
    pub fn unsupported(format: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, format, message)
    }

    /// Sets the byte offset from the start of the file.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Sets the underlying error of another library: its [`source`](Cause::source).
    #[must_use]
    pub fn caused_by(mut self, source: impl Cause + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Prepends `place` to the place, so that the outermost place comes first in the text.
    #[must_use]
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        let inner = &mut self.0.place;
        *inner = if inner.is_empty() {
            place.to_string()
        } else {
            format!("{place}: {inner}")
        };
        self
    }

    /// Invalid or Unsupported.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Short name of the format, such as `vbc`.
    pub fn format(&self) -> &'static str {
        self.0.format
    }

    /// Where in the structure of the file, such as `uniform member 3`; empty if there is no place.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What is wrong, without format, place and offset.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Byte offset from the start of the file, if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_caused_it() {
        let cause = "x".parse::<u8>().unwrap_err();
        let error = Error::invalid("sksl", "string is not UTF-8", 4);
        let caused = error.clone().caused_by(cause.clone());
        assert_eq!(caused.source().unwrap().to_string(), cause.to_string());
        assert!(caused == error && error.source().is_none());
    }

    #[test]
    fn reads_as_documented() {
        let error = Error::invalid("vbc", "name runs past end of file", 0x1f4)
            .within("member 3")
            .within("uniform");
        assert_eq!(
            error.to_string(),
            "vbc: uniform: member 3: name runs past end of file (at offset 0x1f4)"
        );
        let error = Error::unsupported("mbs", "chunk ABCD");
        assert_eq!(error.to_string(), "mbs: unsupported: chunk ABCD");
    }
}
