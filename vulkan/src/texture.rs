//! Texel formats and shapes: conversion between VBC's and Vulkan's terms.

use crate::error::{Error, Result};
use ash::vk;
use loader::vbc::{TexelRank, TexelType};

/// A texel format in VBC's terms: numeric class, bytes per component, components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TexelFormat {
    /// Numeric class.
    pub class: TexelType,
    /// Bytes per component: 1, 2 or 4.
    pub bytes: u8,
    /// Components: 1, 2 or 4.
    pub components: u8,
}

/// One row per format: class, bytes per component, Vulkan's formats with 1, 2 and 4 components (all texel formats that
/// VBC can express).
const FORMATS: &[(TexelType, u8, [vk::Format; 3])] = &[
    (
        TexelType::UNORM,
        1,
        [vk::Format::R8_UNORM, vk::Format::R8G8_UNORM, vk::Format::R8G8B8A8_UNORM],
    ),
    (
        TexelType::SNORM,
        1,
        [vk::Format::R8_SNORM, vk::Format::R8G8_SNORM, vk::Format::R8G8B8A8_SNORM],
    ),
    (
        TexelType::UNORM,
        2,
        [
            vk::Format::R16_UNORM,
            vk::Format::R16G16_UNORM,
            vk::Format::R16G16B16A16_UNORM,
        ],
    ),
    (
        TexelType::SNORM,
        2,
        [
            vk::Format::R16_SNORM,
            vk::Format::R16G16_SNORM,
            vk::Format::R16G16B16A16_SNORM,
        ],
    ),
    (
        TexelType::FLOAT,
        4,
        [
            vk::Format::R32_SFLOAT,
            vk::Format::R32G32_SFLOAT,
            vk::Format::R32G32B32A32_SFLOAT,
        ],
    ),
    (
        TexelType::INT,
        4,
        [
            vk::Format::R32_SINT,
            vk::Format::R32G32_SINT,
            vk::Format::R32G32B32A32_SINT,
        ],
    ),
    (
        TexelType::UINT,
        4,
        [
            vk::Format::R32_UINT,
            vk::Format::R32G32_UINT,
            vk::Format::R32G32B32A32_UINT,
        ],
    ),
];

/// Texels that are depths, and Vulkan's formats of them.
const DEPTHS: [(TexelFormat, vk::Format); 2] = [
    (TexelFormat::R32F, vk::Format::D32_SFLOAT),
    (TexelFormat::R16, vk::Format::D16_UNORM),
];

impl TexelFormat {
    /// One 32-bit float.
    pub const R32F: Self = Self {
        class: TexelType::FLOAT,
        bytes: 4,
        components: 1,
    };
    /// One normalised number of 16 bits.
    pub const R16: Self = Self {
        class: TexelType::UNORM,
        bytes: 2,
        components: 1,
    };
    /// Four normalised bytes, the usual picture format.
    pub const RGBA8: Self = Self {
        class: TexelType::UNORM,
        bytes: 1,
        components: 4,
    };
    /// Four 32-bit floats.
    pub const RGBA32F: Self = Self {
        class: TexelType::FLOAT,
        bytes: 4,
        components: 4,
    };

    /// A format with four 32-bit components of a class (UNORM and SNORM: four bytes).
    pub fn wide(class: TexelType) -> Self {
        let bytes = if class == TexelType::UNORM || class == TexelType::SNORM {
            1
        } else {
            4
        };
        Self {
            class,
            bytes,
            components: 4,
        }
    }

    /// Vulkan's format.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) for a combination that VBC lacks.
    pub fn vk(self) -> Result<vk::Format> {
        let row = FORMATS.iter().find(|row| row.0 == self.class && row.1 == self.bytes);
        let column = [1, 2, 4].iter().position(|n| *n == self.components);
        match (row, column) {
            (Some(row), Some(column)) => Ok(row.2[column]),
            _ => {
                let Self {
                    class,
                    bytes,
                    components,
                } = self;
                Err(Error::data(format!(
                    "no texel format of class {class}, {bytes} bytes, {components} components"
                )))
            }
        }
    }

    /// The texel format of a Vulkan format; `None` if VBC has no such texels.
    pub fn of(format: vk::Format) -> Option<Self> {
        FORMATS.iter().find_map(|(class, bytes, formats)| {
            let at = formats.iter().position(|one| *one == format)?;
            Some(Self {
                class: *class,
                bytes: *bytes,
                components: [1, 2, 4][at],
            })
        })
    }

    /// Vulkan's format of an image of depths with these texels, which samplers compare with; `None` if there is none.
    pub fn depth(self) -> Option<vk::Format> {
        let mut depths = DEPTHS.iter();
        depths.find(|(texels, _)| *texels == self).map(|(_, format)| *format)
    }

    /// The texel format of an image of depths.
    pub fn of_depth(format: vk::Format) -> Option<Self> {
        let mut depths = DEPTHS.iter();
        depths.find(|(_, depth)| *depth == format).map(|(texels, _)| *texels)
    }

    /// Bytes of one texel.
    pub fn size(self) -> usize {
        usize::from(self.bytes) * usize::from(self.components)
    }

    /// Whether it holds integers, which cannot be filtered or blended.
    pub fn is_integer(self) -> bool {
        self.class == TexelType::INT || self.class == TexelType::UINT
    }

