//! Mutates VBC files and checks that each draw ends in an error or a picture.
//!
//! ```text
//! cargo run --release --example fuzz_vbc -- [--seconds N] [--mutations N] [--seed N] [--keep DIR] FILE...
//! ```
//!
//! Every file is mutated `--mutations` times (or as often as fits into `--seconds` over all files), in its reflection
//! and in its SPIR-V. Child processes draw, with the validation layer if it is installed. A child that panics, a
//! validation message, and a driver that crashes or hangs are findings: the file is kept. The exit code is 1 for a
//! panic or a message; crashed and hung drivers are counted separately.

use clap::Parser;
use loader::vbc::{self, Model, Stage};
use skrymir::harness::{self, Settings};
use skrymir::scene::ErrorKind;
use skrymir::scene::Scene;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use vulkan::{Context, Options, Validation};

#[derive(Parser)]
struct Args {
    /// VBC files to mutate
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Mutations of each file
    #[arg(long, default_value_t = 500)]
    mutations: u64,
    /// Time limit, divided evenly among the files
    #[arg(long)]
    seconds: Option<u64>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for findings
    #[arg(long, default_value = "fuzz-findings")]
    keep: PathBuf,
    /// Draw: used by the parent to start a child at this mutation
    #[arg(long, hide = true)]
    child: Option<u64>,
}

/// Exit code of a child whose device did not finish.
const HUNG: i32 = 70;
/// Exit code of a child that got a validation message.
const MESSAGE: i32 = 71;
/// Longest time of one draw.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Larger files compile for minutes.
const LARGE: usize = 100_000;

fn main() {
    let args = Args::parse();
    if let Some(from) = args.child {
        child(&args, from);
    }
    std::process::exit(parent(&args));
}

/// Results of the children over all files.
#[derive(Default)]
struct Count {
    pictures: u64,
    errors: u64,
    panics: u64,
    messages: u64,
    died: u64,
    hung: u64,
}

fn parent(args: &Args) -> i32 {
    std::fs::create_dir_all(&args.keep).expect("a folder for findings");
    let small = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|meta| (meta.len() as usize) < LARGE);
    let files: Vec<&PathBuf> = args.files.iter().filter(small).collect();
    let end = args
        .seconds
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut total = Count::default();
    for (index, path) in files.iter().enumerate() {
        let share = end.map(|end| {
            let left = end.saturating_duration_since(Instant::now());
            left / (files.len() - index) as u32
        });
        one_file(args, path, share, &mut total);
    }
    let Count {
        pictures,
        errors,
        panics,
        messages,
        died,
        hung,
    } = total;
    println!(
        "{} files, {} mutations: {pictures} pictures, {errors} errors, {panics} panics, {messages} validation messages, \
         {died} dead drivers, {hung} hung drivers",
        files.len(),
        pictures + errors + panics + messages + died + hung
    );
    i32::from(panics + messages > 0)
}

