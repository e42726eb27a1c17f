//! The error type of this crate.

use std::fmt::Display;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a program could not be run; one machine word wide.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument does not apply on this machine.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks something, or a program on it failed.
    #[error("{0}")]
    Machine(String),
    /// A system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// An error with the operation that failed.
    #[error("{0}: {1}")]
    Doing(String, #[source] Error),
}

impl Error {
    /// The error's kind, including its context.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The error's kind, for wrapping.
    pub fn into_kind(self) -> ErrorKind {
        *self.0
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        ErrorKind::Usage(message.to_string()).into()
    }

    pub(crate) fn machine(message: impl Display) -> Self {
        ErrorKind::Machine(message.to_string()).into()
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

/// Adds context to errors.
pub(crate) trait Within<T> {
    /// Adds `doing` in front of the error.
    fn within<D: Display>(self, doing: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<Error>> Within<T> for std::result::Result<T, E> {
    fn within<D: Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| ErrorKind::Doing(doing().to_string(), error.into()).into())
    }
}
