//! The crates' dependencies: a user of one feature does not build the others.

use crate::common;
use std::collections::BTreeSet;
use std::path::Path;
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

/// Every crate can be packaged: all its files, and versions of all its dependencies. `tests/package.sh` builds the
/// packages.
#[test]
fn every_crate_is_a_package() {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--workspace", "--list", "--allow-dirty", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    // A file that a source includes by a path must be in its own package.
    let (mut checked, mut outside) = (0, Vec::new());
    for folder in super::signatures::LIBRARIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("src");
        for path in common::files(&folder, "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            for taken in taken_in(&text) {
                checked += 1;
                let taken = path.with_file_name(taken);
                let depth = taken.strip_prefix(folder.parent().expect("a package")).map(|inner| {
                    let steps = inner
                        .components()
                        .map(|part| if part.as_os_str() == ".." { -1 } else { 1 });
                    steps.fold((0, 0), |(at, least): (i32, i32), step| {
                        (at + step, least.min(at + step))
                    })
                });
                if !matches!(depth, Ok((_, least)) if least >= 0) {
                    outside.push(taken);
                }
            }
        }
    }
    println!("{checked} files are taken in");
    assert!(checked >= 10 && outside.is_empty(), "{checked}: {outside:?}");
    // Negative control.
    assert_eq!(taken_in("a!(include_str!(\"../../b.c\"))"), ["../../b.c"]);
}

/// The files that a source's `include` macros name.
fn taken_in(text: &str) -> Vec<&str> {
    let quoted = text.split("include_").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("str!(\"").or(rest.strip_prefix("bytes!(\""))?;
        rest.split('"').next()
    });
    quoted.collect()
}

/// Crates that a user of VBC does not need.
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
        // The first command builds an example, so dependencies of tests and examples count.
        let crates = tree(&["--package", package, "--edges", "normal,build,dev"]);
        println!("{package}: {} crates", crates.len());
        assert_eq!(foreign(&crates), [""; 0], "{package}");
    }
    for package in ["skrymir-capi", "skrymir"] {
        let crates = tree(&["--package", package, "--no-default-features", "--edges", "normal,build"]);
        println!("{package}: {} crates", crates.len());
        assert_eq!(foreign(&crates), [""; 0], "{package}");
    }
    // Negative control.
    assert_eq!(foreign(&tree(&["--package", "skrymir"])), FOREIGN);
}
