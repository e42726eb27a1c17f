//! The emulated Mali-400 beside lavapipe on the same machine: whole frames of 1024x1024 (clear, draw, picture in
//! memory), the same picture from both, alternating, with one thread and with all.
//!
//! `cargo bench --bench emulator` prints for each case the median, the tenth percentile and the best time, the ratios
//! per round, the speed-up of all threads over one, and over as many independent devices with one thread each, which is
//! the machine's limit; then the machine's other limits: memory, and operations alone. Meshes: lavapipe's frames begin
//! with a copy of the vertices, so its figure is a frame without them plus the cost of one more draw. With one thread
//! each runs on one processor, because lavapipe assembles primitives on a thread besides its workers. `-- --threads N`
//! uses N threads, `-- --only ENGINE ROUNDS THREADS CASE` one of our engines alone, for a profiler; `-- --case TEXT`
//! cases whose name contains the text.
#![allow(missing_docs)]

use emulator::driver::{self, Blend, Depth, Draw, Image, Prepared};
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use emulator::memory::Memory;
use emulator::texture::texel::u_order;
use loader::mbs::{Program, Stage};
use loader::vbc::pack::{Names, pack};
use skrymir::harness::{self, Loaded, Settings};
use skrymir::scene::{self, Numbers, Scene, Slot};
use std::time::{Duration, Instant};
use translate::to_spirv;
use utgard::shader;
use utgard::state::{Compare, RenderState, StencilOp};
use utgard::texture::{self, Descriptor, MipFilter, TexelFormat};
use vulkan::{Context, Options};

const SIZE: u32 = 1024;
const ROUNDS: usize = 31;

/// Consecutive frames of each, as in a program.
const TURN: usize = 4;

/// Rounds.
const TURNS: usize = 12;

const VERTEX: &str = include_str!("../examples/mali/triangle.vert.s");

/// The drawn case.
struct Case {
    name: &'static str,
    /// The fragment program, for both.
    mali: String,
    wgsl: String,
    mesh: Mesh,
    /// Filtered texels of the texture, if there is one.
    texture: Option<bool>,
    blend: bool,
    more: More,
}

/// Fragment state. If a case's name mentions lavapipe's substitute, scenes lack the feature.
#[derive(Clone, Copy, PartialEq)]
enum More {
    Nothing,
    Depth,
    /// An alpha test.
    Alpha,
    /// A stencil test that counts; lavapipe only tests.
    Stencil,
    /// lavapipe has one sample.
    Samples,
    /// Between two of six levels.
    Levels,
    /// The texture is read as BGR565; lavapipe's is not.
    Five65,
    /// The texture is six faces of a cube.
    Cube,
}

/// The triangles.
#[derive(Clone, Copy, PartialEq)]
enum Mesh {
    /// The whole picture, repeated, with the vertices' w.
    Screen(u32, [f32; 4]),
    /// Squares of this many pixels, of two triangles each.
    Squares(u32),
    /// As many vertices as squares of four pixels have, all at one point.
    Point,
}

const LEVEL: [f32; 4] = [1.0; 4];

fn plain(name: &'static str, mali: &str, wgsl: &str) -> Case {
    Case {
        name,
        mali: format!(".fragment\n.varying vec4 tint\n{mali}"),
        wgsl: format!("{HEAD}@fragment fn frag(v: Vertex) -> @location(0) vec4<f32> {{ {wgsl} }}"),
        mesh: Mesh::Screen(1, LEVEL),
        texture: None,
        blend: false,
        more: More::Nothing,
    }
}

fn textured(name: &'static str, linear: bool) -> Case {
    Case {
        mali: ".fragment\n.uniform sampler2D picture\n.varying vec4 tint\n\
               load.v ^discard.xy 0.xy, texld 0, mov.v1 $1 ^texture, sync\n\
               load.v $0 0, mul.v0 $2 $1 $0, stop\n"
            .to_owned(),
        wgsl: look("texture_2d", "textureSample(image, filtering, v.tint.xy)"),
        texture: Some(linear),
        ..plain(name, "", "")
    }
}

/// A program that reads a texture of some kind.
fn look(kind: &str, sample: &str) -> String {
    format!(
        "{HEAD}@group(0) @binding(3) var image: {kind}<f32>;
@group(0) @binding(7) var filtering: sampler;
@fragment fn frag(v: Vertex) -> @location(0) vec4<f32> {{ return {sample} * v.tint; }}"
    )
}

