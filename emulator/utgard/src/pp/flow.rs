//! PP programs as a whole: what may follow what, what cannot be right, what they use.

use super::ops::{self, Source};
use super::{Instruction, UNITS};
use crate::field::Fields;
use crate::flow::{Finding, Node};

/// A program's instructions with the numbers of their control words; stops at the first word that is none.
pub fn instructions(words: &[u32]) -> (Vec<(u32, Instruction)>, Option<Finding>) {
    let (mut instructions, mut at) = (Vec::new(), 0);
    while at < words.len() {
        match Instruction::decode(&words[at..]) {
            Ok(instruction) => {
                instructions.push((at as u32, instruction));
                at += instruction.words() as usize;
            }
            Err(error) => {
                let finding = Finding {
                    rule: "instruction",
                    address: at as u32,
                    message: error.to_string(),
                };
                return (instructions, Some(finding));
            }
        }
    }
    (instructions, None)
}

/// Registers that known compilers use (facts/mali/pp.md, 1).
pub const REGISTERS: u32 = 6;

/// The program's flow.
pub fn nodes(instructions: &[(u32, Instruction)]) -> Vec<Node> {
    let number = |address: i64| {
        instructions
            .binary_search_by_key(&address, |(at, _)| i64::from(*at))
            .ok()
    };
    let node = |(at, (address, i)): (usize, &(u32, Instruction))| {
        let mut next = Vec::new();
        let discards = i.branch.is_some_and(|branch| branch.kind == 3);
        let always = i.branch.is_some_and(|branch| branch.always());
        let ends = i.control.stop == 1 || discards;
        if !ends && !always && at + 1 < instructions.len() {
            next.push(at + 1);
        }
        if let Some(branch) = i.branch.filter(|branch| branch.kind == 0 && branch.condition() != 0) {
            next.extend(number(i64::from(*address) + i64::from(branch.signed_target())));
        }
        Node {
            address: *address,
            cycles: 1,
            next,
            ends,
        }
    };
    instructions.iter().enumerate().map(node).collect()
}

/// What cannot be right in a program; `stack` is its temporaries in vec4s, where that is known.
pub fn verify(words: &[u32], stack: Option<u32>) -> Vec<Finding> {
    let (instructions, broken) = instructions(words);
    let mut findings: Vec<Finding> = broken.into_iter().collect();
    let nodes = nodes(&instructions);
    for (at, (address, i)) in instructions.iter().enumerate() {
        let mut say = |rule: &'static str, message: String| {
            findings.push(Finding {
                rule,
                address: *address,
                message,
            })
        };
        operations(i, &mut say);
        forwards(i, &mut say);
        temporaries(i, stack, &mut say);
        if i.padding != 0 || i.control.unknown != 0 {
            say("unknown-bits", "bits are set that no known program sets".to_owned());
        }
        let branch = i.branch.filter(|branch| branch.kind == 0 && branch.condition() != 0);
        if let Some(branch) = branch {
            let target = i64::from(*address) + i64::from(branch.signed_target());
            if !instructions.iter().any(|(address, _)| i64::from(*address) == target) {
                say(
                    "branch-target",
                    format!("goes to word {target}, where no instruction begins"),
                );
            }
        }
        if i.branch.is_some_and(|branch| branch.kind != 0 && branch.kind != 3) {
            say("operation", "a branch of an unknown kind".to_owned());
        }
        if !nodes[at].ends && nodes[at].next.is_empty() && branch.is_none() {
            say("program-end", "the program runs past its end".to_owned());
        }
    }
    findings
}

fn operations(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    let mut operation = |what: &str, table: &[ops::Op], code: Option<u32>| {
        if let Some(code) = code.filter(|code| ops::by_code(table, *code).is_none()) {
            say("operation", format!("{what} operation {code} is unknown"));
        }
    };
    operation("vec_mul", ops::MUL, i.vec_mul.map(|unit| unit.op));
    operation("float_mul", ops::MUL, i.float_mul.map(|unit| unit.op));
    operation("vec_acc", ops::ACC, i.vec_acc.map(|unit| unit.op));
    operation("float_acc", ops::ACC, i.float_acc.map(|unit| unit.op));
    if let Some(unit) = i.combine.filter(|unit| unit.b_enable == 0) {
        operation(
            "combine",
            if unit.vector == 1 {
                ops::COMBINE_VECTOR
            } else {
                ops::COMBINE
            },
            Some(unit.op),
        );
    }
    if i.float_acc.is_some_and(|unit| matches!(unit.op, 16 | 17)) {
        say("operation", "a sum of components in the scalar adder".to_owned());
    }
    if let Some(unit) = i.varying {
        let kind = ops::VARYING[(unit.kind & 15) as usize];
        if matches!(unit.kind, 1 | 5 | 14 | 15) {
            say("operation", format!("varying kind {} is unknown", unit.kind));
        }
        if kind.source == Source::Register && unit.register >= 12 {
            say("register", "the varying unit reads a pipeline register".to_owned());
        }
    }
}

