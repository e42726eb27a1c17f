//! Meshes of small triangles, which machine code shades many at a time: pictures and counts equal those of the scalar
//! engine, which processes one primitive at a time.

use emulator::driver::{self, Blend, Depth, Draw, Image};
use emulator::exec::batched::{BatchedQuads, QuadBatcher};
use emulator::exec::inputs::{Inputs, ManyInputs};
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::exec::{Delegate, Engine, FragmentContext, FragmentKernel, Fragments, Quads};
use emulator::gpu::Gpu;
use emulator::gpu::PixelStats;
use fastrand::Rng;
use loader::mbs::{Program, Stage};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use utgard::shader;
use utgard::state::{Compare, RenderState, StencilOp};

const SIZE: u32 = 96;
const TRIANGLES: u32 = 1500;

/// Size of a mesh's triangles in a picture of size two.
const SMALL: [f32; 3] = [0.04, 0.1, 0.25];

/// Fragment programs with branches: a description and the instructions.
const BRANCHES: [(&str, &str); 4] = [
    (
        "one of two",
        "load.v $0 0, branch.gt $0.x $0.y other\nmul.v0 $0 $0 $0, branch end\nother:\nadd.v1 $0 $0 $0, mul.v0 $0 $0 $0\n\
         end:\nmov.v1 $0 $0, stop",
    ),
    (
        "four ways, and one that leaves nothing",
        "load.v $0 0, branch.gt $0.x $0.y first\nmul.v0 $0 $0 $0, add.v1 $0 ^v0 $0\nfirst:\nbranch.le $0.z $0.x keep\ndiscard\n\
         keep:\nbranch.eq $0.w $0.w last\nmul.v0 $0 $0 $0\nlast:\nmov.v1 $0 $0, stop",
    ),
    (
        "nothing below a half",
        "load.v $0 0, mul.v0 $1 $0 ^const0, const0 0.5 0.5 0.5 0.5\nbranch.ge $0.y $1.x keep\ndiscard\nkeep:\n\
         mov.v1 $0 $0, stop",
    ),
    (
        "a loop",
        "load.v $0 0, mov.sat.v1 $0 $0\nmul.sat.v0 $1 $0 $0\nagain:\n\
         add.v1 $1 $1 ^const0, const0 0.25 0.0 0.0 0.0, branch.lt $1.x $0.y again\nmov.v1 $0 $1, stop",
    ),
];

const VERTEX: &str = include_str!("../../../examples/mali/triangle.vert.s");

/// A texture lookup.
const TEXTURE: &str = "load.v ^discard.xy 0.xy, texld 0, mov.v1 $1 ^texture, sync\nload.v $0 0, mul.v0 $0 $1 $0, stop";

/// Fragment programs: a description, the instructions, and the range of their vertex values.
const FRAGMENTS: [(&str, &str, f32); 6] = [
    ("a varying", "load.v $0 0, stop", 1.0),
    (
        "a sum",
        "load.v $0 0, mul.v0 $0 $0, add.v1 $0 ^v0 ^const0, const0 0.25 0.5 0.125 0.0, stop",
        1.0,
    ),
    (
        "the place",
        "load.v $0 gl_FragCoord, mul.v0 $0 $0 ^const0, const0 0.01 0.01 0.9 0.7, stop",
        1.0,
    ),
    (
        "derivatives",
        "load.v $0 0\ndFdx.v1 $1 -$0 $0, sync\nadd.v1 $0 $0 $1, stop",
        1.0,
    ),
    ("a texture", TEXTURE, 1.0),
    ("a texture at places far away", TEXTURE, 60_000.0),
];

/// Fragment states.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Replace,
    Blend,
    DepthLess,
    DepthAndBlend,
    Stencil,
    Alpha,
    AlphaAlone,
    AlphaAndDepth,
    Offset,
}

const STATES: [State; 9] = [
    State::Replace,
    State::Blend,
    State::DepthLess,
    State::DepthAndBlend,
    State::Stencil,
    State::Alpha,
    State::AlphaAlone,
    State::AlphaAndDepth,
    State::Offset,
];

/// Number of batches of quads, of quads in them, and of those left to the general path.
#[derive(Debug, Default)]
struct Counts {
    calls: AtomicUsize,
    quads: AtomicUsize,
    left: AtomicUsize,
}

/// The native engine with counters.
struct Counted(Native, Arc<Counts>);

struct CountedGatherer(Arc<dyn QuadBatcher>, Arc<Counts>);

/// Counts quads that were painted in one go, and calls that were left.
struct CountedPainter(Arc<dyn FragmentKernel>, Arc<Counts>);

impl CountedPainter {
    fn count(&self, quads: usize, done: Option<u32>) -> Option<u32> {
        self.1.calls.fetch_add(1, Ordering::Relaxed);
        self.1.left.fetch_add(usize::from(done.is_none()), Ordering::Relaxed);
        let quads = if done.is_some() { quads } else { 0 };
        self.1.quads.fetch_add(quads, Ordering::Relaxed);
        done
    }
}

impl FragmentKernel for CountedPainter {
    fn instruction_count(&self) -> u32 {
        self.0.instruction_count()
    }

