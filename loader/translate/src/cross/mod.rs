//! SPIR-V to GLSL, HLSL and MSL by Khronos' SPIRV-Cross, linked in.
//!
//! SPIRV-Cross is C++ and trusts what it reads: only modules that our own validator has passed come here. Its exceptions
//! are errors of the crate that binds it.

#[cfg(all(feature = "spirv-cross", not(target_family = "wasm")))]
mod linked;
#[cfg(not(all(feature = "spirv-cross", not(target_family = "wasm"))))]
#[path = "absent.rs"]
mod linked;

use crate::place::{Place, Way};
use crate::{Result, Target};
use naga::back::{glsl, hlsl};

/// Calls along all paths of a module's call graph that SPIRV-Cross is given: it walks each path.
const MAX_CALLS: u64 = 1 << 16;

/// Whether this program was built with SPIRV-Cross.
pub(crate) fn is_available() -> bool {
    linked::AVAILABLE
}

/// The entry point that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name in the module.
    pub name: String,
    /// SPIR-V's number of its execution model.
    pub model: u32,
}

/// One version of one language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dialect {
    Glsl(glsl::Version),
    /// GLSL as it is compiled for Vulkan.
    VulkanGlsl,
    Hlsl(hlsl::ShaderModel),
    Msl((u8, u8)),
}

impl Dialect {
    /// The language.
    pub(crate) fn target(self) -> Target {
        match self {
            Self::Glsl(_) | Self::VulkanGlsl => Target::Glsl,
            Self::Hlsl(_) => Target::Hlsl,
            Self::Msl(_) => Target::Msl,
        }
    }

    /// The way that the text was made.
    pub(crate) fn way(self) -> Way {
        match self {
            Self::VulkanGlsl => Way::SpirvCrossVulkan,
            _ => Way::SpirvCross,
        }
    }
}

/// The text of one entry point of a module, and where its resources are.
///
/// # Errors
/// Why the language cannot say it, in SPIRV-Cross's words.
pub(crate) fn write(words: &[u32], entry: &Entry, dialect: Dialect) -> Result<(String, Vec<Place>)> {
    let index = loader::spirv::ModuleIndex::new(words)?;
    let calls = loader::spirv::work::paths(&index);
    if calls > MAX_CALLS {
        let message = format!("{calls} calls along all paths are beyond SPIRV-Cross, which follows each");
        return Err(refusal(dialect.target(), message));
    }
    linked::write(words, entry, dialect)
}

/// An error of a language that cannot say something.
fn refusal(target: Target, message: String) -> crate::Error {
    crate::ErrorKind::Write { target, message }.into()
}
