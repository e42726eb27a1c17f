//! Observation of Mali-400 programs, for `replay` and `draw`.

use super::engine::{EngineName, SiliconArgs, default_threads};
use crate::cli::error::Within;
use crate::cli::outcome::{Failure, Outcome};
use clap::Args;
use emulator::exec::Engine;
use emulator::exec::configured::without_fast_paths;
use emulator::exec::observed::{Observed, Sink, Stage, Tell, Text};
use emulator::silicon::Silicon;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Arguments that observe every instruction, which needs the scalar engine on one thread.
const WATCHING: [&str; 4] = ["trace", "watch_pixel", "profile", "lcov"];

/// How programs run, and what is printed about them.
#[derive(Args, Debug)]
pub(crate) struct EngineArgs {
    /// The engine that runs the programs; observation always uses the scalar engine, on one thread
    #[arg(long, value_enum, default_value_t, conflicts_with_all = WATCHING)]
    engine: EngineName,
    /// Threads that shade tiles [default: one per processor]
    #[arg(long, value_name = "N", conflicts_with_all = WATCHING)]
    threads: Option<usize>,
    /// Draw every primitive on the general path, without fast paths; pictures are the same, and a difference is a bug
    /// of one of them
    #[arg(long, conflicts_with_all = WATCHING)]
    no_fast_paths: bool,
    /// Hypotheses about hardware
    #[command(flatten)]
    silicon: SiliconArgs,
    /// Write every instruction of every vertex and fragment with its operands and results (`-` for standard output)
    #[arg(long, value_name = "FILE", conflicts_with = "watch_pixel")]
    trace: Option<PathBuf>,
    /// Print the complete history of a pixel of the picture
    #[arg(long, value_name = "X,Y", value_parser = parse_pixel)]
    watch_pixel: Option<(u32, u32)>,
    /// Print how often each instruction ran, and the minimum of cycles
    #[arg(long)]
    profile: bool,
    /// Write the executed instructions as LCOV info, with the programs' texts beside it
    #[arg(long, value_name = "FILE")]
    lcov: Option<PathBuf>,
    /// Print the results as one JSON document (`skrymir schema replay`, `skrymir schema draw`)
    #[arg(long, conflicts_with = "trace")]
    json: bool,
}

/// A pixel as `X,Y`.
pub(super) fn parse_pixel(text: &str) -> Result<(u32, u32), String> {
    let wrong = || "a pixel is X,Y, such as 12,34".to_owned();
    let (x, y) = text.split_once(',').ok_or_else(wrong)?;
    Ok((
        x.trim().parse().map_err(|_| wrong())?,
        y.trim().parse().map_err(|_| wrong())?,
    ))
}

/// An engine and its observer.
pub(crate) struct Running {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// Threads that shade tiles.
    pub threads: usize,
    watching: Option<Observed>,
}

impl EngineArgs {
    /// Starts the engine of the arguments.
    ///
    /// # Errors
    /// When the trace cannot be written.
    pub(crate) fn start(&self) -> Outcome<Running> {
        let tell = match self.watch_pixel {
            Some((x, y)) => Tell::Pixel(x, y),
            None if self.trace.is_some() => Tell::Everything,
            None => Tell::Nothing,
        };
        if tell == Tell::Nothing && !self.profile && self.lcov.is_none() {
            let (engine, threads) = self.unobserved()?;
            return Ok(Running {
                engine: engine(),
                threads,
                watching: None,
            });
        }
        let sink: Sink = match &self.trace {
            _ if self.json => Box::new(std::io::sink()),
            Some(path) if path != Path::new("-") => {
                let file = std::fs::File::create(path).within(|| format!("cannot write {}", path.display()))?;
                Box::new(std::io::BufWriter::new(file))
            }
            _ => Box::new(std::io::BufWriter::new(std::io::stdout())),
        };
        let watching = Observed::new(tell, sink).with_quirks(self.silicon.silicon());
        // One thread, so that the output is in order.
        Ok(Running {
            engine: Box::new(watching.clone()),
            threads: 1,
            watching: Some(watching),
        })
    }

