//! Random instructions of both processors: texts assemble to the same words; verifiers and decoders never panic.

use fastrand::Rng;
use utgard::{gp, pp};

/// Instructions of each kind.
const COUNT: u32 = 1_000_000;

fn vertex_programs(instructions: u32, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut plain = 0;
    for _ in 0..instructions / 100 {
        let program = gp::random::program(&mut random, 100);
        let words: Vec<[u32; 4]> = program.iter().map(gp::Instruction::encode).collect();
        let text = gp::disassemble(&words, gp::Options::default());
        assert_eq!(
            gp::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}")),
            words,
            "{text}"
        );
        assert!(
            gp::flow::verify(&program)
                .iter()
                .all(|finding| finding.rule != "operation"),
            "{text}"
        );
        plain += text.lines().filter(|line| !line.contains("set ")).count();
    }
    println!("{instructions} GP instructions come back from their text, {plain} lines without a bare field");
}

fn fragment_programs(instructions: u32, seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut plain = 0;
    for _ in 0..instructions / 100 {
        let words = pp::random::program(&mut random, 100);
        let text = pp::disassemble(&words, pp::Options::default());
        assert_eq!(
            pp::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}")),
            words,
            "{text}"
        );
        let findings = pp::flow::verify(&words, None);
        assert!(
            findings.iter().all(|finding| finding.rule != "operation"),
            "{findings:?}\n{text}"
        );
        plain += text.lines().filter(|line| !line.contains("set ")).count();
    }
    println!("{instructions} PP instructions come back from their text, {plain} lines without a bare field");
}

#[test]
fn a_million_vertex_instructions_come_back_from_their_text() {
    vertex_programs(COUNT, 1);
}

#[test]
fn a_million_fragment_instructions_come_back_from_their_text() {
    fragment_programs(COUNT, 1);
}

#[test]
fn any_words_at_all_come_back_from_their_text() {
    let mut random = Rng::with_seed(3);
    for _ in 0..300 {
        let words: Vec<u32> = (0..64).map(|_| random.u32(..)).collect();
        let text = pp::disassemble(&words, pp::Options::default());
        assert_eq!(
            pp::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}")),
            words,
            "{text}"
        );
        pp::flow::verify(&words, Some(4));
        let words: Vec<[u32; 4]> = words.chunks_exact(4).map(|words| words.try_into().unwrap()).collect();
        let text = gp::disassemble(&words, gp::Options::default());
        assert_eq!(
            gp::assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}")),
            words,
            "{text}"
        );
        let program: Vec<gp::Instruction> = words.into_iter().map(gp::Instruction::decode).collect();
        gp::flow::verify(&program);
    }
}

#[test]
fn any_control_word_is_an_instruction_or_an_error() {
    let mut random = Rng::with_seed(4);
    for _ in 0..1_000_000 {
        let words: [u32; 4] = std::array::from_fn(|_| random.u32(..));
        let _ = pp::Instruction::decode(&words);
    }
}

#[test]
fn errors_of_texts_have_a_place_and_a_reason() {
    let cases: [(&str, &str, usize); 12] = [
        ("mul.a0 _ a0.x a0.y", "not an operation of this unit", 1),
        ("add.a0 _ a0.x\n", "takes 2 operands", 1),
        ("add.a0 _ a0.x t[600].x", "N below 512", 15),
        ("add.a0 _ a0.x a1.x", "port 0 loads another vec4", 15),
        ("add.a0 _ a0.x a0.y, mul.m0 _ a0.x ^99", "not a result", 35),
        ("add.a0 v0.x ^acc0 _, add.a1 v1.y ^acc1 _", "stored to one place", 29),
        ("branch nowhere", "not a label", 8),
        ("add.a0 _ a0.x a0.y, floor.a1 _ a0.x", "share one operation", 21),
        ("mov.x _ a0.x", "not a unit", 1),
        ("set nothing 1", "not a field", 5),
        ("set flags 16", "does not fit", 11),
        ("a: a: nop", "there already", 4),
    ];
    for (text, message, column) in cases {
        let error = gp::assemble(text).expect_err(text);
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
        assert!(error.render(text, "x.gp").contains('^'));
    }
    for (text, message) in [
        ("mul.v0 $0", "takes 2 operands"),
        ("mul.v0 $0 $12 $1", "register is expected"),
        ("mul.v0 $0.yx $1 $1", "components in order"),
        ("mul.v0 $0 $1.q $1", "swizzle"),
        ("mul.v0 $0 $1 $1, mul.v0 $0 $1 $1", "uses this unit already"),
        ("load.u 99999", "outside"),
        ("texld 4096", "outside"),
        ("const0 a", "not an fp16 number"),
        ("branch.eq $0.x $0.y nowhere", "neither a label nor a distance"),
        ("frobnicate $0", "not a PP operation"),
        ("mul.soft.v0 $0 $1 $1", "modifiers are"),
        ("mul.sat.v2 $0 $1.x $1", "have no modifiers"),
        ("atan_pt1.sat.v2 $0 $1.x", "have no modifiers"),
        (".word 1, 2", "must be alone"),
    ] {
        let error = pp::assemble(text).expect_err(text);
        assert!(error.message.contains(message), "{text}: {error}");
    }
}
