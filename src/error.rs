//! The error type of the command line.

use crate::s0::HardError;
use std::fmt::{self, Display};

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a command; one machine word wide.
///
/// Displays as one line, with the operation first: `cannot read a.vbc: No such file or directory (os error 2)`.
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
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file breaks its format, or holds what the loader cannot do.
    Load(loader::Error),
    /// A shader cannot be read from its language, or written in another.
    Translate(translate::Error),
    /// A Mali-400 program cannot be lifted.
    Lift(lift::Error),
    /// A draw on the emulator cannot be made, or its job faulted.
    Emulate(emulator::driver::Error),
    /// A recording cannot be looked into.
    Inspect(inspect::Error),
    /// Vulkan refuses, or the data does not fit the shader.
    Vulkan(vulkan::Error),
    /// A Swanson program halted with an error.
    S0(HardError),
    /// The input is at fault.
    Input(String),
    /// The scene is invalid.
    Scene(String),
    /// The command line, or a file beside the input, is at fault.
    Usage(String),
    /// The machine lacks something, or a program on it failed.
    Machine(String),
    /// A system call failed.
    System(std::io::Error),
    /// A picture cannot be read.
    Decode(png::DecodingError),
    /// A picture cannot be written as PNG.
    Encode(png::EncodingError),
    /// Invalid TOML.
    Toml(toml::de::Error),
    /// JSON that cannot be written.
    Json(serde_json::Error),
    /// An error with the operation that failed.
    Doing(String, Error),
    /// An error with its file.
    InFile(String, Error),
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
            | ErrorKind::S0(_)
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

    /// A scene is at fault.
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
pub trait Within<T> {
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

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Input(message) | ErrorKind::Usage(message) | ErrorKind::Machine(message) => f.write_str(message),
            ErrorKind::Scene(message) => write!(f, "scene: {message}"),
            ErrorKind::Doing(doing, error) => write!(f, "{doing}: {error}"),
            ErrorKind::InFile(name, error) => match error.to_string() {
                text if text.contains(name.as_str()) => f.write_str(&text),
                text => write!(f, "{name}: {text}"),
            },
            ErrorKind::S0(error) => write!(f, "sl: {error}"),
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
        match self.kind() {
            ErrorKind::Doing(_, error) | ErrorKind::InFile(_, error) => Some(error),
            kind => kind.wrapped(),
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

/// Kinds that wrap an error of another crate.
macro_rules! kinds {
    ($($kind:ident($error:ty)),* $(,)?) => {
        impl ErrorKind {
            /// The wrapped error of another crate, if any.
            fn wrapped(&self) -> Option<&(dyn std::error::Error + 'static)> {
                match self {
                    $(Self::$kind(error) => Some(error),)*
                    Self::Input(_)
                    | Self::Scene(_)
                    | Self::Usage(_)
                    | Self::Machine(_)
                    | Self::Doing(..)
                    | Self::InFile(..) => None,
                }
            }
        }

        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                ErrorKind::$kind(error).into()
            }
        })*
    };
}

kinds! {
    Load(loader::Error),
    Translate(translate::Error),
    Lift(lift::Error),
    Emulate(emulator::driver::Error),
    Inspect(inspect::Error),
    Vulkan(vulkan::Error),
    S0(HardError),
    System(std::io::Error),
    Decode(png::DecodingError),
    Encode(png::EncodingError),
    Toml(toml::de::Error),
    Json(serde_json::Error),
}

impl From<scene::Error> for Error {
    fn from(error: scene::Error) -> Self {
        use scene::ErrorKind as Theirs;
        match error.into_kind() {
            Theirs::Load(error) => error.into(),
            Theirs::Vulkan(error) => error.into(),
            Theirs::Input(message) => Self::input(message),
            Theirs::Scene(message) => Self::scene(message),
            Theirs::Decode(error) => error.into(),
            Theirs::Encode(error) => error.into(),
            Theirs::Doing(doing, error) => Self::from(error).within(doing),
            other => Self::machine(scene::Error::from(other)),
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
    fn is_one_word() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

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
