//! Whole PP programs: possible successors, verification, resource use.

use super::ops::{Origin, Units};
use super::{Form, Instruction, LoadSource, Register, ScalarUnit, StoreMode, UNITS, VectorUnit};
use crate::field::Code;
use crate::flow::{Finding, Node};

/// A program's instructions with the positions of their control words; stops at the first invalid one.
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

/// The register that holds a fragment's colour at the program's end, judged from the code alone.
pub fn output_register(words: &[u32]) -> u8 {
    output_register_of(&instructions(words).0)
}

/// [`output_register`] of decoded instructions: the vector destination of the last instruction that stops, else
/// register 0. Mesa names it in the state; its meaning in vendor files is unknown, older notes say 0 ([?] in
/// docs/spec/mali/pp.md, section 15).
pub fn output_register_of(instructions: &[(u32, Instruction)]) -> u8 {
    let stop = instructions
        .iter()
        .rev()
        .find(|(_, i)| i.control.stop && i.branch.is_none());
    let register = stop.and_then(|(_, i)| last_vector(i));
    register.map_or(0, |register| register.index() as u8)
}

/// The register that an instruction's last vector is stored in, where it stores one.
pub fn last_vector(i: &Instruction) -> Option<Register> {
    let vector = i.vec_acc.filter(|u| u.mask != 0).map(|u| u.destination);
    let vector = vector.or(i.vec_mul.filter(|u| u.mask != 0).map(|u| u.destination));
    let vector = vector.or(i.combine.filter(|u| u.vector).map(|u| u.destination_vector().0));
    vector.or(i.varying.and_then(|u| u.written()))
}

/// Registers that known compilers use (docs/spec/mali/pp.md, section 1).
pub const REGISTERS: u8 = 6;

