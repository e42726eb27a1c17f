//! Passes over modules: a valid module stays valid, or a pass names what it does not support; a second time nothing
//! changes.

use super::verdicts::{modules, mutants_of};
use crate::common;

use loader::ErrorKind;
use loader::spirv::transform::{PASSES, Pass, bounded, for_hlsl, for_wgsl, narrow_exponents, with_signs};
use loader::spirv::{half_steps, specialize, split_samplers, validate};
use std::collections::BTreeMap;

const MORE: [(&str, Pass); 8] = [
    ("bounded", bounded),
    ("signs", with_signs),
    ("hlsl", for_hlsl),
    ("wgsl", for_wgsl),
    ("exponents", narrow_exponents),
    ("half steps", half_steps),
    ("specialized", specialize),
    ("split samplers", split_samplers),
];

#[test]
fn valid_modules_stay_valid_behind_each_pass() {
    let (mut changed, mut refused) = (BTreeMap::<&str, u32>::new(), BTreeMap::<&str, u32>::new());
    let mut wrong = Vec::new();
    let mut look = |name: &str, words: &[u32]| {
        for (pass, apply) in PASSES.iter().chain(&MORE) {
            // The validators do not check the operands of OpSpecConstantOp, which become those of instructions.
            if name.contains("mutant") && ["spec-constants", "wgsl"].contains(pass) {
                continue;
            }
            let after = match apply(words) {
                Ok(after) => after,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unsupported, "{name} {pass}: {error}");
                    *refused.entry(pass).or_default() += 1;
                    continue;
                }
            };
            if after == words {
                continue;
            }
            *changed.entry(pass).or_default() += 1;
            let report = validate(&after);
            if !report.is_valid() {
                wrong.push(format!("{name} {pass}: {}", report.diagnostics[0]));
            }
            // Those append to what each access or result does.
            let appends = ["half steps", "bounded"].contains(pass);
            if !appends && apply(&after).as_ref() != Ok(&after) {
                wrong.push(format!("{name} {pass}: another change the second time"));
            }
        }
    };
    // By its name, what SPIRV-Tools accepts is not always valid.
    for (name, words) in modules().iter().filter(|(name, _)| !name.contains(".invalid.")) {
        look(name, words);
        let mutants = mutants_of(name, words).into_iter().enumerate();
        for (at, mutant) in mutants.step_by(11 * common::quick_step(3)) {
            if validate(&mutant).is_valid() {
                look(&format!("{name}, mutant {at}"), &mutant);
            }
        }
    }
    println!("changed: {changed:?}; not supported: {refused:?}");
    assert!(wrong.is_empty(), "{} of them: {wrong:#?}", wrong.len());
    let least = if common::corpus("spirv").is_some() { 16 } else { 8 };
    assert!(changed.len() >= least, "{changed:?}");
}
