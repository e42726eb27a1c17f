//! The painting of meshes: small primitives of a tile are set up side by side, gathered, and shaded together.

use super::gathered::{Common, FEW_QUADS, Small};
use super::scene::{self, Shader};
use super::setup::{Block, Covered};
use super::tile_worker::TileWorker;
use super::way::context;
use crate::exec::gathered::Gatherer;
use crate::exec::inputs::ManyInputs;
use crate::exec::{Quad, Quads};
use crate::fault::Result;

/// Numbers of a geometry, and of the shader of its primitives.
type Which = (usize, usize);

impl<'a> TileWorker<'a, '_> {
    /// Whether primitives of the tile may be gathered.
    pub(super) fn gathers(&self) -> bool {
        let scene = self.scene;
        scene.has_many && !scene.multisample && self.watch.is_none() && self.engine.watched_pixel().is_none()
    }

    /// Paints primitives of a geometry, by their numbers; false where they turned out to have to be painted one by one.
    pub(super) fn mesh(
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
        let prepared = &self.scene.geometries[geometry];
        let (mut numbers, mut gathers) = (numbers, true);
        let mut next = numbers.next();
        while let Some(number) = next {
            let Some(draw) = prepared.primitive(number).map(|primitive| primitive.draw) else {
                next = numbers.next();
                continue;
            };
            let (bounds, shader) = prepared.draw(draw);
            block.begin(bounds);
            while let Some(number) = next.filter(|_| !block.is_full())
                && let Some(primitive) = prepared.primitive(number)
                && primitive.draw == draw
            {
                block.push(number, primitive);
                next = numbers.next();
            }
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
        for at in 0..block.count() {
            let is_flat = block.is_flat(at);
            match block.covered(at) {
                Covered::Nothing => {}
                Covered::Window if gathers && gatherers[usize::from(is_flat)].is_some() => {
                    let small = Small {
                        common: Common {
                            shader,
                            flat: is_flat,
                            front: block.ccw(at) == self.scene.shaders[shader].state.front_ccw,
                        },
                        primitive: (geometry, block.number(at)),
                        at,
                        offset: None,
                    };
                    gathers = self.gather(&small, block.quads(at, self.tile.origin), &block.inputs)?;
                    if !gathers {
                        self.one(geometry, block.number(at), room)?;
                    }
                }
                _ => gathers = self.by_itself((geometry, shader), (block, at), room, gathers)?,
            }
        }
        Ok(self.put_gathered(&block.inputs)? && gathers)
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
                let mut copy = [Quad::default(); FEW_QUADS];
                let copy = &mut copy[..quads.len()];
                copy.copy_from_slice(quads);
                block.set(at, &ready.inputs, shader.used());
                let small = Small {
                    common: Common {
                        shader: number,
                        flat,
                        front: ready.inputs.front,
                    },
                    primitive: (geometry, primitive),
                    at,
                    offset: Some(ready.offset),
                };
                self.gather(&small, copy.iter().copied(), &block.inputs)?
            }
            _ => false,
        };
        if is_gathered {
            return Ok(true);
        }
        let gathers = self.put_gathered(&block.inputs)? && gathers;
        self.primitive(ready, shader)?;
        Ok(gathers)
    }

    /// Gathers a primitive; false where others turned out to have to be painted one by one, as this has to then.
    #[inline]
    fn gather(
        &mut self,
        small: &Small,
        quads: impl Iterator<Item = Quad> + Clone,
        inputs: &ManyInputs,
    ) -> Result<bool> {
        let shader = &self.scene.shaders[small.common.shader];
        Ok(self.gathered.add(small, quads.clone(), shader, inputs)
            || self.put_gathered(inputs)? && self.gathered.add(small, quads, shader, inputs))
    }

    /// Shades and puts what was gathered, if anything was; false where that had to be done one by one.
    fn put_gathered(&mut self, inputs: &ManyInputs) -> Result<bool> {
        let Some(common) = self.gathered.take() else {
            return Ok(true);
        };
        let (scene, frame) = (self.scene, self.frame);
        let shader = &scene.shaders[common.shader];
        let Some(gatherer) = self.gatherer(common.shader, common.flat) else {
            return self.put_apart();
        };
        self.clear();
        let context = context(shader, frame, None, true);
        let tile = (&mut self.tile, &mut *self.room);
        if !self
            .gathered
            .paint((gatherer, &context), (shader, inputs), tile, &mut self.out)
        {
            return self.put_apart();
        }
        let [quads, fragments] = self.gathered.counts();
        self.stats.quads += quads;
        self.stats.fragments += fragments;
        self.out.instructions += 4 * quads * u64::from(gatherer.steps());
        self.ran()?;
        Ok(true)
    }

    /// Paints one by one what was gathered and cannot be painted together.
    #[cold]
    fn put_apart(&mut self) -> Result<bool> {
        let scene = self.scene;
        let coverage = std::mem::take(&mut self.coverage);
        let primitives = self.gathered.primitives().to_vec();
        let mut room = scene::Room::default();
        for (geometry, number) in primitives {
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
