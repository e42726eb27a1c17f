//! Texture descriptors (docs/spec/mali/textures.md).

use crate::field::codes;
use crate::words::words;

codes! {
    /// A texel format.
    pub open enum TexelFormat, 6 bits {
        /// None: an absent view.
        Missing = 0x00, "none";
        /// Luminance.
        L8 = 0x09, "L8";
        /// Alpha.
        A8 = 0x0a, "A8";
        /// Intensity.
        I8 = 0x0b, "I8";
        /// Sixteen bits: 5 blue, 6 green, 5 red.
        Bgr565 = 0x0e, "BGR565";
        /// Sixteen bits: 5 blue, 5 green, 5 red, 1 alpha.
        Bgra5551 = 0x0f, "BGRA5551";
        /// Sixteen bits: 4 per channel.
        Bgra4444 = 0x10, "BGRA4444";
        /// Luminance, alpha.
        L8A8 = 0x11, "L8A8";
        /// Luminance of sixteen bits.
        L16 = 0x12, "L16";
        /// Alpha of sixteen bits.
        A16 = 0x13, "A16";
        /// Intensity of sixteen bits.
        I16 = 0x14, "I16";
        /// Three bytes.
        Rgb888 = 0x15, "RGB888";
        /// Four bytes.
        Rgba8888 = 0x16, "RGBA8888";
        /// Four bytes, the last unused.
        Rgbx8888 = 0x17, "RGBX8888";
        /// Compressed blocks of 4x4 texels.
        Etc1 = 0x20, "ETC1";
        /// Luminance, a half.
        L16F = 0x22, "L16F";
        /// Alpha, a half.
        A16F = 0x23, "A16F";
        /// Intensity, a half.
        I16F = 0x24, "I16F";
        /// Luminance, alpha: halves.
        L16A16F = 0x25, "L16A16F";
        /// Four halves.
        Rgba16F = 0x26, "RGBA16F";
        /// Depth of 24 bits.
        Z24X8 = 0x2c, "Z24X8";
        /// Three halves.
        Rgb16F = 0x2f, "RGB16F";
        /// Depth of 24 bits, and stencil.
        Z24S8 = 0x32, "Z24S8";
    }
}

impl TexelFormat {
    /// Bytes per texel, or per block for [`TexelFormat::Etc1`]; `None` for unknown formats.
    pub const fn bytes(self) -> Option<u32> {
        Some(match self {
            Self::L8 | Self::A8 | Self::I8 => 1,
            Self::Bgr565 | Self::Bgra5551 | Self::Bgra4444 | Self::L8A8 => 2,
            Self::L16 | Self::A16 | Self::I16 | Self::L16F | Self::A16F | Self::I16F => 2,
            Self::Rgb888 => 3,
            Self::Rgba8888 | Self::Rgbx8888 | Self::L16A16F | Self::Z24X8 | Self::Z24S8 => 4,
            Self::Rgb16F => 6,
            Self::Etc1 | Self::Rgba16F => 8,
            Self::Missing | Self::Undocumented(_) => return None,
        })
    }

    /// Whether texels are in compressed blocks of 4x4.
    pub const fn is_compressed(self) -> bool {
        matches!(self, Self::Etc1)
    }
}

codes! {
    /// Wrap mode of coordinates outside the texture.
    pub complete enum Wrap, 3 bits {
        /// Repeat.
        Repeat = 0, "repeat";
        /// Clamp to the edge texels.
        Clamp = 1, "clamp to edge";
        /// Clamp to halfway into the border.
        ClampHalfBorder = 2, "clamp to half border";
        /// Clamp to the border.
        ClampBorder = 3, "clamp to border";
        /// Mirrored repeat.
        Mirror = 4, "mirror";
        /// Mirror once, then clamp to the edge texels.
        MirrorOnceClamp = 5, "mirror once to edge";
        /// Mirror once, then clamp to halfway into the border.
        MirrorOnceHalfBorder = 6, "mirror once to half border";
        /// Mirror once, then clamp to the border.
        MirrorOnceBorder = 7, "mirror once to border";
    }
}

codes! {
    /// Dimensions of a texture.
    pub complete enum Dimension, 2 bits {
        /// 1D.
        One = 0, "1D";
        /// 2D; a cube uses [`Dimension::Three`].
        Two = 1, "2D";
        /// Several slices or faces.
        Three = 2, "3D";
        /// In no known descriptor.
        Four = 3, "3";
    }
}

codes! {
    /// Filter between mip levels.
    pub open enum MipFilter, 2 bits {
        /// The nearest level.
        Nearest = 0, "nearest";
        /// Linear interpolation of two levels.
        Linear = 3, "linear";
    }
}