/// Runs children over one file's mutations; after a crash the next child starts at the next mutation.
fn one_file(args: &Args, path: &Path, share: Option<Duration>, total: &mut Count) {
    let end = share.map(|share| Instant::now() + share);
    let mut next = 0;
    while next < args.mutations && end.is_none_or(|end| Instant::now() < end) {
        let left = end.map_or(u64::from(u32::MAX), |end| {
            end.saturating_duration_since(Instant::now()).as_secs().max(1)
        });
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--child", &next.to_string(), "--seed", &args.seed.to_string()])
            .args([
                "--mutations",
                &args.mutations.to_string(),
                "--seconds",
                &left.to_string(),
            ])
            .arg("--keep")
            .arg(&args.keep)
            .arg(path)
            .stdin(Stdio::null())
            .output()
            .expect("a child starts");
        // One letter per mutation: b before it is drawn, then p for a picture or e for an error.
        let said = String::from_utf8_lossy(&output.stdout);
        let done = |letter| said.matches(letter).count() as u64;
        total.pictures += done('p');
        total.errors += done('e');
        next += done('p') + done('e');
        if output.status.success() {
            return;
        }
        let (what, counter) = match output.status.code() {
            Some(HUNG) => ("hung", &mut total.hung),
            Some(MESSAGE) => ("message", &mut total.messages),
            Some(_) => ("panic", &mut total.panics),
            None => ("died", &mut total.died),
        };
        *counter += 1;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let kept = args.keep.join(format!("{what}-{name}-{}-{next}.vbc", args.seed));
        let _ = std::fs::copy(args.keep.join("current.vbc"), &kept);
        println!(
            "{}: {what}, mutation {next}, kept as {}",
            path.display(),
            kept.display()
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        errors
            .lines()
            .take(6)
            .for_each(|line| println!("    {}", line.chars().take(300).collect::<String>()));
        next += 1;
    }
}

fn child(args: &Args, from: u64) -> ! {
    let end = Instant::now() + Duration::from_secs(args.seconds.unwrap_or(u64::from(u32::MAX)));
    let watched = Options {
        validation: Validation::Core,
        timeout: TIMEOUT,
        ..Options::default()
    };
    let context = Context::new(&watched)
        .or_else(|_| {
            Context::new(&Options {
                timeout: TIMEOUT,
                ..Options::default()
            })
        })
        .expect("a Vulkan device; lavapipe will do");
    let bytes = std::fs::read(&args.files[0]).expect("a readable file");
    let model = vbc::read(&bytes).map(|file| file.to_model()).unwrap_or_default();
    let scene = Scene {
        size: Some([16, 16]),
        ..Scene::default()
    };
    for mutation in from..args.mutations {
        if Instant::now() >= end {
            break;
        }
        let damaged = damage(&model, &bytes, args.seed.wrapping_mul(0x1_0000_0001) ^ mutation);
        std::fs::write(args.keep.join("current.vbc"), &damaged).expect("the findings' folder can be written");
        let drawn =
            harness::load(&context, &damaged, Settings::default()).and_then(|file| file.draw(&scene, &[], None));
        let messages = context.messages();
        if !messages.is_empty() {
            eprintln!("{}", messages.join("\n"));
            std::process::exit(MESSAGE);
        }
        say(match drawn {
            Ok(_) => "p",
            Err(error) => match error.kind() {
                ErrorKind::Vulkan(refusal) if matches!(refusal.kind(), vulkan::ErrorKind::Timeout) => {
                    std::process::exit(HUNG)
                }
                _ => "e",
            },
        });
    }
    std::process::exit(0);
}

fn say(letter: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(letter.as_bytes());
    let _ = out.flush();
}

/// Random mutations.
struct Damage(fastrand::Rng);

impl Damage {
    fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n.max(1))
    }

    /// A value near the old one, an edge value, or any value.
    fn byte(&mut self, old: u8) -> u8 {
        match self.below(4) {
            0 => old.wrapping_add(1),
            1 => old.wrapping_sub(1),
            2 => [0, 1, 2, 4, 8, 31, 32, 127, 255][self.below(9)],
            _ => self.0.u8(..),
        }
    }

    fn word(&mut self, old: u32, words: &[u32]) -> u32 {
        match self.below(5) {
            0 => old.wrapping_add(1),
            1 => old ^ 1 << self.below(32),
            2 => words[self.below(words.len())],
            3 => [0, 1, 2, 3, 32, 0xffff, u32::MAX][self.below(7)],
            _ => old.wrapping_sub(1),
        }
    }
}

/// One to three changes of reflection or code; sometimes of the raw bytes.
fn damage(model: &Model, bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Damage(fastrand::Rng::with_seed(seed));
    if random.below(8) == 0 {
        let mut bytes = bytes.to_vec();
        let at = random.below(bytes.len());
        bytes[at] = random.byte(bytes[at]);
        return bytes;
    }
    let mut model = model.clone();
    for _ in 0..1 + random.below(3) {
        if random.below(3) == 0 {
            reflection(&mut model, &mut random)
        } else {
            code(&mut model, &mut random)
        }
    }
    vbc::write(&model).unwrap_or_else(|_| bytes.to_vec())
}

