//! What can go wrong between a loaded file and its picture.

use ash::vk;
use std::fmt;

/// Result with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate; says whose fault it is: the file's, the caller's data, or the machine's.
#[derive(Debug)]
pub enum Error {
    /// The file is bad, or asks for what the loader cannot do.
    Load(loader::Error),
    /// The device lacks a feature, or a limit is too small; the driver was not called.
    Unsupported(String),
    /// The data handed over does not fit the shader.
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
    /// Device memory could not be had.
    Memory(String),
    /// The device did not finish in time.
    Timeout,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => error.fmt(f),
            Self::Unsupported(what) => write!(f, "vulkan: unsupported: {what}"),
            Self::Data(what) => write!(f, "vulkan: {what}"),
            Self::NoDevice(what) => write!(f, "vulkan: {what}"),
            Self::Vulkan { call, result } => write!(f, "vulkan: {call} failed: {result}"),
            Self::Memory(what) => write!(f, "vulkan: no memory: {what}"),
            Self::Timeout => write!(f, "vulkan: the device did not finish in time"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Load(error) => Some(error),
            _ => None,
        }
    }
}

impl From<loader::Error> for Error {
    fn from(error: loader::Error) -> Self {
        Self::Load(error)
    }
}

/// Names the call that failed.
pub(crate) trait Call<T> {
    /// `Err(result)` becomes [`Error::Vulkan`] with this call's name.
    fn call(self, call: &'static str) -> Result<T>;
}

impl<T> Call<T> for std::result::Result<T, vk::Result> {
    fn call(self, call: &'static str) -> Result<T> {
        self.map_err(|result| Error::Vulkan { call, result })
    }
}
