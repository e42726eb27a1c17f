//! The render state words: how a draw's fragments are generated, tested and blended (docs/spec/mali/state.md, section
//! 1).

use crate::field::{Aligned, codes};
use crate::words::words;

codes! {
    /// A comparison of depth, stencil or alpha.
    pub complete enum Compare, 3 bits {
        /// Never.
        Never = 0, "never";
        /// Less.
        Less = 1, "less";
        /// Equal.
        Equal = 2, "equal";
        /// Less or equal.
        LessEqual = 3, "less or equal";
        /// Greater.
        Greater = 4, "greater";
        /// Not equal.
        NotEqual = 5, "not equal";
        /// Greater or equal.
        GreaterEqual = 6, "greater or equal";
        /// Always.
        Always = 7, "always";
    }
}

impl Compare {
    /// Whether the comparison holds for two values.
    #[inline(always)]
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Never => false,
            Self::Less => a < b,
            Self::Equal => a == b,
            Self::LessEqual => a <= b,
            Self::Greater => a > b,
            Self::NotEqual => a != b,
            Self::GreaterEqual => a >= b,
            Self::Always => true,
        }
    }
}

codes! {
    /// A stencil operation.
    pub complete enum StencilOp, 3 bits {
        /// Keeps the value.
        Keep = 0, "keep";
        /// Replaces it by the reference.
        Replace = 1, "replace";
        /// Sets it to zero.
        Zero = 2, "zero";
        /// Inverts all bits.
        Invert = 3, "invert";
        /// Increments, wrapping to zero.
        IncrementWrap = 4, "increment and wrap";
        /// Decrements, wrapping to the maximum.
        DecrementWrap = 5, "decrement and wrap";
        /// Increments, saturating.
        Increment = 6, "increment";
        /// Decrements, saturating at zero.
        Decrement = 7, "decrement";
    }
}

codes! {
    /// A blend equation.
    pub open enum Equation, 3 bits {
        /// Source minus destination.
        Subtract = 0, "subtract";
        /// Destination minus source.
        ReverseSubtract = 1, "reverse subtract";
        /// Sum.
        Add = 2, "add";
        /// The lesser of the sum and the destination.
        Min = 4, "min";
        /// The greater of the sum and the destination.
        Max = 5, "max";
    }
}

codes! {
    /// A blend factor.
    pub open enum FactorSource, 3 bits {
        /// The fragment's colour.
        Source = 0, "source";
        /// The tile's colour.
        Destination = 1, "destination";
        /// The blend constant.
        Constant = 2, "constant";
        /// Zero; its complement is one.
        Zero = 3, "zero";
        /// The minimum of the source's alpha and one minus the tile's.
        Saturate = 4, "saturate";
        /// The fragment's second colour.
        Second = 5, "second source";
        /// The same as [`FactorSource::Saturate`], in older drivers.
        OldSaturate = 7, "saturate (old)";
    }
}

codes! {
    /// Memory format of a varying.
    pub open enum VaryingFormat, 3 bits {
        /// Four floats.
        Float4 = 0, "vec4";
        /// Two floats.
        Float2 = 1, "vec2";
        /// Four halves.
        Half4 = 2, "half4";
        /// Two halves.
        Half2 = 3, "half2";
    }
}

impl VaryingFormat {
    /// Size in bytes; that of four floats if unknown.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Float4 | Self::Undocumented(_) => 16,
            Self::Float2 | Self::Half4 => 8,
            Self::Half2 => 4,
        }
    }
}

/// Varyings that a render state has formats for.
pub const VARYINGS: usize = 12;

