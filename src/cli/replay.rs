//! `skrymir replay`: recorded jobs of a Mali-400 driver on the emulator.

use super::observe::EngineArgs;
use crate::error::{Error, Result};
use crate::outcome::{Failure, Outcome};
use crate::replay::{JobStats, Replay, replay_with};
use clap::Args;
use emulator::dump;
use loader::trace::Trace;
use std::path::PathBuf;

/// Arguments of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The recording
    pub file: PathBuf,
    /// Where to write the last picture
    #[arg(short, long)]
    pub output: Option<PathBuf>,
    /// How programs are run and what is told of it
    #[command(flatten)]
    pub running: EngineArgs,
    /// Print every job's streams, states, descriptors and code
    #[arg(long)]
    pub dump: bool,
    /// Print what every job did
    #[arg(long)]
    pub stats: bool,
}

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Outcome {
    let bytes = crate::outcome::read(&args.file)?;
    let trace = Trace::read(&bytes)?;
    let (engine, threads, watching) = args.running.start()?.take();
    let mut number = 0;
    let dump = |memory: &_, pipe, frame: &[u32]| -> Result<()> {
        if args.dump {
            let text = format!("job {number}:\n{}\n", dump::job(memory, pipe, frame)?);
            crate::outcome::print(&text).map_err(|failure| Error::input(format_args!("{failure}")))?;
            number += 1;
        }
        Ok(())
    };
    let done = replay_with(&trace, engine, threads, dump);
    args.running.finish(watching.as_ref())?;
    let done = done.map_err(Failure::Bad)?;
    if args.stats {
        crate::outcome::print(&stats(&done))?;
    }
    for note in done.gpu.notes.iter() {
        crate::say::say(format_args!("note: {note}"));
    }
    let picture = done.picture().map_err(Failure::Bad)?;
    match &args.output {
        Some(output) => picture.save(output)?,
        None if !args.stats && !args.dump && !args.running.tells() => {
            return Err(Failure::usage("say where the picture goes: -o PICTURE.png"));
        }
        None => {}
    }
    Ok(())
}

/// A line for every job, and what the engine has to tell.
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
