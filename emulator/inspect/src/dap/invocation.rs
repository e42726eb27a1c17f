//! The current invocation: a quad of fragments, or a vertex.

use super::names::ProgramNames;
use std::sync::Arc;
use utgard::debug::Values;

/// A fragment of a quad.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lane {
    /// Word of its next instruction; `None` once it has ended.
    pub pc: Option<u32>,
    /// Registers; the pipeline registers are those of the last instruction.
    pub registers: [[f32; 4]; 16],
    /// Results of its last instruction's multipliers.
    pub products: ([f32; 4], f32),
    /// Temporaries, from the lowest that the program uses.
    pub temporaries: Vec<f32>,
    /// Values of local variables.
    pub locals: Values,
    /// Whether it was discarded.
    pub discarded: bool,
    /// Instructions executed.
    pub steps: u64,
}

/// A quad.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quad {
    /// Column and row of the first fragment.
    pub at: (u32, u32),
    /// Mask of the covered fragments.
    pub live: u8,
    /// The fragments.
    pub lanes: [Lane; 4],
    /// Index of the first temporary.
    pub first_temporary: i32,
    /// Uniforms of the draw.
    pub uniforms: Arc<Vec<f32>>,
    /// Varyings of each fragment, as far as they have names.
    pub varyings: [Vec<f32>; 4],
}

/// A vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Vertex {
    /// Its index in the job.
    pub number: u64,
    /// Index of its next instruction; `None` once it has ended.
    pub pc: Option<u32>,
    /// Registers.
    pub registers: [[f32; 4]; 16],
    /// Address registers before its last instruction.
    pub addresses: [i32; 4],
    /// Results of its last instruction's units.
    pub results: [f32; 6],
    /// Uniforms, and temporaries that it stored.
    pub memory: Vec<[f32; 4]>,
    /// Attributes.
    pub attributes: Vec<[f32; 4]>,
    /// Outputs.
    pub outputs: Vec<[f32; 4]>,
    /// Values of local variables.
    pub locals: Values,
    /// Instructions executed.
    pub steps: u64,
}

/// Kind of the invocation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// Four fragments.
    Quad(Box<Quad>),
    /// A vertex.
    Vertex(Box<Vertex>),
}

/// A quad or vertex being executed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Invocation {
    /// Its index since the start.
    pub id: u64,
    /// Index of its job.
    pub job: usize,
    /// Index of its program.
    pub program: usize,
    /// The names of its program.
    pub names: Arc<ProgramNames>,
    /// Its kind.
    pub what: What,
}

impl Quad {
    /// Column and row of a fragment.
    pub(super) fn place(&self, lane: usize) -> (u32, u32) {
        (self.at.0 + (lane as u32 & 1), self.at.1 + (lane as u32 >> 1))
    }

    /// Whether a fragment is covered.
    pub(super) fn is_live(&self, lane: usize) -> bool {
        self.live >> lane & 1 == 1
    }

    /// The fragments that execute the next instruction: those with the lowest address.
    pub(super) fn active(&self) -> [bool; 4] {
        let first = self.lanes.iter().filter_map(|lane| lane.pc).min();
        self.lanes.each_ref().map(|lane| first.is_some() && lane.pc == first)
    }
}

impl Invocation {
    /// Number of threads.
    pub(super) fn threads(&self) -> usize {
        match &self.what {
            What::Quad(_) => 4,
            What::Vertex(_) => 1,
        }
    }

    /// The position of a thread.
    pub(super) fn pc(&self, thread: usize) -> Option<u32> {
        match &self.what {
            What::Quad(quad) => quad.lanes.get(thread)?.pc,
            What::Vertex(vertex) => vertex.pc,
        }
    }

    /// The calls that a thread's next instruction is in, the innermost first; behind the end, and where an instruction is of
    /// no line, the entry point's.
    pub(super) fn stack(&self, thread: usize) -> Vec<u32> {
        let stack = self.pc(thread).map(|at| self.names.stack(at)).unwrap_or_default();
        match stack.is_empty() {
            false => stack.into_iter().map(|(call, _)| call).collect(),
            true => self.names.debug.calls.first().map(|_| 0).into_iter().collect(),
        }
    }

    /// Values of a thread's local variables.
    pub(super) fn locals(&self, thread: usize) -> Option<&Values> {
        match &self.what {
            What::Quad(quad) => Some(&quad.lanes.get(thread)?.locals),
            What::Vertex(vertex) => Some(&vertex.locals),
        }
    }

    /// Instructions executed by a thread.
    pub(super) fn steps(&self, thread: usize) -> u64 {
        match &self.what {
            What::Quad(quad) => quad.lanes.get(thread).map_or(0, |lane| lane.steps),
            What::Vertex(vertex) => vertex.steps,
        }
    }

    /// The threads that execute the next instruction, covered ones first.
    pub(super) fn active(&self) -> Vec<usize> {
        match &self.what {
            What::Quad(quad) => {
                let active = quad.active();
                let mut all: Vec<usize> = (0..4).filter(|lane| active[*lane]).collect();
                all.sort_by_key(|lane| !quad.is_live(*lane));
                all
            }
            What::Vertex(vertex) => vertex.pc.map(|_| 0).into_iter().collect(),
        }
    }

    /// A thread's name.
    pub(super) fn name(&self, thread: usize) -> String {
        match &self.what {
            What::Quad(quad) => {
                let (x, y) = quad.place(thread);
                let helps = if quad.is_live(thread) { "" } else { ", helps only" };
                format!("fragment at {x},{y}{helps}")
            }
            What::Vertex(vertex) => format!("vertex {}", vertex.number),
        }
    }
}