codes! {
    /// Memory layout of texels.
    pub open enum TexelLayout, 2 bits {
        /// Row by row.
        Linear = 0, "linear";
        /// Tiles of 16x16 texels, each in u-order.
        Tiled = 3, "tiled";
    }
}

/// Maximum number of levels: 4096 down to 1.
pub const MAX_LEVELS: usize = 13;

/// Size of the longest descriptor in bytes.
pub const MAX_BYTES: u32 = 128;

words! {
    /// The head of a texture descriptor; the levels' addresses follow it, see [`level`].
    pub struct Descriptor, 7 words {
        /// Format of the texels.
        format: TexelFormat, 0, 0, 6;
        /// Whether red and blue are swapped.
        swap: bool, 0, 7, 1;
        /// Bytes of a row in the linear layout.
        stride: u16, 0, 16, 15;
        /// Whether coordinates are in texels rather than normalised.
        unnormalised: bool, 1, 7, 1;
        /// Whether it is a cube map.
        cube: bool, 1, 9, 1;
        /// Dimensions.
        dimension: Dimension, 1, 10, 2;
        /// Lowest level, in sixteenths.
        min_lod: u8, 1, 12, 8;
        /// Highest level, in sixteenths.
        max_lod: u8, 1, 20, 8;
        /// Added to the level, signed, in sixteenths.
        lod_bias: u16, 1, 28, 9;
        /// Whether the stride is used.
        has_stride: bool, 2, 8, 1;
        /// Filter between levels.
        mip_filter: MipFilter, 2, 9, 2;
        /// Nearest filter for minification.
        min_nearest: bool, 2, 11, 1;
        /// Nearest filter for magnification.
        mag_nearest: bool, 2, 12, 1;
        /// Wrapping by columns.
        wrap_s: Wrap, 2, 13, 3;
        /// Wrapping by rows.
        wrap_t: Wrap, 2, 16, 3;
        /// Wrapping by slices.
        wrap_r: Wrap, 2, 19, 3;
        /// Width in texels.
        width: u16, 2, 22, 13;
        /// Height in texels.
        height: u16, 3, 3, 13;
        /// Depth in texels.
        depth: u16, 3, 16, 13;
        /// Border red.
        border_red: u16, 3, 29, 16;
        /// Border green.
        border_green: u16, 4, 13, 16;
        /// Border blue.
        border_blue: u16, 4, 29, 16;
        /// Border alpha.
        border_alpha: u16, 5, 13, 16;
        /// Memory layout of the texels.
        layout: TexelLayout, 6, 13, 2;
        /// Address of level 0, low bits: see [`level`].
        level_0_low: u8, 6, 30, 2;
    }
}

/// Bit of the first level's address, counted from the descriptor's start.
const LEVELS: usize = 6 * 32 + 30;

/// Bits of a level's address, in units of 64 bytes.
const LEVEL_BITS: usize = 26;

const fn level_place(number: usize) -> crate::words::Place {
    let bit = LEVELS + number * LEVEL_BITS;
    crate::words::Place {
        name: "level",
        word: bit / 32,
        bit: (bit % 32) as u32,
        width: LEVEL_BITS as u32,
    }
}

/// Address of a level.
pub fn level(words: &[u32], number: usize) -> u32 {
    level_place(number).of(words) << 6
}

/// Sets the address of a level, whose bits must be clear; the unit is 64 bytes.
pub fn set_level(words: &mut [u32], number: usize, address: u32) {
    level_place(number).put(words, address >> 6);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::places_are_apart;

    #[test]
    fn a_recorded_descriptor_matches_the_spec() {
        places_are_apart(Descriptor::PLACES, Descriptor::WORDS);
        let mut words = [0x96, 0x0600_0400, 0x1000_0600, 0x0001_0200, 0, 0, 0x6000, 0xc0fd_ef30];
        let d = Descriptor::from_words(&words);
        assert_eq!((d.format, d.swap), (TexelFormat::Rgba8888, true));
        assert_eq!((d.width, d.height, d.depth), (64, 64, 1));
        assert_eq!(
            (d.dimension, d.mip_filter, d.layout),
            (Dimension::Two, MipFilter::Linear, TexelLayout::Tiled)
        );
        assert!(Descriptor::undocumented(&words[..Descriptor::WORDS]).is_empty());
        assert_eq!(d.to_words(), words[..Descriptor::WORDS]);
        words[0] |= 1 << 31;
        assert_eq!(Descriptor::undocumented(&words[..7]), [(0, 1 << 31)]);
    }

    #[test]
    fn levels_are_packed() {
        let mut words = [0; 32];
        for number in 0..MAX_LEVELS {
            set_level(&mut words, number, 0x1234_0040 + 64 * number as u32);
        }
        for number in 0..MAX_LEVELS {
            assert_eq!(level(&words, number), 0x1234_0040 + 64 * number as u32);
        }
    }
}
