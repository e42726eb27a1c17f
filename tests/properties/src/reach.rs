//! Coverage of random PP programs: which units interact, and how.
//!
//! A cell stands for one unit's result used by another unit of the same instruction or of the next. Every cell without
//! a reason in [`unreachable()`] must be reached, or the programs test less than they appear to.

use std::collections::BTreeMap;
use utgard::field::Code;
use utgard::pp::access::{Access, accesses};
use utgard::pp::flow::early_biases;
use utgard::pp::{AccOp, Form, Instruction, LoadSource, Modifier, MulOp, Register, Scalar, VaryingKind};

/// The units, in the order they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// First constants.
    Const0,
    /// Second constants.
    Const1,
    /// Varying unit.
    Varying,
    /// Sampler.
    Sampler,
    /// Load of a uniform or temporary.
    Load,
    /// Vec4 multiplier.
    VecMul,
    /// Scalar multiplier.
    FloatMul,
    /// Vec4 adder.
    VecAcc,
    /// Scalar adder.
    FloatAcc,
    /// Combine unit.
    Combine,
    /// Store of a temporary.
    Store,
    /// Read of the tile buffer, by the store unit.
    Tile,
    /// Branch.
    Branch,
}

/// Destination of a unit's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nowhere.
    Nothing,
    /// To a register, or to temporaries.
    Stored,
    /// To other units of the instruction.
    Forwarded,
    /// Both.
    Both,
}

/// How the second unit uses the first one's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// It reads what was forwarded.
    ReadsForward,
    /// It reads the register that was, or will be, stored.
    ReadsStored,
    /// It stores to the same place.
    Overwrites,
}

/// Control flow after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// To the next one.
    On,
    /// It branches.
    Branch,
    /// It branches or ends the program.
    BranchOrStop,
    /// It ends the program.
    Stop,
    /// It discards the fragment.
    Discard,
}

/// Source of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum From {
    /// A general register.
    Register,
    /// First constants.
    Const0,
    /// Second constants.
    Const1,
    /// The sampler's result.
    Texture,
    /// The load's result.
    Uniform,
}

/// Two interacting units: the first one, whether the second is in the next instruction, the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meeting {
    /// The unit whose result it is.
    pub first: Unit,
    /// The other unit is in the next instruction.
    pub next: bool,
    /// The other unit.
    pub second: Unit,
    /// What it does.
    pub how: How,
}

/// A cell of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// Where both results go, and whether each is a plain operation: a product or sum without a modifier.
    Meets(Meeting, [(Outcome, bool); 2]),
    /// The component of the shared register.
    Component(Meeting, u8),
    /// Control flow after the second one's instruction.
    Ends(Meeting, End),
    /// An operation of a unit.
    Operation(Unit, u8),
    /// A unit's result modifier.
    Modifier(Unit, u8),
    /// A unit's source of operands.
    Source(Unit, From),
    /// A condition of a branch, and the sources of its operands.
    Condition(u8, From, From),
    /// The component of a bias that is read before the instruction in front has written it.
    EarlyBias(u8),
}

/// How often each cell was reached.
pub type Table = BTreeMap<Cell, u32>;

const UNITS: [Unit; 13] = [
    Unit::Const0,
    Unit::Const1,
    Unit::Varying,
    Unit::Sampler,
    Unit::Load,
    Unit::VecMul,
    Unit::FloatMul,
    Unit::VecAcc,
    Unit::FloatAcc,
    Unit::Combine,
    Unit::Store,
    Unit::Tile,
    Unit::Branch,
];
const OUTCOMES: [Outcome; 4] = [Outcome::Nothing, Outcome::Stored, Outcome::Forwarded, Outcome::Both];
const HOWS: [How; 3] = [How::ReadsForward, How::ReadsStored, How::Overwrites];
const ENDS: [End; 5] = [End::On, End::Branch, End::BranchOrStop, End::Stop, End::Discard];
const SOURCES: [From; 5] = [From::Register, From::Const0, From::Const1, From::Texture, From::Uniform];

impl Outcome {
    fn of(stored: bool, forwarded: bool) -> Self {
        match (stored, forwarded) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Stored,
            (false, true) => Self::Forwarded,
            (true, true) => Self::Both,
        }
    }

    fn is_stored(self) -> bool {
        matches!(self, Self::Stored | Self::Both)
    }

    fn is_forwarded(self) -> bool {
        matches!(self, Self::Forwarded | Self::Both)
    }
}

