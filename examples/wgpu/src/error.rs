//! Errors of an effect.

use std::fmt;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why creating or setting an effect failed.
#[derive(Debug)]
pub enum Error {
    /// The file violates its format.
    File(loader::Error),
    /// The file cannot be expressed in WGSL.
    Translate(translate::Error),
    /// The file needs a feature that this plugin lacks.
    Unsupported(String),
    /// A name, a slot or a number of values that the file does not have.
    Input(String),
    /// Error of wgpu.
    Wgpu(wgpu::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Translate(error) => error.fmt(f),
            Self::Unsupported(what) => write!(f, "unsupported here: {what}"),
            Self::Input(message) => f.write_str(message),
            Self::Wgpu(error) => write!(f, "wgpu: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => error.source(),
            Self::Translate(error) => error.source(),
            Self::Wgpu(error) => error.source(),
            Self::Unsupported(_) | Self::Input(_) => None,
        }
    }
}

impl From<loader::Error> for Error {
    fn from(error: loader::Error) -> Self {
        Self::File(error)
    }
}

impl From<translate::Error> for Error {
    fn from(error: translate::Error) -> Self {
        Self::Translate(error)
    }
}
