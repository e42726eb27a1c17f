//! The writer of a text, and the places of its resources.

use std::fmt;

/// The writer of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// naga, from its own representation.
    Naga,
    /// SPIRV-Cross, from SPIR-V.
    SpirvCross,
    /// SPIRV-Cross, as GLSL for Vulkan, because OpenGL's GLSL cannot express it.
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

/// The place of a resource in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The text states no place.
    Nowhere,
    /// This binding.
    Binding(u32),
    /// In these combined samplers, by name and binding.
    Combined(Vec<(String, u32)>),
    /// These registers (HLSL) or attributes (MSL), as written in the text.
    Registers(Vec<String>),
}

/// A resource, in the module and in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its kind: `uniform-buffer`, `image`.
    pub kind: &'static str,
    /// Its name in the text.
    pub name: String,
    /// Its descriptor set in the module.
    pub set: Option<u32>,
    /// Its binding in the module.
    pub binding: Option<u32>,
    /// Its place in the text.
    pub at: At,
}
