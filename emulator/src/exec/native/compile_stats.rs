//! What was compiled, and how long that took.

use crate::thread_pool::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was compiled so far; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompileStats(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    programs: u32,
    bytes: usize,
    time: Duration,
    /// What is left to the wide engine.
    left: Vec<&'static str>,
}

impl CompileStats {
    /// Takes note of a program: the bytes of its code and what it leaves to the wide engine, if there is code.
    pub(crate) fn add(&self, made: Option<(usize, &[&'static str])>, time: Duration) {
        let counts = &mut *lock(&self.0);
        counts.programs += 1;
        counts.time += time;
        let (bytes, names) = made.unwrap_or((0, &["all of a program"]));
        counts.bytes += bytes;
        for name in names {
            if !counts.left.contains(name) {
                counts.left.push(name);
            }
        }
    }

    /// All of it in words.
    pub(crate) fn report(&self) -> String {
        let counts = lock(&self.0);
        let left = match counts.left[..] {
            [] => "nothing".to_owned(),
            _ => counts.left.join(", "),
        };
        format!(
            "{} programs compiled in {:.1?}, {} bytes; left to the wide engine: {left}",
            counts.programs, counts.time, counts.bytes
        )
    }
}
