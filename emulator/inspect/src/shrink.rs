//! Reduces a recording while a predicate still holds: jobs, draws and primitives are removed in halves, then in smaller
//! parts (delta debugging).

mod edits;

use crate::error::{Error, Result};
use crate::recorded;
use edits::{Cuts, Draw, Streams};
use loader::trace::Trace;
use std::collections::BTreeSet;

/// A reduced recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shrunk {
    /// The recording.
    pub bytes: Vec<u8>,
    /// Number of recordings tried.
    pub tried: usize,
    /// Whether the budget ran out before everything was tried.
    pub spent: bool,
    /// Jobs, draws and primitives before.
    pub before: [usize; 3],
    /// The same after.
    pub after: [usize; 3],
}

/// The parts removed from a recording.
#[derive(Clone, Debug, Default)]
struct Cut {
    jobs: BTreeSet<usize>,
    draws: Cuts,
}

struct Search<'a, F> {
    trace: &'a Trace<'a>,
    streams: &'a Streams,
    wrong: F,
    left: usize,
    tried: usize,
    cut: Cut,
}

/// Removes as much as possible from a recording while `wrong` holds for the rest; tries at most `budget` recordings.
///
/// # Errors
/// If `wrong` does not hold for the recording itself, or it faults.
pub fn shrink<F: FnMut(&Trace<'_>) -> bool>(trace: &Trace<'_>, budget: usize, wrong: F) -> Result<Shrunk> {
    let streams = Streams::of(trace)?;
    let mut search = Search {
        trace,
        streams: &streams,
        wrong,
        left: budget.max(1),
        tried: 0,
        cut: Cut::default(),
    };
    if !search.is_wrong(&Cut::default()) {
        return Err(Error::request(
            "nothing is wrong with the recording, so nothing can be left out",
        ));
    }
    let jobs: Vec<usize> = (0..recorded::jobs(trace)).collect();
    let kept = search.least(&jobs, |cut, kept| {
        cut.jobs = jobs.iter().filter(|job| !kept.contains(job)).copied().collect();
    });
    let all: Vec<&Draw> = streams.draws().collect();
    let here: Vec<&Draw> = all.iter().filter(|draw| kept.contains(&draw.job)).copied().collect();
    let numbers: Vec<usize> = (0..here.len()).collect();
    let draws = search.least(&numbers, |cut, kept| {
        let gone = numbers.iter().filter(|number| !kept.contains(number));
        cut.draws = gone.map(|number| (here[*number].key(), BTreeSet::new())).collect();
    });
    let mut primitives = 0;
    for draw in draws.iter().map(|number| here[*number]) {
        let numbers: Vec<usize> = (0..draw.primitives()).collect();
        let left = search.least(&numbers, |cut, kept| {
            cut.draws.insert(draw.key(), kept.iter().copied().collect());
        });
        primitives += left.len();
    }
    Ok(Shrunk {
        bytes: streams.write(trace, &search.cut.jobs, &search.cut.draws),
        tried: search.tried,
        spent: search.left == 0,
        before: [jobs.len(), all.len(), all.iter().map(|draw| draw.primitives()).sum()],
        after: [kept.len(), draws.len(), primitives],
    })
}

impl<F: FnMut(&Trace<'_>) -> bool> Search<'_, F> {
    /// Whether a recording is still wrong; false once the budget is spent.
    fn is_wrong(&mut self, cut: &Cut) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.tried += 1;
        let bytes = self.streams.write(self.trace, &cut.jobs, &cut.draws);
        Trace::read(&bytes).is_ok_and(|trace| (self.wrong)(&trace))
    }

    /// Minimises a set: removes halves first, then quarters, down to single items.
    fn least(&mut self, things: &[usize], put: impl Fn(&mut Cut, &[usize])) -> Vec<usize> {
        let mut kept = things.to_vec();
        let mut part = kept.len().div_ceil(2).max(1);
        while !kept.is_empty() && self.left > 0 {
            let (mut at, mut fewer) = (0, false);
            while at < kept.len() && self.left > 0 {
                let mut without = kept.clone();
                without.drain(at..(at + part).min(kept.len()));
                let mut cut = self.cut.clone();
                put(&mut cut, &without);
                if self.is_wrong(&cut) {
                    (self.cut, kept, fewer) = (cut, without, true);
                } else {
                    at += part;
                }
            }
            // Single items may be removable once others are gone.
            if part == 1 && !fewer {
                break;
            }
            part = (part / 2).max(1);
        }
        kept
    }
}
