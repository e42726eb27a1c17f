//! A small driver of our own: links a vertex and a fragment program, writes the command streams, render states and
//! descriptors a real driver would, and submits them through the same door.
//!
//! What it writes is what docs/spec/mali/streams.md and docs/spec/mali/frame.md found in a real driver's jobs.

mod draw;
mod encode;
pub mod link;
mod prepared;

use crate::gpu::Gpu;

pub use draw::{Blend, Contents, Cull, Depth, Draw, Error, ErrorKind, Image, Picture, Result, Stencil};
pub use prepared::Prepared;
pub use utgard::state::{Compare, StencilOp};
pub use utgard::stream::PrimitiveMode;

/// Links a draw and writes everything it needs into the GPU's memory, which must have nothing of the driver's in it.
///
/// # Errors
/// When the programs do not fit, something they need is not given, or there is no room.
pub fn prepare(gpu: &mut Gpu, draw: &Draw<'_>) -> Result<Prepared> {
    let linked = link::link(draw)?;
    encode::encode(gpu, draw, linked)
}

/// Draws: links, submits, reads the picture.
///
/// # Errors
/// As [`prepare`] and [`Prepared::submit`].
pub fn draw(gpu: &mut Gpu, draw: &Draw<'_>) -> Result<Picture> {
    let prepared = prepare(gpu, draw)?;
    prepared.submit(gpu)?;
    prepared.picture(gpu)
}
