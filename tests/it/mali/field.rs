//! Shaders that people wrote for their own programs, compiled and drawn on every engine: the pictures are the same to the bit.
//! A sample in the ordinary tests, all of them where `SKRYMIR_FIELD` is set (`tests/field.sh`).

use crate::common;
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use skrymir::mali::{self, Pair};
use skrymir::scene::Scene;
use std::path::Path;

/// One pair in so many is drawn in the ordinary tests.
const SAMPLE: usize = 12;

/// Draws a pair on every engine: whether all pictures are the same, nothing where there is none.
fn agree(vertex: &Path, fragment: &Path, scene: &Scene) -> Option<bool> {
    let pair = Pair::load(vertex, fragment, &Default::default()).ok()?;
    let draw = mali::prepare(&pair, scene).ok()?;
    let picture = |engine: Box<dyn Engine>| mali::run(&draw, engine, 1);
    let want = picture(Box::new(Scalar)).ok()?;
    let others: [Box<dyn Engine>; 2] = [Box::<Wide>::default(), Box::<Native>::default()];
    Some(
        others
            .into_iter()
            .all(|engine| picture(engine).is_ok_and(|have| have == want)),
    )
}

#[test]
fn retro_shaders_look_the_same_on_every_engine() {
    let Some(folder) = common::corpus("field/retro") else {
        return;
    };
    let step = if std::env::var_os("SKRYMIR_FIELD").is_some() {
        1
    } else {
        SAMPLE
    };
    let scene = Scene {
        size: Some([64, 64]),
        ..Scene::default()
    };
    let (mut pairs, mut drawn, mut different) = (0, 0, Vec::new());
    for vertex in common::files(&folder, "vert").into_iter().step_by(step) {
        let fragment = vertex.with_extension("frag");
        pairs += 1;
        if let Some(same) = agree(&vertex, &fragment, &scene) {
            drawn += 1;
            different.extend((!same).then_some(fragment));
        }
    }
    println!(
        "{pairs} pairs of field/retro: {drawn} drawable, {} of them equal on all engines",
        drawn - different.len()
    );
    assert!(different.is_empty(), "{different:#?}");
    assert!(drawn > pairs / 3, "{drawn} of {pairs} can be drawn");
}
