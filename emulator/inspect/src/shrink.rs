//! The least of a recording that still goes wrong: jobs, draws and primitives are left out in halves, then in smaller
//! parts, as long as somebody says that it is still wrong (delta debugging).

mod edits;

use crate::error::{Error, Result};
use crate::recorded;
use edits::{Cuts, Draw, Streams};
use loader::trace::Trace;
use std::collections::BTreeSet;

/// What is left of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shrunk {
    /// The recording.
    pub bytes: Vec<u8>,
    /// Recordings that were tried.
    pub tried: usize,
    /// The number of tries was spent before all had been tried.
    pub spent: bool,
    /// Jobs, draws and primitives before.
    pub before: [usize; 3],
    /// And of these those that are left.
    pub after: [usize; 3],
}

/// What is left out of a recording.
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

/// Leaves out of a recording what it can while `wrong` says that what is left is still wrong; at most `budget` are tried.
///
/// # Errors
/// When the recording is not wrong as it is, or faults.
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
    /// Whether a recording is wrong still; nothing is once the tries are spent.
    fn is_wrong(&mut self, cut: &Cut) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.tried += 1;
        let bytes = self.streams.write(self.trace, &cut.jobs, &cut.draws);
        Trace::read(&bytes).is_ok_and(|trace| (self.wrong)(&trace))
    }

    /// The fewest of some things: parts are left out, half of them first, then quarters, down to single ones.
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
            // Single ones may go once others are gone.
            if part == 1 && !fewer {
                break;
            }
            part = (part / 2).max(1);
        }
        kept
    }
}
