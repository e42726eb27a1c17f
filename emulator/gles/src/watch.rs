//! Observers of devices: recordings, timings, pictures.

use crate::error::{Result, Within};
use emulator::dump;
use emulator::gpu::frame::Frame;
use emulator::gpu::tile::write_back;
use emulator::memory::Memory;
use emulator::recorder::Recorder;
use loader::trace;
use serde_json::{Value, json};
use shim::{Event, Job, Pipe, Times, Watch, Work};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use utgard::frame::WriteBackSource;

/// Called with the number of a job, the size of its picture, and RGBA8 rows from the top.
pub type Pictures = dyn FnMut(u64, [u32; 2], Vec<u8>) + Send;

/// Prints jobs, and passes their pictures on.
pub struct Show {
    device: u64,
    /// Print every job, and sums at the end.
    pub stats: bool,
    /// Print every job's input.
    pub dump: bool,
    /// Called with the picture of every pixel job.
    pub frames: Option<Box<Pictures>>,
    /// The JSON report.
    pub report: Option<Report>,
    total: Total,
}

/// A file of JSON, a line for each job and for each device's sums, that all devices write to.
#[derive(Clone)]
pub struct Report(Arc<Mutex<File>>);

impl Report {
    /// An empty report.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).within(|| format!("cannot write {}", path.display()))?;
        Ok(Self(Arc::new(Mutex::new(file))))
    }

    fn line(&self, value: &Value) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(format!("{value}\n").as_bytes()) {
            log::error!("the report cannot be written: {error}");
        }
    }
}

/// An engine's name and its report.
type EngineReport<'a> = (&'a str, Option<&'a str>);

/// Prints a line to standard error; a write error is ignored.
fn print(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The colours that a pixel job wrote.
fn picture(memory: &Memory, job: Job<'_>) -> Option<(u32, u32, Vec<u8>)> {
    let frame = Frame::parse(job.plain).ok()?;
    let mut units = frame.write_backs.iter();
    let unit = units.find(|unit| unit.source == WriteBackSource::Color)?;
    write_back::read(memory, &frame, unit).ok()
}

#[derive(Default)]
struct Total {
    jobs: [u64; 2],
    seconds: [f64; 2],
    vertices: u64,
    fragments: u64,
    faults: u64,
}

impl Total {
    fn json(&self, device: u64, times: &Times, (engine, engine_report): EngineReport<'_>) -> Value {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        json!({
            "device": device,
            "gp_jobs": self.jobs[0],
            "gp_milliseconds": self.seconds[0] * 1e3,
            "pp_jobs": self.jobs[1],
            "pp_milliseconds": self.seconds[1] * 1e3,
            "vertices": self.vertices,
            "fragments": self.fragments,
            "faults": self.faults,
            "open_milliseconds": milliseconds(times.open),
            "program_milliseconds": milliseconds(times.program),
            "system_milliseconds": milliseconds(times.system),
            "questions": times.questions,
            "answering_milliseconds": milliseconds(times.answering),
            "waiting_milliseconds": milliseconds(times.waiting),
            "engine": engine,
            "engine_report": engine_report,
        })
    }
}

/// A job's result as JSON.
fn done_json(device: u64, job: Job<'_>, outcome: &Result<Work, String>, seconds: f64) -> Value {
    let mut line = json!({
        "device": device,
        "job": job.number,
        "processor": if job.pipe == Pipe::Gp { "GP" } else { "PP" },
        "milliseconds": seconds * 1e3,
    });
    let work = match outcome {
        Ok(Work::Gp(stats)) => json!({ "vertices": stats.vertices, "triangles": stats.primitives }),
        Ok(Work::Pp(stats)) => {
            json!({ "tiles": stats.tiles, "quads": stats.quads, "fragments": stats.fragments })
        }
        Err(fault) => json!({ "fault": fault }),
    };
    if let (Value::Object(line), Value::Object(work)) = (&mut line, work) {
        line.extend(work);
    }
    line
}

impl Show {
    /// An observer of a device; faults and notes are always printed.
    pub fn new(device: u64) -> Self {
        Self {
            device,
            stats: false,
            dump: false,
            frames: None,
            report: None,
            total: Total::default(),
        }
    }

    fn submitted(&self, memory: &Memory, job: Job<'_>) {
        if !self.dump {
            return;
        }
        let text = dump::job(memory, queue(job.pipe), job.plain);
        let text = text.unwrap_or_else(|error| format!("cannot be printed: {error}\n"));
        print(format_args!(
            "skrymir: device {} job {}:\n{text}",
            self.device, job.number
        ));
    }