/// Two operations of a fragment program.
const STEP: &str = "mul.v0 $1 $0, add.v1 $1 ^v0 ^const0, const0 0.05 0.04 0.03 0.02\n";

/// A fragment program with two operations repeated.
fn steps(count: usize) -> String {
    format!("load.v $0 0, mov.v1 $1 $0\n{}mov.v1 $2 $1, stop\n", STEP.repeat(count))
}

fn cases() -> Vec<Case> {
    let wgsl_step = "c = c * v.tint + vec4<f32>(0.05, 0.04, 0.03, 0.02);\n";
    let wgsl_steps = |count: usize| format!("var c = v.tint;\n{}return c;", wgsl_step.repeat(count));
    let fill = || plain("fill", "load.v $0 0, stop\n", "return v.tint;");
    let with = |name: &'static str, mesh: Mesh| Case { name, mesh, ..fill() };
    let branches = format!(
        "load.v $0 0, mov.v1 $1 $0, branch.gt $0.x $0.y other\n{}branch end\nother:\n{}end:\nmov.v1 $2 $1, stop\n",
        STEP.repeat(25),
        STEP.repeat(25)
    );
    let wgsl_branches = format!(
        "var c = v.tint; if (v.tint.x <= v.tint.y) {{ {0} }} else {{ {0} }} return c;",
        wgsl_step.repeat(25)
    );
    let opaque = format!(
        "{HEAD}@fragment fn frag(v: Vertex) -> @location(0) vec4<f32> {{
if (v.tint.a <= 20.0 / 255.0) {{ discard; }}
return v.tint; }}"
    );
    vec![
        fill(),
        plain("20 operations", &steps(10), &wgsl_steps(10)),
        plain("100 operations, branches", &branches, &wgsl_branches),
        textured("nearest", false),
        textured("bilinear", true),
        Case {
            more: More::Levels,
            wgsl: look("texture_2d", "textureSampleBias(image, filtering, v.tint.xy, 2.625)"),
            ..textured("trilinear", true)
        },
        Case {
            more: More::Five65,
            ..textured("565 bilinear; other 8888", true)
        },
        Case {
            more: More::Cube,
            mali: CUBE.to_owned(),
            wgsl: look("texture_cube", "textureSample(image, filtering, v.tint.xyz)"),
            ..textured("cube", true)
        },
        with("perspective", Mesh::Screen(1, [1.0, 2.0, 1.0, 3.0])),
        Case {
            blend: true,
            ..with("overdraw of 8, blended", Mesh::Screen(8, LEVEL))
        },
        Case {
            more: More::Depth,
            ..with("overdraw of 8, depth", Mesh::Screen(8, LEVEL))
        },
        Case {
            more: More::Stencil,
            blend: true,
            wgsl: opaque.clone(),
            ..with("8, stencil, alpha; other alpha", Mesh::Screen(8, LEVEL))
        },
        Case {
            more: More::Alpha,
            blend: true,
            wgsl: opaque,
            ..with("8, alpha", Mesh::Screen(8, LEVEL))
        },
        Case {
            more: More::Samples,
            ..with("4 samples; other 1", Mesh::Screen(1, LEVEL))
        },
        with("131072 triangles of 8 pixels", Mesh::Squares(4)),
        with("393216 vertices", Mesh::Point),
    ]
}

/// A lookup in a cube map in the direction of the varying.
const CUBE: &str = ".fragment
.uniform samplerCube picture
.varying vec4 tint
load.v ^discard. cube(0), texld.cube 0, mov.v1 $1 ^texture, sync
load.v $0 0, mul.v0 $2 $1 $0, stop
";

const HEAD: &str = "struct Vertex { @builtin(position) position: vec4<f32>, @location(0) tint: vec4<f32> }
@vertex fn vert(@location(0) p: vec4<f32>, @location(1) tint: vec4<f32>) -> Vertex { return Vertex(p * vec4<f32>(1.0, -1.0, 1.0, 1.0), tint); }
";

