//! Whole GP programs: possible successors, verification, resource use.

use super::{Instruction, LoadOffset, Source, Stored, Unit};
use crate::field::Code;
use crate::flow::{Finding, Node};

/// Number of vec4s shared by temporaries and uniforms (docs/spec/mali/gp.md, section 9).
pub const MEMORY_VEC4S: u16 = 304;

/// Maximum instructions of a program.
pub const MAX_INSTRUCTIONS: usize = 512;

/// The program's flow graph. It ends after its last instruction.
pub fn nodes(program: &[Instruction]) -> Vec<Node> {
    let node = |(at, i): (usize, &Instruction)| {
        let mut next = Vec::new();
        if at + 1 < program.len() {
            next.push(at + 1);
        }
        let target = usize::from(i.target());
        if i.branch && target < program.len() && !next.contains(&target) {
            next.push(target);
        }
        let leaves = i.branch && target >= program.len();
        Node {
            address: at as u32,
            cycles: 1,
            next,
            ends: at + 1 == program.len() || leaves,
        }
    };
    program.iter().enumerate().map(node).collect()
}

/// Verifies a program.
pub fn verify(program: &[Instruction]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if program.len() > MAX_INSTRUCTIONS {
        let message = format!("{} instructions, {MAX_INSTRUCTIONS} are the most", program.len());
        findings.push(Finding {
            rule: "program-length",
            address: 0,
            message,
        });
    }
    for (at, i) in program.iter().enumerate() {
        let mut say = |rule: &'static str, message: String| {
            findings.push(Finding {
                rule,
                address: at as u32,
                message,
            })
        };
        operations(i, &mut say);
        stores(i, &mut say);
        reads(program, at, &mut say);
        if i.branch {
            if usize::from(i.target()) >= program.len() {
                say(
                    "branch-target",
                    format!("goes to {}, the program has {}", i.target(), program.len()),
                );
            }
            if !i.is_busy(Unit::Pass) {
                say(
                    "branch-condition",
                    "branches by the pass unit, which computes nothing".to_owned(),
                );
            }
        }
    }
    findings
}

fn operations(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    let [acc0, acc1, mul0, mul1, complex, pass] = i.busy();
    let units = [
        (acc0 || acc1, "acc", i.acc_op.is_documented(), i.acc_op.code()),
        (mul0 || mul1, "mul", i.mul_op.is_documented(), i.mul_op.code()),
        (complex, "complex", i.complex_op.is_documented(), i.complex_op.code()),
        (pass, "pass", i.pass_op.is_documented(), i.pass_op.code()),
    ];
    for (_, name, _, code) in units.iter().filter(|(busy, _, documented, _)| *busy && !documented) {
        say("operation", format!("{name} operation {code} is unknown"));
    }
}

fn stores(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    for (stored, _) in i.stores() {
        match stored {
            Stored::Unit(unit) if !i.is_busy(unit) => say(
                "store-source",
                format!("stores the result of {}, which computes nothing", unit.name()),
            ),
            Stored::Undocumented(code) => say("store-source", format!("store source {code} is unknown")),
            Stored::Unit(_) | Stored::Nothing => {}
        }
    }
    if i.store0_temporary && i.store0_varying || i.store1_temporary && i.store1_varying {
        say("store-target", "stores to a temporary and a varying at once".to_owned());
    }
}

/// A result that is read must have been computed by the preceding instruction, if that is known.
fn reads(program: &[Instruction], at: usize, say: &mut impl FnMut(&'static str, String)) {
    let i = &program[at];
    let is_target = |at: usize| {
        program
            .iter()
            .any(|from| from.branch && usize::from(from.target()) == at)
    };
    let mut reads_memory = false;
    for source in i.sources() {
        let (unit, ago) = match source {
            Source::Undocumented(code) => {
                say("source", format!("source {code} is unknown"));
                continue;
            }
            Source::Memory(_) => {
                reads_memory = true;
                continue;
            }
            Source::Result(unit, age) => (unit, age.instructions()),
            Source::Port0(_) | Source::Port1(_) | Source::Port0Before(_) | Source::Idle => continue,
        };
        let name = unit.name();
        let crosses = (at + 1 - ago.min(at + 1)..=at).any(|at| at > 0 && is_target(at));
        match at.checked_sub(ago) {
            None => say("result", format!("reads {name} of an instruction before the first")),
            Some(from) if !crosses && !program[from].is_busy(unit) => say(
                "result",
                format!("reads {name} of instruction {from}, which computes nothing there"),
            ),
            _ => {}
        }
    }
    if reads_memory && i.load_offset == LoadOffset::Nothing && i.load_address >= MEMORY_VEC4S {
        say("memory", format!("reads vec4 {} of {MEMORY_VEC4S}", i.load_address));
    }
}
