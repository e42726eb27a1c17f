//! Damaged jobs: streams, states, descriptors, tile lists and code with random words in them end in a picture or a
//! fault, the same with both engines, and never in a panic.
#![allow(missing_docs)]

use emulator::driver::{self, Draw, Image};
use emulator::exec::Engine;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use emulator::gpu::Gpu;
use emulator::gpu::fault::FaultKind;
use emulator::isa::shader;
use emulator::random::Random;
use loader::mbs::{Program, Stage};
use std::collections::BTreeMap;

fn assemble(text: &str, stage: Stage) -> Program {
    shader::assemble(text).unwrap().program(stage).unwrap().unwrap()
}

const VERTEX: &str = include_str!("../examples/mali/triangle.vert.s");

const FRAGMENT: &str = ".fragment\n.uniform vec4 scale\n.uniform sampler2D picture\n.varying vec4 tint\n\
    load.v ^discard.xy 0.xy, texld 0, mov.v1 $1 ^texture, sync\n load.v $0 0, load.u 0, mul.v0 $1 $1 ^uniform\n\
    branch.gt $0.x $0.y end\n mul.v0 $1 $1 $0\n end: mov.v1 $2 $1, stop\n";

/// Words of the driver's buffer objects, which lie one behind the other.
fn addresses(gpu: &Gpu) -> Vec<u32> {
    let mut pages = Vec::new();
    let mut page = 0x0100_0000u32;
    while gpu.memory.word(page).is_ok() {
        // What matters lies at the beginning of each.
        pages.extend((page..page + 256).step_by(4));
        page += 4096;
    }
    pages
}

#[test]
fn damaged_jobs_end_in_a_picture_or_a_fault() {
    let (vertex, fragment) = (assemble(VERTEX, Stage::Vertex), assemble(FRAGMENT, Stage::Fragment));
    let mut draw = Draw::new(&vertex, &fragment, [48, 48]);
    let corners = [[0.0, 0.9, 0.1, 1.0], [-0.9, -0.9, 0.5, 1.0], [0.9, -0.9, 0.9, 1.5]];
    draw.attributes = vec![
        ("position".to_owned(), corners.to_vec()),
        ("color".to_owned(), corners.to_vec()),
    ];
    draw.uniforms = vec![
        (
            "transform".to_owned(),
            (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.0 }).collect(),
        ),
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
    let mut random = Random::new(31);
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..4_000 {
        let changes: Vec<(u32, u32, u32)> = (0..1 + random.below(4))
            .map(|_| (random.word(), random.word(), random.below(4)))
            .collect();
        let run = |engine: Box<dyn Engine>| {
            let mut gpu = Gpu::new(engine);
            let prepared = driver::prepare(&mut gpu, &draw).unwrap();
            let places = addresses(&gpu);
            for (place, value, way) in &changes {
                let at = places[*place as usize % places.len()];
                let have = gpu.memory.word(at).unwrap();
                let new = match way {
                    0 => have ^ 1 << (value % 32),
                    1 => *value,
                    2 => value % 64,
                    _ => have.wrapping_add(value % 9).wrapping_sub(4),
                };
                gpu.memory.write(at, &new.to_le_bytes()).unwrap();
            }
            match prepared.submit(&mut gpu) {
                Ok(_) => Ok(prepared.picture(&gpu).unwrap()),
                Err(error) => Err(error),
            }
        };
        let (a, b) = (run(Box::new(Scalar)), run(Box::<Wide>::default()));
        match (&a, &b) {
            (Ok(a), Ok(b)) => assert!(a == b, "{changes:x?}: the engines' pictures differ"),
            (Err(driver::Error::Fault(a)), Err(driver::Error::Fault(b))) => {
                assert_eq!(a.kind, b.kind, "{changes:x?}: {a} {b}")
            }
            _ => panic!("{changes:x?}: {:?} {:?}", a.is_ok(), b.is_ok()),
        }
        let end = match &a {
            Ok(_) => "a picture".to_owned(),
            Err(driver::Error::Fault(fault)) => format!("{:?}", fault.kind),
            Err(error) => panic!("{error}"),
        };
        *ends.entry(end).or_default() += 1;
    }
    println!("4000 damaged jobs: {ends:?}");
    assert!(ends["a picture"] > 100 && ends.len() >= 4, "{ends:?}");
    assert!(ends.contains_key(&format!("{:?}", FaultKind::Unmapped)));
}
