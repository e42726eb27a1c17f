//! The plain engine under observation: traces, reads of values that were never written and of what is not there, counts.

mod fragments;
mod report;
mod vertices;

pub use report::{Finding, Line, Operand, Painted, PixelFragment, Report, Stage, Step, Text, Watched};

use super::inputs::Inputs;
use super::observe::{FragmentStep, Observer, Outside, VertexStep};
use super::scalar;
use super::{Engine, FragmentContext, FragmentProgram, Fragments, Quad, VertexBatch, VertexProgram};
use crate::fault::Result;
use crate::silicon::Silicon;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where words about single instructions go.
pub type Sink = Box<dyn Write + Send>;

/// Which instructions are traced one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tell {
    /// None.
    #[default]
    Nothing,
    /// All.
    Everything,
    /// Those of the fragments at a pixel.
    Pixel(u32, u32),
}

/// The scalar engine with an observer. Clones share the report, so that one can run in a GPU and another be read.
#[derive(Clone)]
pub struct Observed {
    log: Arc<Mutex<Log>>,
    tell: Tell,
    silicon: Silicon,
}

impl Observed {
    /// Tells what `tell` says to `sink`; counts and findings are kept in any case.
    pub fn new(tell: Tell, sink: Sink) -> Self {
        Self {
            log: Arc::new(Mutex::new(Log::new(tell, sink))),
            tell,
            silicon: Silicon::default(),
        }
    }

    /// Also keeps the fragments at these pixels, without text, for [`Observed::take_fragments`].
    #[must_use]
    pub fn keeping(self, pixels: &[(u32, u32)]) -> Self {
        self.log().kept.extend(pixels);
        self
    }

    /// The fragments that were kept since the last call, in order; there is room for as many steps again.
    pub fn take_fragments(&self) -> Vec<PixelFragment> {
        let mut log = self.log();
        log.room = MAX_STEPS;
        std::mem::take(&mut log.pixel)
    }

    /// On hardware as switches suppose it.
    #[must_use]
    pub fn with_quirks(mut self, silicon: Silicon) -> Self {
        self.silicon = silicon;
        self
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // A log is whole at every step, so one that a panic left is as good.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number in reports of a fragment program, if it has run.
    pub fn fragment_program(&self, program: &FragmentProgram) -> Option<usize> {
        let log = self.log();
        let is = |key: &Key| matches!(key, Key::Fragment(have) if *have == program.instructions);
        log.programs.iter().position(|program| is(&program.of))
    }

    /// Number in reports of a vertex program, if it has run.
    pub fn vertex_program(&self, instructions: &[utgard::gp::Instruction]) -> Option<usize> {
        let log = self.log();
        let is = |key: &Key| matches!(key, Key::Vertex(have) if have == instructions);
        log.programs.iter().position(|program| is(&program.of))
    }

    /// What was seen so far.
    ///
    /// # Errors
    /// When something could not be written to the sink.
    pub fn report(&self) -> std::io::Result<Report> {
        let mut log = self.log();
        match log.failed.take() {
            Some(error) => Err(error),
            None => {
                log.sink.flush()?;
                Ok(log.report())
            }
        }
    }
}

impl Engine for Observed {
    fn name(&self) -> &'static str {
        "scalar, watched"
    }

    fn silicon(&self) -> Silicon {
        self.silicon
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        scalar::vertices(batch, self.silicon, &mut *self.log())
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        scalar::fragments(context, inputs, quads, out, self.silicon, &mut *self.log())
    }

    fn observed_pixel(&self) -> Option<(u32, u32)> {
        match self.tell {
            Tell::Pixel(x, y) => Some((x, y)),
            _ => None,
        }
    }

    fn painted(&self, before: [f32; 4], color: Option<[f32; 4]>, after: [f32; 4]) {
        let gives = match color {
            Some(color) => format!("gives {}", numbers(&color)),
            None => "gives nothing".to_owned(),
        };
        let text = format!(
            "    {gives}; the tile had {} and has {}\n",
            numbers(&before),
            numbers(&after)
        );
        let mut log = self.log();
        log.say(&text);
        if let Some(fragment) = log.pixel.last_mut().filter(|fragment| !fragment.helps) {
            fragment.painted = Some(Painted { before, color, after });
        }
    }
}

impl Watched {
    /// A vertex program, none of which has run.
    pub fn vertex(program: &VertexProgram) -> Self {
        vertices::program(program).watched
    }

    /// A fragment program, none of which has run.
    pub fn fragment(program: &FragmentProgram) -> Self {
        fragments::program(program).watched
    }
}

/// Steps of fragments at the observed pixel that are kept.
const MAX_STEPS: usize = 1 << 18;

/// A program that was run.
struct Program {
    of: Key,
    watched: Watched,
    /// The line of each instruction, by its number.
    lines: Vec<usize>,
}

/// What makes programs the same.
#[derive(PartialEq)]
enum Key {
    Vertex(Vec<utgard::gp::Instruction>),
    Fragment(Vec<(u32, utgard::pp::Instruction)>),
}

