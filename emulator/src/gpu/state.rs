//! A draw's render state as the tiles use it: the fields of [`RenderState`] as numbers and rules.

use crate::blend::{Blending, Factor};
use crate::fault::Result;
use crate::fragment_ops::Tests;
use crate::memory::Memory;
use crate::silicon::{Silicon, Switch};
use utgard::state::{Compare, RenderState, VARYINGS, VaryingFormat};

pub use crate::fragment_ops::Stencil;

/// The render state word's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// How colours meet those of the tile.
    pub blending: Blending,
    /// Depth is written.
    pub depth_write: bool,
    /// Depth comparison of the fragment with the tile.
    pub depth_compare: Compare,
    /// Register of the depth, when the program writes it.
    pub depth_register: Option<usize>,
    /// The register holds packed depth and stencil, to reload a tile.
    pub packed_depth: bool,
    /// Polygon offset: slope factor and units.
    pub polygon_offset: [f32; 2],
    /// Depth range fragments are clamped to.
    pub depth_range: [f32; 2],
    /// Front, back.
    pub stencil: [Stencil; 2],
    /// Comparison of the fragment's alpha with the reference.
    pub alpha_compare: Compare,
    /// Reference of the alpha test.
    pub alpha_reference: u8,
    /// Coverage by samples.
    pub multisample: bool,
    /// Alpha says how many samples are covered.
    pub alpha_to_coverage: bool,
    /// Alpha becomes one behind that.
    pub alpha_to_one: bool,
    /// Samples that are written.
    pub sample_mask: u8,
    /// Register of the colour.
    pub color_register: usize,
    /// Register of the second colour, for factors that use it.
    pub second_register: usize,
    /// Address of the program.
    pub program: u32,
    /// Format of each varying slot.
    pub varying_formats: [VaryingFormat; VARYINGS],
    /// Address of the list of uniform blocks.
    pub uniforms: u32,
    /// Bytes of the uniforms, at least.
    pub uniform_bytes: u32,
    /// There are uniforms.
    pub has_uniforms: bool,
    /// Address of the list of texture descriptors.
    pub textures: u32,
    /// Textures in the list.
    pub texture_count: u32,
    /// Bytes from one vertex's varyings to the next.
    pub varying_stride: u32,
    /// Address of the varyings.
    pub varyings: u32,
    /// Triangles that turn counter-clockwise in the picture's rows are the front.
    pub front_ccw: bool,
    /// Words with undocumented bits: number and the bits.
    pub unknown: Vec<(usize, u32)>,
}

/// Words of a render state.
pub const STATE_WORDS: u32 = RenderState::WORDS as u32;

impl State {
    /// Fragments are tested by the depth of their primitive at most, or by nothing but their alpha, and blended with one colour.
    pub fn is_simple(&self) -> bool {
        let one_test = self.alpha_compare == Compare::Always || self.blending.alpha_test.is_some();
        self.stencil.iter().all(Stencil::is_ignored) && self.takes_words() && one_test && !self.multisample
    }

    /// Colours may come as words in a tile of one sample, for nothing but one colour's blending is done with them, and a
    /// test of alpha.
    pub fn takes_words(&self) -> bool {
        !(self.alpha_to_coverage || self.alpha_to_one || self.packed_depth)
            && self.sample_mask == 15
            && (self.depth_register.is_none() || !self.uses_depth())
            && !self.blending.uses_second()
    }

    /// Samples of one pixel may fare differently, whatever the shape covers of them.
    pub fn tells_samples_apart(&self) -> bool {
        self.alpha_to_coverage || self.sample_mask != 15 || self.uses_depth()
    }

    /// The stencil that counts on the side that is seen, if one does.
    pub fn stencil_of(&self, front: bool) -> Option<&Stencil> {
        Some(&self.stencil[usize::from(!front)]).filter(|face| !face.is_ignored())
    }

