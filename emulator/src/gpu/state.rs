//! The render state word: how a draw's fragments are made, tested and blended (docs/spec/mali/state.md, section 1).

/// A blend factor: what is multiplied, one minus it, or its alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factor {
    /// 0 source, 1 destination, 2 constant, 3 zero, 4 and 7 saturate, 5 second source.
    pub source: u32,
    /// One minus it (of zero: one).
    pub complement: bool,
    /// Its alpha for all channels.
    pub alpha: bool,
}

/// How one face's pixels meet the stencil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stencil {
    /// Comparison of the reference with the stencil.
    pub compare: u32,
    /// What is done when the comparison fails, when depth fails, and when both pass.
    pub operations: [u32; 3],
    /// Reference.
    pub reference: u8,
    /// Bits that are compared.
    pub mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
}

/// The render state word's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Blend constant: red, green, blue, alpha.
    pub blend_constant: [f32; 4],
    /// 0 source minus destination, 1 the other way, 2 sum, 4 minimum, 5 maximum: of colour, of alpha.
    pub blend_equation: [u32; 2],
    /// Factors of colour: source, destination.
    pub color_factors: [Factor; 2],
    /// Factors of alpha.
    pub alpha_factors: [Factor; 2],
    /// Channels that are written, red lowest.
    pub write_mask: u32,
    /// Depth is written.
    pub depth_write: bool,
    /// Depth comparison of the fragment with the tile.
    pub depth_compare: u32,
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
    pub alpha_compare: u32,
    /// Reference of the alpha test.
    pub alpha_reference: f32,
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
    /// Format of each varying slot: 0 four floats, 1 two floats, 2 four halves, 3 two halves.
    pub varying_formats: [u8; 12],
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
    /// Words with bits nobody knows: number and the bits.
    pub unknown: Vec<(usize, u32)>,
}

/// Words of a render state.
pub const STATE_WORDS: u32 = 16;

fn factor(bits: u32, alpha: bool) -> Factor {
    Factor {
        source: bits & 7,
        complement: bits >> 3 & 1 == 1,
        alpha,
    }
}

fn stencil(word: u32, write_mask: u32) -> Stencil {
    Stencil {
        compare: word & 7,
        operations: [word >> 3 & 7, word >> 6 & 7, word >> 9 & 7],
        reference: (word >> 16) as u8,
        mask: (word >> 24) as u8,
        write_mask: write_mask as u8,
    }
}

impl State {
    /// Fragments replace what is there, untested: nothing but their colour counts.
    pub fn is_plain(&self) -> bool {
        let one = |factor: &Factor| factor.source == 3 && factor.complement;
        let zero = |factor: &Factor| factor.source == 3 && !factor.complement;
        let replaces = |[source, destination]: &[Factor; 2]| one(source) && zero(destination);
        self.is_simple()
            && self.blend_equation == [2, 2]
            && replaces(&self.color_factors)
            && replaces(&self.alpha_factors)
            && self.write_mask == 15
            && !self.uses_depth()
    }

    /// Fragments are tested by the depth of their primitive at most, and blended with one colour.
    pub fn is_simple(&self) -> bool {
        let ignores = |stencil: &Stencil| stencil.compare == 7 && stencil.operations[1..] == [0, 0];
        self.stencil.iter().all(ignores)
            && self.alpha_compare == 7
            && !(self.alpha_to_coverage || self.alpha_to_one || self.multisample || self.packed_depth)
            && self.sample_mask == 15
            && (self.depth_register.is_none() || !self.uses_depth())
            && !self.blends_second()
    }

    /// Depth is compared or written.
    pub fn uses_depth(&self) -> bool {
        self.depth_compare != 7 || self.depth_write
    }

    /// Whether blending needs a second colour.
    pub fn blends_second(&self) -> bool {
        let mut factors = self.color_factors.iter().chain(&self.alpha_factors);
        factors.any(|factor| factor.source == 5)
    }

    /// Takes a render state apart.
    pub fn parse(w: &[u32; STATE_WORDS as usize]) -> Self {
        let byte = |word: u32, shift: u32| (word >> shift & 0xff) as f32 / 255.0;
        let formats = |slot: usize| match slot {
            0..=9 => w[10] >> (3 * slot) & 7,
            10 => w[10] >> 30 | (w[15] & 1) << 2,
            _ => w[15] >> 1 & 7,
        };
        let signed = |shift: u32| (w[3] << (24 - shift)) as i32 >> 24;
        Self {
            blend_constant: [byte(w[1], 0), byte(w[0], 16), byte(w[0], 0), byte(w[1], 16)],
            blend_equation: [w[2] & 7, w[2] >> 3 & 7],
            color_factors: [
                factor(w[2] >> 6, w[2] >> 10 & 1 == 1),
                factor(w[2] >> 11, w[2] >> 15 & 1 == 1),
            ],
            alpha_factors: [factor(w[2] >> 16, true), factor(w[2] >> 20, true)],
            write_mask: w[2] >> 28,
            depth_write: w[3] & 1 == 1,
            depth_compare: w[3] >> 1 & 7,
            depth_register: (w[3] >> 11 & 1 == 1).then_some((w[3] >> 6 & 15) as usize),
            packed_depth: w[3] >> 10 & 1 == 1,
            polygon_offset: [signed(16) as f32 / 4.0, signed(24) as f32 / 2.0],
            depth_range: [(w[4] & 0xffff) as f32 / 65535.0, (w[4] >> 16) as f32 / 65535.0],
            stencil: [stencil(w[5], w[7]), stencil(w[6], w[7] >> 8)],
            alpha_compare: w[8] & 7,
            alpha_reference: byte(w[7], 16),
            multisample: w[8] & 0x68 == 0x68,
            alpha_to_coverage: w[8] >> 7 & 1 == 1,
            alpha_to_one: w[8] >> 8 & 1 == 1,
            sample_mask: (w[8] >> 12 & 15) as u8,
            color_register: (w[8] >> 16 & 15) as usize,
            second_register: (w[13] >> 28) as usize,
            program: w[9] & !31,
            varying_formats: std::array::from_fn(|slot| formats(slot) as u8),
            uniforms: w[11] & !15,
            uniform_bytes: 8 << (w[11] & 15),
            has_uniforms: w[13] >> 7 & 1 == 1,
            textures: w[12],
            texture_count: if w[13] >> 5 & 1 == 1 { w[13] >> 14 & 0x3fff } else { 0 },
            varying_stride: (w[13] & 31) * 8,
            varyings: w[15] & !15,
            front_ccw: w[14] >> 12 & 1 == 1,
            unknown: unknown(w),
        }
    }
}

/// Bits without a known meaning, but for those every driver sets (docs/spec/mali/state.md, section 1).
fn unknown(w: &[u32; STATE_WORDS as usize]) -> Vec<(usize, u32)> {
    const KNOWN: [u32; 16] = [
        0x00ff_00ff,
        0x00ff_00ff,
        u32::MAX,
        0xffff_1fff,
        u32::MAX,
        0xffff_0fff,
        0xffff_0fff,
        0x00ff_ffff,
        0xffff_fdff,
        u32::MAX,
        u32::MAX,
        u32::MAX,
        u32::MAX,
        u32::MAX,
        0x0001_3000,
        u32::MAX,
    ];
    let bits = w.iter().zip(KNOWN).map(|(word, known)| word & !known).enumerate();
    bits.filter(|(_, bits)| *bits != 0).collect()
}
