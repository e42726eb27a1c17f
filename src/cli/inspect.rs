//! `skrymir inspect`: a recording as an HTML page.

use super::observe::parse_pixel;
use super::trim::{Jobs, parse_frames};
use crate::cli::error::Error;
#[cfg(not(target_family = "wasm"))]
use crate::cli::error::Within;
use crate::cli::log::{Progress, note};
use crate::cli::outcome::{Failure, Outcome, apart, print_json};
use clap::Args;
#[cfg(not(target_family = "wasm"))]
use inspect::report::Session;
use inspect::report::{Options, Outline};
#[cfg(not(target_family = "wasm"))]
use inspect::serve::{Recording, Server};
use loader::trace::Trace;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::PathBuf;

/// Draws that are shown in full without `--frames`.
const DRAWS: usize = 200;

/// Arguments of `inspect`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir inspect job.trace -o report.html --pixel 31,40
  skrymir inspect game.trace -o report.html --frames 120..124
  skrymir inspect job.trace --serve")]
pub(crate) struct InspectArgs {
    /// The recording
    pub file: PathBuf,
    /// Output file (HTML), self-contained
    #[arg(short, long, required_unless_present_any = ["serve", "json"], conflicts_with = "serve")]
    pub output: Option<PathBuf>,
    /// Serve the page on this machine only, and print its address; the served page shows every frame, and the history of
    /// any pixel
    #[arg(long)]
    pub serve: bool,
    /// Frames with all draws, numbered from 0, including the last: 3..5, 3.., ..5, .. or 3; the others are in outline
    /// [default: the last ones, up to 200 draws]
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_frames, conflicts_with = "serve")]
    pub frames: Option<Jobs>,
    /// Add the history of a pixel: every fragment drawn there, and its outcome
    #[arg(long, value_name = "X,Y", value_parser = parse_pixel)]
    pub pixel: Vec<(u32, u32)>,
    /// Print frames, jobs and resources as JSON (`skrymir schema inspect`)
    #[arg(long, conflicts_with = "serve")]
    pub json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &InspectArgs) -> Outcome {
    apart(args.json, args.output.as_deref())?;
    let of_page = [("--frames", args.frames.is_some()), ("--pixel", !args.pixel.is_empty())];
    if let Some((flag, _)) = of_page.iter().find(|(_, given)| *given)
        && args.output.is_none()
        && !args.serve
    {
        return Err(Failure::usage(format_args!("{flag} is the page's: name it with -o")));
    }
    let bytes = crate::cli::outcome::read(&args.file)?;
    let in_file = |error: Error| Failure::from(error).in_file(&args.file);
    let trace = Trace::read(&bytes).map_err(|error| in_file(error.into()))?;
    let name = args.file.file_name().unwrap_or(args.file.as_os_str()).to_string_lossy();
    let mut pixels: Vec<[u32; 2]> = args.pixel.iter().map(|(x, y)| [*x, *y]).collect();
    pixels.sort_unstable();
    pixels.dedup();
    let options = Options {
        name: &name,
        pixels: &pixels,
    };
    if args.serve {
        return serve(&trace, options);
    }
    let outline = inspect::report::outline(&trace, &options).map_err(|error| in_file(error.into()))?;
    if args.json {
        print_json(&document(args, &outline.outline))?;
    }
    let Some(output) = &args.output else {
        return faults(&outline.outline, "").map_err(|failure| failure.in_file(&args.file));
    };
    is_pixel(&outline.outline, &pixels)?;
    let frames = frames(args, &outline.outline)?;
    let mut progress = Progress::new("jobs", outline.outline.jobs_of(frames.clone()).len() as u64);
    let report = inspect::report::collect_frames(&trace, &options, outline, frames, &mut || progress.step());
    let report = report.map_err(|error| in_file(error.into()))?;
    crate::cli::outcome::write(output, inspect::report::page(&report, false))?;
    faults(&report.outline, "; the page shows it").map_err(|failure| failure.in_file(&args.file))
}