impl From {
    fn of(register: Register) -> Self {
        match register {
            Register::CONST0 => Self::Const0,
            Register::CONST1 => Self::Const1,
            Register::TEXTURE => Self::Texture,
            Register::UNIFORM => Self::Uniform,
            _ => Self::Register,
        }
    }
}

/// A unit in an instruction.
struct Use {
    unit: Unit,
    access: Access,
    outcome: Outcome,
    plain: bool,
    /// Results of other units that it reads without a register: the unit and its components.
    forwards: Vec<(Unit, u32)>,
    /// First and last float of the temporaries that it reads or stores to, if no offset is added.
    temporaries: Option<(i32, i32)>,
}

fn uses(i: &Instruction) -> Vec<Use> {
    let mut accesses = accesses(i).into_iter();
    let mut uses: Vec<Use> = Vec::new();
    let mut add = |unit: Unit, plain: bool, forwarded: bool, forwards: Vec<(Unit, u32)>| {
        let access = accesses.next().expect("an access for each unit");
        let stored = access.writes.is_some_and(|(register, _)| !register.is_pipeline());
        uses.push(Use {
            unit,
            access,
            outcome: Outcome::of(stored || unit == Unit::Store, forwarded),
            plain,
            forwards,
            temporaries: None,
        });
    };
    for (unit, constant) in [(Unit::Const0, i.const0), (Unit::Const1, i.const1)] {
        if constant.is_some() {
            add(unit, true, true, Vec::new());
        }
    }
    if let Some(unit) = i.varying {
        add(
            Unit::Varying,
            unit.kind == VaryingKind::Plain,
            i.sampler.is_some(),
            Vec::new(),
        );
    }
    if let Some(unit) = i.sampler {
        let seen = if unit.is_cube() { 7 } else { 3 };
        add(Unit::Sampler, true, true, vec![(Unit::Varying, seen)]);
    }
    if i.load.is_some() {
        add(Unit::Load, true, true, Vec::new());
    }
    if let Some(mul) = i.vec_mul {
        let plain = mul.op == MulOp::Mul && mul.modifier == Modifier::None;
        add(
            Unit::VecMul,
            plain,
            i.vec_acc.is_some_and(|acc| acc.a_is_mul),
            Vec::new(),
        );
    }
    if let Some(mul) = i.float_mul {
        let plain = mul.op == MulOp::Mul && mul.modifier == Modifier::None;
        add(Unit::FloatMul, plain, i.reads_product(), Vec::new());
    }
    if let Some(acc) = i.vec_acc {
        let seen = acc.a_swizzle.through(acc.op.row().reads.of(acc.mask));
        let mut forwards = Vec::from_iter(acc.a_is_mul.then_some((Unit::VecMul, seen)));
        forwards.extend(acc.op.row().product.then_some((Unit::FloatMul, 1)));
        let plain = acc.op == AccOp::Add && acc.modifier == Modifier::None;
        add(Unit::VecAcc, plain, false, forwards);
    }
    if let Some(acc) = i.float_acc {
        let takes = acc.a_is_mul || acc.op.row().product;
        let plain = acc.op == AccOp::Add && acc.modifier == Modifier::None;
        add(
            Unit::FloatAcc,
            plain,
            false,
            Vec::from_iter(takes.then_some((Unit::FloatMul, 1))),
        );
    }
    if let Some(unit) = i.combine {
        let plain = matches!(unit.form(), Form::Scalar(_)) && unit.modifier == Modifier::None;
        add(Unit::Combine, plain, false, Vec::new());
    }
    if let Some(unit) = i.store {
        let unit = if unit.reads_tile() { Unit::Tile } else { Unit::Store };
        add(unit, true, false, Vec::new());
    }
    if i.branch.is_some_and(|unit| unit.may_go() && !unit.always()) {
        add(Unit::Branch, true, false, Vec::new());
    }
    let range = |index: i32, alignment: utgard::pp::Alignment| {
        let first = index << alignment.shift();
        (first, first + alignment.components() as i32 - 1)
    };
    for one in &mut uses {
        let load = i
            .load
            .filter(|load| load.source == LoadSource::Temporary && !load.offset_enable);
        one.temporaries = match one.unit {
            Unit::Load => load.map(|load| range(load.signed_index(), load.alignment)),
            Unit::Store => i
                .store
                .filter(|store| !store.offset_enable)
                .map(|store| range(store.signed_index(), store.alignment)),
            _ => None,
        };
    }
    uses
}

