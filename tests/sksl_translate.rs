//! Runtime effects become SPIR-V that spirv-val accepts; those that do not are counted by reason.
#![allow(missing_docs)]

mod common;

use loader::sksl;
use std::collections::BTreeMap;

fn translate(bytes: &[u8]) -> Result<(), String> {
    let tree = sksl::read(bytes).map_err(|e| e.to_string())?;
    let module = skrymir::sksl::to_naga(&tree).map_err(|e| e.to_string())?;
    let words = skrymir::sksl::to_spirv(&module, naga::ShaderStage::Fragment).map_err(|e| e.to_string())?;
    match skrymir::spirv_val::validate(&words) {
        Some(Err(text)) => Err(format!("spirv-val: {text}")),
        _ => Ok(()),
    }
}

#[test]
fn runtime_effects_translate() {
    let Some(folder) = common::corpus("sksl") else { return };
    let (mut all, mut good, mut reasons) = (0, 0, BTreeMap::<String, u32>::new());
    for path in common::files(&folder, "bin") {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(tree) = sksl::read(&bytes) else { continue };
        if !matches!(
            tree.header,
            sksl::Header::Program {
                kind: sksl::ProgramKind(4..=7),
                ..
            }
        ) {
            continue;
        }
        all += 1;
        match translate(&bytes) {
            Ok(()) => good += 1,
            Err(reason) => *reasons.entry(reason.chars().take(150).collect()).or_default() += 1,
        }
    }
    println!("sksl: {good} of {all} runtime effects translate");
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (reason, n) in reasons {
        println!("{n:5}  {reason}");
    }
    assert!(good * 100 >= all * 60, "{good} of {all}");
}
