//! `skrymir replay`: recorded jobs of a Mali-400 driver on the emulator, and register traces on the device.

use super::json;
use super::observe::EngineArgs;
use crate::cli::error::{Error, Result, Within};
use crate::cli::expect::ExpectArgs;
use crate::cli::log::Progress;
use crate::cli::outcome::{Failure, Outcome, apart};
use crate::cli::picture::{save, to_json};
use clap::Args;
use emulator::dump;
use loader::trace::Trace;
use runner::replay::{JobStats, Replay, replay_with};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Arguments of `replay`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  skrymir replay job.trace -o out.png --stats
  skrymir replay job.trace --dump | less
  skrymir replay registers.trace --dump | less
  skrymir replay job.trace --expect good.png")]
pub(crate) struct ReplayArgs {
    /// The recording
    pub file: PathBuf,
    /// Output file for the last picture
    #[arg(short, long, value_parser = crate::cli::picture::name())]
    pub output: Option<PathBuf>,
    /// The expected last picture
    #[command(flatten)]
    pub expected: ExpectArgs,
    /// How programs run, and what is printed about them
    #[command(flatten)]
    pub running: EngineArgs,
    /// Print every job's streams, states, descriptors and code; of a register trace every access
    #[arg(long)]
    pub dump: bool,
    /// Print a summary of every job
    #[arg(long)]
    pub stats: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Outcome {
    let json = args.running.is_json();
    apart(json, args.output.as_deref())?;
    let bytes = crate::cli::outcome::read(&args.file)?;
    if board::trace::is_trace(&bytes) {
        return registers(args, json, &bytes).map_err(|failure| failure.in_file(&args.file));
    }
    let trace = Trace::read(&bytes).map_err(|error| Failure::from(error).in_file(&args.file))?;
    let (engine, threads, watching) = args.running.start()?.take();
    let (mut number, mut dumped) = (0, Vec::new());
    let mut progress = Progress::new("jobs", inspect::recorded::jobs(&trace) as u64);
    let dump = |memory: &_, pipe, frame: &[u32]| -> Result<()> {
        progress.step();
        if args.dump && json {
            dumped.push(json::job(memory, number, pipe, frame)?);
        } else if args.dump {
            let text = format!("job {number}:\n{}\n", dump::job(memory, pipe, frame)?);
            crate::cli::outcome::print(&text).map_err(|failure| Error::input(format_args!("{failure}")))?;
        }
        number += 1;
        Ok(())
    };
    let done = replay_with(&trace, engine, threads, dump);
    let observed = args.running.finish(watching.as_ref(), &[])?;
    let done = done.map_err(|error| Failure::Bad(error).in_file(&args.file))?;
    let wanted = args.output.is_some() || args.expected.is_given();
    let picture = wanted.then(|| done.picture());
    if json {
        let mut all = document(args, &done, dumped, observed);
        if let Some(Ok(picture)) = &picture {
            let size = [picture.width, picture.height];
            all.insert("picture".into(), to_json(args.output.as_deref(), size, 0));
        }
        crate::cli::outcome::print_json(&all.into())?;
    } else {
        if args.stats {
            crate::cli::outcome::print(&stats(&done))?;
        }
        for note in done.gpu.notes.iter() {
            crate::cli::log::note(format_args!("note: {note}"));
        }
    }
    let Some(picture) = picture else {
        return match args.stats || args.dump || json || args.running.has_output() {
            true => Ok(()),
            false => Err(Failure::usage("say where the picture goes: -o PICTURE.png")),
        };
    };
    let picture = picture.map_err(|error| Failure::Bad(error.into()).in_file(&args.file))?;
    if let Some(output) = &args.output {
        save(&picture, output)?;
    }
    args.expected.hold(&picture, args.output.as_deref())
}

/// Replays a register trace of a device on a bus, and compares registers, interrupts and memory with the recorded ones.
fn registers(args: &ReplayArgs, json: bool, bytes: &[u8]) -> Outcome {
    let pictures = args.output.is_some() || args.expected.is_given();
    if pictures || args.stats || args.running.has_output() {
        return Err(Failure::usage(
            "a register trace takes --dump and --json; pictures, statistics and programs need a recording of jobs",
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to() as u64;
        loader::Error::invalid(board::trace::FORMAT, "not UTF-8", offset)
    })?;
    let trace = board::trace::Trace::read(text)?;
    if args.dump && !json {
        for (line, event) in &trace.events {
            crate::cli::outcome::print(&format!("{line:6} {}\n", trace.describe(event)))?;
        }
    }
    let (engine, threads) = args.running.unobserved()?;
    let mut options = board::Options::new(engine);
    options.threads = threads;
    let played = trace.play(options).within(|| "cannot replay the trace".to_owned())?;
    if json {
        let dumped = args.dump.then(|| json::events(&trace));
        crate::cli::outcome::print_json(&json::played(&played, dumped))?;
        return played.map(drop).map_err(Failure::bad);
    }
    let played = played.map_err(Failure::bad)?;
    crate::cli::outcome::print(&format!(
        "as recorded: {} accesses, {} changes of interrupt lines, {} bytes that jobs wrote\n",
        played.accesses, played.changes, played.bytes
    ))
}

/// The requested output, or the statistics, as one JSON document.
fn document(args: &ReplayArgs, done: &Replay, dumped: Vec<Value>, observed: Map<String, Value>) -> Map<String, Value> {
    let mut all = Map::new();
    if args.stats || !args.dump && !args.running.prints() {
        let engine = done.gpu.engine();
        all.insert("engine".into(), engine.name().into());
        all.insert("engine_report".into(), engine.report().into());
        all.insert("jobs".into(), json::stats(done));
    }
    if args.dump {
        all.insert("dump".into(), dumped.into());
    }
    all.extend(observed);
    let notes: Vec<String> = done.gpu.notes.iter().map(|note| note.to_string()).collect();
    all.insert("notes".into(), notes.into());
    all
}

/// A line for every job, and the engine's report.
fn stats(done: &Replay) -> String {
    let line = |(number, job): (usize, &JobStats)| match job {
        JobStats::Gp(stats, time) => format!(
            "job {number}: GP, {} vertices, {} triangles, {} instructions, {time:.1?}\n",
            stats.vertices, stats.primitives, stats.instructions
        ),
        JobStats::Pp(stats, time) => {
            let (tiles, quads, fragments, ran) = (stats.tiles, stats.quads, stats.fragments, stats.instructions);
            format!(
                "job {number}: PP, {tiles} tiles, {quads} quads, {fragments} fragments, {ran} instructions, {time:.1?}\n"
            )
        }
    };
    let engine = done.gpu.engine();
    let report = engine
        .report()
        .map(|report| format!("engine {}: {report}\n", engine.name()));
    done.jobs.iter().enumerate().map(line).chain(report).collect()
}