    /// The tests of stencil and depth on the side that is seen.
    pub(crate) fn tests(&self, front: bool) -> Tests<'_> {
        Tests {
            stencil: self.stencil_of(front),
            depth: self.uses_depth().then_some((self.depth_compare, self.depth_write)),
        }
    }

    /// Fragments of the side that is seen meet a test of depth or stencil.
    pub fn is_tested(&self, front: bool) -> bool {
        self.uses_depth() || self.stencil_of(front).is_some()
    }

    /// The alpha test, where there is one and no other.
    pub fn only_alpha_test(&self) -> Option<(Compare, u8)> {
        let is_tested = self.is_tested(true) || self.is_tested(false);
        (self.alpha_compare != Compare::Always && !is_tested).then_some((self.alpha_compare, self.alpha_reference))
    }

    /// Depth is compared or written.
    pub fn uses_depth(&self) -> bool {
        self.depth_compare != Compare::Always || self.depth_write
    }

    /// The render state at an address.
    ///
    /// # Errors
    /// When it is in no buffer object.
    pub fn read(memory: &Memory, address: u32) -> Result<Self> {
        let mut words = [0; STATE_WORDS as usize];
        words.copy_from_slice(&memory.words(address, STATE_WORDS)?);
        Ok(Self::parse(&words))
    }

    /// As hardware takes it that switches suppose.
    pub(crate) fn with_quirks(mut self, silicon: Silicon) -> Self {
        for face in &mut self.stencil {
            face.counts_past_mask = !silicon.has(Switch::StencilCountsWithinMask) && face.can_count_past();
        }
        self
    }

    /// Takes a render state apart.
    pub fn parse(words: &[u32; RenderState::WORDS]) -> Self {
        let fields = RenderState::from_words(words);
        let unorm = |value: u8| f32::from(value) / 255.0;
        let depth = |value: u16| f32::from(value) / 65535.0;
        let factor = |source, complement, alpha| Factor {
            source,
            complement,
            alpha,
        };
        Self {
            blending: Blending {
                constant: [
                    fields.blend_red,
                    fields.blend_green,
                    fields.blend_blue,
                    fields.blend_alpha,
                ]
                .map(unorm),
                equations: [fields.color_equation, fields.alpha_equation],
                color: [
                    factor(
                        fields.color_source,
                        fields.color_source_complement,
                        fields.color_source_alpha,
                    ),
                    factor(
                        fields.color_destination,
                        fields.color_destination_complement,
                        fields.color_destination_alpha,
                    ),
                ],
                alpha: [
                    factor(fields.alpha_source, fields.alpha_source_complement, true),
                    factor(fields.alpha_destination, fields.alpha_destination_complement, true),
                ],
                write_mask: fields.write_mask.into(),
                // Whether words are made with it is known where everything is.
                alpha_test: None,
            },
            depth_write: fields.depth_write,
            depth_compare: fields.depth_compare,
            depth_register: fields.depth_from_program.then_some(fields.depth_register.into()),
            packed_depth: fields.packed_depth,
            polygon_offset: [
                f32::from(fields.offset_slope as i8) / 4.0,
                f32::from(fields.offset_units as i8) / 2.0,
            ],
            depth_range: [depth(fields.depth_near), depth(fields.depth_far)],
            stencil: stencils(&fields),
            alpha_compare: fields.alpha_compare,
            alpha_reference: fields.alpha_reference,
            multisample: fields.multisample_a && fields.multisample_b && fields.multisample_c,
            alpha_to_coverage: fields.alpha_to_coverage,
            alpha_to_one: fields.alpha_to_one,
            sample_mask: fields.sample_mask,
            color_register: fields.color_register.into(),
            second_register: fields.second_register.into(),
            program: fields.program.0,
            varying_formats: std::array::from_fn(|slot| fields.varying_format(slot)),
            uniforms: fields.uniforms.0,
            uniform_bytes: 8 << fields.uniform_size,
            has_uniforms: fields.has_uniforms,
            textures: fields.textures,
            texture_count: if fields.has_textures {
                fields.texture_count.into()
            } else {
                0
            },
            varying_stride: u32::from(fields.varying_stride) * 8,
            varyings: fields.varyings.0,
            front_ccw: fields.front_ccw,
            unknown: RenderState::undocumented(words),
        }
    }
}

/// The stencil tests of the front and the back.
fn stencils(fields: &RenderState) -> [Stencil; 2] {
    [
        Stencil {
            compare: fields.front_compare,
            operations: [fields.front_fail, fields.front_depth_fail, fields.front_pass],
            reference: fields.front_reference,
            mask: fields.front_mask,
            write_mask: fields.front_write_mask,
            counts_past_mask: false,
        },
        Stencil {
            compare: fields.back_compare,
            operations: [fields.back_fail, fields.back_depth_fail, fields.back_pass],
            reference: fields.back_reference,
            mask: fields.back_mask,
            write_mask: fields.back_write_mask,
            counts_past_mask: false,
        },
    ]
}
