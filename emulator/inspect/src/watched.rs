//! An engine that switches from fast to observed execution.

use emulator::exec::observed::{Observed, PixelFragment, Tell};
use emulator::exec::{Delegate, Engine};
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
        Self::of(fast, Observed::new(Tell::Pixel(x, y), Box::new(std::io::sink())))
    }

    /// An engine that is fast until `watched` is turned on.
    pub fn of(fast: Box<dyn Engine>, watched: Observed) -> Self {
        Self {
            fast: fast.into(),
            watched,
            on: Arc::default(),
        }
    }

    /// Starts observing.
    pub fn turn_on(&self) {
        self.set(true);
    }

    /// Starts or ends observing.
    pub fn set(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// The observed fragments at the pixel.
    pub fn fragments(&self) -> Vec<PixelFragment> {
        self.watched.report().map(|report| report.pixel).unwrap_or_default()
    }
}

impl Delegate for Switch {
    fn engine(&self) -> &dyn Engine {
        match self.on.load(Ordering::Relaxed) {
            true => &self.watched,
            false => &*self.fast,
        }
    }
}
