//! Where a run is to stop.

use super::evaluate::{Expression, Names};
use super::invocation::{Invocation, What};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a breakpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In front of an instruction: program and address.
    Instruction(usize, u32),
    /// When a quad with a pixel begins.
    Pixel(u32, u32),
    /// When a vertex of a job begins.
    Vertex(u64),
    /// When a job's first vertex or quad begins.
    Job(usize),
}

/// A breakpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, as the client knows it.
    pub id: u64,
    /// Where.
    pub at: Where,
    /// Only where this is true.
    pub condition: Option<Expression>,
}

/// All breakpoints, by the request that set them, and whether somebody wants a pause.
#[derive(Default)]
pub struct Breakpoints {
    all: Mutex<Vec<(String, Breakpoint)>>,
    /// Stop at the next moment.
    pub pause: AtomicBool,
}

/// A breakpoint that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Which.
    pub ids: Vec<u64>,
    /// The thread that reached it.
    pub thread: usize,
    /// The protocol's word for its kind.
    pub reason: &'static str,
}

impl Breakpoints {
    fn lock(&self) -> MutexGuard<'_, Vec<(String, Breakpoint)>> {
        // The list is whole at every step.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts breakpoints in the place of those of the same group.
    pub fn set(&self, group: &str, new: Vec<Breakpoint>) {
        let mut all = self.lock();
        all.retain(|(of, _)| of != group);
        all.extend(new.into_iter().map(|one| (group.to_owned(), one)));
    }

    /// The breakpoints that are reached now; `begins` says whether the invocation does, `first` whether the job.
    pub fn hit(&self, now: &Invocation, begins: bool, first: bool) -> Option<Hit> {
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
        // What cannot be evaluated stops, so that somebody sees it.
        let holds = |thread: &usize| {
            let Some(condition) = &self.condition else { return true };
            let names = Names { now, thread: *thread };
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

/// A place by a function breakpoint's name: `pixel X,Y`, `vertex N` or `job N`.
pub fn named(name: &str) -> Option<Where> {
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
