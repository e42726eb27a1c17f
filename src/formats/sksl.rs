//! Skia's SkSL binaries on the command line.

use super::Format;

/// Skia's SkSL binaries.
pub struct Sksl;

impl Format for Sksl {
    fn name(&self) -> &'static str {
        "sksl"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.len() >= 4 && bytes[1] == 0
    }
}
