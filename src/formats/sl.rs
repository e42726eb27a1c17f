//! Swanson SL libraries on the command line.

use super::Format;

/// Swanson SL libraries.
pub struct Sl;

impl Format for Sl {
    fn name(&self) -> &'static str {
        "sl"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(b"SLIB")
    }
}
