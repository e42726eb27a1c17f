//! `skrymir trim`: the least of a recording that replays to the same picture.

use super::diff::trace;
use super::engine::{EngineName, plain};
use crate::error::{Error, Result};
use crate::outcome::{Failure, Outcome, read, write};
use crate::picture::Picture;
use crate::replay::replay;
use clap::Args;
use inspect::trim::{Trimmed, Untouched, trim};
use loader::trace::Trace;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Arguments of `trim`.
#[derive(Args, Debug)]
#[command(after_help = "\
What earlier jobs made becomes contents of memory; a geometry job whose polygon lists a pixel job paints comes along
with it. The trimmed recording is replayed before it is written, and has to give the same picture.

Example: skrymir trim job.trace --jobs 3..5 -o small.trace")]
pub struct TrimArgs {
    /// The recording
    pub file: PathBuf,
    /// Jobs to keep, numbered from 0, the last one included: 3..5, 3.., ..5 or 3 [default: all]
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_jobs)]
    pub jobs: Option<Jobs>,
    /// Where to write the trimmed recording
    #[arg(short, long)]
    pub output: PathBuf,
    /// What runs the jobs
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
}

/// Some jobs of a recording, the last one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jobs {
    first: usize,
    last: Option<usize>,
}

fn parse_jobs(text: &str) -> Result<Jobs, String> {
    let wrong = || "jobs are FIRST..LAST, such as 3..5".to_owned();
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
        true => Err("the last job comes before the first".to_owned()),
        false => Ok(jobs),
    }
}

pub(super) fn run(args: &TrimArgs) -> Outcome {
    args.engine.of_jobs()?;
    let bytes = read(&args.file)?;
    let trace = trace(&args.file, &bytes)?;
    let last = inspect::recorded::jobs(&trace).saturating_sub(1);
    let jobs = match &args.jobs {
        Some(jobs) => jobs.first..=jobs.last.unwrap_or(last.max(jobs.first)),
        None => 0..=last,
    };
    let trimmed = smallest(&trace, &jobs, args.engine).map_err(|error| Failure::Bad(error).in_file(&args.file))?;
    write(&args.output, &trimmed.bytes)?;
    let (before, after) = (bytes.len(), trimmed.bytes.len());
    let numbers: Vec<String> = trimmed.jobs.iter().map(usize::to_string).collect();
    crate::say::say(format_args!(
        "{}: jobs {}, {before} bytes to {after}",
        args.output.display(),
        numbers.join(" ")
    ));
    Ok(())
}

/// The least recording that gives the same picture: without the objects that nothing touches, where that does.
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

/// The picture of a recording's last pixel job, up to a job; nothing where there is none.
fn picture(trace: &Trace<'_>, last: Option<usize>, engine: EngineName) -> Result<Option<Picture>> {
    let upto = inspect::recorded::up_to(trace, last);
    let done = replay(&upto, engine.engine().unwrap_or_else(plain), 1)?;
    match done.frame {
        Some(_) => done.picture().map(Some),
        None => Ok(None),
    }
}
