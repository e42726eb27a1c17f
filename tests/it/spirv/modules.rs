//! Disassembly and assembly against SPIRV-Tools, over the corpus and modules built here from our own sources.

#[path = "../../../loader/tests/it/spirv/instances.rs"]
mod instances;

use super::module_text;
use crate::common;

use super::samples::{self, all};
use instances::{PRELUDE, instance, options, round_trip};
use module_text::{Sample, bytes, grammar, in_pairs, installed, tool};
use skrymir::loader::spirv::{asm, dis, operand};
use std::path::Path;
use std::sync::Mutex;

const OPTIONS: [&[&str]; 6] = [
    &[],
    &["--raw-id"],
    &["--no-indent"],
    &["--offsets"],
    &["--comment"],
    &["--raw-id", "--comment", "--offsets"],
];

fn compare(sample: &Sample, at: usize, folder: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let file = folder.join(format!("m{at}.spv"));
    std::fs::write(&file, bytes(&sample.words)).unwrap();
    for flags in OPTIONS {
        let theirs = tool("spirv-dis", flags, &[&file]);
        let ours = dis::disassemble(grammar(), &sample.words, options(flags)).unwrap();
        if theirs.stdout != ours.as_bytes() {
            let line = String::from_utf8_lossy(&theirs.stdout)
                .lines()
                .zip(ours.lines())
                .find(|(a, b)| a != b)
                .map(|(a, b)| format!("{a:?} / {b:?}"));
            faults.push(format!("{} dis {flags:?}: {line:?}", sample.name));
        }
        if flags.is_empty() {
            let text = folder.join(format!("m{at}.spvasm"));
            std::fs::write(&text, &theirs.stdout).unwrap();
            for (arg, preserve) in [("--target-env", false), ("--preserve-numeric-ids", true)] {
                let out = folder.join(format!("m{at}.out"));
                let args: &[&str] = if preserve { &[arg] } else { &[arg, "spv1.6"] };
                tool("spirv-as", args, &[&text, Path::new("-o"), &out]);
                let options = asm::Options {
                    preserve_numeric_ids: preserve,
                    ..Default::default()
                };
                let text = String::from_utf8_lossy(&theirs.stdout);
                let ours = asm::assemble(grammar(), &text, options).map(|words| bytes(&words));
                if ours.as_ref().ok() != std::fs::read(&out).ok().as_ref() {
                    faults.push(format!("{} as {args:?}: {:?}", sample.name, ours.err()));
                }
            }
        }
    }
    faults.extend(round_trip(&sample.name, &sample.words));
    faults
}

/// Raw ids and the exact header reproduce the words.
#[test]
fn text_and_words_as_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let all = all(folder.path());
    let own: Vec<String> = all
        .iter()
        .filter_map(|sample| round_trip(&sample.name, &sample.words))
        .collect();
    assert!(own.is_empty(), "{own:#?}");
    if !installed("spirv-dis") {
        println!(
            "spirv-tools is not installed: {} modules went through our own round trip only",
            all.len()
        );
        return;
    }
    let faults = Mutex::new(Vec::new());
    in_pairs(&all, |at, sample| {
        let found = compare(sample, at, folder.path());
        faults.lock().unwrap().extend(found);
    });
    let faults = faults.into_inner().unwrap();
    println!(
        "{} modules, {} ways to print each: {} differences",
        all.len(),
        OPTIONS.len(),
        faults.len()
    );
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(all.len() >= 200 || common::corpus("vbc").is_none() || !installed("glslangValidator"));
}

/// Difference of newer headers from the reference: this instruction has no result type.
const REWRITTEN: [&str; 1] = ["OpAsmTargetINTEL"];