/// Positions and colours of all vertices.
fn vertices(mesh: Mesh) -> [Vec<[f32; 4]>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    let mut vertex = |x: f32, y: f32, w: f32| {
        let place = [(2.0 * x - 1.0) * w, (1.0 - 2.0 * y) * w, 0.0, w];
        all[0].push(place);
        all[1].push([x, y, 0.5, if w == 1.0 { 0.75 } else { 1.0 }]);
    };
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let numbers = [0, 1, 2, 1, 3, 2];
    match mesh {
        Mesh::Screen(times, w) => {
            for _ in 0..times {
                corners
                    .iter()
                    .zip(numbers)
                    .for_each(|([x, y], number)| vertex(*x, *y, w[number]));
            }
        }
        Mesh::Squares(side) => {
            let count = SIZE / side;
            for (row, column) in (0..count).flat_map(|row| (0..count).map(move |column| (row, column))) {
                for [x, y] in corners {
                    vertex((column as f32 + x) / count as f32, (row as f32 + y) / count as f32, 1.0);
                }
            }
        }
        Mesh::Point => (0..6 * (SIZE / 4) * (SIZE / 4)).for_each(|_| vertex(0.25, 0.5, 1.0)),
    }
    all
}

/// Width, height and texels of a case's texture: of a cube all faces in order.
fn texels(more: More) -> (u32, u32, Vec<u8>) {
    let texel = |at: u32| [(at * 7) as u8, (at * 13) as u8, (at / 256) as u8, 255];
    let (width, height, count) = match more {
        More::Cube => (64, 64, 6 * 64 * 64),
        _ => (256, 256, 65536),
    };
    (width, height, (0..count).flat_map(texel).collect())
}

/// Levels of a texture with several, including the first.
const LEVELS: u32 = 6;

/// Texels of a level: every n-th of the largest level's.
fn level(number: u32) -> (u32, Vec<[u8; 4]>) {
    let (width, _, texels) = texels(More::Levels);
    let side = width >> number;
    let texel = |x: u32, y: u32| {
        let at = 4 * ((y << number) * width + (x << number)) as usize;
        [texels[at], texels[at + 1], texels[at + 2], texels[at + 3]]
    };
    (side, (0..side * side).map(|at| texel(at % side, at / side)).collect())
}

/// Times of one kind of frame.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e3);
    }

    /// Median, tenth percentile and best.
    fn figures(&self) -> [f64; 3] {
        let mut times = self.0.clone();
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or(f64::NAN);
        [at(50), at(90), at(0)]
    }
}

fn engine(name: &str) -> Box<dyn Engine> {
    match name {
        "scalar" => Box::new(Scalar),
        "wide" => Box::<Wide>::default(),
        _ => Box::new(Native::default().patient()),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let behind = |flag: &str, at: usize| {
        let found = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(found + at)
    };
    let number = |flag: &str, at: usize| behind(flag, at).and_then(|text| text.parse::<usize>().ok());
    let all = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    if let Some(name) = behind("--only", 1) {
        let (rounds, threads) = (number("--only", 2).unwrap_or(100), number("--only", 3).unwrap_or(1));
        return alone(name, rounds, threads, number("--only", 4).unwrap_or(0));
    }
    if let Some(threads) = number("--threads", 1) {
        return beside(threads, behind("--case", 1).map_or("", String::as_str));
    }
    // lavapipe's threads are fixed at its start.
    for threads in if all > 1 { vec![1, all] } else { vec![1] } {
        let mut again = std::process::Command::new(std::env::current_exe().expect("runs"));
        again
            .args(["--threads", &threads.to_string()])
            .env("LP_NUM_THREADS", threads.to_string());
        if let Some(case) = behind("--case", 1) {
            again.args(["--case", case]);
        }
        assert!(again.status().expect("runs").success());
    }
}

/// One of our engines alone.
fn alone(name: &str, rounds: usize, threads: usize, only: usize) {
    for (number, case) in cases().iter().enumerate() {
        if only != 0 && number + 1 != only {
            continue;
        }
        let mut job = Job::new(engine(name), case, threads);
        let mut times = Times::default();
        (0..rounds).for_each(|_| times.add(job.run()));
        let [median, _, best] = times.figures();
        println!("{}, {name}: {median:.3} ms, at best {best:.3} ms", case.name);
    }
}

/// Pins this thread, and those that it starts, to one processor.
fn stay() {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
        let mut here = CpuSet::new();
        here.set(sched_getcpu());
        sched_setaffinity(None, &here).expect("a thread may stay where it is");
    }
}

