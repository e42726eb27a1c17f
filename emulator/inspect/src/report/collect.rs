//! Runs a recording with an observer and collects a report.

use super::geometry;
use super::model::{Gp, Job, Kind, Painted, Pp, Report};
use super::outline::{Brief, Gatherer};
use super::paint::{Painter, Seen};
use super::pixels::{self, Scrubber};
use super::places::Places;
use super::programs::Programs;
use crate::error::Error;
use crate::history::address;
use crate::recorded;
use crate::watched::Switch;
use emulator::dump::{self, DrawPrograms};
use emulator::exec::native::Native;
use emulator::exec::observed::{self, Observed, Tell};
use emulator::fault::{Fault, FaultKind, Result};
use emulator::gpu::binning::lists::Geometry;
use emulator::gpu::frame::Frame;
use emulator::gpu::notes::Notes;
use emulator::gpu::{Gpu, PixelStats};
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use std::ops::Range;
use std::sync::Arc;

/// Limit on jobs in full in a report.
const MAX_JOBS: usize = 1000;

/// Limit on shown draws of a pixel job.
const MAX_DRAWS: usize = 500;

/// Limit on geometry jobs whose primitives are kept for later pixel jobs.
const MAX_GEOMETRIES: usize = 64;

/// Options of a report.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// The recording's name.
    pub name: &'a str,
    /// Pixels whose histories are included.
    pub pixels: &'a [[u32; 2]],
}

/// A geometry job that has run.
struct Made {
    job: usize,
    geometry: Arc<Geometry>,
    draws: Vec<DrawPrograms>,
}

/// Runs a recording job by job.
pub(super) struct Collector<'a> {
    gpu: Gpu,
    switch: Switch,
    observed: Observed,
    /// The engine's observations before the current job.
    before: observed::Report,
    made: Vec<Made>,
    options: Options<'a>,
    outline: Option<Gatherer>,
    report: Report,
    /// The next record and the next job.
    next: usize,
    number: usize,
}

/// Runs a recording and collects a report. A job that ends with a fault is reported, and the next one runs.
///
/// # Errors
/// An invalid record: an object that does not fit, bytes outside all objects.
pub fn collect(trace: &Trace<'_>, options: &Options<'_>) -> Result<Report, Error> {
    let mut collector = Collector::new(trace, options.clone(), true);
    collector.run(trace, MAX_JOBS, true)?;
    collector.run(trace, usize::MAX, false)?;
    let jobs = collector.number;
    let mut report = collector.finish();
    if jobs > MAX_JOBS {
        report.left_out.insert(0, format!("{} jobs", jobs - MAX_JOBS));
    }
    Ok(report)
}

/// The outline of a recording: a report without a job in full.
///
/// # Errors
/// See [`collect`].
pub fn outline(trace: &Trace<'_>, options: &Options<'_>) -> Result<Report, Error> {
    let mut collector = Collector::new(trace, options.clone(), true);
    collector.run(trace, usize::MAX, false)?;
    Ok(collector.finish())
}

/// Adds the jobs of some frames in full to a recording's [`outline`]; calls `done` after each.
///
/// # Errors
/// See [`collect`].
pub fn collect_frames(
    trace: &Trace<'_>,
    options: &Options<'_>,
    outline: Report,
    frames: Range<usize>,
    done: &mut dyn FnMut(),
) -> Result<Report, Error> {
    let jobs = outline.outline.jobs_of(frames);
    let mut collector = Collector::new(trace, options.clone(), false);
    collector.run(trace, jobs.start, false)?;
    for job in jobs.clone().take(MAX_JOBS) {
        collector.run(trace, job + 1, true)?;
        done();
    }
    let shown = collector.number;
    let mut report = collector.finish();
    report.outline = outline.outline;
    if shown < jobs.end {
        report.left_out.insert(0, format!("{} jobs", jobs.end - shown));
    }
    Ok(report)
}