/// One instruction of every opcode, every enumerant of every kind: identical to the reference where it reads them.
#[test]
fn every_opcode_and_enumerant() {
    if !installed("spirv-dis") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut cases: Vec<(String, Vec<u32>)> = Vec::new();
    for row in grammar().rows() {
        let most = row
            .operands
            .iter()
            .filter_map(|r| grammar().kind(r.kind))
            .map(|k| k.enumerants().len())
            .max();
        for choice in 0..most.unwrap_or(1).max(1) {
            cases.push((format!("{} {choice}", row.name), instance(row, choice)));
        }
    }
    // One process each would take minutes: many instructions per module, fewer each time the reference rejects some.
    let read = Mutex::new((0, Vec::new()));
    let chunks: Vec<&[(String, Vec<u32>)]> = cases.chunks(8).collect();
    in_pairs(&chunks, |at, chunk| {
        let file = folder.path().join(format!("{at}.spv"));
        let same = |part: &[(String, Vec<u32>)]| {
            let mut words = PRELUDE.to_vec();
            part.iter().for_each(|case| words.extend(&case.1));
            std::fs::write(&file, bytes(&words)).unwrap();
            let theirs = tool("spirv-dis", &["--raw-id"], &[&file]);
            let ours = dis::disassemble(grammar(), &words, options(&["--raw-id"])).unwrap();
            let again = asm::assemble(
                grammar(),
                &ours,
                asm::Options {
                    exact: true,
                    ..Default::default()
                },
            );
            assert_eq!(again.as_ref(), Ok(&words), "{ours}");
            theirs.status.success().then(|| theirs.stdout == ours.as_bytes())
        };
        if let Some(true) = same(chunk) {
            read.lock().unwrap().0 += chunk.len();
            return;
        }
        for case in *chunk {
            match same(std::slice::from_ref(case)) {
                Some(true) => read.lock().unwrap().0 += 1,
                Some(false) if !REWRITTEN.iter().any(|part| case.0.contains(part)) => {
                    read.lock().unwrap().1.push(case.0.clone());
                }
                Some(false) => {}
                None => {}
            }
        }
    });
    let (same, different) = read.into_inner().unwrap();
    println!(
        "{} instructions made: {same} read by the reference and identical",
        cases.len()
    );
    assert!(different.is_empty(), "{different:?}");
    // A third of the grammar is newer than the reference that distributions have.
    assert!(same * 10 >= cases.len() * 6, "only {same} of {}", cases.len());
}

