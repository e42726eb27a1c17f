//! The error type of this crate.

use std::fmt;

/// Why a program cannot be lifted; one machine word wide.
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The words are not a program.
    Code {
        /// Instruction (GP) or word (PP).
        place: u32,
        /// What is wrong.
        message: String,
    },
    /// A construct has no known meaning, or no equivalent in the target languages.
    Unsupported {
        /// Instruction (GP) or word (PP).
        place: u32,
        /// The construct.
        message: String,
    },
    /// The symbols are insufficient.
    Interface(String),
    /// naga rejects the result, which is a bug in this crate.
    Module(translate::Error),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The words from `place` on are not program.
    pub(crate) fn code(place: u32, message: impl Into<String>) -> Self {
        let message = message.into();
        ErrorKind::Code { place, message }.into()
    }

    /// The construct at `place` cannot be lifted.
    pub(crate) fn unsupported(place: u32, message: impl Into<String>) -> Self {
        let message = message.into();
        ErrorKind::Unsupported { place, message }.into()
    }

    /// The symbols are insufficient.
    pub(crate) fn interface(message: impl Into<String>) -> Self {
        ErrorKind::Interface(message.into()).into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Code { place, message } => write!(f, "mbs: no program: {message} (at instruction {place})"),
            ErrorKind::Unsupported { place, message } => {
                write!(f, "mbs: unsupported: {message} (at instruction {place})")
            }
            ErrorKind::Interface(message) => write!(f, "mbs: {message}"),
            ErrorKind::Module(error) => write!(f, "mbs: the lifted shader is not valid: {error}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            ErrorKind::Module(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_word_and_has_a_source() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        let refused = translate::Error::from(translate::ErrorKind::Entry("no entry point".to_owned()));
        let error = Error::from(ErrorKind::Module(refused));
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no entry point");
    }
}
