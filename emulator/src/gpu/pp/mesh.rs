//! The painting of meshes: small primitives of a tile are set up side by side, gathered, and shaded together.

use super::quad_batch::{Common, FEW_QUADS, Small};
use super::scene::{self, Prepared, Shader};
use super::setup::{Block, Covered};
use super::tile_op::TileOp;
use super::variant::context;
use super::worker::TileWorker;
use crate::exec::Quads;
use crate::exec::gathered::Gatherer;
use crate::exec::inputs::MANY;
use crate::fault::Result;
use crate::gpu::primitives::Primitive;
use crate::gpu::raster::small_triangle_masks::{Each, WindowQuads};
use std::iter::Peekable;

/// Primitives of a tile that follow each other and are of one draw.
#[derive(Default)]
struct Following<'a> {
    draw: u32,
    count: usize,
    /// Each with its number.
    primitives: Each<Option<(u32, &'a Primitive)>>,
}

impl<'a> Following<'a> {
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

/// Numbers of a geometry, and of the shader of its primitives.
type Which = (usize, usize);

impl<'a> TileWorker<'a, '_> {
    /// Whether primitives of the tile may be gathered.
    pub(crate) fn gathers(&self) -> bool {
        let scene = self.scene;
        scene.fast_paths
            && scene.has_many
            && !scene.multisample
            && self.watch.is_none()
            && self.engine.watched_pixel().is_none()
    }

    /// Paints primitives of a geometry, by their numbers; false where they turned out to have to be painted one by one.
    pub(crate) fn mesh(
        &mut self,
        geometry: usize,
        numbers: impl Iterator<Item = u32>,
        room: &mut scene::Room,
    ) -> Result<bool> {
        // Out of the worker while it paints with it.
        let mut block = self.block.take().unwrap_or_default();
        let painted = self.blocks(geometry, numbers, &mut block, room);
        self.block = Some(block);
        painted
    }

    fn blocks(
        &mut self,
        geometry: usize,
        numbers: impl Iterator<Item = u32>,
        block: &mut Block,
        room: &mut scene::Room,
    ) -> Result<bool> {
        let scene = self.scene;
        let prepared = &scene.geometries[geometry];
        let (mut numbers, mut gathers) = (numbers.peekable(), true);
        let mut next = Following::of(prepared, &mut numbers);
        while next.count > 0 {
            let (bounds, shader) = prepared.draw(next.draw);
            block.begin(bounds);
            for (number, primitive) in next.primitives.iter().flatten() {
                block.push(*number, primitive);
            }
            // They are far away: they come while these are painted.
            next = Following::of(prepared, &mut numbers);
            if let Some(shader) = shader {
                gathers = self.paint_block((geometry, shader), block, room, gathers)?;
            }
        }
        Ok(gathers)
    }

    /// Paints the primitives of a block; whether those that follow may be gathered, as these may if it `gathers`.
    fn paint_block(
        &mut self,
        (geometry, shader): Which,
        block: &mut Block,
        room: &mut scene::Room,
        mut gathers: bool,
    ) -> Result<bool> {
        let Some(gatherers) = self.set_up(shader, block).filter(|_| gathers) else {
            return (0..block.count())
                .try_for_each(|at| self.one(geometry, block.number(at), room))
                .map(|()| gathers);
        };
        let gatherable = gatherers.map(|gatherer| gatherer.is_some());
        let mut at = 0;
        while at < block.count() {
            match block.covered(at) {
                Covered::Nothing => at += 1,
                Covered::Window if gathers && gatherable[usize::from(block.is_flat(at))] => {
                    let (origin, shader) = (self.tile.origin, &self.scene.shaders[shader]);
                    at = self.gathered.add_some((block, at), gatherable, shader, origin);
                    // Those that cannot go with these are the first of others.
                    let is_next = at < block.count() && block.covered(at) == Covered::Window;
                    gathers = !is_next || self.put_gathered(geometry, block)?;
                }
                _ => {
                    gathers = self.by_itself((geometry, shader), (block, at), room, gathers)?;
                    at += 1;
                }
            }
        }
        Ok(self.put_gathered(geometry, block)? && gathers)
    }

