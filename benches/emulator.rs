//! The emulated Mali-400 beside lavapipe on the same machine with as many threads: full-screen draws of 1024x1024, a
//! straight-line program of twenty vec4 operations and a textured one; and vertices through a 4x4 transform.
//!
//! `cargo bench --bench emulator`; all run in turn, medians and ratios are printed: of a whole frame (clear, draw,
//! and the picture in memory), and of what the draw adds to a frame without one. With `-- --wide ROUNDS THREADS PROGRAM` only the
//! fast engine runs, so often: to look at it with a profiler.
#![allow(missing_docs)]

use emulator::driver::{self, Draw, Image, Prepared};
use emulator::exec::Engine;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::{Program, Stage};
use loader::vbc::pack::{Names, pack};
use skrymir::harness::{self, Loaded, Settings};
use skrymir::scene::Scene;
use std::path::Path;
use std::time::{Duration, Instant};
use translate::to_spirv;
use utgard::shader;
use vulkan::{Context, Options};

const SIZE: u32 = 1024;
const ROUNDS: usize = 9;

const VERTEX: &str = include_str!("../examples/mali/triangle.vert.s");

/// Ten products, each added to: twenty vec4 operations.
fn straight_mali() -> String {
    let step = "mul.v0 $1 $0, add.v1 $1 ^v0 ^const0, const0 0.05 0.04 0.03 0.02\n";
    format!(
        ".fragment\n.varying vec4 tint\nload.v $0 0, mov.v1 $1 $0\n{}mov.v1 $2 $1, stop\n",
        step.repeat(10)
    )
}

fn textured_mali() -> String {
    ".fragment\n.uniform sampler2D picture\n.varying vec4 tint\n\
     load.v ^discard.xy 0.xy, texld 0, mov.v1 $1 ^texture, sync\n\
     load.v $0 0, mul.v0 $2 $1 $0, stop\n"
        .to_owned()
}

const HEAD: &str = "struct Vertex { @builtin(position) position: vec4<f32>, @location(0) tint: vec4<f32> }
@vertex fn vert(@location(0) p: vec4<f32>, @location(1) tint: vec4<f32>) -> Vertex { return Vertex(p, tint); }
";

fn straight_wgsl() -> String {
    let step = "c = c * v.tint + vec4<f32>(0.05, 0.04, 0.03, 0.02);\n";
    format!(
        "{HEAD}@fragment fn frag(v: Vertex) -> @location(0) vec4<f32> {{ var c = v.tint;\n{}return c; }}",
        step.repeat(10)
    )
}

fn textured_wgsl() -> String {
    format!(
        "{HEAD}@group(0) @binding(3) var image: texture_2d<f32>;
@group(0) @binding(7) var filtering: sampler;
@fragment fn frag(v: Vertex) -> @location(0) vec4<f32> {{ return textureSample(image, filtering, v.tint.xy) * v.tint; }}"
    )
}

