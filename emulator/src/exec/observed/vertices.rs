//! Watching vertices.

use super::report::{Line, Stage, Watched};
use super::{Key, Log, Program, Tell, numbers};
use crate::exec::VertexProgram;
use crate::exec::observe::VertexStep;
use utgard::gp::{self, Age, Component, Instruction, Source, Stored, Target, UNITS};

/// A program that is seen for the first time.
pub(super) fn program(program: &VertexProgram) -> Program {
    let words: Vec<_> = program.instructions.iter().map(Instruction::encode).collect();
    let text = gp::disassemble(&words, gp::Options::default());
    let mut lines: Vec<Line> = Vec::new();
    for line in text.lines() {
        // An instruction begins with its number; what follows is more of it.
        match line.split_once(':').and_then(|(number, _)| number.parse().ok()) {
            Some(address) => lines.push(Line {
                address,
                text: line.to_owned(),
                hits: 0,
                ways: None,
            }),
            None => {
                if let Some(last) = lines.last_mut() {
                    last.text = format!("{}\n{line}", last.text);
                }
            }
        }
    }
    Program {
        of: Key::Vertex(program.instructions.clone()),
        lines: (0..lines.len()).collect(),
        watched: Watched {
            stage: Stage::Vertex,
            lines,
            source: None,
        },
    }
}

/// What is known of a vertex.
#[derive(Default)]
pub(super) struct Watch {
    /// Components of registers that were written, a bit each.
    written: [u8; 16],
    /// Which units were busy in the last two instructions.
    busy: [[bool; 6]; 2],
    /// Components that the last instruction's first port had.
    port0: u8,
    /// Vertices since the start.
    number: u64,
    reported: bool,
}

impl Watch {
    pub(super) fn begin(&mut self) {
        *self = Self {
            number: self.number + 1,
            ..Self::default()
        };
    }

    /// What a source's value lacks, if it lacks something.
    fn missing(&self, i: &Instruction, source: Source) -> Option<String> {
        let register = |register: u16, component: Component| {
            let have = self.written[usize::from(register & 15)];
            let letter = component.letter();
            (have >> component.index() & 1 == 0).then(|| format!("reads ${register}.{letter}, which was not written"))
        };
        match source {
            Source::Port0(component) if !i.register0_is_attribute => register(i.register0_address, component),
            Source::Port1(component) => register(i.register1_address, component),
            Source::Port0Before(component) => (self.port0 >> component.index() & 1 == 0).then(|| {
                format!(
                    "reads component {} the last instruction's first port did not have",
                    component.letter()
                )
            }),
            Source::Result(unit, age) => (!self.busy[age.instructions() - 1][unit.index()])
                .then(|| format!("reads the result of {}, which computed nothing", unit.name())),
            Source::Port0(_) | Source::Memory(_) | Source::Idle | Source::Undocumented(_) => None,
        }
    }

    /// What the instruction leaves for the next ones.
    fn advance(&mut self, i: &Instruction) {
        self.port0 = if i.register0_is_attribute {
            15
        } else {
            self.written[usize::from(i.register0_address & 15)]
        };
        self.busy = [i.busy(), self.busy[0]];
        for (component, (stored, target)) in i.stores().into_iter().enumerate() {
            if let Target::Register(address) = target
                && stored != Stored::Nothing
            {
                self.written[usize::from(address & 15)] |= 1 << component;
            }
        }
    }
}

/// A vertex did an instruction.
pub(super) fn step(log: &mut Log, step: &VertexStep<'_>) {
    for source in step.instruction.sources() {
        if let Some(message) = log.vertex.missing(step.instruction, source) {
            log.pending.push((0, message));
        }
    }
    log.find(0, step.number);
    log.count(step.number, step.instruction.branch.then_some(step.taken));
    if log.tell == Tell::Everything {
        let text = observed_text(log, step);
        log.say(&text);
    }
    log.vertex.advance(step.instruction);
}

/// The step in words.
fn observed_text(log: &mut Log, step: &VertexStep<'_>) -> String {
    let mut text = String::new();
    if !std::mem::replace(&mut log.vertex.reported, true) {
        text += &format!("vertex {}, vertex{}\n", log.vertex.number - 1, log.program);
    }
    text += &log.text(step.number);
    let mut reads: Vec<String> = Vec::new();
    for (source, value) in step.sources {
        let read = format!("{} {value}", source_name(step.instruction, *source));
        if !reads.contains(&read) {
            reads.push(read);
        }
    }
    let busy = step.instruction.busy();
    let results = UNITS.iter().zip(busy).zip(step.results).filter(|((_, busy), _)| *busy);
    let gives: Vec<String> = results
        .map(|((unit, _), value)| format!("{} {}", unit.name, numbers(&[value])))
        .collect();
    for (what, list) in [("reads", reads), ("gives", gives)] {
        if !list.is_empty() {
            text += &format!("\n        {what} {}", list.join(", "));
        }
    }
    if step.taken {
        text += &format!("\n        goes to {}", step.instruction.target());
    }
    text.push('\n');
    text
}

/// Name of a source as texts have it, or nearly.
fn source_name(i: &Instruction, source: Source) -> String {
    match source {
        Source::Port0(c) if i.register0_is_attribute => format!("a{}.{}", i.register0_address, c.letter()),
        Source::Port0(c) => format!("${}.{}", i.register0_address, c.letter()),
        Source::Port1(c) => format!("${}.{}", i.register1_address, c.letter()),
        Source::Memory(c) => format!("t[{}].{}", i.load_address, c.letter()),
        Source::Port0Before(c) => format!("the last port's {}", c.letter()),
        Source::Result(unit, Age::One) => format!("^{}", unit.name()),
        Source::Result(unit, Age::Two) => format!("^^{}", unit.name()),
        Source::Idle => "nothing".to_owned(),
        Source::Undocumented(code) => format!("source {code}"),
    }
}