/// The outline as JSON.
fn document(args: &InspectArgs, outline: &Outline) -> Value {
    let frame = |frame: &inspect::report::Frame| {
        let jobs = &frame.jobs;
        json!({ "first_job": jobs.start, "last_job": jobs.end.saturating_sub(1), "draws": frame.draws, "picture": frame.shows })
    };
    let job = |job: &inspect::report::Brief| {
        let queue = if job.size.is_some() { "pp" } else { "gp" };
        json!({
            "job": job.number, "offset": job.offset, "queue": queue, "size": job.size, "draws": job.draws,
            "summary": job.summary, "fault": job.fault,
        })
    };
    let resource = |resource: &inspect::report::Resource| {
        let users = resource.users.iter();
        let users = users.map(|user| json!({ "job": user.job, "draw": user.draw, "role": user.role }));
        json!({
            "kind": resource.kind.name(), "name": resource.name, "address": resource.address,
            "bytes": resource.bytes, "users": users.collect::<Vec<_>>(),
        })
    };
    let [jobs, resources] = outline.left_out;
    json!({
        "output": args.output.as_ref().map(|output| output.to_string_lossy()),
        "frames": outline.frames.iter().map(frame).collect::<Vec<_>>(),
        "jobs": outline.jobs.iter().map(job).collect::<Vec<_>>(),
        "resources": outline.resources.iter().map(resource).collect::<Vec<_>>(),
        "left_out": { "jobs": jobs, "resources": resources },
    })
}

/// The frames that are shown in full.
fn frames(args: &InspectArgs, outline: &Outline) -> Outcome<Range<usize>> {
    let count = outline.frames.len();
    if let Some(frames) = &args.frames {
        let wanted = frames.of(count);
        return match wanted.is_empty() && count > 0 {
            true => Err(Failure::usage(format_args!(
                "--frames: the recording has frames 0..{}",
                count - 1
            ))),
            false => Ok(wanted),
        };
    }
    let mut draws = 0;
    let mut fits = |frame: &&inspect::report::Frame| {
        draws += frame.draws;
        draws <= DRAWS
    };
    let last = outline
        .frames
        .iter()
        .rev()
        .take_while(&mut fits)
        .count()
        .max(1)
        .min(count);
    if last < count {
        note(format_args!(
            "frames 0..{} of {count} are in outline; --frames shows others, --serve all",
            count - last - 1
        ));
    }
    Ok(count - last..count)
}

/// WebAssembly has no sockets.
#[cfg(target_family = "wasm")]
fn serve(_trace: &Trace<'_>, _options: Options<'_>) -> Outcome {
    Err(Failure::usage("--serve: WebAssembly has no sockets"))
}

/// Serves until the process ends.
#[cfg(not(target_family = "wasm"))]
fn serve<'a>(trace: &'a Trace<'a>, options: Options<'a>) -> Outcome {
    let pixels = options.pixels;
    let session = Session::new(trace, options).map_err(Error::from)?;
    is_pixel(&session.outline().outline, pixels)?;
    let site = Recording::new(session);
    let server = Server::start().within(|| "cannot serve the page")?;
    crate::cli::outcome::print(&format!("{}\n", server.url()))?;
    Ok(server.serve(&site).within(|| "cannot serve the page")?)
}

/// Some job has each pixel.
fn is_pixel(outline: &Outline, pixels: &[[u32; 2]]) -> Outcome {
    let is_there = |[x, y]: [u32; 2]| {
        outline
            .jobs
            .iter()
            .filter_map(|job| job.size)
            .any(|size| x < size[0] && y < size[1])
    };
    match pixels.iter().find(|pixel| !is_there(**pixel)) {
        Some([x, y]) => Err(Failure::usage(format_args!("--pixel {x},{y}: no job has such a pixel"))),
        None => Ok(()),
    }
}

/// Reports the first fault, and where the others are; JSON has all of them, too.
fn faults(outline: &Outline, others: &str) -> Outcome {
    let jobs = outline.jobs.iter();
    let mut faults = jobs.filter_map(|job| Some((job, job.fault.as_ref()?)));
    match faults.next() {
        Some((job, fault)) => Err(Failure::bad(format_args!(
            "trace: job {} (at offset {:#x}): {fault}{others}",
            job.number, job.offset
        ))),
        None => Ok(()),
    }
}