words! {
    /// The render state word.
    pub struct RenderState, 16 words {
        /// Blend constant, blue.
        blend_blue: u8, 0, 0, 8;
        /// Blend constant, green.
        blend_green: u8, 0, 16, 8;
        /// Blend constant, red.
        blend_red: u8, 1, 0, 8;
        /// Blend constant, alpha.
        blend_alpha: u8, 1, 16, 8;
        /// Blend equation of colour.
        color_equation: Equation, 2, 0, 3;
        /// Blend equation of alpha.
        alpha_equation: Equation, 2, 3, 3;
        /// Factor of the fragment's colour.
        color_source: FactorSource, 2, 6, 3;
        /// Use one minus the factor.
        color_source_complement: bool, 2, 9, 1;
        /// Use the factor's alpha.
        color_source_alpha: bool, 2, 10, 1;
        /// Factor of the tile's colour.
        color_destination: FactorSource, 2, 11, 3;
        /// Use one minus the factor.
        color_destination_complement: bool, 2, 14, 1;
        /// Use the factor's alpha.
        color_destination_alpha: bool, 2, 15, 1;
        /// Factor of the fragment's alpha.
        alpha_source: FactorSource, 2, 16, 3;
        /// Use one minus the factor.
        alpha_source_complement: bool, 2, 19, 1;
        /// Factor of the tile's alpha.
        alpha_destination: FactorSource, 2, 20, 3;
        /// Use one minus the factor.
        alpha_destination_complement: bool, 2, 23, 1;
        /// 12 in draws and 0 in reloads of a tile; meaning unknown.
        unknown_2_24: u8, 2, 24, 4;
        /// Colour write mask, red lowest.
        write_mask: u8, 2, 28, 4;
        /// Depth is written.
        depth_write: bool, 3, 0, 1;
        /// Comparison of the fragment's depth with the tile's.
        depth_compare: Compare, 3, 1, 3;
        /// Whether fragments before the near plane are kept.
        no_near_clip: bool, 3, 4, 1;
        /// Whether fragments beyond the far plane are kept.
        no_far_clip: bool, 3, 5, 1;
        /// Register of the depth.
        depth_register: u8, 3, 6, 4;
        /// The register holds packed depth and stencil, to reload a tile.
        packed_depth: bool, 3, 10, 1;
        /// The program writes depth.
        depth_from_program: bool, 3, 11, 1;
        /// The program writes the stencil.
        stencil_from_program: bool, 3, 12, 1;
        /// Polygon offset by slope, signed, in quarters.
        offset_slope: u8, 3, 16, 8;
        /// Polygon offset, signed, in halves.
        offset_units: u8, 3, 24, 8;
        /// Minimum depth.
        depth_near: u16, 4, 0, 16;
        /// Maximum depth.
        depth_far: u16, 4, 16, 16;
        /// Stencil of the front: comparison.
        front_compare: Compare, 5, 0, 3;
        /// When the comparison fails.
        front_fail: StencilOp, 5, 3, 3;
        /// When depth fails.
        front_depth_fail: StencilOp, 5, 6, 3;
        /// When both pass.
        front_pass: StencilOp, 5, 9, 3;
        /// Reference.
        front_reference: u8, 5, 16, 8;
        /// Mask of the comparison.
        front_mask: u8, 5, 24, 8;
        /// Stencil of the back: comparison.
        back_compare: Compare, 6, 0, 3;
        /// When the comparison fails.
        back_fail: StencilOp, 6, 3, 3;
        /// When depth fails.
        back_depth_fail: StencilOp, 6, 6, 3;
        /// When both pass.
        back_pass: StencilOp, 6, 9, 3;
        /// Reference.
        back_reference: u8, 6, 16, 8;
        /// Mask of the comparison.
        back_mask: u8, 6, 24, 8;
        /// Bits of the stencil that the front writes.
        front_write_mask: u8, 7, 0, 8;
        /// Bits of the stencil that the back writes.
        back_write_mask: u8, 7, 8, 8;
        /// Reference of the alpha test.
        alpha_reference: u8, 7, 16, 8;
        /// Comparison of the fragment's alpha with the reference.
        alpha_compare: Compare, 8, 0, 3;
        /// Coverage by samples, with the two others.
        multisample_a: bool, 8, 3, 1;
        /// Meaning unknown.
        unknown_8_4: bool, 8, 4, 1;
        /// Coverage by samples.
        multisample_b: bool, 8, 5, 1;
        /// Coverage by samples.
        multisample_c: bool, 8, 6, 1;
        /// Alpha sets the number of covered samples.
        alpha_to_coverage: bool, 8, 7, 1;
        /// Alpha becomes one afterwards.
        alpha_to_one: bool, 8, 8, 1;
        /// Points 0, lines 1, triangles 2: a hint.
        primitive: u8, 8, 10, 2;
        /// Mask of samples that are written.
        sample_mask: u8, 8, 12, 4;
        /// Register of the colour.
        color_register: u8, 8, 16, 4;
        /// The same again.
        color_register_1: u8, 8, 20, 4;
        /// The same again.
        color_register_2: u8, 8, 24, 4;
        /// The same again.
        color_register_3: u8, 8, 28, 4;
        /// Words of the program's first instruction, a hint.
        first_length: u8, 9, 0, 5;
        /// Address of the program.
        program: Aligned<5>, 9, 5, 27;
        /// Formats of the varyings 0 to 9, three bits each.
        varying_formats: u32, 10, 0, 30;
        /// Format of varying 10, low bits.
        varying_10_low: u8, 10, 30, 2;
        /// Log2 of the uniform space in vec4s, rounded up.
        uniform_size: u8, 11, 0, 4;
        /// Address of the uniform blocks' list.
        uniforms: Aligned<4>, 11, 4, 28;
        /// Address of the texture descriptors' list.
        textures: u32, 12, 0, 32;
        /// Stride of the varyings in units of eight bytes.
        varying_stride: u8, 13, 0, 5;
        /// Whether there are textures.
        has_textures: bool, 13, 5, 1;
        /// Meaning unknown.
        unknown_13_6: bool, 13, 6, 1;
        /// Whether there are uniforms.
        has_uniforms: bool, 13, 7, 1;
        /// Depth may be tested before the program runs, a hint.
        early_depth: u8, 13, 8, 2;
        /// Meaning unknown.
        unknown_13_10: u8, 13, 10, 2;
        /// Hidden fragments may be skipped, a hint.
        pixel_kill: bool, 13, 12, 1;
        /// Meaning unknown.
        unknown_13_13: bool, 13, 13, 1;
        /// Textures in the list.
        texture_count: u16, 13, 14, 14;
        /// Register of the second colour.
        second_register: u8, 13, 28, 4;
        /// Whether triangles that are counter-clockwise in the picture's rows are front-facing.
        front_ccw: bool, 14, 12, 1;
        /// Whether colours are dithered.
        dither: bool, 14, 13, 1;
        /// Whether there are uniforms, repeated.
        has_uniforms_again: bool, 14, 16, 1;
        /// Format of varying 10, high bit.
        varying_10_high: bool, 15, 0, 1;
        /// Format of varying 11.
        varying_11: VaryingFormat, 15, 1, 3;
        /// Address of the varyings.
        varyings: Aligned<4>, 15, 4, 28;
    }
}

