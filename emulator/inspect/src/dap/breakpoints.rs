//! Breakpoints.

use super::evaluate::{Expression, Names};
use super::invocation::{Invocation, What};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The location of a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// Before an instruction: program and address.
    Instruction(usize, u32),
    /// At the start of a quad that contains a pixel.
    Pixel(u32, u32),
    /// At the start of a vertex of a job.
    Vertex(u64),
    /// At the start of a job's first vertex or quad.
    Job(usize),
}

/// A breakpoint.
#[derive(Clone, Debug)]
pub(super) struct Breakpoint {
    /// Its id in the protocol.
    pub id: u64,
    /// Its location.
    pub at: Where,
    /// Stop only if this is true.
    pub condition: Option<Expression>,
}

/// All breakpoints, by the request that set them, and a pending pause.
#[derive(Default)]
pub(super) struct Breakpoints {
    all: Mutex<Vec<(String, Breakpoint)>>,
    /// Stop at the next step.
    pub pause: AtomicBool,
}

/// A breakpoint that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Ids of the breakpoints.
    pub ids: Vec<u64>,
    /// The thread that reached it.
    pub thread: usize,
    /// The protocol's stop reason.
    pub reason: &'static str,
}

impl Breakpoints {
    fn lock(&self) -> MutexGuard<'_, Vec<(String, Breakpoint)>> {
        // The list is consistent at every step, so a poisoned lock is usable.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the breakpoints of a group.
    pub(super) fn set(&self, group: &str, new: Vec<Breakpoint>) {
        let mut all = self.lock();
        all.retain(|(of, _)| of != group);
        all.extend(new.into_iter().map(|one| (group.to_owned(), one)));
    }

    /// The breakpoints reached now; `begins` means that the invocation starts, `first` that the job does.
    pub(super) fn hit(&self, now: &Invocation, begins: bool, first: bool) -> Option<Hit> {
        let all = self.lock();
        let mut hit: Option<Hit> = None;
        for (_, one) in all.iter() {
            let Some(thread) = one.thread(now, begins, first) else {
                continue;
            };
            let reason = match one.at {
                Where::Instruction(..) => "breakpoint",
                _ => "function breakpoint",
            };
            let found = hit.get_or_insert(Hit {
                ids: Vec::new(),
                thread,
                reason,
            });
            found.ids.push(one.id);
        }
        hit
    }
}

impl Breakpoint {
    /// The thread that reaches it now.
    fn thread(&self, now: &Invocation, begins: bool, first: bool) -> Option<usize> {
        let wanted = |thread: &usize| match &now.what {
            What::Quad(quad) => quad.is_live(*thread),
            What::Vertex(_) => true,
        };
        // A condition that cannot be evaluated stops, so that the error becomes visible.
        let holds = |thread: &usize| {
            let Some(condition) = &self.condition else { return true };
            let names = Names {
                now,
                thread: *thread,
                depth: 0,
            };
            condition
                .evaluate(&names)
                .map_or(true, |value| value.iter().any(|number| *number != 0.0))
        };
        let mut active = now.active().into_iter().filter(wanted).filter(holds);
        match (self.at, &now.what) {
            (Where::Instruction(program, at), _) if program == now.program => {
                active.find(|thread| now.pc(*thread) == Some(at))
            }
            (Where::Pixel(x, y), What::Quad(quad)) if begins => active.find(|thread| quad.place(*thread) == (x, y)),
            (Where::Vertex(number), What::Vertex(vertex)) if begins && vertex.number == number => active.next(),
            (Where::Job(job), _) if begins && first && now.job == job => active.next(),
            _ => None,
        }
    }
}

/// Parses a function breakpoint's name: `pixel X,Y`, `vertex N` or `job N`.
pub(super) fn named(name: &str) -> Option<Where> {
    let (kind, rest) = name.trim().split_once(' ')?;
    let rest = rest.trim();
    match kind {
        "pixel" => {
            let (x, y) = rest.split_once(',')?;
            Some(Where::Pixel(x.trim().parse().ok()?, y.trim().parse().ok()?))
        }
        "vertex" => Some(Where::Vertex(rest.parse().ok()?)),
        "job" => Some(Where::Job(rest.parse().ok()?)),
        _ => None,
    }
}
