//! Observes the scalar engine and stops it.

use super::breakpoints::{Breakpoints, Hit};
use super::invocation::{Invocation, Lane, Quad, Vertex, What};
use super::programs::Programs;
use emulator::exec::inputs::Inputs;
use emulator::exec::observe::{FragmentStep, Observer, VertexStep};
use emulator::exec::wide::Wide;
use emulator::exec::{Engine, FragmentContext, FragmentProgram, Fragments, VertexBatch, VertexProgram, scalar};
use emulator::fault::{Fault, FaultKind, Result};
use emulator::silicon::Silicon;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use utgard::debug::{Location, Values};

/// How a run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    /// To the first vertex or quad.
    Entry,
    /// To a breakpoint.
    Continue,
    /// To a thread's next instruction.
    Instruction(usize),
    /// To a thread's next source line, or its next instruction if it has no source.
    Line(usize),
    /// To the next vertex or quad.
    Out,
    /// To a moment.
    To(u64),
    /// To a moment, to find the last breakpoint before it; then the run ends.
    Scan(u64),
}

/// Why and where a run has stopped.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    /// Steps executed so far.
    pub moment: u64,
    /// The protocol's stop reason.
    pub reason: &'static str,
    /// The thread it concerns.
    pub thread: usize,
    /// Reached breakpoints.
    pub ids: Vec<u64>,
    /// The current invocation; `None` before the first vertex.
    pub now: Option<Invocation>,
    /// The job's fault.
    pub fault: Option<Fault>,
}

/// A report of a run.
pub(super) enum RunEvent {
    /// It has stopped.
    Stopped(Box<Stop>),
    /// The last breakpoint before the moment of [`Go::Scan`].
    Scanned(Option<u64>),
    /// It has ended; whether without a fault.
    Ended(bool),
}

/// Receives a run's reports.
pub(super) type Say = Box<dyn Fn(RunEvent) + Send>;

/// Restricts where a run stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Focus {
    /// Quads with a pixel.
    pub pixel: Option<(u32, u32)>,
    /// A vertex of its job.
    pub vertex: Option<u64>,
    /// Only jobs from this one on; earlier ones run at full speed.
    pub job: usize,
}

impl Focus {
    fn has(&self, now: &Invocation) -> bool {
        match &now.what {
            What::Quad(quad) => match self.pixel {
                Some(pixel) => (0..4).any(|lane| quad.place(lane) == pixel && quad.is_live(lane)),
                None => self.vertex.is_none(),
            },
            What::Vertex(vertex) => match self.vertex {
                Some(number) => vertex.number == number,
                None => self.pixel.is_none(),
            },
        }
    }
}

/// Where a step began.
#[derive(Clone, Copy, Debug, Default)]
struct From {
    id: u64,
    steps: u64,
    line: Option<u32>,
}

/// The observer.
pub(super) struct Stepper {
    programs: Arc<Mutex<Programs>>,
    breakpoints: Arc<Breakpoints>,
    focus: Focus,
    say: Say,
    orders: Receiver<Go>,
    go: Go,
    from: From,
    moment: u64,
    /// Index of the current job.
    pub job: usize,
    /// Invocations of the job so far, and vertices.
    begun: [u64; 2],
    id: u64,
    now: Option<Invocation>,
    /// Fragments that have not reported the current step yet.
    pending: [bool; 4],
    uniforms: Arc<Vec<f32>>,
    /// Inputs of the current primitive.
    inputs: Inputs,
    memory: Vec<[f32; 4]>,
    attributes: VecDeque<Vec<[f32; 4]>>,
    last_hit: Option<u64>,
    /// The run was abandoned.
    pub abandoned: bool,
    given_up: Arc<AtomicBool>,
}

