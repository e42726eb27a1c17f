//! Runs recorded jobs on the emulator.

use crate::error::{Error, Result, Within};
use crate::recorded_draw::RecordedDraw;
use emulator::dump::{self, Given};
use emulator::exec::Engine;
use emulator::gpu::PixelStats;
use emulator::gpu::frame::Frame;
use emulator::gpu::{GeometryStats, Gpu};
use emulator::memory::Memory;
use inspect::recorded::{self, Done};
use loader::trace::{Pipe, Record, Trace};
use scene::picture::Picture;
use std::time::Duration;

/// The statistics of a job.
#[derive(Clone, Copy, Debug)]
pub enum JobStats {
    /// A geometry job and how long it took.
    Gp(GeometryStats, Duration),
    /// A pixel job and how long it took.
    Pp(PixelStats, Duration),
}

/// A replayed recording.
pub struct Replay {
    /// The GPU behind the last job.
    pub gpu: Gpu,
    /// The frame of the last pixel job.
    pub frame: Option<Frame>,
    /// Every job in order.
    pub jobs: Vec<JobStats>,
}

/// Runs a recording.
///
/// # Errors
/// The fault of a job, with its number.
pub fn replay(trace: &Trace<'_>, engine: Box<dyn Engine>, threads: usize) -> Result<Replay> {
    replay_with(trace, engine, threads, |_, _, _| Ok::<(), Error>(()))
}

/// Runs a recording; `before` gets the memory before every job, its queue and its frame.
///
/// # Errors
/// As [`replay`], and errors of `before`.
pub fn replay_with<E: From<Error>>(
    trace: &Trace<'_>,
    engine: Box<dyn Engine>,
    threads: usize,
    mut before: impl FnMut(&Memory, Pipe, &[u32]) -> Result<(), E>,
) -> Result<Replay, E> {
    let mut replay = Replay {
        gpu: Gpu::new(engine).with_threads(threads),
        frame: None,
        jobs: Vec::new(),
    };
    for (offset, record) in &trace.records {
        let number = replay.jobs.len();
        if let Record::Submit { pipe, frame, .. } = record {
            before(&replay.gpu.memory, *pipe, frame)?;
        }
        step(&mut replay, record).within(|| format!("trace: job {number} (at offset {offset:#x})"))?;
    }
    Ok(replay)
}

fn step(replay: &mut Replay, record: &Record<'_>) -> Result<()> {
    let start = std::time::Instant::now();
    match recorded::step(&mut replay.gpu, record)? {
        Some(Done::Gp(stats)) => replay.jobs.push(JobStats::Gp(stats, start.elapsed())),
        Some(Done::Pp(stats, frame)) => {
            replay.jobs.push(JobStats::Pp(stats, start.elapsed()));
            replay.frame = Some(*frame);
        }
        None => {}
    }
    Ok(())
}

/// The draws of a recorded geometry job, with their programs; earlier jobs are not run.
///
/// # Errors
/// When there is no such job, it is a pixel job, or it refers to unmapped memory.
pub fn draws(trace: &Trace<'_>, job: usize) -> Result<Vec<RecordedDraw>> {
    geometry_job(trace, job, |memory, frame| {
        Ok(dump::draws(memory, frame)?.into_iter().map(RecordedDraw).collect())
    })
}

/// As [`draws`], with the inputs of the programs if there is a vertex program.
///
/// # Errors
/// As [`draws`], and when the inputs are in unmapped memory.
pub fn draws_given(trace: &Trace<'_>, job: usize) -> Result<Vec<(RecordedDraw, Option<Given>)>> {
    geometry_job(trace, job, |memory, frame| {
        let draws = dump::draws(memory, frame)?.into_iter();
        draws
            .map(|draw| Ok((RecordedDraw(draw.clone()), dump::given(memory, &draw)?)))
            .collect()
    })
}

/// Inspects a geometry job's frame, with the memory as recorded.
fn geometry_job<T>(
    trace: &Trace<'_>,
    job: usize,
    look: impl FnOnce(&Memory, &[u32]) -> emulator::fault::Result<T>,
) -> Result<T> {
    let (mut memory, mut jobs) = (Memory::default(), 0);
    for (offset, record) in &trace.records {
        let place = || format!("trace: job {jobs} (at offset {offset:#x})");
        let Record::Submit { pipe, frame, .. } = record else {
            recorded::lay(&mut memory, record).within(place)?;
            continue;
        };
        if jobs == job {
            return match pipe {
                Pipe::Gp => look(&memory, frame).within(place),
                Pipe::Pp => Err(Error::input(format_args!(
                    "trace: job {job} paints pixels; the draws are those of the geometry job before it"
                ))),
            };
        }
        jobs += 1;
    }
    Err(Error::input(format_args!(
        "trace: there are {jobs} jobs, and no number {job}"
    )))
}

impl Replay {
    /// The picture of the last pixel job.
    ///
    /// # Errors
    /// When there is none.
    pub fn picture(&self) -> Result<Picture> {
        let frame = self
            .frame
            .as_ref()
            .ok_or_else(|| Error::input("no pixel job was recorded"))?;
        let pixels = recorded::picture(&self.gpu.memory, frame)?;
        let pixels = pixels.ok_or_else(|| Error::input("the last job wrote no colour"))?;
        Ok(Picture {
            width: pixels.width,
            height: pixels.height,
            rgba: pixels.rgba,
        })
    }
}
