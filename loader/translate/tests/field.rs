//! Translates the corpus's modules to every language, and reports who writes them and why some are rejected.
//!
//! The default run takes a sample; `SKRYMIR_FIELD=all` takes every module and `SKRYMIR_FIELD=5` every fifth. The table
//! is printed: `SKRYMIR_FIELD=all cargo test -p skrymir-translate --test field -- --nocapture`.

use loader::spirv;
use skrymir_translate::{self as translate, Check, ErrorKind, Options, Source, Target};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The modules sorted by name, and how many are skipped between two.
fn modules() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/field/spirv");
    let Ok(found) = std::fs::read_dir(&folder) else {
        assert!(
            std::env::var_os("SKRYMIR_NEED_CORPUS").is_none(),
            "no {}",
            folder.display()
        );
        return Vec::new();
    };
    let mut all: Vec<PathBuf> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.retain(|path| path.extension().is_some_and(|ending| ending == "spv"));
    all.sort();
    let step = match std::env::var("SKRYMIR_FIELD").as_deref() {
        Ok("all") => 1,
        Ok(step) => step.parse().expect("SKRYMIR_FIELD is all or a number"),
        Err(_) => 3,
    };
    all.into_iter().step_by(step).collect()
}

/// Whether the command spirv-cross translates a module; `None` if it is not installed.
fn spirv_cross(path: &Path, target: Target) -> Option<bool> {
    let options: &[&[&str]] = match target {
        Target::Glsl => &[&["--version", "450"], &["--vulkan-semantics"]],
        Target::Msl => &[&["--msl", "--msl-version", "30100"]],
        Target::Hlsl => &[&["--hlsl", "--shader-model", "67"]],
        _ => return None,
    };
    let is_written = |options: &&[&str]| {
        let output = std::process::Command::new("spirv-cross")
            .args(*options)
            .arg(path)
            .output();
        output.map(|output| output.status.success())
    };
    let results: Result<Vec<bool>, _> = options.iter().map(is_written).collect();
    Some(results.ok()?.contains(&true))
}

/// Whether naga alone translates a module.
fn naga_alone(bytes: &[u8], target: Target) -> bool {
    let source = Source::new("module.spv", bytes).unwrap();
    translate::read(&source).is_ok_and(|shader| translate::write(&shader, target, &Options::default()).is_ok())
}

/// A rejection without the parts that differ from module to module.
fn reason(error: &translate::Error) -> String {
    let said = error.to_string();
    let said = said.split(" (").next().unwrap_or_default();
    let mut pattern = String::new();
    for c in said.chars() {
        match c.is_ascii_digit() {
            true if pattern.ends_with('#') => {}
            true => pattern.push('#'),
            false => pattern.push(c),
        }
    }
    pattern.chars().take(150).collect()
}

#[test]
fn corpus_modules_in_every_language() {
    let all = modules();
    println!("{} modules", all.len());
    let is_whole = std::env::var("SKRYMIR_FIELD").is_ok_and(|field| field == "all");
    let mut share: BTreeMap<String, usize> = BTreeMap::new();
    for target in [Target::Glsl, Target::Msl, Target::Hlsl, Target::Wgsl] {
        let start = std::time::Instant::now();
        let (mut written, mut checked) = (0, 0);
        let mut ways: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
        // By the command spirv-cross, by naga alone, and by the command but not here.
        let (mut by_command, mut by_naga, mut only) = (0, 0, Vec::new());
        for path in &all {
            let bytes = std::fs::read(path).unwrap();
            let by_cross = is_whole.then(|| spirv_cross(path, target)).flatten() == Some(true);
            by_command += usize::from(by_cross);
            by_naga += usize::from(is_whole && naga_alone(&bytes, target));
            let source = Source::new("module.spv", &bytes).unwrap();
            match translate::translate(&source, target, &Options::default()) {
                Ok(found) => {
                    written += 1;
                    let text = String::from_utf8_lossy(&found.bytes);
                    assert!(!text.contains("subgroupBallot()"), "{}", path.display());
                    checked += usize::from(matches!(found.check, Check::Passed(_)));
                    assert_ne!(found.check, Check::LeftOut);
                    *ways.entry((found.way.to_string(), found.version)).or_default() += 1;
                }
                Err(error) => {
                    assert!(
                        !matches!(error.kind(), ErrorKind::Panicked { .. }),
                        "{}: {error}",
                        path.display()
                    );
                    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                    only.extend(by_cross.then(|| format!("{name}: {}", reason(&error))));
                    reasons.entry(reason(&error)).or_default().push(name);
                }
            }
        }
        println!(
            "{target}: {written} of {} written, {checked} of them checked; {:?}",
            all.len(),
            start.elapsed()
        );
        if is_whole {
            println!("    {by_command} by the command spirv-cross, {by_naga} by naga alone; by the command only:");
            only.iter().for_each(|who| println!("         {who}"));
        }
        for ((way, version), count) in ways {
            println!("    {count:4} by {way} {version}");
        }
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, who)| std::cmp::Reverse(who.len()));
        for (reason, who) in reasons {
            println!("    {:4} {reason}: {}", who.len(), who[0]);
        }
        share.insert(target.to_string(), 1000 * written / all.len().max(1));
    }
    if all.is_empty() || !cfg!(feature = "spirv-cross") || !cfg!(feature = "glslang") {
        return;
    }
    // A sample differs from the whole.
    let slack = if all.len() < 300 { 60 } else { 0 };
    for (target, least) in [("glsl", 989), ("msl", 989), ("hlsl", 760), ("wgsl", 890)] {
        assert!(share[target] + slack >= least, "{target}: {} of 1000", share[target]);
    }
}

/// Valid modules stay valid after the passes for WGSL.
#[test]
fn modules_stay_valid() {
    let valid = |words: &[u32]| spirv::validate(words);
    let (mut changed, all) = (0, modules());
    for path in &all {
        let words = spirv::to_words(&std::fs::read(path).unwrap()).unwrap();
        if !valid(&words).is_valid() {
            continue;
        }
        for pass in [spirv::for_wgsl, spirv::split_interface] {
            let after = match pass(&words) {
                Ok(after) => after,
                Err(error) => {
                    assert_eq!(
                        error.kind(),
                        loader::ErrorKind::Unsupported,
                        "{}: {error}",
                        path.display()
                    );
                    continue;
                }
            };
            changed += usize::from(after != words);
            let report = valid(&after);
            assert!(report.is_valid(), "{}: {report:?}", path.display());
        }
    }
    println!("{} modules, {changed} times changed", all.len());
    assert!(all.is_empty() || changed > 0);
}
