//! Fitting: the code of every corpus file stays valid in every mode, with the same meaning.

use crate::common;

use loader::spirv::ModuleIndex;
use loader::vbc::fit::{self, Fitted, Mode, Needs};
use loader::vbc::{self, DescriptorKind, Stage, Tables};
use std::collections::BTreeSet;

/// Fits words that are not from a file.
fn fit(words: &[u32], mode: &Mode) -> loader::Result<Fitted> {
    fit::fit(&ModuleIndex::new(words)?, mode)
}

fn needs(words: &[u32]) -> loader::Result<Needs> {
    fit::needs(&ModuleIndex::new(words)?)
}

/// The slots that code reaches.
fn slots_in_use(words: &[u32]) -> BTreeSet<u8> {
    needs(words).unwrap().slots.into_keys().collect()
}

/// Every stage of every file, with its name; including the corpus if it is present.
fn stages() -> Vec<(String, Vec<u32>)> {
    let mut stages = Vec::new();
    let folders = [Some(common::data("vbc")), common::corpus("vbc")];
    for path in folders.iter().flatten().flat_map(|folder| common::files(folder, "vbc")) {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(file) = vbc::read(&bytes) else { continue };
        for stage in Stage::ALL {
            if let Some(code) = file.code(stage) {
                stages.push((
                    format!("{} {stage}", path.file_name().unwrap().to_string_lossy()),
                    code.words(),
                ));
            }
        }
    }
    stages
}

const SMALL: Mode = Mode::Cut {
    tables: Tables {
        samplers: 16,
        images: 8,
        buffers: 16,
        rotexels: 8,
        rwtexels: 8,
    },
    declare: true,
};
const MODES: [Mode; 3] = [Mode::Bindless, SMALL, Mode::Lowered];

#[test]
fn every_stage_stays_valid_in_every_mode() {
    let (mut valid, mut judged) = (0, true);
    for (name, words) in stages() {
        for mode in MODES {
            let fitted = fit(&words, &mode).unwrap_or_else(|error| panic!("{name} {mode:?}: {error}"));
            check_structure(&name, &words, &mode, &fitted);
            match loader::spirv::spirv_val::validate(&fitted.words) {
                Some(Ok(())) => valid += 1,
                Some(Err(why)) => panic!("{name} {mode:?}: {why}"),
                None => judged = false,
            }
        }
    }
    println!(
        "{valid} fitted modules are valid by spirv-val{}",
        if judged { "" } else { " (not installed)" }
    );
}

/// Must hold regardless of the validator.
fn check_structure(name: &str, words: &[u32], mode: &Mode, fitted: &Fitted) {
    let (wanted, reached) = (needs(words).unwrap(), slots_in_use(words));
    let slots: BTreeSet<u8> = fitted.resources.iter().filter_map(|resource| resource.slot).collect();
    match mode {
        Mode::Lowered => {
            assert_eq!(slots, reached, "{name}: each slot in use is a resource");
            assert_eq!(fitted.push_constant_bytes, 0, "{name}: push constants are left");
            let tables = fitted.resources.iter().filter(|resource| resource.set == 0);
            tables.for_each(|resource| {
                assert_eq!(
                    (resource.count, Some(resource.binding as u8)),
                    (1, resource.slot),
                    "{name}"
                )
            });
        }
        Mode::Cut { tables: most, .. } => {
            let within = |(binding, length): (usize, &u32)| *length <= u32::from(most.sizes()[binding]);
            assert!(
                needs(&fitted.words).unwrap().tables.iter().enumerate().all(within),
                "{name}: a table is too long"
            );
        }
        Mode::Bindless => {
            assert_eq!(
                needs(&fitted.words).unwrap(),
                wanted,
                "{name}: bindless code is as it was"
            );
        }
    }
    assert_eq!(
        accesses(&fitted.words, mode).len(),
        accesses(words, &Mode::Bindless).len(),
        "{name} {mode:?}: reads and writes"
    );
    assert_eq!(
        arithmetic(&fitted.words),
        arithmetic(words),
        "{name} {mode:?}: the rest of the code"
    );
    let mut ids = BTreeSet::new();
    for instruction in loader::spirv::instructions(&fitted.words) {
        let instruction = instruction.unwrap();
        if let Some(id) = loader::spirv::transform::result(instruction.words) {
            assert!(
                ids.insert(id) && id < fitted.words[3],
                "{name}: id {id} is twice or past the bound"
            );
        }
    }
}

/// The opcodes that are neither lookup nor memory access: the same in every mode.
fn arithmetic(words: &[u32]) -> Vec<u16> {
    const LOOKUP: [u16; 9] = [59, 61, 62, 65, 66, 83, 124, 194, 199];
    let body = loader::spirv::instructions(words)
        .flatten()
        .skip_while(|instruction| instruction.opcode != 54);
    body.map(|instruction| instruction.opcode)
        .filter(|opcode| !LOOKUP.contains(opcode))
        .collect()
}

/// The image operations and atomics, which use the chosen lookups.
fn accesses(words: &[u32], _mode: &Mode) -> Vec<u16> {
    let body = loader::spirv::instructions(words).flatten();
    body.map(|instruction| instruction.opcode)
        .filter(|opcode| (87..=107).contains(opcode))
        .collect()
}

