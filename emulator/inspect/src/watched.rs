//! An engine that switches from fast to observed execution.

use emulator::exec::inputs::Inputs;
use emulator::exec::observed::{Observed, PixelFragment, Tell};
use emulator::exec::{Engine, FragmentContext, Fragments, Quad, VertexBatch};
use emulator::fault::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A fast engine, and an observed one that replaces it once it is turned on; clones share both.
#[derive(Clone)]
pub struct Switch {
    fast: Arc<dyn Engine>,
    watched: Observed,
    on: Arc<AtomicBool>,
}

impl Switch {
    /// An engine that is fast until it is turned on, and then observes a pixel.
    pub fn new(fast: Box<dyn Engine>, (x, y): (u32, u32)) -> Self {
        Self {
            fast: fast.into(),
            watched: Observed::new(Tell::Pixel(x, y), Box::new(std::io::sink())),
            on: Arc::default(),
        }
    }

    /// Starts observing.
    pub fn turn_on(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    /// The observed fragments at the pixel.
    pub fn fragments(&self) -> Vec<PixelFragment> {
        self.watched.report().map(|report| report.pixel).unwrap_or_default()
    }

    fn engine(&self) -> &dyn Engine {
        match self.on.load(Ordering::Relaxed) {
            true => &self.watched,
            false => &*self.fast,
        }
    }
}

impl Engine for Switch {
    fn name(&self) -> &'static str {
        self.engine().name()
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        self.engine().vertices(batch)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        self.engine().fragments(context, inputs, quads, out)
    }

    fn observed_pixel(&self) -> Option<(u32, u32)> {
        self.engine().observed_pixel()
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        self.engine().painted(before, color, after);
    }
}
