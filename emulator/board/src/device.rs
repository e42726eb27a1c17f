//! The device: registers on one side, jobs on their own threads on the other.

use crate::bus::Bus;
use crate::job::{Job, Outcome, Spaces};
use crate::layout::{Line, Model, Product, Unit};
use crate::mmu::Tables;
use crate::record::Open;
use crate::state::{Effect, State};
use crate::trace::Log;
use emulator::exec::Engine;
use emulator::fault::Fault;
use emulator::thread_pool::lock;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum instructions of a job: four pixel processors at 500 MHz would take half a second, after which the Linux
/// driver times out. A job with more counts as hung.
pub const BUDGET: u64 = 1 << 30;

/// Receives the reason why a job failed.
pub type Report = dyn Fn(Unit, &Fault) + Send + Sync;

/// Receives a line's new level.
pub type LineChanged = dyn Fn(Line, bool) + Send + Sync;

/// Configuration of a device.
pub struct Options {
    /// The GPU model.
    pub model: Model,
    /// Threads that shade tiles.
    pub threads: usize,
    /// Maximum instructions of a job; one that exceeds it hangs until it is reset.
    pub budget: u64,
    /// Creates the engine that runs the programs.
    pub engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    /// Receives a line's new level. Called with the device locked, so it must return quickly and not use the device.
    pub line: Box<LineChanged>,
    /// Receives the reason why a job failed. Called from the job's thread.
    pub report: Box<Report>,
    /// Opens recordings of jobs.
    pub record: Option<Box<Open>>,
    /// Traces accesses, lines and memory; a device with a log runs jobs synchronously.
    pub log: Option<Log>,
    /// Runs a job within the write that starts it, instead of on the device's thread, so that all events are ordered.
    pub at_once: bool,
}

impl Options {
    /// A Mali-400 with one pixel processor and unconnected interrupt lines.
    pub fn new(engine: impl Fn() -> Box<dyn Engine> + Send + Sync + 'static) -> Self {
        Self {
            model: Model::new(Product::Mali400, 1).unwrap_or_else(|| unreachable!("it exists")),
            threads: 1,
            budget: BUDGET,
            engine: Box::new(engine),
            line: Box::new(|_, _| {}),
            report: Box::new(|_, _| {}),
            record: None,
            log: None,
            at_once: false,
        }
    }
}

struct Shared {
    state: Mutex<State>,
    /// Signalled when a job has ended.
    ended: Condvar,
    spaces: Spaces,
    /// Locked after the state.
    log: Option<Mutex<Log>>,
    line: Box<LineChanged>,
    report: Box<Report>,
}

impl Shared {
    /// Reports line changes, in the order of the register changes.
    fn tell(&self, state: &mut State) {
        for (line, level) in state.changed_lines() {
            if let Some(log) = &self.log {
                lock(log).line(line, level);
            }
            (self.line)(line, level);
        }
    }

    /// Runs a job; returns its outcome, and its writes if they are traced.
    fn run(&self, job: &Job) -> (Outcome, Vec<(u32, u32)>) {
        let (outcome, writes) = self.spaces.run(job, self.log.is_some());
        if let Outcome::Invalid { fault, .. } | Outcome::Hang(fault) | Outcome::BusError(fault) = &outcome {
            (self.report)(job.unit, fault);
        }
        (outcome, writes)
    }

    fn work(&self, jobs: &Receiver<Job>) {
        for job in jobs {
            let (outcome, _) = self.run(&job);
            let mut state = lock(&self.state);
            state.finish(&job, &outcome);
            self.tell(&mut state);
            self.ended.notify_all();
        }
    }

    /// Runs the jobs started by a write while the state is locked.
    fn run_at_once(&self, state: &mut State, jobs: &[Job]) {
        let ran: Vec<_> = jobs.iter().map(|job| (job, self.run(job))).collect();
        for (job, (outcome, writes)) in ran {
            if let Some(log) = &self.log
                && let Some(tables) = self.tables(job)
            {
                lock(log).after(self.spaces.bus(), &tables, &writes);
            }
            state.finish(job, &outcome);
        }
    }

