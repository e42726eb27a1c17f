//! The error type of this crate.

use std::fmt::Display;
use std::path::Path;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file and a scene could not be drawn; one machine word wide.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file is invalid, or the loader does not support it.
    #[error("{0}")]
    Load(#[from] loader::Error),
    /// Vulkan's error, or the data does not match the shader.
    #[error("{0}")]
    Vulkan(#[from] vulkan::Error),
    /// The input is invalid.
    #[error("{0}")]
    Input(String),
    /// The scene is invalid.
    #[error("scene: {0}")]
    Scene(String),
    /// A PNG file cannot be read.
    #[error("{0}")]
    Decode(#[from] png::DecodingError),
    /// A picture cannot be written as PNG.
    #[error("{0}")]
    Encode(#[from] png::EncodingError),
    /// An error with its context.
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

    /// An invalid scene.
    pub fn scene(message: impl Display) -> Self {
        ErrorKind::Scene(message.to_string()).into()
    }

    /// An invalid input.
    pub(crate) fn input(message: impl Display) -> Self {
        ErrorKind::Input(message.to_string()).into()
    }

    /// Adds the operation or the place in front of the error.
    #[must_use]
    pub fn within(self, doing: impl Display) -> Self {
        ErrorKind::Doing(doing.to_string(), self).into()
    }

    /// A file that cannot be read.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(Self) -> Self {
        move |error| error.within(format_args!("cannot read {}", path.display()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn keeps_its_cause() {
        let missing = png::DecodingError::IoError(std::io::ErrorKind::NotFound.into());
        let error = Error::reading(Path::new("a.png"))(missing.into());
        assert_eq!(error.to_string(), "cannot read a.png: entity not found");
        assert!(error.source().unwrap().source().is_some());
    }
}
