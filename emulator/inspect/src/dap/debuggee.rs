//! Runs a recording in a separate thread.

use super::breakpoints::Breakpoints;
use super::programs::Programs;
use super::stepper::{Focus, Go, Hold, Say, Stepper, Stepping};
use crate::recorded;
use emulator::gpu::Gpu;
use loader::trace::{Record, Trace};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// State shared by all runs of a recording.
#[derive(Clone)]
pub(super) struct Debuggee {
    /// The recording.
    pub recording: Arc<Vec<u8>>,
    /// Its programs.
    pub programs: Arc<Mutex<Programs>>,
    /// Its breakpoints.
    pub breakpoints: Arc<Breakpoints>,
    /// What the run observes.
    pub focus: Focus,
    /// Instruction budget of a job.
    pub budget: u64,
}

impl Debuggee {
    /// Starts a run. Commands after each stop are sent through the returned handle; dropping it ends the run.
    pub(super) fn start(&self, go: Go, say: Say) -> std::io::Result<Hold> {
        let (sender, orders) = channel();
        let given_up = Arc::new(AtomicBool::new(false));
        let stepper = Stepper::new(
            self.programs.clone(),
            self.breakpoints.clone(),
            self.focus,
            go,
            (say, orders, given_up.clone()),
        );
        let (engine, recording, budget) = (
            Stepping(Arc::new(Mutex::new(stepper))),
            self.recording.clone(),
            self.budget,
        );
        std::thread::Builder::new()
            .name("recording".into())
            .spawn(move || run(&recording, &engine, budget))?;
        Ok(Hold {
            orders: sender,
            given_up,
        })
    }
}

fn run(recording: &[u8], engine: &Stepping, budget: u64) {
    let Ok(trace) = Trace::read(recording) else {
        return engine.lock().end(false);
    };
    let mut gpu = Gpu::new(Box::new(engine.clone())).with_budget(budget);
    let mut job = 0;
    for (_, record) in &trace.records {
        let is_job = matches!(record, Record::Submit { .. });
        if is_job {
            engine.lock().begin_job(job);
        }
        if let Err(fault) = recorded::step(&mut gpu, record) {
            let mut stepper = engine.lock();
            stepper.fault(fault);
            return stepper.end(false);
        }
        job += usize::from(is_job);
    }
    engine.lock().end(true);
}
