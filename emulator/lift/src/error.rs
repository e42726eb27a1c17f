//! The error type of this crate.

/// Why a program cannot be lifted; one machine word wide.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The words are not a program.
    #[error("mbs: no program: {message} (at instruction {place})")]
    Code {
        /// Instruction (GP) or word (PP).
        place: u32,
        /// What is wrong.
        message: String,
    },
    /// A construct has no known meaning, or no equivalent in the target languages.
    #[error("mbs: unsupported: {message} (at instruction {place})")]
    Unsupported {
        /// Instruction (GP) or word (PP).
        place: u32,
        /// The construct.
        message: String,
    },
    /// The symbols are insufficient.
    #[error("mbs: {0}")]
    Interface(String),
    /// naga rejects the result, which is a bug in this crate.
    #[error("mbs: the lifted shader is not valid: {0}")]
    Module(#[source] translate::Error),
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

impl<E> From<E> for Error
where
    ErrorKind: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}
