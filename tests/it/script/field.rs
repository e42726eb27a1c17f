//! All scripts of the corpus on the first Vulkan device, with the validation layer: known failures are in a table with
//! the reason. Runs if `SKRYMIR_FIELD` is set (`tests/field.sh`).

use crate::common::{corpus, is_whole_field};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Scripts with an unexpected result: a part of the path, and the reason.
const KNOWN: &[(&str, &str)] = &[
    (
        "cts/ldexp/template.amber",
        "is what scripts are made of by a program, and none itself",
    ),
    (
        "cts/ldexp/ldexp_",
        "Mesa 22.3 ends the process where the exponent of Ldexp has not 32 bits; Mesa 25.0 holds",
    ),
    (
        "graphicsfuzz/cov-int-initialize-from-multiple-large-arrays.amber",
        "Mesa 22.3 compiles it for longer than a minute; Mesa 25.0 holds",
    ),
    (
        "graphicsfuzz/spv-stable-maze-flatten-copy-composite.amber",
        "Mesa 22.3 compiles it for longer than a minute; Mesa 25.0 holds",
    ),
    (
        "shader_invocation/helper_invocation_volatile_mem_model.amber",
        "Mesa 22.3 forgets which invocations were demoted; Mesa 25.0 holds",
    ),
    (
        "texel_buffer/uniform/snorm/b8g8r8-snorm.amber",
        "the script has the first byte for red; Vulkan's B8G8R8 begins with blue",
    ),
];

/// A reason without the parts that vary between scripts.
fn kind(reason: &str) -> String {
    let words = reason
        .split_whitespace()
        .map(|word| match word.contains(|c: char| c.is_ascii_digit()) {
            true => "N",
            false => word,
        });
    words.collect::<Vec<_>>().join(" ")
}

/// The document that `run --json` prints.
fn run(folder: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args(["run", "--json", "--validation"])
        .arg(folder)
        .output()
        .expect("the binary runs");
    serde_json::from_slice(&output.stdout).expect("a document")
}

#[test]
fn field_scripts_pass_or_fail_for_a_known_reason() {
    if !is_whole_field() {
        return;
    }
    let Some(folder) = corpus("amber") else { return };
    let document = run(&folder);
    let rows = document["scripts"].as_array().expect("rows");
    let (mut reasons, mut unknown, mut messages) = (BTreeMap::<String, usize>::new(), Vec::new(), 0);
    for row in rows {
        messages += row["validation"].as_array().map_or(0, Vec::len);
        let reason = kind(row["reason"].as_str().unwrap_or_default());
        let verdict = row["verdict"].as_str().expect("a verdict");
        if row["right"] == true {
            continue;
        }
        let file = row["file"].as_str().expect("a file");
        let known = KNOWN.iter().find(|(part, _)| file.contains(part));
        let reason = match (verdict, known) {
            ("unsupported" | "no file", _) => format!("{verdict}: {reason}"),
            (_, Some((_, why))) => format!("wrong: {why}"),
            _ => {
                unknown.push(format!("{row:#}"));
                continue;
            }
        };
        *reasons.entry(reason).or_default() += 1;
    }
    let count = |name: &str| document[name].as_u64().expect("a count");
    let runnable = rows.len() as u64 - count("unsupported") - count("no_file");
    println!(
        "{} scripts of amber: {} right ({:.1} % of the {runnable} that the device and the files are there for), {} \
         unsupported, {} without a file, {} wrong; {messages} messages of the validation layer; {:.0} s, peak of a process \
         {} MiB",
        rows.len(),
        count("right"),
        count("right") as f64 * 100.0 / runnable as f64,
        count("unsupported"),
        count("no_file"),
        count("wrong"),
        document["seconds"].as_f64().expect("a time"),
        document["memory"]
            .as_u64()
            .map_or("unknown".to_owned(), |bytes| (bytes >> 20).to_string()),
    );
    for (reason, count) in reasons {
        println!("{count:5} {reason}");
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    assert_eq!(messages, 0, "messages of the validation layer");
    assert!(count("right") * 10 >= rows.len() as u64 * 9, "too few are right");
}
