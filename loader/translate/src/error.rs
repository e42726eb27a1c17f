//! The error type of this crate.

use crate::{Language, Target};
use loader::SourceError;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure to read or write a shader; one machine word wide.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// A file included by a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its name, as in the text or in a `#line`.
    pub name: String,
    /// Its contents; empty if unknown.
    pub text: String,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file breaks its format, or contains something that this crate cannot translate.
    #[error("{0}")]
    File(#[from] loader::Error),
    /// A text breaks the rules of its language, or uses a feature that naga lacks.
    #[error("{language}: {}{error}", file.as_ref().map(|file| format!("{}: ", file.name)).unwrap_or_default())]
    Text {
        /// The text's language.
        language: Language,
        /// Line, column and message.
        #[source]
        error: SourceError,
        /// The included file with the error, if it is not in the text itself.
        file: Option<Box<File>>,
    },
    /// naga's validator or SPIR-V reader rejects a module.
    #[error("{language}: {}naga: {message}", if *.unsupported { "unsupported: " } else { "" })]
    Module {
        /// The language that the module came from.
        language: Language,
        /// naga's error message.
        message: String,
        /// Byte offset of the offending SPIR-V instruction, if naga reports one.
        offset: Option<u64>,
        /// Whether the module may be valid but exceeds what naga supports.
        unsupported: bool,
    },
    /// The requested entry point is missing, or none was requested and there are several.
    #[error("{0}")]
    Entry(String),
    /// The language of a file cannot be determined, or does not match the request.
    #[error("{0}")]
    Language(String),
    /// The target language cannot express the shader, or its checker rejects the result.
    #[error("{target}: unsupported: {message}")]
    Write {
        /// The target.
        target: Target,
        /// The message of the writer or checker.
        message: String,
    },
    /// This program was built without a required component.
    #[error("{0}")]
    Unavailable(String),
    /// naga panicked.
    #[error("unsupported: naga panicked {doing}: {message}")]
    Panicked {
        /// What naga was doing.
        doing: &'static str,
        /// The panic's message.
        message: String,
    },
    /// A library crashed. Later calls of it may fail too: it cannot free what it held.
    #[error("unsupported: {who} crashed ({signal})")]
    Crashed {
        /// The library.
        who: &'static str,
        /// The name of the signal.
        signal: String,
    },
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Whether the input may be valid but cannot be translated; otherwise it is invalid.
    pub fn is_unsupported(&self) -> bool {
        match self.kind() {
            ErrorKind::File(error) => error.kind() == loader::ErrorKind::Unsupported,
            ErrorKind::Module { unsupported, .. } => *unsupported,
            ErrorKind::Write { .. }
            | ErrorKind::Panicked { .. }
            | ErrorKind::Crashed { .. }
            | ErrorKind::Unavailable(_) => true,
            ErrorKind::Text { .. } | ErrorKind::Entry(_) | ErrorKind::Language(_) => false,
        }
    }

    /// The included file with the error, if it is not in the text itself.
    pub fn included(&self) -> Option<&File> {
        match self.kind() {
            ErrorKind::Text { file, .. } => file.as_deref(),
            _ => None,
        }
    }

    /// Line and column, both from 1, of an error in a text or an included file.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        match self.kind() {
            ErrorKind::Text { error, .. } => Some((error.line, error.column)),
            _ => None,
        }
    }

    /// Byte offset of an error in a binary file.
    pub fn offset(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::File(error) => error.offset(),
            ErrorKind::Module { offset, .. } => *offset,
            _ => None,
        }
    }

    /// The error with its source line and a mark under the place, for a terminal; without a source line, the same as
    /// `Display`.
    pub fn render(&self, source: &[u8], file: &str) -> String {
        match (self.kind(), std::str::from_utf8(source)) {
            (
                ErrorKind::Text {
                    error,
                    file: Some(file),
                    ..
                },
                _,
            ) => match file.text.is_empty() {
                true => format!("{}:{}:{}: {}", file.name, error.line, error.column, error.message),
                false => error.render(&file.text, &file.name).trim_end().to_owned(),
            },
            (ErrorKind::Text { error, .. }, Ok(text)) => error.render(text, file).trim_end().to_owned(),
            _ => self.to_string(),
        }
    }
}

impl<E> From<E> for Error
where
    ErrorKind: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}

/// An error with its chain of causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_a_source() {
        let error = Error::from(loader::Error::unsupported("sksl", "modules"));
        assert_eq!(
            std::error::Error::source(&error).unwrap().to_string(),
            error.to_string()
        );
        assert!(error.is_unsupported());
    }
}
