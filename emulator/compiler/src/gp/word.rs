//! An instruction in the making: which units, ports and stores are taken.

use super::node::Kind;
use utgard::gp::{AccOp, Age, ComplexOp, Component, Instruction, MulOp, PassOp, Source, Stored, Target, Unit, flags};

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// Its fields so far.
    pub i: Instruction,
    busy: [bool; 6],
    memory: bool,
    port0: bool,
    port1: bool,
    acc_op: Option<AccOp>,
    mul_op: Option<MulOp>,
    stores: [Option<Target>; 2],
    /// Vec4 of the memory that temporary stores go to.
    temporary: Option<u32>,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            i: Instruction::nop(),
            busy: [false; 6],
            memory: false,
            port0: false,
            port1: false,
            acc_op: None,
            mul_op: None,
            stores: [None; 2],
            temporary: None,
        }
    }
}

impl Word {
    /// Whether a unit is free.
    pub(super) fn free(&self, unit: Unit) -> bool {
        !self.busy[unit.index()]
    }

    fn take(&mut self, unit: Unit) {
        self.busy[unit.index()] = true;
    }

    /// Takes the uniform memory's load for a vec4.
    pub(super) fn memory(&mut self, vector: u32) -> bool {
        if self.memory {
            return u32::from(self.i.load_address) == vector;
        }
        (self.memory, self.i.load_address) = (true, vector as u16);
        true
    }

    /// Takes the first port for an attribute or a register.
    pub(super) fn port0(&mut self, attribute: bool, vector: u32) -> bool {
        if self.port0 {
            return self.loaded() == Some((attribute, vector));
        }
        self.port0 = true;
        (self.i.register0_is_attribute, self.i.register0_address) = (attribute, vector as u16);
        true
    }

    /// What the first port loads, if anything.
    pub(super) fn loaded(&self) -> Option<(bool, u32)> {
        self.port0
            .then_some((self.i.register0_is_attribute, u32::from(self.i.register0_address)))
    }

    /// Takes the second port for a register.
    pub(super) fn port1(&mut self, vector: u32) -> bool {
        if self.port1 {
            return u32::from(self.i.register1_address) == vector;
        }
        (self.port1, self.i.register1_address) = (true, vector as u16);
        true
    }

    /// Stores a unit's result to a component.
    pub(super) fn store(&mut self, unit: Unit, target: Target, component: Component) -> bool {
        let half = component.index() / 2;
        if self.stores[half].is_some_and(|have| have != target) {
            return false;
        }
        let i = &mut self.i;
        let field = match component {
            Component::X => &mut i.store0_x,
            Component::Y => &mut i.store0_y,
            Component::Z => &mut i.store1_z,
            Component::W => &mut i.store1_w,
        };
        if *field != Stored::Nothing {
            return false;
        }
        *field = Stored::Unit(unit);
        self.stores[half] = Some(target);
        let (temporary, varying, address) = match target {
            Target::Temporary => (true, false, 0),
            Target::Varying(address) => (false, true, address),
            Target::Register(address) => (false, false, address),
        };
        if half == 0 {
            (i.store0_temporary, i.store0_varying, i.store0_address) = (temporary, varying, address);
        } else {
            (i.store1_temporary, i.store1_varying, i.store1_address) = (temporary, varying, address);
        }
        if temporary {
            i.flags = flags::TEMPORARY;
        }
        true
    }

    /// The vec4 that stores to temporaries go to, whose number the complex unit takes from a source.
    pub(super) fn addressed(&self) -> Option<u32> {
        self.temporary
    }

    /// Lets stores to temporaries go to a vec4 whose number a source has.
    pub(super) fn address(&mut self, vector: u32, source: Source) -> bool {
        if !self.free(Unit::Complex) || self.i.branch {
            return false;
        }
        self.take(Unit::Complex);
        self.temporary = Some(vector);
        (self.i.complex_op, self.i.complex_source) = (ComplexOp::TempStoreAddress, source);
        true
    }

    fn adders(&mut self, op: AccOp) -> bool {
        self.i.acc_op = *self.acc_op.get_or_insert(op);
        self.i.acc_op == op
    }

    fn multipliers(&mut self, op: MulOp) -> bool {
        self.i.mul_op = *self.mul_op.get_or_insert(op);
        self.i.mul_op == op
    }

