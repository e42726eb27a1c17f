//! SPIR-V modules on the command line.

use super::Format;

/// SPIR-V modules.
pub struct Spirv;

impl Format for Spirv {
    fn name(&self) -> &'static str {
        "spirv"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&[3, 2, 0x23, 7]) || bytes.starts_with(&[7, 0x23, 2, 3])
    }
}
