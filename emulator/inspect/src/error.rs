//! The error type of this crate.

use emulator::fault::Fault;

/// Why a recording cannot be inspected; one machine word wide.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A fault of a job or a buffer object: index of the job, and the record's byte offset.
    #[error("trace: job {0} (at offset {1:#x}): {2}")]
    Fault(usize, u64, #[source] Fault),
    /// The request names something that is not in the recording.
    #[error("{0}")]
    Request(String),
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The request cannot be satisfied.
    pub fn request(message: impl std::fmt::Display) -> Self {
        ErrorKind::Request(message.to_string()).into()
    }

    /// A fault at a record.
    pub fn fault(job: usize, offset: u64, fault: Fault) -> Self {
        ErrorKind::Fault(job, offset, fault).into()
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
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
