//! A device's queue: a thread that owns the GPU, runs jobs in order, and signals their fences.
//!
//! Memory changes go through the same queue, so that a job sees memory as of its submission, even if the driver has
//! closed its handles since.

use crate::event::{Event, Job, Pipe, Watch, Work};
use crate::fence::{Fence, Signal};
use crate::job::{self, FAILED, Request};
use crate::options::{ADDRESS_SPACE, GRACE, Hardware, Options};
use crate::shared::Mapping;
use crate::space;
use crate::stats::Counters;
use emulator::cancellation::Cancellation;
use emulator::fault::{Fault, FaultKind};
use emulator::gpu::Gpu;
use emulator::memory::Memory;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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

/// A device's queue; dropping it runs all queued commands, as long as the device's [grace](Options::grace) lasts.
pub(crate) struct Queue {
    sender: Option<SyncSender<Command>>,
    /// When the device was closed.
    closed: Arc<OnceLock<Instant>>,
    worker: Option<JoinHandle<()>>,
    /// Disconnected when the worker ends.
    ended: Receiver<()>,
    cancellation: Cancellation,
    grace: Option<Duration>,
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
        let (running, ended) = channel();
        let (cancellation, grace) = (Cancellation::default(), options.grace);
        let work = {
            let (counters, closed, cancellation) = (counters.clone(), Arc::clone(&closed), cancellation.clone());
            move || {
                Worker::new(&options, watch, counters, closed, cancellation).run(&receiver);
                drop(running);
            }
        };
        let worker = std::thread::Builder::new().name(format!("mali {number}")).spawn(work)?;
        Ok(Self {
            sender: Some(sender),
            closed,
            worker: Some(worker),
            ended,
            cancellation,
            grace,
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

    /// Runs all queued commands, or cancels them after the grace, and ends; returns whether the worker never panicked.
    pub(crate) fn finish(&mut self) -> bool {
        let _ = self.closed.set(Instant::now());
        self.sender = None;
        if let Some(grace) = self.grace
            && self.ended.recv_timeout(grace) == Err(RecvTimeoutError::Timeout)
        {
            self.cancellation.cancel();
        }
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
    cancellation: Cancellation,
}

impl Worker {
    fn new(
        options: &Options,
        watch: Box<dyn Watch>,
        counters: Arc<Counters>,
        closed: Arc<OnceLock<Instant>>,
        cancellation: Cancellation,
    ) -> Self {
        let gpu = Gpu::new((options.engine)()).with_threads(options.threads);
        let mut gpu = gpu.with_cancellation(cancellation.clone());
        gpu.memory = Memory::with_limit(ADDRESS_SPACE);
        let mut worker = Self {
            gpu,
            hardware: options.hardware,
            watch,
            counters,
            jobs: 0,
            closed,
            cancellation,
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
                    if self.wait(&after) && !self.cancellation.is_cancelled() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::exec::scalar::Scalar;
    use emulator::memory::Backing;
    use std::fs::File;
    use utgard::frame::GpFrame;
    use utgard::gp::Instruction;
    use utgard::stream::{Program, ProgramInfo, RunVertices, VertexCommand};

    const INSTRUCTIONS: u16 = 512;
    const BASE: u32 = 0x10000;

    /// A buffer with a program, and a stream that runs it for 2^24 - 1 vertices: minutes of the scalar engine.
    fn long() -> (Mapping, Request) {
        let program = Instruction::NOP_WORDS.repeat(usize::from(INSTRUCTIONS));
        let start = BASE + 4 * program.len() as u32;
        let commands: [VertexCommand; 3] = [
            ProgramInfo {
                last: INSTRUCTIONS - 1,
                prefetch: 0,
            }
            .into(),
            Program {
                address: BASE,
                instructions: INSTRUCTIONS,
            }
            .into(),
            RunVertices {
                indexed: false,
                count: (1 << 24) - 1,
            }
            .into(),
        ];
        let words = program
            .into_iter()
            .chain(commands.iter().flat_map(|command| command.encode()));
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        let file = File::from(rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        let length = bytes.len().next_multiple_of(4096);
        file.set_len(length as u64).unwrap();
        let mapping = Mapping::new(&file, length).unwrap();
        mapping.write(0, &bytes);
        let frame = GpFrame {
            vertex_start: start,
            vertex_end: BASE + bytes.len() as u32,
            ..GpFrame::default()
        };
        let request = Request {
            pipe: Pipe::Gp,
            frame: frame.to_words().to_vec(),
            objects: vec![(BASE, 1)],
        };
        (mapping, request)
    }

    #[test]
    fn jobs_of_a_closed_device_end_after_its_grace() {
        let mut options = Options::new(|| Box::new(Scalar));
        options.grace = Some(Duration::from_millis(50));
        let counters = Arc::<Counters>::default();
        let mut queue = Queue::new(Arc::new(options), 0, counters.clone()).unwrap();
        let mut fences = Vec::new();
        for at in 0..3 {
            let (mapping, request) = long();
            if at == 0 {
                let address = BASE;
                queue.send(Command::Map {
                    address,
                    mapping,
                    flags: 0,
                });
            }
            let (done, fence) = Signal::new();
            queue.send(Command::Run {
                request,
                after: Vec::new(),
                done,
            });
            fences.push(fence);
        }
        let start = Instant::now();
        assert!(!fences[0].wait_for(Duration::from_millis(100)), "the job is not long");
        assert!(queue.finish());
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert!(fences.iter().all(|fence| fence.is_done()));
        assert_eq!(counters.gp.load(Ordering::Relaxed), 1, "the queued jobs do not run");
    }
}
