//! From a primitive to what it covers of a tile, and to the planes of what is interpolated over it.
//!
//! In: a primitive's corners, the pixels it may touch, and a tile. Out: the quads it covers with their live fragments
//! (`triangle::Coverage`), and a plane for each number that fragments read (`planes`).

pub(crate) mod edge;
pub(crate) mod planes;
pub(crate) mod small_triangle;
pub(crate) mod small_triangle_masks;
pub(crate) mod triangle;