/// Results of units that are not there, and derivatives without synchronisation.
fn forwards(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    let mut read = Vec::new();
    let units = [
        i.vec_mul.map(|u| (u.to_bits(), u.op, ops::MUL, 4)),
        i.vec_acc.map(|u| (u.to_bits(), u.op, ops::ACC, 4)),
        i.float_mul.map(|u| (u.to_bits(), u.op, ops::MUL, 6)),
        i.float_acc.map(|u| (u.to_bits(), u.op, ops::ACC, 6)),
    ];
    for (number, unit) in units.iter().enumerate() {
        let Some((bits, op, table, width)) = unit else { continue };
        let two = ops::by_code(table, *op).is_none_or(|op| op.operands == 2);
        let register = |from: u32| (*bits >> from) as u32 >> (width - 4) & 15;
        let forwarded = match number {
            1 => i.vec_acc.is_some_and(|u| u.a_is_mul == 1),
            3 => i.float_acc.is_some_and(|u| u.a_is_mul == 1),
            _ => false,
        };
        if !forwarded {
            read.push(register(0));
        }
        if two {
            read.push(register(if *width == 4 { 14 } else { 8 }));
        }
    }
    if let Some(unit) = i.combine {
        read.push(unit.a >> 2);
        read.extend((unit.b_enable == 1).then_some(unit.b_vector().0));
    }
    let sources = [
        (12, "const0", i.const0.is_some()),
        (13, "const1", i.const1.is_some()),
        (14, "texture", i.sampler.is_some()),
        (15, "uniform", i.load.is_some()),
    ];
    for (register, name, present) in sources {
        if read.contains(&register) && !present {
            say(
                "pipeline-register",
                format!("reads ^{name}, which this instruction does not load"),
            );
        }
    }
    if i.vec_acc.is_some_and(|u| u.a_is_mul == 1) && i.vec_mul.is_none() {
        say(
            "pipeline-register",
            "reads ^v0 without a vec4 multiplication".to_owned(),
        );
    }
    let selects = i.vec_acc.is_some_and(|u| u.op == 23) || i.float_acc.is_some_and(|u| u.op == 23);
    if (selects || i.float_acc.is_some_and(|u| u.a_is_mul == 1)) && i.float_mul.is_none() {
        say(
            "pipeline-register",
            "reads ^s0 without a scalar multiplication".to_owned(),
        );
    }
    if i.sampler.is_some() && i.varying.is_none() {
        say("sampler", "samples without coordinates".to_owned());
    }
    let derives =
        i.vec_acc.is_some_and(|u| matches!(u.op, 20 | 21)) || i.float_acc.is_some_and(|u| matches!(u.op, 20 | 21));
    if (derives || i.sampler.is_some()) && i.control.sync == 0 {
        say(
            "sync",
            "needs the neighbouring fragments and does not wait for them".to_owned(),
        );
    }
    if i.combine.is_some() && i.store.is_some_and(|store| store.read != 3) {
        say(
            "combine-store",
            "what a store takes of a combine of its own instruction is not known".to_owned(),
        );
    }
}

/// Stores and loads outside the declared temporaries; indices count down from -1.
fn temporaries(i: &Instruction, stack: Option<u32>, say: &mut impl FnMut(&'static str, String)) {
    let Some(stack) = stack else { return };
    let load = i.load.filter(|load| load.source == 3 && load.offset_enable == 0);
    let store = i.store.filter(|store| store.read == 0 && store.offset_enable == 0);
    let places = [
        load.map(|u| (u.signed_index(), u.alignment)),
        store.map(|u| (u.signed_index(), u.alignment)),
    ];
    for (index, alignment) in places.into_iter().flatten() {
        let vec4 = index >> (2 - alignment.min(2));
        if vec4 >= 0 || i64::from(vec4) < -i64::from(stack) {
            say("stack", format!("temporary {vec4} is outside the stack of {stack}"));
        }
    }
}

/// How many instructions use each unit, in the order of [`UNITS`].
pub fn unit_counts(instructions: &[(u32, Instruction)]) -> [u32; UNITS.len()] {
    std::array::from_fn(|unit| instructions.iter().filter(|(_, i)| i.unit(unit).is_some()).count() as u32)
}