    fn has_turns(&self) -> bool {
        self.0.has_turns()
    }

    fn may_discard(&self) -> bool {
        self.0.may_discard()
    }

    fn is_infallible(&self) -> bool {
        self.0.is_infallible()
    }

    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: Quads<'_>,
        out: &mut Fragments,
    ) -> Option<u32> {
        let count = quads.count();
        self.count(count, self.0.paint(context, inputs, quads, out))
    }

    fn shade_in_place(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        first: [u32; 2],
        tiles: &mut [[u32; 256]],
    ) -> Option<u32> {
        let count = 64 * tiles.len();
        self.count(count, self.0.shade_in_place(context, inputs, first, tiles))
    }
}

impl Delegate for Counted {
    fn engine(&self) -> &dyn Engine {
        &self.0
    }

    fn kernel(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn FragmentKernel>> {
        let kernel = self.0.kernel(context, flat)?;
        if !kernel.has_turns() {
            return Some(kernel);
        }
        Some(Arc::new(CountedPainter(kernel, self.1.clone())))
    }

    fn batcher(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn QuadBatcher>> {
        let batcher = self.0.batcher(context, flat)?;
        Some(Arc::new(CountedGatherer(batcher, self.1.clone())))
    }
}

impl QuadBatcher for CountedGatherer {
    fn instruction_count(&self) -> u32 {
        self.0.instruction_count()
    }

    fn reads_depth(&self) -> bool {
        self.0.reads_depth()
    }

    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &ManyInputs,
        batched: &mut BatchedQuads,
        out: &mut Fragments,
    ) -> bool {
        let quads = batched.quads().len();
        let done = self.0.paint(context, inputs, batched, out);
        self.1.calls.fetch_add(1, Ordering::Relaxed);
        self.1.quads.fetch_add(quads, Ordering::Relaxed);
        self.1.left.fetch_add(usize::from(!done), Ordering::Relaxed);
        done
    }
}

fn assemble(text: &str, stage: Stage) -> Program {
    let mbs = shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "mesh")));
    mbs.program(stage).unwrap().unwrap()
}

/// Positions and colours of overlapping triangles of some sizes, with equal or different w.
fn mesh(random: &mut Rng, flat: bool, scale: f32, (count, sizes): (u32, [f32; 3])) -> [Vec<[f32; 4]>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..count {
        let middle = [0, 1].map(|_| random.f32() * 2.1 - 1.05);
        let size = sizes[random.usize(..3)];
        let w = if random.u32(..3) == 0 { 1.0 } else { 0.5 + random.f32() };
        for _ in 0..3 {
            let w = if flat { w } else { w + random.f32() };
            let [x, y] = middle.map(|at| (at + (random.f32() - 0.5) * size) * w);
            all[0].push([x, y, (random.f32() * 1.6 - 0.8) * w, w]);
            all[1].push([0; 4].map(|_| (random.f32() * 1.2 - 0.1) * scale));
        }
    }
    all
}

fn draw<'a>(programs: [&'a Program; 2], mesh: &[Vec<[f32; 4]>; 2], state: State) -> Draw<'a> {
    let [vertex, fragment] = programs;
    let mut draw = Draw::new(vertex, fragment, [SIZE, SIZE]);
    let [positions, colors] = mesh;
    draw.count = positions.len() as u32;
    draw.attributes = vec![
        ("position".to_owned(), positions.clone()),
        ("color".to_owned(), colors.clone()),
    ];
    let identity = (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect();
    draw.uniforms = vec![("transform".to_owned(), identity)];
    draw.clear = [0.1, 0.2, 0.3, 0.4];
    if matches!(state, State::Blend | State::DepthAndBlend | State::Alpha) {
        draw.blend = Blend::Alpha;
    }
    if matches!(
        state,
        State::DepthLess | State::DepthAndBlend | State::Offset | State::AlphaAndDepth
    ) {
        draw.depth = Some(Depth {
            compare: Compare::Less,
            write: state != State::DepthAndBlend,
        });
    }
    draw
}

/// Draws it; returns the picture and the counts.
fn picture(engine: Box<dyn Engine>, draw: &Draw<'_>, state: State) -> (Vec<u8>, PixelStats) {
    let mut gpu = Gpu::new(engine).with_threads(3);
    let prepared = driver::prepare(&mut gpu, draw).unwrap();
    prepared.submit(&mut gpu).unwrap();
    let at = gpu.geometry().expect("a job was run").draws[0].state;
    let words = gpu.memory.words(at, RenderState::WORDS as u32).unwrap();
    let mut render = RenderState::from_words(&words);
    match state {
        State::Stencil => {
            (render.front_compare, render.back_compare) = (Compare::NotEqual, Compare::GreaterEqual);
            (render.front_mask, render.back_mask) = (3, 255);
            (render.front_reference, render.back_reference) = (2, 3);
            (render.front_write_mask, render.back_write_mask) = (255, 255);
            (render.front_pass, render.back_pass) = (StencilOp::Increment, StencilOp::Increment);
        }
        State::Alpha => (render.alpha_compare, render.alpha_reference) = (Compare::Greater, 100),
        State::AlphaAlone => (render.alpha_compare, render.alpha_reference) = (Compare::LessEqual, 140),
        State::AlphaAndDepth => (render.alpha_compare, render.alpha_reference) = (Compare::NotEqual, 102),
        State::Offset => (render.offset_slope, render.offset_units) = (3, 60),
        _ => {}
    }
    for (at, word) in (at..).step_by(4).zip(render.to_words()) {
        gpu.memory.write(at, &word.to_le_bytes()).unwrap();
    }
    let (_, stats) = prepared.submit(&mut gpu).unwrap();
    (prepared.picture(&gpu).unwrap().rgba, stats)
}

