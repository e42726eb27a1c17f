//! Damaged VBC files: cut at every byte, and every byte of the first 300 changed. Nothing panics.

mod common;
#[path = "common/vbc_samples.rs"]
mod samples;

use loader::vbc::{self, RULES};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The corpus and our own samples.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = samples::all().map(|(name, bytes)| (name.to_owned(), bytes)).into();
    for path in common::corpus("vbc")
        .iter()
        .flat_map(|folder| common::files(folder, "vbc"))
    {
        files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
    }
    files
}

/// Everything that takes a file's bytes. Whether the file could be read.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(file) = vbc::read(bytes) else { return false };
    let report = vbc::validate(&file);
    for diagnostic in &report.diagnostics {
        assert!(
            RULES.iter().any(|rule| rule.0 == diagnostic.rule),
            "{} is not in the list",
            diagnostic.rule
        );
        assert!(
            diagnostic.offset.is_some_and(|offset| offset <= bytes.len() as u64),
            "{diagnostic}"
        );
    }
    let _ = vbc::requirements(&file);
    let model = file.to_model();
    if let Ok(written) = vbc::write(&model) {
        let again = vbc::read(&written).map(|file| file.to_model());
        // What does not hold together may read again as another form; what is valid may not.
        assert!(!report.is_valid() || again == Ok(model), "writing changed a valid file");
    }
    true
}

/// Runs the cases of every file on all cores: `case(bytes, index)` for `index` below `count(bytes)`.
fn on_all_cores(
    files: &[(String, Vec<u8>)],
    count: fn(&[u8]) -> usize,
    case: impl Fn(&mut Vec<u8>, usize) -> bool + Sync,
) -> (usize, usize) {
    const CHUNK: usize = 512;
    let chunks: Vec<_> = files
        .iter()
        .flat_map(|(name, bytes)| (0..count(bytes)).step_by(CHUNK).map(move |from| (name, bytes, from)))
        .collect();
    let (next, read, all) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(name, bytes, from)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut work = bytes.clone();
                    for index in from..count(bytes).min(from + CHUNK) {
                        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&mut work, index)));
                        let was_read = result.unwrap_or_else(|_| panic!("{name}, case {index}"));
                        read.fetch_add(was_read.into(), Ordering::Relaxed);
                        all.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    (all.into_inner(), read.into_inner())
}

#[test]
fn a_file_cut_anywhere() {
    let files = files();
    let (all, read) = on_all_cores(&files, |bytes| bytes.len(), |work, index| exercise(&work[..index]));
    println!("{} files: {all} cuts, {read} of them readable", files.len());
}

#[test]
fn any_byte_changed_to_any_other() {
    let files = files();
    let count = |bytes: &[u8]| bytes.len().min(300) * 255;
    let (all, read) = on_all_cores(&files, count, |work, index| {
        let (at, change) = (index / 255, (index % 255) as u8 + 1);
        work[at] ^= change;
        let was_read = exercise(work);
        work[at] ^= change;
        was_read
    });
    println!(
        "{} files: {all} changed bytes, {read} of the files still readable",
        files.len()
    );
    assert!(
        read > all / 4,
        "changes should leave files readable, or the validator is not tested"
    );
}
