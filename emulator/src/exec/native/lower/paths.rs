//! The ways through a program that branches, from its first instruction to an end.

use crate::exec::wide::fragment_code::{FragmentCode, Next};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use utgard::pp::Condition;

/// Paths of a program at most, and instructions of one: compile time is bounded for any program.
const MOST: usize = 8;
const MAX_LENGTH: u32 = 256;

/// A way from a program's first instruction to its end.
#[derive(Debug)]
pub(crate) struct Path<P> {
    /// Of each branch whether it is taken.
    pub turns: Vec<bool>,
    /// What is made of it, when fragments may go there.
    pub made: OnceLock<Option<P>>,
}

/// The number of the path that fragments went last. It is in a line of its own: all threads read what is beside it.
#[derive(Debug)]
#[repr(align(128))]
struct Last(AtomicUsize);

/// All ways through a program.
#[derive(Debug)]
pub(crate) struct Paths<P> {
    all: Vec<Path<P>>,
    last: Last,
    /// Instructions of the longest.
    steps: u32,
    /// Ways that leave no fragment, which nothing is made of.
    discards: usize,
}

impl<P> Paths<P> {
    /// The ways through a program, where they are few and each comes to an end.
    pub(crate) fn of(code: &FragmentCode) -> Option<Self> {
        let mut paths = Self {
            all: Vec::new(),
            last: Last(AtomicUsize::new(0)),
            steps: 0,
            discards: 0,
        };
        paths.walk(code, 0, &mut Vec::new(), 0)?;
        (!paths.all.is_empty()).then_some(paths)
    }

    /// Adds the paths from an instruction on; `turns` and `steps` are those in front of it.
    fn walk(&mut self, code: &FragmentCode, mut at: usize, turns: &mut Vec<bool>, mut steps: u32) -> Option<()> {
        loop {
            steps += 1;
            if steps > MAX_LENGTH {
                return None;
            }
            match &code.steps.get(at)?.next {
                Next::On(next) => at = *next,
                Next::End => return self.add(turns, steps),
                Next::Branch(condition, target, on) => {
                    for (is_taken, next) in [(true, Some(*target)), (false, *on)] {
                        if is_taken && condition.wanted == Condition::Never
                            || !is_taken && condition.wanted == Condition::Always
                        {
                            continue;
                        }
                        turns.push(is_taken);
                        match next {
                            Some(next) => self.walk(code, next, turns, steps)?,
                            None => self.add(turns, steps)?,
                        }
                        turns.pop();
                    }
                    return Some(());
                }
                Next::Discard => {
                    self.discards += 1;
                    return self.longer(steps);
                }
                Next::Fault(_) => return None,
            }
        }
    }

    fn add(&mut self, turns: &[bool], steps: u32) -> Option<()> {
        self.all.push(Path {
            turns: turns.to_vec(),
            made: OnceLock::new(),
        });
        self.longer(steps)
    }

    /// Takes note of the length of one more way, while they are few.
    fn longer(&mut self, steps: u32) -> Option<()> {
        self.steps = self.steps.max(steps);
        (self.all.len() + self.discards <= MOST).then_some(())
    }

    /// Whether some ways leave no fragment.
    pub(crate) fn may_discard(&self) -> bool {
        self.discards > 0
    }

    /// Instructions of the longest path.
    pub(crate) fn instruction_count(&self) -> u32 {
        self.steps
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The first result of `f` for a path and its number; the path that was found last is tried first.
    pub(crate) fn find<R>(&self, mut f: impl FnMut(usize, &Path<P>) -> Option<R>) -> Option<R> {
        let last = self.last.0.load(Ordering::Relaxed);
        let others = (0..self.all.len()).filter(|number| *number != last);
        std::iter::once(last).chain(others).find_map(|number| {
            let found = f(number, self.all.get(number)?)?;
            // The cache line is not dirtied if the path is unchanged.
            if number != last {
                self.last.0.store(number, Ordering::Relaxed);
            }
            Some(found)
        })
    }
}
