//! Worker threads, for as long as the device lives. A frame is done in less than a millisecond, and a sleeping thread takes a
//! thirtieth of that to wake, so workers spin briefly before sleeping.

use rayon::{Scope, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// How long a worker spins before it sleeps: checks, each of about a microsecond.
const LOOKS: usize = 50;

/// Worker threads beside the caller's.
#[derive(Debug)]
pub struct ThreadPool {
    /// The threads but the caller's.
    pool: rayon::ThreadPool,
    /// The number of calls so far.
    calls: Arc<AtomicUsize>,
}

impl ThreadPool {
    /// A pool of this many threads, including the caller's; none for one thread, or if the system starts no others.
    pub fn new(threads: usize) -> Option<Self> {
        let builder = ThreadPoolBuilder::new().num_threads(threads.saturating_sub(1).max(1));
        let pool = (threads > 1).then(|| builder.build().ok()).flatten()?;
        Some(Self {
            pool,
            calls: Arc::default(),
        })
    }

    /// How many threads there are, the caller's included.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads() + 1
    }

    /// Runs `work` on every thread, with the thread's number, the caller's being 0; returns when all are done.
    pub fn all(&self, work: impl Fn(usize) + Sync) {
        self.beside(&work, || work(0));
    }

    /// Gives each of some things to one of the threads; returns when all are done.
    pub fn each<T>(&self, things: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
        let things = Mutex::new(things);
        let next = || lock(&things).next();
        self.all(|_| {
            while let Some(thing) = next() {
                work(thing);
            }
        });
    }

    /// Runs `help` on every thread but the caller's, with the thread's number from 1 on, and beside them `own` on the
    /// caller's; returns what that does when all are done.
    pub fn beside<R>(&self, help: impl Fn(usize) + Sync, own: impl FnOnce() -> R) -> R {
        let last = self.pool.current_num_threads();
        let (help, left) = (&|number| help(number), &AtomicUsize::new(last));
        self.pool.in_place_scope(|scope| {
            hand_out(scope, 1, last, help, left);
            processor::make_way();
            self.calls.fetch_add(1, Ordering::Release);
            let result = own();
            look_until(|| left.load(Ordering::Acquire) == 0);
            result
        })
    }

    /// Wakes the workers: work will be handed out in a few dozen microseconds.
    pub fn prewake(&self) {
        let (last, before) = (self.pool.current_num_threads(), self.calls.load(Ordering::Relaxed));
        let (calls, processor) = (self.calls.clone(), processor::here());
        self.pool.spawn(move || prewake(1, last, &calls, before, processor));
        processor::make_way();
    }
}

/// Body of a prewoken thread: wakes two others, and waits for work.
fn prewake(number: usize, last: usize, calls: &Arc<AtomicUsize>, before: usize, of_waker: usize) {
    processor::leave(of_waker);
    let here = processor::here();
    for next in [2 * number, 2 * number + 1] {
        if next <= last {
            let calls = calls.clone();
            rayon::spawn(move || prewake(next, last, &calls, before, here));
        }
    }
    look_until(|| calls.load(Ordering::Acquire) != before);
}

/// Locks a mutex, also after a panic of another thread: the values here are consistent at every step.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Starts a thread, which first starts two more: waking a thread takes long, so all threads share that work.
fn hand_out<'a, H: Fn(usize) + Sync>(
    scope: &Scope<'a>,
    number: usize,
    last: usize,
    help: &'a H,
    left: &'a AtomicUsize,
) {
    if number > last {
        return;
    }
    let of_waker = processor::here();
    scope.spawn(move |scope| {
        processor::leave(of_waker);
        hand_out(scope, 2 * number, last, help, left);
        hand_out(scope, 2 * number + 1, last, help, left);
        help(number);
        left.fetch_sub(1, Ordering::Release);
    });
}

/// Spins until a condition holds, for a while; yields the processor in between.
fn look_until(is_so: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        for _ in 0..32 {
            if is_so() {
                return;
            }
            std::hint::spin_loop();
        }
        processor::make_way();
    }
}

/// Placement of threads on processors. Linux wakes a thread where it slept, or where its waker runs, unless it finds an
/// idle processor; in virtual machines it takes idle ones for busy. The thread then waits for the
/// thread that it should work beside, for many frames.
// Miri lacks these calls.
#[cfg(all(target_os = "linux", not(miri)))]
mod processor {
    use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// The caller's processor.
    pub(super) fn here() -> usize {
        sched_getcpu()
    }

    /// Leaves a processor, if the caller is on it and may run on others.
    pub(super) fn leave(number: usize) {
        if here() != number {
            return;
        }
        let Ok(all) = sched_getaffinity(None) else { return };
        let mut others = all;
        others.unset(number);
        // The thread moves at once; then the old mask is restored.
        if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
            let _ = sched_setaffinity(None, &all);
        }
    }

    /// Lets threads run that wait for the caller's processor.
    pub(super) fn make_way() {
        std::thread::yield_now();
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod processor {
    pub(crate) fn here() -> usize {
        0
    }

    pub(crate) fn leave(_: usize) {}

    pub(crate) fn make_way() {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every thread has its number, once, whether it was prewoken or not, and all are done afterwards.
    #[test]
    fn all_work_once() {
        assert!(ThreadPool::new(0).is_none() && ThreadPool::new(1).is_none());
        for threads in [2, 3, 7, 16] {
            let pool = ThreadPool::new(threads).unwrap();
            assert_eq!(pool.threads(), threads);
            for round in 0..200 {
                if round % 3 == 0 {
                    pool.prewake();
                }
                let worked = Mutex::new(Vec::new());
                pool.all(|number| worked.lock().unwrap().push(number));
                let mut worked = worked.into_inner().unwrap();
                worked.sort_unstable();
                assert_eq!(worked, (0..threads).collect::<Vec<_>>());
            }
        }
    }
}