/// Handle of a run, which ends when this is dropped.
pub(super) struct Hold {
    /// Commands after a stop.
    pub orders: Sender<Go>,
    /// Set when the handle is dropped.
    pub given_up: Arc<AtomicBool>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

impl Stepper {
    /// An observer; `orders` are the commands after each stop.
    pub(super) fn new(
        programs: Arc<Mutex<Programs>>,
        breakpoints: Arc<Breakpoints>,
        focus: Focus,
        go: Go,
        (say, orders, given_up): (Say, Receiver<Go>, Arc<AtomicBool>),
    ) -> Self {
        Self {
            given_up,
            programs,
            breakpoints,
            focus,
            say,
            orders,
            go,
            from: From::default(),
            moment: 0,
            job: 0,
            begun: [0; 2],
            id: 0,
            now: None,
            pending: [false; 4],
            uniforms: Arc::default(),
            inputs: Inputs::default(),
            memory: Vec::new(),
            attributes: VecDeque::new(),
            last_hit: None,
            abandoned: false,
        }
    }

    /// Begins a job.
    pub(super) fn begin_job(&mut self, job: usize) {
        self.job = job;
        self.begun = [0; 2];
    }

    /// Reports the end of the run.
    pub(super) fn end(&mut self, well: bool) {
        if !self.abandoned {
            (self.say)(RunEvent::Ended(well));
        }
    }

    /// Reports a fault and stops, so that the state can be inspected.
    pub(super) fn fault(&mut self, fault: Fault) {
        if !self.abandoned {
            let active = self.now.as_ref().and_then(|now| now.active().first().copied());
            self.stop("exception", active.unwrap_or(0), Vec::new(), Some(fault));
        }
    }

    fn programs(&self) -> MutexGuard<'_, Programs> {
        // The list is consistent at every step, so a poisoned lock is usable.
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Values of local variables before a program.
    fn values(&self, program: usize) -> Values {
        let programs = self.programs();
        let program = programs.get(program);
        program.map(|program| program.names.debug.values()).unwrap_or_default()
    }

    fn begin(&mut self, program: usize, what: What) {
        self.id += 1;
        let names = self.programs().get(program).map(|program| program.names.clone());
        self.now = Some(Invocation {
            id: self.id,
            job: self.job,
            program,
            names: names.unwrap_or_default(),
            what,
        });
        self.begun[0] += 1;
        self.boundary(true);
    }

    /// Called between two steps.
    fn boundary(&mut self, begins: bool) {
        self.moment += 1;
        if let Some(What::Quad(quad)) = self.now.as_ref().map(|now| &now.what) {
            self.pending = quad.active();
        }
        self.abandoned |= self.given_up.load(Ordering::Relaxed);
        if self.abandoned {
            return;
        }
        let Some(now) = &self.now else { return };
        let active = now.active();
        let Some(first) = active.first().copied() else {
            return self.ended();
        };
        if let Go::To(moment) | Go::Scan(moment) = self.go {
            return self.replayed(moment, begins, first);
        }
        if self.breakpoints.pause.swap(false, Ordering::Relaxed) {
            return self.stop("pause", first, Vec::new(), None);
        }
        if !self.focus.has(now) {
            return;
        }
        // A breakpoint is more informative than the end of a step.
        if let Some(hit) = self.breakpoints.hit(now, begins, self.begun[0] == 1) {
            return self.stop(hit.reason, hit.thread, hit.ids, None);
        }
        match self.go {
            Go::Entry if begins => self.stop("entry", first, Vec::new(), None),
            Go::Instruction(thread) | Go::Line(thread) if self.stepped(now, thread) => {
                let thread = if now.pc(thread).is_some() { thread } else { first };
                self.stop("step", thread, Vec::new(), None);
            }
            Go::Out if now.id != self.from.id => self.stop("step", first, Vec::new(), None),
            _ => {}
        }
    }

