//! Ends a running job: from another thread, or when it has run too many instructions.

use crate::fault::{Fault, FaultKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
}

/// What ends a job early.
#[derive(Clone, Copy)]
pub(crate) struct Budget<'a> {
    /// Instructions that its vertices, or its fragments, may run together.
    pub instructions: u64,
    /// The host's flag.
    pub cancellation: &'a Cancellation,
}

impl Budget<'_> {
    /// Adds instructions to the sum of all threads; `whose` names what runs them.
    ///
    /// # Errors
    /// [`FaultKind::Budget`] if the sum is more than the budget; [`FaultKind::Cancelled`].
    pub(crate) fn spend(&self, ran: &AtomicU64, more: u64, whose: &str) -> Result<()> {
        if self.cancellation.is_cancelled() {
            return Err(Fault::new(FaultKind::Cancelled, "the host ended the job"));
        }
        if ran.fetch_add(more, Ordering::Relaxed) + more > self.instructions {
            let message = format!("the {whose} run more instructions than a job may");
            return Err(Fault::new(FaultKind::Budget, message));
        }
        Ok(())
    }
}