/// Only the fast engine, round after round.
fn only_wide(rounds: usize, threads: usize, only: usize) {
    let programs = [("20 vec4 operations", straight_mali()), ("textured", textured_mali())];
    for (number, (name, mali)) in programs.into_iter().enumerate() {
        if only != 0 && number + 1 != only {
            continue;
        }
        let vertex = assemble(VERTEX, Stage::Vertex);
        let fragment = assemble(&mali, Stage::Fragment);
        let draw = full_screen(&vertex, &fragment, true);
        let mut job = Job::new(Box::new(Wide::default()), &draw, threads);
        let mut times: Vec<Duration> = (0..rounds).map(|_| job.run()).collect();
        times.sort_unstable();
        println!("{name}: {:.2?}, at best {:.2?}", times[rounds / 2], times[0]);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--wide") {
        let number = |at: usize, else_: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(else_);
        return only_wide(number(at + 1, 100), number(at + 2, 1), number(at + 3, 0));
    }
    let context = Context::new(&Options::default());
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    println!("{threads} threads, {SIZE}x{SIZE} pixels");
    for (name, mali, wgsl) in [
        ("20 vec4 operations", straight_mali(), straight_wgsl()),
        ("textured", textured_mali(), textured_wgsl()),
    ] {
        let vertex = assemble(VERTEX, Stage::Vertex);
        let fragment = assemble(&mali, Stage::Fragment);
        let mut wide = Times::default();
        let mut scalar = Times::default();
        let mut lavapipe = Times::default();
        let jobs = |engine: fn() -> Box<dyn Engine>| {
            [false, true].map(|drawn| Job::new(engine(), &full_screen(&vertex, &fragment, drawn), threads))
        };
        let mut ours = jobs(|| Box::new(Wide::default()));
        let mut plain = jobs(|| Box::new(Scalar));
        let mut peer = context.as_ref().ok().map(|context| Peer::new(context, &wgsl));
        for round in 0..ROUNDS {
            wide.add(ours.each_mut().map(Job::run));
            if round < 1 {
                scalar.add(plain.each_mut().map(Job::run));
            }
            if let Some(peer) = &mut peer {
                lavapipe.add([0, 1].map(|draws| peer.run(draws)));
            }
        }
        for (what, index) in [("a whole frame", 0), ("the draw alone", 1)] {
            let [wide, scalar, peer] = [&wide, &scalar, &lavapipe].map(|times| times.rate(index));
            let (wide, scalar) = (wide.unwrap_or(0.0), scalar.unwrap_or(0.0));
            let ratio = wide / scalar;
            println!("{name}, {what}: wide {wide:.0} Mpixel/s, scalar {scalar:.1}, wide:scalar {ratio:.1}");
            match peer {
                Some(peer) => {
                    println!(
                        "{name}, {what}: lavapipe {peer:.0} Mpixel/s, wide:lavapipe {:.2}",
                        wide / peer
                    );
                }
                None => println!("{name}: no Vulkan device to compare with"),
            }
        }
    }
    vertices();
}

/// Times of frames with a draw, and of what it adds to those without.
#[derive(Default)]
struct Times([Vec<Duration>; 2]);

impl Times {
    fn add(&mut self, [empty, drawn]: [Duration; 2]) {
        self.0[0].push(drawn);
        self.0[1].push(drawn.saturating_sub(empty));
    }

    /// Million pixels a second by the median.
    fn rate(&self, what: usize) -> Option<f64> {
        let mut times = self.0[what].clone();
        times.sort_unstable();
        let median = times.get(times.len() / 2)?;
        Some(f64::from(SIZE * SIZE) / median.as_secs_f64() / 1e6)
    }
}

fn assemble(text: &str, stage: Stage) -> Program {
    let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "bench")));
    mbs.program(stage).unwrap().unwrap()
}

const CORNERS: [[f32; 4]; 4] = [
    [-1.0, 1.0, 0.0, 1.0],
    [1.0, 1.0, 0.0, 1.0],
    [-1.0, -1.0, 0.0, 1.0],
    [1.0, -1.0, 0.0, 1.0],
];
const TINTS: [[f32; 4]; 4] = [
    [0.0, 0.0, 0.5, 1.0],
    [1.0, 0.0, 0.5, 1.0],
    [0.0, 1.0, 0.5, 1.0],
    [1.0, 1.0, 0.5, 1.0],
];

fn full_screen<'a>(vertex: &'a Program, fragment: &'a Program, drawn: bool) -> Draw<'a> {
    let mut draw = Draw::new(vertex, fragment, [SIZE, SIZE]);
    draw.attributes = vec![
        ("position".to_owned(), CORNERS.to_vec()),
        ("color".to_owned(), TINTS.to_vec()),
    ];
    draw.uniforms = vec![("transform".to_owned(), identity())];
    // Without area nothing is drawn.
    draw.indices = Some(if drawn { vec![0, 1, 2, 1, 3, 2] } else { vec![0, 0, 0] });
    let texel = |at: u32| [(at * 7) as u8, (at * 13) as u8, (at / 256) as u8, 255];
    let image = Image {
        width: 256,
        height: 256,
        rgba: (0..65536).flat_map(texel).collect(),
        linear: true,
        repeat: true,
    };
    if fragment.uniforms.is_some() {
        draw.textures = vec![("picture".to_owned(), image)];
    }
    draw
}

