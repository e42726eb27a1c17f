//! Damaged jobs: streams, states, descriptors, tile lists and code with random words end in a picture or a fault, the
//! same with both engines, and never in a panic.

use emulator::fault::FaultKind;
use fastrand::Rng;
use properties::job::{Change, Job};
use std::collections::BTreeMap;

#[test]
fn damaged_jobs_end_in_a_picture_or_a_fault() {
    let (job, mut random) = (Job::default(), Rng::with_seed(31));
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..4_000 {
        let changes: Vec<Change> = (0..1 + random.u32(..4))
            .map(|_| (random.u32(..), random.u32(..), random.u32(..4)))
            .collect();
        *ends.entry(job.run(&changes)).or_default() += 1;
    }
    println!("4000 damaged jobs: {ends:?}");
    assert!(ends["a picture"] > 100 && ends.len() >= 4, "{ends:?}");
    assert!(ends.contains_key(&format!("{:?}", FaultKind::Unmapped)));
}
