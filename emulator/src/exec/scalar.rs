//! The plain engine: one vertex, one quad, one instruction at a time, straight from the fields. The specification.

mod fragment;
mod vertex;

use super::inputs::Inputs;
use super::{Engine, FragmentContext, Fragments, Quad, VertexBatch};
use crate::gpu::fault::Result;

/// The plain engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar;

impl Engine for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        let attributes = batch.attributes.chunks(batch.attribute_count.max(1));
        for (attributes, outputs) in attributes.zip(batch.outputs.chunks_mut(batch.output_count.max(1))) {
            vertex::run(&batch.program.instructions, batch.uniforms, attributes, outputs)?;
        }
        Ok(())
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        for (number, quad) in quads.iter().enumerate().take(super::MAX_QUADS) {
            fragment::run(context, inputs, *quad, number, out)?;
        }
        Ok(())
    }
}
