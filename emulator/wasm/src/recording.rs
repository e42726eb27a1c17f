//! Recorded jobs: the inspector's page, and any pixel's history.

use crate::refusal::Refusal;
use inspect::report::{self, Options, Report};
use loader::trace::Trace;
use std::fmt::Display;

/// A recording that has run.
pub struct Recording {
    name: String,
    bytes: Vec<u8>,
    report: Report,
}

fn about(name: &str) -> impl Fn(&dyn Display) -> Refusal {
    move |error| Refusal::about(format_args!("{name}: {error}"), [])
}

impl Recording {
    /// Runs a recording.
    ///
    /// # Errors
    /// When it is none. The page reports jobs that fault.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Self, Refusal> {
        let about = about(name);
        let trace = Trace::read(&bytes).map_err(|error| about(&error))?;
        let options = Options { name, pixels: &[] };
        let report = report::collect(&trace, &options).map_err(|error| about(&error))?;
        Ok(Self {
            name: name.to_owned(),
            bytes,
            report,
        })
    }

    /// The inspector's page, for a frame of the page that answers its questions: see [`report::framed`].
    pub fn page(&self) -> String {
        report::framed(&self.report)
    }

    /// The history of a pixel of a job, as a part of that page; nothing where the job has no such pixel.
    ///
    /// # Errors
    /// The fault of a job.
    pub fn history(&self, job: usize, pixel: [u32; 2]) -> Result<Option<String>, Refusal> {
        let about = about(&self.name);
        let trace = Trace::read(&self.bytes).map_err(|error| about(&error))?;
        report::history(&trace, &self.report, job, pixel).map_err(|error| about(&error))
    }
}
