//! The command line as a library: its verbs over bytes instead of files, for programs without a file system (the
//! WebAssembly interface) and for integration tests. Output and errors are those of the command.

pub use crate::cli::bytes::{assemble, check, convert, dis, format, info, observed};
pub use crate::cli::check::Checked;
pub use crate::cli::convert::Language;
pub use crate::cli::error::{Cause, Error, ErrorKind};
pub use crate::cli::formats::{Format, Info, find};
pub use crate::cli::outcome::{Failure, Outcome};
pub use crate::cli::{description, main};