#[test]
fn each_access_keeps_its_slot() {
    // two_samplers reads slot 0 (low half of word 0) and slot 5 (high half of word 2), in this order.
    let bytes = std::fs::read(common::data("vbc/two_samplers.vbc")).unwrap();
    let file = vbc::read(&bytes).unwrap();
    let words = file.code(Stage::Frag).unwrap().words();
    assert_eq!(slots_in_use(&words), BTreeSet::from([0, 5]));
    let fitted = fit(&words, &Mode::Lowered).unwrap();
    let found: Vec<_> = fitted
        .resources
        .iter()
        .map(|r| (r.set, r.binding, r.slot, r.kind))
        .collect();
    let sampler = DescriptorKind::CombinedImageSampler;
    assert_eq!(found, [(0, 0, Some(0), sampler), (0, 5, Some(5), sampler)]);
    assert_eq!(order_of_bindings(&fitted.words), [0, 5]);
    // Negative control: with the two lookups exchanged the order is reversed.
    let mut exchanged = words.clone();
    let indices: Vec<usize> = loader::spirv::instructions(&words)
        .flatten()
        .filter(|i| i.opcode == 65 && i.words.len() == 5 && i.words[3] == table(&words))
        .map(|i| i.position + 4)
        .collect();
    exchanged.swap(indices[0], indices[1]);
    assert_ne!(
        order_of_bindings(&fit(&exchanged, &Mode::Lowered).map_or(vec![], |f| f.words)),
        [0, 5]
    );
}

/// The variable decorated with set 0.
fn table(words: &[u32]) -> u32 {
    let decorated = loader::spirv::instructions(words)
        .flatten()
        .find(|i| i.opcode == 71 && i.words[2..] == [34, 0]);
    decorated.unwrap().words[1]
}

/// Bindings of the sampled images in the order the code loads them.
fn order_of_bindings(words: &[u32]) -> Vec<u32> {
    let all: Vec<_> = loader::spirv::instructions(words).flatten().collect();
    let binding = |id: u32| {
        all.iter()
            .find(|i| i.opcode == 71 && i.words[1..3] == [id, 33])
            .map(|i| i.words[3])
    };
    all.iter()
        .filter(|i| i.opcode == 61)
        .filter_map(|i| binding(i.words[3]))
        .collect()
}

#[test]
fn damaged_code_is_an_error_or_fits() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut fits, mut errors) = (0, 0);
    for (_, words) in stages().into_iter().filter(|(_, words)| words.len() < 2000) {
        let mut try_all = |words: &[u32]| {
            for mode in MODES {
                match fit(words, &mode) {
                    Ok(_) => fits += 1,
                    Err(_) => errors += 1,
                }
            }
        };
        for cut in (0..words.len()).step_by(7) {
            try_all(&words[..cut]);
        }
        for _ in 0..40 {
            let mut damaged = words.clone();
            let at = random.usize(..damaged.len());
            damaged[at] = match random.u32(..3) {
                0 => random.u32(..),
                1 => damaged[at] ^ 1 << random.u32(..32),
                _ => damaged[random.usize(..words.len())],
            };
            try_all(&damaged);
        }
    }
    println!("{fits} damaged modules still fit, {errors} are refused");
    assert!(fits > 0 && errors > 0);
}

/// Every one-word instruction after the header, which a pass must not mistake for a longer one.
#[test]
fn instructions_without_operands_are_no_panic() {
    let bytes = std::fs::read(common::data("vbc/two_samplers.vbc")).unwrap();
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    for opcode in 0..=400u32 {
        let mut damaged = words.clone();
        damaged.insert(5, 1 << 16 | opcode);
        for mode in MODES {
            let _ = fit(&damaged, &mode);
        }
        let stages = [(Stage::Frag, damaged)];
        let _ = vbc::pack::pack(&stages, &vbc::pack::Names::default());
    }
}

/// An index variable that a function may change is unknown: lowering rejects it.
#[test]
fn an_index_that_escapes_is_refused() {
    let bytes = std::fs::read(common::data("vbc/rotexels.vbc")).unwrap();
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    assert!(fit(&words, &Mode::Lowered).is_ok());
    let folder = common::corpus("vbc").map(|folder| folder.join("head_34_unoptimized.vbc"));
    let Some(bytes) = folder.and_then(|path| std::fs::read(path).ok()) else {
        return;
    };
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    assert!(
        fit(&words, &Mode::Lowered).is_ok(),
        "a variable with one store is followed"
    );
    // The index variable is also the target of a copy: OpCopyMemory to itself represents any unknown use.
    let index = loader::spirv::instructions(&words)
        .flatten()
        .find(|i| i.opcode == 59 && i.words[3] == 7)
        .unwrap()
        .words[2];
    let store = loader::spirv::instructions(&words)
        .flatten()
        .find(|i| i.opcode == 62 && i.words[1] == index)
        .unwrap();
    let mut escaped = words.clone();
    escaped.splice(store.position..store.position, [3 << 16 | 63, index, index]);
    assert!(
        fit(&escaped, &Mode::Lowered).is_err(),
        "a variable that escapes is guessed"
    );
}
