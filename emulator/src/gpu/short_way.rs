//! The short way of most tiles of large primitives: the only one that touches a tile covers all of it, so that its words are
//! the picture's, with no tile in between.

use super::entries::Entries;
use super::frame::Frame;
use super::scene::{Prepared, Ready, Scene};
use super::spans::{Part, Span};
use super::tile::{PIXELS, SIDE};
use super::tile_list::ListedTile;
use super::tile_worker::TileWorker;
use super::way::{Brush, Way};
use crate::exec::{Engine, MAX_QUADS};
use crate::fault::Result;

/// A geometry's number, and a primitive's of it.
type Number = (usize, u32);

/// A large primitive in a row of tiles.
struct Known<'a> {
    /// Numbers of its geometry, and of itself.
    primitive: Number,
    row: u32,
    span: Span,
    ready: &'a Ready,
    /// The way of its fragments, and what paints; nothing where tiles have to be looked at for them.
    paints: Option<(&'a Way<'a>, Brush<'a>)>,
}

/// Tiles that go the short way together, at most.
const TOGETHER: usize = 8;

/// Room for the words of so many tiles.
pub(super) type Words = [[u32; PIXELS]; TOGETHER];

/// Large primitives that tiles met last.
#[derive(Default)]
pub(super) struct LastMet<'a>([Option<Known<'a>>; LastMet::COUNT]);

impl<'a> LastMet<'a> {
    const COUNT: usize = 8;

    /// What a primitive has to do with a tile; nothing of what is not wide.
    #[inline]
    fn find(
        &mut self,
        primitive: Number,
        [column, row]: [u32; 2],
        prepared: &'a Prepared<'a>,
        ways: &'a [Way<'a>],
        engine: &dyn Engine,
    ) -> Option<Part> {
        let known = &mut self.0[Self::place(primitive)];
        if known
            .as_ref()
            .is_none_or(|known| (known.primitive, known.row) != (primitive, row))
        {
            let (shape, ready, shader) = prepared.known(primitive.1)?;
            if !shape.is_wide() {
                return None;
            }
            *known = Some(Known {
                primitive,
                row,
                span: Span::of(shape, row),
                ready,
                paints: ways.get(shader).and_then(|way| Some((way, way.covers(engine, ready)?))),
            });
        }
        known.as_ref().map(|known| known.span.at(column))
    }

    fn place((_, primitive): Number) -> usize {
        primitive as usize % Self::COUNT
    }

    /// What the fragments of a primitive get, and what paints them, if it still is among those met last.
    fn painting(&self, primitive: Number) -> Option<(&'a Ready, &'a Way<'a>, Brush<'a>)> {
        let known = self.0[Self::place(primitive)].as_ref();
        let known = known.filter(|known| known.primitive == primitive)?;
        let (way, brush) = known.paints?;
        Some((known.ready, way, brush))
    }
}

/// Whether there are tiles that may go the short way.
pub(super) fn is_there(frame: &Frame, scene: &Scene<'_>) -> bool {
    let alike = !scene.multisample || frame.begins_alike();
    alike && !frame.half_float && !scene.has_many
}

impl<'a> TileWorker<'a, '_> {
    /// Paints the first of some tiles, as many as go the short way together, to their places in the picture. How many have been
    /// looked at, and whether they are painted; else they have to go the long way.
    pub(super) fn paint_short(&mut self, tiles: &[ListedTile]) -> Result<(usize, bool)> {
        const LONG: (usize, bool) = (1, false);
        let (Some(plain), Some(((row, first), _))) = (self.plain.filter(|_| self.is_short), tiles.first()) else {
            return Ok(LONG);
        };
        let (mut only, mut places) = (None, [0; TOGETHER]);
        let mut count = 0;
        for (((of, column), lists), place) in tiles.iter().zip(&mut places) {
            let target = self.target.as_ref();
            let Some(address) = target.and_then(|target| plain.expect([*column, *row], target)) else {
                break;
            };
            let found = self.only(&self.scene.lists[lists.clone()], [*column, *row]);
            let is_beside = (of, *column) == (row, first + count as u32);
            if found.is_none() || !is_beside || only.is_some() && only != found {
                break;
            }
            (only, *place, count) = (found, address, count + 1);
        }
        let Some((ready, way, brush)) = only.and_then(|only| self.met.painting(only)) else {
            return Ok(LONG);
        };
        let first = [first * SIDE, row * SIDE];
        let words = &mut self.words[..count];
        let is_painted = brush.painter.paint_over(&way.context, &ready.inputs, first, words);
        let Some(target) = self.target.as_mut().filter(|_| is_painted) else {
            return Ok((count, false));
        };
        // Who goes the long way writes all of them once more.
        let mut written = words.iter().zip(places);
        if !written.all(|(words, place)| plain.put_words(words, place, target)) {
            return Ok((count, false));
        }
        self.stats.tiles += count as u64;
        self.painted(count * MAX_QUADS, (count * PIXELS) as u64, brush);
        self.ran().map(|()| (count, true))
    }

    /// The only primitive that touches a tile, if it covers all of it.
    fn only(&mut self, lists: &[Option<(usize, &'a Entries)>], tile: [u32; 2]) -> Option<Number> {
        let (scene, ways, engine) = (self.scene, self.ways, self.engine);
        let mut only = None;
        for (geometry, entries) in lists.iter().flatten() {
            let prepared = scene.geometries.get(*geometry)?;
            for primitive in entries.touching(tile.map(|at| at as u8)) {
                let primitive = (*geometry, primitive);
                match self.met.find(primitive, tile, prepared, ways, engine)? {
                    Part::Nothing => {}
                    Part::All if only.is_none() => only = Some(primitive),
                    _ => return None,
                }
            }
        }
        only
    }
}
