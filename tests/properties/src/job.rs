//! A small job of the driver, with changed words in its memory.

use emulator::driver::{self, Draw, Error, Image, Picture};
use emulator::exec::Engine;
use emulator::exec::configured::without_fast_paths;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use loader::mbs::{Program, Stage};
use std::sync::OnceLock;
use utgard::shader;

fn assemble(text: &str, stage: Stage) -> Program {
    shader::assemble(text).unwrap().program(stage).unwrap().unwrap()
}

/// The vertex program: the example's.
pub fn vertex() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| crate::sample("examples/mali/triangle.vert.s"))
}

const FRAGMENT: &str = ".fragment\n.uniform vec4 scale\n.uniform sampler2D picture\n.varying vec4 tint\n\
    load.v ^discard.xy 0.xy, texld 0, mov.v1 $1 ^texture, sync\n load.v $0 0, load.u 0, mul.v0 $1 $1 ^uniform\n\
    branch.gt $0.x $0.y end\n mul.v0 $1 $1 $0\n end: mov.v1 $2 $1, stop\n";

/// Words of the driver's buffer objects, which are contiguous.
fn addresses(gpu: &Gpu) -> Vec<u32> {
    let mut pages = Vec::new();
    let mut page = 0x0100_0000u32;
    while gpu.memory.word(page).is_ok() {
        // The relevant words are at the start of each.
        pages.extend((page..page + 256).step_by(4));
        page += 4096;
    }
    pages
}

/// Maximum number of instructions of a job: many times that of the unchanged one.
const BUDGET: u64 = 1 << 21;

/// A change of a word: index, number, and operation.
pub type Change = (u32, u32, u32);

/// A job with changed words yields a picture or a fault, the same with every engine. A change is two bytes of index,
/// four of a number, and one of the operation.
pub fn damaged(bytes: &[u8]) {
    static JOB: OnceLock<Job> = OnceLock::new();
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
    let changes = bytes.chunks_exact(7).take(32);
    let changes: Vec<Change> = changes
        .map(|bytes| (number(&bytes[..2]), number(&bytes[2..6]), number(&bytes[6..])))
        .collect();
    JOB.get_or_init(Job::default).run(&changes);
}

/// The programs of the job.
#[derive(Debug)]
pub struct Job {
    vertex: Program,
    fragment: Program,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            vertex: assemble(vertex(), Stage::Vertex),
            fragment: assemble(FRAGMENT, Stage::Fragment),
        }
    }
}

impl Job {
    fn draw(&self) -> Draw<'_> {
        let mut draw = Draw::new(&self.vertex, &self.fragment, [48, 48]);
        let corners = [[0.0, 0.9, 0.1, 1.0], [-0.9, -0.9, 0.5, 1.0], [0.9, -0.9, 0.9, 1.5]];
        draw.attributes = vec![
            ("position".to_owned(), corners.to_vec()),
            ("color".to_owned(), corners.to_vec()),
        ];
        let identity = (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect();
        draw.uniforms = vec![
            ("transform".to_owned(), identity),
            ("scale".to_owned(), vec![1.0, 0.5, 0.25, 1.0]),
        ];
        let image = Image {
            width: 20,
            height: 12,
            rgba: (0..960).map(|at| at as u8).collect(),
            linear: true,
            repeat: true,
        };
        draw.textures = vec![("picture".to_owned(), image)];
        draw
    }

    /// Runs the changed job with all engines, with fast paths and without, which must agree; returns the result.
    pub fn run(&self, changes: &[Change]) -> String {
        let draw = self.draw();
        let run = |engine: Box<dyn Engine>| {
            let mut gpu = Gpu::new(engine).with_budget(BUDGET);
            let prepared = driver::prepare(&mut gpu, &draw).unwrap();
            let places = addresses(&gpu);
            for change in changes {
                damage(&mut gpu, &places, *change);
            }
            prepared.submit(&mut gpu).map(|_| prepared.picture(&gpu).unwrap())
        };
        let a = run(Box::new(Scalar));
        let others: [Box<dyn Engine>; 3] = [
            Box::<Wide>::default(),
            Box::<Native>::default(),
            without_fast_paths(Box::<Native>::default()),
        ];
        for engine in others {
            Self::compare(&a, &run(engine), changes);
        }
        match &a {
            Ok(_) => "a picture".to_owned(),
            Err(error) => format!("{:?}", error.fault().unwrap_or_else(|| panic!("{error}")).kind),
        }
    }

    /// The same picture, or the same kind of fault.
    fn compare(a: &Result<Picture, Error>, b: &Result<Picture, Error>, changes: &[Change]) {
        match (a, b) {
            (Ok(a), Ok(b)) => assert!(a == b, "{changes:x?}: the engines' pictures differ"),
            (Err(a), Err(b)) => {
                let kinds = [a, b].map(|error| error.fault().expect("a job only faults").kind);
                assert_eq!(kinds[0], kinds[1], "{changes:x?}: {a} {b}");
            }
            _ => panic!("{changes:x?}: {:?} {:?}", a.is_ok(), b.is_ok()),
        }
    }
}

fn damage(gpu: &mut Gpu, places: &[u32], (place, value, way): Change) {
    let at = places[place as usize % places.len()];
    let have = gpu.memory.word(at).unwrap();
    let new = match way % 4 {
        0 => have ^ 1 << (value % 32),
        1 => value,
        2 => value % 64,
        _ => have.wrapping_add(value % 9).wrapping_sub(4),
    };
    gpu.memory.write(at, &new.to_le_bytes()).unwrap();
}
