//! Wide primitives that tiles met last: tiles of a row meet the same ones, and need not look for them again.

use super::scene::{Prepared, Ready};
use super::spans::{Part, Span};
use super::way::{Brush, Way};
use crate::exec::Engine;

/// A geometry's number, and a primitive's of it.
pub(super) type Number = (usize, u32);

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
pub(super) struct LastMet<'a>([Option<Known<'a>>; LastMet::COUNT]);

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
