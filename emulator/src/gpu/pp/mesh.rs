//! Meshes: small primitives of a tile are set up side by side, batched, and shaded together.

use super::quad_batch::{BatchShading, Common, FEW_QUADS, Small};
use super::scene::{self, Prepared, Shader};
use super::setup::{Block, Covered};
use super::tile_op::TileOp;
use super::variant::context;
use super::worker::{Scratch, TileWorker};
use crate::exec::Quads;
use crate::exec::batched::QuadBatcher;
use crate::exec::inputs::MANY;
use crate::fault::Result;
use crate::gpu::primitives::Primitive;
use crate::gpu::raster::small_triangle_masks::{Each, MaskedQuads};
use std::iter::Peekable;

/// Primitives of a tile that follow each other and are of one draw.
#[derive(Default)]
struct DrawRun<'a> {
    draw: u32,
    count: usize,
    /// Each with its number.
    primitives: Each<Option<(u32, &'a Primitive)>>,
}

impl<'a> DrawRun<'a> {
    /// The next of a geometry's.
    fn of(prepared: &'a Prepared<'_>, numbers: &mut Peekable<impl Iterator<Item = u32>>) -> Self {
        let mut all = Self::default();
        while all.count < MANY
            && let Some(number) = numbers.peek()
        {
            if let Some(primitive) = prepared.primitive(*number) {
                if all.count > 0 && primitive.draw != all.draw {
                    break;
                }
                all.draw = primitive.draw;
                all.primitives[all.count] = Some((*number, primitive));
                all.count += 1;
            }
            numbers.next();
        }
        all
    }
}

