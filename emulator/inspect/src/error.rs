//! The error type of this crate.

use emulator::fault::Fault;
use std::fmt;

/// Why a recording cannot be inspected; one machine word wide.
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A fault of a job or a buffer object: index of the job, and the record's byte offset.
    Fault(usize, u64, Fault),
    /// The request names something that is not in the recording.
    Request(String),
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The request cannot be satisfied.
    pub fn request(message: impl fmt::Display) -> Self {
        Self(Box::new(ErrorKind::Request(message.to_string())))
    }

    /// A fault at a record.
    pub fn fault(job: usize, offset: u64, fault: Fault) -> Self {
        Self(Box::new(ErrorKind::Fault(job, offset, fault)))
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Fault(job, offset, fault) => write!(f, "trace: job {job} (at offset {offset:#x}): {fault}"),
            ErrorKind::Request(message) => f.write_str(message),
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
            ErrorKind::Fault(.., fault) => Some(fault),
            ErrorKind::Request(_) => None,
        }
    }
}