    fn done(&mut self, job: Job<'_>, outcome: Result<Work, String>, seconds: f64) {
        let pipe = usize::from(job.pipe == Pipe::Pp);
        self.total.jobs[pipe] += 1;
        self.total.seconds[pipe] += seconds;
        if let Some(report) = &self.report {
            report.line(&done_json(self.device, job, &outcome, seconds));
        }
        let what = match outcome {
            Ok(Work::Gp(stats)) => {
                self.total.vertices += stats.vertices;
                format!("GP, {} vertices, {} triangles", stats.vertices, stats.primitives)
            }
            Ok(Work::Pp(stats)) => {
                self.total.fragments += stats.fragments;
                format!(
                    "PP, {} tiles, {} quads, {} fragments",
                    stats.tiles, stats.quads, stats.fragments
                )
            }
            Err(fault) => {
                self.total.faults += 1;
                log::error!("device {} job {}: {fault}", self.device, job.number);
                return;
            }
        };
        if self.stats {
            let ms = seconds * 1e3;
            print(format_args!(
                "skrymir: device {} job {}: {what}, {ms:.2} ms",
                self.device, job.number
            ));
        }
    }

    fn save(&mut self, memory: &Memory, job: Job<'_>) {
        let Some(pictures) = self.frames.as_mut().filter(|_| job.pipe == Pipe::Pp) else {
            return;
        };
        // A job may write no colour, or write it to memory that is not mapped.
        if let Some((width, height, rgba)) = picture(memory, job) {
            pictures(job.number, [width, height], rgba);
        }
    }

    fn closed(&self, notes: &emulator::gpu::notes::Notes, times: &Times, engine: EngineReport<'_>) {
        if let Some(report) = &self.report {
            report.line(&self.total.json(self.device, times, engine));
        }
        for note in notes.iter() {
            log::info!("device {}: note: {note}", self.device);
        }
        if self.stats {
            let total = &self.total;
            print(format_args!(
                "skrymir: device {}: {} GP jobs in {:.1} ms, {} PP jobs in {:.1} ms, {} vertices, {} fragments, {} faults",
                self.device,
                total.jobs[0],
                total.seconds[0] * 1e3,
                total.jobs[1],
                total.seconds[1] * 1e3,
                total.vertices,
                total.fragments,
                total.faults
            ));
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            print(format_args!(
                "skrymir: device {}: open {:.1} ms; program, driver and qemu {:.1} ms, the system for them {:.1} ms; \
                 it waited {:.1} ms; {} questions answered in {:.1} ms, jobs in {:.1} ms",
                self.device,
                ms(times.open),
                ms(times.program),
                ms(times.system),
                ms(times.waiting),
                times.questions,
                ms(times.answering),
                total.seconds.iter().sum::<f64>() * 1e3,
            ));
            if let (name, Some(report)) = engine {
                print(format_args!("skrymir: device {}: engine {name}: {report}", self.device));
            }
        }
    }
}

impl Watch for Show {
    fn event(&mut self, memory: &Memory, event: &Event<'_>) {
        match event {
            Event::Done { job, outcome, time } => {
                self.done(*job, outcome.map_err(ToString::to_string), time.as_secs_f64());
                self.save(memory, *job);
            }
            Event::Closed {
                notes,
                times,
                engine,
                engine_report,
            } => self.closed(notes, times, (engine, engine_report.as_deref())),
            Event::Submitted(job) => self.submitted(memory, *job),
            Event::Created { .. } | Event::Freed { .. } => {}
        }
    }
}

/// Records a device's jobs, and the CPU's writes between them, as a [`trace`].
pub struct Record {
    recorder: Recorder<File>,
    path: PathBuf,
    failed: bool,
    has_jobs: bool,
}

/// A device without a job leaves no recording.
impl Drop for Record {
    fn drop(&mut self) {
        if !self.has_jobs {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Record {
    /// A recording of a GPU as [`trace::Trace`] has it. Its file is removed on drop if no job was submitted.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path, gpu: u32, pps: u32) -> Result<Self> {
        let file = File::create(path).within(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            recorder: Recorder::new(file, gpu, pps)?,
            path: path.to_owned(),
            failed: false,
            has_jobs: false,
        })
    }
}

/// A queue as recordings have it.
fn queue(pipe: Pipe) -> trace::Pipe {
    match pipe {
        Pipe::Gp => trace::Pipe::Gp,
        Pipe::Pp => trace::Pipe::Pp,
    }
}

impl Watch for Record {
    fn event(&mut self, memory: &Memory, event: &Event<'_>) {
        match event {
            Event::Created { address, size, flags } => {
                let is_heap = flags & shim::abi::HEAP != 0;
                self.recorder.created(*address, *size, *flags, is_heap);
            }
            Event::Freed { address } => self.recorder.freed(*address),
            Event::Submitted(job) => {
                self.has_jobs = true;
                let (frame, objects) = (job.plain.to_vec(), job.objects.to_vec());
                let written = self.recorder.submitted(memory, queue(job.pipe), frame, objects);
                if let Err(error) = written
                    && !std::mem::replace(&mut self.failed, true)
                {
                    log::error!("cannot write {}: {error}", self.path.display());
                }
            }
            Event::Done { .. } => self.recorder.done(memory),
            Event::Closed { .. } => {}
        }
    }

    fn wants_writes(&self) -> bool {
        true
    }
}
