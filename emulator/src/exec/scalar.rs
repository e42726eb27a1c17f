//! The plain engine: one vertex, one quad, one instruction at a time, straight from the fields. The specification.

mod fragment;
mod vertex;

use super::inputs::Inputs;
use super::observe::{Observer, Off};
use super::{Engine, FragmentContext, Fragments, Quad, VertexBatch};
use crate::fault::Result;

/// The plain engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar;

impl Engine for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        vertices(batch, &mut Off)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        fragments(context, inputs, quads, out, &mut Off)
    }
}

/// Runs vertices, watched.
///
/// # Errors
/// As [`Engine::vertices`].
pub fn vertices<O: Observer>(batch: &mut VertexBatch<'_>, observer: &mut O) -> Result<()> {
    let attributes = batch.attributes.chunks(batch.attribute_count.max(1));
    for (attributes, outputs) in attributes.zip(batch.outputs.chunks_mut(batch.output_count.max(1))) {
        batch.instructions += vertex::run(batch.program, batch.uniforms, attributes, outputs, observer)?;
    }
    Ok(())
}

/// Runs quads, watched.
///
/// # Errors
/// As [`Engine::fragments`].
pub fn fragments<O: Observer>(
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    quads: &[Quad],
    out: &mut Fragments,
    observer: &mut O,
) -> Result<()> {
    for (number, quad) in quads.iter().enumerate().take(super::MAX_QUADS) {
        fragment::run(context, inputs, *quad, number, out, observer)?;
    }
    Ok(())
}
