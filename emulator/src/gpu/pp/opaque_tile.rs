//! Fast path: a tile that one opaque primitive covers, and no other touches, is shaded straight into the picture.

use super::scene::LargePrimitive;
use super::tile_op::TileOp;
use super::worker::{TOGETHER, TileWorker};
use crate::exec::MAX_QUADS;
use crate::fault::Result;
use crate::gpu::binning::tile_list::ListedTile;
use crate::gpu::raster::triangle::Part;
use crate::gpu::tile::{PIXELS, SIDE};
use std::ops::Range;

/// A primitive by the numbers of its geometry and of itself.
type Number = (usize, u32);

impl<'a> TileWorker<'a, '_> {
    /// Draws the first of some tiles, as many beside each other as one opaque primitive covers, to their places in the
    /// picture. How many have been looked at, and whether they are drawn.
    pub(crate) fn draw_opaque_tiles(&mut self, tiles: &[ListedTile]) -> Result<(usize, bool)> {
        const LONG: (usize, bool) = (1, false);
        let alike = !self.job.scene.multisample || self.job.frame.begins_alike();
        let is_opaque = self.job.scene.fast_paths && alike && !self.job.frame.half_float && !self.job.scene.has_many;
        let (Some(tiled), Some(((row, first), _))) = (self.job.tiled_target().filter(|_| is_opaque), tiles.first())
        else {
            return Ok(LONG);
        };
        let (mut only, mut places): (Option<(Number, _)>, _) = (None, [0; TOGETHER]);
        let mut count = 0;
        for (((of, column), bin_references), place) in tiles.iter().zip(&mut places) {
            let target = self.output.target.as_ref();
            let Some(address) = target.and_then(|target| tiled.expect([*column, *row], target)) else {
                break;
            };
            let Some((number, primitive)) = self.only(bin_references.clone(), [*column, *row]) else {
                break;
            };
            let is_beside = (of, *column) == (row, first + count as u32);
            if !is_beside || only.is_some_and(|(only, _)| only != number) {
                break;
            }
            (only, *place, count) = (Some((number, primitive)), address, count + 1);
        }
        let Some((_, LargePrimitive { ready, shader, .. })) = only else {
            return Ok(LONG);
        };
        let variant = self.job.variants.get(shader);
        let Some((variant, kernel)) =
            variant.and_then(|variant| Some((variant, variant.covers(self.job.engine, ready)?)))
        else {
            return Ok((count, false));
        };
        let first = [first * SIDE, row * SIDE];
        let words = &mut self.scratch.words[..count];
        let ran = kernel
            .code
            .shade_in_place(&variant.context, &ready.inputs, first, words);
        let (Some(target), Some(steps)) = (self.output.target.as_mut(), ran) else {
            return Ok((count, false));
        };
        // Otherwise all of them are drawn again.
        let mut written = words.iter().zip(places);
        if !written.all(|(words, place)| tiled.put_words(words, place, target)) {
            return Ok((count, false));
        }
        self.stats.tiles += count as u64;
        self.ops.add(TileOp::ShadeOpaqueTile, count as u64);
        self.painted(count * MAX_QUADS, (count * PIXELS) as u64, steps);
        self.ran().map(|()| (count, true))
    }

    /// The only primitive that touches a tile, if it covers all of it.
    fn only(&self, bin_references: Range<usize>, tile: [u32; 2]) -> Option<(Number, LargePrimitive<'a>)> {
        let scene = self.job.scene;
        let (origin, of_lists) = (tile.map(|at| at * SIDE), tile.map(|at| at as u8));
        let mut only = None;
        for (geometry, entries) in scene.referenced(bin_references) {
            let prepared = scene.geometries.get(geometry)?;
            for primitive in entries.touching(of_lists) {
                let large = prepared.known(primitive)?;
                match large.shape.part(origin) {
                    Part::Nothing => {}
                    Part::All if only.is_none() => only = Some(((geometry, primitive), large)),
                    _ => return None,
                }
            }
        }
        only
    }
}
