//! Maps SPIR-V image types to the format's texel types.

use super::types::{TexelRank, TexelType};
use crate::spirv::{Image, dim, image_format as format};

/// The texel rank of an image type's dimensions.
pub(super) fn rank(image: &Image) -> Option<TexelRank> {
    match (image.dim, image.arrayed, image.multisampled) {
        (dim::D1, 0, 0) => Some(TexelRank::D1),
        (dim::D2, 0, 0) => Some(TexelRank::D2),
        (dim::D3, 0, 0) => Some(TexelRank::D3),
        (dim::D1, 1, 0) => Some(TexelRank::D1_ARRAY),
        (dim::D2, 1, 0) => Some(TexelRank::D2_ARRAY),
        (dim::CUBE, 0, 0) => Some(TexelRank::CUBE),
        (dim::BUFFER, 0, 0) => Some(TexelRank::BUFFER),
        _ => None,
    }
}

/// Texel type, bytes per component and component count of an image format that the compiler supports.
pub(super) fn texel_format(format: u32) -> Option<(TexelType, u8, u8)> {
    FORMATS
        .iter()
        .find(|row| row.0 == format)
        .map(|row| (row.1, row.2, row.3))
}

/// Component count of an image format that the compiler supports.
pub(super) fn components(format: u32) -> Option<u8> {
    texel_format(format).map(|row| row.2)
}

/// SPIR-V image formats of every legal texel: number, type, bytes of a component, components.
const FORMATS: [(u32, TexelType, u8, u8); 21] = [
    (format::RGBA32F, TexelType::FLOAT, 4, 4),
    (format::RG32F, TexelType::FLOAT, 4, 2),
    (format::R32F, TexelType::FLOAT, 4, 1),
    (format::RGBA32I, TexelType::INT, 4, 4),
    (format::RG32I, TexelType::INT, 4, 2),
    (format::R32I, TexelType::INT, 4, 1),
    (format::RGBA32UI, TexelType::UINT, 4, 4),
    (format::RG32UI, TexelType::UINT, 4, 2),
    (format::R32UI, TexelType::UINT, 4, 1),
    (format::RGBA8, TexelType::UNORM, 1, 4),
    (format::RG8, TexelType::UNORM, 1, 2),
    (format::R8, TexelType::UNORM, 1, 1),
    (format::RGBA16, TexelType::UNORM, 2, 4),
    (format::RG16, TexelType::UNORM, 2, 2),
    (format::R16, TexelType::UNORM, 2, 1),
    (format::RGBA8_SNORM, TexelType::SNORM, 1, 4),
    (format::RG8_SNORM, TexelType::SNORM, 1, 2),
    (format::R8_SNORM, TexelType::SNORM, 1, 1),
    (format::RGBA16_SNORM, TexelType::SNORM, 2, 4),
    (format::RG16_SNORM, TexelType::SNORM, 2, 2),
    (format::R16_SNORM, TexelType::SNORM, 2, 1),
];