/// A name for every built-in and for awkward OpNames.
#[test]
fn names_as_the_reference() {
    if !installed("spirv-dis") {
        return;
    }
    let mut text = String::from("OpCapability Shader\nOpName %x1 \"\"\nOpName %x2 \"a b\"\nOpName %x3 \"a_b\"\n");
    text += "OpName %x4 \"a_b\"\nOpName %x5 \"a_b_0\"\nOpName %x6 \"7\"\nOpName %x7 \"\u{e9}\"\n";
    let folder = tempfile::tempdir().unwrap();
    // The reference may be older than the grammar.
    let known = |number: u32| {
        let file = folder.path().join("known.spv");
        let words = [&PRELUDE[..5], &[71 | 4 << 16, 1, 11, number]].concat();
        std::fs::write(&file, bytes(&words)).unwrap();
        tool("spirv-dis", &["--raw-id"], &[&file]).status.success()
    };
    let built_ins = grammar().kind_of("BuiltIn").unwrap().enumerants();
    for (n, row) in built_ins.iter().filter(|row| known(row.value)).enumerate() {
        text += &format!("OpDecorate %b{n} BuiltIn {}\n", row.name);
    }
    for (n, (width, sign)) in [(8, 0), (8, 1), (16, 1), (24, 0), (24, 1), (64, 1), (64, 0)]
        .iter()
        .enumerate()
    {
        text += &format!("%i{n} = OpTypeInt {width} {sign}\n");
    }
    text +=
        "%f0 = OpTypeFloat 24\n%f1 = OpTypeFloat 16\n%e = OpTypeEvent\n%d = OpTypeDeviceEvent\n%r = OpTypeReserveId\n";
    text += "%q = OpTypeQueue\n%p = OpTypePipe ReadOnly\n%ps = OpTypePipeStorage\n%nb = OpTypeNamedBarrier\n";
    text += "%o1 = OpTypeOpaque \"\"\n%o2 = OpTypeOpaque \"x y\"\n%s = OpTypeStruct %f1\n%h = OpConstant %f1 -0x1p-3\n";
    let words = asm::assemble(grammar(), &text, Default::default()).unwrap();
    let faults = compare(
        &Sample {
            name: "names".into(),
            words,
        },
        0,
        folder.path(),
    );
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Any words: walked, printed, assembled again to the same words where they walk.
#[test]
fn any_words_print_and_come_back() {
    let samples = module_text::compiled(tempfile::tempdir().unwrap().path());
    let mut random = fastrand::Rng::with_seed(1);
    let (mut printed, mut refused) = (0, 0);
    for _ in 0..1_500 {
        let mut words = samples[random.usize(..samples.len())].words.clone();
        samples::damage(&mut words, &mut random, 6);
        let context = operand::Context::new(&words);
        for instruction in skrymir::loader::spirv::instructions(&words).flatten() {
            operand::operands(grammar(), &context, grammar().row(instruction.opcode), &instruction).for_each(drop);
        }
        for flags in [&["--raw-id"][..], &["--comment"]] {
            match dis::disassemble(grammar(), &words, options(flags)) {
                Ok(text) => {
                    printed += 1;
                    assert!(
                        text.len() < words.len() * 1000 + 100_000,
                        "{} bytes of {} words",
                        text.len(),
                        words.len()
                    );
                }
                Err(_) => refused += 1,
            }
        }
    }
    println!("{printed} texts, {refused} refused");
    assert!(printed > 50 && refused > 0);
}

/// A grammar given at run time adds opcodes, enumerants and whole sets.
#[test]
fn grammars_at_run_time() {
    let extra = r#"{"magic_number":"0x07230203","instructions":[{"opname":"OpSkrymirHello","opcode":6999,
        "operands":[{"kind":"StorageClass"},{"kind":"LiteralInteger","quantifier":"*"}]}],
        "operand_kinds":[{"category":"ValueEnum","kind":"StorageClass","enumerants":[{"enumerant":"Attic","value":7777,
        "parameters":[{"kind":"LiteralString"}]}]},{"category":"Literal","kind":"LiteralInteger"},
        {"category":"Literal","kind":"LiteralString"}]}"#;
    let set = r#"{"revision":1,"instructions":[{"opname":"Greet","opcode":3,"operands":[{"kind":"IdRef"}]}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let (core, ext, text, module) = (
        folder.path().join("a.json"),
        folder.path().join("b.json"),
        folder.path().join("a.spvasm"),
        folder.path().join("a.spv"),
    );
    std::fs::write(&core, extra).unwrap();
    std::fs::write(&ext, set).unwrap();
    let source = "%1 = OpExtInstImport \"Own.Set\"\n%2 = OpTypeVoid\n%3 = OpExtInst %2 %1 Greet %2\nOpSkrymirHello Attic \"up\" 1 2\n";
    std::fs::write(&text, source).unwrap();
    let grammars = [
        format!("--grammar={}", core.display()),
        format!("--grammar=Own.Set={}", ext.display()),
    ];
    let run = |verb: &str, file: &Path, more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .arg(verb)
            .arg(file)
            .args(more)
            .args(&grammars)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run("as", &text, &["-o", module.to_str().unwrap()]);
    let printed = run("dis", &module, &["--raw-id", "--no-indent", "--no-header"]);
    assert_eq!(printed, source);
    // Without them: numbers, and raw words for the unknown opcode.
    let words = skrymir::loader::spirv::to_words(&std::fs::read(&module).unwrap()).unwrap();
    let plain = dis::disassemble(grammar(), &words, options(&["--raw-id", "--no-indent", "--no-header"])).unwrap();
    assert!(
        plain.contains("%3 = OpExtInst %2 %1 3 !2") || plain.contains("%3 = OpExtInst %2 %1 3 %2"),
        "{plain}"
    );
    assert!(plain.contains("!0x00051b57 !7777"), "{plain}");
}
