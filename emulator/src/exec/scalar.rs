//! The plain engine: one vertex, one quad, one instruction at a time, straight from the fields. The specification.

mod fragment;
mod numbers;
mod vertex;

use super::inputs::Inputs;
use super::observe::{Observer, Off};
use super::{Engine, FragmentContext, Fragments, MAX_VERTICES, Quad, VertexBatch};
use crate::fault::Result;
use crate::silicon::Silicon;

/// The plain engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar;

impl Engine for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        vertices(batch, Silicon::default(), &mut Off)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        fragments(context, inputs, quads, out, Silicon::default(), &mut Off)
    }
}

/// The plain engine on hardware with quirks.
#[derive(Clone, Copy, Debug)]
pub struct ScalarWithQuirks(pub Silicon);

impl Engine for ScalarWithQuirks {
    fn name(&self) -> &'static str {
        "scalar with quirks"
    }

    fn silicon(&self) -> Silicon {
        self.0
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        vertices(batch, self.0, &mut Off)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        fragments(context, inputs, quads, out, self.0, &mut Off)
    }
}

/// Runs vertices with silicon switches and an observer.
///
/// # Errors
/// As [`Engine::vertices`].
pub fn vertices<O: Observer>(batch: &mut VertexBatch<'_>, silicon: Silicon, observer: &mut O) -> Result<()> {
    let (mut attributes, mut outputs) = (Vec::new(), Vec::new());
    for vertex in 0..batch.vertices.min(MAX_VERTICES) {
        attributes.clear();
        attributes.extend(batch.rows.attributes_of(vertex));
        outputs.clear();
        outputs.extend(batch.rows.outputs_of(vertex));
        batch.instructions += vertex::run(
            batch.program,
            batch.uniforms,
            &attributes,
            &mut outputs,
            silicon,
            observer,
        )?;
        for (number, output) in outputs.iter().enumerate() {
            batch.rows.set_output(vertex, number, *output);
        }
    }
    Ok(())
}

/// Runs quads with silicon switches and an observer.
///
/// # Errors
/// As [`Engine::fragments`].
pub fn fragments<O: Observer>(
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    quads: &[Quad],
    out: &mut Fragments,
    silicon: Silicon,
    observer: &mut O,
) -> Result<()> {
    for (number, quad) in quads.iter().enumerate().take(super::MAX_QUADS) {
        fragment::run(context, inputs, *quad, number, out, silicon, observer)?;
    }
    Ok(())
}
