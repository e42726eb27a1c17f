//! Mali-200/400 binary shaders on the command line.

use super::Format;

/// Mali-200/400 binary shaders.
pub struct Mbs;

impl Format for Mbs {
    fn name(&self) -> &'static str {
        "mbs"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(b"MBS1")
    }
}
