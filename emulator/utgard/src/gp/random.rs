//! Random GP instructions from the tables, all of them with known operations and sources.

use super::Instruction;
use super::ops::{self, Op};
use fastrand::Rng;

fn code(random: &mut Rng, table: &[Op]) -> u16 {
    random.choice(table).unwrap().code
}

/// A source every unit may read; `first` leaves out what an earlier instruction would have to bring.
fn source(random: &mut Rng, alone: bool) -> u16 {
    const LOADS: [u16; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15];
    const RESULTS: [u16; 16] = [16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 16];
    if alone || random.bool() {
        random.choice(LOADS).unwrap()
    } else {
        random.choice(RESULTS).unwrap()
    }
}

/// An instruction without a branch; `alone` when nothing stands before it.
pub fn instruction(random: &mut Rng, alone: bool) -> Instruction {
    let mut i = Instruction::nop();
    let bit = |random: &mut Rng| random.u32(..2) as u16;
    loads(&mut i, random);
    if random.u32(..4) != 0 {
        i.acc_op = code(random, ops::ACC);
        (i.acc0_a, i.acc0_b) = (source(random, alone), source(random, alone));
        (i.acc0_a_negate, i.acc0_b_negate) = (bit(random), bit(random));
        if random.bool() {
            (i.acc1_a, i.acc1_b) = (source(random, alone), source(random, alone));
            (i.acc1_a_negate, i.acc1_b_negate) = (bit(random), bit(random));
        }
    }
    if random.u32(..4) != 0 {
        i.mul_op = random
            .choice([ops::MUL, ops::MUL, ops::MUL, ops::COMPLEX1, ops::COMPLEX2, ops::SELECT])
            .unwrap();
        (i.mul0_a, i.mul0_b) = (source(random, alone), source(random, alone));
        (i.mul1_a, i.mul1_b) = (source(random, alone), source(random, alone));
        if i.mul_op == ops::SELECT {
            i.mul1_b = ops::IDLE;
        }
        if i.mul_op == ops::MUL {
            i.mul0_negate = bit(random);
        }
        if matches!(i.mul_op, ops::MUL | ops::COMPLEX2) {
            i.mul1_negate = bit(random);
        }
    }
    if random.bool() {
        (i.complex_op, i.complex_source) = (code(random, ops::COMPLEX), source(random, alone));
    }
    if random.bool() {
        (i.pass_op, i.pass_source) = (code(random, ops::PASS), source(random, alone));
    }
    stores(&mut i, random);
    i
}

fn loads(i: &mut Instruction, random: &mut Rng) {
    i.load_address = random.u32(..304) as u16;
    i.load_offset = if random.u32(..4) == 0 {
        1 + random.u32(..3) as u16
    } else {
        ops::NO_OFFSET
    };
    i.register0_address = random.u32(..16) as u16;
    i.register0_is_attribute = random.u32(..2) as u16;
    i.register1_address = random.u32(..16) as u16;
}

/// Stores of units that compute something.
fn stores(i: &mut Instruction, random: &mut Rng) {
    let busy = super::flow::busy(i);
    let units: Vec<u16> = ops::UNITS
        .iter()
        .zip(busy)
        .filter(|(_, busy)| *busy)
        .map(|(unit, _)| unit.store)
        .collect();
    if units.is_empty() {
        return;
    }
    let mut pick = || {
        if random.bool() {
            ops::NO_STORE
        } else {
            random.choice(units.iter().copied()).unwrap()
        }
    };
    (i.store0_x, i.store0_y, i.store1_z, i.store1_w) = (pick(), pick(), pick(), pick());
    (i.store0_address, i.store1_address) = (random.u32(..16) as u16, random.u32(..16) as u16);
    (i.store0_varying, i.store1_varying) = (random.u32(..2) as u16, random.u32(..2) as u16);
    if random.u32(..8) == 0 {
        (i.store0_temporary, i.store0_varying, i.flags) = (1, 0, 12);
    }
}

/// A program whose branches go forwards, so that it ends.
pub fn program(random: &mut Rng, length: usize) -> Vec<Instruction> {
    let mut program: Vec<Instruction> = (0..length).map(|at| instruction(random, at < 2)).collect();
    for (at, i) in program.iter_mut().enumerate().take(length.saturating_sub(2)) {
        if random.u32(..12) == 0 && i.pass_source != ops::IDLE {
            (i.branch, i.flags) = (1, 13);
            i.set_target((at + 1 + random.u32(..(length - at - 1) as u32) as usize).min(511) as u16);
        }
    }
    program
}
