//! The verdicts of the validator, beside those of SPIRV-Tools.

use super::mutants::{WAYS, mutate};
use crate::common;

use loader::spirv::asm::{Options, assemble};
use loader::spirv::{Grammar, TargetEnv, spirv_val, to_words, validate, validate_for};
use loader::vbc;
use std::collections::BTreeMap;
use std::fmt::Write;

/// SPIRV-Tools' tests of its validator, with the verdict of its newest suite or of the version in distributions.
#[test]
fn the_tests_of_spirv_tools_get_their_verdicts() {
    let Some(folder) = common::corpus("spirv") else { return };
    let folder = folder.join("validator-tests");
    let table = std::fs::read_to_string(folder.join("verdicts.tsv")).expect("the table of verdicts");
    let (mut all, mut newest, mut wrong) = (0, 0, Vec::new());
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, env, suite, installed] = fields[..] else {
            panic!("{line}")
        };
        let text = std::fs::read_to_string(folder.join(format!("{name}.spvasm"))).expect("a test of the table");
        let env = TargetEnv::named(env).expect("a known environment");
        let options = Options {
            preserve_numeric_ids: true,
            version: Some(env.version()),
            ..Options::default()
        };
        let words = assemble(Grammar::builtin(), &text, options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let report = validate_for(Grammar::builtin(), &words, env);
        let verdict = if report.is_valid() { "Valid" } else { "Invalid" };
        all += 1;
        newest += usize::from(verdict == suite);
        if verdict != suite && verdict != installed {
            wrong.push(format!("{name}: {report:?}"));
        }
    }
    println!(
        "{all} tests of SPIRV-Tools, {newest} as its newest suite has them, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// An array of four thousand million samplers takes no location: nothing counts its elements.
#[test]
fn arrays_of_what_has_no_location_are_checked_at_once() {
    let text = "OpCapability Shader\nOpMemoryModel Logical Simple\nOpEntryPoint Vertex %main \"main\" %out\n\
                OpDecorate %out Location 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%sampler = OpTypeSampler\n\
                %uint = OpTypeInt 32 0\n%many = OpConstant %uint 4294967295\n%all = OpTypeArray %sampler %many\n\
                %to = OpTypePointer Output %all\n%out = OpVariable %to Output\n%main = OpFunction %void None %fn\n\
                %entry = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let words = assemble(Grammar::builtin(), text, Options::default()).unwrap();
    let start = std::time::Instant::now();
    let env = TargetEnv::named("vulkan1.3").unwrap();
    let report = validate_for(Grammar::builtin(), &words, env);
    assert!(start.elapsed().as_secs() < 3, "{report:?}");
}

/// The modules whose mutants have recorded verdicts: our own, and the public ones of the corpus.
pub(super) fn modules() -> BTreeMap<String, Vec<u32>> {
    let mut all = BTreeMap::new();
    for path in common::files(&common::data("spirv"), "spvasm") {
        let text = std::fs::read_to_string(&path).unwrap();
        let words = assemble(Grammar::builtin(), &text, Options::default()).unwrap();
        all.insert(path.file_name().unwrap().to_string_lossy().into_owned(), words);
    }
    for path in common::files(&common::data("vbc"), "vbc") {
        let bytes = std::fs::read(&path).unwrap();
        let file = vbc::read(&bytes).unwrap();
        for stage in vbc::Stage::ALL {
            if let Some(code) = file.code(stage) {
                let name = path.file_name().unwrap().to_string_lossy();
                all.insert(format!("{name}.{stage}"), code.words());
            }
        }
    }
    let mut read = |folder: &std::path::Path| {
        let modules = common::files(folder, "spv");
        for path in modules {
            let words = to_words(&std::fs::read(&path).unwrap()).unwrap();
            all.insert(path.file_name().unwrap().to_string_lossy().into_owned(), words);
        }
    };
    read(&common::data(""));
    common::corpus("spirv").iter().for_each(|folder| read(folder));
    all.retain(|_, words| words.len() < 4000 && validate(words).is_valid());
    all
}

/// Mutants of a module, the same ones each time.
pub(super) fn mutants_of(name: &str, words: &[u32]) -> Vec<Vec<u32>> {
    let seed = name
        .bytes()
        .fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut random = fastrand::Rng::with_seed(seed);
    (0..120)
        .filter_map(|at| mutate(words, at % WAYS.len(), &mut random))
        .collect()
}

/// The environment that a mutant is judged for: none, or Vulkan.
fn environment(at: usize) -> Option<TargetEnv> {
    at.is_multiple_of(3).then(|| TargetEnv::named("vulkan1.2").unwrap())
}

/// SPIRV-Tools' verdicts on mutants, recorded in `tests/data/spirv/verdicts.txt`: `v` for valid, `i` for invalid, `-`
/// where it has none, or another one than the specification. `BLESS=1` records them again with the spirv-val that is
/// installed, which a new module, or another generator of random numbers, needs.
#[test]
fn mutants_get_the_recorded_verdicts_of_spirv_tools() {
    let path = common::data("spirv/verdicts.txt");
    let report = |at: usize, words: &[u32]| match environment(at) {
        Some(env) => validate_for(Grammar::builtin(), words, env),
        None => validate(words),
    };
    let ours = |at: usize, words: &[u32]| if report(at, words).is_valid() { 'v' } else { 'i' };
    let all = modules();
    if std::env::var_os("BLESS").is_some() {
        let mut text =
            String::from("# SPIRV-Tools' verdicts on mutants of modules: see loader/tests/it/spirv/verdicts.rs.\n");
        for (name, words) in &all {
            let verdict = |(at, words): (usize, &Vec<u32>)| {
                let arguments = ["--target-env", environment(at).map_or("spv1.6", |env| env.name())];
                let theirs = match spirv_val::validate_as(words, &arguments) {
                    Some(Ok(())) => 'v',
                    Some(Err(_)) => 'i',
                    None => '-',
                };
                if theirs == ours(at, words) { theirs } else { '-' }
            };
            let verdicts: String = mutants_of(name, words).iter().enumerate().map(verdict).collect();
            let _ = writeln!(text, "{name} {verdicts}");
        }
        std::fs::write(&path, text).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    let (mut count, mut valid, mut unknown) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let (name, verdicts) = line.split_once(' ').expect("a name and verdicts");
        // The public ones are not everywhere.
        let Some(words) = all.get(name) else { continue };
        let mutants = mutants_of(name, words);
        assert_eq!(mutants.len(), verdicts.len(), "{name}: other mutants; see BLESS");
        for (at, (words, verdict)) in mutants.iter().zip(verdicts.chars()).enumerate() {
            count += 1;
            valid += usize::from(verdict == 'v');
            unknown += usize::from(verdict == '-');
            if verdict != '-' && ours(at, words) != verdict {
                let way = WAYS[at % WAYS.len()];
                let report = report(at, words);
                wrong.push(format!(
                    "{name}, mutant {at} ({way}): SPIRV-Tools has {verdict}, not {report:?}"
                ));
            }
        }
    }
    println!("{count} mutants of modules, {valid} of them valid, {unknown} without a verdict");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        count > 3_000 && valid * 10 > count && unknown * 50 < count,
        "{count} {valid} {unknown}"
    );
}
