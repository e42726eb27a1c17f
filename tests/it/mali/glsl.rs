//! Random GLSL ES shaders, compiled, have the same results on every engine.

use compiler::{Input, Options, Stage};
use fastrand::Rng;
use properties::{engines, glsl};
use utgard::gp;

/// Words of a shader; `None` if it exceeds the hardware.
fn words(text: &str, stage: Stage) -> Option<Vec<u32>> {
    match compiler::compile(Input::GlslEs(text, stage), &Options::default()) {
        Ok(compiled) => Some(compiled.program.code.clone()),
        Err(error) => {
            println!("{}", error.render("random", text));
            None
        }
    }
}

#[test]
fn compiled_shaders_agree() {
    let (mut random, mut programs, mut fragments, mut vertices) = (Rng::with_seed(3), [0; 2], 0, 0);
    for _ in 0..150 {
        if let Some(words) = words(&glsl::fragment(&mut random), Stage::Fragment) {
            programs[0] += 1;
            fragments += (0..4)
                .map(|_| engines::compare_fragments(&words, &mut random).0)
                .sum::<usize>();
        }
        if let Some(words) = words(&glsl::vertex(&mut random), Stage::Vertex) {
            programs[1] += 1;
            let (words, _) = words.as_chunks::<4>();
            let program = words.iter().map(|words| gp::Instruction::decode(*words)).collect();
            vertices += engines::compare_vertices(program, &mut random, 100);
        }
    }
    println!(
        "{programs:?} of 150 shaders each: {fragments} fragments and {vertices} vertices are the same from every engine"
    );
    assert!(programs.iter().all(|count| *count > 100), "{programs:?} of 150 compile");
    assert!(fragments > 30_000 && vertices > 3_000);
}
