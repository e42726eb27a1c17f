//! What the integration tests share.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use vulkan::{Context, Options, Validation};

/// A folder of the corpus of real files, which lies beside the checkout where there is one.
///
/// Without it the tests run on the samples of `tests/data` alone, and say so.
pub fn corpus(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/corpus")
        .join(name);
    if path.is_dir() {
        return Some(path);
    }
    println!("corpus {name}: not here, only the repository's own samples are tested");
    None
}

/// A sample of `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// All files below a folder that end in `.ext`, sorted.
pub fn files(folder: &Path, ext: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(&format!(".{ext}")) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The recordings of the 72 jobs; those of the conformance suite lie in a folder of their own.
pub fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder, "trace");
    found.retain(|path| path.parent() == Some(folder));
    found
}

/// One device for all tests, watched by the validation layer.
pub fn context() -> &'static Context {
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
