//! Statically partitioned queue with stealing.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Chunks of work for the threads of a pool: workers drain their own range first, the same in every job (cache affinity), then
/// steal from others.
pub(crate) struct WorkQueue {
    parts: Vec<Part>,
    /// Chunks from this one on are skipped.
    end: AtomicUsize,
}

/// A thread's part, in a cache line of its own (false sharing).
#[repr(align(128))]
struct Part {
    next: AtomicUsize,
    end: usize,
}

impl WorkQueue {
    /// A queue of `pieces` for `threads`.
    pub(crate) fn new(count: usize, threads: usize) -> Self {
        let border = |thread: usize| count * thread / threads;
        Self {
            parts: (0..threads)
                .map(|thread| Part {
                    next: AtomicUsize::new(border(thread)),
                    end: border(thread + 1),
                })
                .collect(),
            end: AtomicUsize::new(count),
        }
    }

    /// The next chunk of a thread.
    pub(crate) fn take(&self, thread: usize) -> Option<usize> {
        let (before, own) = self.parts.split_at(thread.min(self.parts.len()));
        own.iter().chain(before).find_map(|Part { next, end }| {
            // Checking first keeps the cache line clean.
            (next.load(Ordering::Relaxed) < *end).then_some(())?;
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            (chunk < *end && chunk < self.end.load(Ordering::Relaxed)).then_some(chunk)
        })
    }

    /// Skips the chunks behind one with a fault: the job's fault is the first chunk's.
    pub(crate) fn stop(&self, chunk: usize) {
        self.end.fetch_min(chunk, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Every chunk is taken once, in any interleaving; behind a fault none is, and all before it are.
    #[test]
    fn claims_are_taken_once() {
        for (count, threads) in [(1, 1), (3, 2), (512, 2), (100, 16), (2, 16)] {
            let queue = WorkQueue::new(count, threads);
            let taken = Mutex::new(vec![0; count]);
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (queue, taken) = (&queue, &taken);
                    scope.spawn(move || {
                        while let Some(chunk) = queue.take(thread) {
                            taken.lock().unwrap()[chunk] += 1;
                        }
                    });
                }
            });
            let taken = taken.into_inner().unwrap();
            assert!(taken.iter().all(|count| *count == 1), "{count} {threads}: {taken:?}");
        }
        let queue = WorkQueue::new(64, 2);
        assert_eq!((queue.take(0), queue.take(1)), (Some(0), Some(32)));
        queue.stop(32);
        assert_eq!((queue.take(1), queue.take(0)), (Some(1), Some(2)));
        assert!((3..32).all(|chunk| queue.take(0) == Some(chunk)) && queue.take(0).is_none());
    }
}
