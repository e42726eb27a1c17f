//! Coverage of random GP programs, like [`reach`](crate::reach) for the PP.

use std::collections::BTreeMap;
use utgard::field::Code;
use utgard::gp::{Age, ComplexOp, Instruction, MulOp, PassOp, Source, Stored, Target, UNITS, Unit};

/// Destination of a unit's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// To a register.
    Stored,
    /// To a later instruction.
    Forwarded,
    /// Both.
    Both,
}

/// How the second unit uses the first one's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It reads the result.
    ReadsForward,
    /// It reads the register by the first port.
    ReadsPort0,
    /// It reads the register by the second port.
    ReadsPort1,
    /// It reads the value that the first port loaded in the instruction before.
    ReadsPort0Before,
    /// It stores to the same component.
    Overwrites,
}

/// A cell of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// A unit's result, its destination, and its use by another unit some instructions later.
    Meets {
        /// The unit whose result it is.
        first: Unit,
        /// Where it goes.
        outcome: Outcome,
        /// Instructions from the first unit to the second.
        distance: u8,
        /// The other unit.
        second: Unit,
        /// What it does.
        how: How,
        /// The program has no branches.
        straight: bool,
    },
    /// The component of the shared register.
    Component(How, u8, u8),
    /// An operation of a unit.
    Operation(Unit, u8),
    /// A source that a unit reads.
    Source(Unit, u8),
    /// An instruction that branches: the unit whose result the pass unit reads.
    Branch(Unit),
}

/// How often each cell was reached.
pub type Table = BTreeMap<Cell, u32>;

const OUTCOMES: [Outcome; 3] = [Outcome::Stored, Outcome::Forwarded, Outcome::Both];
const HOWS: [How; 5] = [
    How::ReadsForward,
    How::ReadsPort0,
    How::ReadsPort1,
    How::ReadsPort0Before,
    How::Overwrites,
];

/// What a unit reads.
fn sources(i: &Instruction, unit: Unit) -> Vec<Source> {
    if !i.is_busy(unit) {
        return Vec::new();
    }
    let sum = |number: usize| {
        let sum = i.sums()[number].into_iter();
        let both = i.acc_op.operands() == 2;
        sum.flat_map(move |sum| [Some(sum.a), sum.b.source().filter(|_| both)])
    };
    let product = |number: usize| {
        let product = i.products()[number].into_iter();
        product.flat_map(|product| [Some(product.a), product.b.source()])
    };
    match unit {
        Unit::Acc0 => sum(0).flatten().collect(),
        Unit::Acc1 => sum(1).flatten().collect(),
        Unit::Mul0 => match i.mul_op {
            MulOp::Mul => product(0).flatten().collect(),
            MulOp::Complex1 => vec![i.mul0_a],
            MulOp::Complex2 => vec![i.mul0_a, i.mul0_b],
            MulOp::Select => vec![i.mul0_a, i.mul0_b, i.mul1_a],
            MulOp::Undocumented(_) => Vec::new(),
        },
        Unit::Mul1 => product(1).flatten().collect(),
        Unit::Complex => vec![i.complex_source],
        Unit::Pass => {
            let limits = Source::LIMITS.into_iter().filter(|_| i.pass_op == PassOp::Clamp);
            std::iter::once(i.pass_source).chain(limits).collect()
        }
    }
}

/// Registers that a unit's result is stored to, with their components.
fn stored(i: &Instruction, unit: Unit) -> Vec<(u16, u8)> {
    let stores = i.stores().into_iter().zip(0..);
    stores
        .filter_map(|((from, target), component)| match target {
            Target::Register(register) if from == Stored::Unit(unit) && i.is_busy(unit) => Some((register, component)),
            _ => None,
        })
        .collect()
}

/// Whether a unit of the following instructions reads a unit's result.
fn is_forwarded(program: &[Instruction], at: usize, unit: Unit) -> bool {
    [(1, Age::One), (2, Age::Two)].into_iter().any(|(distance, age)| {
        let later = program.get(at + distance);
        later.is_some_and(|later| later.sources().contains(&Source::Result(unit, age)))
    })
}

/// The registers' components that a unit reads by a port.
fn read(program: &[Instruction], at: usize, unit: Unit, how: How) -> Vec<(u16, u8)> {
    let i = &program[at];
    let before = at.checked_sub(1).map(|before| &program[before]);
    let sources = sources(i, unit);
    let one = |source: &Source| match (how, source) {
        (How::ReadsPort0, Source::Port0(component)) if !i.register0_is_attribute => {
            Some((i.register0_address, *component as u8))
        }
        (How::ReadsPort1, Source::Port1(component)) => Some((i.register1_address, *component as u8)),
        (How::ReadsPort0Before, Source::Port0Before(component)) => {
            let before = before.filter(|before| !before.register0_is_attribute)?;
            Some((before.register0_address, *component as u8))
        }
        _ => None,
    };
    sources.iter().filter_map(one).collect()
}

