//! An engine that watches one pixel and is fast everywhere else.

use emulator::exec::inputs::Inputs;
use emulator::exec::observed::{Observed, Report, Tell};
use emulator::exec::wide::Wide;
use emulator::exec::{Delegate, Engine, FragmentContext, Fragments, Quad};
use emulator::fault::Result;

/// The watched engine for batches that have the pixel, the fast one for others; clones share what was seen.
#[derive(Clone)]
pub(crate) struct Near {
    at: (u32, u32),
    watched: Observed,
    fast: std::sync::Arc<Wide>,
}

impl Near {
    /// Watches a pixel.
    pub(crate) fn new(at: (u32, u32)) -> Self {
        Self {
            at,
            watched: Observed::new(Tell::Pixel(at.0, at.1), Box::new(std::io::sink())),
            fast: std::sync::Arc::default(),
        }
    }

    /// What was seen.
    pub(crate) fn report(&self) -> Report {
        // Nothing is written that could fail.
        self.watched.report().unwrap_or_default()
    }
}

impl Delegate for Near {
    fn engine(&self) -> &dyn Engine {
        &*self.fast
    }

    fn name(&self) -> &'static str {
        "wide, a pixel watched"
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        let corner = (self.at.0 & !1, self.at.1 & !1);
        match quads.iter().any(|quad| (quad.x, quad.y) == corner) {
            true => self.watched.fragments(context, inputs, quads, out),
            false => self.fast.fragments(context, inputs, quads, out),
        }
    }

    fn observed_pixel(&self) -> Option<(u32, u32)> {
        Some(self.at)
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        self.watched.painted(before, color, after);
    }
}
