//! Packing: the reflection derived from code equals the compiler's.

use crate::common;

use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Model, Stage};

/// The stages that a model has.
fn stages(model: &Model) -> Vec<(Stage, Vec<u32>)> {
    Stage::ALL
        .into_iter()
        .map(|stage| (stage, model.code(stage).to_vec()))
        .filter(|(_, code)| !code.is_empty())
        .collect()
}

/// What the derived reflection lacks compared with the file's; any other difference is a failure.
fn missing(name: &str, whole: &Model, derived: &Model) -> Vec<String> {
    let mut missing = Vec::new();
    let known = |list: &[vbc::Variable], of: &[vbc::Variable], what: &str, missing: &mut Vec<String>| {
        assert!(
            of.iter().all(|variable| list.contains(variable)),
            "{name}: {what}: {of:?} of {list:?}"
        );
        let lost = list.iter().filter(|variable| !of.contains(variable));
        missing.extend(lost.map(|variable| format!("unused {what} {}", variable.location)));
    };
    known(&whole.inputs, &derived.inputs, "input", &mut missing);
    known(&whole.outputs, &derived.outputs, "output", &mut missing);
    for binding in &derived.bindings {
        let of_file = whole.bindings.iter().find(|known| known.slot == binding.slot);
        let of_file = of_file.unwrap_or_else(|| panic!("{name}: slot {} is not in the file", binding.slot));
        assert_eq!(
            (binding.base, binding.shape),
            (of_file.base, of_file.shape),
            "{name}: slot {}",
            binding.slot
        );
        assert_eq!(
            binding.stages.0 & !of_file.stages.0,
            0,
            "{name}: slot {}: stages",
            binding.slot
        );
        if binding.stages != of_file.stages {
            missing.push(format!("slot {} in all its stages", binding.slot));
        }
    }
    let slots = |model: &Model| model.bindings.iter().map(|binding| binding.slot).collect::<Vec<_>>();
    let lost = slots(whole).into_iter().filter(|slot| !slots(derived).contains(slot));
    missing.extend(lost.map(|slot| format!("unused slot {slot}")));
    match (&whole.uniform, &derived.uniform) {
        (Some(of_file), Some(uniform)) => {
            assert_eq!(uniform.size, of_file.size, "{name}: uniform size");
            let facts = |u: &vbc::UniformModel| {
                u.members
                    .iter()
                    .map(|m| (m.offset, m.base, m.dims, m.array))
                    .collect::<Vec<_>>()
            };
            // bool is a word of unsigned type in code.
            let words = |u: &vbc::UniformModel| {
                facts(u)
                    .into_iter()
                    .map(|(o, b, d, a)| {
                        (
                            o,
                            if b == vbc::BaseType::BOOL {
                                vbc::BaseType::UINT
                            } else {
                                b
                            },
                            d,
                            a,
                        )
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(uniform), words(of_file), "{name}: uniform members");
            missing.push("names of uniform members".into());
        }
        (Some(_), None) => missing.push("unused uniform".into()),
        (None, Some(_)) => panic!("{name}: a uniform from nowhere"),
        (None, None) => {}
    }
    if derived.subpass_inputs != whole.subpass_inputs {
        assert!(
            derived.subpass_inputs.len() < whole.subpass_inputs.len(),
            "{name}: subpass inputs"
        );
        missing.push("unused subpass inputs".into());
    }
    missing
}

#[test]
fn corpus_stages_give_their_reflection() {
    let folders = [Some(common::data("vbc")), common::corpus("vbc")];
    let mut packed = 0;
    for path in folders.iter().flatten().flat_map(|folder| common::files(folder, "vbc")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let whole = vbc::read(&bytes).unwrap().to_model();
        let derived = pack(&stages(&whole), &Names::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            derived.code, whole.code,
            "{name}: code in the format's convention stays as it is"
        );
        let missing = missing(&name, &whole, &derived);
        if !missing.is_empty() {
            println!("{name}: lacks {}", missing.join(", "));
        }
        packed += 1;
    }
    println!("{packed} files packed from their own stages");
    assert!(packed >= 10);
}
