//! Small primitives, as those of a mesh: each has too few fragments to be worth a run of its program. Those that follow each
//! other in a tile, with one state and no pixel in common, are shaded and put together.

use super::batch;
use super::fragment_tests::{Passed, depths_of};
use super::scene::{self, Shader};
use super::spots::Batch;
use super::tile::{PIXELS, Tile, in_tile};
use crate::exec::gathered::{GatheredQuads, Gatherer, MAX_GATHERED};
use crate::exec::inputs::{Inputs, ManyInputs};
use crate::exec::{FragmentContext, Fragments, MAX_FRAGMENTS, Quad, Quads};

/// Quads of a primitive up to which it is gathered.
pub(super) const FEW_QUADS: usize = MAX_GATHERED / 2;

/// What gathered primitives have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Common {
    /// Number of the shader.
    pub shader: usize,
    /// They have one w each.
    pub flat: bool,
    /// Their fronts are seen.
    pub front: bool,
}

/// A primitive that is to be gathered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    /// What it has in common with others.
    pub common: Common,
    /// The geometry's number, and its own.
    pub primitive: (usize, u32),
    /// Which one it is of those whose inputs are side by side.
    pub at: usize,
    /// Polygon offset, if that does not follow from its planes.
    pub offset: Option<f64>,
}

/// Primitives of a tile that are not painted yet.
#[derive(Debug)]
pub(super) struct Gathered {
    /// What they have in common; nothing where there are none.
    common: Option<Common>,
    /// Their quads, in the order they were drawn.
    quads: GatheredQuads,
    /// The geometry's number of each, and its own.
    primitives: Vec<(usize, u32)>,
    /// A bit for each pixel of the tile that one of them covers.
    covered: [u64; PIXELS / 64],
    /// Depths as the tile has them, if somebody asks for them.
    depths: [u32; MAX_FRAGMENTS],
    /// What inputs all have: the side that is seen. The rest is the last one's.
    inputs: Inputs,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            common: None,
            quads: GatheredQuads::default(),
            primitives: Vec::new(),
            covered: [0; PIXELS / 64],
            depths: [0; MAX_FRAGMENTS],
            inputs: Inputs::default(),
        }
    }
}

impl Gathered {
    /// Takes the quads of a primitive; false, and nothing is taken, where they cannot go with what there is.
    #[inline]
    pub fn add(
        &mut self,
        small: &Small,
        quads: impl Iterator<Item = Quad>,
        shader: &Shader<'_>,
        inputs: &ManyInputs,
    ) -> bool {
        match self.common {
            Some(common) if common != small.common => return false,
            Some(_) => {}
            None => {
                self.inputs.front = small.common.front;
                self.covered = [0; PIXELS / 64];
                self.quads.cut(0);
                self.primitives.clear();
            }
        }
        let (from, mut is_free) = (self.quads.quads().len(), true);
        // Its own quads are not in each other's way.
        let covered = &mut self.covered;
        for quad in quads {
            let first = in_tile(quad.x, quad.y);
            let bits = u64::from(quad.live) << (first % 64);
            is_free &= covered[first / 64] & bits == 0 && self.quads.push(quad, small.at);
            covered[first / 64] |= bits;
        }
        if !is_free {
            // What is covered does not matter any more: what there is goes first.
            self.quads.cut(from);
            return false;
        }
        self.common = Some(small.common);
        self.primitives.push(small.primitive);
        if shader.state.uses_depth() {
            self.find_depths(small, from, shader, inputs);
        }
        true
    }

    /// Finds the depths of a primitive's quads, those from a number on.
    fn find_depths(&mut self, small: &Small, from: usize, shader: &Shader<'_>, inputs: &ManyInputs) {
        self.inputs.origin = inputs.origin.map(|axis| axis[small.at]);
        self.inputs.z = inputs.z.get(small.at);
        let offset = small.offset;
        let offset = offset.unwrap_or_else(|| scene::offset(&shader.state, &self.inputs));
        let (quads, into) = (&self.quads.quads()[from..], &mut self.depths[4 * from..]);
        depths_of(&shader.state, (&self.inputs, offset), quads, into);
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
        let quads = self.quads.quads();
        let fragments = quads.iter().map(|quad| u64::from(quad.live.count_ones()));
        [quads.len() as u64, fragments.sum()]
    }

    /// Shades and puts what was taken into a tile that has words; false where they have to be painted one by one.
    pub fn paint(
        &mut self,
        (gatherer, context): (&dyn Gatherer, &FragmentContext<'_>),
        (shader, inputs): (&Shader<'_>, &ManyInputs),
        (tile, room): (&mut Tile, &mut batch::Room),
        out: &mut Fragments,
    ) -> bool {
        if context.blending.is_some() {
            tile.words(Quads::Some(self.quads.quads()), &mut out.words);
        }
        if !gatherer.paint(context, inputs, &mut self.quads, out) {
            return false;
        }
        let quads = Quads::Some(self.quads.quads());
        let is_tested = shader.state.is_tested(self.inputs.front);
        if !is_tested && !context.wants_alpha {
            if shader.state.blending.write_mask != 0 {
                tile.put_words(quads, &out.words);
            }
            return true;
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
        // Where alphas are tested, that comes first.
        batch.tested = is_tested && !context.wants_alpha;
        if !batch.tested || tile.test_early(&batch, room) != Passed::None {
            tile.put_batch(&batch, room);
        }
        true
    }
}
