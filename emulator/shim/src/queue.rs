//! A device's queue: a thread that owns the GPU, runs jobs in order, and signals their fences.
//!
//! Memory changes go through the same queue, so that a job sees memory as of its submission, even if the driver has
//! closed its handles since.

use crate::event::{Event, Job, Pipe, Watch, Work};
use crate::fence::{Fence, Signal};
use crate::job::{self, FAILED, Request};
use crate::options::{ADDRESS_SPACE, Hardware, Options};
use crate::shared::Mapping;
use crate::space;
use crate::stats::Counters;
use emulator::fault::{Fault, FaultKind};
use emulator::gpu::Gpu;
use emulator::memory::Memory;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the jobs of a closed device wait for other devices' fences, as in the kernel.
const GRACE: Duration = Duration::from_secs(1);

/// Limit on queued commands; a sender of more blocks.
const ROOM: usize = 64;

/// Bytes of a Mali-450's generated tile lists: two commands of eight bytes for each of 256 x 256 tiles, and an end.
const TILE_LISTS: u32 = 0x20_0000;

/// A command to the queue.
pub(crate) enum Command {
    /// Maps a buffer object.
    Map {
        /// The address.
        address: u32,
        /// The object's memory.
        mapping: Mapping,
        /// The program's flags.
        flags: u32,
    },
    /// Unmaps the object at an address.
    Unmap(u32),
    /// A job.
    Run {
        /// The job.
        request: Request,
        /// Fences to wait for first.
        after: Vec<Arc<Fence>>,
        /// Signalled when it is done.
        done: Signal,
    },
}

/// A device's queue; dropping it runs all queued commands.
pub(crate) struct Queue {
    sender: Option<SyncSender<Command>>,
    /// When the device was closed.
    closed: Arc<OnceLock<Instant>>,
    worker: Option<JoinHandle<()>>,
    counters: Arc<Counters>,
}

impl Queue {
    /// The queue of the device with this number.
    ///
    /// # Errors
    /// If the thread cannot be created.
    pub(crate) fn new(options: Arc<Options>, number: u64, counters: Arc<Counters>) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(ROOM);
        let watch = (options.watcher)(number);
        let closed = Arc::default();
        let work = {
            let (counters, closed) = (counters.clone(), Arc::clone(&closed));
            move || Worker::new(&options, watch, counters, closed).run(&receiver)
        };
        let worker = std::thread::Builder::new().name(format!("mali {number}")).spawn(work)?;
        Ok(Self {
            sender: Some(sender),
            closed,
            worker: Some(worker),
            counters,
        })
    }

    /// Appends a command.
    pub(crate) fn send(&self, command: Command) {
        if matches!(command, Command::Run { .. }) {
            self.counters.waiting.fetch_add(1, Ordering::Relaxed);
        }
        // The worker outlives its sender; if it panicked, dropping the command signals its fence.
        if let Some(sender) = &self.sender {
            let _ = sender.send(command);
        }
    }

    /// Runs all queued commands, and ends; returns whether the worker never panicked.
    pub(crate) fn finish(&mut self) -> bool {
        let _ = self.closed.set(Instant::now());
        self.sender = None;
        self.worker.take().is_none_or(|worker| worker.join().is_ok())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The thread's state.
struct Worker {
    gpu: Gpu,
    hardware: Hardware,
    watch: Box<dyn Watch>,
    counters: Arc<Counters>,
    jobs: u64,
    closed: Arc<OnceLock<Instant>>,
}

impl Worker {
    fn new(options: &Options, watch: Box<dyn Watch>, counters: Arc<Counters>, closed: Arc<OnceLock<Instant>>) -> Self {
        let mut gpu = Gpu::new((options.engine)()).with_threads(options.threads);
        gpu.memory = Memory::with_limit(ADDRESS_SPACE);
        let mut worker = Self {
            gpu,
            hardware: options.hardware,
            watch,
            counters,
            jobs: 0,
            closed,
        };
        if worker.hardware == Hardware::Mali450 {
            // Private memory for generated tile lists.
            let (address, size, flags) = (space::END, TILE_LISTS, 0);
            if worker.gpu.memory.map(address, size).is_ok() {
                worker.tell(&Event::Created { address, size, flags });
            }
        }
        worker
    }

    fn tell(&mut self, event: &Event<'_>) {
        self.watch.event(&self.gpu.memory, event);
    }

    fn run(mut self, commands: &Receiver<Command>) {
        let start = Instant::now();
        for command in commands {
            match command {
                Command::Map {
                    address,
                    mapping,
                    flags,
                } => self.map(address, mapping, flags),
                Command::Unmap(address) => {
                    self.tell(&Event::Freed { address });
                    // It exists: every handle is mapped.
                    let _ = self.gpu.memory.unmap(address);
                }
                Command::Run { request, after, done } => {
                    if self.wait(&after) {
                        self.job(&request);
                    }
                    self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
                    drop(done);
                }
            }
        }
        let event = Event::Closed {
            notes: &self.gpu.notes,
            times: self.counters.times(start.elapsed()),
            engine: self.gpu.engine().name(),
            engine_report: self.gpu.engine().report(),
        };
        self.watch.event(&self.gpu.memory, &event);
    }

    /// Waits for fences, for at most [`GRACE`] after the device was closed; returns whether all are done.
    fn wait(&self, fences: &[Arc<Fence>]) -> bool {
        let late = || self.closed.get().is_some_and(|closed| closed.elapsed() > GRACE);
        let done = |fence: &Arc<Fence>| {
            while !late() {
                if fence.wait_for(GRACE / 10) {
                    return true;
                }
            }
            fence.is_done()
        };
        fences.iter().all(done)
    }

    fn map(&mut self, address: u32, mapping: Mapping, flags: u32) {
        let size = emulator::memory::Backing::size(&mapping) as u32;
        // The address space allocated the range, so it is free.
        if let Err(fault) = self.gpu.memory.map_backed(address, Box::new(mapping)) {
            eprintln!("skrymir: an object has no place: {fault}");
        }
        self.tell(&Event::Created { address, size, flags });
    }

    /// Runs a job. A fault ends it and is reported to the observer, but not to the driver, as with hardware that was
    /// reset.
    fn job(&mut self, request: &Request) {
        let plain = job::plain(&request.frame, request.pipe, self.hardware, &mut self.gpu.memory);
        let job = Job {
            number: self.jobs,
            pipe: request.pipe,
            frame: &request.frame,
            plain: &plain,
            objects: &request.objects,
        };
        self.jobs += 1;
        self.tell(&Event::Submitted(job));
        if self.watch.wants_writes() {
            self.gpu.memory.keep_writes();
        }
        let start = Instant::now();
        let gpu = &mut self.gpu;
        // A panic is a bug of the emulator; it ends the job, not the other devices.
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| match request.pipe {
            Pipe::Gp => gpu.run_gp(&plain).map(Work::Gp),
            Pipe::Pp => gpu.run_pp(&plain).map(Work::Pp),
        }));
        let outcome = outcome.unwrap_or_else(|_| Err(Fault::new(FaultKind::Limit, FAILED)));
        let time = start.elapsed();
        let outcome = outcome.as_ref().map(|work| *work);
        let count = match request.pipe {
            Pipe::Gp => &self.counters.gp,
            Pipe::Pp => &self.counters.pp,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.counters.busy.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        self.tell(&Event::Done { job, outcome, time });
    }
}