fn reflection(model: &mut Model, random: &mut Damage) {
    match random.below(6) {
        0 if !model.inputs.is_empty() => {
            let at = random.below(model.inputs.len());
            variable(&mut model.inputs[at], random);
        }
        1 if !model.outputs.is_empty() => {
            let at = random.below(model.outputs.len());
            variable(&mut model.outputs[at], random);
        }
        2 if !model.bindings.is_empty() => {
            let at = random.below(model.bindings.len());
            binding(&mut model.bindings[at], random);
        }
        3 => {
            let mut sizes = model.tables.sizes();
            let at = random.below(5);
            sizes[at] = random.word(sizes[at].into(), &[1, 16, 8192]) as u16;
            model.tables = vbc::Tables::from_sizes(sizes);
        }
        4 => {
            if let Some(uniform) = &mut model.uniform {
                uniform.size = random.word(uniform.size, &[4, 16, 1024]) & 0xffff;
                if !uniform.members.is_empty() {
                    let at = random.below(uniform.members.len());
                    uniform.members[at].dims[0] = random.byte(uniform.members[at].dims[0]);
                }
            }
        }
        _ => {
            model.subpass_inputs.pop();
            if !model.bindings.is_empty() && random.below(2) == 0 {
                model.bindings.remove(random.below(model.bindings.len()));
            }
        }
    }
}

fn variable(variable: &mut vbc::Variable, random: &mut Damage) {
    match random.below(4) {
        0 => variable.location = random.byte(variable.location),
        1 => variable.base.0 = random.byte(variable.base.0),
        2 => variable.dims[random.below(2)] = random.byte(variable.dims[0]),
        _ => variable.array = random.byte(variable.array),
    }
}

fn binding(binding: &mut vbc::Binding, random: &mut Damage) {
    match (random.below(4), &mut binding.shape) {
        (0, _) => binding.slot = random.byte(binding.slot),
        (1, _) => binding.base.0 = random.byte(binding.base.0),
        (2, _) => binding.stages.0 = random.byte(binding.stages.0 as u8).into(),
        (_, vbc::Shape::Buffer { size }) => *size = random.word((*size).into(), &[4, 16, 1024]) as u16,
        (
            _,
            vbc::Shape::Texel {
                rank,
                texel,
                size,
                components,
            },
        ) => match random.below(4) {
            0 => rank.0 = random.byte(rank.0),
            1 => texel.0 = random.byte(texel.0),
            2 => *size = random.byte(*size),
            _ => *components = random.byte(*components),
        },
    }
}

fn code(model: &mut Model, random: &mut Damage) {
    let present: Vec<Stage> = Stage::ALL
        .into_iter()
        .filter(|stage| !model.code(*stage).is_empty())
        .collect();
    if present.is_empty() {
        return;
    }
    let words = model.code_mut(present[random.below(present.len())]);
    let places: Vec<(usize, usize)> = loader::spirv::instructions(words)
        .flatten()
        .map(|i| (i.position, i.words.len()))
        .collect();
    if places.is_empty() {
        return;
    }
    let (at, length) = places[random.below(places.len())];
    match random.below(8) {
        0 => drop(words.drain(at..at + length)),
        1 => {
            let copy = words[at..at + length].to_vec();
            words.splice(at..at, copy);
        }
        2 => {
            let (other, other_length) = places[random.below(places.len())];
            let copy = words[other..other + other_length].to_vec();
            words.splice(at..at + length, copy);
        }
        3 => words[at] = (words[at] & 0xffff_0000) | (random.word(words[at] & 0xffff, &[61, 65, 128, 129]) & 0xffff),
        _ => {
            let place = at + 1 + random.below(length.saturating_sub(1).max(1));
            if place < words.len() {
                words[place] = random.word(words[place], words);
            }
        }
    }
}