    /// The last instruction has executed; stops so that its result can be inspected.
    fn ended(&mut self) {
        let Some(now) = &self.now else { return };
        match self.go {
            Go::Instruction(thread) | Go::Line(thread) if now.id == self.from.id && self.focus.has(now) => {
                self.stop("step", thread, Vec::new(), None);
            }
            Go::To(moment) if self.moment == moment => self.stop("step", 0, Vec::new(), None),
            _ => {}
        }
    }

    /// A step of a re-run, before its target moment.
    fn replayed(&mut self, moment: u64, begins: bool, first: usize) {
        if self.moment >= moment {
            match self.go {
                Go::Scan(_) => {
                    (self.say)(RunEvent::Scanned(self.last_hit));
                    self.abandoned = true;
                }
                _ => self.stop("step", first, Vec::new(), None),
            }
        } else if let (Go::Scan(_), Some(now)) = (self.go, &self.now) {
            let hit: Option<Hit> = self.breakpoints.hit(now, begins, self.begun[0] == 1);
            if hit.is_some() && self.focus.has(now) {
                self.last_hit = Some(self.moment);
            }
        }
    }

    /// Whether a step is complete.
    fn stepped(&self, now: &Invocation, thread: usize) -> bool {
        if now.id != self.from.id {
            return true;
        }
        if now.pc(thread).is_none() || now.steps(thread) == self.from.steps {
            return false;
        }
        match (self.go, self.from.line) {
            (Go::Line(_), Some(line)) => self.line(now, thread).is_some_and(|at| at != line),
            _ => true,
        }
    }

    fn line(&self, now: &Invocation, thread: usize) -> Option<u32> {
        self.programs().get(now.program)?.source_line(now.pc(thread)?)
    }

    /// Stops until the next command.
    fn stop(&mut self, reason: &'static str, thread: usize, ids: Vec<u64>, fault: Option<Fault>) {
        (self.say)(RunEvent::Stopped(Box::new(Stop {
            moment: self.moment,
            reason,
            thread,
            ids,
            now: self.now.clone(),
            fault,
        })));
        match self.orders.recv() {
            Ok(go) => {
                self.go = go;
                let thread = match go {
                    Go::Instruction(thread) | Go::Line(thread) => thread,
                    _ => thread,
                };
                let now = self.now.as_ref();
                self.from = From {
                    id: self.id,
                    steps: now.map_or(0, |now| now.steps(thread)),
                    line: now.and_then(|now| self.line(now, thread)),
                };
            }
            Err(_) => self.abandoned = true,
        }
    }
}

impl Observer for Stepper {
    const ON: bool = true;

    fn quad(&mut self, program: &FragmentProgram, x: u32, y: u32, live: u8) {
        let number = self.programs().fragment(program);
        let (low, high) = program.temporaries.unwrap_or((0, -1));
        let lane = Lane {
            pc: Some(0),
            temporaries: vec![0.0; (high - low + 1).max(0) as usize],
            locals: self.values(number),
            ..Lane::default()
        };
        let named = self
            .programs()
            .get(number)
            .map_or(0, |program| program.names.varyings());
        let varyings = |lane: u32| {
            let offset = self.inputs.offset(x + (lane & 1), y + (lane >> 1));
            (0..named)
                .map(|component| self.inputs.varying(component, offset))
                .collect()
        };
        let quad = Quad {
            at: (x, y),
            live,
            lanes: std::array::from_fn(|_| lane.clone()),
            first_temporary: low,
            uniforms: self.uniforms.clone(),
            varyings: [0, 1, 2, 3].map(varyings),
        };
        self.begin(number, What::Quad(Box::new(quad)));
    }