/// Every case, ours and lavapipe's alternating.
fn beside(threads: usize, only: &str) {
    if threads == 1 {
        stay();
    }
    let context = Context::new(&Options::default());
    let device = context
        .as_ref()
        .map_or("no Vulkan device", |context| &context.info().name);
    println!(
        "{threads} threads, {SIZE}x{SIZE} pixels, {}, beside {device}",
        engine("native").name()
    );
    println!(
        "{:30} {:>26} {:>10} {:>26} {:>20}{}",
        "milliseconds",
        "native: median p90 best",
        "wide",
        "other",
        "ratio of medians, p10, best",
        if threads > 1 {
            "; over one thread: medians, best, and of threads apart"
        } else {
            ""
        }
    );
    for case in cases().iter().filter(|case| case.name.contains(only)) {
        let mut jobs = ["native", "wide"].map(|name| Job::new(engine(name), case, threads));
        let mut apart: Vec<Job> = (0..if threads > 1 { threads } else { 0 })
            .map(|_| Job::new(engine("native"), case, 1))
            .collect();
        let mut peer = context.as_ref().ok().map(|context| Peer::new(context, case));
        let [mut native, mut one, mut all, mut wide, mut other, mut ratios] = std::array::from_fn(|_| Times::default());
        for turn in 0..TURNS {
            (0..TURN).for_each(|_| native.add(jobs[0].run()));
            if let [single, ..] = &mut apart[..] {
                (0..TURN).for_each(|_| one.add(single.run()));
                all.add(at_once(&mut apart));
            }
            if turn % 4 == 0 {
                (0..TURN).for_each(|_| wide.add(jobs[1].run()));
            }
            if let Some(peer) = &mut peer {
                (0..TURN).for_each(|_| other.add(peer.time()));
            }
        }
        ratios
            .0
            .extend(other.0.iter().zip(&native.0).map(|(other, native)| other / native));
        let [ours, singles, shared, theirs] = [&native, &one, &all, &other].map(|times| times.figures());
        let three = |[a, b, c]: [f64; 3]| format!("{a:.2} {b:.2} {c:.2}");
        ratios.0.sort_by(f64::total_cmp);
        let p10 = ratios.0.get(ratios.0.len() / 10).copied().unwrap_or(f64::NAN);
        println!(
            "{:30} {:>26} {:>10.2} {:>26} {:>6.2} {p10:.2} {:.2}{}{}",
            case.name,
            three(ours),
            wide.figures()[0],
            three(theirs),
            theirs[0] / ours[0],
            theirs[2] / ours[2],
            apart.first().map_or(String::new(), |_| format!(
                "; {:.2} {:.2}, {:.2} {:.2}",
                singles[0] / ours[0],
                singles[2] / ours[2],
                singles[0] / shared[0],
                singles[2] / shared[2]
            )),
            // Pictures that are sampled differently differ.
            peer.filter(|_| case.more != More::Five65)
                .map_or(String::new(), |mut peer| peer.difference(&mut jobs[0]))
        );
    }
    small_jobs(threads);
    new_texture(threads);
    roof();
}

