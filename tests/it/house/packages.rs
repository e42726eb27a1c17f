//! What the crates pull in: who wants one thing does not build the rest.

use std::collections::BTreeSet;
use std::process::Command;

/// The names of all crates that a selection of `cargo tree` builds.
fn tree(arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("names");
    text.lines()
        .filter_map(|line| Some(line.split_once(' ')?.0.to_owned()))
        .collect()
}

/// What a VBC user has no use for.
const FOREIGN: [&str; 8] = [
    "clap",
    "naga",
    "rspirv",
    "skrymir-compiler",
    "skrymir-emulator",
    "skrymir-inspect",
    "skrymir-translate",
    "skrymir-utgard",
];

fn foreign(crates: &BTreeSet<String>) -> Vec<&str> {
    FOREIGN.into_iter().filter(|name| crates.contains(*name)).collect()
}

#[test]
fn vbc_needs_neither_naga_nor_the_emulator_nor_the_command_line() {
    for package in ["skrymir-loader", "skrymir-vulkan", "skrymir-scene"] {
        // The first command builds an example: what tests and examples need counts.
        let crates = tree(&["--package", package, "--edges", "normal,build,dev"]);
        println!("{package}: {} crates", crates.len());
        assert_eq!(foreign(&crates), [""; 0], "{package}");
    }
    // The control.
    assert_eq!(foreign(&tree(&["--package", "skrymir"])), FOREIGN);
}
