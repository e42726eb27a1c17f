//! Programs become SPIR-V that spirv-val accepts; the others are counted by reason.

use crate::common;

use loader::sksl::{self, ProgramKind};
use std::collections::BTreeMap;

fn translated(tree: &sksl::Tree) -> Result<(), String> {
    let module = translate::sksl::to_naga(tree).map_err(|e| e.to_string())?;
    let stage = translate::sksl::stage(tree).map_err(|e| e.to_string())?;
    let words = translate::sksl::to_spirv(&module, stage).map_err(|e| e.to_string())?;
    match translate::validate::spirv_val::validate(&words) {
        Some(Err(rejection)) => Err(rejection.to_string()),
        _ => Ok(()),
    }
}

/// Whether the program's WGSL is valid for naga.
fn wgsl(tree: &sksl::Tree) -> Result<(), String> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let validated = |module: &naga::Module| {
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        validator
            .validate(module)
            .map_err(|e| e.into_inner().to_string().chars().take(80).collect::<String>())
    };
    let module = translate::sksl::to_naga(tree).map_err(|e| e.to_string())?;
    let info = validated(&module)?;
    let text = naga::back::wgsl::write_string(&module, &info, naga::back::wgsl::WriterFlags::empty())
        .map_err(|e| e.to_string())?;
    let again = naga::front::wgsl::parse_str(&text).map_err(|e| e.message().to_owned())?;
    validated(&again).map(drop)
}

/// Translates every program of the corpus of these kinds and prints the reasons of failures; returns (all, good).
fn translate_all(what: &str, kinds: std::ops::RangeInclusive<u8>) -> Option<(u32, u32)> {
    let folder = common::corpus("sksl")?;
    let (mut all, mut good, mut reasons) = (0, 0, BTreeMap::<String, (u32, String)>::new());
    let mut no_wgsl = Vec::new();
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
        match translated(&tree) {
            Ok(()) => {
                good += 1;
                if let Err(why) = wgsl(&tree) {
                    no_wgsl.push(format!("{}: {why}", path.file_name().unwrap().to_string_lossy()));
                }
            }
            Err(reason) => {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let entry = reasons.entry(reason.chars().take(160).collect()).or_insert((0, name));
                entry.0 += 1;
            }
        }
    }
    println!(
        "sksl: {good} of {all} {what} translate, {} of them not to WGSL",
        no_wgsl.len()
    );
    no_wgsl.iter().for_each(|line| println!("       {line}"));
    // WGSL has no fall-through, no point sizes, and lacks a few functions.
    assert!(no_wgsl.len() * 20 <= all as usize + 20);
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