/// Time of a frame on several devices in parallel, with one thread each.
fn at_once(jobs: &mut [Job]) -> Duration {
    let begin = std::sync::Barrier::new(jobs.len());
    let frames = |job: &mut Job| {
        begin.wait();
        let start = Instant::now();
        for _ in 0..TURN {
            job.run();
        }
        TURN as f64 / start.elapsed().as_secs_f64()
    };
    let rate: f64 = std::thread::scope(|scope| {
        let threads: Vec<_> = jobs.iter_mut().map(|job| scope.spawn(|| frames(job))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it runs")).sum()
    });
    Duration::from_secs_f64(1.0 / rate)
}

/// Frames with a texture of as many texels as pixels, which changes in each frame, or does not.
fn new_texture(threads: usize) {
    let case = textured("", false);
    let image = Image {
        width: SIZE,
        height: SIZE,
        rgba: vec![200; 4 * (SIZE * SIZE) as usize],
        linear: false,
        repeat: true,
    };
    let mut job = Job::with(engine("native"), &case, threads, Some(image));
    let memory = &job.gpu.memory;
    let words = memory.words(job.state(), RenderState::WORDS as u32).unwrap();
    let descriptor = memory.word(RenderState::from_words(&words).textures).unwrap();
    let texels = emulator::texture::Descriptor::parse(&memory.words(descriptor, 16).unwrap()).levels[0];
    let [mut same, mut other] = [Times::default(), Times::default()];
    for round in 0..ROUNDS {
        same.add(job.run());
        job.gpu.memory.write(texels, &[round as u8]).unwrap();
        other.add(job.run());
    }
    let [same, other] = [same, other].map(|times| times.figures());
    println!(
        "frames of a texture of {SIZE}x{SIZE}: {:.2} ms, at best {:.2}; where it is a new one: {:.2} ms, at best {:.2}",
        same[0], same[2], other[0], other[2]
    );
}

/// The machine's limits on one thread: the time to write a picture's bytes, and to copy them.
fn roof() {
    let (mut picture, mut copy) = (vec![0u32; (SIZE * SIZE) as usize], vec![0u32; (SIZE * SIZE) as usize]);
    let mut best = [f64::INFINITY; 2];
    for round in 0..101 {
        let start = Instant::now();
        std::hint::black_box(&mut picture).fill(round);
        let filled = start.elapsed();
        std::hint::black_box(&mut copy).copy_from_slice(std::hint::black_box(&picture));
        let all = start.elapsed();
        for (best, time) in best.iter_mut().zip([filled, all - filled]) {
            *best = best.min(time.as_secs_f64() * 1e3);
        }
    }
    println!(
        "roof of one thread: {:.2} ms to write a picture, {:.2} ms to copy it",
        best[0], best[1]
    );
    println!(
        "20 operations of every pixel on one thread, with nothing around them: {:.2} ms",
        operations()
    );
}

/// Cost of 20 more operations in a long program, at best: a lower bound for any frame.
fn operations() -> f64 {
    let best = |count: usize| {
        let mut job = Job::new(engine("native"), &plain("", &steps(count), ""), 1);
        let mut times = Times::default();
        (0..ROUNDS).for_each(|_| times.add(job.run()));
        times.figures()[2]
    };
    (best(30) - best(10)) / 2.0
}

/// Jobs of one pixel, and the first job of a new program, of one tile.
fn small_jobs(threads: usize) {
    const COUNT: u32 = 500;
    let [vertex, fragment, long] = [
        (VERTEX, Stage::Vertex),
        (&*cases()[0].mali, Stage::Fragment),
        (&*cases()[1].mali, Stage::Fragment),
    ]
    .map(|(text, stage)| assemble(text, stage));
    let names = ["native", "wide"];
    let mut times = names.map(|_| Times::default());
    // Alternating, each equally often first: the second one finds the other's data in the cache.
    for round in 0..4 * ROUNDS {
        for number in [round % 2, 1 - round % 2] {
            let mut gpu = Gpu::new(engine(names[number])).with_threads(threads);
            let prepared = driver::prepare(&mut gpu, &draw([&vertex, &long], 16, Mesh::Screen(1, LEVEL))).unwrap();
            let start = Instant::now();
            prepared.submit(&mut gpu).unwrap();
            times[number].add(start.elapsed() * 1000);
        }
    }
    for (name, times) in names.iter().zip(times) {
        let [median, _, best] = times.figures();
        println!("first job of a tile, {name}: {median:.1} us, at best {best:.1}");
    }
    for name in names {
        let mut gpu = Gpu::new(engine(name)).with_threads(threads);
        let prepared = driver::prepare(&mut gpu, &draw([&vertex, &fragment], 1, Mesh::Screen(1, LEVEL))).unwrap();
        let start = Instant::now();
        for _ in 0..COUNT {
            prepared.submit(&mut gpu).unwrap();
        }
        println!(
            "1x1 jobs, {name}: {:.0} a second",
            f64::from(COUNT) / start.elapsed().as_secs_f64()
        );
    }
}

/// A draw of a mesh, in a picture of this size in both directions.
fn draw<'a>([vertex, fragment]: [&'a Program; 2], size: u32, mesh: Mesh) -> Draw<'a> {
    let mut draw = Draw::new(vertex, fragment, [size, size]);
    let [positions, colors] = vertices(mesh);
    draw.count = positions.len() as u32;
    draw.attributes = vec![("position".to_owned(), positions), ("color".to_owned(), colors)];
    draw.uniforms = vec![("transform".to_owned(), identity())];
    draw
}

