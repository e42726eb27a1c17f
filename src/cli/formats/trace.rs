//! Recordings of a Mali-400 driver's jobs on the command line.

use super::{Format, Info};
use crate::cli::args::{CheckArgs, RewriteArgs};
use crate::cli::outcome::Outcome;
use emulator::dump;
use emulator::fault::Fault;
use emulator::gpu::frame::Frame;
use emulator::memory::Memory;
use inspect::recorded;
use loader::trace::{self, Pipe, Record, Trace};
use loader::{Report, Severity};
use serde::Serialize;
use std::fmt;
use translate::validate::Table;

/// Recordings.
pub(crate) struct Recording;

impl Format for Recording {
    fn name(&self) -> &'static str {
        trace::FORMAT
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(trace::MAGIC)
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Info::of(&summary(&Trace::read(bytes)?, bytes.len()))
    }

    /// The rules of the file, and that every job's frame, streams and programs are where they are said to be; jobs are
    /// not run.
    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let trace = match Trace::read(bytes) {
            Ok(trace) => trace,
            Err(error) => return Ok(((&error).into(), Vec::new())),
        };
        let mut report = Report::default();
        let (mut memory, mut jobs) = (Memory::default(), 0);
        for (number, (offset, record)) in trace.records.iter().enumerate() {
            let (rule, place, found) = match record {
                Record::Submit { pipe, frame, .. } => {
                    jobs += 1;
                    let found = Job::of(&memory, *pipe, frame).map(drop);
                    ("trace-job", format!("job {}", jobs - 1), found)
                }
                _ => (
                    "trace-memory",
                    format!("record {number}"),
                    recorded::lay(&mut memory, record),
                ),
            };
            if let Err(fault) = found {
                report.push(Severity::Error, rule, place, fault.to_string(), Some(*offset));
            }
        }
        Ok((report, Vec::new()))
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Ok(Trace::read(bytes)?.write())
    }
}

/// The contents of a recording.
#[derive(Serialize)]
struct Summary {
    format: &'static str,
    gpu: String,
    pixel_processors: u32,
    bytes: usize,
    records: usize,
    buffer_objects: usize,
    largest_memory: u64,
    written_bytes: u64,
    jobs: Vec<Submitted>,
}

/// A submitted job.
#[derive(Serialize)]
struct Submitted {
    offset: u64,
    queue: &'static str,
    #[serde(flatten)]
    job: Option<Job>,
    /// Why the job cannot be described.
    trouble: Option<String>,
}

/// The contents of a job.
#[derive(Serialize)]
#[serde(untagged)]
enum Job {
    Gp {
        draws: usize,
        vertices: u64,
    },
    Pp {
        width: u32,
        height: u32,
        targets: Vec<Target>,
    },
}

/// The output of a pixel job.
#[derive(Serialize)]
struct Target {
    address: u32,
    format: &'static str,
}

impl Job {
    fn of(memory: &Memory, pipe: Pipe, frame: &[u32]) -> Result<Self, Fault> {
        Ok(match pipe {
            Pipe::Gp => {
                let draws = dump::draws(memory, frame)?;
                let vertices = draws.iter().map(|draw| u64::from(draw.source.command.count));
                Self::Gp {
                    draws: draws.len(),
                    vertices: vertices.sum(),
                }
            }
            Pipe::Pp => {
                let frame = Frame::parse(frame)?;
                let target = |unit: &emulator::gpu::frame::WriteBack| Target {
                    address: unit.address,
                    format: unit.format.name(),
                };
                Self::Pp {
                    width: frame.width,
                    height: frame.height,
                    targets: frame.write_backs.iter().map(target).collect(),
                }
            }
        })
    }
}

fn summary(trace: &Trace<'_>, bytes: usize) -> Summary {
    let (mut memory, mut sizes) = (Memory::default(), std::collections::BTreeMap::new());
    let (mut objects, mut now, mut largest, mut written) = (0, 0, 0, 0);
    let mut jobs = Vec::new();
    for (offset, record) in &trace.records {
        match record {
            Record::Buffer { address, size, .. } => {
                objects += 1;
                now += u64::from(*size);
                largest = now.max(largest);
                sizes.insert(*address, u64::from(*size));
            }
            Record::Free { address } => now -= sizes.remove(address).unwrap_or(0),
            Record::Page { bytes, .. } => written += bytes.len() as u64,
            Record::Submit { pipe, frame, .. } => {
                let (job, trouble) = match Job::of(&memory, *pipe, frame) {
                    Ok(job) => (Some(job), None),
                    Err(fault) => (None, Some(fault.to_string())),
                };
                let queue = match pipe {
                    Pipe::Gp => "gp",
                    Pipe::Pp => "pp",
                };
                jobs.push(Submitted {
                    offset: *offset,
                    queue,
                    job,
                    trouble,
                });
            }
        }
        // A record that cannot be mapped is an error of the jobs that need it.
        let _ = recorded::lay(&mut memory, record);
    }
    Summary {
        format: trace::FORMAT,
        gpu: recorded::device(trace),
        pixel_processors: trace.pps,
        bytes,
        records: trace.records.len(),
        buffer_objects: objects,
        largest_memory: largest,
        written_bytes: written,
        jobs,
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "recording: {}; {} bytes, {} records",
            self.gpu, self.bytes, self.records
        )?;
        writeln!(
            f,
            "{} buffer objects, {} bytes at most at once; {} bytes written by the processor",
            self.buffer_objects, self.largest_memory, self.written_bytes
        )?;
        writeln!(f, "jobs: {}", self.jobs.len())?;
        for (number, job) in self.jobs.iter().enumerate() {
            writeln!(f, "  {number} at offset {:#x}: {job}", job.offset)?;
        }
        Ok(())
    }
}

impl fmt::Display for Submitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.queue.to_uppercase())?;
        match (&self.job, &self.trouble) {
            (Some(Job::Gp { draws, vertices }), _) => {
                let plural = if *draws == 1 { "" } else { "s" };
                write!(f, "{draws} draw{plural} of {vertices} vertices")
            }
            (Some(Job::Pp { width, height, targets }), _) => {
                write!(f, "{width}x{height}")?;
                let mut targets = targets.iter();
                targets.try_for_each(|target| write!(f, ", {} at {:#010x}", target.format, target.address))
            }
            (None, trouble) => write!(f, "cannot be described: {}", trouble.as_deref().unwrap_or_default()),
        }
    }
}
