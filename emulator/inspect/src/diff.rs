//! Finds where two recordings diverge: the first differing job, draw and field, the first pixel with a different
//! colour, and the instruction at which its fragments diverge.
//!
//! Addresses are followed but not compared: two runs of a driver may allocate different ones.

mod describe;
mod watch;

use crate::error::Result;
use crate::recorded::{self, Done, Pixels};
use describe::{Item, Value, describe};
use emulator::exec::Engine;
use emulator::gpu::Gpu;
use loader::trace::{Pipe, Record, Trace};
use serde_json::{Value as Json, json};
use std::fmt;

/// The first difference between two recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Number of the job.
    pub job: usize,
    /// Number of the draw in it.
    pub draw: Option<usize>,
    /// Its name in the hardware's tables.
    pub name: String,
    /// Both values.
    pub values: [String; 2],
}

/// The first differing pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelParting {
    /// The pixel job that painted it.
    pub job: usize,
    /// Column and row.
    pub at: (u32, u32),
    /// Both values.
    pub values: [[u8; 4]; 2],
    /// Number of differing pixels in the picture.
    pub differing: u64,
    /// Where its fragments diverge, if they do in a program.
    pub step: Option<StepParting>,
}

/// The first step at which the fragments of a pixel diverge.
#[derive(Clone, Debug, PartialEq)]
pub struct StepParting {
    /// Index of the fragment at the pixel, in drawing order.
    pub fragment: usize,
    /// Address of the instruction in both programs; `None` if there is none.
    pub addresses: [Option<u32>; 2],
    /// Its text in both programs.
    pub texts: [String; 2],
    /// The differing part.
    pub name: String,
    /// Both values.
    pub values: [String; 2],
}

/// The result of comparing two recordings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Number of compared jobs.
    pub jobs: usize,
    /// The first difference in the jobs.
    pub first: Option<Parting>,
    /// The first differing pixel.
    pub pixel: Option<PixelParting>,
}

impl Difference {
    /// Whether the recordings are equal.
    pub fn same(&self) -> bool {
        self.first.is_none() && self.pixel.is_none()
    }
}

/// One of the recordings while it runs.
struct Side<'a> {
    trace: &'a Trace<'a>,
    gpu: Gpu,
    at: usize,
    job: usize,
}

impl<'a> Side<'a> {
    fn new(trace: &'a Trace<'a>, engine: Box<dyn Engine>) -> Self {
        Self {
            trace,
            gpu: Gpu::new(engine),
            at: 0,
            job: 0,
        }
    }

    /// Runs up to the next job and returns it.
    fn next(&mut self) -> Result<Option<(Pipe, &'a [u32])>> {
        while let Some((offset, record)) = self.trace.records.get(self.at) {
            if let Record::Submit { pipe, frame, .. } = record {
                return Ok(Some((*pipe, frame)));
            }
            recorded::step(&mut self.gpu, record)
                .map_err(|fault| crate::error::Error::fault(self.job, *offset, fault))?;
            self.at += 1;
        }
        Ok(None)
    }

    /// Runs that job; returns its picture, or the error.
    fn run(&mut self) -> std::result::Result<Option<Pixels>, String> {
        let done = self
            .trace
            .records
            .get(self.at)
            .map(|(_, record)| recorded::step(&mut self.gpu, record));
        (self.at, self.job) = (self.at + 1, self.job + 1);
        match done {
            Some(Ok(Some(Done::Pp(_, frame)))) => {
                recorded::picture(&self.gpu.memory, &frame).map_err(|fault| fault.to_string())
            }
            Some(Err(fault)) => Err(fault.to_string()),
            _ => Ok(None),
        }
    }
}

/// Compares two recordings job by job, up to the first differing pixel.
///
/// # Errors
/// An invalid record; a job that faults in only one of them is a difference.
pub fn diff(a: &Trace<'_>, b: &Trace<'_>, engine: impl Fn() -> Box<dyn Engine>) -> Result<Difference> {
    let mut sides = [Side::new(a, engine()), Side::new(b, engine())];
    let mut found = Difference::default();
    loop {
        let [left, right] = &mut sides;
        let (job, jobs) = (left.job, [left.next()?, right.next()?]);
        let [Some(one), Some(other)] = jobs else {
            if jobs[0].is_some() || jobs[1].is_some() {
                let values = jobs.map(|job| job.map_or("none", |(pipe, _)| queue(pipe)).to_owned());
                found.first.get_or_insert(parting(job, None, "job", values));
            }
            return Ok(found);
        };
        found.jobs += 1;
        if one.0 != other.0 {
            let values = [one, other].map(|(pipe, _)| queue(pipe).to_owned());
            found.first.get_or_insert(parting(job, None, "queue", values));
            return Ok(found);
        }
        if found.first.is_none() {
            let described =
                [(left, one), (right, other)].map(|(side, (pipe, frame))| describe(&side.gpu.memory, pipe, frame));
            found.first = part(job, &described);
        }
        let [left, right] = &mut sides;
        match [left.run(), right.run()] {
            [Ok(Some(one)), Ok(Some(other))] => {
                found.pixel = pixel(job, &one, &other);
                if let Some(pixel) = &mut found.pixel {
                    pixel.step = watch::parting([a, b], job, pixel.at, &engine)?;
                    return Ok(found);
                }
            }
            [Ok(_), Ok(_)] => {}
            results => {
                let values = results.map(|result| result.err().unwrap_or_else(|| "runs to its end".to_owned()));
                if values[0] != values[1] {
                    found.first.get_or_insert(parting(job, None, "result", values));
                }
                return Ok(found);
            }
        }
    }
}

