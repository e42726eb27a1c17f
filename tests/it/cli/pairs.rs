//! Pairs of Vulkan samples that glslang accepts: they are packed, valid for our rules and spirv-val, and drawn on the first
//! device.

use crate::common;
use crate::spirv::module_text::installed;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One pair in this many, all if `SKRYMIR_FIELD` is set (`tests/field.sh pairs`).
const SAMPLE: usize = 8;

/// Whether a command succeeds, and its output.
fn ends(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("the command runs");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn skrymir() -> Command {
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
}

/// Whether glslang's own command accepts a file.
fn is_taken(file: &Path, folder: &Path) -> bool {
    let mut command = Command::new("glslangValidator");
    command.arg("-V").arg(file).arg("-o").arg(folder.join("taken.spv"));
    ends(&mut command).0
}

/// The pairs of `field/samples`: vertex and fragment shader.
pub(crate) fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let Some(field) = common::corpus("field") else {
        return Vec::new();
    };
    common::files(&field.join("samples"), "frag")
        .into_iter()
        .map(|fragment| (fragment.with_extension("vert"), fragment))
        .filter(|(vertex, _)| vertex.is_file())
        .collect()
}

#[test]
fn pairs_of_samples_are_packed_and_drawn() {
    let (all, folder) = (pairs(), tempfile::tempdir().expect("a folder"));
    if all.is_empty() || !installed("glslangValidator") {
        println!("no samples or no glslangValidator here: nothing is packed");
        return;
    }
    let step = common::field_step(SAMPLE);
    let (file, picture) = (folder.path().join("x.vbc"), folder.path().join("x.png"));
    let (mut taken, mut packed, mut drawn) = (0, 0, 0);
    for (vertex, fragment) in all.iter().step_by(step) {
        if !is_taken(vertex, folder.path()) || !is_taken(fragment, folder.path()) {
            continue;
        }
        taken += 1;
        let mut pack = skrymir();
        pack.arg("pack")
            .arg("--vert")
            .arg(vertex)
            .arg("--frag")
            .arg(fragment)
            .arg("-o")
            .arg(&file);
        let (done, said) = ends(&mut pack);
        if !done {
            println!("not packed: {}", said.lines().next().unwrap_or_default());
            continue;
        }
        packed += 1;
        let (valid, said) = ends(skrymir().arg("check").arg(&file));
        assert!(valid, "{}: packed and invalid: {said}", fragment.display());
        let (done, said) = ends(
            skrymir()
                .arg("run")
                .arg(&file)
                .args(["--size", "32x32", "-o"])
                .arg(&picture),
        );
        match done {
            true => drawn += 1,
            false => println!("not drawn: {}", said.lines().next().unwrap_or_default()),
        }
    }
    println!("{taken} pairs of field/samples are glslang's, {packed} are packed and valid, {drawn} are drawn");
    assert!(taken > 0 && 100 * packed >= 95 * taken && 100 * drawn >= 95 * packed);
}