fn end(i: &Instruction) -> End {
    match (i.branch, i.control.stop) {
        (Some(branch), _) if branch.is_discard() => End::Discard,
        (Some(branch), true) if branch.may_go() => End::BranchOrStop,
        (Some(branch), false) if branch.may_go() => End::Branch,
        (_, true) => End::Stop,
        _ => End::On,
    }
}

/// Components in which a second unit uses a first one's result.
fn meets(first: &Use, second: &Use, how: How, next: bool) -> u32 {
    let shared = |reads: &[(Register, u32)], of: Register, mask: u32| {
        let same = reads.iter().filter(|(register, _)| *register == of);
        same.fold(0, |all, (_, read)| all | read & mask)
    };
    let places = [first, second].map(|one| one.temporaries);
    let overlap = matches!(places, [Some((a, b)), Some((c, d))] if a <= d && c <= b);
    match how {
        How::ReadsForward if next || first.access.stage >= second.access.stage => 0,
        How::ReadsForward => {
            let direct = second.forwards.iter().filter(|(unit, _)| *unit == first.unit);
            let direct = direct.fold(0, |all, (_, mask)| all | mask);
            let pipeline = first.access.writes.filter(|(register, _)| register.is_pipeline());
            direct | pipeline.map_or(0, |(of, mask)| shared(&second.access.reads, of, mask))
        }
        How::ReadsStored if first.unit == Unit::Store => u32::from(overlap && second.unit == Unit::Load),
        How::Overwrites if first.unit == Unit::Store => u32::from(overlap && second.unit == Unit::Store && next),
        How::ReadsStored | How::Overwrites => {
            let stored = first.access.writes.filter(|(register, _)| !register.is_pipeline());
            let Some((of, mask)) = stored else { return 0 };
            match how {
                How::Overwrites if next || first.unit < second.unit => {
                    second.access.writes.map_or(0, |writes| shared(&[writes], of, mask))
                }
                How::Overwrites => 0,
                _ => shared(&second.access.reads, of, mask),
            }
        }
    }
}

/// Records the cells that a program reaches; returns whether some are new.
pub fn note(program: &[Instruction], table: &mut Table) -> bool {
    let all: Vec<Vec<Use>> = program.iter().map(uses).collect();
    let mut new = false;
    let mut reach = |cell: Cell| {
        let count = table.entry(cell).or_insert(0);
        new |= *count == 0;
        *count += 1;
    };
    let places = program.iter().scan(0, |next, i| {
        *next += i.words();
        Some((*next - i.words(), *i))
    });
    for bias in early_biases(&places.collect::<Vec<_>>()) {
        reach(Cell::EarlyBias(bias.register.component() as u8));
    }
    for (at, i) in program.iter().enumerate() {
        for second in &all[at] {
            let before = at
                .checked_sub(1)
                .map(|at| &all[at])
                .filter(|_| end(&program[at - 1]) == End::On);
            let firsts = before.into_iter().flatten().map(|first| (first, true));
            for (first, next) in firsts.chain(all[at].iter().map(|first| (first, false))) {
                for how in HOWS {
                    let components = meets(first, second, how, next);
                    let idle = second.outcome == Outcome::Nothing && second.unit != Unit::Branch;
                    if components == 0 || idle {
                        continue;
                    }
                    let meeting = Meeting {
                        first: first.unit,
                        next,
                        second: second.unit,
                        how,
                    };
                    reach(Cell::Meets(
                        meeting,
                        [first, second].map(|one| (one.outcome, one.plain)),
                    ));
                    let components = (0..4).filter(|component| components >> component & 1 == 1);
                    components.for_each(|component| reach(Cell::Component(meeting, component)));
                    reach(Cell::Ends(meeting, end(i)));
                }
            }
            let sources = second.access.reads.iter();
            sources.for_each(|(register, _)| reach(Cell::Source(second.unit, From::of(*register))));
        }
        let of = |scalar: Scalar| From::of(scalar.register());
        if let Some(branch) = i.branch.filter(|branch| !branch.is_discard()) {
            reach(Cell::Condition(
                branch.condition.code() as u8,
                of(branch.a),
                of(branch.b),
            ));
        }
        for (unit, mul) in [
            (Unit::VecMul, i.vec_mul.map(|u| (u.op, u.modifier))),
            (Unit::FloatMul, i.float_mul.map(|u| (u.op, u.modifier))),
        ] {
            if let Some((op, modifier)) = mul {
                reach(Cell::Operation(unit, op.code() as u8));
                reach(Cell::Modifier(unit, modifier.code() as u8));
            }
        }
        for (unit, acc) in [
            (Unit::VecAcc, i.vec_acc.map(|u| (u.op, u.modifier))),
            (Unit::FloatAcc, i.float_acc.map(|u| (u.op, u.modifier))),
        ] {
            if let Some((op, modifier)) = acc {
                reach(Cell::Operation(unit, op.code() as u8));
                reach(Cell::Modifier(unit, modifier.code() as u8));
            }
        }
    }
    new
}

