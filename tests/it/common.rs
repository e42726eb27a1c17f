//! Shared by the integration tests.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use vulkan::{Context, Options, Validation};

/// The folder of corpus files.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/corpus");

/// If this variable is set, a test without corpus files fails.
const NEED: &str = "SKRYMIR_NEED_CORPUS";

/// A folder of the corpus, which is beside the checkout if it exists.
///
/// Without it the tests run only on the samples of `tests/data`, with a message; with `SKRYMIR_NEED_CORPUS` they fail.
pub(crate) fn corpus(name: &str) -> Option<PathBuf> {
    let path = Path::new(CORPUS).join(name);
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

/// The step through a corpus: one file in `sample`, or all.
pub(crate) fn field_step(sample: usize) -> usize {
    if is_whole_field() { 1 } else { sample.max(1) }
}

/// The checkout.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
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
    if let Ok(place) = top.strip_prefix(CORPUS) {
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

/// One device for all tests, with the validation layer.
pub(crate) fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let watched = Options {
            validation: Validation::Full,
            ..Options::default()
        };
        Context::new(&watched).unwrap_or_else(|error| {
            println!("not watched: {error}");
            Context::new(&Options::default()).expect("a Vulkan device; lavapipe will do")
        })
    })
}
