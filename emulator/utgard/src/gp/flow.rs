//! GP programs as a whole: what may follow what, what cannot be right, what they use.

use super::Instruction;
use super::ops::{self, UNITS};
use crate::flow::{Finding, Node};

/// Temporaries and uniforms share this many vec4s (facts/mali/gp.md, 9).
pub const MEMORY_VEC4S: u16 = 304;

/// Instructions of a program at most.
pub const MAX_INSTRUCTIONS: usize = 512;

/// The program's flow. It ends behind its last instruction.
pub fn nodes(program: &[Instruction]) -> Vec<Node> {
    let node = |(at, i): (usize, &Instruction)| {
        let mut next = Vec::new();
        if at + 1 < program.len() {
            next.push(at + 1);
        }
        let target = usize::from(i.target());
        if i.branch == 1 && target < program.len() && !next.contains(&target) {
            next.push(target);
        }
        let leaves = i.branch == 1 && target >= program.len();
        Node {
            address: at as u32,
            cycles: 1,
            next,
            ends: at + 1 == program.len() || leaves,
        }
    };
    program.iter().enumerate().map(node).collect()
}

/// Whether each unit of [`UNITS`] computes something.
pub fn busy(i: &Instruction) -> [bool; 6] {
    let used = |source: u16| source != ops::IDLE;
    let both = matches!(i.mul_op, ops::COMPLEX1 | ops::SELECT);
    let mul0 = used(i.mul0_a) && used(i.mul0_b);
    let mul1 = !both && used(i.mul1_a) && used(i.mul1_b);
    [
        used(i.acc0_a),
        used(i.acc1_a),
        mul0,
        mul1,
        used(i.complex_source),
        used(i.pass_source),
    ]
}

/// Sources that the busy units read.
pub fn sources(i: &Instruction) -> Vec<u16> {
    let [acc0, acc1, mul0, mul1, complex, pass] = busy(i);
    let one_operand = ops::by_code(ops::ACC, i.acc_op).is_some_and(|op| op.operands == 1);
    let mut sources = Vec::new();
    for (busy, a, b) in [(acc0, i.acc0_a, i.acc0_b), (acc1, i.acc1_a, i.acc1_b)] {
        if busy {
            sources.push(a);
            // There the identity is a constant, not the complex unit.
            sources.extend((!one_operand && b != ops::IDENTITY).then_some(b));
        }
    }
    let product = |a: u16, b: u16| [Some(a), (b != ops::IDENTITY).then_some(b)].into_iter().flatten();
    match i.mul_op {
        ops::COMPLEX1 if mul0 => sources.extend([i.mul0_a, i.mul0_b, i.mul1_a, i.mul1_b]),
        // There the identity's number is the complex unit.
        ops::COMPLEX2 => {
            sources.extend(mul0.then_some([i.mul0_a, i.mul0_b]).into_iter().flatten());
            sources.extend(mul1.then(|| product(i.mul1_a, i.mul1_b)).into_iter().flatten());
        }
        ops::SELECT if mul0 => sources.extend([i.mul0_a, i.mul0_b, i.mul1_a]),
        _ => {
            sources.extend(mul0.then(|| product(i.mul0_a, i.mul0_b)).into_iter().flatten());
            sources.extend(mul1.then(|| product(i.mul1_a, i.mul1_b)).into_iter().flatten());
        }
    }
    sources.extend(complex.then_some(i.complex_source));
    if pass {
        sources.push(i.pass_source);
        if i.pass_op == ops::CLAMP {
            sources.extend([ops::MEMORY, ops::MEMORY + 1]);
        }
    }
    sources
}

/// What cannot be right in a program.
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
        if i.branch == 1 {
            if usize::from(i.target()) >= program.len() {
                say(
                    "branch-target",
                    format!("goes to {}, the program has {}", i.target(), program.len()),
                );
            }
            if i.pass_source == ops::IDLE {
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
    let [acc0, acc1, mul0, mul1, complex, pass] = busy(i);
    let known = |table, code| ops::by_code(table, code).is_some();
    if (acc0 || acc1) && !known(ops::ACC, i.acc_op) {
        say("operation", format!("acc operation {} is unknown", i.acc_op));
    }
    let mul_known = matches!(i.mul_op, ops::MUL | ops::COMPLEX1 | ops::COMPLEX2 | ops::SELECT);
    if (mul0 || mul1) && !mul_known {
        say("operation", format!("mul operation {} is unknown", i.mul_op));
    }
    if complex && !known(ops::COMPLEX, i.complex_op) {
        say("operation", format!("complex operation {} is unknown", i.complex_op));
    }
    if pass && !known(ops::PASS, i.pass_op) {
        say("operation", format!("pass operation {} is unknown", i.pass_op));
    }
}

fn stores(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    let busy = busy(i);
    for store in [i.store0_x, i.store0_y, i.store1_z, i.store1_w] {
        match UNITS.iter().position(|unit| unit.store == store) {
            Some(unit) if !busy[unit] => {
                say(
                    "store-source",
                    format!("stores the result of {}, which computes nothing", UNITS[unit].name),
                );
            }
            None if store != ops::NO_STORE => say("store-source", format!("store source {store} is unknown")),
            _ => {}
        }
    }
    if i.store0_temporary == 1 && i.store0_varying == 1 || i.store1_temporary == 1 && i.store1_varying == 1 {
        say("store-target", "stores to a temporary and a varying at once".to_owned());
    }
}

/// Results that are read must have been computed by the instruction in front, where the way there is known.
fn reads(program: &[Instruction], at: usize, say: &mut impl FnMut(&'static str, String)) {
    let i = &program[at];
    let sources = sources(i);
    let is_target = |at: usize| {
        program
            .iter()
            .any(|from| from.branch == 1 && usize::from(from.target()) == at)
    };
    for source in &sources {
        if (8..=11).contains(source) {
            say("source", format!("source {source} is unknown"));
        }
        for (number, unit) in UNITS.iter().enumerate() {
            let ago = match *source {
                source if source == unit.last => 1,
                source if Some(source) == unit.before => 2,
                _ => continue,
            };
            let crosses = (at + 1 - ago.min(at + 1)..=at).any(|at| at > 0 && is_target(at));
            match at.checked_sub(ago) {
                None => say(
                    "result",
                    format!("reads {} of an instruction before the first", unit.name),
                ),
                Some(from) if !crosses && !busy(&program[from])[number] => {
                    say(
                        "result",
                        format!(
                            "reads {} of instruction {from}, which computes nothing there",
                            unit.name
                        ),
                    );
                }
                _ => {}
            }
        }
    }
    let reads_memory = sources.iter().any(|source| (12..=15).contains(source));
    if reads_memory && i.load_offset == ops::NO_OFFSET && i.load_address >= MEMORY_VEC4S {
        say("memory", format!("reads vec4 {} of {MEMORY_VEC4S}", i.load_address));
    }
}