    /// A factory of engines without observation, and their number of threads.
    ///
    /// # Errors
    /// When the engine runs no jobs.
    pub(crate) fn unobserved(&self) -> Outcome<(impl Fn() -> Box<dyn Engine> + Send + Sync + use<>, usize)> {
        self.engine.of_jobs()?;
        let (name, silicon, is_plain) = (self.engine, self.silicon.clone(), self.no_fast_paths);
        let make = move || -> Box<dyn Engine> {
            let engine = silicon.around(name.engine().unwrap_or_else(super::engine::plain));
            match is_plain {
                true => without_fast_paths(engine),
                false => engine,
            }
        };
        Ok((make, self.threads.unwrap_or_else(default_threads)))
    }

    /// Whether the programs run on Vulkan.
    ///
    /// # Errors
    /// When an argument of the emulator is given too.
    pub(crate) fn is_vulkan(&self) -> Outcome<bool> {
        let vulkan = self.engine == EngineName::Vulkan;
        let emulated = [
            ("--silicon", self.silicon.silicon() != Silicon::default()),
            ("--no-fast-paths", self.no_fast_paths),
        ];
        match emulated.into_iter().find(|(_, given)| vulkan && *given) {
            Some((name, _)) => Err(Failure::usage(format_args!(
                "{name} is the emulator's: it changes nothing on --engine vulkan"
            ))),
            None => Ok(vulkan),
        }
    }

    /// Whether the arguments produce output other than a picture.
    pub(crate) fn has_output(&self) -> bool {
        self.trace.is_some() || self.watch_pixel.is_some() || self.profile || self.lcov.is_some()
    }

    /// The failure of a trace that cannot be written; removes the partial file.
    fn no_trace(&self, error: std::io::Error) -> Failure {
        let Some(path) = self.trace.as_ref().filter(|path| *path != Path::new("-")) else {
            return Failure::usage(format_args!("cannot write standard output: {error}"));
        };
        if path.is_file() {
            let _ = std::fs::remove_file(path);
        }
        Failure::usage(format_args!("cannot write {}: {error}", path.display()))
    }

    /// Whether the output is a JSON document.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether observations are printed.
    pub(crate) fn prints(&self) -> bool {
        self.watch_pixel.is_some() || self.profile
    }

    /// Writes the observations, also after a fault; with `--json` they are returned instead. Source lines are those of
    /// `texts`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn finish(&self, watching: Option<&Observed>, texts: &[(Stage, Text)]) -> Outcome<Map<String, Value>> {
        let Some(watching) = watching else {
            return Ok(Map::new());
        };
        let mut report = match watching.report() {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(Map::new()),
            other => other.map_err(|error| self.no_trace(error))?,
        };
        texts.iter().for_each(|(stage, text)| report.is_of(*stage, text));
        let mut observed = Map::new();
        if self.json {
            observed = super::json::observed(&report, self.profile, self.watch_pixel);
        } else {
            for finding in report.findings() {
                crate::cli::log::note(format_args!("note: {finding}"));
            }
            if self.profile {
                crate::cli::outcome::print(&report.profile())?;
            }
        }
        if let Some(path) = &self.lcov {
            let listing = |name: &str| path.with_extension(format!("{name}.s"));
            for (number, program) in report.programs.iter().enumerate() {
                if program.source.is_none() {
                    crate::cli::outcome::write(&listing(&report.name(number)), program.listing())?;
                }
            }
            crate::cli::outcome::write(path, report.lcov(|name| listing(name).display().to_string()))?;
        }
        Ok(observed)
    }
}

impl Running {
    /// The engine and the number of threads, and the observer for [`EngineArgs::finish`].
    pub(crate) fn take(self) -> (Box<dyn Engine>, usize, Option<Observed>) {
        (self.engine, self.threads, self.watching)
    }
}
