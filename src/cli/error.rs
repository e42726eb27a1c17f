//! The error type of the command line.

use std::fmt::Display;

/// Result with this crate's [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a command; one machine word wide.
///
/// Displays as one line, with the operation first: `cannot read a.vbc: No such file or directory (os error 2)`.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<ErrorKind>);

/// Which is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The input's: exit code 1.
    Bad,
    /// The command line's or the machine's: exit code 2.
    Trouble,
}

impl Cause {
    /// The exit code of the process; 0 is for success.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Bad => 1,
            Self::Trouble => 2,
        }
    }
}

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
    /// The input is at fault.
    #[error("{0}")]
    Input(String),
    /// The scene is invalid.
    #[error("scene: {0}")]
    Scene(String),
    /// The command line, or a file beside the input, is at fault.
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
    /// Invalid TOML.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// JSON that cannot be written.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// An error with the operation that failed.
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

    /// Which is at fault: the input (also if it is unsupported), or the command line or the machine.
    pub fn cause(&self) -> Cause {
        match self.root() {
            ErrorKind::Load(_)
            | ErrorKind::Translate(_)
            | ErrorKind::Lift(_)
            | ErrorKind::Emulate(_)
            | ErrorKind::Inspect(_)
            | ErrorKind::Input(_) => Cause::Bad,
            ErrorKind::Vulkan(error) => match error.kind() {
                vulkan::ErrorKind::Load(_) | vulkan::ErrorKind::Unsupported(_) => Cause::Bad,
                _ => Cause::Trouble,
            },
            _ => Cause::Trouble,
        }
    }

    /// The input is at fault.
    pub fn input(message: impl Display) -> Self {
        ErrorKind::Input(message.to_string()).into()
    }

    /// The scene is invalid.
    pub fn scene(message: impl Display) -> Self {
        ErrorKind::Scene(message.to_string()).into()
    }

    /// The command line is at fault.
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

/// Adds context to errors.
pub(crate) trait Within<T> {
    /// Adds `doing` in front of the error.
    ///
    /// # Errors
    /// The error, with context.
    fn within<D: Display>(self, doing: impl FnOnce() -> D) -> Result<T>;
}

impl<T, E: Into<Error>> Within<T> for std::result::Result<T, E> {
    fn within<D: Display>(self, doing: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.into().within(doing()))
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
        runner::Error::from(error).into()
    }
}

impl From<runner::Error> for Error {
    fn from(error: runner::Error) -> Self {
        use runner::ErrorKind as Kind;
        match error.into_kind() {
            Kind::Load(error) => error.into(),
            Kind::Translate(error) => error.into(),
            Kind::Lift(error) => error.into(),
            Kind::Emulate(error) => error.into(),
            Kind::Inspect(error) => error.into(),
            Kind::Vulkan(error) => error.into(),
            Kind::Input(message) => Self::input(message),
            Kind::Unsupported(message) => Self::input(format_args!("unsupported: {message}")),
            Kind::Scene(message) => Self::scene(message),
            Kind::Usage(message) => Self::usage(message),
            Kind::System(error) => error.into(),
            Kind::Decode(error) => error.into(),
            Kind::Encode(error) => error.into(),
            Kind::Doing(doing, error) => Self::from(error).within(doing),
            Kind::InFile(name, error) => ErrorKind::InFile(name, error.into()).into(),
            other => Self::machine(runner::Error::from(other)),
        }
    }
}

#[cfg(target_os = "linux")]
impl From<gles::Error> for Error {
    fn from(error: gles::Error) -> Self {
        use gles::ErrorKind as Kind;
        match error.into_kind() {
            Kind::Usage(message) => Self::usage(message),
            Kind::Machine(message) => Self::machine(message),
            Kind::System(error) => error.into(),
            Kind::Doing(doing, error) => Self::from(error).within(doing),
            other => Self::machine(gles::Error::from(other)),
        }
    }
}

impl From<emulator::fault::Fault> for Error {
    fn from(fault: emulator::fault::Fault) -> Self {
        ErrorKind::Emulate(fault.into()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn has_context_and_cause() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error = Err::<(), _>(missing).within(|| "cannot read a.vbc").unwrap_err();
        assert_eq!(error.to_string(), "cannot read a.vbc: entity not found");
        assert_eq!(error.cause(), Cause::Trouble);
        assert!(matches!(error.root(), ErrorKind::System(_)));
        assert_eq!(error.source().unwrap().to_string(), "entity not found");

        let bad = Error::from(loader::Error::invalid("vbc", "cut off", 4)).within("a.vbc");
        assert_eq!(bad.to_string(), "a.vbc: vbc: cut off (at offset 0x4)");
        assert_eq!(bad.cause(), Cause::Bad);
        assert_eq!(Error::scene("no slot 3").cause(), Cause::Trouble);
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
        assert_eq!(shown.cause(), Cause::Bad);
    }
}
