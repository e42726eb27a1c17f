//! Generates random GP instructions with known operations and sources.

use super::{AccOp, ComplexOp, Instruction, LoadOffset, MulOp, PassOp, Source, Stored, UNITS, flags, flow};
use fastrand::Rng;

/// Picks one of several choices.
fn pick<T: Copy>(random: &mut Rng, choices: &[T]) -> T {
    choices[random.usize(..choices.len())]
}

/// A source that every unit may read; `alone` excludes results of earlier instructions.
fn source(random: &mut Rng, alone: bool) -> Source {
    let loads = alone || random.bool();
    let fits = |source: &Source| match source {
        Source::Port0(_) | Source::Port1(_) | Source::Memory(_) => loads,
        Source::Result(..) | Source::Port0Before(_) => !loads,
        Source::Idle | Source::Undocumented(_) => false,
    };
    pick(random, &Source::all().filter(fits).collect::<Vec<_>>())
}

/// An instruction without a branch; `alone` if it is the first.
pub fn instruction(random: &mut Rng, alone: bool) -> Instruction {
    let mut i = Instruction::nop();
    loads(&mut i, random);
    if random.u32(..4) != 0 {
        i.acc_op = pick(random, AccOp::ALL);
        (i.acc0_a, i.acc0_b) = (source(random, alone), source(random, alone));
        (i.acc0_a_negate, i.acc0_b_negate) = (random.bool(), random.bool());
        if random.bool() {
            (i.acc1_a, i.acc1_b) = (source(random, alone), source(random, alone));
            (i.acc1_a_negate, i.acc1_b_negate) = (random.bool(), random.bool());
        }
    }
    if random.u32(..4) != 0 {
        i.mul_op = if random.bool() {
            MulOp::Mul
        } else {
            pick(random, MulOp::ALL)
        };
        (i.mul0_a, i.mul0_b) = (source(random, alone), source(random, alone));
        (i.mul1_a, i.mul1_b) = (source(random, alone), source(random, alone));
        match i.mul_op {
            MulOp::Mul => (i.mul0_negate, i.mul1_negate) = (random.bool(), random.bool()),
            MulOp::Complex2 => i.mul1_negate = random.bool(),
            MulOp::Select => i.mul1_b = Source::Idle,
            MulOp::Complex1 | MulOp::Undocumented(_) => {}
        }
    }
    if random.bool() {
        (i.complex_op, i.complex_source) = (pick(random, ComplexOp::ALL), source(random, alone));
    }
    if random.bool() {
        (i.pass_op, i.pass_source) = (pick(random, PassOp::ALL), source(random, alone));
    }
    stores(&mut i, random);
    i
}

fn loads(i: &mut Instruction, random: &mut Rng) {
    const REGISTERS: [LoadOffset; 3] = [LoadOffset::Address1, LoadOffset::Address2, LoadOffset::Address3];
    i.load_address = random.u16(..flow::MEMORY_VEC4S);
    i.load_offset = if random.u32(..4) == 0 {
        pick(random, &REGISTERS)
    } else {
        LoadOffset::Nothing
    };
    i.register0_address = random.u16(..16);
    i.register0_is_attribute = random.bool();
    i.register1_address = random.u16(..16);
}

/// Stores of active units.
fn stores(i: &mut Instruction, random: &mut Rng) {
    let busy = UNITS.iter().map(|row| row.unit).filter(|unit| i.is_busy(*unit));
    let units: Vec<Stored> = busy.map(Stored::Unit).collect();
    if units.is_empty() {
        return;
    }
    let mut one = || {
        if random.bool() {
            Stored::Nothing
        } else {
            pick(random, &units)
        }
    };
    (i.store0_x, i.store0_y, i.store1_z, i.store1_w) = (one(), one(), one(), one());
    (i.store0_address, i.store1_address) = (random.u16(..16), random.u16(..16));
    (i.store0_varying, i.store1_varying) = (random.bool(), random.bool());
    if random.u32(..8) == 0 {
        (i.store0_temporary, i.store0_varying, i.flags) = (true, false, flags::TEMPORARY);
    }
}

/// A program with forward branches only, so that it terminates.
pub fn program(random: &mut Rng, length: usize) -> Vec<Instruction> {
    let mut program: Vec<Instruction> = (0..length).map(|at| instruction(random, at < 2)).collect();
    for (at, i) in program.iter_mut().enumerate().take(length.saturating_sub(2)) {
        if random.u32(..12) == 0 && i.pass_source.is_used() {
            (i.branch, i.flags) = (true, flags::BRANCH);
            i.set_target((at + 1 + random.usize(..length - at - 1)).min(511) as u16);
        }
    }
    program
}
