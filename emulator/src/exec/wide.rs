//! The fast engine: many vertices or fragments go through each operation together, a row of lanes for every component
//! of a register. Programs are taken apart once into operations on rows; where lanes part at a branch, those that are
//! furthest behind go first, as in the plain engine, so both give the same bits.

pub(super) mod alu;
pub(super) mod fragment;
mod fragment_build;
pub(super) mod fragment_code;
mod groups;
pub(super) mod region;
pub(super) mod vertex;
pub(super) mod vertex_code;

pub use fragment_code::FragmentCode;
pub(super) use fragment_code::MAX_TEMPORARIES;
pub use vertex_code::VertexCode;

use super::inputs::Inputs;
use super::lanes::LANES;
use super::scalar::Scalar;
use super::{Engine, FragmentContext, Fragments, Quad, VertexBatch};
use crate::fault::Result;
use crate::simd::{Found, Level};

/// The fast engine.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    found: Found,
}

impl Default for Wide {
    /// With the best vector units of this processor.
    fn default() -> Self {
        Self { found: Found::best() }
    }
}

impl Wide {
    /// What the processor was found to have.
    pub(super) fn found(self) -> Found {
        self.found
    }

    /// With vector units that are not better than `limit`.
    pub fn at_most(limit: Level) -> Self {
        Self {
            found: Found::at_most(limit),
        }
    }
}

impl Engine for Wide {
    fn name(&self) -> &'static str {
        match self.found.level() {
            Level::Portable => "wide (portable)",
            Level::Neon => "wide (NEON)",
            Level::Avx2 | Level::Avx512 => "wide (256 bits)",
        }
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        vertex::run(self.found, batch, None)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        if context.program.has_many_temporaries() {
            return Scalar.fragments(context, inputs, quads, out);
        }
        let batches = quads.chunks(LANES / 4).take(super::MAX_QUADS / (LANES / 4));
        for (number, quads) in batches.enumerate() {
            fragment::run(self.found, context, inputs, (quads, number * LANES / 4), None, out)?;
        }
        Ok(())
    }
}
