//! A Mali-400 job with changed words: a picture or a fault, the same with both engines, and no panic.
#![no_main]

#[path = "../../tests/it/mali/job.rs"]
mod mali_job;

use libfuzzer_sys::fuzz_target;
use mali_job::{Change, Job};
use std::sync::OnceLock;

fuzz_target!(|bytes: &[u8]| {
    static JOB: OnceLock<Job> = OnceLock::new();
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
    // A change is two bytes of place, four of a number, and one of what it does.
    let changes: Vec<Change> = bytes
        .chunks_exact(7)
        .take(32)
        .map(|bytes| (number(&bytes[..2]), number(&bytes[2..6]), number(&bytes[6..])))
        .collect();
    JOB.get_or_init(Job::default).run(&changes);
});
