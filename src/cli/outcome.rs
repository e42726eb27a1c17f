//! Results of commands, and the files that they read and write.

use crate::cli::error::{Cause, Error, ErrorKind, Within};
use crate::cli::log::detail;
use std::fmt;

use std::io::{Read, Write};
use std::path::Path;

/// Result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Why a command did not succeed; decides the exit code.
#[derive(Debug)]
pub enum Failure {
    /// The input is at fault: it violates its format, cannot be translated, faults, or differs from the expected picture.
    Bad(Error),
    /// The command line or the machine is at fault.
    Trouble(Error),
    /// The cause has been printed already.
    Reported(Cause),
}

impl Failure {
    /// An error of the command line.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::Trouble(Error::usage(message))
    }

    /// An error of the input.
    pub fn bad(message: impl fmt::Display) -> Self {
        Self::Bad(Error::input(message))
    }

    /// Which is at fault.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Bad(_) => Cause::Bad,
            Self::Trouble(_) => Cause::Trouble,
            Self::Reported(cause) => *cause,
        }
    }

    /// Adds the file's name in front, unless the error names one.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Bad(error) => Self::Bad(error.in_file(path.display())),
            Self::Trouble(error) => Self::Trouble(error.in_file(path.display())),
            reported => reported,
        }
    }

    /// Names a scene in its errors.
    pub fn in_scene(self, path: Option<&Path>) -> Self {
        let is_scene = |error: &Error| matches!(error.root(), ErrorKind::Scene(_));
        match (&self, path) {
            (Self::Bad(error) | Self::Trouble(error), Some(path)) if is_scene(error) => self.in_file(path),
            _ => self,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bad(error) | Self::Trouble(error) => write!(f, "{error}"),
            Self::Reported(_) => Ok(()),
        }
    }
}

impl<E> From<E> for Failure
where
    Error: From<E>,
{
    fn from(error: E) -> Self {
        let error = Error::from(error);
        match error.cause() {
            Cause::Bad => Self::Bad(error),
            Cause::Trouble => Self::Trouble(error),
        }
    }
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// Trouble, with the file's name.
pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    Ok(read_bytes(path)?)
}

/// As [`read`], with the library's error.
///
/// # Errors
/// The system's error, with the file's name.
pub(crate) fn read_bytes(path: &Path) -> crate::cli::error::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        false => std::fs::read(path).map(|all| bytes = all),
    };
    read.within(|| format!("cannot read {}", path.display()))
        .map_err(|error| error.in_file(path.display()))?;
    detail(format_args!("read {}, {} bytes", path.display(), bytes.len()));
    Ok(bytes)
}

/// Reads a text file.
///
/// # Errors
/// Trouble when it cannot be read, Bad when it is not UTF-8.
pub(crate) fn read_text(path: &Path) -> Outcome<String> {
    String::from_utf8(read(path)?).map_err(|_| Failure::bad("it is not text").in_file(path))
}

/// Writes a file atomically, by replacing it with a temporary file, or standard output for `-`. Devices and pipes are
/// written in place.
///
/// # Errors
/// Trouble, with the file's name.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Outcome {
    let bytes = bytes.as_ref();
    let written = match path == Path::new("-") {
        true => return print_bytes(bytes),
        false => replace(path, bytes),
    };
    detail(format_args!("write {}, {} bytes", path.display(), bytes.len()));
    Ok(written.within(|| format!("cannot write {}", path.display()))?)
}

/// Replaces a file's contents at once; see [`write`].
///
/// # Errors
/// The file system's error.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // The target of a link is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = std::fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|there| !there.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(&target)?;
        file.write_all(bytes)?;
        return file.flush();
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask applies, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder
        .prefix(".skrymir-")
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let _temporary = crate::cli::cleanup::Temporary::register(file.path());
    file.write_all(bytes)?;
    file.flush()?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.persist(&target)?;
    Ok(())
}

/// An error in a text of a format, with its place marked.
pub(crate) fn bad_text(file: &Path, format: &str, error: &loader::SourceError, text: &str) -> Failure {
    Failure::bad(error.in_file(file, format, text))
}

/// Prints to standard output; a closed pipe (`| head`) is no error.
///
/// # Errors
/// Trouble when standard output cannot be written for another reason.
pub(crate) fn print(text: &str) -> Outcome {
    print_bytes(text.as_bytes())
}

/// Prints a JSON document to standard output.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_json(document: &serde_json::Value) -> Outcome {
    let json = serde_json::to_string_pretty(document).map_err(Error::from)?;
    print(&(json + "\n"))
}

/// Refuses `-` as the output file beside JSON.
///
/// # Errors
/// Trouble when both are standard output.
pub(crate) fn apart(json: bool, output: Option<&Path>) -> Outcome {
    match json && output == Some(Path::new("-")) {
        true => Err(Failure::usage("--json and -o - are both standard output: name a file")),
        false => Ok(()),
    }
}

fn print_bytes(bytes: &[u8]) -> Outcome {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format_args!("cannot write standard output: {error}")))
        }
        _ => Ok(()),
    }
}
