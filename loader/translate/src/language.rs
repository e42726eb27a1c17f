//! Input and output languages, by name.

use std::fmt;

/// Input languages and file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// WebGPU's language.
    Wgsl,
    /// OpenGL's language.
    Glsl,
    /// Direct3D's language.
    Hlsl,
    /// A SPIR-V module.
    Spirv,
    /// A stage of a VBC file.
    Vbc,
    /// A Skia program in binary form.
    Sksl,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wgsl => "wgsl",
            Self::Glsl => "glsl",
            Self::Hlsl => "hlsl",
            Self::Spirv => "spirv",
            Self::Vbc => "vbc",
            Self::Sksl => loader::sksl::FORMAT,
        })
    }
}

/// Output languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// WebGPU's language.
    Wgsl,
    /// OpenGL's language.
    Glsl,
    /// Metal's language.
    Msl,
    /// Direct3D's language.
    Hlsl,
    /// SPIR-V 1.5.
    Spirv,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wgsl => "wgsl",
            Self::Glsl => "glsl",
            Self::Msl => "msl",
            Self::Hlsl => "hlsl",
            Self::Spirv => "spirv",
        })
    }
}