    fn fragment(&mut self, step: &FragmentStep<'_>) {
        let Some(now) = &mut self.now else { return };
        let What::Quad(quad) = &mut now.what else { return };
        let lane = &mut quad.lanes[step.lane & 3];
        if let Some(instruction) = lane.pc.and_then(|at| now.names.instruction(at)) {
            now.names
                .debug
                .assign(instruction, &mut lane.locals, |location| match location {
                    Location::Register(register, component) => {
                        let register = step.after.get(usize::from(register))?;
                        register.get(usize::from(component)).copied()
                    }
                    Location::Unit(_) => None,
                });
        }
        lane.pc = step.next;
        lane.registers = *step.after;
        lane.products = step.products;
        lane.temporaries.clear();
        lane.temporaries.extend_from_slice(step.temporaries);
        lane.discarded = step.discarded;
        lane.steps += 1;
        self.pending[step.lane & 3] = false;
        if self.pending == [false; 4] {
            self.boundary(false);
        }
    }

    fn vertex(&mut self, program: &VertexProgram) {
        let number = self.programs().vertex(program);
        let vertex = Vertex {
            number: self.begun[1],
            pc: (!program.instructions.is_empty()).then_some(0),
            memory: self.memory.clone(),
            locals: self.values(number),
            attributes: self.attributes.pop_front().unwrap_or_default(),
            ..Vertex::default()
        };
        self.begun[1] += 1;
        self.begin(number, What::Vertex(Box::new(vertex)));
    }

    fn vertex_step(&mut self, step: &VertexStep<'_>) {
        let Some(now) = &mut self.now else { return };
        let What::Vertex(vertex) = &mut now.what else { return };
        let next = match step.taken {
            true => usize::from(step.instruction.target()),
            false => step.number + 1,
        };
        vertex.registers = *step.registers;
        (vertex.addresses, vertex.results) = (step.addresses, step.results);
        now.names
            .debug
            .assign(step.number, &mut vertex.locals, |location| match location {
                Location::Unit(unit) => step.results.get(usize::from(unit)).copied(),
                Location::Register(..) => None,
            });
        vertex.memory.clear();
        vertex.memory.extend_from_slice(step.memory);
        vertex.outputs.clear();
        vertex.outputs.extend_from_slice(step.outputs);
        vertex.steps += 1;
        // After the last instruction, the invocation ends.
        let programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let length = programs.get(now.program).map_or(0, |program| program.lines.len());
        drop(programs);
        vertex.pc = (next < length).then_some(next as u32);
        self.boundary(false);
    }
}

/// The scalar engine with an observer; jobs outside the focus run on the fast engine.
#[derive(Clone)]
pub(super) struct Stepping(pub Arc<Mutex<Stepper>>);

impl Stepping {
    /// The observer.
    pub(super) fn lock(&self) -> MutexGuard<'_, Stepper> {
        // Its state is consistent between steps, so a poisoned lock is usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The observer, if the job is observed.
    fn watcher(&self) -> Result<Option<MutexGuard<'_, Stepper>>> {
        let mut stepper = self.lock();
        stepper.abandoned |= stepper.given_up.load(Ordering::Relaxed);
        if stepper.abandoned {
            return Err(Fault::new(FaultKind::Budget, "the run was abandoned"));
        }
        Ok((stepper.job >= stepper.focus.job).then_some(stepper))
    }
}

impl Engine for Stepping {
    fn name(&self) -> &'static str {
        "scalar, stepped"
    }

    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()> {
        let Some(mut stepper) = self.watcher()? else {
            return Wide::default().vertices(batch);
        };
        stepper.memory = batch.uniforms.to_vec();
        let attributes = |vertex| batch.rows.attributes_of(vertex).collect();
        stepper.attributes = (0..batch.vertices).map(attributes).collect();
        scalar::vertices(batch, Silicon::default(), &mut *stepper)
    }

    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[emulator::exec::Quad],
        out: &mut Fragments,
    ) -> Result<()> {
        let Some(mut stepper) = self.watcher()? else {
            return Wide::default().fragments(context, inputs, quads, out);
        };
        if *stepper.uniforms != context.uniforms {
            stepper.uniforms = Arc::new(context.uniforms.to_vec());
        }
        stepper.inputs = inputs.clone();
        scalar::fragments(context, inputs, quads, out, Silicon::default(), &mut *stepper)
    }
}
