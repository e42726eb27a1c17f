//! Events of an open device.

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

/// The result of a job.
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
    /// Its index among the open device's jobs.
    pub number: u64,
    /// Which queue.
    pub pipe: Pipe,
    /// The frame's words as submitted.
    pub frame: &'a [u32],
    /// The frame in the emulator's layout, that of a Mali-400.
    pub plain: &'a [u32],
    /// Addresses and access (1 read, 2 write) of its buffer objects.
    pub objects: &'a [(u32, u32)],
}

/// An event of one open device.
#[derive(Debug)]
pub enum Event<'a> {
    /// A buffer object was mapped; flag 1: a heap.
    Created {
        /// GPU address.
        address: u32,
        /// Bytes.
        size: u32,
        /// Flags.
        flags: u32,
    },
    /// A buffer object was unmapped.
    Freed {
        /// GPU address.
        address: u32,
    },
    /// A job is about to run.
    Submitted(Job<'a>),
    /// A job has run; the memory's [`writes`](Memory::writes) are its writes, for observers that
    /// [request](Watch::wants_writes) them.
    Done {
        /// The job.
        job: Job<'a>,
        /// Its result, or the fault that ended it.
        outcome: Result<Work, &'a Fault>,
        /// Its run time.
        time: Duration,
    },
    /// The device was closed.
    Closed {
        /// Undocumented bits in its jobs.
        notes: &'a Notes,
        /// Where its program's time was spent.
        times: Times,
        /// The engine's name.
        engine: &'static str,
        /// The engine's report.
        engine_report: Option<String>,
    },
}

/// Observes the events of an open device; the memory is in the state of the event.
pub trait Watch: Send {
    /// Handles an event.
    fn event(&mut self, memory: &Memory, event: &Event<'_>);

    /// Whether the memory should record the addresses of jobs' writes.
    fn wants_writes(&self) -> bool {
        false
    }
}
