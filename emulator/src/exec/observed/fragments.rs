//! Watching quads.

use super::report::{Line, Operand, PixelFragment, Stage, Step, Watched};
use super::{Key, Log, Program, Tell, numbers};
use crate::exec::FragmentProgram;
use crate::exec::observe::FragmentStep;
use std::collections::BTreeSet;
use utgard::pp::access::accesses;
use utgard::pp::{self, Instruction, Register};
use utgard::text::mask_letters;

/// The program's words with its instructions where they stand; what is never reached is zero.
fn words(program: &FragmentProgram) -> Vec<u32> {
    let ends = program
        .instructions
        .iter()
        .map(|(at, instruction)| at + instruction.words());
    let mut words = vec![0; ends.max().unwrap_or(0) as usize];
    for (at, instruction) in &program.instructions {
        let mut own = Vec::new();
        instruction.encode(&mut own);
        words[*at as usize..][..own.len()].copy_from_slice(&own);
    }
    words
}

/// A program that is seen for the first time.
pub(super) fn program(program: &FragmentProgram) -> Program {
    let text = pp::disassemble(&words(program), pp::Options::default());
    // A line is an instruction, or a word that is none: both say where they stand.
    let lines: Vec<Line> = text
        .lines()
        .map(|line| Line {
            address: line
                .split(':')
                .next()
                .and_then(|at| at.trim().parse().ok())
                .unwrap_or(0),
            text: line.to_owned(),
            hits: 0,
            ways: None,
        })
        .collect();
    let line_of = |at: u32| lines.iter().position(|line| line.address == at).unwrap_or(0);
    Program {
        of: Key::Fragment(program.instructions.clone()),
        lines: program.instructions.iter().map(|(at, _)| line_of(*at)).collect(),
        watched: Watched {
            stage: Stage::Fragment,
            lines,
            source: None,
        },
    }
}

/// What is known of a quad.
#[derive(Default)]
pub(super) struct Watch {
    x: u32,
    y: u32,
    live: u8,
    /// Components of registers that were written, for each fragment.
    written: [[u32; 16]; 4],
    temporaries: [BTreeSet<i64>; 4],
    /// What the present step wrote so far, in order: register, components, values.
    writes: [Vec<(Register, u32, [f32; 4])>; 4],
    /// The fragment has been reported.
    reported: [bool; 4],
}

impl Watch {
    pub(super) fn begin(&mut self, x: u32, y: u32, live: u8) {
        *self = Self {
            x,
            y,
            live,
            ..Self::default()
        };
    }

    /// A temporary is read or written; false when it was never written.
    pub(super) fn temporary(&mut self, lane: usize, index: i64, write: bool) -> bool {
        match write {
            true => {
                self.temporaries[lane].insert(index);
                true
            }
            false => self.temporaries[lane].contains(&index),
        }
    }

    pub(super) fn write(&mut self, lane: usize, register: Register, mask: u32, value: [f32; 4]) {
        self.writes[lane].push((register, mask, value));
    }

    fn place(&self, lane: usize) -> (u32, u32) {
        (self.x + (lane as u32 & 1), self.y + (lane as u32 >> 1))
    }
}

/// Name of a register with components.
fn name(register: Register, mask: u32) -> String {
    match mask {
        pp::ALL => register.to_string(),
        mask => format!("{register}.{}", mask_letters(mask)),
    }
}

/// A register's components of a mask, with their values.
fn values(registers: &[[f32; 4]; 16], register: Register, mask: u32) -> Operand {
    let values = registers[register.index()];
    Operand {
        name: name(register, mask),
        values: (0..4).filter(|at| mask >> at & 1 == 1).map(|at| values[at]).collect(),
    }
}

/// A fragment did an instruction.
pub(super) fn step(log: &mut Log, step: &FragmentStep<'_>) {
    unwritten(log, step.lane, step.instruction);
    if let (Some(_), Some(sampler)) = (step.early_bias, step.instruction.sampler) {
        let bias = name(sampler.lod.register(), 1 << sampler.lod.component());
        let message = format!("reads {bias} before the instruction in front has written it");
        log.pending.push((step.lane, message));
    }
    log.find(step.lane, step.number);
    let branch = step
        .instruction
        .branch
        .filter(|branch| branch.may_go() && !branch.always());
    let on = log
        .line(step.number)
        .map(|line| line.address + step.instruction.words());
    log.count(step.number, branch.map(|_| step.next != on));
    let pixel = log.quad.place(step.lane);
    let keeps = log.kept.contains(&pixel);
    let tells = match log.tell {
        Tell::Nothing => false,
        Tell::Everything => true,
        Tell::Pixel(x, y) => pixel == (x, y),
    };
    if tells || keeps {
        let (begins, observed) = observed_step(log, step);
        if tells {
            if let Some(fragment) = &begins {
                let text = beginning(fragment, pixel);
                log.say(&text);
            }
            log.say(&words_of(&observed, step.instruction.branch.is_some()));
        }
        if keeps {
            log.keep(begins, pixel, observed);
        }
    }
    log.quad.writes[step.lane].clear();
}

