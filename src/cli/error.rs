//! The error type of the command line.

use std::fmt::Display;

pub use runner::ErrorKind;

/// Result with this crate's [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a command, which is one of [`runner`] or becomes one; one machine word wide.
///
/// Displays as one line, with the operation first: `cannot read a.vbc: No such file or directory (os error 2)`.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(runner::Error);

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

impl Error {
    /// The error's kind, including its context.
    pub fn kind(&self) -> &ErrorKind {
        self.0.kind()
    }

    /// The error's kind without context.
    pub fn root(&self) -> &ErrorKind {
        self.0.root()
    }

    /// Which is at fault: the input (also if it is unsupported), or the command line or the machine.
    pub fn cause(&self) -> Cause {
        match self.root() {
            ErrorKind::Load(_)
            | ErrorKind::Translate(_)
            | ErrorKind::Lift(_)
            | ErrorKind::Emulate(_)
            | ErrorKind::Inspect(_)
            | ErrorKind::Input(_)
            | ErrorKind::Unsupported(_) => Cause::Bad,
            ErrorKind::Vulkan(error) => match error.kind() {
                vulkan::ErrorKind::Load(_) | vulkan::ErrorKind::Unsupported(_) => Cause::Bad,
                _ => Cause::Trouble,
            },
            _ => Cause::Trouble,
        }
    }

    /// The input is at fault.
    pub fn input(message: impl Display) -> Self {
        Self(runner::Error::input(message))
    }

    /// The scene is invalid.
    pub fn scene(message: impl Display) -> Self {
        Self(runner::Error::scene(message))
    }

    /// The command line, or a file beside the input, is at fault.
    pub fn usage(message: impl Display) -> Self {
        Self(runner::Error::usage(message))
    }

    /// The machine is at fault.
    pub fn machine(message: impl Display) -> Self {
        Self(runner::Error::machine(message))
    }

    /// Adds the operation or the place in front of the error.
    #[must_use]
    pub fn within(self, doing: impl Display) -> Self {
        Self(self.0.within(doing))
    }

    /// Adds the file's name in front, unless the text contains it. An error that has a file keeps it.
    #[must_use]
    pub fn in_file(self, name: impl Display) -> Self {
        Self(self.0.in_file(name))
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

/// Errors that [`runner`] takes as they are. One implementation for all of them would exclude those below.
macro_rules! from_runner {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self(error.into())
            }
        })*
    };
}

from_runner!(
    runner::Error,
    loader::Error,
    translate::Error,
    lift::Error,
    emulator::driver::Error,
    emulator::fault::Fault,
    inspect::Error,
    vulkan::Error,
    scene::Error,
    std::io::Error,
    png::DecodingError,
    png::EncodingError,
);

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

impl From<toml::de::Error> for Error {
    fn from(error: toml::de::Error) -> Self {
        Self::usage(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::machine(error)
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
        assert_eq!(Error::input(" --> a.wgsl:3:4").in_file("a.wgsl").cause(), Cause::Bad);
    }
}