/// The program's flow graph.
pub fn nodes(instructions: &[(u32, Instruction)]) -> Vec<Node> {
    let number = |address: i64| {
        instructions
            .binary_search_by_key(&address, |(at, _)| i64::from(*at))
            .ok()
    };
    let node = |(at, (address, i)): (usize, &(u32, Instruction))| {
        let mut next = Vec::new();
        let discards = i.branch.is_some_and(|branch| branch.is_discard());
        let always = i.branch.is_some_and(|branch| branch.always());
        let ends = i.control.stop || discards;
        if !ends && !always && at + 1 < instructions.len() {
            next.push(at + 1);
        }
        if let Some(branch) = i.branch.filter(|branch| branch.may_go()) {
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

/// Verifies a program; `stack` is its temporaries in vec4s, if known.
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
        let branch = i.branch.filter(|branch| branch.may_go());
        if let Some(branch) = branch {
            let target = i64::from(*address) + i64::from(branch.signed_target());
            if !instructions.iter().any(|(address, _)| i64::from(*address) == target) {
                say(
                    "branch-target",
                    format!("branches to word {target}, which is not the start of an instruction"),
                );
            }
        }
        if i.branch.is_some_and(|branch| !branch.kind.is_documented()) {
            say("operation", "a branch of an unknown kind".to_owned());
        }
        if !nodes[at].ends && nodes[at].next.is_empty() && branch.is_none() {
            say("program-end", "the program runs past its end".to_owned());
        }
    }
    findings
}

fn operations(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    let combine = i.combine.map(|unit| match unit.form() {
        Form::Scalar(op) => (op.is_documented(), op.code()),
        Form::Vector(op) => (op.is_documented(), op.code()),
        Form::AtanPart2(_) | Form::Scale(_) => (true, 0),
    });
    let units = [
        ("vec_mul", i.vec_mul.map(|u| (u.op.is_documented(), u.op.code()))),
        ("float_mul", i.float_mul.map(|u| (u.op.is_documented(), u.op.code()))),
        ("vec_acc", i.vec_acc.map(|u| (u.op.is_documented(), u.op.code()))),
        ("float_acc", i.float_acc.map(|u| (u.op.is_documented(), u.op.code()))),
        ("combine", combine),
    ];
    for (what, unit) in units {
        if let Some((false, code)) = unit {
            say("operation", format!("{what} operation {code} is unknown"));
        }
    }
    if i.float_acc.is_some_and(|unit| unit.op.row().units == Units::Vector) {
        say("operation", "a sum of components in the scalar adder".to_owned());
    }
    if let Some(unit) = i.varying {
        let row = unit.kind.row();
        if !row.known {
            say("operation", format!("varying kind {} is unknown", unit.kind.code()));
        }
        if row.origin == Origin::Register && unit.register.is_pipeline() {
            say("register", "the varying unit reads a pipeline register".to_owned());
        }
    }
}

/// Registers that arithmetic units read.
fn registers_read(i: &Instruction) -> Vec<Register> {
    let vector = |unit: VectorUnit, forwarded: bool, operands: usize| {
        let a = (!forwarded).then_some(unit.a.register);
        a.into_iter().chain((operands == 2).then_some(unit.b.register))
    };
    let scalar = |unit: ScalarUnit, forwarded: bool, operands: usize| {
        let a = (!forwarded).then_some(unit.a.scalar.register());
        a.into_iter().chain((operands == 2).then_some(unit.b.scalar.register()))
    };
    let mut read = Vec::new();
    read.extend(i.vec_mul.iter().flat_map(|u| vector(u.unit(), false, u.op.operands())));
    read.extend(
        i.vec_acc
            .iter()
            .flat_map(|u| vector(u.unit(), u.a_is_mul, u.op.operands())),
    );
    read.extend(
        i.float_mul
            .iter()
            .flat_map(|u| scalar(u.unit(), false, u.op.operands())),
    );
    read.extend(
        i.float_acc
            .iter()
            .flat_map(|u| scalar(u.unit(), u.a_is_mul, u.op.operands())),
    );
    if let Some(unit) = i.combine {
        read.push(unit.a.register());
        if let Form::AtanPart2(vector) | Form::Scale(vector) = unit.form() {
            read.push(vector.register);
        }
    }
    read
}

/// Results of absent units, and derivatives without synchronisation.
fn forwards(i: &Instruction, say: &mut impl FnMut(&'static str, String)) {
    let read = registers_read(i);
    let sources = [
        (Register::CONST0, i.const0.is_some()),
        (Register::CONST1, i.const1.is_some()),
        (Register::TEXTURE, i.sampler.is_some()),
        (Register::UNIFORM, i.load.is_some()),
    ];
    for (register, present) in sources {
        if read.contains(&register) && !present {
            say(
                "pipeline-register",
                format!("reads {register}, which this instruction does not load"),
            );
        }
    }
    if i.vec_acc.is_some_and(|u| u.a_is_mul) && i.vec_mul.is_none() {
        say(
            "pipeline-register",
            "reads ^v0 without a vec4 multiplication".to_owned(),
        );
    }
    if i.reads_product() && i.float_mul.is_none() {
        say(
            "pipeline-register",
            "reads ^s0 without a scalar multiplication".to_owned(),
        );
    }
    if i.sampler.is_some() && i.varying.is_none() {
        say("sampler", "samples without coordinates".to_owned());
    }
    if i.needs_quad() && !i.control.sync {
        say(
            "sync",
            "uses the neighbouring fragments without synchronising with them".to_owned(),
        );
    }
    if i.combine.is_some() && i.store.is_some_and(|store| !store.reads_tile()) {
        say(
            "combine-store",
            "a store and a combine in one instruction: the stored value is not known".to_owned(),
        );
    }
}

/// Stores and loads outside the declared temporaries; indices count down from -1.
fn temporaries(i: &Instruction, stack: Option<u32>, say: &mut impl FnMut(&'static str, String)) {
    let Some(stack) = stack else { return };
    let load = i
        .load
        .filter(|load| load.source == LoadSource::Temporary && !load.offset_enable);
    let store = i
        .store
        .filter(|store| store.read == StoreMode::Store && !store.offset_enable);
    let places = [
        load.map(|u| (u.signed_index(), u.alignment)),
        store.map(|u| (u.signed_index(), u.alignment)),
    ];
    for (index, alignment) in places.into_iter().flatten() {
        let vec4 = index >> (2 - alignment.shift());
        if vec4 >= 0 || i64::from(vec4) < -i64::from(stack) {
            say("stack", format!("temporary {vec4} is outside the stack of {stack}"));
        }
    }
}

/// Number of instructions that use each unit, in the order of [`UNITS`].
pub fn unit_counts(instructions: &[(u32, Instruction)]) -> [u32; UNITS.len()] {
    std::array::from_fn(|unit| instructions.iter().filter(|(_, i)| i.unit(unit).is_some()).count() as u32)
}