/// A count with its noun.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl<'a> Collector<'a> {
    /// A collector before the first record.
    pub(super) fn new(trace: &Trace<'_>, options: Options<'a>, with_outline: bool) -> Self {
        let pixels: Vec<(u32, u32)> = options.pixels.iter().map(|[x, y]| (*x, *y)).collect();
        let observed = Observed::new(Tell::Nothing, Box::new(std::io::sink())).keeping(&pixels);
        let switch = Switch::of(Box::new(Native::default()), observed.clone());
        Self {
            gpu: Gpu::new(Box::new(switch.clone())),
            switch,
            observed,
            before: observed::Report::default(),
            made: Vec::new(),
            report: Report {
                name: options.name.to_owned(),
                device: recorded::device(trace),
                ..Report::default()
            },
            options,
            outline: with_outline.then(Gatherer::default),
            next: 0,
            number: 0,
        }
    }

    /// The index of the next job.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Runs up to a job, or to the end; `in_full` collects the jobs.
    pub(super) fn run(&mut self, trace: &Trace<'_>, end: usize, in_full: bool) -> Result<(), Error> {
        while let Some((offset, record)) = trace.records.get(self.next) {
            match record {
                Record::Submit { .. } if self.number >= end => break,
                Record::Submit { pipe, frame, .. } => {
                    self.switch.set(in_full);
                    self.job(*offset, *pipe, frame, in_full);
                    self.number += 1;
                }
                other => {
                    let done = recorded::step(&mut self.gpu, other);
                    done.map_err(|fault| Error::fault(self.number, *offset, fault))?;
                }
            }
            self.next += 1;
        }
        Ok(())
    }

    /// The report of the jobs since the last call.
    pub(super) fn take(&mut self) -> Report {
        let empty = Report {
            name: self.report.name.clone(),
            device: self.report.device.clone(),
            ..Report::default()
        };
        let mut report = std::mem::replace(&mut self.report, empty);
        let pictures = report.pictures.left_out;
        if pictures > 0 {
            report.left_out.push(format!("{pictures} pictures"));
        }
        report
    }

    fn finish(mut self) -> Report {
        let mut report = self.take();
        report.outline = self.outline.map(Gatherer::finish).unwrap_or_default();
        let [jobs, resources] = report.outline.left_out;
        for (count, what) in [(jobs, "job in outline"), (resources, "use of a resource")] {
            if count > 0 {
                report.left_out.push(counted(count, what));
            }
        }
        report
    }

    fn job(&mut self, offset: u64, pipe: Pipe, frame: &[u32], in_full: bool) {
        self.gpu.notes = Notes::default();
        let mut brief = Brief {
            number: self.number,
            offset,
            ..Brief::default()
        };
        let mut job = Job {
            number: self.number,
            offset,
            summary: String::new(),
            fault: None,
            notes: Vec::new(),
            kind: Kind::Gp(Gp::default()),
            programs: Vec::new(),
            places: Places::default(),
            left_out: Vec::new(),
        };
        let done = match (pipe, in_full) {
            (Pipe::Gp, _) => self.geometry(frame, &mut job, &mut brief, in_full),
            (Pipe::Pp, true) => self.pixels(frame, &mut job),
            (Pipe::Pp, false) => self.skim(frame, &mut job),
        };
        job.fault = done.err().map(|fault| fault.to_string());
        if let Some(outline) = &mut self.outline {
            let drawn = (pipe == Pipe::Pp).then(|| Frame::parse(frame).ok()).flatten();
            if pipe == Pipe::Pp {
                brief.size = Some(drawn.as_ref().map_or([0; 2], |frame| [frame.width, frame.height]));
            }
            if let Some(frame) = &drawn {
                outline.pixels(&self.gpu.memory, self.number, frame);
            }
            (brief.summary, brief.fault) = (job.summary.clone(), job.fault.clone());
            let drawn = drawn.filter(is_small);
            outline.job(&self.gpu.memory, brief, drawn.as_ref());
        }
        if !in_full {
            return;
        }
        job.notes.extend(self.gpu.notes.iter().map(str::to_owned));
        if self.gpu.notes.lost() > 0 {
            job.left_out.push(format!("{} notes", self.gpu.notes.lost()));
        }
        places(&self.gpu.memory, &mut job);
        self.report.jobs.push(job);
    }

    /// A pixel job at full speed.
    fn skim(&mut self, words: &[u32], job: &mut Job) -> Result<()> {
        let frame = small(words)?;
        let stats = self.gpu.run_pp(words)?;
        job.summary = pixel_summary(&frame, None, &stats);
        Ok(())
    }

    fn geometry(&mut self, frame: &[u32], job: &mut Job, brief: &mut Brief, in_full: bool) -> Result<()> {
        let mut gp = Gp::default();
        match in_full.then(|| dump::streams(&self.gpu.memory, frame)) {
            None => {}
            Some(Ok(streams)) => {
                let streams = streams.into_iter();
                gp.streams = streams
                    .map(|stream| geometry::stream(stream, &mut job.left_out))
                    .collect();
            }
            Some(Err(fault)) => job.notes.push(format!("the streams cannot be described: {fault}")),
        }
        let draws = dump::draws(&self.gpu.memory, frame).unwrap_or_else(|fault| {
            job.notes.push(format!("the draws cannot be described: {fault}"));
            Vec::new()
        });
        brief.draws = draws.len();
        if let Some(outline) = &mut self.outline {
            outline.geometry(&self.gpu.memory, job.number, &draws);
        }
        let done = self.gpu.run_gp(frame);
        if in_full {
            self.describe(&draws, gp, job);
        }
        let stats = done?;
        job.summary = format!(
            "{}, {}, {}, {}",
            counted(draws.len() as u64, "draw"),
            match stats.vertices {
                1 => "1 vertex".to_owned(),
                many => format!("{many} vertices"),
            },
            counted(stats.primitives, "triangle"),
            counted(stats.instructions, "instruction")
        );
        if let Some(geometry) = self
            .gpu
            .geometry()
            .filter(|_| stats.primitives > 0 || !draws.is_empty())
        {
            let geometry = geometry.clone();
            if self.made.len() == MAX_GEOMETRIES {
                self.made.remove(0);
            }
            self.made.push(Made {
                job: job.number,
                geometry,
                draws,
            });
        }
        Ok(())
    }

    /// The vertices of every draw, after the job.
    fn describe(&mut self, draws: &[DrawPrograms], mut gp: Gp, job: &mut Job) {
        let now = self.observed.report().unwrap_or_default();
        let mut programs = Programs::new(&self.observed, &self.before, &now);
        for (number, draw) in draws.iter().take(MAX_DRAWS).enumerate() {
            let table = number < geometry::MAX_TABLES;
            gp.draws
                .push(geometry::draw(&self.gpu.memory, draw, &mut programs, table));
        }
        if draws.len() > MAX_DRAWS {
            job.left_out.push(format!("{} draws", draws.len() - MAX_DRAWS));
        }
        finish_programs(programs, job);
        self.before = now;
        job.kind = Kind::Gp(gp);
    }

    fn pixels(&mut self, words: &[u32], job: &mut Job) -> Result<()> {
        let mut pp = Pp {
            frame: dump::job(&self.gpu.memory, Pipe::Pp, words).unwrap_or_default(),
            ..Pp::default()
        };
        let frame = match small(words) {
            Ok(frame) => frame,
            Err(fault) => {
                job.kind = Kind::Pp(Box::new(pp));
                return Err(fault);
            }
        };
        pp.size = [frame.width, frame.height];
        let under = recorded::picture(&self.gpu.memory, &frame)
            .ok()
            .flatten()
            .map(|under| under.rgba);
        let painter = Painter::new(&frame, self.options.pixels, true);
        drop(self.observed.take_fragments());
        // Draws may sample the job's target: they are shown with its previous contents.
        let before = target_bytes(&self.gpu.memory, &frame);
        let done = self.gpu.run_pp_observed(words, &painter);
        let seen = painter.into_seen();
        let after = target_bytes(&self.gpu.memory, &frame);
        put_bytes(&mut self.gpu.memory, &before);
        let now = self.observed.report().unwrap_or_default();
        self.paint(&seen, &frame, under, &now, &mut pp, job);
        self.before = now;
        put_bytes(&mut self.gpu.memory, &after);
        if done.is_ok() {
            pp.targets = pixels::targets(&self.gpu.memory, &frame, &mut self.report.pictures);
        }
        pp.maps.extend(pixels::maps(&seen, pp.size, &mut self.report.pictures));
        pp.costly = pixels::costliest(&seen);
        let made = &self.made;
        let ran = self.observed.take_fragments();
        pp.histories = pixels::histories(&seen, &inside(self.options.pixels, pp.size), &ran, |of| {
            job_of(made, of)
        });
        if seen.missing > 0 {
            job.left_out
                .push(format!("{} fragments of chosen pixels", seen.missing));
        }
        let draws = pp.draws.len();
        job.kind = Kind::Pp(Box::new(pp));
        let stats = done?;
        job.summary = pixel_summary(&frame, Some(draws), &stats);
        Ok(())
    }

    /// Fills in the result of every draw.
    fn paint(
        &mut self,
        seen: &Seen,
        frame: &Frame,
        under: Option<Vec<u8>>,
        now: &observed::Report,
        pp: &mut Pp,
        job: &mut Job,
    ) {
        let pictures = &mut self.report.pictures;
        let mut scrubber = Scrubber::new(seen, frame, under, pictures, pp);
        let mut programs = Programs::new(&self.observed, &self.before, now);
        let mut order: Vec<_> = seen.draws.iter().collect();
        order.sort_by_key(|((geometry, draw), _)| (job_of(&self.made, *geometry), *draw));
        for ((of, draw), seen) in order.iter().take(MAX_DRAWS) {
            let mut painted = Painted {
                summary: format!(
                    "{}, {}, {}",
                    counted(seen.fragments, "fragment"),
                    counted(seen.instructions, "instruction"),
                    counted(seen.tiles() as u64, "tile")
                ),
                ..Painted::default()
            };
            scrubber.draw(seen, pictures, &mut painted);
            if seen.incomplete {
                painted
                    .trouble
                    .push("not all tiles were kept: the picture is not complete".to_owned());
            }
            if let Some(made) = self.made.iter().find(|made| address(&made.geometry) == *of) {
                painted.from = Some((made.job, *draw));
                (painted.mesh, painted.more_triangles) = pixels::mesh(&made.geometry, *draw);
                if let Some(of) = made.draws.iter().find(|of| of.source.number == *draw) {
                    let (memory, state) = (&self.gpu.memory, of.source.state);
                    pixels::state(memory, state, &of.fragment, pictures, &mut programs, &mut painted);
                }
            }
            pp.draws.push(painted);
        }
        if order.len() > MAX_DRAWS {
            job.left_out.push(format!("{} draws", order.len() - MAX_DRAWS));
        }
        pp.maps = scrubber.finish(pictures);
        finish_programs(programs, job);
    }
}

