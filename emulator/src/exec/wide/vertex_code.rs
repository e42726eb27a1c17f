//! GP programs taken apart into operations on rows, once per program.

use super::alu::{self, Alu, AluOp, Finish, Operand};
use std::collections::BTreeSet;
use utgard::gp::{
    self, AccOp, Age, ComplexOp, Component, Instruction, LoadOffset, MulOp, PassOp, Product, Source, Stored, Target,
    UNITS, Unit,
};

/// Rows of what a vertex has.
pub(crate) mod row {
    /// First of the attributes, of the outputs, and of the units' results: three instructions' worth.
    pub(crate) use crate::exec::lanes::row::{ATTRIBUTES, OUTPUTS, RESULTS};
    /// First of the registers.
    pub(crate) const REGISTERS: u16 = 0;
    /// What port 0 loaded in the last two instructions.
    pub(crate) const PORT: u16 = 210;
    /// Rows there are.
    pub(crate) const COUNT: usize = 218;
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its operations.
    pub ops: Vec<Alu>,
    /// Row of the branch's condition, and where it goes.
    pub branch: Option<(Operand, usize)>,
    /// What the program does here is not known.
    pub fault: Option<String>,
}

impl Step {
    /// Rows that it reads.
    fn reads(&self) -> impl Iterator<Item = u16> {
        let of_branch = self.branch.iter().filter_map(|(operand, _)| row_of(operand));
        self.ops.iter().flat_map(rows_of).chain(of_branch)
    }
}

/// The row an operand is in, if it is in one.
fn row_of(operand: &Operand) -> Option<u16> {
    match operand.from {
        alu::Source::Row(row) => Some(row),
        _ => None,
    }
}

/// Rows that an operation reads.
fn rows_of(alu: &Alu) -> impl Iterator<Item = u16> {
    alu.operands.iter().filter_map(row_of)
}

/// Rows that instructions one after the other read before they write them.
fn read_first(steps: &[Step]) -> BTreeSet<u16> {
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for alu in steps.iter().flat_map(|step| &step.ops) {
        read.extend(rows_of(alu).filter(|row| !written.contains(row)));
        written.insert(alu.to);
    }
    read
}

/// A program as operations on rows; `None` in a program that goes by addresses the lanes do not share.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexCode {
    /// The instructions.
    pub steps: Vec<Step>,
    /// Rows that are read.
    pub read: BTreeSet<u16>,
    /// Rows that must be zero at the start.
    pub clear: Vec<u16>,
    /// Attributes that are read, a bit each.
    pub attributes: u16,
}

impl VertexCode {
    /// Takes a program apart, unless it stores temporaries or uses address registers: those differ by lane.
    pub fn new(program: &[Instruction]) -> Option<Self> {
        let indirect = |i: &Instruction| {
            let memory = |source: &Source| matches!(source, Source::Memory(_));
            let offset = i.load_offset != LoadOffset::Nothing && i.sources().iter().any(memory);
            offset || i.writes_addresses() || i.stores_temporaries()
        };
        if program.iter().any(indirect) {
            return None;
        }
        let straight = program.iter().all(|i| !i.branch);
        let read: Vec<Source> = program.iter().flat_map(Instruction::sources).collect();
        let mut steps = Vec::with_capacity(program.len());
        for at in 0..program.len() {
            let mut builder = Builder {
                program,
                at,
                straight,
                read: &read,
                ops: Vec::new(),
            };
            let built = builder.instruction();
            let target = usize::from(program[at].target());
            let branch = program[at].branch.then(|| (builder.result(Unit::Pass), target));
            steps.push(Step {
                ops: builder.ops,
                branch,
                fault: built.err(),
            });
        }
        let read: BTreeSet<u16> = steps.iter().flat_map(Step::reads).collect();
        let attributes = read.range(row::ATTRIBUTES..row::OUTPUTS);
        let attributes = attributes.fold(0, |set, row| set | 1 << ((row - row::ATTRIBUTES) / 4));
        let mut begun = if straight { read_first(&steps) } else { read.clone() };
        begun.retain(|row| !(row::ATTRIBUTES..row::OUTPUTS).contains(row));
        Some(Self {
            steps,
            read,
            clear: begun.into_iter().collect(),
            attributes,
        })
    }
}