/// What was seen, and what the present vertex or quad is about.
struct Log {
    tell: Tell,
    /// The pixels whose fragments are kept.
    kept: Vec<(u32, u32)>,
    sink: Sink,
    failed: Option<std::io::Error>,
    programs: Vec<Program>,
    /// Program, address and message, and how often.
    findings: BTreeMap<(usize, u32, String), u64>,
    /// Number of the present program.
    program: usize,
    /// What the present step has met so far: fragment and message.
    pending: Vec<(usize, String)>,
    quad: fragments::Watch,
    vertex: vertices::Watch,
    pixel: Vec<PixelFragment>,
    /// Steps that may still be kept.
    room: usize,
}

impl Log {
    fn new(tell: Tell, sink: Sink) -> Self {
        let kept = match tell {
            Tell::Pixel(x, y) => vec![(x, y)],
            Tell::Nothing | Tell::Everything => Vec::new(),
        };
        Self {
            tell,
            kept,
            sink,
            failed: None,
            programs: Vec::new(),
            findings: BTreeMap::new(),
            program: 0,
            pending: Vec::new(),
            quad: fragments::Watch::default(),
            vertex: vertices::Watch::default(),
            pixel: Vec::new(),
            room: MAX_STEPS,
        }
    }

    fn say(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.sink.write_all(text.as_bytes()).err();
        }
    }

    /// The present program is this one, seen before or not.
    fn begin(&mut self, is: impl Fn(&Key) -> bool, new: impl FnOnce() -> Program) {
        if self.programs.get(self.program).is_some_and(|program| is(&program.of)) {
            return;
        }
        self.program = match self.programs.iter().position(|program| is(&program.of)) {
            Some(number) => number,
            None => {
                self.programs.push(new());
                self.programs.len() - 1
            }
        };
    }

    /// An instruction of the present program was run; `taken` is said of branches that have a choice.
    fn count(&mut self, number: usize, taken: Option<bool>) {
        let Some(program) = self.programs.get_mut(self.program) else {
            return;
        };
        let Some(line) = program
            .lines
            .get(number)
            .and_then(|line| program.watched.lines.get_mut(*line))
        else {
            return;
        };
        line.hits += 1;
        if let Some(taken) = taken {
            line.ways.get_or_insert([0; 2])[usize::from(taken)] += 1;
        }
    }

    /// What the step met, of a fragment, is found at its instruction.
    fn find(&mut self, lane: usize, number: usize) {
        let Some(address) = self.line(number).map(|line| line.address) else {
            return;
        };
        for (_, message) in self.pending.extract_if(.., |(of, _)| *of == lane) {
            *self.findings.entry((self.program, address, message)).or_default() += 1;
        }
    }

    fn line(&self, number: usize) -> Option<&Line> {
        let program = self.programs.get(self.program)?;
        program.watched.lines.get(*program.lines.get(number)?)
    }

    /// The instruction's text, for traces.
    fn text(&self, number: usize) -> String {
        self.line(number).map(|line| line.text.clone()).unwrap_or_default()
    }

    /// Keeps a step of a fragment at an observed pixel, while there is room.
    fn keep(&mut self, begins: Option<PixelFragment>, pixel: (u32, u32), step: Step) {
        self.pixel.extend(begins);
        // The fragments of a quad step by turns.
        let fragment = self.pixel.iter_mut().rev().find(|fragment| fragment.pixel == pixel);
        if let Some(fragment) = fragment.filter(|_| self.room > 0) {
            fragment.steps.push(step);
            self.room -= 1;
        }
    }

    fn report(&self) -> Report {
        let finding = |((program, address, message), count): (&(usize, u32, String), &u64)| Finding {
            program: *program,
            address: *address,
            message: message.clone(),
            count: *count,
        };
        Report {
            programs: self.programs.iter().map(|program| program.watched.clone()).collect(),
            findings: self.findings.iter().map(finding).collect(),
            pixel: self.pixel.clone(),
        }
    }
}

impl Observer for Log {
    const ON: bool = true;

    fn quad(&mut self, program: &FragmentProgram, x: u32, y: u32, live: u8) {
        self.begin(
            |key| matches!(key, Key::Fragment(have) if *have == program.instructions),
            || fragments::program(program),
        );
        self.pending.clear();
        self.quad.begin(x, y, live);
    }

    fn fragment(&mut self, step: &FragmentStep<'_>) {
        fragments::step(self, step);
    }

    fn write(&mut self, lane: usize, register: utgard::pp::Register, mask: u32, value: [f32; 4]) {
        self.quad.write(lane, register, mask, value);
    }

    fn vertex(&mut self, program: &VertexProgram) {
        self.begin(
            |key| matches!(key, Key::Vertex(have) if *have == program.instructions),
            || vertices::program(program),
        );
        self.pending.clear();
        self.vertex.begin();
    }

    fn vertex_step(&mut self, step: &VertexStep<'_>) {
        vertices::step(self, step);
    }

    fn outside(&mut self, lane: usize, what: Outside, index: i64) {
        self.pending
            .push((lane, format!("there is no {} {index}", what.name())));
    }

    fn temporary(&mut self, lane: usize, index: i64, write: bool) {
        if !self.quad.temporary(lane, index, write) {
            self.pending
                .push((lane, format!("reads temporary {index}, which was not written")));
        }
    }
}

/// The components of a vector as text.
fn numbers(values: &[f32]) -> String {
    let texts: Vec<String> = values.iter().map(|value| format!("{value}")).collect();
    format!("({})", texts.join(", "))
}
