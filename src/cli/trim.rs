//! `skrymir trim`: the smallest part of a recording that replays to the same picture.

use super::diff::trace;
use super::engine::{EngineName, plain};
use crate::cli::error::{Error, Result};
use crate::cli::log::{Progress, note};
use crate::cli::outcome::{Failure, Outcome, print_json, read, write};
use clap::Args;
use inspect::shrink::Shrunk;
use inspect::trim::{Trimmed, Untouched, trim};
use loader::trace::Trace;
use runner::replay::replay_with;
use scene::picture::Picture;
use serde_json::json;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

/// Arguments of `trim`.
#[derive(Args, Debug)]
#[command(after_help = "\
What earlier jobs made becomes contents of memory; a geometry job whose polygon lists a pixel job paints comes along
with it. The trimmed recording is replayed before it is written, and has to give the same picture.

With --shrink jobs, draws and single primitives are left out, by halves first, as long as the pixel stays wrong.

Examples: skrymir trim job.trace --jobs 3..5 -o small.trace
          skrymir trim job.trace --shrink --pixel 31,40 -o small.trace
          skrymir trim job.trace --shrink --pixel 31,40 --expect good.png -o small.trace")]
pub(crate) struct TrimArgs {
    /// The recording
    pub file: PathBuf,
    /// Jobs to keep, numbered from 0, including the last: 3..5, 3.., ..5 or 3 [default: all]
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_jobs)]
    pub jobs: Option<Jobs>,
    /// Output file for the trimmed recording
    #[arg(short, long)]
    pub output: PathBuf,
    /// The engine that runs the jobs
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
    /// Remove jobs, draws and primitives as long as --pixel of the last picture stays wrong
    #[arg(long, requires = "pixel", conflicts_with = "jobs")]
    pub shrink: bool,
    /// The wrong pixel; without --expect or --against it keeps its colour
    #[arg(long, value_name = "X,Y", value_parser = super::observe::parse_pixel, requires = "shrink")]
    pub pixel: Option<(u32, u32)>,
    /// The pixel is wrong if it differs from this colour (RRGGBB or RRGGBBAA), or from this picture (PNG)
    #[arg(long, value_name = "COLOUR|PNG", requires = "shrink", conflicts_with = "against")]
    pub expect: Option<String>,
    /// The pixel is wrong if this engine's colour differs from that of --engine
    #[arg(long, value_name = "ENGINE", requires = "shrink")]
    pub against: Option<EngineName>,
    /// Print JSON (`skrymir schema trim`)
    #[arg(long)]
    pub json: bool,
    /// Maximum number of recordings to try
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "shrink")]
    pub tries: usize,
}

/// Some jobs or frames of a recording, the last one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Jobs {
    first: usize,
    last: Option<usize>,
}

impl Jobs {
    /// The range in a recording of `count`.
    pub(super) fn of(&self, count: usize) -> Range<usize> {
        let end = self.last.map_or(count, |last| count.min(last.saturating_add(1)));
        self.first.min(end)..end
    }
}

fn parse_jobs(text: &str) -> Result<Jobs, String> {
    parse(text, "job")
}

/// Parses numbers of frames.
pub(super) fn parse_frames(text: &str) -> Result<Jobs, String> {
    parse(text, "frame")
}

fn parse(text: &str, what: &str) -> Result<Jobs, String> {
    let wrong = || format!("{what}s are FIRST..LAST, such as 3..5");
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let jobs = match text.split_once("..") {
        None => {
            let one = number(text)?;
            Jobs {
                first: one,
                last: Some(one),
            }
        }
        Some((first, last)) => Jobs {
            first: if first.is_empty() { 0 } else { number(first)? },
            last: if last.is_empty() { None } else { Some(number(last)?) },
        },
    };
    match jobs.last.is_some_and(|last| last < jobs.first) {
        true => Err(format!("the last {what} comes before the first")),
        false => Ok(jobs),
    }
}

pub(super) fn run(args: &TrimArgs) -> Outcome {
    args.engine.of_jobs()?;
    let bytes = read(&args.file)?;
    let trace = trace(&args.file, &bytes)?;
    if let Some(pixel) = args.pixel.filter(|_| args.shrink) {
        return shrunk(args, &trace, pixel);
    }
    let last = inspect::recorded::jobs(&trace).saturating_sub(1);
    let jobs = match &args.jobs {
        Some(jobs) => jobs.first..=jobs.last.unwrap_or(last.max(jobs.first)),
        None => 0..=last,
    };
    let trimmed = smallest(&trace, &jobs, args.engine).map_err(|error| Failure::Bad(error).in_file(&args.file))?;
    written(args, bytes.len(), &trimmed, None)
}

/// Writes the recording and prints its size.
fn written(args: &TrimArgs, before: usize, trimmed: &Trimmed, shrunk: Option<&Shrunk>) -> Outcome {
    write(&args.output, &trimmed.bytes)?;
    let after = trimmed.bytes.len();
    if args.json {
        let counts =
            |[jobs, draws, primitives]: [usize; 3]| json!({ "jobs": jobs, "draws": draws, "primitives": primitives });
        return print_json(&json!({
            "file": args.output, "jobs": trimmed.jobs, "bytes_before": before, "bytes_after": after,
            "shrunk": shrunk.map(|shrunk| json!({
                "before": counts(shrunk.before), "after": counts(shrunk.after), "tried": shrunk.tried,
                "spent": shrunk.spent,
            })),
        }));
    }
    if let Some(shrunk) = shrunk {
        let [before, after] = [shrunk.before, shrunk.after]
            .map(|[jobs, draws, primitives]| format!("{jobs} jobs, {draws} draws, {primitives} primitives"));
        let spent = if shrunk.spent { " (--tries is spent)" } else { "" };
        note(format_args!("{before} to {after} in {} tries{spent}", shrunk.tried));
    }
    let numbers: Vec<String> = trimmed.jobs.iter().map(usize::to_string).collect();
    note(format_args!(
        "{}: jobs {}, {before} bytes to {after}",
        args.output.display(),
        numbers.join(" ")
    ));
    Ok(())
}

