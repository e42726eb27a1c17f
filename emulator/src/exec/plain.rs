//! An engine without fast paths around it: every primitive goes through the general variants.

use super::inputs::Inputs;
use super::{Engine, FragmentContext, Fragments, Quad, VertexBatch};
use crate::fault::Result;
use crate::silicon::Silicon;

/// Another engine without fast paths: nothing shades whole tiles or the quads of many primitives in one call, and a GPU around
/// it takes none of its own. Pictures are the same.
pub struct Plain(pub Box<dyn Engine>);

impl Engine for Plain {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn silicon(&self) -> Silicon {
        self.0.silicon()
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        self.0.vertices(batch)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        self.0.fragments(context, inputs, quads, out)
    }

    fn fast_paths(&self) -> bool {
        false
    }

    fn watched_pixel(&self) -> Option<(u32, u32)> {
        self.0.watched_pixel()
    }

    fn report(&self) -> Option<String> {
        self.0.report()
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        self.0.painted(before, color, after);
    }
}
