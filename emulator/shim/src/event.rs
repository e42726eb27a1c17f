//! What happens to an open device.

use crate::stats::Times;
use emulator::fault::Fault;
use emulator::gpu::PixelStats;
use emulator::gpu::{GeometryStats, notes::Notes};
use emulator::memory::Memory;
use std::time::Duration;

/// Which queue a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Geometry.
    Gp,
    /// Pixels.
    Pp,
}

/// What a job did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A geometry job.
    Gp(GeometryStats),
    /// A pixel job.
    Pp(PixelStats),
}

/// A job as the driver submitted it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its number among the open device's jobs, from 0.
    pub number: u64,
    /// Which queue.
    pub pipe: Pipe,
    /// The frame's words as the driver gave them.
    pub frame: &'a [u32],
    /// The frame as the emulator takes it, that of a Mali-400.
    pub plain: &'a [u32],
    /// Addresses of the buffer objects it names; 1 reads, 2 writes.
    pub objects: &'a [(u32, u32)],
}

/// What happens to one open device.
#[derive(Debug)]
pub enum Event<'a> {
    /// A buffer object got an address; flag 1: a heap.
    Created {
        /// GPU address.
        address: u32,
        /// Bytes.
        size: u32,
        /// Flags.
        flags: u32,
    },
    /// A buffer object lost it.
    Freed {
        /// GPU address.
        address: u32,
    },
    /// A job is about to run.
    Submitted(Job<'a>),
    /// A job has run; the memory's [`writes`](Memory::writes) are what it wrote, for who [asked](Watch::wants_writes).
    Done {
        /// The job.
        job: Job<'a>,
        /// What it did, or the fault that ended it.
        outcome: Result<Work, &'a Fault>,
        /// How long it took.
        time: Duration,
    },
    /// The device was closed.
    Closed {
        /// What its jobs met that nobody knows.
        notes: &'a Notes,
        /// Where its program's time went.
        times: Times,
        /// What ran its programs.
        engine: &'static str,
        /// What that tells of it.
        engine_report: Option<String>,
    },
}

/// Somebody who wants to know what happens to an open device; the memory is as it is then.
pub trait Watch: Send {
    /// Something happened.
    fn event(&mut self, memory: &Memory, event: &Event<'_>);

    /// Whether the memory is to keep where jobs write.
    fn wants_writes(&self) -> bool {
        false
    }
}