    fn tables(&self, job: &Job) -> Option<Tables> {
        match job.directory {
            Some(directory) => Tables::read(self.spaces.bus(), directory).ok(),
            None => Some(Tables::identity(self.spaces.bus())),
        }
    }
}

/// A job queue and its thread.
struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(name: &str, shared: &Arc<Shared>) -> io::Result<Self> {
        let (jobs, receiver) = channel();
        let shared = shared.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || shared.work(&receiver))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }
}

/// A Mali-400 or Mali-450 on a bus. All methods may be called from any thread.
pub struct Device {
    shared: Arc<Shared>,
    /// One for geometry and one for pixels, which run independently as on hardware.
    workers: [Worker; 2],
    model: Model,
    at_once: bool,
}

impl Device {
    /// A device in its power-on state.
    ///
    /// # Errors
    /// If the threads cannot be created.
    pub fn new(bus: Arc<dyn Bus>, options: Options) -> io::Result<Self> {
        let spaces = Spaces::new(bus, options.engine, options.threads, options.budget, options.record);
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(options.model)),
            ended: Condvar::new(),
            spaces,
            log: options.log.map(Mutex::new),
            line: options.line,
            report: options.report,
        });
        let at_once = options.at_once || shared.log.is_some();
        let workers = [Worker::new("mali gp", &shared)?, Worker::new("mali pp", &shared)?];
        Ok(Self {
            shared,
            workers,
            model: options.model,
            at_once,
        })
    }

    /// The GPU model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Reads the register at a byte offset; 0 if there is none.
    pub fn read32(&self, offset: u32) -> u32 {
        let state = lock(&self.shared.state);
        let value = state.read(offset);
        if let Some(log) = &self.shared.log {
            lock(log).read(offset, value);
        }
        value
    }

    /// Writes the register at a byte offset; ignored if there is none.
    pub fn write32(&self, offset: u32, value: u32) {
        let mut state = lock(&self.shared.state);
        let mut effects = Vec::new();
        state.write(offset, value, &mut effects);
        if let Some(log) = &self.shared.log {
            let mut log = lock(log);
            // Memory precedes the write in the trace, because playback needs it first.
            for effect in &effects {
                if let Effect::Start(job) = effect
                    && let Some(tables) = self.shared.tables(job)
                {
                    log.before(self.shared.spaces.bus(), &tables);
                }
            }
            log.write(offset, value);
        }
        let jobs = self.apply(effects);
        self.shared.run_at_once(&mut state, &jobs);
        self.shared.tell(&mut state);
    }

    /// Applies a write's effects; returns the jobs to run synchronously.
    fn apply(&self, effects: Vec<Effect>) -> Vec<Job> {
        let mut now = Vec::new();
        for effect in effects {
            match effect {
                Effect::Cancel(cancel) => cancel.cancel(),
                Effect::Start(job) if self.at_once => now.push(job),
                Effect::Start(job) => {
                    let worker = &self.workers[usize::from(job.unit != Unit::Gp)];
                    // The thread drains its queue before it ends.
                    if let Some(jobs) = &worker.jobs {
                        let _ = jobs.send(job);
                    }
                }
            }
        }
        now
    }

    /// Asserts the chip's reset line: restores the power-on state.
    pub fn reset(&self) {
        let mut state = lock(&self.shared.state);
        let mut effects = Vec::new();
        state.reset_all(&mut effects);
        self.apply(effects);
        self.shared.tell(&mut state);
    }

    /// Waits until no unit has a running job, with a timeout; returns whether that is so. A hung unit stays busy.
    pub fn wait_idle(&self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        let mut state = lock(&self.shared.state);
        while state.is_busy() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.ended.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Running jobs write nothing more.
        self.reset();
        for worker in &mut self.workers {
            worker.jobs = None;
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A panicked thread needs no cleanup.
                let _ = thread.join();
            }
        }
    }
}