    /// Whether a unit may do something, its sources aside.
    pub(super) fn may(&self, kind: &Kind, unit: Unit) -> bool {
        let acc = |op: AccOp| self.acc_op.is_none_or(|have| have == op);
        let mul = |op: MulOp| self.mul_op.is_none_or(|have| have == op);
        self.free(unit)
            && match (kind, unit) {
                (Kind::Acc(op, ..), Unit::Acc0 | Unit::Acc1) => acc(*op),
                (Kind::Move, Unit::Acc0 | Unit::Acc1) => acc(AccOp::Add),
                (Kind::Mul(_) | Kind::Move, Unit::Mul0) => mul(MulOp::Mul),
                (Kind::Mul(_) | Kind::Move, Unit::Mul1) => mul(MulOp::Mul) || mul(MulOp::Complex2),
                (Kind::Select, Unit::Mul0) => self.mul_op.is_none() && self.free(Unit::Mul1),
                (Kind::Function(_), Unit::Complex) => {
                    self.free(Unit::Mul0) && (mul(MulOp::Complex2) || self.mul_op == Some(MulOp::Mul))
                }
                (Kind::Branch, Unit::Pass) => self.temporary.is_none(),
                (Kind::Clamp(_) | Kind::Step(_) | Kind::Move, Unit::Pass) | (Kind::Move, Unit::Complex) => true,
                _ => false,
            }
    }

    /// Gives a unit something to do; `sources` are as the unit takes them.
    pub(super) fn set(&mut self, kind: &Kind, unit: Unit, sources: &[Source]) -> bool {
        if !self.may(kind, unit) {
            return false;
        }
        self.take(unit);
        let first = sources[0];
        // Times one, plus nothing: a move.
        let second = sources.get(1).copied().unwrap_or(Source::IDENTITY);
        match (kind, unit) {
            (Kind::Acc(op, signs, _), _) => {
                // Operations of one operand do not look at the second.
                let b = sources.get(1).copied().unwrap_or_default();
                self.sum(unit, [first, b], *signs);
                self.adders(*op)
            }
            (Kind::Move, Unit::Acc0 | Unit::Acc1) => {
                self.sum(unit, [first, second], [false, true]);
                self.adders(AccOp::Add)
            }
            (Kind::Mul(_) | Kind::Move, Unit::Mul0) => {
                (self.i.mul0_a, self.i.mul0_b) = (first, second);
                self.i.mul0_negate = *kind == Kind::Mul(true);
                self.multipliers(MulOp::Mul)
            }
            (Kind::Mul(_) | Kind::Move, Unit::Mul1) => {
                (self.i.mul1_a, self.i.mul1_b) = (first, second);
                self.i.mul1_negate = *kind == Kind::Mul(true);
                self.mul_op == Some(MulOp::Complex2) || self.multipliers(MulOp::Mul)
            }
            (Kind::Select, _) => {
                self.take(Unit::Mul1);
                // Condition, value where it holds, value where not.
                (self.i.mul0_b, self.i.mul1_a, self.i.mul0_a) = (first, second, sources[2]);
                self.multipliers(MulOp::Select)
            }
            (Kind::Function(op), _) => {
                self.take(Unit::Mul0);
                (self.i.complex_op, self.i.complex_source) = (*op, first);
                (self.i.mul0_a, self.i.mul0_b) = (first, first);
                // A product of the second multiplier goes on as it is.
                (self.mul_op, self.i.mul_op) = (Some(MulOp::Complex2), MulOp::Complex2);
                true
            }
            (Kind::Clamp(vector), _) => {
                (self.i.pass_op, self.i.pass_source) = (PassOp::Clamp, first);
                self.memory(*vector)
            }
            (Kind::Step(op), _) => {
                (self.i.pass_op, self.i.pass_source) = (*op, first);
                true
            }
            (Kind::Move | Kind::Branch, Unit::Pass) => {
                (self.i.pass_op, self.i.pass_source) = (PassOp::Mov, first);
                if *kind == Kind::Branch {
                    (self.i.branch, self.i.flags) = (true, flags::BRANCH);
                }
                true
            }
            (Kind::Move, _) => {
                (self.i.complex_op, self.i.complex_source) = (ComplexOp::Mov, first);
                true
            }
            _ => false,
        }
    }

    fn sum(&mut self, unit: Unit, [a, b]: [Source; 2], [a_negate, b_negate]: [bool; 2]) {
        let i = &mut self.i;
        if unit == Unit::Acc0 {
            (i.acc0_a, i.acc0_b, i.acc0_a_negate, i.acc0_b_negate) = (a, b, a_negate, b_negate);
        } else {
            (i.acc1_a, i.acc1_b, i.acc1_a_negate, i.acc1_b_negate) = (a, b, a_negate, b_negate);
        }
    }

    /// The step behind a function's first one; `argument` is the function's.
    pub(super) fn second_step(&mut self, argument: Source) -> bool {
        if !self.free(Unit::Mul0) || !self.free(Unit::Mul1) || self.mul_op.is_some() {
            return false;
        }
        self.take(Unit::Mul0);
        self.take(Unit::Mul1);
        // In this operation the identity's number is the complex unit's result.
        let i = &mut self.i;
        (i.mul0_a, i.mul0_b) = (Source::IDENTITY, Source::Result(Unit::Mul0, Age::One));
        (i.mul1_a, i.mul1_b) = (Source::IDENTITY, argument);
        self.multipliers(MulOp::Complex1)
    }
}
