//! `skrymir gles`: OpenGL ES 2 programs on the emulator, with the unmodified driver of Mesa.

use super::replay::{EngineName, default_threads};
use super::{Failure, Outcome};
use crate::gles::{self, Driver, Machine, Record, Show};
use anyhow::{Context, anyhow};
use clap::Args;
use emulator::gpu::memory::Memory;
use shim::{Event, Hardware, Options, Watch};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

/// Arguments of `gles`.
#[derive(Args, Debug)]
pub struct GlesArgs {
    /// The program, for 64-bit ARM or this machine, and its arguments
    #[arg(required = true, last = true)]
    pub program: Vec<OsString>,
    /// The program is a C file: compile it first, for 64-bit ARM
    #[arg(long)]
    pub compile: bool,
    /// Root folder of ARM programs [default: Debian's packages, fetched once]
    #[arg(long, value_name = "FOLDER")]
    pub root: Option<PathBuf>,
    /// Write every device's jobs into this folder, for `replay`
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
    /// Write the picture of every pixel job into this folder
    #[arg(long, value_name = "FOLDER")]
    pub dump_frames: Option<PathBuf>,
    /// Print what every job did and how long it took, and sums at the end
    #[arg(long)]
    pub stats: bool,
    /// Print every job's streams, states, descriptors and code before it runs
    #[arg(long)]
    pub dump: bool,
    /// Pixel processors of the GPU
    #[arg(long, value_name = "N", env = "SKRYMIR_PPS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub pps: u32,
    /// The GPU is a Mali-450
    #[arg(long, env = "SKRYMIR_MALI450", value_parser = clap::builder::FalseyValueParser::new())]
    pub mali450: bool,
    /// What runs the programs
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineName,
    /// Threads that paint tiles [default: as many as the machine has]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

/// Both of what may watch.
struct Both(Show, Option<Record>);

impl Watch for Both {
    fn event(&mut self, memory: &Memory, event: &Event<'_>) {
        if let Some(record) = &mut self.1 {
            record.event(memory, event);
        }
        self.0.event(memory, event);
    }
}

/// Runs the command; the exit code is the program's.
pub fn run(args: &GlesArgs) -> Outcome {
    if !args.mali450 && args.pps > 4 {
        return Err(Failure::Trouble(anyhow!("a Mali-400 has at most 4 pixel processors")));
    }
    for folder in [&args.record, &args.dump_frames].into_iter().flatten() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut program = args.program.clone();
    let (driver, built) = if args.compile {
        let driver = Driver::prepare_with(Machine::Arm64, args.root.as_deref())?;
        let built = std::env::temp_dir().join(format!("skrymir-gles-program-{}", std::process::id()));
        driver.compile(Path::new(&program[0]), &built)?;
        program[0] = built.clone().into();
        (driver, Some(built))
    } else {
        program[0] = find(&program[0])?.into();
        let machine = Machine::of(Path::new(&program[0]))?;
        (Driver::prepare_with(machine, args.root.as_deref())?, None)
    };
    let status = gles::run(&driver, options(args), &program);
    if let Some(built) = built {
        let _ = std::fs::remove_file(built);
    }
    match status?.into_raw() {
        0 => Ok(()),
        raw => {
            let signal = raw & 0x7f;
            std::process::exit(if signal == 0 { raw >> 8 & 0xff } else { 128 + signal })
        }
    }
}

/// A program by its path, or by its name as the shell finds it.
fn find(program: &OsString) -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(program);
    if path.components().count() > 1 || path.is_file() {
        return Ok(std::path::absolute(path)?);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(&path))
        .find(|path| path.is_file());
    found.with_context(|| format!("no program {}", path.display()))
}

fn options(args: &GlesArgs) -> Options {
    let engine = args.engine;
    let mut options = Options::new(move || engine.engine());
    options.threads = args.threads.unwrap_or_else(default_threads);
    options.pps = args.pps;
    if args.mali450 {
        options.hardware = Hardware::Mali450;
    }
    let (record, frames) = (args.record.clone(), args.dump_frames.clone());
    let (stats, dump) = (args.stats, args.dump);
    let (gpu, pps) = (1 + u32::from(args.mali450), args.pps);
    options.watcher = Box::new(move |device| {
        let path = record
            .as_ref()
            .map(|folder| folder.join(format!("device{device}.trace")));
        let record = path.and_then(|path| {
            let record = Record::create(&path, gpu, pps);
            record.map_err(|error| eprintln!("skrymir: {error:#}")).ok()
        });
        let mut show = Show::new(device);
        (show.stats, show.dump, show.frames) = (stats, dump, frames.clone());
        Box::new(Both(show, record))
    });
    options
}
