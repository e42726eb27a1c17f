//! Trimmed recordings replay to the same picture, and only unneeded parts are removed.

use crate::common;

use emulator::exec::Engine;
use emulator::exec::wide::Wide;
use inspect::trim::{Untouched, trim};
use loader::trace::{Record, Trace};
use skrymir::picture::Picture;
use skrymir::runner::replay::replay;

fn engine() -> Box<dyn Engine> {
    Box::new(Wide::default())
}

/// The picture of a recording, unless it faults.
fn picture(trace: &Trace<'_>) -> Option<Picture> {
    replay(trace, engine(), 1).ok()?.picture().ok()
}

/// The longest page's bytes.
fn longest<'a>(trace: &Trace<'a>) -> Option<(usize, &'a [u8])> {
    let pages = trace
        .records
        .iter()
        .enumerate()
        .filter_map(|(at, (_, record))| match record {
            Record::Page { bytes, .. } => Some((at, *bytes)),
            _ => None,
        });
    pages.max_by_key(|(_, bytes)| bytes.len())
}

#[test]
fn recordings_trim_to_the_same_picture() {
    let Some(folder) = common::corpus("mali") else { return };
    let (mut count, mut before, mut after, mut memory, mut needed) = (0, 0, 0, 0, 0);
    for path in common::files(&folder, "trace") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let trace = Trace::read(&bytes).unwrap();
        let wanted = picture(&trace).unwrap_or_else(|| panic!("{name}"));
        let last = inspect::recorded::jobs(&trace) - 1;
        for jobs in [0..=last, last..=last] {
            let trimmed = trim(&trace, &jobs, Untouched::Keep, engine).unwrap();
            let again = Trace::read(&trimmed.bytes).unwrap();
            assert!(picture(&again).as_ref() == Some(&wanted), "{name}, jobs {jobs:?}");
            // Jobs without a recorded picture may be needed only by others that are removed.
            if *jobs.start() == 0 {
                assert!(trimmed.bytes.len() <= bytes.len(), "{name} grows");
                (before, after) = (before + bytes.len(), after + trimmed.bytes.len());
                memory += trimmed.memory;
            }
            // Negative control: without its longest page the recording differs.
            let (at, _) = longest(&again).unwrap();
            let mut without = again.clone();
            without.records.remove(at);
            needed += usize::from(picture(&without).as_ref() != Some(&wanted));
        }
        count += 1;
    }
    println!("{count} recordings: {before} bytes to {after}, {memory} of them memory");
    println!(
        "without its longest page {needed} of {} give another picture",
        2 * count
    );
    assert!(count >= 72 && after < before && needed > count);
}

#[test]
fn missing_jobs_are_rejected() {
    let trace = Trace {
        gpu: 1,
        pps: 1,
        records: Vec::new(),
    };
    let error = trim(&trace, &(0..=0), Untouched::Drop, engine).unwrap_err();
    assert_eq!(error.to_string(), "the recording has no jobs");
}