    /// One texel of four numbers as bytes; normalised classes clamp to their range, integers truncate.
    pub fn encode(self, texel: [f64; 4]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        for value in &texel[..usize::from(self.components).min(4)] {
            match (self.class, self.bytes) {
                (TexelType::UNORM, 1) => bytes.push((value.clamp(0.0, 1.0) * 255.0).round() as u8),
                (TexelType::UNORM, _) => {
                    bytes.extend(((value.clamp(0.0, 1.0) * 65535.0).round() as u16).to_le_bytes());
                }
                (TexelType::SNORM, 1) => bytes.push((value.clamp(-1.0, 1.0) * 127.0).round() as i8 as u8),
                (TexelType::SNORM, _) => {
                    bytes.extend(((value.clamp(-1.0, 1.0) * 32767.0).round() as i16).to_le_bytes());
                }
                (TexelType::INT, _) => bytes.extend((*value as i32).to_le_bytes()),
                (TexelType::UINT, _) => bytes.extend((*value as u32).to_le_bytes()),
                _ => bytes.extend((*value as f32).to_le_bytes()),
            }
        }
        bytes
    }

    /// One texel's bytes as four numbers; missing components read 0, a missing fourth 1.
    ///
    /// # Panics
    /// If `texel` is shorter than [`TexelFormat::size`].
    pub fn decode(self, texel: &[u8]) -> [f64; 4] {
        let mut all = [0.0, 0.0, 0.0, 1.0];
        let parts = texel[..self.size()].chunks_exact(usize::from(self.bytes));
        for (value, part) in all.iter_mut().zip(parts) {
            *value = match (self.class, part) {
                (TexelType::UNORM, [byte]) => f64::from(*byte) / 255.0,
                (TexelType::UNORM, [a, b]) => f64::from(u16::from_le_bytes([*a, *b])) / 65535.0,
                (TexelType::SNORM, [byte]) => (f64::from(*byte as i8) / 127.0).max(-1.0),
                (TexelType::SNORM, [a, b]) => (f64::from(i16::from_le_bytes([*a, *b])) / 32767.0).max(-1.0),
                (TexelType::INT, [a, b, c, d]) => f64::from(i32::from_le_bytes([*a, *b, *c, *d])),
                (TexelType::UINT, [a, b, c, d]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d])),
                (_, [a, b, c, d]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
                _ => 0.0,
            };
        }
        all
    }
}

/// The aspects of a format with the bytes of a texel as copies have them; `texel` is a colour's.
pub fn aspects(format: vk::Format, texel: usize) -> Vec<(vk::ImageAspectFlags, usize)> {
    use vk::{Format as F, ImageAspectFlags as A};
    match format {
        F::D16_UNORM => vec![(A::DEPTH, 2)],
        F::D32_SFLOAT | F::X8_D24_UNORM_PACK32 => vec![(A::DEPTH, 4)],
        F::S8_UINT => vec![(A::STENCIL, 1)],
        F::D16_UNORM_S8_UINT => vec![(A::DEPTH, 2), (A::STENCIL, 1)],
        F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => vec![(A::DEPTH, 4), (A::STENCIL, 1)],
        _ => vec![(A::COLOR, texel)],
    }
}

/// Texels along an axis at a level: halved per level, rounded down, at least 1.
pub(crate) fn at_level(size: u32, level: u32) -> u32 {
    size.checked_shr(level).unwrap_or(0).max(1)
}

/// Shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// One line of texels.
    D1,
    /// A plane.
    D2,
    /// A volume.
    D3,
    /// An array of lines.
    D1Array,
    /// An array of planes.
    D2Array,
    /// Six square planes.
    Cube,
}

impl Dim {
    /// The shape of a VBC rank; `None` for texel buffers and unknown ranks.
    pub fn of(rank: TexelRank) -> Option<Self> {
        Some(match rank {
            TexelRank::D1 => Self::D1,
            TexelRank::D2 => Self::D2,
            TexelRank::D3 => Self::D3,
            TexelRank::D1_ARRAY => Self::D1Array,
            TexelRank::D2_ARRAY => Self::D2Array,
            TexelRank::CUBE => Self::Cube,
            _ => return None,
        })
    }

    /// The shape of a view; `None` for arrays of cubes, which VBC lacks.
    pub fn of_view(view: vk::ImageViewType) -> Option<Self> {
        let all = [Self::D1, Self::D2, Self::D3, Self::D1Array, Self::D2Array, Self::Cube];
        all.into_iter().find(|dim| dim.vk().1 == view)
    }

    /// Vulkan's image and view types.
    pub(crate) fn vk(self) -> (vk::ImageType, vk::ImageViewType) {
        match self {
            Self::D1 => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D),
            Self::D2 => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D),
            Self::D3 => (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D),
            Self::D1Array => (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D_ARRAY),
            Self::D2Array => (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY),
            Self::Cube => (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_round_trip() {
        for (class, bytes, _) in FORMATS {
            for components in [1u8, 2, 4] {
                let format = TexelFormat {
                    class: *class,
                    bytes: *bytes,
                    components,
                };
                assert_eq!(TexelFormat::of(format.vk().unwrap()), Some(format));
                let texel = if format.is_integer() {
                    [3.0, 0.0, 7.0, 2.0]
                } else {
                    [1.0, 0.0, 1.0, 1.0]
                };
                let encoded = format.encode(texel);
                assert_eq!(encoded.len(), format.size());
                let back = format.decode(&encoded);
                assert_eq!(back[..components as usize], texel[..components as usize], "{format:?}");
            }
        }
        assert!(
            TexelFormat {
                class: TexelType::FLOAT,
                bytes: 1,
                components: 4
            }
            .vk()
            .is_err()
        );
        assert!(
            TexelFormat {
                class: TexelType::UNORM,
                bytes: 1,
                components: 3
            }
            .vk()
            .is_err()
        );
    }
}
