//! Who wrote a text, and where it has its resources.

use std::fmt;

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// naga, of its own representation.
    Naga,
    /// SPIRV-Cross, of SPIR-V.
    SpirvCross,
    /// The same, as GLSL for Vulkan: OpenGL's cannot say it.
    SpirvCrossVulkan,
    /// glslang, of GLSL and HLSL.
    Glslang,
    /// This project.
    Own,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Naga => "naga",
            Self::SpirvCross => "SPIRV-Cross",
            Self::SpirvCrossVulkan => "SPIRV-Cross, for Vulkan",
            Self::Glslang => "glslang",
            Self::Own => "skrymir",
        })
    }
}

/// Where a text has a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The text gives it no place.
    Nowhere,
    /// This binding.
    Binding(u32),
    /// In these combined samplers, by name and binding.
    Combined(Vec<(String, u32)>),
    /// These registers (HLSL) or attributes (MSL), as the text has them.
    Registers(Vec<String>),
}

/// A resource, in the module and in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is: `uniform-buffer`, `image`.
    pub kind: &'static str,
    /// Its name in the text.
    pub name: String,
    /// Its descriptor set in the module.
    pub set: Option<u32>,
    /// Its binding in the module.
    pub binding: Option<u32>,
    /// Where the text has it.
    pub at: At,
}
