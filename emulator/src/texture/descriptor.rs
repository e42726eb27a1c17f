//! Texture descriptors as sampling uses them: their fields as numbers and rules.

use utgard::texture::{self as fields, Dimension, MipFilter, TexelFormat, TexelLayout, Wrap};

pub(super) use fields::MAX_LEVELS;

/// Where texels lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rows of `stride` bytes.
    Linear {
        /// Bytes from row to row.
        stride: u32,
    },
    /// Tiles of 16x16 texels, in u-order inside.
    Tiled,
}

/// A texture descriptor's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Descriptor {
    /// Texel format.
    pub format: TexelFormat,
    /// Exchange red and blue.
    pub swap: bool,
    /// Coordinates are texels, not parts of the texture.
    pub unnormalised: bool,
    /// Six faces.
    pub cube: bool,
    /// Dimensions.
    pub dimension: Dimension,
    /// Lowest and highest level, 4 fraction bits, as levels.
    pub lod: [f32; 2],
    /// Added to the level.
    pub lod_bias: f32,
    /// Levels are blended.
    pub mip_linear: bool,
    /// Nearest texel when the texture is made smaller, and larger.
    pub nearest: [bool; 2],
    /// Wrapping by axis; an axis that the texture does not have has one place.
    pub wrap: [Wrap; 3],
    /// Width, height, depth in texels.
    pub size: [u32; 3],
    /// Colour outside.
    pub border: [f32; 4],
    /// Where texels lie.
    pub layout: Layout,
    /// Addresses of the levels.
    pub levels: [u32; MAX_LEVELS],
    /// Bits that are set and have no known meaning: word and bits.
    pub unknown: Vec<(usize, u32)>,
}

impl Descriptor {
    /// Faces of a level that are sampled the short way: a cube's, or the one there is.
    pub fn faces(&self) -> u32 {
        if self.cube { 6 } else { 1 }
    }

    /// Whether texels that are blended can be on two faces of a cube, if it has one filter.
    pub fn blends_faces(&self) -> bool {
        self.cube && !self.nearest[0]
    }

    /// Texels of the largest level in a coordinate's unit.
    pub fn scale(&self) -> [f32; 2] {
        let [width, height, _] = self.size.map(|size| size as f32);
        if self.unnormalised { [1.0; 2] } else { [width, height] }
    }

    /// Takes a descriptor apart; 16 words for ten levels, more for more. Missing words are zero.
    pub fn parse(words: &[u32]) -> Self {
        let head = &words[..words.len().min(fields::Descriptor::WORDS)];
        let f = fields::Descriptor::from_words(head);
        let lod = |sixteenths: u8| f32::from(sixteenths) / 16.0;
        // Nine bits with a sign.
        let bias = (f.lod_bias << 7) as i16 >> 7;
        let border = [f.border_red, f.border_green, f.border_blue, f.border_alpha];
        Self {
            format: f.format,
            swap: f.swap,
            unnormalised: f.unnormalised,
            cube: f.cube,
            dimension: f.dimension,
            lod: [lod(f.min_lod), lod(f.max_lod)],
            lod_bias: f32::from(bias) / 16.0,
            mip_linear: f.mip_filter == MipFilter::Linear,
            nearest: [f.min_nearest, f.mag_nearest],
            wrap: wrap(&f),
            size: [f.width, f.height, f.depth].map(u32::from),
            border: border.map(|channel| f32::from(channel) / 65535.0),
            layout: if f.has_stride || f.layout == TexelLayout::Linear {
                Layout::Linear {
                    stride: f.stride.into(),
                }
            } else {
                Layout::Tiled
            },
            levels: std::array::from_fn(|number| fields::level(words, number)),
            unknown: fields::Descriptor::undocumented(head),
        }
    }

    /// Levels that can be sampled.
    pub fn level_count(&self) -> usize {
        let largest = self.size.iter().copied().max().unwrap_or(1).max(1);
        let all = 32 - largest.leading_zeros();
        let wanted = self.lod[1].ceil() as u32 + 1;
        all.min(wanted).min(MAX_LEVELS as u32) as usize
    }
}

/// Wrapping by axis: what a coordinate says that the texture has no axis for does not matter (piglit's one-dimensional
/// textures with a border pass on hardware, whatever t is).
fn wrap(fields: &fields::Descriptor) -> [Wrap; 3] {
    let (s, t, r) = (fields.wrap_s, fields.wrap_t, fields.wrap_r);
    match fields.dimension {
        Dimension::One => [s, Wrap::Clamp, Wrap::Clamp],
        Dimension::Two => [s, t, Wrap::Clamp],
        Dimension::Three | Dimension::Four => [s, t, r],
    }
}
