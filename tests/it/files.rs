//! The files of integration tests: the corpus beside the checkout, and our own samples. The tests of the root package
//! and those of the crates include it.

use std::path::{Path, PathBuf};

/// If this variable is set, a test without corpus files fails.
const NEED: &str = "SKRYMIR_NEED_CORPUS";

/// The folder of corpus files: beside the checkout, or where this variable says, for a copy of the checkout.
fn place() -> PathBuf {
    std::env::var_os("SKRYMIR_CORPUS").map_or_else(|| root().join("../shared/corpus"), PathBuf::from)
}

/// A folder of the corpus, which is beside the checkout if it exists.
///
/// Without it the tests run only on the samples of `tests/data`, with a message; with `SKRYMIR_NEED_CORPUS` they fail.
pub(crate) fn corpus(name: &str) -> Option<PathBuf> {
    let path = place().join(name);
    if path.is_dir() {
        return Some(path);
    }
    assert!(
        std::env::var_os(NEED).is_none(),
        "{} is not there, and {NEED} is set",
        path.display()
    );
    println!("corpus {name}: not here, only the repository's own samples are tested");
    None
}

/// Whether whole corpora run, of which the usual tests take samples (`tests/field.sh`).
pub(crate) fn is_whole_field() -> bool {
    std::env::var_os("SKRYMIR_FIELD").is_some()
}

/// The step through a sweep: all of it, or one of `step` where the tests run once per mutant (`tests/mutants.sh`).
pub(crate) fn quick_step(step: usize) -> usize {
    if std::env::var_os("SKRYMIR_QUICK").is_some() {
        step
    } else {
        1
    }
}

/// The step through a corpus: one file in `sample`, or all.
pub(crate) fn field_step(sample: usize) -> usize {
    if is_whole_field() { 1 } else { sample.max(1) }
}

/// The checkout, above the package that these tests belong to.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let holds = |folder: &&Path| folder.join("tests/data").is_dir();
    package.ancestors().find(holds).expect("a checkout with tests/data")
}

/// A sample of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

/// All files below a folder that end in `.ext` (all files for an empty one), sorted. Prints the number of corpus files,
/// and fails without any if the corpus is needed.
pub(crate) fn files(top: &Path, ext: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if ext.is_empty() || path.to_string_lossy().ends_with(&format!(".{ext}")) {
                found.push(path);
            }
        }
    }
    found.sort();
    if let Ok(place) = top.strip_prefix(place()) {
        println!("corpus {}: {} files .{ext}", place.display(), found.len());
        let needed = std::env::var_os(NEED).is_some();
        assert!(
            !(needed && found.is_empty()),
            "no .{ext} in {}, and {NEED} is set",
            top.display()
        );
    }
    found
}

/// The recordings of the 72 jobs; those of the conformance suite are in a separate folder.
pub(crate) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder, "trace");
    found.retain(|path| path.parent() == Some(folder));
    found
}
