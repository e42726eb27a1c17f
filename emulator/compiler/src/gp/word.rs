//! An instruction in the making: which units, ports and stores are taken.

use super::node::Kind;
use utgard::field::Code;
use utgard::gp::Instruction;

/// A field's value by its number.
fn c<T: Code>(number: impl Into<u32>) -> T {
    T::from_code(number.into())
}

/// Units, numbered as stores name them.
pub const ACC0: u8 = 0;
pub const ACC1: u8 = 1;
pub const MUL0: u8 = 2;
pub const MUL1: u8 = 3;
pub const PASS: u8 = 4;
pub const COMPLEX: u8 = 6;

/// Source number of the complex unit's last result; a unit's neutral element as its second operand.
pub const NEUTRAL: u16 = 22;

/// A multiplier's operations.
const MUL: u16 = 0;
const COMPLEX1: u16 = 1;
const COMPLEX2: u16 = 3;
const SELECT: u16 = 4;

/// An instruction.
#[derive(Clone, Debug)]
pub struct Word {
    /// Its fields so far.
    pub i: Instruction,
    busy: u8,
    memory: bool,
    port0: bool,
    port1: bool,
    acc_op: Option<u16>,
    mul_op: Option<u16>,
    stores: [Option<(bool, u16)>; 2],
}

impl Default for Word {
    fn default() -> Self {
        Self {
            i: Instruction::nop(),
            busy: 0,
            memory: false,
            port0: false,
            port1: false,
            acc_op: None,
            mul_op: None,
            stores: [None; 2],
        }
    }
}

impl Word {
    /// Whether a unit is free.
    pub fn free(&self, unit: u8) -> bool {
        self.busy >> unit & 1 == 0
    }

    /// Takes the uniform memory's load for a vec4.
    pub fn memory(&mut self, vector: u32) -> bool {
        if self.memory {
            return u32::from(self.i.load_address) == vector;
        }
        (self.memory, self.i.load_address) = (true, vector as u16);
        true
    }

    /// Takes the first port for an attribute or a register.
    pub fn port0(&mut self, attribute: bool, vector: u32) -> bool {
        let wanted = (u32::from(attribute), vector as u16);
        if self.port0 {
            return (self.i.register0_is_attribute.code(), self.i.register0_address) == wanted;
        }
        self.port0 = true;
        (self.i.register0_is_attribute, self.i.register0_address) = (c(wanted.0), wanted.1);
        true
    }

    /// What the first port loads, if anything.
    pub fn loaded(&self) -> Option<(bool, u32)> {
        self.port0.then_some((
            self.i.register0_is_attribute.code() == 1,
            u32::from(self.i.register0_address),
        ))
    }

    /// Takes the second port for a register.
    pub fn port1(&mut self, vector: u32) -> bool {
        if self.port1 {
            return u32::from(self.i.register1_address) == vector;
        }
        (self.port1, self.i.register1_address) = (true, vector as u16);
        true
    }

    /// Stores a unit's result to a component of an output or register.
    pub fn store(&mut self, unit: u8, varying: bool, address: u16, component: u8) -> bool {
        let half = usize::from(component / 2);
        if self.stores[half].is_some_and(|have| have != (varying, address)) {
            return false;
        }
        let i = &mut self.i;
        let field = match component {
            0 => &mut i.store0_x,
            1 => &mut i.store0_y,
            2 => &mut i.store1_z,
            _ => &mut i.store1_w,
        };
        if field.code() != 7 {
            return false;
        }
        *field = c(unit);
        self.stores[half] = Some((varying, address));
        if half == 0 {
            (i.store0_address, i.store0_varying) = (address, c(varying));
        } else {
            (i.store1_address, i.store1_varying) = (address, c(varying));
        }
        true
    }

    fn adders(&mut self, op: u16) -> bool {
        match self.acc_op {
            Some(have) => have == op,
            None => {
                (self.acc_op, self.i.acc_op) = (Some(op), c(op));
                true
            }
        }
    }

    fn multipliers(&mut self, op: u16) -> bool {
        match self.mul_op {
            Some(have) => have == op,
            None => {
                (self.mul_op, self.i.mul_op) = (Some(op), c(op));
                true
            }
        }
    }

    /// Whether a unit may do something, its sources aside.
    pub fn may(&self, kind: &Kind, unit: u8) -> bool {
        let acc = |op: u16| self.acc_op.is_none_or(|have| have == op);
        let mul = |op: u16| self.mul_op.is_none_or(|have| have == op);
        self.free(unit)
            && match (kind, unit) {
                (Kind::Acc(op, ..), ACC0 | ACC1) => acc(*op),
                (Kind::Mul(_), MUL0) => mul(MUL),
                (Kind::Mul(_), MUL1) => mul(MUL) || mul(COMPLEX2),
                (Kind::Select, MUL0) => self.mul_op.is_none() && self.free(MUL1),
                (Kind::Function(_), COMPLEX) => self.free(MUL0) && (mul(COMPLEX2) || self.widens()),
                (Kind::Clamp(_) | Kind::Step(_), PASS) => true,
                (Kind::Move, ACC0 | ACC1) => acc(0),
                (Kind::Move, MUL0) => mul(MUL),
                (Kind::Move, MUL1) => mul(MUL) || mul(COMPLEX2),
                (Kind::Move, PASS | COMPLEX) => true,
                (Kind::Branch, PASS) => true,
                _ => false,
            }
    }

