//! How a primitive is drawn in a tile.

/// How a primitive is drawn in a tile: chosen once per tile, by its variant and coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileOp {
    /// The engine shades its quads, and observers get every fragment.
    Observed,
    /// The engine shades its quads; a pixel has four samples.
    Multisample,
    /// The engine shades its quads; a pixel has one sample.
    Quads,
    /// A kernel shades its quads to words in one call, and the tile stores those that pass.
    ShadeQuads,
    /// A kernel shades all of the tile in place.
    ShadeTile,
    /// It covers the tile and no other primitive touches it: a kernel shades the words of the picture.
    ShadeOpaqueTile,
    /// It is small, and shaded together with others of its draw.
    QuadBatch,
}

impl TileOp {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Observed,
        Self::Multisample,
        Self::Quads,
        Self::ShadeQuads,
        Self::ShadeTile,
        Self::ShadeOpaqueTile,
        Self::QuadBatch,
    ];

    /// Whether it is used without fast paths: the engine shades quads, and the tile tests and blends them.
    pub fn is_general(self) -> bool {
        matches!(self, Self::Observed | Self::Multisample | Self::Quads)
    }
}

/// The number of primitives per way of drawing, each counted in every tile that it touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileOps([u64; TileOp::ALL.len()]);

impl TileOps {
    /// How many were drawn in this way.
    pub fn count(&self, op: TileOp) -> u64 {
        self.0[op as usize]
    }

    pub(super) fn add(&mut self, op: TileOp, count: u64) {
        self.0[op as usize] += count;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }
}
