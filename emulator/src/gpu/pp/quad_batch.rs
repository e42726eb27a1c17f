//! Small primitives, as those of a mesh: each has too few fragments to be worth a run of its program. Those that follow each
//! other in a tile, with one state and no pixel in common, are shaded and put together.

use super::scene::{self, Shader};
use super::setup::{Block, Covered};
use crate::exec::batched::{BatchedQuads, MAX_BATCHED, QuadBatcher};
use crate::exec::inputs::{Inputs, ManyInputs};
use crate::exec::{FragmentContext, Fragments, MAX_FRAGMENTS, Quads};
use crate::gpu::raster::small_triangle_masks::{ACROSS, MaskedQuads};
use crate::gpu::tile::access::{self, Live};
use crate::gpu::tile::batch::{Batch, DepthPlane, Passed, depths_of};
use crate::gpu::tile::{SIDE, Tile};

/// Quads of a primitive up to which it is batched.
pub(crate) const FEW_QUADS: usize = MAX_BATCHED / 2;

/// What batched primitives have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    /// Number of the shader.
    pub shader: usize,
    /// They have one w each.
    pub flat: bool,
    /// Their fronts are seen.
    pub front: bool,
}

/// A primitive that is to be batched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Small {
    /// What it has in common with others.
    pub common: Common,
    /// Which one it is of those whose inputs are side by side.
    pub at: usize,
    /// Polygon offset, if that does not follow from its planes.
    pub offset: Option<f64>,
}

/// Rows of quads of a tile, and as many more as a window has behind its first.
const ROWS: usize = SIDE as usize / 2 + ACROSS - 1;

/// Primitives of a tile that are not drawn yet.
#[derive(Debug)]
pub(crate) struct QuadBatch {
    /// What they have in common; nothing where there are none.
    common: Option<Common>,
    /// Their quads, in the order they were drawn.
    quads: BatchedQuads,
    /// For each row of quads a bit for each pixel that one of them covers; the last windows go beyond the tile's rows.
    covered: [u32; ROWS],
    /// Depths as the tile has them, if they are tested or written.
    depths: [u32; MAX_FRAGMENTS],
    /// What inputs all have: the side that is seen. The rest is the last one's.
    inputs: Inputs,
}

/// What shades a batch, and of what.
pub(super) struct BatchShading<'a> {
    pub batcher: &'a dyn QuadBatcher,
    pub context: &'a FragmentContext<'a>,
    pub shader: &'a Shader<'a>,
    /// Inputs of the block's primitives.
    pub inputs: &'a ManyInputs,
}

/// Adds the pixels of a window's rows to those that are covered; whether none of them was.
#[inline(always)]
fn take(covered: &mut [u32; ACROSS], rows: [u32; ACROSS]) -> bool {
    let mut both = 0;
    for row in 0..ACROSS {
        both |= covered[row] & rows[row];
        covered[row] |= rows[row];
    }
    both == 0
}

impl Default for QuadBatch {
    fn default() -> Self {
        Self {
            common: None,
            quads: BatchedQuads::default(),
            covered: [0; ROWS],
            depths: [0; MAX_FRAGMENTS],
            inputs: Inputs::default(),
        }
    }
}

impl QuadBatch {
    /// Takes the quads of a primitive in the tile whose first pixel is `origin`; false, and nothing is taken, where they
    /// cannot go with what there is.
    pub(super) fn add(
        &mut self,
        small: &Small,
        masks: &[MaskedQuads],
        origin: [u32; 2],
        shader: &Shader<'_>,
        inputs: &ManyInputs,
    ) -> bool {
        let Some(from) = self.begin(small.common, origin) else {
            return false;
        };
        if !masks.iter().all(|window| self.take_window(*window, small.at)) {
            // What is covered does not matter any more: what there is goes first.
            self.quads.cut(from);
            return false;
        }
        if shader.state.uses_depth() {
            self.find_depths(from, small.offset, shader, inputs);
        }
        true
    }

    /// Takes the quads of a block's primitives from one on that cover some of their windows, up to the first that cannot go
    /// with what there is, or is not known, or not `gatherable`, with one w or without: that one's number.
    pub(super) fn add_some(
        &mut self,
        block: &Block,
        first: usize,
        batchable: [bool; 2],
        shader: &Shader<'_>,
        origin: [u32; 2],
    ) -> usize {
        let (mut at, mut from) = (first, None);
        while at < block.count() {
            match block.covered(at) {
                Covered::Nothing => {}
                Covered::Window if batchable[usize::from(block.is_flat(at))] => {
                    let common = Common {
                        shader: shader.number,
                        flat: block.is_flat(at),
                        front: block.ccw(at) == shader.state.front_ccw,
                    };
                    let Some(count) = self.begin(common, origin) else { break };
                    from = from.or(Some(count));
                    if !self.take_window(block.quads(at), at) {
                        break;
                    }
                }
                _ => break,
            }
            at += 1;
        }
        if let Some(from) = from.filter(|_| shader.state.uses_depth()) {
            self.find_depths(from, None, shader, &block.inputs);
        }
        at
    }

