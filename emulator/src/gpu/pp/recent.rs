//! Cache of what the last tiles met: wide primitives that were rasterised, and the primitive that covers neighbouring tiles.

use super::scene::{Prepared, Ready, Scene};
use super::variant::{Brush, Way};
use crate::exec::Engine;
use crate::gpu::raster::row_coverage::{Part, Span};
use std::ops::Range;

/// Tiles of a row that one and the same primitive covers, and nothing else touches, where they mention the same lists.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    /// Columns of tiles.
    pub columns: Range<u32>,
    /// Row of tiles.
    pub row: u32,
    /// What one of them mentions.
    pub mentions: Range<usize>,
    /// The primitive.
    pub only: Number,
}

impl Alike {
    /// The primitive of a tile that is one of them.
    #[inline]
    pub fn of(&self, scene: &Scene<'_>, mentions: &Range<usize>, [column, row]: [u32; 2]) -> Option<Number> {
        let is_one = self.row == row && self.columns.contains(&column) && scene.are_alike(&self.mentions, mentions);
        is_one.then_some(self.only)
    }
}

/// A geometry's number, and a primitive's of it.
pub(crate) type Number = (usize, u32);

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

/// Large primitives that tiles met last.
#[derive(Default)]
pub(crate) struct LastMet<'a>([Option<Known<'a>>; LastMet::COUNT]);

impl<'a> LastMet<'a> {
    const COUNT: usize = 8;

    /// What a primitive has to do with a tile, and the first column behind from which on that may be something else; nothing of
    /// what is not wide.
    #[inline]
    pub fn find(
        &mut self,
        primitive: Number,
        [column, row]: [u32; 2],
        prepared: &'a Prepared<'a>,
        ways: &'a [Way<'a>],
        engine: &dyn Engine,
    ) -> Option<(Part, u32)> {
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
        let span = &known.as_ref()?.span;
        Some((span.at(column), span.until(column)))
    }

    fn place((_, primitive): Number) -> usize {
        primitive as usize % Self::COUNT
    }

    /// What the fragments of a primitive get, and what paints them, if it still is among those met last.
    pub fn painting(&self, primitive: Number) -> Option<(&'a Ready, &'a Way<'a>, Brush<'a>)> {
        let known = self.0[Self::place(primitive)].as_ref();
        let known = known.filter(|known| known.primitive == primitive)?;
        let (way, brush) = known.paints?;
        Some((known.ready, way, brush))
    }
}
