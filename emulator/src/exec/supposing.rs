//! Engines on hardware that somebody supposes.

use super::gathered::Gatherer;
use super::inputs::Inputs;
use super::{Engine, FragmentContext, Fragments, Painter, Quad, VertexBatch, scalar};
use crate::fault::Result;
use crate::silicon::{Part, Silicon};
use std::sync::Arc;

/// An engine whose programs run the same on the hardware that is supposed.
struct Around {
    engine: Box<dyn Engine>,
    silicon: Silicon,
}

/// An engine on hardware as switches suppose it: the one given, or the scalar one where a switch changes what programs
/// compute.
pub fn supposing(engine: Box<dyn Engine>, silicon: Silicon) -> Box<dyn Engine> {
    if silicon == Silicon::default() {
        engine
    } else if silicon.changes(Part::Programs) {
        Box::new(scalar::Supposing(silicon))
    } else {
        Box::new(Around { engine, silicon })
    }
}

impl Engine for Around {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn silicon(&self) -> Silicon {
        self.silicon
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        self.engine.vertices(batch)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        self.engine.fragments(context, inputs, quads, out)
    }

    fn painter(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn Painter>> {
        self.engine.painter(context, flat)
    }

    fn gatherer(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn Gatherer>> {
        self.engine.gatherer(context, flat)
    }

    fn fast_paths(&self) -> bool {
        self.engine.fast_paths()
    }

    fn watched_pixel(&self) -> Option<(u32, u32)> {
        self.engine.watched_pixel()
    }

    fn report(&self) -> Option<String> {
        self.engine.report()
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        self.engine.painted(before, color, after);
    }
}