fn assemble(text: &str, stage: Stage) -> Program {
    let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "bench")));
    mbs.program(stage).unwrap().unwrap()
}

fn identity() -> Vec<f32> {
    (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect()
}

/// One of our jobs that can be run repeatedly.
struct Job {
    gpu: Gpu,
    prepared: Prepared,
}

impl Job {
    fn new(engine: Box<dyn Engine>, case: &Case, threads: usize) -> Self {
        let image = case.texture.map(|linear| {
            let (width, height, rgba) = texels(case.more);
            Image {
                width,
                height,
                rgba,
                linear,
                repeat: true,
            }
        });
        let mut job = Self::with(engine, case, threads, image);
        job.change(case.more);
        job
    }

    /// A case as our driver draws it, with a texture.
    fn with(engine: Box<dyn Engine>, case: &Case, threads: usize, image: Option<Image>) -> Self {
        let vertex = assemble(VERTEX, Stage::Vertex);
        let fragment = assemble(&case.mali, Stage::Fragment);
        let mut draw = draw([&vertex, &fragment], SIZE, case.mesh);
        if case.blend {
            draw.blend = Blend::Alpha;
        }
        draw.textures = image.map(|image| ("picture".to_owned(), image)).into_iter().collect();
        if case.more == More::Depth {
            draw.depth = Some(Depth {
                compare: Compare::LessEqual,
                write: true,
            });
        }
        let mut gpu = Gpu::new(engine).with_threads(threads);
        let prepared = driver::prepare(&mut gpu, &draw).unwrap();
        let mut job = Self { gpu, prepared };
        job.run();
        job
    }

    /// Writes state into a draw and its texture's descriptor that the driver does not support.
    fn change(&mut self, more: More) {
        if matches!(more, More::Nothing | More::Depth | More::Cube) {
            return;
        }
        let at = self.state();
        let memory = &mut self.gpu.memory;
        let mut state = RenderState::from_words(&memory.words(at, RenderState::WORDS as u32).unwrap());
        if matches!(more, More::Alpha | More::Stencil) {
            (state.alpha_compare, state.alpha_reference) = (Compare::Greater, 20);
        }
        match more {
            More::Stencil => {
                (state.front_compare, state.back_compare) = (Compare::LessEqual, Compare::LessEqual);
                (state.front_mask, state.back_mask) = (255, 255);
                (state.front_pass, state.back_pass) = (StencilOp::Increment, StencilOp::Increment);
            }
            More::Alpha => {}
            More::Samples => (state.multisample_a, state.multisample_b, state.multisample_c) = (true, true, true),
            _ => {
                let at = memory.word(state.textures).unwrap();
                let mut words = memory.words(at, 16).unwrap();
                let head: Vec<u32> = words[..Descriptor::WORDS].to_vec();
                let mut descriptor = Descriptor::from_words(&head);
                if more == More::Five65 {
                    descriptor.format = TexelFormat::Bgr565;
                } else {
                    // A pixel is a quarter of a texel: two levels and five eighths further on.
                    (descriptor.max_lod, descriptor.lod_bias) = ((LEVELS as u8 - 1) << 4, 42);
                    descriptor.mip_filter = MipFilter::Linear;
                    put_levels(memory, &mut words);
                }
                words[..Descriptor::WORDS].copy_from_slice(&descriptor.to_words());
                put(memory, at, &words);
            }
        }
        put(memory, at, &state.to_words());
    }

    /// Address of the draw's state.
    fn state(&self) -> u32 {
        self.gpu.geometry().expect("a job was run").draws[0].state
    }

    fn run(&mut self) -> Duration {
        let start = Instant::now();
        self.prepared.submit(&mut self.gpu).unwrap();
        start.elapsed()
    }
}

/// Writes the further levels into new memory, tiled, and their addresses into a descriptor.
fn put_levels(memory: &mut Memory, words: &mut [u32]) {
    const ROOM: u32 = 0x7000_0000;
    const PITCH: u32 = 0x2_0000;
    memory.map(ROOM, LEVELS * PITCH).unwrap();
    for number in 1..LEVELS {
        let (side, texels) = level(number);
        let address = ROOM + number * PITCH;
        for (at, texel) in (0..).zip(&texels) {
            let (x, y) = (at % side, at / side);
            let tile = (y / 16) * side.div_ceil(16) + x / 16;
            memory.write(address + 4 * (tile * 256 + u_order(x, y)), texel).unwrap();
        }
        texture::set_level(words, number as usize, address);
    }
}

/// Writes words into memory.
fn put(memory: &mut Memory, at: u32, words: &[u32]) {
    for (at, word) in (at..).step_by(4).zip(words) {
        memory.write(at, &word.to_le_bytes()).unwrap();
    }
}

/// The same picture with Vulkan.
struct Peer {
    loaded: Loaded,
    scene: Scene,
    /// The scene with one degenerate triangle, for a mesh.
    bare: Option<Scene>,
}

impl Peer {
    fn new(context: &Context, case: &Case) -> Self {
        let module = naga::front::wgsl::parse_str(&case.wgsl).unwrap();
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
        let list = |numbers: Vec<f64>| Numbers::Many(numbers.into_iter().map(Numbers::One).collect());
        let [positions, colors] = vertices(case.mesh);
        let mut scene = Scene {
            size: Some([SIZE, SIZE]),
            vertices: Some(positions.len() as u32),
            clear: Some([0.0, 0.0, 0.0, 1.0]),
            blend: case.blend.then_some(scene::Blend::Alpha),
            depth: (case.more == More::Depth).then_some(scene::Depth {
                compare: scene::Compare::LessOrEqual,
                ..scene::Depth::default()
            }),
            ..Scene::default()
        };
        for (name, data) in [("0", positions), ("1", colors)] {
            let numbers = data.into_iter().flatten().map(f64::from).collect();
            scene.inputs.insert(name.to_owned(), list(numbers));
        }
        let loaded = harness::load(context, &bytes, Settings::default()).unwrap();
        if let Some(linear) = case.texture {
            // Texture and sampler are joined in the texture's slot.
            let (width, height, mut rgba) = texels(case.more);
            if case.more == More::Levels {
                rgba.extend((1..LEVELS).flat_map(|number| level(number).1).flatten());
            }
            let slot = Slot {
                texels: Some(list(rgba.into_iter().map(|byte| f64::from(byte) / 255.0).collect())),
                size: Some(vec![width, height]),
                layers: (case.more == More::Cube).then_some(6),
                levels: (case.more == More::Levels).then_some(LEVELS),
                filter: Some(if linear {
                    scene::Filter::Linear
                } else {
                    scene::Filter::Nearest
                }),
                wrap: Some(scene::Wrap::Repeat),
                ..Slot::default()
            };
            scene.slots.insert("3".to_owned(), slot);
        }
        let bare = (!matches!(case.mesh, Mesh::Screen(..))).then(|| {
            let mut bare = scene.clone();
            bare.vertices = Some(3);
            for numbers in ["0", "1"] {
                bare.inputs.insert(numbers.to_owned(), list(vec![1.0; 12]));
            }
            bare
        });
        Self { loaded, scene, bare }
    }

    /// Time of a frame that draws the scene repeatedly.
    fn run(&mut self, draws: u32) -> Duration {
        self.scene.draws = Some(draws);
        self.loaded.draw(&self.scene, &[], None).unwrap().frame.timing.draw
    }

    /// A frame's time; for meshes, without copying the vertices.
    fn time(&mut self) -> Duration {
        /// Draws more than one, so that two frames differ by more than the noise.
        const MORE: u32 = 4;
        let Some(bare) = &self.bare else {
            return self.run(1);
        };
        let bare = self.loaded.draw(bare, &[], None).unwrap().frame.timing.draw;
        let one = self.run(1);
        bare + self.run(1 + MORE).saturating_sub(one) / MORE
    }

    /// Describes the difference of pictures.
    fn difference(&mut self, job: &mut Job) -> String {
        self.scene.draws = Some(1);
        let theirs = self.loaded.draw(&self.scene, &[], None).unwrap().frame.targets[0].to_rgba8();
        let ours = job.prepared.picture(&job.gpu).unwrap().rgba;
        let far = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 4);
        let off = ours.chunks(4).zip(theirs.chunks(4)).filter(|pair| far(*pair)).count();
        if off * 1000 < ours.len() / 4 {
            String::new()
        } else {
            format!(", PICTURES DIFFER in {off} pixels")
        }
    }
}