fn queue(pipe: Pipe) -> &'static str {
    match pipe {
        Pipe::Gp => "geometry",
        Pipe::Pp => "pixels",
    }
}

fn parting(job: usize, draw: Option<usize>, name: &str, values: [String; 2]) -> Parting {
    Parting {
        job,
        draw,
        name: name.to_owned(),
        values,
    }
}

/// The first differing item of two jobs.
fn part(job: usize, [a, b]: &[Vec<Item>; 2]) -> Option<Parting> {
    for at in 0..a.len().max(b.len()) {
        let (one, other) = match (a.get(at), b.get(at)) {
            (Some(one), Some(other)) if one == other => continue,
            pair => pair,
        };
        let draw = one.or(other).and_then(|item| item.draw);
        return Some(match (one, other) {
            (Some(one), Some(other)) if (one.draw, &one.name) == (other.draw, &other.name) => {
                let (more, values) = Value::part(&one.value, &other.value);
                parting(job, draw, &format!("{}{more}", one.name), values)
            }
            // An item is missing in one of them: both names are more useful than a value.
            (one, other) => {
                let name = |item: Option<&Item>| item.map_or("nothing".to_owned(), |item| format!("has {}", item.name));
                parting(job, draw, "the next item", [name(one), name(other)])
            }
        });
    }
    None
}

fn pixel(job: usize, a: &Pixels, b: &Pixels) -> Option<PixelParting> {
    if (a.width, a.height) != (b.width, b.height) {
        return None;
    }
    let pixels = a
        .rgba
        .as_chunks::<4>()
        .0
        .iter()
        .zip(b.rgba.as_chunks::<4>().0)
        .enumerate();
    let mut differing = pixels.filter(|(_, (one, other))| one != other);
    let (at, (one, other)) = differing.next()?;
    Some(PixelParting {
        job,
        at: (at as u32 % a.width, at as u32 / a.width),
        values: [*one, *other],
        differing: 1 + differing.count() as u64,
        step: None,
    })
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.same() {
            return writeln!(f, "same: {} jobs", self.jobs);
        }
        if let Some(first) = &self.first {
            let draw = first.draw.map_or(String::new(), |draw| format!(", draw {draw}"));
            let [a, b] = &first.values;
            writeln!(f, "job {}{draw}: {}: {a} | {b}", first.job, first.name)?;
        }
        let Some(pixel) = &self.pixel else {
            return writeln!(f, "the pictures are the same as far as both go");
        };
        let ((x, y), [a, b]) = (pixel.at, pixel.values);
        writeln!(
            f,
            "job {}: pixel {x},{y}: {a:?} | {b:?} (the first of {} that differ)",
            pixel.job, pixel.differing
        )?;
        let Some(step) = &pixel.step else {
            return writeln!(f, "  its fragments are identical; the previous contents differ");
        };
        let [a, b] = &step.values;
        writeln!(f, "  fragment {}: {}: {a} | {b}", step.fragment, step.name)?;
        for (side, text) in ["a", "b"].iter().zip(&step.texts) {
            writeln!(f, "    {side} {text}")?;
        }
        Ok(())
    }
}

impl Difference {
    /// The result as JSON.
    pub fn json(&self) -> Json {
        let first = self
            .first
            .as_ref()
            .map(|first| json!({ "job": first.job, "draw": first.draw, "name": first.name, "values": first.values }));
        let pixel = self.pixel.as_ref().map(|pixel| {
            let step = pixel.step.as_ref().map(|step| {
                json!({
                    "fragment": step.fragment, "addresses": step.addresses, "texts": step.texts, "name": step.name,
                    "values": step.values,
                })
            });
            json!({
                "job": pixel.job, "x": pixel.at.0, "y": pixel.at.1, "values": pixel.values,
                "differing": pixel.differing, "step": step,
            })
        });
        json!({ "same": self.same(), "jobs": self.jobs, "first": first, "pixel": pixel })
    }
}