/// Records the cells that a program reaches; returns whether some are new.
pub fn note(program: &[Instruction], table: &mut Table) -> bool {
    let straight = program.iter().all(|i| !i.branch);
    // If lanes have different addresses, every engine runs the scalar one's code.
    let by_address = |i: &Instruction| {
        let offset =
            i.load_offset.register().is_some() && i.sources().iter().any(|source| matches!(source, Source::Memory(_)));
        offset || i.writes_addresses() || i.stores_temporaries()
    };
    let by_address = program.iter().any(by_address);
    let mut new = false;
    let mut reach = |cell: Cell| {
        let count = table.entry(cell).or_insert(0);
        new |= *count == 0;
        *count += 1;
    };
    let units = UNITS.map(|row| row.unit);
    for (at, i) in program.iter().enumerate() {
        for second in units.into_iter().filter(|unit| i.is_busy(*unit)) {
            let sources = sources(i, second);
            sources
                .iter()
                .for_each(|source| reach(Cell::Source(second, source.code() as u8)));
            for (distance, first_at) in (0..3)
                .filter(|_| !by_address)
                .filter_map(|distance| Some((distance, at.checked_sub(distance)?)))
            {
                for first in units.into_iter().filter(|unit| program[first_at].is_busy(*unit)) {
                    let places = stored(&program[first_at], first);
                    let outcome = match (!places.is_empty(), is_forwarded(program, first_at, first)) {
                        (true, false) => Outcome::Stored,
                        (false, true) => Outcome::Forwarded,
                        (true, true) => Outcome::Both,
                        (false, false) => continue,
                    };
                    for how in HOWS {
                        let age = if distance == 1 { Age::One } else { Age::Two };
                        let met: Vec<(u16, u8)> = match how {
                            How::ReadsForward => Vec::new(),
                            How::Overwrites if distance == 0 => Vec::new(),
                            How::Overwrites => stored(i, second),
                            _ => read(program, at, second, how),
                        };
                        let met: Vec<_> = met.into_iter().filter(|place| places.contains(place)).collect();
                        let forward = how == How::ReadsForward && distance > 0;
                        if met.is_empty() && !(forward && sources.contains(&Source::Result(first, age))) {
                            continue;
                        }
                        reach(Cell::Meets {
                            first,
                            outcome,
                            distance: distance as u8,
                            second,
                            how,
                            straight,
                        });
                        met.iter()
                            .for_each(|(_, component)| reach(Cell::Component(how, distance as u8, *component)));
                    }
                }
            }
            let operation = match second {
                Unit::Acc0 | Unit::Acc1 => i.acc_op.code(),
                Unit::Mul0 | Unit::Mul1 => i.mul_op.code(),
                Unit::Complex => i.complex_op.code(),
                Unit::Pass => i.pass_op.code(),
            };
            reach(Cell::Operation(second, operation as u8));
        }
        if let Source::Result(unit, Age::One) = i.pass_source
            && i.branch
        {
            reach(Cell::Branch(unit));
        }
    }
    new
}

/// Why a cell cannot be reached; `None` if it can.
pub fn unreachable(cell: Cell) -> Option<&'static str> {
    match cell {
        Cell::Meets {
            first,
            outcome,
            distance,
            how,
            ..
        } => match (how, outcome, distance) {
            (How::ReadsForward | How::Overwrites, _, 0) => Some("an instruction computes and stores once"),
            (How::ReadsForward, Outcome::Stored, _) => Some("the result does not go there"),
            (How::ReadsForward, _, 2) if Source::result(first, Age::Two).is_none() => {
                Some("the result lasts for one instruction")
            }
            (How::ReadsForward, ..) => None,
            (_, Outcome::Forwarded, _) => Some("the result does not go there"),
            _ => None,
        },
        Cell::Component(how, distance, _) => match how {
            How::ReadsForward => Some("a result is one number"),
            How::Overwrites if distance == 0 => Some("an instruction computes and stores once"),
            _ => None,
        },
        Cell::Operation(unit, op) => {
            // One operation of the multipliers uses both, and its result is the first one's.
            let both = MulOp::from_code(op.into()).row().takes == utgard::gp::ops::Takes::Both;
            (unit == Unit::Mul1 && both).then_some("the first multiplier has the result")
        }
        Cell::Source(..) | Cell::Branch(..) => None,
    }
}

/// All cells.
pub fn cells() -> Vec<Cell> {
    let units = UNITS.map(|row| row.unit);
    let mut cells = Vec::new();
    for (first, second) in units.into_iter().flat_map(|first| units.map(|second| (first, second))) {
        for (outcome, how) in OUTCOMES.into_iter().flat_map(|outcome| HOWS.map(|how| (outcome, how))) {
            for (distance, straight) in [0, 1, 2].into_iter().flat_map(|at| [(at, false), (at, true)]) {
                cells.push(Cell::Meets {
                    first,
                    outcome,
                    distance,
                    second,
                    how,
                    straight,
                });
            }
        }
    }
    for how in HOWS {
        cells
            .extend((0..3).flat_map(|distance| (0..4).map(move |component| Cell::Component(how, distance, component))));
    }
    for unit in units {
        let operations: Vec<u32> = match unit {
            Unit::Acc0 | Unit::Acc1 => utgard::gp::AccOp::ALL.iter().map(|op| op.code()).collect(),
            Unit::Mul0 | Unit::Mul1 => MulOp::ALL.iter().map(|op| op.code()).collect(),
            Unit::Complex => ComplexOp::ALL.iter().map(|op| op.code()).collect(),
            Unit::Pass => PassOp::ALL.iter().map(|op| op.code()).collect(),
        };
        cells.extend(operations.into_iter().map(|op| Cell::Operation(unit, op as u8)));
        // The number of the last complex result means a constant if it is a second operand.
        let sources = Source::all().filter(|source| source.is_used());
        cells.extend(sources.map(|source| Cell::Source(unit, source.code() as u8)));
        cells.push(Cell::Branch(unit));
    }
    cells
}
