//! What is said on standard error.

use std::fmt;
use std::io::Write;

/// Says a line on standard error; where nothing can be written to that, nobody is to be told, and the rest goes on.
pub fn say(line: impl fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
