//! Cache of what the last tiles met: wide primitives that were rasterised, and the primitive that covers neighbouring tiles.

use super::scene::{Prepared, Ready, Scene};
use super::variant::{FragmentVariant, KernelInfo};
use crate::exec::Engine;
use crate::gpu::raster::row_coverage::{Part, Span};
use std::ops::Range;

/// Tiles of a row that one and the same primitive covers, and nothing else touches, where they mention the same lists.
#[derive(Debug, Default)]
pub(crate) struct NeighbouringTiles {
    /// Columns of tiles.
    pub columns: Range<u32>,
    /// Row of tiles.
    pub row: u32,
    /// What one of them references.
    pub bin_references: Range<usize>,
    /// The primitive.
    pub only: Number,
}

impl NeighbouringTiles {
    /// The primitive of a tile that is one of them.
    #[inline]
    pub fn of(&self, scene: &Scene<'_>, bin_references: &Range<usize>, [column, row]: [u32; 2]) -> Option<Number> {
        let is_one = self.row == row
            && self.columns.contains(&column)
            && scene.name_same_lists(&self.bin_references, bin_references);
        is_one.then_some(self.only)
    }
}

/// A geometry's number, and a primitive's of it.
pub(crate) type Number = (usize, u32);

/// A large primitive in a row of tiles.
struct RecentPrimitive<'a> {
    /// Numbers of its geometry, and of itself.
    primitive: Number,
    row: u32,
    span: Span,
    ready: &'a Ready,
    /// The way of its fragments, and what paints; nothing where tiles have to be looked at for them.
    paints: Option<(&'a FragmentVariant<'a>, KernelInfo<'a>)>,
}

/// Large primitives that tiles met last.
#[derive(Default)]
pub(crate) struct RecentPrimitives<'a>([Option<RecentPrimitive<'a>>; RecentPrimitives::COUNT]);

impl<'a> RecentPrimitives<'a> {
    const COUNT: usize = 8;

    /// What a primitive has to do with a tile, and the first column behind from which on that may be something else; nothing of
    /// what is not wide.
    #[inline]
    pub fn find(
        &mut self,
        primitive: Number,
        [column, row]: [u32; 2],
        prepared: &'a Prepared<'a>,
        variants: &'a [FragmentVariant<'a>],
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
            *known = Some(RecentPrimitive {
                primitive,
                row,
                span: Span::of(shape, row),
                ready,
                paints: variants
                    .get(shader)
                    .and_then(|variant| Some((variant, variant.covers(engine, ready)?))),
            });
        }
        let span = &known.as_ref()?.span;
        Some((span.at(column), span.until(column)))
    }

    fn place((_, primitive): Number) -> usize {
        primitive as usize % Self::COUNT
    }

    /// What the fragments of a primitive get, and what paints them, if it still is among those met last.
    pub fn painting(&self, primitive: Number) -> Option<(&'a Ready, &'a FragmentVariant<'a>, KernelInfo<'a>)> {
        let known = self.0[Self::place(primitive)].as_ref();
        let known = known.filter(|known| known.primitive == primitive)?;
        let (variant, info) = known.paints?;
        Some((known.ready, variant, info))
    }
}