/// Possible destinations of a unit's result.
fn outcomes(unit: Unit) -> &'static [Outcome] {
    use Outcome::{Both, Forwarded, Nothing, Stored};
    match unit {
        Unit::Const0 | Unit::Const1 | Unit::Sampler | Unit::Load => &[Forwarded],
        Unit::Varying | Unit::VecMul | Unit::FloatMul => &[Stored, Forwarded, Both],
        Unit::VecAcc | Unit::FloatAcc | Unit::Combine | Unit::Store | Unit::Tile => &[Stored],
        Unit::Branch => &[Nothing],
    }
}

/// A unit's place in the order: all units of one stage read before any of them writes.
fn stage(unit: Unit) -> u8 {
    match unit {
        Unit::Const0 | Unit::Const1 => 0,
        Unit::Varying => 1,
        Unit::Sampler => 2,
        Unit::Load => 3,
        Unit::VecMul | Unit::FloatMul => 4,
        Unit::VecAcc | Unit::FloatAcc => 5,
        Unit::Combine => 6,
        Unit::Store | Unit::Tile => 7,
        Unit::Branch => 8,
    }
}

fn reads_registers(unit: Unit) -> bool {
    !matches!(unit, Unit::Const0 | Unit::Const1 | Unit::Tile)
}

/// Why two units cannot interact in this way.
fn apart(meeting: Meeting) -> Option<&'static str> {
    let Meeting {
        first,
        next,
        second,
        how,
    } = meeting;
    let is_store = |unit: Unit| matches!(unit, Unit::Store | Unit::Tile);
    let one_unit = !next && is_store(first) && is_store(second);
    let stores = |unit: Unit| outcomes(unit).iter().any(|outcome| outcome.is_stored());
    let forwards = |unit: Unit| outcomes(unit).iter().any(|outcome| outcome.is_forwarded());
    let wires = match first {
        Unit::Varying => second == Unit::Sampler,
        Unit::VecMul => second == Unit::VecAcc,
        Unit::FloatMul => matches!(second, Unit::VecAcc | Unit::FloatAcc),
        // `flow::verify`: the varying unit reads no pipeline registers.
        _ => reads_registers(second) && second != Unit::Varying,
    };
    match how {
        _ if one_unit => Some("an instruction has one store unit"),
        How::ReadsForward if next => Some("a forwarded result lasts for one instruction"),
        How::ReadsForward if !forwards(first) => Some("the first forwards nothing"),
        How::ReadsForward if stage(first) >= stage(second) => Some("the second has read when the first is done"),
        How::ReadsForward if !wires => Some("the second does not take the first one's result"),
        How::ReadsStored | How::Overwrites if !stores(first) => Some("the first stores nothing"),
        How::ReadsStored if first == Unit::Store => (second != Unit::Load).then_some("only loads read temporaries"),
        How::ReadsStored if !reads_registers(second) => Some("the second reads no registers"),
        How::Overwrites if !stores(second) => Some("the second stores nothing"),
        How::Overwrites if (first == Unit::Store) != (second == Unit::Store) => Some("registers are not temporaries"),
        How::Overwrites if !next && first >= second => Some("the second stores first"),
        _ => None,
    }
}

