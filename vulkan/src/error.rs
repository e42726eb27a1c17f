//! Errors between a loaded file and its picture.

use ash::vk;
use std::fmt;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate; one machine word wide.
pub struct Error(Box<ErrorKind>);

/// Which is at fault: the file, the caller's data, or the machine.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is invalid, or the loader does not support it.
    Load(loader::Error),
    /// The device lacks a feature, or a limit is too small; the driver was not called.
    Unsupported(String),
    /// The data does not match the shader.
    Data(String),
    /// No Vulkan, or no such device, on this machine.
    NoDevice(String),
    /// A Vulkan call failed.
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
    /// Out of device memory.
    Memory(String),
    /// The device did not finish in time.
    Timeout,
}

impl Error {
    /// The error's kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        ErrorKind::Unsupported(what.into()).into()
    }

    pub(crate) fn data(what: impl Into<String>) -> Self {
        ErrorKind::Data(what.into()).into()
    }

    pub(crate) fn no_device(what: impl Into<String>) -> Self {
        ErrorKind::NoDevice(what.into()).into()
    }

    pub(crate) fn memory(what: impl Into<String>) -> Self {
        ErrorKind::Memory(what.into()).into()
    }

    /// Adds the place in the data in front of the error.
    pub(crate) fn within(self, place: impl fmt::Display) -> Self {
        match *self.0 {
            ErrorKind::Data(what) => Self::data(format!("{place}: {what}")),
            ErrorKind::Unsupported(what) => Self::unsupported(format!("{place}: {what}")),
            other => other.into(),
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Load(error) => error.fmt(f),
            ErrorKind::Unsupported(what) => write!(f, "vulkan: unsupported: {what}"),
            ErrorKind::Data(what) => write!(f, "vulkan: {what}"),
            ErrorKind::NoDevice(what) => write!(f, "vulkan: {what}"),
            ErrorKind::Vulkan { call, result } => write!(f, "vulkan: {call} failed: {result}"),
            ErrorKind::Memory(what) => write!(f, "vulkan: no memory: {what}"),
            ErrorKind::Timeout => write!(f, "vulkan: the device did not finish in time"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            ErrorKind::Load(error) => Some(error),
            _ => None,
        }
    }
}

impl From<loader::Error> for Error {
    fn from(error: loader::Error) -> Self {
        ErrorKind::Load(error).into()
    }
}

/// Names the call that failed.
pub(crate) trait Call<T> {
    /// `Err(result)` becomes [`ErrorKind::Vulkan`] with the name of the call.
    fn call(self, call: &'static str) -> Result<T>;
}

impl<T> Call<T> for std::result::Result<T, vk::Result> {
    fn call(self, call: &'static str) -> Result<T> {
        self.map_err(|result| ErrorKind::Vulkan { call, result }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_word() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