/// The smallest recording with the same picture: without untouched objects, if the picture allows it.
fn smallest(trace: &Trace<'_>, jobs: &RangeInclusive<usize>, engine: EngineName) -> Result<Trimmed> {
    let make = || engine.engine().unwrap_or_else(plain);
    let wanted = picture(trace, Some(*jobs.end()), engine)?;
    let mut refused = Error::input("the trimmed recording gives another picture");
    for untouched in [Untouched::Drop, Untouched::Keep] {
        let trimmed = trim(trace, jobs, untouched, make)?;
        match Trace::read(&trimmed.bytes)
            .map_err(Error::from)
            .and_then(|trace| picture(&trace, None, engine))
        {
            Ok(picture) if picture == wanted => return Ok(trimmed),
            Ok(_) => {}
            Err(error) => refused = error.within("the trimmed recording does not replay"),
        }
    }
    Err(refused)
}

/// The picture of a recording's last pixel job, up to a job; none if there is no such job.
fn picture(trace: &Trace<'_>, last: Option<usize>, engine: EngineName) -> Result<Option<Picture>> {
    let upto = inspect::recorded::up_to(trace, last);
    let mut progress = Progress::new("jobs", inspect::recorded::jobs(&upto) as u64);
    let count = |_: &_, _, _: &[u32]| -> Result<()> {
        progress.step();
        Ok(())
    };
    let done = replay_with(&upto, engine.engine().unwrap_or_else(plain), 1, count)?;
    match done.frame {
        Some(_) => Ok(Some(done.picture()?)),
        None => Ok(None),
    }
}

/// When a pixel is wrong.
enum Wrong {
    /// It has this colour.
    Is([u8; 4]),
    /// It has another colour than this.
    IsNot([u8; 4]),
    /// It has another colour than on this engine.
    Differs(EngineName),
}

impl Wrong {
    fn of(args: &TrimArgs, trace: &Trace<'_>, pixel: (u32, u32)) -> Outcome<Self> {
        if let Some(engine) = args.against {
            engine.of_jobs()?;
            return Ok(Self::Differs(engine));
        }
        let Some(expected) = &args.expect else {
            let color = color(trace, pixel, args.engine).map_err(|error| Failure::from(error).in_file(&args.file))?;
            return Ok(Self::Is(color));
        };
        match parse_color(expected) {
            Some(color) => Ok(Self::IsNot(color)),
            None => Ok(Self::IsNot(at(&Picture::load(expected.as_ref())?, pixel)?)),
        }
    }

    fn holds(&self, trace: &Trace<'_>, pixel: (u32, u32), engine: EngineName) -> bool {
        // A recording that faults or has no picture has no wrong pixel.
        let Ok(have) = color(trace, pixel, engine) else {
            return false;
        };
        match self {
            Self::Is(color) => have == *color,
            Self::IsNot(color) => have != *color,
            Self::Differs(other) => color(trace, pixel, *other).is_ok_and(|other| other != have),
        }
    }
}

/// A colour as `RRGGBB` or `RRGGBBAA`.
fn parse_color(text: &str) -> Option<[u8; 4]> {
    let digits = text.trim_start_matches('#');
    let number = u32::from_str_radix(digits, 16).ok()?;
    match digits.len() {
        6 => Some((number << 8 | 0xff).to_be_bytes()),
        8 => Some(number.to_be_bytes()),
        _ => None,
    }
}

fn at(picture: &Picture, (x, y): (u32, u32)) -> Result<[u8; 4]> {
    match x < picture.width && y < picture.height {
        true => Ok(picture.at(x, y)),
        false => Err(Error::usage(format_args!(
            "--pixel {x},{y} is outside of {} x {} pixels",
            picture.width, picture.height
        ))),
    }
}

/// The pixel's colour in the last picture.
fn color(trace: &Trace<'_>, pixel: (u32, u32), engine: EngineName) -> Result<[u8; 4]> {
    let picture = picture(trace, None, engine)?;
    at(
        &picture.ok_or_else(|| Error::input("no pixel job was recorded"))?,
        pixel,
    )
}

/// The smallest recording in which the pixel is wrong.
fn shrunk(args: &TrimArgs, trace: &Trace<'_>, pixel: (u32, u32)) -> Outcome {
    let bad = |error: Error| Failure::from(error).in_file(&args.file);
    let wrong = Wrong::of(args, trace, pixel)?;
    let mut progress = Progress::new("tries", args.tries as u64);
    let holds = |trace: &Trace<'_>| {
        progress.step();
        wrong.holds(trace, pixel, args.engine)
    };
    let shrunk = inspect::shrink::shrink(trace, args.tries, holds).map_err(|error| bad(error.into()))?;
    let least = Trace::read(&shrunk.bytes)?;
    let last = inspect::recorded::jobs(&least).saturating_sub(1);
    let trimmed = smallest(&least, &(0..=last), args.engine).map_err(bad)?;
    written(args, trace.write().len(), &trimmed, Some(&shrunk))
}