/// Draws it on every engine; the picture and counts must equal the scalar engine's.
fn picture_of_all(draw: &Draw<'_>, state: State, counts: &Arc<Counts>, what: &str) -> Vec<u8> {
    let wanted = picture(Box::new(Scalar), draw, state);
    let engines: [Box<dyn Engine>; 3] = [
        Box::new(Counted(Native::default(), counts.clone())),
        Box::new(Counted(Native::at_most(emulator::simd::Level::Avx2), counts.clone())),
        Box::<Wide>::default(),
    ];
    for engine in engines {
        let which = engine.name();
        let have = picture(engine, draw, state);
        assert_eq!(have.1, wanted.1, "{what}, {which}");
        let differ = have.0.iter().zip(&wanted.0).filter(|(a, b)| a != b).count();
        assert_eq!(differ, 0, "{what}, {which}");
    }
    wanted.0
}

/// States, programs and perspective take effect: all pictures differ.
fn all_differ(mut pictures: Vec<(Vec<u8>, String)>) {
    pictures.sort_unstable();
    for two in pictures.windows(2) {
        assert_ne!(two[0].0, two[1].0, "{} and {}", two[0].1, two[1].1);
    }
}

#[test]
fn meshes_are_drawn_triangle_by_triangle() {
    let mut random = Rng::with_seed(21);
    let vertex = assemble(VERTEX, Stage::Vertex);
    let texture = Image {
        width: 16,
        height: 8,
        rgba: (0..512).map(|_| random.u8(..)).collect(),
        linear: true,
        repeat: true,
    };
    let (mut pictures, counts) = (Vec::new(), Arc::<Counts>::default());
    let mut left = Vec::new();
    for (name, body, scale) in FRAGMENTS {
        let text = format!(".fragment\n.uniform sampler2D picture\n.varying vec4 tint\n{body}\n");
        let fragment = assemble(&text, Stage::Fragment);
        for (flat, state) in [true, false]
            .into_iter()
            .flat_map(|flat| STATES.map(|state| (flat, state)))
        {
            let mesh = mesh(&mut random, flat, scale, (TRIANGLES, SMALL));
            let mut draw = draw([&vertex, &fragment], &mesh, state);
            draw.textures = vec![("picture".to_owned(), texture.clone())];
            let before = counts.left.load(Ordering::Relaxed);
            let what = format!("{name}, {state:?}, flat: {flat}");
            let wanted = picture_of_all(&draw, state, &counts, &what);
            left.push(counts.left.load(Ordering::Relaxed) > before);
            pictures.push((wanted, what));
        }
    }
    all_differ(pictures);
    let [calls, quads] = [&counts.calls, &counts.quads].map(|count| count.load(Ordering::Relaxed));
    println!(
        "{quads} quads in {calls} calls; {} draws were left in part",
        left.iter().filter(|left| **left).count()
    );
    if Native::default().is_there() {
        assert!(quads > 4 * calls && calls > 1000, "{quads} quads in {calls} calls");
        assert!(left.contains(&true) && left.contains(&false));
    }
}

/// Programs with branches on large triangles, whose tiles may all go one way or not, in every state.
#[test]
fn branches_are_taken_by_each_fragment() {
    let mut random = Rng::with_seed(22);
    let vertex = assemble(VERTEX, Stage::Vertex);
    let mut pictures = Vec::new();
    for (name, body) in BRANCHES {
        let text = format!(".fragment\n.varying vec4 tint\n{body}\n");
        let fragment = assemble(&text, Stage::Fragment);
        let counts = Arc::<Counts>::default();
        for (flat, state) in [true, false]
            .into_iter()
            .flat_map(|flat| STATES.map(|state| (flat, state)))
        {
            let mesh = mesh(&mut random, flat, 1.0, (40, [0.5, 1.5, 4.0]));
            let draw = draw([&vertex, &fragment], &mesh, state);
            let what = format!("{name}, {state:?}, flat: {flat}");
            pictures.push((picture_of_all(&draw, state, &counts, &what), what));
        }
        let [quads, left] = [&counts.quads, &counts.left].map(|count| count.load(Ordering::Relaxed));
        println!("{name}: {quads} quads in one go, {left} calls left to others");
        if Native::default().is_there() {
            // Loops of any number of iterations.
            let has_ways = name != "a loop";
            assert_eq!(
                [quads > 10_000, left > 100],
                [has_ways; 2],
                "{name}: {quads} quads, {left} left"
            );
        }
    }
    all_differ(pictures);
}