    /// Begins with what primitives have in common, if there are none, or goes on with it; how many quads there are. Nothing
    /// where others have something else in common.
    #[inline(always)]
    fn begin(&mut self, common: Common, origin: [u32; 2]) -> Option<usize> {
        match self.common {
            Some(have) => (have == common).then(|| self.quads.count()),
            None => {
                self.common = Some(common);
                self.inputs.front = common.front;
                self.covered = [0; ROWS];
                self.quads.begin(origin);
                Some(0)
            }
        }
    }

    /// Takes the quads of a window of a primitive; false, and none is taken, where there is no room for all, or something is
    /// covered already.
    #[inline(always)]
    fn take_window(&mut self, window: MaskedQuads, of: usize) -> bool {
        let (first, rows) = window.rows();
        let covered = self.covered[first % (SIDE as usize / 2)..].first_chunk_mut::<ACROSS>();
        covered.is_some_and(|covered| take(covered, rows)) && self.quads.add(window, of)
    }

    /// Finds the depths of all quads from a number on.
    fn find_depths(&mut self, from: usize, offset: Option<f64>, shader: &Shader<'_>, inputs: &ManyInputs) {
        let (mut from, state) = (from, &shader.state);
        while from < self.quads.count() {
            let at = self.quads.primitive(from);
            let same = (from..self.quads.count()).take_while(|quad| self.quads.primitive(*quad) == at);
            let same = same.count();
            self.inputs.origin = inputs.origin.map(|axis| axis[at]);
            self.inputs.z = inputs.z.get(at);
            let offset = offset.unwrap_or_else(|| scene::offset(state, &self.inputs));
            let plane = DepthPlane {
                inputs: &self.inputs,
                offset,
            };
            let (quads, into) = (&self.quads.quads()[from..from + same], &mut self.depths[4 * from..]);
            depths_of(state, plane, quads, into);
            from += same;
        }
    }

    /// Takes what the primitives have in common; the batch is empty then.
    pub(super) fn take(&mut self) -> Option<Common> {
        self.common.take().filter(|_| self.quads.count() > 0)
    }

    /// The primitives that were [taken](QuadBatch::take), by their numbers among those whose inputs are side by side.
    pub(super) fn primitives(&self) -> Vec<usize> {
        let mut primitives: Vec<usize> = (0..self.quads.count()).map(|quad| self.quads.primitive(quad)).collect();
        primitives.dedup();
        primitives
    }

    /// How many quads were taken, and how many of their fragments are wanted.
    pub(super) fn counts(&self) -> [u64; 2] {
        [self.quads.count() as u64, self.quads.fragments()]
    }

    /// Shades and puts what was taken into a tile that has words; false where they have to be drawn one by one.
    pub(super) fn shade(
        &mut self,
        shading: BatchShading<'_>,
        tile: &mut Tile,
        passed: &mut Live,
        out: &mut Fragments,
    ) -> bool {
        let BatchShading {
            batcher,
            context,
            shader,
            inputs,
        } = shading;
        if context.blending.is_some() {
            tile.words(Quads::Some(self.quads.quads()), &mut out.words);
        }
        if !batcher.paint(context, inputs, &mut self.quads, out) {
            return false;
        }
        let is_tested = shader.state.is_tested(self.inputs.front);
        if !is_tested && !context.wants_alpha {
            if shader.state.blending.write_mask != 0
                && let Some(row) = tile.bytes()
            {
                access::put_live_at(self.quads.places(), row, &out.words);
            }
            return true;
        }
        let quads = Quads::Some(self.quads.quads());
        (out.has_words, out.live) = (true, quads.live());
        let batch = Batch {
            state: &shader.state,
            quads,
            samples: &[],
            fragments: out,
            inputs: &self.inputs,
            offset: 0.0,
            depths: Some(&self.depths),
        };
        // Where alphas are tested, that comes first.
        if context.wants_alpha || !is_tested {
            tile.put_batch(&batch);
        } else if tile.test_early(&batch, passed) != Passed::None {
            tile.put_tested(&batch, passed);
        }
        true
    }
}