impl<'a> TileWorker<'a, '_> {
    /// Whether primitives of the tile may be batched.
    pub(crate) fn batches(&self) -> bool {
        let scene = self.job.scene;
        scene.fast_paths
            && scene.has_many
            && !scene.multisample
            && self.job.watch.is_none()
            && self.job.engine.observed_pixel().is_none()
    }

    /// Draws primitives of a geometry, by their numbers; false where they turned out to have to be drawn one by one.
    pub(crate) fn mesh(
        &mut self,
        geometry: usize,
        numbers: impl Iterator<Item = u32>,
        room: &mut scene::Room,
    ) -> Result<bool> {
        // Out of the worker while it draws with it.
        let mut block = self.scratch.block.take().unwrap_or_default();
        let painted = self.blocks(geometry, numbers, &mut block, room);
        self.scratch.block = Some(block);
        painted
    }

    fn blocks(
        &mut self,
        geometry: usize,
        numbers: impl Iterator<Item = u32>,
        block: &mut Block,
        room: &mut scene::Room,
    ) -> Result<bool> {
        let scene = self.job.scene;
        let prepared = &scene.geometries[geometry];
        let (mut numbers, mut batches) = (numbers.peekable(), true);
        let mut next = DrawRun::of(prepared, &mut numbers);
        while next.count > 0 {
            let (bounds, shader) = prepared.draw(next.draw);
            block.begin(bounds);
            for (number, primitive) in next.primitives.iter().flatten() {
                block.push(*number, primitive);
            }
            // They are far away: they come while these are drawn.
            next = DrawRun::of(prepared, &mut numbers);
            if let Some(shader) = shader {
                batches = self.draw_block(geometry, shader, block, room, batches)?;
            }
        }
        Ok(batches)
    }

    /// Draws the primitives of a block; whether those that follow may be batched, as these may if it `gathers`.
    fn draw_block(
        &mut self,
        geometry: usize,
        shader: usize,
        block: &mut Block,
        room: &mut scene::Room,
        mut batches: bool,
    ) -> Result<bool> {
        let Some(batchers) = self.set_up(shader, block).filter(|_| batches) else {
            return (0..block.count())
                .try_for_each(|at| self.one(geometry, block.number(at), room))
                .map(|()| batches);
        };
        let batchable = batchers.map(|batcher| batcher.is_some());
        let mut at = 0;
        while at < block.count() {
            match block.covered(at) {
                Covered::Nothing => at += 1,
                Covered::Window if batches && batchable[usize::from(block.is_flat(at))] => {
                    let (origin, shader) = (self.tile.origin, &self.job.scene.shaders[shader]);
                    at = self.scratch.quad_batch.add_some(block, at, batchable, shader, origin);
                    // Those that cannot go with these are the first of others.
                    let is_next = at < block.count() && block.covered(at) == Covered::Window;
                    batches = !is_next || self.draw_batch(geometry, block)?;
                }
                _ => {
                    batches = self.draw_alone(geometry, shader, block, at, room, batches)?;
                    at += 1;
                }
            }
        }
        Ok(self.draw_batch(geometry, block)? && batches)
    }

    /// What shades batched quads of a shader's, if there is something.
    fn batcher(&self, shader: usize, flat: bool) -> Option<&'a dyn QuadBatcher> {
        let (scene, frame) = (self.job.scene, self.job.frame);
        let shader: &'a Shader<'a> = &scene.shaders[shader];
        shader.batcher(self.job.engine, || context(shader, frame, None, true), flat)
    }

    /// Finds what the primitives of a block cover, and their planes, and what shades those of one w and others; nothing where
    /// they have to be drawn one by one.
    fn set_up(&self, number: usize, block: &mut Block) -> Option<[Option<&'a dyn QuadBatcher>; 2]> {
        let shader = &self.job.scene.shaders[number];
        if !self.wants_words(shader) {
            return None;
        }
        if !block.cover(self.tile.origin) {
            return Some([None; 2]);
        }
        let batcher = |flat: bool| block.has_some(flat).then(|| self.batcher(number, flat))?;
        let batchers = [batcher(false), batcher(true)];
        let mut some = batchers.iter().flatten().peekable();
        some.peek()?;
        let wants_depth = shader.state.uses_depth() || some.any(|batcher| batcher.reads_depth());
        block.find_planes(self.job.memory, shader, wants_depth);
        Some(batchers)
    }

    /// Sets up a primitive of a block by itself, gathers it if that goes, and draws it else; whether others may be batched.
    fn draw_alone(
        &mut self,
        geometry: usize,
        number: usize,
        block: &mut Block,
        at: usize,
        room: &mut scene::Room,
        batches: bool,
    ) -> Result<bool> {
        let scene = self.job.scene;
        let (shader, primitive) = (&scene.shaders[number], block.number(at));
        let (origin, coverage) = (self.tile.origin, &mut self.scratch.coverage);
        let prepared = &scene.geometries[geometry];
        let Some((ready, _)) = prepared.cover(self.job.memory, &scene.shaders, primitive, origin, coverage, room)
        else {
            return Ok(batches);
        };
        let flat = ready.inputs.flat;
        let is_batched = match self.scratch.coverage.covered() {
            Quads::Some(quads) if batches && quads.len() <= FEW_QUADS && self.batcher(number, flat).is_some() => {
                let masks = MaskedQuads::of(quads);
                block.set(at, &ready.inputs, shader.used());
                let small = Small {
                    common: Common {
                        shader: number,
                        flat,
                        front: ready.inputs.front,
                    },
                    at,
                    offset: Some(ready.offset),
                };
                self.add_to_batch(&small, &masks, geometry, block)?
            }
            _ => false,
        };
        if is_batched {
            return Ok(true);
        }
        let batches = self.draw_batch(geometry, block)? && batches;
        self.primitive(ready, shader)?;
        Ok(batches)
    }

    /// Gathers a primitive of a geometry's block; false where others turned out to have to be drawn one by one, as this has
    /// to then.
    #[inline]
    fn add_to_batch(&mut self, small: &Small, masks: &[MaskedQuads], geometry: usize, block: &Block) -> Result<bool> {
        let shader = &self.job.scene.shaders[small.common.shader];
        let (origin, inputs) = (self.tile.origin, &block.inputs);
        Ok(self.scratch.quad_batch.add(small, masks, origin, shader, inputs)
            || self.draw_batch(geometry, block)? && self.scratch.quad_batch.add(small, masks, origin, shader, inputs))
    }

    /// Shades and puts what was batched of a geometry's block, if anything was; false where that had to be done one by one.
    fn draw_batch(&mut self, geometry: usize, block: &Block) -> Result<bool> {
        let Some(common) = self.scratch.quad_batch.take() else {
            return Ok(true);
        };
        let (shader, variants) = (&self.job.scene.shaders[common.shader], self.job.variants);
        let batcher = self.batcher(common.shader, common.flat);
        let (Some(batcher), Some(variant)) = (batcher, variants.get(common.shader)) else {
            return self.draw_unbatched(geometry, block);
        };
        self.clear();
        let shading = BatchShading {
            batcher,
            context: &variant.context,
            shader,
            inputs: &block.inputs,
        };
        let Scratch {
            quad_batch,
            passed,
            out,
            ..
        } = &mut self.scratch;
        if !quad_batch.shade(shading, &mut self.tile, passed, out) {
            return self.draw_unbatched(geometry, block);
        }
        self.ops
            .add(TileOp::QuadBatch, self.scratch.quad_batch.primitives().len() as u64);
        let [quads, fragments] = self.scratch.quad_batch.counts();
        self.stats.quads += quads;
        self.stats.fragments += fragments;
        self.scratch.out.instructions += 4 * quads * u64::from(batcher.instruction_count());
        self.ran()?;
        Ok(true)
    }

    /// Draws one by one what was batched and cannot be drawn together.
    #[cold]
    fn draw_unbatched(&mut self, geometry: usize, block: &Block) -> Result<bool> {
        let scene = self.job.scene;
        let coverage = std::mem::take(&mut self.scratch.coverage);
        let mut room = scene::Room::default();
        for at in self.scratch.quad_batch.primitives() {
            let number = block.number(at);
            let (origin, coverage) = (self.tile.origin, &mut self.scratch.coverage);
            let prepared = &scene.geometries[geometry];
            let covered = prepared.cover(self.job.memory, &scene.shaders, number, origin, coverage, &mut room);
            if let Some((ready, shader)) = covered {
                self.primitive(ready, &scene.shaders[shader])?;
            }
        }
        self.scratch.coverage = coverage;
        Ok(false)
    }
}