/// Why a cell cannot be reached; `None` if it can.
pub fn unreachable(cell: Cell) -> Option<&'static str> {
    let has_operations = |unit: Unit| {
        use Unit::{Combine, FloatAcc, FloatMul, Varying, VecAcc, VecMul};
        matches!(unit, Varying | VecMul | FloatMul | VecAcc | FloatAcc | Combine)
    };
    match cell {
        Cell::Meets(meeting, sides) => {
            let Meeting { first, second, how, .. } = meeting;
            let [(made, made_plain), (result, result_plain)] = sides;
            let fits = |unit: Unit, outcome: Outcome, plain: bool| {
                outcomes(unit).contains(&outcome) && (plain || has_operations(unit))
            };
            let wrong_way = match how {
                How::ReadsForward => !made.is_forwarded(),
                How::ReadsStored => !made.is_stored(),
                How::Overwrites => !made.is_stored() || !result.is_stored(),
            };
            let is_self = first == second && !meeting.next;
            let beside = first == Unit::Varying && second == Unit::Sampler && !meeting.next && !made.is_forwarded();
            let sampled = how == How::ReadsForward && second == Unit::VecAcc && first == Unit::FloatMul && result_plain;
            apart(meeting)
                .or((!fits(first, made, made_plain) || !fits(second, result, result_plain)).then_some("no such result"))
                .or(wrong_way.then_some("the result does not go there"))
                .or((is_self && sides[0] != sides[1]).then_some("a unit runs once"))
                .or(beside.then_some("beside a sampler it is forwarded"))
                .or(sampled.then_some("a sum does not read the scalar multiplier"))
        }
        Cell::Component(meeting, component) => {
            let Meeting { first, second, how, .. } = meeting;
            let forward = how == How::ReadsForward;
            apart(meeting)
                .or((first == Unit::Store && component > 0).then_some("temporaries count in floats"))
                .or((forward && first == Unit::FloatMul && component > 0).then_some("it is one number"))
                .or(
                    (forward && second == Unit::Sampler && first == Unit::Varying && component > 2)
                        .then_some("coordinates are three"),
                )
        }
        Cell::Ends(meeting, end) => {
            let is_branch = meeting.second == Unit::Branch;
            apart(meeting)
                .or((is_branch && !matches!(end, End::Branch | End::BranchOrStop)).then_some("it is a branch"))
        }
        Cell::Source(unit, from) => (!reads_registers(unit) || unit == Unit::Varying && from != From::Register)
            .then_some("the unit has no such operand"),
        Cell::Operation(..) | Cell::Modifier(..) | Cell::Condition(..) | Cell::EarlyBias(_) => None,
    }
}

/// All cells.
pub fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for first in UNITS {
        for second in UNITS {
            for how in HOWS {
                for next in [false, true] {
                    let meeting = Meeting {
                        first,
                        next,
                        second,
                        how,
                    };
                    let sides = || {
                        OUTCOMES
                            .into_iter()
                            .flat_map(|outcome| [(outcome, true), (outcome, false)])
                    };
                    cells.extend(sides().flat_map(|a| sides().map(move |b| Cell::Meets(meeting, [a, b]))));
                    cells.extend((0..4).map(|component| Cell::Component(meeting, component)));
                    cells.extend(ENDS.map(|end| Cell::Ends(meeting, end)));
                }
            }
        }
        cells.extend(SOURCES.map(|from| Cell::Source(first, from)));
    }
    cells.extend((0..4).map(Cell::EarlyBias));
    for unit in [Unit::VecMul, Unit::FloatMul] {
        cells.extend(MulOp::ALL.iter().map(|op| Cell::Operation(unit, op.code() as u8)));
    }
    for unit in [Unit::VecAcc, Unit::FloatAcc] {
        let has = |op: &&AccOp| unit == Unit::VecAcc || op.row().units == utgard::pp::ops::Units::Both;
        cells.extend(
            AccOp::ALL
                .iter()
                .filter(has)
                .map(|op| Cell::Operation(unit, op.code() as u8)),
        );
    }
    for unit in [Unit::VecMul, Unit::FloatMul, Unit::VecAcc, Unit::FloatAcc] {
        cells.extend(
            Modifier::ALL
                .iter()
                .map(|modifier| Cell::Modifier(unit, modifier.code() as u8)),
        );
    }
    for condition in utgard::pp::Condition::ALL {
        for a in SOURCES {
            cells.extend(SOURCES.map(|b| Cell::Condition(condition.code() as u8, a, b)));
        }
    }
    cells
}
