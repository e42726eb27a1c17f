//! The pixel processor: the tiles of a job, each with the primitives of its lists.
//!
//! In: frame registers, the job's tiles and polygon lists, and what memory holds of render states, programs and textures.
//! Out: the pictures of the job, and how much it ran.

pub(crate) mod job;
mod mesh;
pub mod observe;
mod opaque_tile;
mod quad_batch;
pub(crate) mod scene;
mod setup;
mod tile_op;
mod variant;
mod worker;

pub use tile_op::{TileOp, TileOps};
pub use worker::PixelStats;