    /// A product in the second multiplier goes on as it is when the first one helps the complex unit.
    fn widens(&self) -> bool {
        self.mul_op == Some(MUL) && self.free(MUL0)
    }

    /// Gives a unit something to do; `sources` are as the unit takes them.
    pub fn set(&mut self, kind: &Kind, unit: u8, sources: &[u16]) -> bool {
        if !self.may(kind, unit) {
            return false;
        }
        self.busy |= 1 << unit;
        let i = &mut self.i;
        match (kind, unit) {
            (Kind::Acc(op, signs, _), _) => {
                let b = sources.get(1).copied().unwrap_or(0);
                if unit == ACC0 {
                    (i.acc0_a, i.acc0_b) = (c(sources[0]), c(b));
                    (i.acc0_a_negate, i.acc0_b_negate) = (c(signs[0]), c(signs[1]));
                } else {
                    (i.acc1_a, i.acc1_b) = (c(sources[0]), c(b));
                    (i.acc1_a_negate, i.acc1_b_negate) = (c(signs[0]), c(signs[1]));
                }
                self.adders(*op)
            }
            (Kind::Move, ACC0) => {
                (i.acc0_a, i.acc0_b, i.acc0_b_negate) = (c(sources[0]), c(NEUTRAL), c(1u32));
                self.adders(0)
            }
            (Kind::Move, ACC1) => {
                (i.acc1_a, i.acc1_b, i.acc1_b_negate) = (c(sources[0]), c(NEUTRAL), c(1u32));
                self.adders(0)
            }
            (Kind::Mul(_) | Kind::Move, MUL0) => {
                i.mul0_a = c(sources[0]);
                i.mul0_b = c(sources.get(1).copied().unwrap_or(NEUTRAL));
                i.mul0_negate = c(*kind == Kind::Mul(true));
                self.multipliers(MUL)
            }
            (Kind::Mul(_) | Kind::Move, MUL1) => {
                i.mul1_a = c(sources[0]);
                i.mul1_b = c(sources.get(1).copied().unwrap_or(NEUTRAL));
                i.mul1_negate = c(*kind == Kind::Mul(true));
                self.mul_op == Some(COMPLEX2) || self.multipliers(MUL)
            }
            (Kind::Select, _) => {
                self.busy |= 1 << MUL1;
                // Condition, value where it holds, value where not.
                (i.mul0_b, i.mul1_a, i.mul0_a) = (c(sources[0]), c(sources[1]), c(sources[2]));
                self.multipliers(SELECT)
            }
            (Kind::Function(op), _) => {
                self.busy |= 1 << MUL0;
                (i.complex_op, i.complex_source) = (c(*op), c(sources[0]));
                (i.mul0_a, i.mul0_b) = (c(sources[0]), c(sources[0]));
                (self.mul_op, i.mul_op) = (Some(COMPLEX2), c(COMPLEX2));
                true
            }
            (Kind::Clamp(vector), _) => {
                (i.pass_op, i.pass_source) = (c(6u32), c(sources[0]));
                self.memory(*vector)
            }
            (Kind::Step(op), _) => {
                (i.pass_op, i.pass_source) = (c(*op), c(sources[0]));
                true
            }
            (Kind::Move | Kind::Branch, PASS) => {
                (i.pass_op, i.pass_source) = (c(2u32), c(sources[0]));
                if *kind == Kind::Branch {
                    (i.branch, i.flags) = (c(1u32), utgard::gp::flags::BRANCH);
                }
                true
            }
            (Kind::Move, _) => {
                (i.complex_op, i.complex_source) = (c(9u32), c(sources[0]));
                true
            }
            _ => false,
        }
    }

    /// The step behind a function's first one; `argument` is the function's.
    pub fn second_step(&mut self, argument: u16) -> bool {
        if !self.free(MUL0) || !self.free(MUL1) || self.mul_op.is_some() {
            return false;
        }
        self.busy |= 1 << MUL0 | 1 << MUL1;
        let i = &mut self.i;
        (i.mul0_a, i.mul0_b, i.mul1_a, i.mul1_b) = (c(NEUTRAL), c(18u32), c(NEUTRAL), c(argument));
        self.multipliers(COMPLEX1)
    }
}
