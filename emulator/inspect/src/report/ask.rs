//! The history of a pixel, computed on demand for an existing report.

use super::html::Html;
use super::model::{Kind, Report};
use super::page_history;
use super::paint::Painter;
use super::pixels;
use crate::error::{Error, Result};
use crate::history::address;
use crate::recorded;
use crate::watched::Switch;
use emulator::exec::native::Native;
use emulator::exec::observed::{Observed, Tell};
use emulator::gpu::Gpu;
use emulator::gpu::binning::lists::Geometry;
use emulator::gpu::frame::Frame;
use loader::trace::{Pipe, Record, Trace};
use std::sync::Arc;

/// The history of a pixel of a job as an HTML fragment; re-runs the recording up to there. `None` if it is not a pixel
/// job or has no such pixel.
///
/// # Errors
/// See [`collect`](super::collect()).
pub fn history(trace: &Trace<'_>, report: &Report, job: usize, pixel: [u32; 2]) -> Result<Option<String>> {
    let of = report.jobs.iter().find(|of| of.number == job).map(|job| &job.kind);
    let Some(Kind::Pp(pp)) = of.filter(|kind| has(kind, pixel)) else {
        return Ok(None);
    };
    let observed = Observed::new(Tell::Nothing, Box::new(std::io::sink())).keeping(&[(pixel[0], pixel[1])]);
    let switch = Switch::of(Box::new(Native::default()), observed.clone());
    let mut gpu = Gpu::new(Box::new(switch.clone()));
    let mut made: Vec<(usize, Arc<Geometry>)> = Vec::new();
    let mut number = 0;
    for (offset, record) in &trace.records {
        let at = |fault| Error::fault(number, *offset, fault);
        let Record::Submit { pipe, frame, .. } = record else {
            recorded::step(&mut gpu, record).map_err(at)?;
            continue;
        };
        if number == job {
            let painter = Painter::new(&Frame::parse(frame).map_err(at)?, &[pixel], false);
            switch.turn_on();
            // Events before a fault are still reported; the fault is on the page.
            let _ = gpu.run_pp_observed(frame, &painter);
            let job_of = |of| {
                made.iter()
                    .find(|(_, geometry)| address(geometry) == of)
                    .map(|(job, _)| *job)
            };
            let mut html = Html::default();
            for (pixel, entries) in
                pixels::histories(&painter.into_seen(), &[pixel], &observed.take_fragments(), job_of)
            {
                page_history::section(&mut html, job, pp, pixel, &entries);
            }
            return Ok(Some(html.finish()));
        }
        match pipe {
            Pipe::Gp => {
                if gpu.run_gp(frame).is_ok() {
                    made.extend(gpu.geometry().map(|geometry| (number, geometry.clone())));
                }
            }
            // A faulting job is followed by the next, as in the report.
            Pipe::Pp => drop(gpu.run_pp(frame)),
        }
        number += 1;
    }
    Ok(None)
}

fn has(kind: &Kind, [x, y]: [u32; 2]) -> bool {
    matches!(kind, Kind::Pp(pp) if x < pp.size[0] && y < pp.size[1])
}
