//! Image types of SPIR-V, and which texels of the format they are.

use super::types::{TexelRank, TexelType};

/// `Sampled` of an image that is read with a sampler, or of a uniform texel buffer.
pub(super) const SAMPLED: u32 = 1;

/// `Sampled` of a storage image, storage texel buffer or subpass input.
pub(super) const STORAGE: u32 = 2;

/// `Dim` of a subpass input.
pub(super) const DIM_SUBPASS: u32 = 6;

/// The operands of an image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// The sampled type.
    pub texel: TexelType,
    pub dim: u32,
    pub arrayed: u32,
    pub multisampled: u32,
    pub sampled: u32,
    /// Image format; 0 is none.
    pub format: u32,
}

impl Image {
    /// The texel rank with these dimensions.
    pub fn rank(&self) -> Option<TexelRank> {
        rank(self.dim, self.arrayed, self.multisampled)
    }

    /// Texel type, bytes of a component and components of its format, where it has one that the compiler knows.
    pub fn format(&self) -> Option<(TexelType, u8, u8)> {
        format(self.format)
    }
}

/// The texel rank of an image type's dimensions.
pub(super) fn rank(dim: u32, arrayed: u32, multisampled: u32) -> Option<TexelRank> {
    match (dim, arrayed, multisampled) {
        (0, 0, 0) => Some(TexelRank::D1),
        (1, 0, 0) => Some(TexelRank::D2),
        (2, 0, 0) => Some(TexelRank::D3),
        (0, 1, 0) => Some(TexelRank::D1_ARRAY),
        (1, 1, 0) => Some(TexelRank::D2_ARRAY),
        (3, 0, 0) => Some(TexelRank::CUBE),
        (5, 0, 0) => Some(TexelRank::BUFFER),
        _ => None,
    }
}

/// Texel type, bytes of a component and components of an image format that the compiler knows.
pub(super) fn format(format: u32) -> Option<(TexelType, u8, u8)> {
    FORMATS
        .iter()
        .find(|row| row.0 == format)
        .map(|row| (row.1, row.2, row.3))
}

/// Components of an image format that the compiler knows.
pub(super) fn components(format: u32) -> Option<u8> {
    self::format(format).map(|row| row.2)
}

/// SPIR-V image formats of every legal texel: number, type, bytes of a component, components.
const FORMATS: [(u32, TexelType, u8, u8); 21] = [
    (1, TexelType::FLOAT, 4, 4),
    (6, TexelType::FLOAT, 4, 2),
    (3, TexelType::FLOAT, 4, 1),
    (21, TexelType::INT, 4, 4),
    (25, TexelType::INT, 4, 2),
    (24, TexelType::INT, 4, 1),
    (30, TexelType::UINT, 4, 4),
    (35, TexelType::UINT, 4, 2),
    (33, TexelType::UINT, 4, 1),
    (4, TexelType::UNORM, 1, 4),
    (13, TexelType::UNORM, 1, 2),
    (15, TexelType::UNORM, 1, 1),
    (10, TexelType::UNORM, 2, 4),
    (12, TexelType::UNORM, 2, 2),
    (14, TexelType::UNORM, 2, 1),
    (5, TexelType::SNORM, 1, 4),
    (18, TexelType::SNORM, 1, 2),
    (20, TexelType::SNORM, 1, 1),
    (16, TexelType::SNORM, 2, 4),
    (17, TexelType::SNORM, 2, 2),
    (19, TexelType::SNORM, 2, 1),
];
