//! The short way of most tiles of large primitives: the only one that touches a tile covers all of it, so that its words are
//! the picture's, with no tile in between.

use super::entries::Entries;
use super::frame::Frame;
use super::plain::Plain;
use super::scene::{Prepared, Ready, Scene};
use super::spans::{Part, Span};
use super::tile::{PIXELS, SIDE};
use super::tile_worker::TileWorker;
use super::way::{Brush, Way};
use crate::exec::{Engine, MAX_QUADS};
use crate::fault::Result;

/// A large primitive in a row of tiles.
struct Known<'a> {
    geometry: usize,
    primitive: u32,
    row: u32,
    span: Span,
    ready: &'a Ready,
    /// The way of its fragments, and what paints; nothing where tiles have to be looked at for them.
    paints: Option<(&'a Way<'a>, Brush<'a>)>,
}

/// Large primitives that tiles met last.
#[derive(Default)]
pub(super) struct LastMet<'a>([Option<Known<'a>>; LastMet::COUNT]);

impl<'a> LastMet<'a> {
    const COUNT: usize = 8;

    /// What is known of a primitive in a row; nothing of what is not wide.
    #[inline]
    fn find(
        &mut self,
        (geometry, primitive): (usize, u32),
        row: u32,
        prepared: &'a Prepared<'a>,
        ways: &'a [Way<'a>],
        engine: &dyn Engine,
    ) -> Option<&Known<'a>> {
        let known = &mut self.0[primitive as usize % Self::COUNT];
        let is_it = |known: &Known<'_>| (known.geometry, known.primitive, known.row) == (geometry, primitive, row);
        if !known.as_ref().is_some_and(is_it) {
            let (shape, ready, shader) = prepared.known(primitive)?;
            if !shape.is_wide() {
                return None;
            }
            *known = Some(Known {
                geometry,
                primitive,
                row,
                span: Span::of(shape, row),
                ready,
                paints: ways.get(shader).and_then(|way| Some((way, way.covers(engine, ready)?))),
            });
        }
        known.as_ref()
    }
}

/// Whether there are tiles that may go the short way.
pub(super) fn is_there(frame: &Frame, scene: &Scene<'_>) -> bool {
    let alike = !scene.multisample || frame.begins_alike();
    alike && !frame.half_float && !scene.has_many
}

impl<'a> TileWorker<'a, '_> {
    /// Paints a tile that only one primitive touches, which covers all of it, to its place in the picture; false where it has
    /// to go the long way.
    pub(super) fn paint_short(
        &mut self,
        lists: &[Option<(usize, &'a Entries)>],
        [column, row]: [u32; 2],
        (plain, address): (Plain, u32),
    ) -> Result<bool> {
        let Some((ready, way, brush)) = self.only(lists, [column, row]) else {
            return Ok(false);
        };
        let first = [column * SIDE, row * SIDE];
        let words = &mut self.out.words;
        if !brush.painter.paint_over(&way.context, &ready.inputs, first, words) {
            return Ok(false);
        }
        if !self
            .target
            .as_mut()
            .is_some_and(|target| plain.put_words(words, address, target))
        {
            return Ok(false);
        }
        self.painted(MAX_QUADS, PIXELS as u64, brush);
        self.ran().map(|()| true)
    }

    /// The only primitive that touches a tile, if it covers all of it and nothing that is there counts.
    fn only(
        &mut self,
        lists: &[Option<(usize, &'a Entries)>],
        [column, row]: [u32; 2],
    ) -> Option<(&'a Ready, &'a Way<'a>, Brush<'a>)> {
        let (scene, ways, engine) = (self.scene, self.ways, self.engine);
        let mut only = None;
        for (geometry, entries) in lists.iter().flatten() {
            let prepared = scene.geometries.get(*geometry)?;
            for primitive in entries.touching([column as u8, row as u8]) {
                let known = self.met.find((*geometry, primitive), row, prepared, ways, engine)?;
                match known.span.at(column) {
                    Part::Nothing => {}
                    Part::All if only.is_none() => {
                        let (way, brush) = known.paints?;
                        only = Some((known.ready, way, brush));
                    }
                    _ => return None,
                }
            }
        }
        only
    }
}
