//! Errors between a loaded file and its picture.

use ash::vk;
use std::fmt;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate; one machine word wide.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// Which is at fault: the file, the caller's data, or the machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file is invalid, or the loader does not support it.
    #[error("{0}")]
    Load(#[from] loader::Error),
    /// The device lacks a feature, or a limit is too small; the driver was not called.
    #[error("vulkan: unsupported: {0}")]
    Unsupported(String),
    /// The data does not match the shader.
    #[error("vulkan: {0}")]
    Data(String),
    /// No Vulkan, or no such device, on this machine.
    #[error("vulkan: {0}")]
    NoDevice(String),
    /// A Vulkan call failed.
    #[error("vulkan: {call} failed: {result}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// Its result.
        result: vk::Result,
    },
    /// Out of device memory.
    #[error("vulkan: no memory: {0}")]
    Memory(String),
    /// The device did not finish in time.
    #[error("vulkan: the device did not finish in time")]
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

impl<E> From<E> for Error
where
    ErrorKind: From<E>,
{
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
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
