//! Vega bytecode on the command line.

use super::Format;

/// Vega bytecode.
pub struct Vbc;

impl Format for Vbc {
    fn name(&self) -> &'static str {
        "vbc"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(b"VBC")
    }
}
