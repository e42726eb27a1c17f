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

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that an instruction may do.
    #[derive(Clone, Debug)]
    enum Part {
        Unit(Kind, Unit, Vec<Source>),
        Memory(u32),
        Port0(bool, u32),
        Port1(u32),
        Store(Unit, Target, Component),
        Address(u32, Source),
        Second(Source),
    }

    const UNITS: [Unit; 6] = [
        Unit::Acc0,
        Unit::Acc1,
        Unit::Mul0,
        Unit::Mul1,
        Unit::Pass,
        Unit::Complex,
    ];

    fn random_part(random: &mut fastrand::Rng) -> Part {
        let component = Component::ALL[random.usize(..4)];
        let source = |random: &mut fastrand::Rng| {
            let component = Component::ALL[random.usize(..4)];
            match random.u8(..4) {
                0 => Source::Memory(component),
                1 => Source::Port0(component),
                2 => Source::Port1(component),
                _ => Source::Result([Unit::Acc0, Unit::Mul1, Unit::Pass][random.usize(..3)], Age::Two),
            }
        };
        let kinds = [
            Kind::Acc(AccOp::Add, [random.bool(), random.bool()], true),
            Kind::Acc(AccOp::Min, [random.bool(), random.bool()], true),
            Kind::Mul(random.bool()),
            Kind::Select,
            Kind::Function(ComplexOp::Rcp),
            Kind::Function(ComplexOp::Log2),
            Kind::Clamp(random.u32(..3)),
            Kind::Step(PassOp::PreExp2),
            Kind::Move,
            Kind::Branch,
        ];
        match random.u8(..16) {
            0..=9 => {
                let kind = kinds[random.usize(..kinds.len())];
                let count = match kind {
                    Kind::Acc(..) | Kind::Mul(_) => 2,
                    Kind::Select => 3,
                    _ => 1,
                };
                let sources = (0..count).map(|_| source(random)).collect();
                Part::Unit(kind, UNITS[random.usize(..6)], sources)
            }
            10 => Part::Memory(random.u32(..3)),
            11 => Part::Port0(random.bool(), random.u32(..3)),
            12 => Part::Port1(random.u32(..3)),
            13 => {
                let target = match random.u8(..3) {
                    0 => Target::Temporary,
                    1 => Target::Varying(random.u16(..3)),
                    _ => Target::Register(random.u16(..3)),
                };
                Part::Store(UNITS[random.usize(..6)], target, component)
            }
            14 => Part::Address(random.u32(..3), source(random)),
            _ => Part::Second(source(random)),
        }
    }

    fn put(word: &mut Word, part: &Part) -> bool {
        match part {
            Part::Unit(kind, unit, sources) => word.set(kind, *unit, sources),
            Part::Memory(vector) => word.memory(*vector),
            Part::Port0(attribute, vector) => word.port0(*attribute, *vector),
            Part::Port1(vector) => word.port1(*vector),
            // The scheduler stores to a temporary only where it has put the address.
            Part::Store(_, Target::Temporary, _) if word.addressed().is_none() => false,
            Part::Store(unit, target, component) => word.store(*unit, *target, *component),
            Part::Address(vector, source) => word.address(*vector, *source),
            Part::Second(argument) => word.second_step(*argument),
        }
    }

    /// Whether an instruction does it.
    fn does(word: &Word, part: &Part) -> bool {
        let i = &word.i;
        let (product, moved) = ([MulOp::Mul].as_slice(), Source::IDENTITY);
        let second = [MulOp::Mul, MulOp::Complex2];
        let mul0 = |ops: &[MulOp], a, b, negate| {
            ops.contains(&i.mul_op) && (i.mul0_a, i.mul0_b, i.mul0_negate) == (a, b, negate)
        };
        let mul1 = |ops: &[MulOp], a, b, negate| {
            ops.contains(&i.mul_op) && (i.mul1_a, i.mul1_b, i.mul1_negate) == (a, b, negate)
        };
        let acc = |unit, op, a, b, signs: [bool; 2]| {
            let fields = match unit {
                Unit::Acc0 => (i.acc0_a, i.acc0_b, [i.acc0_a_negate, i.acc0_b_negate]),
                _ => (i.acc1_a, i.acc1_b, [i.acc1_a_negate, i.acc1_b_negate]),
            };
            i.acc_op == op && fields == (a, b, signs)
        };
        let pass = |op, source| (i.pass_op, i.pass_source) == (op, source);
        let complex = |op, source| (i.complex_op, i.complex_source) == (op, source);
        match part {
            Part::Unit(kind, unit, sources) => match (kind, unit, &sources[..]) {
                (Kind::Acc(op, signs, _), unit, [a, b]) => acc(*unit, *op, *a, *b, *signs),
                (Kind::Mul(negate), Unit::Mul0, [a, b]) => mul0(product, *a, *b, *negate),
                (Kind::Mul(negate), _, [a, b]) => mul1(&second, *a, *b, *negate),
                (Kind::Select, _, [condition, then, other]) => {
                    mul0(&[MulOp::Select], *other, *condition, false) && mul1(&[MulOp::Select], *then, i.mul1_b, false)
                }
                (Kind::Function(op), _, [a]) => complex(*op, *a) && mul0(&[MulOp::Complex2], *a, *a, false),
                (Kind::Clamp(vector), _, [a]) => pass(PassOp::Clamp, *a) && u32::from(i.load_address) == *vector,
                (Kind::Step(op), _, [a]) => pass(*op, *a),
                (Kind::Branch, _, [a]) => pass(PassOp::Mov, *a) && i.branch && i.flags == flags::BRANCH,
                (Kind::Move, Unit::Pass, [a]) => pass(PassOp::Mov, *a) && !i.branch,
                (Kind::Move, Unit::Complex, [a]) => complex(ComplexOp::Mov, *a),
                (Kind::Move, Unit::Mul0, [a]) => mul0(product, *a, moved, false),
                (Kind::Move, Unit::Mul1, [a]) => mul1(&second, *a, moved, false),
                // Minus nothing.
                (Kind::Move, unit, [a]) => acc(*unit, AccOp::Add, *a, moved, [false, true]),
                _ => false,
            },
            Part::Memory(vector) => u32::from(i.load_address) == *vector,
            Part::Port0(attribute, vector) => word.loaded() == Some((*attribute, *vector)),
            Part::Port1(vector) => u32::from(i.register1_address) == *vector,
            Part::Store(unit, target, component) => {
                let stored = i.stores()[component.index()];
                let flagged = *target != Target::Temporary || i.flags == flags::TEMPORARY;
                stored == (Stored::Unit(*unit), *target) && flagged
            }
            Part::Address(vector, source) => {
                complex(ComplexOp::TempStoreAddress, *source) && word.addressed() == Some(*vector) && !i.branch
            }
            Part::Second(argument) => {
                let ops = [MulOp::Complex1];
                mul0(&ops, Source::IDENTITY, Source::Result(Unit::Mul0, Age::One), false)
                    && mul1(&ops, Source::IDENTITY, *argument, false)
            }
        }
    }

    /// Whatever comes to an instruction later, what it does already it goes on doing; and its words say so.
    #[test]
    fn what_is_put_into_an_instruction_stays() {
        let mut random = fastrand::Rng::with_seed(10);
        let mut most = 0;
        for _ in 0..4000 {
            let (mut word, mut parts) = (Word::default(), Vec::new());
            for _ in 0..random.usize(2..60) {
                let part = random_part(&mut random);
                let mut new = word.clone();
                if put(&mut new, &part) {
                    word = new;
                    parts.push(part);
                }
                let left_out = parts.iter().find(|part| !does(&word, part));
                assert!(left_out.is_none(), "{left_out:?} of {parts:?}");
            }
            let decoded = Instruction::decode(word.i.encode());
            let again = Word { i: decoded, ..word };
            assert!(parts.iter().all(|part| does(&again, part)), "{parts:?}");
            let units = parts.iter().filter(|part| matches!(part, Part::Unit(..))).count();
            most = most.max(units);
        }
        // All six units at once.
        assert_eq!(most, 6);
    }

    /// What goes together: both of two in either order, alone and with others.
    #[test]
    fn units_work_beside_each_other() {
        let source = Source::Memory(Component::X);
        let part = |kind: Kind, unit: Unit| {
            let count = match kind {
                Kind::Acc(..) | Kind::Mul(_) => 2,
                Kind::Select => 3,
                _ => 1,
            };
            Part::Unit(kind, unit, vec![source; count])
        };
        let add = Kind::Acc(AccOp::Add, [false; 2], true);
        let min = Kind::Acc(AccOp::Min, [false; 2], true);
        let (mul, function) = (Kind::Mul(false), Kind::Function(ComplexOp::Rcp));
        let address = Part::Address(1, source);
        let second = Part::Second(source);
        for (a, b, together) in [
            (part(add, Unit::Acc0), part(add, Unit::Acc1), true),
            (part(add, Unit::Acc0), part(min, Unit::Acc1), false),
            (part(add, Unit::Acc0), part(add, Unit::Acc0), false),
            (part(add, Unit::Acc1), part(Kind::Move, Unit::Acc0), true),
            (part(min, Unit::Acc1), part(Kind::Move, Unit::Acc0), false),
            (part(mul, Unit::Mul0), part(mul, Unit::Mul1), true),
            (part(mul, Unit::Mul0), part(Kind::Move, Unit::Mul1), true),
            (part(mul, Unit::Mul0), part(Kind::Select, Unit::Mul0), false),
            (part(mul, Unit::Mul1), part(Kind::Select, Unit::Mul0), false),
            (part(function, Unit::Complex), part(mul, Unit::Mul1), true),
            (part(function, Unit::Complex), part(Kind::Move, Unit::Mul1), true),
            (part(function, Unit::Complex), part(mul, Unit::Mul0), false),
            (part(function, Unit::Complex), part(Kind::Select, Unit::Mul0), false),
            (part(function, Unit::Complex), part(Kind::Move, Unit::Complex), false),
            (part(function, Unit::Complex), address.clone(), false),
            (part(Kind::Move, Unit::Complex), address.clone(), false),
            (part(Kind::Branch, Unit::Pass), address.clone(), false),
            (part(Kind::Move, Unit::Pass), address.clone(), true),
            (part(Kind::Branch, Unit::Pass), part(Kind::Move, Unit::Pass), false),
            (part(Kind::Branch, Unit::Pass), part(Kind::Move, Unit::Complex), true),
            (part(Kind::Clamp(1), Unit::Pass), Part::Memory(1), true),
            (part(Kind::Clamp(1), Unit::Pass), Part::Memory(2), false),
            (second.clone(), part(add, Unit::Acc0), true),
            (second.clone(), part(mul, Unit::Mul1), false),
            (second.clone(), part(function, Unit::Complex), false),
            (second.clone(), part(Kind::Move, Unit::Complex), true),
            (second.clone(), second.clone(), false),
            (Part::Port0(true, 1), Part::Port0(true, 1), true),
            (Part::Port0(true, 1), Part::Port0(false, 1), false),
            (Part::Port0(true, 1), Part::Port0(true, 2), false),
            (Part::Port0(false, 1), Part::Port1(2), true),
            (Part::Port1(1), Part::Port1(2), false),
            (Part::Memory(1), Part::Memory(2), false),
        ] {
            for (first, then) in [(&a, &b), (&b, &a)] {
                let mut word = Word::default();
                assert!(put(&mut word, first), "{first:?}");
                assert_eq!(put(&mut word, then), together, "{first:?} and {then:?}");
            }
        }
        // Stores: two components to each of two places.
        use Component::{W, X, Y, Z};
        let (one, other) = (Target::Register(1), Target::Varying(1));
        for (first, then, together) in [
            ((one, X), (one, Y), true),
            ((one, X), (other, Y), false),
            ((one, X), (other, Z), true),
            ((one, Y), (other, W), true),
            ((one, Z), (other, W), false),
            ((one, X), (one, X), false),
            ((one, X), (Target::Register(2), Y), false),
            ((one, W), (Target::Register(2), Y), true),
        ] {
            let mut word = Word::default();
            assert!(word.store(Unit::Acc0, first.0, first.1));
            assert_eq!(word.store(Unit::Acc1, then.0, then.1), together, "{first:?} {then:?}");
        }
    }
}