/// Whether a pixel job's picture has a size that is shown.
fn is_small(frame: &Frame) -> bool {
    u64::from(frame.width) * u64::from(frame.height) <= 1 << 24
}

/// The frame of a pixel job that is run.
fn small(words: &[u32]) -> Result<Frame> {
    let frame = Frame::parse(words).map_err(|fault| fault.of(emulator::fault::Job::Pp))?;
    match is_small(&frame) {
        true => Ok(frame),
        false => Err(Fault::new(
            FaultKind::Limit,
            "a picture of more than 4096 x 4096 pixels",
        )),
    }
}

/// A pixel job in a line; its draws are counted only in full.
fn pixel_summary(frame: &Frame, draws: Option<usize>, stats: &PixelStats) -> String {
    let draws = draws.map_or(String::new(), |draws| format!("{}, ", counted(draws as u64, "draw")));
    format!(
        "{} x {} pixels, {draws}{}, {}, {}",
        frame.width,
        frame.height,
        counted(stats.tiles, "tile"),
        counted(stats.fragments, "fragment"),
        counted(stats.instructions, "instruction")
    )
}

/// The geometry job whose primitives are at an address.
fn job_of(made: &[Made], of: usize) -> Option<usize> {
    made.iter()
        .find(|made| address(&made.geometry) == of)
        .map(|made| made.job)
}