impl RenderState {
    /// Format of a varying.
    pub fn varying_format(&self, number: usize) -> VaryingFormat {
        use crate::field::Code;
        match number {
            0..=9 => VaryingFormat::from_code(self.varying_formats >> (3 * number)),
            10 => VaryingFormat::from_code(self.varying_10_low.code() | self.varying_10_high.code() << 2),
            _ => self.varying_11,
        }
    }

    /// Sets all copies of the colour register.
    pub fn set_color_register(&mut self, register: u8) {
        self.color_register = register;
        (self.color_register_1, self.color_register_2, self.color_register_3) = (register, register, register);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::places_are_apart;

    #[test]
    fn every_word_survives() {
        places_are_apart(RenderState::PLACES, RenderState::WORDS);
        let words: [u32; 16] = std::array::from_fn(|at| 0x9e37_79b9u32.wrapping_mul(at as u32 + 1));
        let again = RenderState::from_words(&words).to_words();
        let unknown = RenderState::undocumented(&words);
        for (at, (word, again)) in words.iter().zip(again).enumerate() {
            let lost = unknown
                .iter()
                .find(|(number, _)| *number == at)
                .map_or(0, |(_, bits)| *bits);
            assert_eq!(*word, again | lost, "word {at}");
        }
    }

    #[test]
    fn a_recorded_state_has_no_unknown_bits() {
        let words = [
            0,
            0,
            0xfc3b_1ad2,
            0x3e,
            0xffff_0000,
            7,
            7,
            0,
            0xf007,
            0,
            0,
            0,
            0,
            0x300,
            0x3000,
            0,
        ];
        assert!(RenderState::undocumented(&words).is_empty());
        assert_eq!(RenderState::undocumented(&[0x100]), [(0, 0x100)]);
    }
}
