//! Events that a pixel job reports to an observer of its tiles: primitives as they are drawn, and the outcome of every fragment at
//! chosen pixels. The tests and the blending are the tile's own; without an observer it costs one check for each primitive and tile.

use crate::exec::Quad;
use crate::gpu::binning::geometry::Draw;
use crate::gpu::binning::lists::Geometry;
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::Primitive;
use crate::gpu::raster::triangle::Shape;
use crate::gpu::state::State;
use crate::gpu::tile::{Incoming, Stored, Tile, Verdict, stored_depth};

/// An observer of a job's tiles.
pub trait Watch: Sync {
    /// The pixels at which every fragment is reported.
    fn pixels(&self) -> &[[u32; 2]];

    /// Reports the outcome of a fragment at one of those pixels.
    fn fragment(&self, _place: Place<'_>, _pixel: [u32; 2], _fate: &Fate) {}

    /// A tile was cleared.
    fn begun(&self, _tile: &Tile) {}

    /// A primitive was drawn into a tile.
    fn painted(&self, _painted: &Painted<'_>) {}
}

/// A primitive of a job.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// All primitives of its geometry job: those of [`Gpu::geometry`](crate::gpu::Gpu::geometry) behind that job.
    pub geometry: &'a Geometry,
    /// Its number among them.
    pub primitive: u32,
}

impl Place<'_> {
    /// Number of the draw among the draw commands of its stream.
    pub fn draw(&self) -> Option<u32> {
        let primitive = self.geometry.primitives.get(self.primitive)?;
        Some(self.geometry.draws.get(primitive.draw as usize)?.number)
    }
}

/// A primitive that was drawn into a tile.
pub struct Painted<'a> {
    /// The primitive.
    pub place: Place<'a>,
    /// Its coverage of the tile.
    pub quads: &'a [Quad],
    /// Instructions its fragments ran there.
    pub instructions: u64,
    /// The tile after it.
    pub tile: &'a Tile,
}

/// The outcome of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It is outside of its draw's scissor or viewport, or of the picture.
    Outside,
    /// Its program discarded it.
    Discarded,
    /// It was tested by the tile.
    Tested(Tested),
}

/// A fragment that was tested by the tile.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// Its program's colour.
    pub color: [f32; 4],
    /// Its primitive is front-facing.
    pub front: bool,
    /// The value of 1.0 in a stored channel.
    pub one: f32,
    /// Each sample of the pixel.
    pub samples: Vec<Sample>,
    /// The render state.
    pub state: Box<State>,
}

/// A sample of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its outcome.
    pub verdict: Verdict,
    /// Its depth, in the buffer's steps.
    pub depth: u32,
    /// The tile's sample before.
    pub before: Stored,
    /// The tile's sample after.
    pub after: Stored,
}

/// Tests and blends a fragment, and returns its outcome.
pub(crate) fn put(tile: &mut Tile, state: &State, incoming: &Incoming) -> Fate {
    let stored = |tile: &Tile| -> Vec<Stored> {
        let samples = 0..tile.samples;
        samples.map(|sample| tile.stored(incoming.pixel, sample)).collect()
    };
    let before = stored(tile);
    let mut verdicts = vec![Verdict::Uncovered; tile.samples];
    tile.put_one(state, incoming, |sample, verdict| verdicts[sample] = verdict);
    let rows = verdicts.into_iter().zip(before).zip(stored(tile)).enumerate();
    Fate::Tested(Tested {
        color: incoming.color,
        front: incoming.front,
        one: tile.one,
        samples: rows
            .map(|(sample, ((verdict, before), after))| Sample {
                verdict,
                depth: stored_depth(state, incoming.depth[sample]),
                before,
                after,
            })
            .collect(),
        state: Box::new(state.clone()),
    })
}

/// The pixels that are in quads.
pub(crate) fn wanted(pixels: &[[u32; 2]], quads: &[Quad]) -> Vec<[u32; 2]> {
    let inside = |[x, y]: &[u32; 2]| quads.iter().any(|quad| (quad.x, quad.y) == (x & !1, y & !1));
    pixels.iter().copied().filter(inside).collect()
}

/// The pixels that a primitive covers outside of its draw's bounds.
pub(crate) fn outside(
    primitive: &Primitive,
    draw: &Draw,
    multisample: bool,
    pixels: &[[u32; 2]],
) -> impl Iterator<Item = [u32; 2]> {
    let Bounds { min, max } = draw.bounds;
    let is_outside = |at: &[u32; 2]| (0..2).any(|axis| at[axis] < min[axis] || at[axis] > max[axis]);
    let candidates: Vec<[u32; 2]> = pixels.iter().copied().filter(is_outside).collect();
    let everywhere = Bounds {
        min: [0; 2],
        max: [u32::MAX; 2],
    };
    let shape = (!candidates.is_empty())
        .then(|| Shape::new(primitive, everywhere))
        .flatten();
    candidates
        .into_iter()
        .filter(move |[x, y]| shape.as_ref().is_some_and(|shape| shape.touches(*x, *y, multisample)))
}