fn identity() -> Vec<f32> {
    (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect()
}

/// A job of ours that can be run again and again.
struct Job {
    gpu: Gpu,
    prepared: Prepared,
}

impl Job {
    fn new(engine: Box<dyn Engine>, draw: &Draw<'_>, threads: usize) -> Self {
        let mut gpu = Gpu::new(engine).with_threads(threads);
        let prepared = driver::prepare(&mut gpu, draw).unwrap();
        Self { gpu, prepared }
    }

    fn run(&mut self) -> Duration {
        let start = Instant::now();
        self.prepared.submit(&mut self.gpu).unwrap();
        start.elapsed()
    }
}

/// The same picture by Vulkan.
struct Peer {
    loaded: Loaded,
    scene: Scene,
}

impl Peer {
    fn new(context: &Context, wgsl: &str) -> Self {
        let module = naga::front::wgsl::parse_str(wgsl).unwrap();
        let stages = [
            (
                loader::vbc::Stage::Vert,
                to_spirv(module.clone(), naga::ShaderStage::Vertex).unwrap(),
            ),
            (
                loader::vbc::Stage::Frag,
                to_spirv(module, naga::ShaderStage::Fragment).unwrap(),
            ),
        ];
        let bytes = loader::vbc::write(&pack(&stages, &Names::default()).unwrap()).unwrap();
        let order = [0, 1, 2, 1, 3, 2];
        let list = |of: &[[f32; 4]; 4]| format!("{:?}", order.map(|at: usize| of[at]));
        let text = format!(
            "size = [{SIZE}, {SIZE}]\nvertices = 6\n[inputs]\n0 = {}\n1 = {}\n",
            list(&CORNERS),
            list(&TINTS)
        );
        let scene = Scene::parse(&text, Path::new("")).unwrap();
        Self {
            loaded: harness::load(context, &bytes, Settings::default()).unwrap(),
            scene,
        }
    }

    fn run(&mut self, draws: u32) -> Duration {
        self.scene.draws = Some(draws);
        self.loaded.draw(&self.scene, &[], None).unwrap().frame.timing.draw
    }
}

/// Vertices through the transform, on one thread.
fn vertices() {
    const COUNT: u32 = 300_000;
    let vertex = assemble(VERTEX, Stage::Vertex);
    let fragment = assemble(".fragment\n.varying vec4 tint\nload.v $0 0, stop\n", Stage::Fragment);
    let mut draw = Draw::new(&vertex, &fragment, [16, 16]);
    let data = |scale: f32| {
        (0..COUNT)
            .map(|at| [(at % 100) as f32 * scale, 0.5, 0.25, 1.0])
            .collect::<Vec<_>>()
    };
    draw.attributes = vec![("position".to_owned(), data(0.01)), ("color".to_owned(), data(0.005))];
    draw.uniforms = vec![("transform".to_owned(), identity())];
    // All vertices are run, none are drawn.
    draw.indices = None;
    (draw.mode, draw.count) = (4, COUNT);
    for engine in [Box::new(Wide::default()) as Box<dyn Engine>, Box::new(Scalar)] {
        let name = engine.name();
        let mut gpu = Gpu::new(engine);
        let prepared = driver::prepare(&mut gpu, &draw).unwrap();
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                prepared.run_vertices(&mut gpu).unwrap();
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        let rate = f64::from(COUNT) / times[ROUNDS / 2].as_secs_f64() / 1e6;
        println!("vertices, {name}: {rate:.1} million a second on one core");
    }
}
