//! Recorded frames of real programs, replayed: jobs per second with fast paths and without, on one thread.
//!
//! `cargo bench --bench recordings` reads every recording of `../shared/corpus/mali` in place if it is present; `--
//! PATH...`
//! reads others, `.trace` files or folders of them, such as those of `skrymir gles --record FOLDER`. Of each recording
//! the last geometry job and the last pixel job run alternating, with the caches left by the jobs before them. Both
//! modes also alternate, so that other load affects both; their pictures must be equal.
#![allow(missing_docs)]

use emulator::exec::Engine;
use emulator::exec::configured::without_fast_paths;
use emulator::exec::native::Native;
use emulator::gpu::{Gpu, TileOp, TileOps};
use inspect::recorded;
use loader::trace::{Pipe, Record, Trace};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for each mode of a recording.
const TIME: Duration = Duration::from_millis(60);

/// Rounds of that time.
const TURNS: u32 = 6;

/// A recording that has run once, and its last jobs.
struct Recording {
    gpu: Gpu,
    jobs: Vec<(Pipe, Vec<u32>)>,
}

impl Recording {
    fn new(trace: &Trace<'_>, engine: Box<dyn Engine>) -> Result<Self, String> {
        let mut gpu = Gpu::new(engine);
        let (mut gp, mut pp) = (None, None);
        for (offset, record) in &trace.records {
            recorded::step(&mut gpu, record).map_err(|fault| format!("offset {offset:#x}: {fault}"))?;
            if let Record::Submit { pipe, frame, .. } = record {
                match pipe {
                    Pipe::Gp => gp = Some((*pipe, frame.clone())),
                    Pipe::Pp => pp = Some((*pipe, frame.clone())),
                }
            }
        }
        let jobs = gp.into_iter().chain(pp).collect();
        Ok(Self { gpu, jobs })
    }

    /// Runs the jobs for some time; returns how often, and the exact time.
    fn run(&mut self, time: Duration) -> Result<(u32, Duration), String> {
        let (start, mut rounds) = (Instant::now(), 0);
        while start.elapsed() < time {
            for (pipe, frame) in &self.jobs {
                let done = match pipe {
                    Pipe::Gp => self.gpu.run_gp(frame).map(drop),
                    Pipe::Pp => self.gpu.run_pp(frame).map(drop),
                };
                done.map_err(|fault| fault.to_string())?;
            }
            rounds += 1;
        }
        Ok((rounds, start.elapsed()))
    }

    fn is_same(&self, other: &Self) -> bool {
        self.gpu.memory.objects().eq(other.gpu.memory.objects())
    }
}

/// Jobs a second with fast paths and without.
fn measure(path: &Path) -> Result<([f64; 2], TileOps), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let trace = Trace::read(&bytes).map_err(|error| error.to_string())?;
    let fast = Recording::new(&trace, Box::<Native>::default())?;
    let mut ways = [
        fast,
        Recording::new(&trace, without_fast_paths(Box::<Native>::default()))?,
    ];
    let (mut rounds, mut times) = ([0; 2], [Duration::ZERO; 2]);
    for _ in 0..TURNS {
        for (at, way) in ways.iter_mut().enumerate() {
            let (count, time) = way.run(TIME / TURNS)?;
            rounds[at] += count;
            times[at] += time;
        }
    }
    if !ways[0].is_same(&ways[1]) {
        return Err("the pictures differ".to_owned());
    }
    let jobs = ways[0].jobs.len() as f64;
    let rates = [0, 1].map(|at| jobs * f64::from(rounds[at]) / times[at].as_secs_f64());
    Ok((rates, ways[0].gpu.tile_ops()))
}

/// All recordings in a file or folder.
fn recordings(path: &Path, into: &mut Vec<PathBuf>) {
    if let Ok(folder) = std::fs::read_dir(path) {
        let mut inside: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
        inside.sort();
        inside.iter().for_each(|path| recordings(path, into));
    } else if path.extension().is_some_and(|ext| ext == "trace") {
        into.push(path.to_owned());
    }
}

fn main() {
    let given = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let mut folders: Vec<PathBuf> = given.map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/mali"));
    }
    let mut all = Vec::new();
    folders.iter().for_each(|folder| recordings(folder, &mut all));
    if all.is_empty() {
        println!("no recordings; give files or folders of `skrymir gles --record FOLDER`");
        return;
    }
    println!("{:>10} {:>10} {:>6}  recording", "fast", "general", "ratio");
    let (mut logs, mut count, mut ops, mut failed) = ([0.0; 2], 0.0, [0; TileOp::ALL.len()], false);
    for path in &all {
        let of_folder = path.file_stem().is_some_and(|stem| stem == "device0");
        let name = if of_folder { path.parent().unwrap_or(path) } else { path };
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        match measure(path) {
            Ok((rates, drawn)) => {
                println!(
                    "{:>10.0} {:>10.0} {:>6.2}  {name}",
                    rates[0],
                    rates[1],
                    rates[0] / rates[1]
                );
                (0..2).for_each(|at| logs[at] += rates[at].ln());
                TileOp::ALL.iter().for_each(|op| ops[*op as usize] += drawn.count(*op));
                count += 1.0;
            }
            Err(error) => {
                failed = true;
                println!("{name}: {error}");
            }
        }
    }
    let mean = logs.map(|log| (log / count).exp());
    println!(
        "{:>10.0} {:>10.0} {:>6.2}  jobs a second, mean of {count}",
        mean[0],
        mean[1],
        mean[0] / mean[1]
    );
    for op in TileOp::ALL {
        println!("{:>10}  {op:?}", ops[op as usize]);
    }
    if failed {
        std::process::exit(1);
    }
}