/// Notes reads of components that were not written, and marks those that are.
fn unwritten(log: &mut Log, lane: usize, instruction: &Instruction) {
    // Pipeline registers last for one instruction.
    log.quad.written[lane][Register::CONST0.index()..].fill(0);
    let all = accesses(instruction);
    for stage in 0..=8 {
        let here = || all.iter().filter(|access| access.stage == stage);
        for (register, mask) in here().flat_map(|access| &access.reads) {
            let missing = mask & !log.quad.written[lane][register.index()];
            if missing != 0 {
                let message = format!("reads {}, which was not written", name(*register, missing));
                log.pending.push((lane, message));
            }
        }
        for (register, mask) in here().filter_map(|access| access.writes) {
            log.quad.written[lane][register.index()] |= mask;
        }
    }
}

/// What a step's units read and wrote, in the order they did; `written` is what went to registers.
fn operands(step: &FragmentStep<'_>, written: &[(Register, u32, [f32; 4])]) -> (Vec<Operand>, Vec<Operand>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    // Registers as the present unit finds them; those of the pipeline are this instruction's own.
    let mut now = *step.before;
    let pipeline = Register::CONST0.index();
    now[pipeline..].copy_from_slice(&step.after[pipeline..]);
    let mut written = written.iter();
    let all = accesses(step.instruction);
    for stage in 0..=8 {
        let here = || all.iter().filter(|access| access.stage == stage);
        let first = reads.len();
        for (register, mask) in here().flat_map(|access| &access.reads) {
            reads.push(values(&now, *register, *mask));
        }
        // The sampler reads its level or bias first.
        if let (2, Some(bias), Some(read)) = (stage, step.early_bias, reads.get_mut(first)) {
            read.values = vec![bias];
        }
        // The constants, the texture and the uniform are no writes of registers.
        if matches!(stage, 0 | 2 | 3) {
            continue;
        }
        for _ in here().filter(|access| access.writes.is_some_and(|(register, _)| !register.is_pipeline())) {
            if let Some((register, mask, value)) = written.next() {
                now[register.index()] = *value;
                writes.push(values(&now, *register, *mask));
            }
        }
    }
    (reads, writes)
}

/// The step, and which fragment begins with it.
fn observed_step(log: &mut Log, step: &FragmentStep<'_>) -> (Option<PixelFragment>, Step) {
    let begins = (!std::mem::replace(&mut log.quad.reported[step.lane], true)).then(|| PixelFragment {
        program: log.program,
        pixel: log.quad.place(step.lane),
        helps: log.quad.live >> step.lane & 1 == 0,
        steps: Vec::new(),
        painted: None,
    });
    let (mut reads, gives) = operands(step, &log.quad.writes[step.lane]);
    let mut product = |name: &str, values: &[f32]| {
        reads.push(Operand {
            name: name.to_owned(),
            values: values.to_vec(),
        });
    };
    if step.instruction.vec_acc.is_some_and(|unit| unit.a_is_mul) {
        product("^v0", &step.products.0);
    }
    if step.instruction.float_acc.is_some_and(|unit| unit.a_is_mul) {
        product("^s0", &[step.products.1]);
    }
    let observed = Step {
        address: log.line(step.number).map_or(0, |line| line.address),
        text: log.text(step.number),
        reads,
        gives,
        next: step.next,
        discarded: step.discarded,
    };
    (begins, observed)
}

/// The step in words: the instruction, what it read, what it gave, where it goes.
fn words_of(observed: &Step, branches: bool) -> String {
    let mut text = observed.text.clone();
    for (what, list) in [("reads", &observed.reads), ("gives", &observed.gives)] {
        if !list.is_empty() {
            let list: Vec<String> = list
                .iter()
                .map(|operand| format!("{} {}", operand.name, numbers(&operand.values)))
                .collect();
            text += &format!("\n        {what} {}", list.join(", "));
        }
    }
    if branches || observed.next.is_none() {
        text += &match observed.next {
            _ if observed.discarded => "\n        gives up".to_owned(),
            Some(next) => format!("\n        goes to {next}"),
            None => "\n        ends".to_owned(),
        };
    }
    text.push('\n');
    text
}

/// The fragment in words.
fn beginning(fragment: &PixelFragment, (x, y): (u32, u32)) -> String {
    let helps = if fragment.helps {
        ", only to help its neighbours"
    } else {
        ""
    };
    format!("pixel {x},{y}, fragment{}{helps}\n", fragment.program)
}