    /// What shades gathered quads of a shader's, if there is something.
    fn gatherer(&self, shader: usize, flat: bool) -> Option<&'a dyn Gatherer> {
        let (scene, frame) = (self.scene, self.frame);
        let shader: &'a Shader<'a> = &scene.shaders[shader];
        shader.gatherer(self.engine, || context(shader, frame, None, true), flat)
    }

    /// Finds what the primitives of a block cover, and their planes, and what shades those of one w and others; nothing where
    /// they have to be painted one by one.
    fn set_up(&self, number: usize, block: &mut Block) -> Option<[Option<&'a dyn Gatherer>; 2]> {
        let shader = &self.scene.shaders[number];
        if !self.wants_words(shader) {
            return None;
        }
        if !block.cover(self.tile.origin) {
            return Some([None; 2]);
        }
        let gatherer = |flat: bool| block.has_some(flat).then(|| self.gatherer(number, flat))?;
        let gatherers = [gatherer(false), gatherer(true)];
        let mut some = gatherers.iter().flatten().peekable();
        some.peek()?;
        let wants_depth = shader.state.uses_depth() || some.any(|gatherer| gatherer.reads_depth());
        block.find_planes(self.memory, shader, wants_depth);
        Some(gatherers)
    }

    /// Sets up a primitive of a block by itself, gathers it if that goes, and paints it else; whether others may be gathered.
    fn by_itself(
        &mut self,
        (geometry, number): Which,
        (block, at): (&mut Block, usize),
        room: &mut scene::Room,
        gathers: bool,
    ) -> Result<bool> {
        let scene = self.scene;
        let (shader, primitive) = (&scene.shaders[number], block.number(at));
        let tile = (self.tile.origin, &mut self.coverage);
        let prepared = &scene.geometries[geometry];
        let Some((ready, _)) = prepared.cover(self.memory, &scene.shaders, primitive, tile, room) else {
            return Ok(gathers);
        };
        let flat = ready.inputs.flat;
        let is_gathered = match self.coverage.covered() {
            Quads::Some(quads) if gathers && quads.len() <= FEW_QUADS && self.gatherer(number, flat).is_some() => {
                let windows = WindowQuads::of(quads);
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
                self.gather(&small, &windows, (geometry, block))?
            }
            _ => false,
        };
        if is_gathered {
            return Ok(true);
        }
        let gathers = self.put_gathered(geometry, block)? && gathers;
        self.primitive(ready, shader)?;
        Ok(gathers)
    }

    /// Gathers a primitive of a geometry's block; false where others turned out to have to be painted one by one, as this has
    /// to then.
    #[inline]
    fn gather(&mut self, small: &Small, windows: &[WindowQuads], (geometry, block): (usize, &Block)) -> Result<bool> {
        let shader = &self.scene.shaders[small.common.shader];
        let quads = (windows, self.tile.origin);
        Ok(self.gathered.add(small, quads, shader, &block.inputs)
            || self.put_gathered(geometry, block)? && self.gathered.add(small, quads, shader, &block.inputs))
    }

    /// Shades and puts what was gathered of a geometry's block, if anything was; false where that had to be done one by one.
    fn put_gathered(&mut self, geometry: usize, block: &Block) -> Result<bool> {
        let Some(common) = self.gathered.take() else {
            return Ok(true);
        };
        let (shader, ways) = (&self.scene.shaders[common.shader], self.ways);
        let gatherer = self.gatherer(common.shader, common.flat);
        let (Some(gatherer), Some(way)) = (gatherer, ways.get(common.shader)) else {
            return self.put_apart(geometry, block);
        };
        self.clear();
        let (painting, tile) = ((gatherer, &way.context), (&mut self.tile, &mut *self.passed));
        if !self
            .gathered
            .paint(painting, (shader, &block.inputs), tile, &mut self.out)
        {
            return self.put_apart(geometry, block);
        }
        self.ops.add(TileOp::QuadBatch, self.gathered.primitives().len() as u64);
        let [quads, fragments] = self.gathered.counts();
        self.stats.quads += quads;
        self.stats.fragments += fragments;
        self.out.instructions += 4 * quads * u64::from(gatherer.steps());
        self.ran()?;
        Ok(true)
    }

    /// Paints one by one what was gathered and cannot be painted together.
    #[cold]
    fn put_apart(&mut self, geometry: usize, block: &Block) -> Result<bool> {
        let scene = self.scene;
        let coverage = std::mem::take(&mut self.coverage);
        let mut room = scene::Room::default();
        for at in self.gathered.primitives() {
            let number = block.number(at);
            let tile = (self.tile.origin, &mut self.coverage);
            let covered = scene.geometries[geometry].cover(self.memory, &scene.shaders, number, tile, &mut room);
            if let Some((ready, shader)) = covered {
                self.primitive(ready, &scene.shaders[shader])?;
            }
        }
        self.coverage = coverage;
        Ok(false)
    }
}
