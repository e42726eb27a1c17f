//! `skrymir inspect`: a recording as a page to look into.

use super::observe::parse_pixel;
use crate::error::Error;
#[cfg(not(target_family = "wasm"))]
use crate::error::Within;
use crate::outcome::{Failure, Outcome};
use clap::Args;
use inspect::report::{Kind, Options, Report};
#[cfg(not(target_family = "wasm"))]
use inspect::serve::{Recording, Server};
use loader::trace::Trace;
use std::path::PathBuf;

/// Arguments of `inspect`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir inspect job.trace -o report.html --pixel 31,40
  skrymir inspect job.trace --serve")]
pub struct InspectArgs {
    /// The recording
    pub file: PathBuf,
    /// Output file (HTML), self-contained
    #[arg(short, long, required_unless_present = "serve", conflicts_with = "serve")]
    pub output: Option<PathBuf>,
    /// Serve the page on this machine only, and print its address; the served page shows the history of any pixel
    #[arg(long)]
    pub serve: bool,
    /// Add the history of a pixel: every fragment drawn there, and its outcome
    #[arg(long, value_name = "X,Y", value_parser = parse_pixel)]
    pub pixel: Vec<(u32, u32)>,
}

/// Runs the command.
pub fn run(args: &InspectArgs) -> Outcome {
    let bytes = crate::outcome::read(&args.file)?;
    let trace = Trace::read(&bytes)?;
    let name = args.file.file_name().unwrap_or(args.file.as_os_str()).to_string_lossy();
    let mut pixels: Vec<[u32; 2]> = args.pixel.iter().map(|(x, y)| [*x, *y]).collect();
    pixels.sort_unstable();
    pixels.dedup();
    let options = Options {
        name: &name,
        pixels: &pixels,
    };
    let report = inspect::report::collect(&trace, &options).map_err(Error::from)?;
    if let Some([x, y]) = pixels.iter().find(|pixel| !is_in_a_picture(&report, **pixel)) {
        return Err(Failure::usage(format_args!("--pixel {x},{y}: no job has such a pixel")));
    }
    let Some(output) = &args.output else {
        return serve(&trace, &report);
    };
    crate::outcome::write(output, inspect::report::page(&report, false))?;
    faults(&report)
}

/// Not where there are no sockets.
#[cfg(target_family = "wasm")]
fn serve(_trace: &Trace<'_>, _report: &Report) -> Outcome {
    Err(Failure::usage("--serve: WebAssembly has no sockets"))
}

/// Serves until somebody ends it.
#[cfg(not(target_family = "wasm"))]
fn serve(trace: &Trace<'_>, report: &Report) -> Outcome {
    let server = Server::start().within(|| "cannot serve the page")?;
    crate::outcome::print(&format!("{}\n", server.url()))?;
    let page = inspect::report::page(report, true);
    Ok(server
        .serve(&Recording { trace, report, page })
        .within(|| "cannot serve the page")?)
}

fn is_in_a_picture(report: &Report, [x, y]: [u32; 2]) -> bool {
    report.jobs.iter().any(|job| match &job.kind {
        Kind::Pp(pp) => x < pp.size[0] && y < pp.size[1],
        Kind::Gp(_) => false,
    })
}

/// The page shows faults where they happened; whoever asked is told too.
fn faults(report: &Report) -> Outcome {
    let mut faults = report.jobs.iter().filter_map(|job| Some((job, job.fault.as_ref()?)));
    match faults.next() {
        Some((job, fault)) => Err(Failure::bad(format_args!(
            "trace: job {} (at offset {:#x}): {fault}; the page shows it",
            job.number, job.offset
        ))),
        None => Ok(()),
    }
}
