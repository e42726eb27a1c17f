//! The kernel interface of a Mali-400 in user space: the unmodified driver opens a device node, and the emulator answers.
//!
//! Two halves. The *front* (`front/`) is loaded into the program with `LD_PRELOAD`; it is C, because the driver
//! is to be had for ARM only, Rust's standard library for that machine is not always at hand, and a C library of a
//! few files can be built for anything. It knows no GPU: the open device is a socket to the *server*, every ioctl a message. The
//! server is this crate, native code beside the emulator.
//!
//! What follows from a socket being the open device (a DRM file): the system's own `dup`, `fork`, `exec` and descriptor
//! passing share it as they share a device; it is gone when its last descriptor is, and also when the process is killed.
//! Each question brings a socket for its answer, so no two threads or processes take each other's.
//!
//! Beside the GPU there can be a display ([`Screen`]), as boards with this GPU have it: a device node of its own with the
//! interface for mode setting, whose pictures go to whoever wants them.
//!
//! Buffer objects are memfds that both sides map. They are sealed against changes of size, so that no program can take
//! the server's pages away. Every device has a queue: a submit puts a job there and returns, and the job's fence is
//! signalled when it is done (docs/spec/mali/kernel.md, section 6). Programs wait on descriptors, in their own
//! processes: the server waits for nobody, and nobody for a server that is gone.
//!
//! Objects are mapped one by one, not into one window of 4 GiB: the emulator finds them by its table of pages, which also
//! keeps every access inside its object.

pub mod abi;
mod card;
mod connection;
mod device;
mod fence;
mod job;
pub mod object;
mod options;
mod queue;
mod screen;
mod server;
mod shared;
mod space;
mod stats;
mod syncobj;
mod wire;

pub use options::{Hardware, Options, Watcher};
pub use screen::{Screen, Shown, Sink};
pub use server::{RENDER, Server};
pub use stats::Client;

use emulator::gpu::fault::Fault;
use emulator::gpu::memory::Memory;
use emulator::gpu::pixel::PixelStats;
use emulator::gpu::{GeometryStats, notes::Notes};
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
    /// A job has run.
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
    },
}

/// Somebody who wants to know what happens to an open device; the memory is as it is then.
pub trait Watch: Send {
    /// Something happened.
    fn event(&mut self, memory: &Memory, event: &Event<'_>);
}
