//! Small primitives, as those of a mesh: each has too few fragments to be worth a run of its program. Those that follow each
//! other in a tile, with one state and no pixel in common, are shaded and put together.

use super::fragment_tests::{Passed, depths_of};
use super::scene::{self, Ready};
use super::spots::Batch;
use super::tile::{PIXELS, in_tile};
use super::tile_worker::{TileWorker, context};
use crate::exec::inputs::Inputs;
use crate::exec::{GatheredRows, MAX_FRAGMENTS, MAX_GATHERED, Quad, Quads};
use crate::fault::Result;

/// Quads of a primitive up to which it is gathered.
const FEW_QUADS: usize = MAX_GATHERED / 4;

/// What gathered primitives have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Common {
    /// Number of the shader.
    shader: usize,
    flat: bool,
    front: bool,
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
    fn takes(&self, common: Common, quads: &[Quad]) -> bool {
        let is_free = |quad: &Quad| {
            let (word, bits) = bits(quad);
            self.covered[word] & bits == 0
        };
        self.common.is_none_or(|have| {
            have == common && self.quads.len() + quads.len() <= MAX_GATHERED && quads.iter().all(is_free)
        })
    }

    /// Takes note of a primitive's quads.
    fn add(&mut self, common: Common, quads: &[Quad], primitive: (usize, u32)) {
        if self.common.is_none() {
            self.common = Some(common);
            self.inputs.front = common.front;
            self.covered = [0; PIXELS / 64];
            self.quads.clear();
            self.primitives.clear();
        }
        for quad in quads {
            let (word, bits) = bits(quad);
            self.covered[word] |= bits;
        }
        self.quads.extend_from_slice(quads);
        self.primitives.push(primitive);
    }
}

impl TileWorker<'_> {
    /// Whether primitives of the tile may be gathered.
    pub(super) fn gathers(&self) -> bool {
        let scene = self.scene;
        scene.has_many && !scene.multisample && self.watch.is_none() && self.engine.watched_pixel().is_none()
    }

    /// Gathers the primitive whose fragments are covered, its geometry's number and its own; false where it has to be painted
    /// by itself. `gathers` becomes false where others turned out to have to.
    pub(super) fn gather(
        &mut self,
        ready: &Ready,
        number: usize,
        primitive: (usize, u32),
        gathers: &mut bool,
    ) -> Result<bool> {
        let (scene, engine, frame) = (self.scene, self.engine, self.frame);
        let shader = &scene.shaders[number];
        let Quads::Some(quads) = self.coverage.covered() else {
            return Ok(false);
        };
        if quads.len() > FEW_QUADS || !self.wants_words(shader) {
            return Ok(false);
        }
        let flat = ready.inputs.flat;
        let Some(gatherer) = shader.gatherer(engine, || context(shader, frame, None, true), flat) else {
            return Ok(false);
        };
        let common = Common {
            shader: number,
            flat,
            front: ready.inputs.front,
        };
        if !self.gathered.takes(common, quads) && !self.put_gathered()? {
            *gathers = false;
            return Ok(false);
        }
        let (gathered, quads) = (&mut *self.gathered, &self.coverage.quads);
        let from = if gathered.common.is_some() {
            gathered.quads.len()
        } else {
            0
        };
        gatherer.gather(&ready.inputs, quads, from, &mut gathered.rows);
        if shader.state.uses_depth() {
            let into = &mut gathered.depths[4 * from..];
            depths_of(&shader.state, (&ready.inputs, ready.offset), quads, into);
        }
        gathered.add(common, quads, primitive);
        Ok(true)
    }

    /// Shades and puts what was gathered, if anything was; false where that had to be done one by one.
    pub(super) fn put_gathered(&mut self) -> Result<bool> {
        let Some(common) = self.gathered.common.take() else {
            return Ok(true);
        };
        let (scene, engine, frame) = (self.scene, self.engine, self.frame);
        let shader = &scene.shaders[common.shader];
        let context = || context(shader, frame, None, true);
        let Some(gatherer) = shader.gatherer(engine, context, common.flat) else {
            return self.put_apart();
        };
        let context = context();
        self.clear();
        let Gathered {
            quads,
            rows,
            depths,
            inputs,
            ..
        } = &mut *self.gathered;
        if context.blending.is_some() {
            self.tile.words(Quads::Some(quads), &mut self.out.words);
        }
        if !gatherer.paint(&context, quads, rows, &mut self.out) {
            return self.put_apart();
        }
        (self.out.has_words, self.out.live) = (true, Quads::Some(quads).live());
        let mut batch = Batch {
            state: &shader.state,
            quads: Quads::Some(quads),
            samples: &[],
            fragments: &self.out,
            tested: false,
            inputs,
            offset: 0.0,
            depths: Some(depths),
        };
        let is_tested = batch.is_tested();
        if is_tested && !context.wants_alpha {
            batch.tested = true;
            if self.tile.test_early(&batch, &mut self.room) != Passed::None {
                self.tile.put_batch(&batch, &mut self.room);
            }
        } else if is_tested || context.wants_alpha {
            self.tile.put_batch(&batch, &mut self.room);
        } else if shader.state.blending.write_mask != 0 {
            self.tile.put_words(batch.quads, &self.out.words);
        }
        let count = quads.len() as u64;
        self.stats.quads += count;
        self.stats.fragments += quads.iter().map(|quad| u64::from(quad.live.count_ones())).sum::<u64>();
        self.out.instructions += 4 * count * u64::from(gatherer.steps());
        self.ran()?;
        Ok(true)
    }

    /// Paints one by one what was gathered and cannot be painted together.
    #[cold]
    fn put_apart(&mut self) -> Result<bool> {
        let scene = self.scene;
        let (primitives, coverage) = (
            std::mem::take(&mut self.gathered.primitives),
            std::mem::take(&mut self.coverage),
        );
        let mut room = scene::Room::default();
        for (geometry, number) in &primitives {
            let tile = (self.tile.origin, &mut self.coverage);
            let covered = scene.geometries[*geometry].cover(self.memory, &scene.shaders, *number, tile, &mut room);
            if let Some((ready, shader)) = covered {
                self.primitive(ready, &scene.shaders[shader])?;
            }
        }
        (self.gathered.primitives, self.coverage) = (primitives, coverage);
        Ok(false)
    }
}
