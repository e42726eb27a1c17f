//! From vertices to lists: primitives, and for each block of tiles those that may touch it.
//!
//! In: the polygon list builder's command stream, and positions in memory. Out: the primitives of a job and the polygon lists
//! of its blocks ([`lists`]), which a pixel job finds by their addresses, through the tiles of its own list (`tile_list`).

mod assembly;
mod bins;
pub(crate) mod culling;
pub mod entries;
pub mod geometry;
pub mod lists;
mod pieces;
pub mod plbu;
pub(crate) mod slots;
pub(crate) mod tile_list;
