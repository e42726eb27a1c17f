//! Runs a recording with an observer and collects a report.

use super::geometry;
use super::model::{Gp, Job, Kind, Painted, Pp, Report};
use super::paint::{Painter, Seen};
use super::pixels::{self, Scrubber};
use super::places::Places;
use super::programs::Programs;
use crate::error::Error;
use crate::history::address;
use crate::recorded;
use emulator::dump::{self, DrawPrograms};
use emulator::exec::observed::{self, Observed, Tell};
use emulator::fault::{Fault, FaultKind, Result};
use emulator::gpu::Gpu;
use emulator::gpu::binning::lists::Geometry;
use emulator::gpu::frame::Frame;
use emulator::gpu::notes::Notes;
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use std::sync::Arc;

/// Limit on jobs in a report.
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

struct Collector<'a> {
    gpu: Gpu,
    observed: Observed,
    /// The engine's observations before the current job.
    before: observed::Report,
    made: Vec<Made>,
    options: &'a Options<'a>,
    report: Report,
}

/// Runs a recording and collects a report. A job that ends with a fault is reported, and the next one runs.
///
/// # Errors
/// An invalid record: an object that does not fit, bytes outside all objects.
pub fn collect(trace: &Trace<'_>, options: &Options<'_>) -> Result<Report, Error> {
    let observed = Observed::new(Tell::Nothing, Box::new(std::io::sink()));
    let mut collector = Collector {
        gpu: Gpu::new(Box::new(observed.clone())),
        observed,
        before: observed::Report::default(),
        made: Vec::new(),
        options,
        report: Report {
            name: options.name.to_owned(),
            device: recorded::device(trace),
            ..Report::default()
        },
    };
    for (offset, record) in &trace.records {
        match record {
            Record::Submit { pipe, frame, .. } => collector.job(*offset, *pipe, frame),
            other => {
                let job = collector.report.jobs.len();
                let done = recorded::step(&mut collector.gpu, other);
                done.map_err(|fault| Error::fault(job, *offset, fault))?;
            }
        }
    }
    Ok(collector.finish())
}

/// A count with its noun.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl Collector<'_> {
    fn finish(mut self) -> Report {
        let jobs = self.report.jobs.len();
        if jobs > MAX_JOBS {
            self.report.jobs.truncate(MAX_JOBS);
            self.report.left_out.push(format!("{} jobs", jobs - MAX_JOBS));
        }
        let pictures = self.report.pictures.left_out;
        if pictures > 0 {
            self.report.left_out.push(format!("{pictures} pictures"));
        }
        self.report
    }

    fn job(&mut self, offset: u64, pipe: Pipe, frame: &[u32]) {
        self.gpu.notes = Notes::default();
        let mut job = Job {
            number: self.report.jobs.len(),
            offset,
            summary: String::new(),
            fault: None,
            notes: Vec::new(),
            kind: Kind::Gp(Gp::default()),
            programs: Vec::new(),
            places: Places::default(),
            left_out: Vec::new(),
        };
        let done = match pipe {
            Pipe::Gp => self.geometry(frame, &mut job),
            Pipe::Pp => self.pixels(frame, &mut job),
        };
        job.fault = done.err().map(|fault| fault.to_string());
        job.notes.extend(self.gpu.notes.iter().map(str::to_owned));
        if self.gpu.notes.lost() > 0 {
            job.left_out.push(format!("{} notes", self.gpu.notes.lost()));
        }
        places(&self.gpu.memory, &mut job);
        self.report.jobs.push(job);
    }

    fn geometry(&mut self, frame: &[u32], job: &mut Job) -> Result<()> {
        let mut gp = Gp::default();
        match dump::streams(&self.gpu.memory, frame) {
            Ok(streams) => {
                let streams = streams.into_iter();
                gp.streams = streams
                    .map(|stream| geometry::stream(stream, &mut job.left_out))
                    .collect();
            }
            Err(fault) => job.notes.push(format!("the streams cannot be described: {fault}")),
        }
        let draws = dump::draws(&self.gpu.memory, frame).unwrap_or_else(|fault| {
            job.notes.push(format!("the draws cannot be described: {fault}"));
            Vec::new()
        });
        let done = self.gpu.run_gp(frame);
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
        let stats = done?;
        job.summary = format!(
            "{}, {} vertices, {} triangles, {} instructions",
            counted(draws.len(), "draw"),
            stats.vertices,
            stats.primitives,
            stats.instructions
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

    fn pixels(&mut self, words: &[u32], job: &mut Job) -> Result<()> {
        let mut pp = Pp {
            frame: dump::job(&self.gpu.memory, Pipe::Pp, words).unwrap_or_default(),
            ..Pp::default()
        };
        let frame = match Frame::parse(words) {
            Ok(frame) => frame,
            Err(fault) => {
                job.kind = Kind::Pp(Box::new(pp));
                return Err(fault.of(emulator::fault::Job::Pp));
            }
        };
        if u64::from(frame.width) * u64::from(frame.height) > 1 << 24 {
            job.kind = Kind::Pp(Box::new(pp));
            return Err(Fault::new(
                FaultKind::Limit,
                "a picture of more than 4096 x 4096 pixels",
            ));
        }
        pp.size = [frame.width, frame.height];
        let under = recorded::picture(&self.gpu.memory, &frame)
            .ok()
            .flatten()
            .map(|under| under.rgba);
        let painter = Painter::new(&frame, self.options.pixels, true);
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
        pp.histories = pixels::histories(&seen, &inside(self.options.pixels, pp.size), |of| job_of(made, of));
        if seen.missing > 0 {
            job.left_out
                .push(format!("{} fragments of chosen pixels", seen.missing));
        }
        let draws = pp.draws.len();
        job.kind = Kind::Pp(Box::new(pp));
        let stats = done?;
        job.summary = format!(
            "{} x {} pixels, {}, {} tiles, {} fragments, {} instructions",
            frame.width,
            frame.height,
            counted(draws, "draw"),
            stats.tiles,
            stats.fragments,
            stats.instructions
        );
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
                    "{} fragments, {} instructions, {} tiles",
                    seen.fragments,
                    seen.instructions,
                    seen.tiles()
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
