//! The device: registers on one side, jobs on threads of their own on the other.

use crate::bus::Bus;
use crate::job::{Job, Outcome, Spaces};
use crate::layout::{Line, Model, Product, Unit};
use crate::mmu::Tables;
use crate::record::Open;
use crate::state::{Effect, State};
use crate::trace::Log;
use emulator::thread_pool::lock;
use emulator::exec::Engine;
use emulator::fault::Fault;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Instructions of a job at most: with four pixel processors at 500 MHz it would take silicon half a second, the time after
/// which the Linux driver gives up. More counts as a program that does not end.
pub const BUDGET: u64 = 1 << 30;

/// Is told why a job did not end as it should.
pub type Report = dyn Fn(Unit, &Fault) + Send + Sync;

/// Is told a line's new level.
pub type LineChanged = dyn Fn(Line, bool) + Send + Sync;

/// How a device is.
pub struct Options {
    /// Which GPU.
    pub model: Model,
    /// Threads that shade tiles.
    pub threads: usize,
    /// Instructions of a job at most; one that runs more hangs until it is reset.
    pub budget: u64,
    /// Makes what runs the programs.
    pub engine: Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>,
    /// Is told a line's new level. Called with the device locked: it must return soon, and not use the device.
    pub line: Box<LineChanged>,
    /// Is told why a job did not end as it should. Called from the job's thread.
    pub report: Box<Report>,
    /// Opens recordings of jobs.
    pub record: Option<Box<Open>>,
    /// Takes down accesses, lines and memory; a device with it runs jobs at once.
    pub log: Option<Log>,
    /// Runs a job within the write that starts it, not on a thread of the device: everything has one order.
    pub at_once: bool,
}

impl Options {
    /// A Mali-400 with one pixel processor, whose interrupts nobody hears.
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
    /// Tells the lines' changes, in the order in which the registers changed.
    fn tell(&self, state: &mut State) {
        for (line, level) in state.changed_lines() {
            if let Some(log) = &self.log {
                lock(log).line(line, level);
            }
            (self.line)(line, level);
        }
    }

    /// Runs a job; how it ended, and what it wrote where that is taken down.
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

    /// Runs the jobs of a write while the state is locked.
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

/// A queue of jobs and the thread that runs them.
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

/// A Mali-400 or Mali-450 on a bus. All of it may be used from any thread.
pub struct Device {
    shared: Arc<Shared>,
    /// For geometry, and for pixels: as on hardware, one does not wait for the other.
    workers: [Worker; 2],
    model: Model,
    at_once: bool,
}

impl Device {
    /// A device that was switched on just now.
    ///
    /// # Errors
    /// When there can be no more threads.
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

    /// Which GPU it is.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Reads the register at a byte offset; 0 where there is none.
    pub fn read32(&self, offset: u32) -> u32 {
        let state = lock(&self.shared.state);
        let value = state.read(offset);
        if let Some(log) = &self.shared.log {
            lock(log).read(offset, value);
        }
        value
    }

    /// Writes the register at a byte offset; ignored where there is none.
    pub fn write32(&self, offset: u32, value: u32) {
        let mut state = lock(&self.shared.state);
        let mut effects = Vec::new();
        state.write(offset, value, &mut effects);
        if let Some(log) = &self.shared.log {
            let mut log = lock(log);
            // The memory stands before the write: who plays the trace needs it then.
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

    /// Does what a write asks for; jobs that are to run at once.
    fn apply(&self, effects: Vec<Effect>) -> Vec<Job> {
        let mut now = Vec::new();
        for effect in effects {
            match effect {
                Effect::Cancel(cancel) => cancel.cancel(),
                Effect::Start(job) if self.at_once => now.push(job),
                Effect::Start(job) => {
                    let worker = &self.workers[usize::from(job.unit != Unit::Gp)];
                    // The thread ends after its queue only.
                    if let Some(jobs) = &worker.jobs {
                        let _ = jobs.send(job);
                    }
                }
            }
        }
        now
    }

    /// The reset line of the chip: everything is as after it was switched on.
    pub fn reset(&self) {
        let mut state = lock(&self.shared.state);
        let mut effects = Vec::new();
        state.reset_all(&mut effects);
        self.apply(effects);
        self.shared.tell(&mut state);
    }

    /// Waits until no unit is busy with a job, at most for a time; whether none is. One that hangs stays busy.
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
        // Jobs that still run write nothing more.
        self.reset();
        for worker in &mut self.workers {
            worker.jobs = None;
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A thread that failed has nothing left to end.
                let _ = thread.join();
            }
        }
    }
}
