//! Our rules against SPIRV-Tools' verdicts: public modules, and mutants of them by one word or instruction, chosen by
//! the grammar.

#[path = "../../../loader/tests/it/spirv/mutants.rs"]
mod mutants;

use super::module_text::{Sample, bytes, grammar, in_pairs, installed, tool};
use crate::common;

use mutants::{WAYS, mutate};
use skrymir::loader::spirv::{TargetEnv, to_words, validate, validate_for};
use skrymir::loader::{Report, Severity};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// The public modules with SPIRV-Tools' verdict on each.
fn public() -> Vec<(Sample, bool)> {
    let Some(folder) = common::corpus("spirv") else {
        return Vec::new();
    };
    let verdicts = std::fs::read_to_string(folder.join("verdicts.tsv")).expect("the verdicts");
    let rows = verdicts.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let mut fields = line.split('\t');
        let (name, verdict) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let file = std::fs::read(folder.join(format!("{name}.spv"))).expect("a module of the list");
        let words = to_words(&file).expect("whole words");
        let name = name.to_owned();
        (Sample { name, words }, verdict == "Valid")
    })
    .collect()
}

fn ours(words: &[u32]) -> Option<String> {
    let report = validate(words);
    let mut errors = report.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.next().map(|error| error.to_string())
}

/// Whether all errors are of newer rules.
fn newer(report: &Report) -> bool {
    let mut errors = report.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.all(|found| NEWER.contains(&found.rule))
}

#[test]
fn public_modules_get_the_verdict_of_spirv_tools() {
    let all = public();
    let mut table = [[0; 2]; 2];
    let mut apart = Vec::new();
    for (sample, valid) in &all {
        let found = ours(&sample.words);
        table[usize::from(!valid)][usize::from(found.is_some())] += 1;
        if found.is_none() != *valid {
            apart.push(format!("{}: valid is {valid}, our rules find {found:?}", sample.name));
        }
    }
    println!("{} public modules", all.len());
    println!("{:24} {:>8} {:>8}", "SPIRV-Tools", "we: ok", "we: bad");
    println!("{:24} {:8} {:8}", "valid", table[0][0], table[0][1]);
    println!("{:24} {:8} {:8}", "invalid", table[1][0], table[1][1]);
    assert!(apart.is_empty(), "{apart:#?}");
}

#[test]
fn public_modules_get_the_verdict_for_each_target_environment() {
    let all = public();
    if all.is_empty() || !installed("spirv-val") {
        println!("no public modules or no spirv-val here: nothing to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let help = tool("spirv-val", &["--help"], &[]);
    let help = String::from_utf8_lossy(&help.stdout);
    for env in TargetEnv::ALL {
        // An older spirv-val does not know the newest environments.
        if !help.contains(env.name()) {
            println!("{env:16} is not known to spirv-val");
            continue;
        }
        let apart = Mutex::new(Vec::new());
        in_pairs(&all, |at, (sample, _)| {
            let theirs = reference(sample, at, folder.path(), &["--target-env", env.name()]);
            let report = validate_for(grammar(), &sample.words, *env);
            if report.is_valid() != theirs.is_none() && !(theirs.is_none() && newer(&report)) {
                apart
                    .lock()
                    .unwrap()
                    .push(format!("{}: {theirs:?}; we {report:?}", sample.name));
            }
        });
        let apart = apart.into_inner().unwrap();
        println!("{env:16} {} of {} verdicts differ", apart.len(), all.len());
        apart.iter().for_each(|line| println!("  {line}"));
        assert!(apart.is_empty(), "{env}");
    }
}

/// Rules of the specification that SPIRV-Tools checks since 2023.1, which distributions have.
const NEWER: [&str; 5] = [
    "group-operation",
    "vulkan-explicit-layout",
    "vulkan-physical-layout",
    "vulkan-local-size",
    "mesh",
];

/// Default number of mutants without `SPIRV_MUTANTS`; each takes milliseconds.
const MUTANTS: usize = 2400;

/// A number from the environment: `SPIRV_SEED=7 SPIRV_MUTANTS=20000` for other and more mutants.
fn number(name: &str, otherwise: usize) -> usize {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn mutants_of_public_modules_get_the_verdict_of_spirv_tools() {
    let all: Vec<Sample> = public().into_iter().filter(|row| row.1).map(|row| row.0).collect();
    if all.is_empty() || !installed("spirv-val") {
        println!("no public modules or no spirv-val here: nothing to compare with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (wanted, seed) = (number("SPIRV_MUTANTS", MUTANTS), number("SPIRV_SEED", 16));
    let mut random = fastrand::Rng::with_seed(seed as u64);
    let mut mutants = Vec::new();
    while mutants.len() < wanted {
        let (base, way) = (&all[random.usize(0..all.len())], mutants.len() % WAYS.len());
        if base.words.len() > 6000 {
            continue;
        }
        if let Some(words) = mutate(&base.words, way, &mut random) {
            let name = format!("{} ({})", base.name, WAYS[way]);
            mutants.push((way, Sample { name, words }));
        }
    }
    let table = Mutex::new(BTreeMap::<usize, [usize; 4]>::new());
    let apart = Mutex::new(Vec::new());
    in_pairs(&mutants, |at, (way, sample)| {
        let (theirs, mut found) = (reference(sample, at, folder.path(), &[]), ours(&sample.words));
        if theirs.is_none() && newer(&validate(&sample.words)) {
            found = None;
        }
        let column = 2 * usize::from(theirs.is_none()) + usize::from(found.is_none() != theirs.is_none());
        table.lock().unwrap().entry(*way).or_default()[column] += 1;
        if found.is_none() != theirs.is_none() {
            apart
                .lock()
                .unwrap()
                .push(format!("{}: {theirs:?}; we {found:?}", sample.name));
        }
    });
    let (table, apart) = (table.into_inner().unwrap(), apart.into_inner().unwrap());
    println!(
        "{:26} {:>8} {:>8} {:>8} {:>8}",
        "mutation", "both bad", "only val", "both ok", "only we"
    );
    for (way, row) in &table {
        println!("{:26} {:8} {:8} {:8} {:8}", WAYS[*way], row[0], row[1], row[2], row[3]);
    }
    println!("{} of {} verdicts differ", apart.len(), mutants.len());
    apart.iter().for_each(|line| println!("  {line}"));
    let invalid: usize = table.values().map(|row| row[0] + row[1]).sum();
    assert!(invalid > wanted / 2, "too few mutants that SPIRV-Tools rejects");
    assert!(
        apart.len() * 1000 <= wanted,
        "more than one verdict in a thousand differs"
    );
}

fn reference(sample: &Sample, at: usize, folder: &Path, flags: &[&str]) -> Option<String> {
    let file = folder.join(format!("p{at}.spv"));
    std::fs::write(&file, bytes(&sample.words)).unwrap();
    let output = tool("spirv-val", flags, &[&file]);
    std::fs::remove_file(&file).unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| text.lines().next().unwrap_or_default().to_owned())
}
