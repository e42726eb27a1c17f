//! Ends a running job from another thread.

use crate::fault::{Fault, FaultKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends the jobs of a GPU; clones share it.
///
/// Jobs look at it where they count their instructions: after 2^20 of a pixel job's in each thread, and after every few
/// batches of vertices.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the running job, and every later one, with a fault.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`FaultKind::Cancelled`] once cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            false => Ok(()),
            true => Err(Fault::new(FaultKind::Cancelled, "the host ended the job")),
        }
    }
}