fn inside(pixels: &[[u32; 2]], [width, height]: [u32; 2]) -> Vec<[u32; 2]> {
    pixels
        .iter()
        .copied()
        .filter(|[x, y]| *x < width && *y < height)
        .collect()
}

fn finish_programs(programs: Programs<'_>, job: &mut Job) {
    if programs.left_out > 0 {
        job.left_out.push(format!("{} programs", programs.left_out));
    }
    job.programs = programs.take();
}

/// The bytes from the start of the job's targets to the ends of their objects.
fn target_bytes(memory: &Memory, frame: &Frame) -> Vec<(u32, Vec<u8>)> {
    let units = frame.write_backs.iter();
    units
        .map(|unit| (unit.address, memory.bytes_up_to(unit.address, u32::MAX).into_owned()))
        .collect()
}

fn put_bytes(memory: &mut Memory, all: &[(u32, Vec<u8>)]) {
    for (address, bytes) in all.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        // They were read from there, so they fit.
        let _ = memory.write(*address, bytes);
    }
}

/// Records memory at the addresses in a job's texts.
fn places(memory: &Memory, job: &mut Job) {
    let objects: Vec<(u32, u32)> = memory.objects().map(|(at, bytes)| (at, bytes.len() as u32)).collect();
    let mut places = Places::default();
    for text in super::texts::of(job) {
        places.scan(memory, &objects, &text);
    }
    if places.left_out > 0 {
        job.left_out
            .push(format!("the contents of {} addresses", places.left_out));
    }
    job.places = places;
}
