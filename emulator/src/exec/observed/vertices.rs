//! Watching vertices.

use super::report::{Line, Stage, Watched};
use super::{Key, Log, Program, Tell, numbers};
use crate::exec::VertexProgram;
use crate::exec::observe::VertexStep;
use utgard::gp::{self, Instruction, Target, flow, ops};
use utgard::text::COMPONENTS;

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
    told: bool,
}

impl Watch {
    pub(super) fn begin(&mut self) {
        *self = Self {
            number: self.number + 1,
            ..Self::default()
        };
    }

    /// What a source's value lacks, if it lacks something.
    fn missing(&self, i: &Instruction, source: u16) -> Option<String> {
        let component = COMPONENTS[usize::from(source & 3)];
        let register = |register: u16| {
            let have = self.written[usize::from(register & 15)];
            (have >> (source & 3) & 1 == 0).then(|| format!("reads ${register}.{component}, which nobody wrote"))
        };
        match source {
            0..=3 if i.register0_is_attribute == 0 => register(i.register0_address),
            4..=7 => register(i.register1_address),
            28..=31 => (self.port0 >> (source & 3) & 1 == 0)
                .then(|| format!("reads component {component} the last instruction's first port did not have")),
            _ => {
                let unit = |unit: &ops::Unit| {
                    [Some(unit.last), unit.before]
                        .iter()
                        .position(|number| *number == Some(source))
                };
                let (number, ago) = ops::UNITS
                    .iter()
                    .enumerate()
                    .find_map(|(at, row)| Some((at, unit(row)?)))?;
                (!self.busy[ago][number]).then(|| {
                    format!(
                        "reads the result of {}, which computed nothing",
                        ops::UNITS[number].name
                    )
                })
            }
        }
    }

    /// What the instruction leaves for the next ones.
    fn advance(&mut self, i: &Instruction) {
        self.port0 = match i.register0_is_attribute {
            1 => 15,
            _ => self.written[usize::from(i.register0_address & 15)],
        };
        self.busy = [flow::busy(i), self.busy[0]];
        for (component, (unit, target)) in i.stores().into_iter().enumerate() {
            if let Target::Register(address) = target
                && unit != ops::NO_STORE
            {
                self.written[usize::from(address & 15)] |= 1 << component;
            }
        }
    }
}

/// A vertex did an instruction.
pub(super) fn step(log: &mut Log, step: &VertexStep<'_>) {
    for source in flow::sources(step.instruction) {
        if let Some(message) = log.vertex.missing(step.instruction, source) {
            log.pending.push((0, message));
        }
    }
    log.find(0, step.number);
    log.count(step.number, (step.instruction.branch == 1).then_some(step.taken));
    if log.tell == Tell::Everything {
        let text = told(log, step);
        log.say(&text);
    }
    log.vertex.advance(step.instruction);
}

/// The step in words.
fn told(log: &mut Log, step: &VertexStep<'_>) -> String {
    let mut text = String::new();
    if !std::mem::replace(&mut log.vertex.told, true) {
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
    let busy = flow::busy(step.instruction);
    let results = ops::UNITS
        .iter()
        .zip(busy)
        .zip(step.results)
        .filter(|((_, busy), _)| *busy);
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
fn source_name(i: &Instruction, source: u16) -> String {
    let component = COMPONENTS[usize::from(source & 3)];
    match source {
        0..=3 if i.register0_is_attribute == 1 => format!("a{}.{component}", i.register0_address),
        0..=3 => format!("${}.{component}", i.register0_address),
        4..=7 => format!("${}.{component}", i.register1_address),
        12..=15 => format!("t[{}].{component}", i.load_address),
        28..=31 => format!("the last port's {component}"),
        _ => {
            let unit = ops::UNITS
                .iter()
                .find(|unit| unit.last == source || unit.before == Some(source));
            unit.map_or_else(
                || format!("source {source}"),
                |unit| format!("{}{}", if unit.last == source { "^" } else { "^^" }, unit.name),
            )
        }
    }
}
