//! Lifts known programs and checks their text, and random programs and checks their validity.
#![allow(missing_docs)]

use fastrand::Rng;
use loader::mbs::{Program, Stage};
use skrymir_lift::{Convention, ErrorKind, Options, interface};
use std::collections::BTreeMap;
use translate::{Target, write};
use utgard::{gp, pp};

fn options(exact: bool) -> Options {
    Options {
        exact,
        convention: Convention {
            rows_down: false,
            height: None,
        },
        viewport: None,
    }
}

fn assembled(text: &str, stage: Stage) -> Program {
    utgard::shader::assemble(text).unwrap().program(stage).unwrap().unwrap()
}

fn wgsl(program: &Program, exact: bool) -> String {
    let shader = skrymir_lift::program(program, &options(exact)).unwrap();
    String::from_utf8(write(&shader, Target::Wgsl, &Default::default()).unwrap()).unwrap()
}

const VERTEX: &str = include_str!("../../../examples/mali/triangle.vert.s");

#[test]
fn matrices_are_recognised_and_the_viewport_is_removed() {
    let text = wgsl(&assembled(VERTEX, Stage::Vertex), false);
    assert!(text.contains("uniforms.transform"), "{text}");
    assert!(text.contains("* position"), "{text}");
    assert!(!text.contains("Viewport"), "{text}");
}

#[test]
fn exact_fragments_round_register_writes() {
    let text =
        ".fragment\n.varying vec4 tint\n.uniform vec4 scale\n    load.v $0 0, load.u 0, mul.v0 $0 $0 ^uniform, stop\n";
    let program = assembled(text, Stage::Fragment);
    let (exact, plain) = (wgsl(&program, true), wgsl(&program, false));
    assert!(
        exact.contains("quantizeToF16") && !plain.contains("quantizeToF16"),
        "{exact}\n{plain}"
    );
    assert!(plain.contains("tint * "), "{plain}");
}

#[test]
fn loops_and_branches_are_structured() {
    let text = ".fragment\n.varying vec4 tint\n\
        load.v $0 0, mov.v0 $1 ^const0, const0 0.0 0.0 0.0 1.0\n\
        again:\n    add.v1 $1.x $1 ^const0.xxxx, const0 0.25\n\
        \n    branch.lt $1.x $0.x again\n\
        \n    branch.gt $0.y ^const0.x done, const0 0.5\n    mov.v0 $1.z ^const0.xxxx, const0 1.0\n\
        done:\n    mov.v0 $0 $1, stop\n";
    let text = wgsl(&assembled(text, Stage::Fragment), false);
    assert!(text.contains("loop {") && text.contains("if ("), "{text}");
    assert!(!text.contains("switch"), "{text}");
}

#[test]
fn untranslatable_operations_are_rejected_with_name_and_place() {
    let text = ".fragment\n.varying vec4 tint\n    load.v $0 0\n    fb_color $0, stop\n";
    let error = skrymir_lift::program(&assembled(text, Stage::Fragment), &options(false)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Unsupported { place: 3.., .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("framebuffer's colour"), "{error}");
}

/// Random programs become valid shaders or are rejected with a reason; `LIFT_RANDOM` sets how many.
#[test]
fn random_programs_are_valid_or_refused_by_name() {
    let count: u32 = std::env::var("LIFT_RANDOM")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(1_500);
    let mut random = Rng::with_seed(20);
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for number in 0..count {
        let length = random.usize(1..24);
        let (stage, code) = if number % 2 == 0 {
            (Stage::Fragment, pp::random::program(&mut random, length))
        } else {
            let instructions = gp::random::program(&mut random, length);
            (
                Stage::Vertex,
                instructions.iter().flat_map(gp::Instruction::encode).collect(),
            )
        };
        let program = Program::new(stage, code);
        let mut options = options(random.bool());
        options.viewport = Some([8.0, -8.0, 0.5, 0.0, 8.0, 8.0, 0.5, 0.0]);
        let end = match skrymir_lift::lift(stage, &program.code, &interface(&program), &options) {
            Ok(shader) => match write(&shader, Target::Spirv, &Default::default()) {
                Ok(_) => format!("{stage:?}: valid"),
                Err(error) => panic!("program {number}: {error}"),
            },
            Err(error) => match error.kind() {
                ErrorKind::Unsupported { message, .. } => {
                    let word = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
                    let words: Vec<&str> = message.split(' ').filter(|text| word(text)).collect();
                    format!("{stage:?}: {}", words.join(" "))
                }
                ErrorKind::Code { .. } => format!("{stage:?}: no program"),
                ErrorKind::Interface(_) => format!("{stage:?}: interface"),
                _ => panic!("program {number}: {error}"),
            },
        };
        *ends.entry(end).or_default() += 1;
    }
    println!("{ends:#?}");
    let valid = ["Fragment: valid", "Vertex: valid"].map(|key| ends.get(key).copied().unwrap_or(0));
    assert!(valid.iter().all(|valid| *valid > count / 50), "{ends:?}");
}
