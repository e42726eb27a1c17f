//! The error type of this crate.

use std::fmt::Display;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a shader could not be compiled or run; one machine word wide.
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
    /// A shader cannot be read from its language, or written in another.
    #[error("{0}")]
    Translate(#[from] translate::Error),
    /// A Mali-400 program cannot be lifted.
    #[error("{0}")]
    Lift(#[from] lift::Error),
    /// A draw on the emulator is invalid, or its job faulted.
    #[error("{0}")]
    Emulate(#[from] emulator::driver::Error),
    /// A recording cannot be inspected.
    #[error("{0}")]
    Inspect(#[from] inspect::Error),
    /// Vulkan's error, or the data does not match the shader.
    #[error("{0}")]
    Vulkan(#[from] vulkan::Error),
    /// The input is invalid, or asks for something unsupported.
    #[error("{0}")]
    Input(String),
    /// A round trip through another compiler or language is not possible.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The scene is invalid.
    #[error("scene: {0}")]
    Scene(String),
    /// An argument is missing, or does not apply to the input.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks something, or a program on it failed.
    #[error("{0}")]
    Machine(String),
    /// A system call failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// A picture cannot be read.
    #[error("{0}")]
    Decode(#[from] png::DecodingError),
    /// A picture cannot be written as PNG.
    #[error("{0}")]
    Encode(#[from] png::EncodingError),
    /// An error with its context.
    #[error("{0}: {1}")]
    Doing(String, #[source] Error),
    /// An error with its file.
    #[error("{}", in_file(.0, .1))]
    InFile(String, #[source] Error),
}

/// The error's text, with the file's name in front unless the text contains it.
fn in_file(name: &str, error: &Error) -> String {
    match error.to_string() {
        text if text.contains(name) => text,
        text => format!("{name}: {text}"),
    }
}

impl Error {
    /// The error's kind, including its context.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The error's kind without context.
    pub fn root(&self) -> &ErrorKind {
        let mut kind = self.kind();
        while let ErrorKind::Doing(_, error) | ErrorKind::InFile(_, error) = kind {
            kind = error.kind();
        }
        kind
    }

    /// The input is at fault.
    pub fn input(message: impl Display) -> Self {
        ErrorKind::Input(message.to_string()).into()
    }

    /// The scene is invalid.
    pub fn scene(message: impl Display) -> Self {
        ErrorKind::Scene(message.to_string()).into()
    }

    /// An argument is at fault.
    pub fn usage(message: impl Display) -> Self {
        ErrorKind::Usage(message.to_string()).into()
    }

    /// The machine is at fault.
    pub fn machine(message: impl Display) -> Self {
        ErrorKind::Machine(message.to_string()).into()
    }

    /// Adds the operation or the place in front of the error.
    #[must_use]
    pub fn within(self, doing: impl Display) -> Self {
        ErrorKind::Doing(doing.to_string(), self).into()
    }

    /// Adds the file's name in front, unless the text contains it. An error that has a file keeps it.
    #[must_use]
    pub fn in_file(self, name: impl Display) -> Self {
        let mut kind = self.kind();
        while let ErrorKind::Doing(_, error) = kind {
            kind = error.kind();
        }
        match kind {
            ErrorKind::InFile(..) => self,
            _ => ErrorKind::InFile(name.to_string(), self).into(),
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

impl From<scene::Error> for Error {
    fn from(error: scene::Error) -> Self {
        use scene::ErrorKind as Kind;
        match error.into_kind() {
            Kind::Load(error) => error.into(),
            Kind::Vulkan(error) => error.into(),
            Kind::Input(message) => Self::input(message),
            Kind::Scene(message) => Self::scene(message),
            Kind::Decode(error) => error.into(),
            Kind::Encode(error) => error.into(),
            Kind::Doing(doing, error) => Self::from(error).within(doing),
            other => Self::usage(scene::Error::from(other)),
        }
    }
}

impl From<emulator::fault::Fault> for Error {
    fn from(fault: emulator::fault::Fault) -> Self {
        ErrorKind::Emulate(fault.into()).into()
    }
}

/// Adds context to errors.
pub(crate) trait Within<T> {
    /// Adds `doing` in front of the error.
    fn within<D: Display>(self, doing: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<Error>> Within<T> for std::result::Result<T, E> {
    fn within<D: Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.into().within(doing()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn has_context_and_source() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error = Err::<(), _>(missing).within(|| "cannot read a.vbc").unwrap_err();
        assert_eq!(error.to_string(), "cannot read a.vbc: entity not found");
        assert_eq!(error.source().unwrap().to_string(), "entity not found");
        assert!(matches!(error.root(), ErrorKind::System(_)));
    }

    #[test]
    fn a_file_is_named_once() {
        let scene = Error::scene("no slot 3").in_file("scene.toml").within("reading");
        assert_eq!(
            scene.in_file("a.vbc").to_string(),
            "reading: scene.toml: scene: no slot 3"
        );
        let shown = Error::input(" --> a.wgsl:3:4").in_file("a.wgsl");
        assert_eq!(shown.to_string(), " --> a.wgsl:3:4");
    }
}
