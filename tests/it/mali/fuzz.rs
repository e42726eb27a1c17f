//! Damaged jobs: streams, states, descriptors, tile lists and code with random words in them end in a picture or a
//! fault, the same with both engines, and never in a panic.
//!
//! `MALI_FUZZ_SECONDS=60` goes on for so long with other damage each time (`MALI_FUZZ_SEED` to repeat one).

use super::job;

use emulator::gpu::fault::FaultKind;
use fastrand::Rng;
use job::{Change, Job};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn damaged_jobs_end_in_a_picture_or_a_fault() {
    let job = Job::default();
    let seconds = number("MALI_FUZZ_SECONDS");
    let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs());
    let seed = number("MALI_FUZZ_SEED").unwrap_or_else(|| if seconds.is_some() { now() } else { 31 });
    let (start, limit) = (Instant::now(), seconds.map(Duration::from_secs));
    let mut random = Rng::with_seed(seed);
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    let mut count = 0;
    while limit.map_or(count < 4_000, |limit| start.elapsed() < limit) {
        let changes: Vec<Change> = (0..1 + random.u32(..4))
            .map(|_| (random.u32(..), random.u32(..), random.u32(..4)))
            .collect();
        *ends.entry(job.run(&changes)).or_default() += 1;
        count += 1;
    }
    println!("{count} damaged jobs of seed {seed}: {ends:?}");
    assert!(ends["a picture"] > 100 && ends.len() >= 4, "{ends:?}");
    assert!(ends.contains_key(&format!("{:?}", FaultKind::Unmapped)));
}
