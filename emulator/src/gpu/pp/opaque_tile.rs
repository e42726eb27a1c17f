//! The short way of most tiles of large primitives: the only one that touches a tile covers all of it, so that its words are
//! the picture's, with no tile in between.

use super::recent::{NeighbouringTiles, Number};
use super::tile_op::TileOp;
use super::worker::{TOGETHER, TileWorker};
use crate::exec::MAX_QUADS;
use crate::fault::Result;
use crate::gpu::binning::tile_list::ListedTile;
use crate::gpu::raster::row_coverage::Part;
use crate::gpu::tile::{PIXELS, SIDE};
use std::ops::Range;

impl<'a> TileWorker<'a, '_> {
    /// Paints the first of some tiles, as many as go the short way together, to their places in the picture. How many have been
    /// looked at, and whether they are painted; else they have to go the long way.
    pub(crate) fn draw_opaque_tiles(&mut self, tiles: &[ListedTile]) -> Result<(usize, bool)> {
        const LONG: (usize, bool) = (1, false);
        let alike = !self.scene.multisample || self.frame.begins_alike();
        let is_opaque = self.scene.fast_paths && alike && !self.frame.half_float && !self.scene.has_many;
        let (Some(plain), Some(((row, first), _))) = (self.plain.filter(|_| is_opaque), tiles.first()) else {
            return Ok(LONG);
        };
        let (mut only, mut places) = (None, [0; TOGETHER]);
        let mut count = 0;
        for (((of, column), bin_references), place) in tiles.iter().zip(&mut places) {
            let target = self.target.as_ref();
            let Some(address) = target.and_then(|target| plain.expect([*column, *row], target)) else {
                break;
            };
            let found = self.only(bin_references.clone(), [*column, *row]);
            let is_beside = (of, *column) == (row, first + count as u32);
            if found.is_none() || !is_beside || only.is_some() && only != found {
                break;
            }
            (only, *place, count) = (found, address, count + 1);
        }
        let Some((ready, variant, info)) = only.and_then(|only| self.met.painting(only)) else {
            return Ok(LONG);
        };
        let first = [first * SIDE, row * SIDE];
        let words = &mut self.words[..count];
        let ran = info.painter.paint_over(&variant.context, &ready.inputs, first, words);
        let (Some(target), Some(steps)) = (self.target.as_mut(), ran) else {
            return Ok((count, false));
        };
        // Who goes the long way writes all of them once more.
        let mut written = words.iter().zip(places);
        if !written.all(|(words, place)| plain.put_words(words, place, target)) {
            return Ok((count, false));
        }
        self.stats.tiles += count as u64;
        self.ops.add(TileOp::ShadeOpaqueTile, count as u64);
        self.painted(count * MAX_QUADS, (count * PIXELS) as u64, steps);
        self.ran().map(|()| (count, true))
    }

    /// The only primitive that touches a tile, if it covers all of it.
    fn only(&mut self, bin_references: Range<usize>, tile: [u32; 2]) -> Option<Number> {
        if let Some(only) = self.alike.of(self.scene, &bin_references, tile) {
            return Some(only);
        }
        let (scene, variants, engine) = (self.scene, self.variants, self.engine);
        let (mut only, mut until) = (None, u32::MAX);
        for (geometry, entries) in scene.referenced(bin_references.clone()) {
            let prepared = scene.geometries.get(geometry)?;
            let of_lists = tile.map(|at| at as u8);
            until = until.min(entries.until(of_lists));
            for primitive in entries.touching(of_lists) {
                let primitive = (geometry, primitive);
                let (part, end) = self.met.find(primitive, tile, prepared, variants, engine)?;
                until = until.min(end);
                match part {
                    Part::Nothing => {}
                    Part::All if only.is_none() => only = Some(primitive),
                    _ => return None,
                }
            }
        }
        let only = only?;
        let [column, row] = tile;
        self.alike = NeighbouringTiles {
            columns: column..until,
            row,
            bin_references,
            only,
        };
        Some(only)
    }
}
