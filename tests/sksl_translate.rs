//! Programs become SPIR-V that spirv-val accepts; those that do not are counted by reason.
#![allow(missing_docs)]

mod common;

use loader::sksl::{self, ProgramKind};
use std::collections::BTreeMap;

fn translate(tree: &sksl::Tree) -> Result<(), String> {
    let module = skrymir::sksl::to_naga(tree).map_err(|e| e.to_string())?;
    let stage = skrymir::sksl::stage(tree).map_err(|e| e.to_string())?;
    let words = skrymir::sksl::to_spirv(&module, stage).map_err(|e| e.to_string())?;
    match skrymir::spirv_val::validate(&words) {
        Some(Err(text)) => Err(format!("spirv-val: {text}")),
        _ => Ok(()),
    }
}

/// Translates every program of the corpus of these kinds; prints why the others do not; (all, good).
fn translate_all(what: &str, kinds: std::ops::RangeInclusive<u8>) -> Option<(u32, u32)> {
    let folder = common::corpus("sksl")?;
    let (mut all, mut good, mut reasons) = (0, 0, BTreeMap::<String, (u32, String)>::new());
    for path in common::files(&folder, "bin") {
        let Ok(tree) = sksl::read(&std::fs::read(&path).unwrap()) else {
            continue;
        };
        let fits =
            matches!(tree.header, sksl::Header::Program { kind: ProgramKind(kind), .. } if kinds.contains(&kind));
        if !fits {
            continue;
        }
        all += 1;
        match translate(&tree) {
            Ok(()) => good += 1,
            Err(reason) => {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let entry = reasons.entry(reason.chars().take(160).collect()).or_insert((0, name));
                entry.0 += 1;
            }
        }
    }
    println!("sksl: {good} of {all} {what} translate");
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    for (reason, (n, example)) in reasons {
        println!("{n:5}  {reason} ({example})");
    }
    Some((all, good))
}

#[test]
fn runtime_effects_translate() {
    let Some((all, good)) = translate_all("runtime effects", 4..=7) else {
        return;
    };
    assert!(good * 100 >= all * 90, "{good} of {all}");
}

#[test]
fn fragment_and_vertex_programs_translate() {
    for (what, kinds) in [("fragment programs", 0..=0), ("vertex programs", 1..=1)] {
        let Some((all, good)) = translate_all(what, kinds) else {
            return;
        };
        assert!(good * 100 >= all * 90, "{good} of {all}");
    }
}
