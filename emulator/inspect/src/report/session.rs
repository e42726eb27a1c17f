//! A recording that is looked at frame by frame: frames are collected when they are asked for.

use super::collect::{Collector, Options};
use super::model::Report;
use super::page;
use crate::error::Result;
use loader::trace::Trace;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limit on frames that are kept.
const MAX_KEPT: usize = 16;

/// A recording in outline, whose frames are collected on demand.
pub struct Session<'a> {
    trace: &'a Trace<'a>,
    options: Options<'a>,
    outline: Report,
    state: Mutex<State<'a>>,
}

/// What was run and made so far.
#[derive(Default)]
struct State<'a> {
    collector: Option<Collector<'a>>,
    /// Frames with their reports, the latest last.
    made: Vec<(usize, Arc<Report>)>,
}

impl<'a> Session<'a> {
    /// Runs a recording once, for its outline.
    ///
    /// # Errors
    /// See [`collect`](super::collect()).
    pub fn new(trace: &'a Trace<'a>, options: Options<'a>) -> Result<Self> {
        Ok(Self {
            outline: super::collect::outline(trace, &options)?,
            trace,
            options,
            state: Mutex::default(),
        })
    }

    /// The report without a job in full.
    pub fn outline(&self) -> &Report {
        &self.outline
    }

    /// The page, which asks for frames.
    pub fn page(&self) -> String {
        page::page(&self.outline, true)
    }

    /// The sections of a frame's jobs; `None` if there is no such frame.
    ///
    /// # Errors
    /// See [`collect`](super::collect()).
    pub fn frame(&self, number: usize) -> Result<Option<String>> {
        let report = self.report(number)?;
        Ok(report.map(|report| page::sections(&report, number)))
    }

    /// The history of a pixel of a job, as [`history`](super::history()).
    ///
    /// # Errors
    /// See [`collect`](super::collect()).
    pub fn history(&self, job: usize, pixel: [u32; 2]) -> Result<Option<String>> {
        let Some(frame) = self.outline.outline.frame_of(job) else {
            return Ok(None);
        };
        match self.report(frame)? {
            Some(report) => super::ask::history(self.trace, &report, job, pixel),
            None => Ok(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        // A collector that a panic left is dropped with its report: `take` puts it back only when it is done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The report of a frame, made or kept from before.
    fn report(&self, number: usize) -> Result<Option<Arc<Report>>> {
        let Some(frame) = self.outline.outline.frames.get(number) else {
            return Ok(None);
        };
        let mut state = self.lock();
        if let Some((_, report)) = state.made.iter().find(|(made, _)| *made == number) {
            return Ok(Some(report.clone()));
        }
        // Frames are run in order; an earlier one starts anew.
        let kept = state.collector.take();
        let mut collector = kept
            .filter(|collector| collector.number() <= frame.jobs.start)
            .unwrap_or_else(|| Collector::new(self.trace, self.options.clone(), false));
        collector.run(self.trace, frame.jobs.start, false)?;
        collector.run(self.trace, frame.jobs.end, true)?;
        let report = Arc::new(collector.take());
        state.collector = Some(collector);
        if state.made.len() == MAX_KEPT {
            state.made.remove(0);
        }
        state.made.push((number, report.clone()));
        Ok(Some(report))
    }
}
