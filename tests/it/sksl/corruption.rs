//! Damaged and deep programs are translated or rejected, without a panic.

use super::{random_program, samples};
use crate::common;

use loader::sksl;

fn samples() -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = (1..=20)
        .map(|seed| sksl::write(&random_program::program(seed)).unwrap())
        .collect();
    if let Some(folder) = common::corpus("sksl") {
        let all = common::files(&folder, "bin");
        found.extend(all.iter().map(|path| std::fs::read(path).unwrap()));
    }
    found
}

#[test]
fn damaged_programs_translate_or_are_refused() {
    let samples = samples();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..4000 {
        let mut bytes = samples[random.usize(..samples.len())].clone();
        for _ in 0..=random.u64(..4) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        if let Ok(tree) = sksl::read(&bytes) {
            let _ = translate::sksl::to_vbc(&tree);
        }
    }
}

#[test]
fn nesting_beyond_the_readable_is_refused() {
    let tree = samples::negated(5000);
    assert!(translate::sksl::to_naga(&tree).is_err());
}

/// The deepest readable program is translated by naga or rejected, without a stack overflow.
#[test]
fn the_deepest_programs_translate_or_are_refused() {
    for depth in [100, 380] {
        let mut b = sksl::Builder::new(sksl::ProgramKind::RUNTIME_SHADER);
        let at = b.parameter("float2", "p", 10009);
        let main = b.function("half4", "main", &[at]);
        let mut value = b.float("half", 0.5);
        for _ in 0..depth {
            let one = b.float("half", 1.0);
            value = b.binary(one, sksl::Operator::MINUS, value);
        }
        let value = b.construct(sksl::Command::CONSTRUCTOR_SPLAT, "half4", &[value]);
        let mut statement = b.statement(sksl::Statement::Return(Some(value)));
        let tree = b.define(main, &[statement]).finish();
        assert!(sksl::validate(&tree).is_valid());
        translate::sksl::to_vbc(&tree).unwrap();

        let mut b = sksl::Builder::new(sksl::ProgramKind::RUNTIME_SHADER);
        let at = b.parameter("float2", "p", 10009);
        let main = b.function("half4", "main", &[at]);
        let half = b.float("half", 0.5);
        let value = b.construct(sksl::Command::CONSTRUCTOR_SPLAT, "half4", &[half]);
        statement = b.statement(sksl::Statement::Return(Some(value)));
        for _ in 0..depth {
            statement = b.block(&[statement]);
        }
        let tree = b.define(main, &[statement]).finish();
        assert!(sksl::validate(&tree).is_valid());
        translate::sksl::to_vbc(&tree).unwrap();
    }
}
