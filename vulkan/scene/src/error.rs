//! The error type of this crate.

use std::fmt::{self, Display};
use std::path::Path;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file and a scene could not be drawn; one machine word wide.
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file is invalid, or the loader does not support it.
    Load(loader::Error),
    /// Vulkan's error, or the data does not match the shader.
    Vulkan(vulkan::Error),
    /// The input is invalid.
    Input(String),
    /// The scene is invalid.
    Scene(String),
    /// A PNG file cannot be read.
    Decode(png::DecodingError),
    /// A picture cannot be written as PNG.
    Encode(png::EncodingError),
    /// An error with its context.
    Doing(String, Error),
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

impl ErrorKind {
    /// The wrapped error of another crate, if any.
    fn wrapped(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Load(error) => Some(error),
            Self::Vulkan(error) => Some(error),
            Self::Decode(error) => Some(error),
            Self::Encode(error) => Some(error),
            Self::Doing(_, error) => Some(error),
            Self::Input(_) | Self::Scene(_) => None,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Input(message) => f.write_str(message),
            ErrorKind::Scene(message) => write!(f, "scene: {message}"),
            ErrorKind::Doing(doing, error) => write!(f, "{doing}: {error}"),
            other => other.wrapped().map_or(Ok(()), |error| Display::fmt(error, f)),
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
        self.kind().wrapped()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl From<loader::Error> for Error {
    fn from(error: loader::Error) -> Self {
        ErrorKind::Load(error).into()
    }
}

impl From<vulkan::Error> for Error {
    fn from(error: vulkan::Error) -> Self {
        ErrorKind::Vulkan(error).into()
    }
}

impl From<png::DecodingError> for Error {
    fn from(error: png::DecodingError) -> Self {
        ErrorKind::Decode(error).into()
    }
}

impl From<png::EncodingError> for Error {
    fn from(error: png::EncodingError) -> Self {
        ErrorKind::Encode(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn is_one_word_and_keeps_its_cause() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
        let missing = png::DecodingError::IoError(std::io::ErrorKind::NotFound.into());
        let error = Error::reading(Path::new("a.png"))(missing.into());
        assert_eq!(error.to_string(), "cannot read a.png: entity not found");
        assert!(error.source().unwrap().source().is_some());
    }
}