struct Builder<'a> {
    program: &'a [Instruction],
    at: usize,
    /// There are no branches: the instruction before in memory is the one before in time.
    straight: bool,
    /// Every source the program reads.
    read: &'a [Source],
    ops: Vec<Alu>,
}

impl Builder<'_> {
    fn i(&self) -> &Instruction {
        &self.program[self.at]
    }

    /// Row of a unit's result in one of the three banks.
    fn bank(bank: usize, unit: Unit) -> u16 {
        row::RESULTS + (bank * UNITS.len() + unit.index()) as u16
    }

    /// Row that a unit's result of this instruction is computed into.
    fn own(&self, unit: Unit) -> u16 {
        Self::bank(if self.straight { self.at % 3 } else { 2 }, unit)
    }

    /// This instruction's result of a unit, zero of one that is idle.
    fn result(&self, unit: Unit) -> Operand {
        if self.i().is_busy(unit) {
            Operand::row(self.own(unit))
        } else {
            Operand::value(0.0)
        }
    }

    /// An earlier instruction's result of a unit; zero before the first.
    fn earlier(&self, age: Age, unit: Unit) -> alu::Source {
        if !self.straight {
            return alu::Source::Row(Self::bank(age.instructions() - 1, unit));
        }
        let Some(at) = self.at.checked_sub(age.instructions()) else {
            return alu::Source::Value(0.0);
        };
        let before = Builder {
            at,
            ops: Vec::new(),
            ..*self
        };
        before.result(unit).from
    }

    fn port0(&self, component: Component) -> alu::Source {
        let i = self.i();
        let first = if i.register0_is_attribute {
            row::ATTRIBUTES
        } else {
            row::REGISTERS
        };
        alu::Source::Row(first + 4 * i.register0_address + component as u16)
    }

    /// What port 0 loaded in the instruction before.
    fn port0_before(&self, component: Component) -> alu::Source {
        if !self.straight {
            return alu::Source::Row(row::PORT + component as u16);
        }
        let Some(at) = self.at.checked_sub(1) else {
            return alu::Source::Value(0.0);
        };
        let before = Builder {
            at,
            ops: Vec::new(),
            ..*self
        };
        if before.i().register0_is_attribute {
            before.port0(component)
        } else {
            alu::Source::Row(before.port_copy(component))
        }
    }

    /// Row that keeps what port 0 loaded here, for the next instruction.
    fn port_copy(&self, component: Component) -> u16 {
        row::PORT + (self.at % 2) as u16 * 4 + component as u16
    }

    fn source(&self, source: Source) -> Result<Operand, String> {
        let i = self.i();
        let from = match source {
            Source::Port0(component) => self.port0(component),
            Source::Port1(component) => alu::Source::Row(row::REGISTERS + 4 * i.register1_address + component as u16),
            Source::Memory(component) => alu::Source::Uniform(4 * i.load_address + component as u16),
            Source::Result(unit, age) => self.earlier(age, unit),
            Source::Port0Before(component) => self.port0_before(component),
            Source::Idle => alu::Source::Value(0.0),
            Source::Undocumented(code) => return Err(format!("source {code} is unknown")),
        };
        Ok(Operand::new(from))
    }

    fn second(&self, operand: gp::Operand, identity: f32) -> Result<Operand, String> {
        match operand {
            gp::Operand::Identity => Ok(Operand::value(identity)),
            gp::Operand::Source(source) => self.source(source),
        }
    }

    fn push(&mut self, op: AluOp, operands: &[Operand], unit: Unit, negate: bool) {
        let finish = if negate { Finish::Negate } else { Finish::PLAIN };
        let to = self.own(unit);
        self.ops.push(Alu {
            finish,
            ..Alu::new(op, operands, to)
        });
    }

    fn instruction(&mut self) -> Result<(), String> {
        self.keep_port();
        self.adders()?;
        self.multipliers()?;
        self.complex()?;
        self.pass()?;
        self.stores()?;
        self.shift();
        Ok(())
    }

    fn complex(&mut self) -> Result<(), String> {
        let i = *self.i();
        if !i.complex_source.is_used() {
            return Ok(());
        }
        let value = self.source(i.complex_source)?;
        let (op, value) = match i.complex_op {
            ComplexOp::IDLE => (AluOp::Copy, Operand::value(0.0)),
            ComplexOp::Exp2 => (AluOp::Exp2, value),
            ComplexOp::Log2 => (AluOp::Log2, value),
            ComplexOp::Rsqrt => (AluOp::Rsqrt, value),
            ComplexOp::Rcp => (AluOp::Rcp, value),
            ComplexOp::Mov => (AluOp::Copy, value),
            // Programs with addresses go one by one.
            ComplexOp::TempAddressPair
            | ComplexOp::TempStoreAddress
            | ComplexOp::TempLoadAddress1
            | ComplexOp::TempLoadAddress2
            | ComplexOp::TempLoadAddress3
            | ComplexOp::Undocumented(_) => {
                let code = utgard::field::Code::code(i.complex_op);
                return Err(format!("complex operation {code} is unknown"));
            }
        };
        self.push(op, &[value], Unit::Complex, false);
        Ok(())
    }

    fn pass(&mut self) -> Result<(), String> {
        let i = *self.i();
        if !i.pass_source.is_used() {
            return Ok(());
        }
        let value = self.source(i.pass_source)?;
        match i.pass_op {
            PassOp::Mov | PassOp::PreExp2 | PassOp::PostLog2 => self.push(AluOp::Copy, &[value], Unit::Pass, false),
            PassOp::Clamp => {
                let [low, high] = Source::LIMITS;
                let operands = [value, self.source(low)?, self.source(high)?];
                self.push(AluOp::Clamp, &operands, Unit::Pass, false);
            }
            PassOp::Undocumented(op) => return Err(format!("pass operation {op} is unknown")),
        }
        Ok(())
    }

    /// Keeps port 0's register for the next instruction, which may be stored to by this one.
    fn keep_port(&mut self) {
        let next = self.program.get(self.at + 1);
        let wanted = if self.straight {
            !self.i().register0_is_attribute && next.is_some_and(|next| next.sources().iter().any(is_port0_before))
        } else {
            false
        };
        for component in Component::ALL.into_iter().filter(|_| wanted) {
            let copy = Alu::new(
                AluOp::Copy,
                &[Operand::new(self.port0(component))],
                self.port_copy(component),
            );
            self.ops.push(copy);
        }
    }

    fn adders(&mut self) -> Result<(), String> {
        let i = *self.i();
        for (unit, sum) in [Unit::Acc0, Unit::Acc1].into_iter().zip(i.sums()) {
            let Some(sum) = sum else { continue };
            let a = Operand {
                negate: sum.a_negate,
                ..self.source(sum.a)?
            };
            let b = Operand {
                negate: sum.b_negate,
                ..self.second(sum.b, 0.0)?
            };
            let (op, operands) = match i.acc_op {
                AccOp::Add => (AluOp::Add, [a, b]),
                AccOp::Floor => (AluOp::Floor, [a, b]),
                AccOp::Sign => (AluOp::Sign, [a, b]),
                AccOp::Ge => (AluOp::Ge, [a, b]),
                AccOp::Lt => (AluOp::Gt, [b, a]),
                AccOp::Min => (AluOp::Min, [a, b]),
                AccOp::Max => (AluOp::Max, [a, b]),
                AccOp::Undocumented(op) => return Err(format!("acc operation {op} is unknown")),
            };
            self.push(op, &operands, unit, false);
        }
        Ok(())
    }

    fn multipliers(&mut self) -> Result<(), String> {
        let i = *self.i();
        let [first, second] = i.products();
        let idle = first.is_none();
        match i.mul_op {
            MulOp::Mul => {
                self.product(Unit::Mul0, first)?;
                self.product(Unit::Mul1, second)?;
            }
            MulOp::Complex2 => {
                if !idle {
                    let operands = [self.source(i.mul0_a)?, self.source(i.mul0_b)?];
                    self.push(AluOp::Mul, &operands, Unit::Mul0, false);
                }
                self.product(Unit::Mul1, second)?;
            }
            _ if idle => {}
            MulOp::Complex1 => {
                let value = self.source(i.mul0_a)?;
                self.push(AluOp::Copy, &[value], Unit::Mul0, false);
            }
            MulOp::Select => {
                let operands = [self.source(i.mul1_a)?, self.source(i.mul0_a)?, self.source(i.mul0_b)?];
                self.push(AluOp::Select, &operands, Unit::Mul0, false);
            }
            MulOp::Undocumented(op) => return Err(format!("mul operation {op} is unknown")),
        }
        Ok(())
    }

    fn product(&mut self, unit: Unit, product: Option<Product>) -> Result<(), String> {
        let Some(product) = product else { return Ok(()) };
        let first = self.source(product.a)?;
        match product.b {
            // Times one is a move, bit for bit.
            gp::Operand::Identity => self.push(AluOp::Copy, &[first], unit, product.negate),
            gp::Operand::Source(second) => {
                let second = self.source(second)?;
                self.push(AluOp::Mul, &[first, second], unit, product.negate);
            }
        }
        Ok(())
    }

    fn stores(&mut self) -> Result<(), String> {
        for (component, (stored, target)) in self.i().stores().into_iter().enumerate() {
            let value = match stored {
                Stored::Unit(unit) => self.result(unit),
                Stored::Nothing => continue,
                Stored::Undocumented(code) => return Err(format!("store source {code} is unknown")),
            };
            let first = match target {
                Target::Varying(address) => row::OUTPUTS + 4 * address,
                Target::Register(address) => row::REGISTERS + 4 * address,
                // Programs with temporaries go one by one.
                Target::Temporary => continue,
            };
            self.ops.push(Alu::new(AluOp::Copy, &[value], first + component as u16));
        }
        Ok(())
    }

    /// With branches, results move on as instructions go by: this one's become the last ones, the last ones those
    /// before. Only what the program reads at all is moved.
    fn shift(&mut self) {
        if self.straight {
            return;
        }
        let reads = |unit: Unit, age: Age| {
            let source = Source::result(unit, age);
            source.is_some_and(|source| self.read.contains(&source))
        };
        let mut moves = Vec::new();
        for unit in UNITS.map(|row| row.unit) {
            let (last, before) = (reads(unit, Age::One), reads(unit, Age::Two));
            if before {
                moves.push(Alu::new(
                    AluOp::Copy,
                    &[Operand::row(Self::bank(0, unit))],
                    Self::bank(1, unit),
                ));
            }
            if last || before {
                moves.push(Alu::new(AluOp::Copy, &[self.result(unit)], Self::bank(0, unit)));
            }
        }
        // The port's value is what it was before this instruction's stores: it is fetched in front of everything.
        if self.read.iter().any(is_port0_before) {
            for component in Component::ALL {
                let aside = row::PORT + 4 + component as u16;
                self.ops
                    .insert(0, Alu::new(AluOp::Copy, &[Operand::new(self.port0(component))], aside));
                moves.push(Alu::new(
                    AluOp::Copy,
                    &[Operand::row(aside)],
                    row::PORT + component as u16,
                ));
            }
        }
        self.ops.extend(moves);
    }
}

fn is_port0_before(source: &Source) -> bool {
    matches!(source, Source::Port0Before(_))
}
