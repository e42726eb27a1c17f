//! Small primitives, as those of a mesh: each has too few fragments to be worth a run of its program. Those that follow each
//! other in a tile, with one state and no pixel in common, are shaded and put together.

use super::batch;
use super::fragment_tests::{Passed, depths_of};
use super::scene::{Ready, Shader};
use super::spots::Batch;
use super::tile::{PIXELS, Tile, in_tile};
use crate::exec::inputs::Inputs;
use crate::exec::{FragmentContext, Fragments, GatheredRows, Gatherer, MAX_FRAGMENTS, MAX_GATHERED, Quad, Quads};

/// Quads of a primitive up to which it is gathered.
pub(super) const FEW_QUADS: usize = MAX_GATHERED / 4;

/// What gathered primitives have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Common {
    /// Number of the shader.
    pub shader: usize,
    /// They have one w each.
    pub flat: bool,
    front: bool,
}

impl Common {
    /// What a primitive has that a shader with a number paints.
    pub fn of(ready: &Ready, shader: usize) -> Self {
        Self {
            shader,
            flat: ready.inputs.flat,
            front: ready.inputs.front,
        }
    }
}

/// Primitives of a tile that are not painted yet.
#[derive(Debug)]
pub(super) struct Gathered {
    /// What they have in common; nothing where there are none.
    common: Option<Common>,
    /// Their quads, in the order they were drawn.
    quads: Vec<Quad>,
    /// The geometry's number of each, and its own.
    primitives: Vec<(usize, u32)>,
    /// A bit for each pixel of the tile that one of them covers.
    covered: [u64; PIXELS / 64],
    /// What the program gets.
    rows: GatheredRows,
    /// Depths as the tile has them, if somebody asks for them.
    depths: [u32; MAX_FRAGMENTS],
    /// An input that all have: the side that is seen.
    inputs: Inputs,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            common: None,
            quads: Vec::new(),
            primitives: Vec::new(),
            covered: [0; PIXELS / 64],
            rows: GatheredRows::default(),
            depths: [0; MAX_FRAGMENTS],
            inputs: Inputs::default(),
        }
    }
}

/// Word and bits of a quad's pixels in [`Gathered::covered`].
#[inline(always)]
fn bits(quad: &Quad) -> (usize, u64) {
    let first = in_tile(quad.x, quad.y);
    (first / 64, u64::from(quad.live) << (first % 64))
}

impl Gathered {
    /// Whether quads of a primitive can go with what there is, if there is something.
    pub fn takes(&self, common: Common, quads: &[Quad]) -> bool {
        let is_free = |quad: &Quad| {
            let (word, bits) = bits(quad);
            self.covered[word] & bits == 0
        };
        self.common.is_none_or(|have| {
            have == common && self.quads.len() + quads.len() <= MAX_GATHERED && quads.iter().all(is_free)
        })
    }

    /// Takes the quads of a primitive, its geometry's number and its own.
    pub fn add(
        &mut self,
        (common, primitive): (Common, (usize, u32)),
        (ready, shader): (&Ready, &Shader<'_>),
        gatherer: &dyn Gatherer,
        quads: &[Quad],
    ) {
        if self.common.is_none() {
            self.common = Some(common);
            self.inputs.front = common.front;
            self.covered = [0; PIXELS / 64];
            self.quads.clear();
            self.primitives.clear();
        }
        let from = self.quads.len();
        gatherer.gather(&ready.inputs, quads, from, &mut self.rows);
        if shader.state.uses_depth() {
            let into = &mut self.depths[4 * from..];
            depths_of(&shader.state, (&ready.inputs, ready.offset), quads, into);
        }
        for quad in quads {
            let (word, bits) = bits(quad);
            self.covered[word] |= bits;
        }
        self.quads.extend_from_slice(quads);
        self.primitives.push(primitive);
    }

    /// What the primitives have in common, once: there are none any more then, for those who add others.
    pub fn take(&mut self) -> Option<Common> {
        self.common.take()
    }

    /// The primitives that were [taken](Gathered::take), each its geometry's number and its own.
    pub fn primitives(&self) -> &[(usize, u32)] {
        &self.primitives
    }

    /// How many quads were taken, and how many of their fragments are wanted.
    pub fn counts(&self) -> [u64; 2] {
        let fragments = self.quads.iter().map(|quad| u64::from(quad.live.count_ones()));
        [self.quads.len() as u64, fragments.sum()]
    }

    /// Shades and puts what was taken into a tile that has words; false where they have to be painted one by one.
    pub fn paint(
        &mut self,
        (gatherer, context): (&dyn Gatherer, &FragmentContext<'_>),
        shader: &Shader<'_>,
        (tile, room): (&mut Tile, &mut batch::Room),
        out: &mut Fragments,
    ) -> bool {
        let quads = Quads::Some(&self.quads);
        if context.blending.is_some() {
            tile.words(quads, &mut out.words);
        }
        if !gatherer.paint(context, &self.quads, &mut self.rows, out) {
            return false;
        }
        (out.has_words, out.live) = (true, quads.live());
        let mut batch = Batch {
            state: &shader.state,
            quads,
            samples: &[],
            fragments: out,
            tested: false,
            inputs: &self.inputs,
            offset: 0.0,
            depths: Some(&self.depths),
        };
        let is_tested = batch.is_tested();
        if is_tested && !context.wants_alpha {
            batch.tested = true;
            if tile.test_early(&batch, room) != Passed::None {
                tile.put_batch(&batch, room);
            }
        } else if is_tested || context.wants_alpha {
            tile.put_batch(&batch, room);
        } else if shader.state.blending.write_mask != 0 {
            tile.put_words(quads, &batch.fragments.words);
        }
        true
    }
}
