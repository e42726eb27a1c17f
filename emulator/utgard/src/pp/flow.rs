//! Whole PP programs: possible successors, verification, resource use.

use super::access::accesses;
use super::ops::{Origin, Units};
use super::{Form, Instruction, LevelOfDetail, LoadSource, Register, Scalar, ScalarUnit, StoreMode, UNITS, VectorUnit};
use crate::field::Code;
use crate::flow::{Finding, Node, reachable};

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
    let node = |(address, i): &(u32, Instruction)| {
        let mut next = Vec::new();
        let discards = i.branch.is_some_and(|branch| branch.is_discard());
        let always = i.branch.is_some_and(|branch| branch.always());
        let ends = i.control.stop || discards;
        if !ends && !always {
            next.extend(number(i64::from(address + i.words())));
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
    instructions.iter().map(node).collect()
}

/// A bias that the sampler reads before the instruction in front has written it (docs/spec/mali/pp.md, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyBias {
    /// Control word of the instruction whose varying unit writes the register.
    pub written_at: u32,
    /// Control word of the instruction that samples.
    pub read_at: u32,
    /// The register.
    pub register: Scalar,
}

/// The biases that a program's instructions, in the order of memory, read too early. What holds behind a branch is not
/// known ([?]): only an instruction that nothing but the one in front leads to, and leads nowhere else, reads early.
pub fn early_biases(instructions: &[(u32, Instruction)]) -> Vec<EarlyBias> {
    let pair = |at: usize| {
        let ((written_at, front), (read_at, i)) = (instructions[at], instructions[at + 1]);
        let register = early_bias(&front, &i)?;
        let bias = EarlyBias {
            written_at,
            read_at,
            register,
        };
        Some((at, bias))
    };
    let pairs: Vec<_> = (0..instructions.len().saturating_sub(1)).filter_map(pair).collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let nodes = nodes(instructions);
    let reached = reachable(&nodes);
    let mut origins = vec![0; nodes.len()];
    for (node, _) in nodes.iter().zip(&reached).filter(|(_, reached)| **reached) {
        node.next.iter().for_each(|next| origins[*next] += 1);
    }
    let alone = |at: usize| reached[at] && nodes[at].next == [at + 1] && origins[at + 1] == 1;
    let early = pairs.into_iter().filter(|(at, _)| alone(*at));
    early.map(|(_, bias)| bias).collect()
}

/// The bias that an instruction would read early behind another: of a plain look-up, written by the other's varying unit
/// and by no other unit, in an instruction without multipliers and adders.
fn early_bias(front: &Instruction, i: &Instruction) -> Option<Scalar> {
    let sampler = i.sampler.filter(|unit| !unit.is_cube())?;
    let LevelOfDetail::Bias(bias) = sampler.level() else {
        return None;
    };
    let varying = front.varying?;
    let is_written = varying.written() == Some(bias.register()) && varying.mask >> bias.component() & 1 == 1;
    let computes =
        front.vec_mul.is_some() || front.float_mul.is_some() || front.vec_acc.is_some() || front.float_acc.is_some();
    if !is_written || computes || bias.register().is_pipeline() {
        return None;
    }
    let writes = accesses(front).into_iter().filter_map(|access| access.writes);
    let writers = writes.filter(|(register, mask)| *register == bias.register() && mask >> bias.component() & 1 == 1);
    (writers.count() == 1).then_some(bias)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pp::assemble;

    /// Whether a look-up with the bias `$0.x` reads it early behind some text, with more text behind it.
    fn is_early(front: &str, look: &str, behind: &str) -> bool {
        let look = format!("load.v ^discard.xy 0.xy, {look}, mov.v1 $1 ^texture, sync, stop");
        let words = assemble(&format!("{front}\nlook: {look}\n{behind}\n")).unwrap();
        let biases = early_biases(&instructions(&words).0);
        assert!(biases.iter().all(|bias| bias.register == Scalar(0)), "{biases:?}");
        assert!(biases.len() < 2, "{biases:?}");
        !biases.is_empty()
    }

    #[test]
    fn a_bias_is_early_behind_a_varying_unit_alone() {
        let bias = "texld.b 0 $0.x";
        assert!(is_early("load.v $0.x 1.x", bias, ""));
        assert!(is_early("load.v $0 1, load.u 0, rcp.s2 $2.x $2.y", bias, ""));
        for front in [
            "load.v $0.yzw 1",
            "load.v $2 1",
            "load.v $0.x 1.x\nmov.v1 $2 $3",
            "load.v $0.x 1.x, mov.v1 $2 $3",
            "load.v $0.x 1.x, mov.s0 $2.x $3.x",
            "load.v $0 1, rcp.s2 $0.x $2.y",
        ] {
            assert!(!is_early(front, bias, ""), "{front}");
        }
        for look in ["texld 0", "texld.l 0 $0.x", "texld.cube.b 0 $0.x"] {
            assert!(!is_early("load.v $0.x 1.x", look, ""), "{look}");
        }
    }

    #[test]
    fn a_bias_is_not_early_where_ways_meet_or_part() {
        let (front, bias) = ("load.v $0.x 1.x", "texld.b 0 $0.x");
        let end = "end: mov.v1 $1 $2, stop";
        assert!(!is_early(&format!("branch.gt $3.x $3.y look\n{front}"), bias, ""));
        assert!(!is_early(&format!("{front}, branch.gt $3.x $3.y end"), bias, end));
        // What nothing leads to does not count.
        assert!(is_early(front, bias, "branch look"));
    }
}
