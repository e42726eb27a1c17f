//! The verdict table, the sampler split and conversion, over every module at hand.

use super::module_text;
use crate::common;

use super::samples::{self, all};
use module_text::{bytes, grammar, in_pairs, installed, tool};
use skrymir::loader::spirv;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use translate::validate::{self, Row, Verdict};
use translate::{ErrorKind, Language, Options, Source, Target};

fn source(bytes: &[u8]) -> Source<'_> {
    Source {
        bytes,
        language: Language::Spirv,
        stage: None,
        entry: None,
        any_layout: false,
        y_up: false,
        settings: translate::frontend::Settings::NONE,
        path: std::path::Path::new(""),
    }
}

#[test]
fn every_module_before_every_validator() {
    let folder = tempfile::tempdir().unwrap();
    let all = all(folder.path());
    let counts: Mutex<BTreeMap<(&str, &str), usize>> = Mutex::default();
    let apart = Mutex::new(0);
    in_pairs(&all, |_, sample| {
        let table = validate::all(grammar(), "", &sample.words);
        if table.disagrees() {
            println!("{}:\n{table}", sample.name);
            *apart.lock().unwrap() += 1;
        }
        for Row { validator, verdict } in table.rows {
            let word = match verdict {
                Verdict::Valid => "valid",
                Verdict::Invalid { .. } => "invalid",
                Verdict::Unsupported(_) => "unsupported",
            };
            *counts.lock().unwrap().entry((validator, word)).or_default() += 1;
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("{} modules, {} with disagreement", all.len(), apart.lock().unwrap());
    for ((validator, word), n) in &counts {
        println!("{validator:22} {word:12} {n}");
    }
    assert_eq!(counts[&("skrymir", "valid")], all.len());
    // The modules are valid: no validator may reject one, only report it unsupported.
    assert_eq!(apart.into_inner().unwrap(), 0);
}

#[test]
fn splitting_keeps_modules_valid_and_lets_naga_see_them() {
    let folder = tempfile::tempdir().unwrap();
    let all = all(folder.path());
    let (mut split, mut seen, mut refused) = (0, [0, 0], 0);
    for sample in &all {
        let Ok(words) = spirv::split_samplers(&sample.words) else {
            refused += 1;
            continue;
        };
        if words == sample.words {
            continue;
        }
        let report = spirv::validate(&words);
        assert!(report.is_valid(), "{}: {report:?}", sample.name);
        if installed("spirv-val") {
            let file = folder.path().join("split.spv");
            std::fs::write(&file, bytes(&words)).unwrap();
            let output = tool("spirv-val", &["--scalar-block-layout"], &[&file]);
            assert!(
                output.status.success(),
                "{}: {}",
                sample.name,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        split += 1;
        for (n, words) in [&sample.words, &words].into_iter().enumerate() {
            seen[n] += usize::from(validate::naga(words) == Verdict::Valid);
        }
    }
    println!(
        "{split} modules split, {refused} refused; naga takes {} of them before, {} after",
        seen[0], seen[1]
    );
    assert!(split > 0 || !installed("glslangValidator"));
    assert!(seen[1] >= seen[0]);
    assert!(seen[1] > 0 || split == 0);
}

#[test]
fn converts_or_reports_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let all = all(folder.path());
    for to in [Target::Wgsl, Target::Glsl, Target::Msl, Target::Hlsl] {
        let mut done = 0;
        for sample in &all {
            let bytes = bytes(&sample.words);
            match translate::read(&source(&bytes)).and_then(|shader| translate::write(&shader, to, &Options::default()))
            {
                Ok(_) => done += 1,
                Err(why) => assert!(!why.to_string().is_empty(), "{}", sample.name),
            }
        }
        println!("{to}: {done} of {} modules", all.len());
        assert!(done > 0);
    }
}

#[test]
fn a_width_naga_lacks_is_shown_where_it_is_declared() {
    let text = "OpCapability Shader\nOpCapability Float16\nOpMemoryModel Logical GLSL450\n%bad = OpTypeInt 7 0\n";
    let words = spirv::asm::assemble(grammar(), text, Default::default()).unwrap();
    let verdict = validate::naga(&words).to_string();
    assert!(verdict.ends_with("(at offset 0x30: %u7 = OpTypeInt 7 0)"), "{verdict}");
}

#[test]
fn a_panic_is_a_verdict() {
    let verdict = validate::guarded(|| panic!("oh {}", 1));
    assert_eq!(verdict, Verdict::Unsupported("panicked: oh 1".into()));
}

#[test]
fn check_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let words = spirv::asm::assemble(
        grammar(),
        &std::fs::read_to_string(common::data("spirv/numbers.spvasm")).unwrap(),
        Default::default(),
    )
    .unwrap();
    let run = |words: &[u32], flags: &[&str]| {
        let file = folder.path().join("a.spv");
        std::fs::write(&file, bytes(words)).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .arg("check")
            .arg(&file)
            .args(flags)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(&words, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("spirv: valid") && text.contains("rspirv parser: Valid"),
        "{text}"
    );
    let mut broken = words.clone();
    broken[3] = 5;
    let (code, text) = run(&broken, &["--json"]);
    assert_eq!(code, Some(1));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json[0]["verdict"], "invalid");
    assert!(
        json[0]["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .any(|d| d["rule"] == "id-bound" && d["offset"].is_u64())
    );
    let judged = &json[0]["judged"][0];
    assert_eq!(judged["stage"], serde_json::Value::Null);
    assert!(judged["disagreement"].is_boolean());
    let ours = &judged["verdicts"][0];
    assert_eq!(
        (&ours["validator"], &ours["verdict"]),
        (&"skrymir".into(), &"invalid".into())
    );
    assert!(
        ours["reason"].as_str().unwrap().contains("bound") && ours["offset"].is_u64(),
        "{ours}"
    );
    // Both byte orders are read.
    let swapped: Vec<u32> = words.iter().map(|w| w.swap_bytes()).collect();
    assert_eq!(run(&swapped, &[]).0, Some(0));
}

/// For any bytes our rules return a verdict without a panic.
#[test]
fn any_words_get_a_verdict() {
    let samples = module_text::compiled(tempfile::tempdir().unwrap().path());
    let mut random = fastrand::Rng::with_seed(1);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..3_000 {
        let mut words = samples[random.usize(..samples.len())].words.clone();
        samples::damage(&mut words, &mut random, 4);
        let _ = spirv::split_samplers(&words);
        if spirv::validate(&words).is_valid() {
            good += 1
        } else {
            bad += 1
        }
    }
    println!("{good} valid, {bad} not");
    assert!(bad > 100);
}

/// Runs the tool; returns its exit status and output.
fn skrymir(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_skrymir")).args(args).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

#[test]
fn check_takes_a_grammar() {
    let folder = tempfile::tempdir().unwrap();
    let (module, extra) = (folder.path().join("a.spv"), folder.path().join("extra.grammar.json"));
    let text = std::fs::read_to_string(common::data("spirv/numbers.spvasm")).unwrap();
    let mut words = spirv::asm::assemble(grammar(), &text, Default::default()).unwrap();
    // An unknown opcode, without operands, after the types.
    let at = spirv::instructions(&words)
        .flatten()
        .find(|i| i.opcode == spirv::op::FUNCTION)
        .map_or(words.len(), |i| i.position);
    words.insert(at, 1 << 16 | 0x7abc);
    std::fs::write(&module, bytes(&words)).unwrap();
    std::fs::write(
        &extra,
        r#"{"magic_number":"0x07230203","major_version":1,"minor_version":6,"revision":1,"instructions":[
            {"opname":"OpExtraThing","class":"Miscellaneous","opcode":31420}],"operand_kinds":[]}"#,
    )
    .unwrap();
    let (module, extra) = (module.to_str().unwrap(), extra.to_str().unwrap());
    let (code, text) = skrymir(&["check", module]);
    assert!(code == Some(1) && text.contains("opcode 31420 is not known"), "{text}");
    let (_, text) = skrymir(&["check", module, "--grammar", extra]);
    assert!(
        !text.contains("31420 is not known") && !text.contains("error[opcode]"),
        "{text}"
    );
    assert_eq!(skrymir(&["check", module, "--grammar", "missing.json"]).0, Some(2));
}

#[test]
fn stages_of_a_vbc_get_a_table_each() {
    let file = common::data("vbc/triangle.vbc");
    let (code, text) = skrymir(&["check", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{text}");
    for stage in ["vert", "frag"] {
        assert!(text.contains(&format!("stage {stage}: skrymir: Valid")), "{text}");
        assert!(text.contains(&format!("stage {stage}: rspirv parser: Valid")), "{text}");
    }
    let (_, text) = skrymir(&["check", "--json", file.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let stages: Vec<_> = json[0]["judged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["stage"])
        .collect();
    assert_eq!(stages, ["vert", "frag"]);
}

/// naga's errors name an instruction of the module, or report that there is none to name.
#[test]
fn refusals_of_naga_name_the_instruction() {
    let folder = tempfile::tempdir().unwrap();
    let (mut named, mut unnamed) = (0, 0);
    for sample in &all(folder.path()) {
        for at in (5..sample.words.len()).step_by(7) {
            let mut words = sample.words.clone();
            words[at] ^= 3;
            let error = match translate::read(&source(&bytes(&words))) {
                Err(error) if matches!(error.kind(), ErrorKind::Module { .. }) => error,
                _ => continue,
            };
            let (reason, offset) = (error.to_string(), error.offset());
            match offset {
                Some(offset) => {
                    let split = spirv::split_samplers(&words).unwrap();
                    let text = spirv::dis::one(grammar(), &split, offset as usize / 4).expect("an instruction");
                    assert!(reason.contains(&format!("(at offset {offset:#x}: {text})")), "{reason}");
                    named += 1;
                }
                None => {
                    assert!(reason.ends_with("(naga names no instruction)"), "{reason}");
                    unnamed += 1;
                }
            }
        }
        if named > 2000 {
            break;
        }
    }
    println!("{named} refusals name an instruction, {unnamed} say that they name none");
    assert!(named > 100);
}
