//! GP programs taken apart into operations on rows, once per program.

use super::alu::{Alu, AluOp, From, NEGATED, Operand};
use utgard::gp::flow::{busy, sources};
use utgard::gp::{Instruction, Target, ops};

/// Rows of what a vertex has.
pub mod row {
    /// First of the registers.
    pub const REGISTERS: u16 = 0;
    /// First of the attributes.
    pub const ATTRIBUTES: u16 = 64;
    /// First of the outputs.
    pub const OUTPUTS: u16 = 128;
    /// First of the units' results: three instructions' worth.
    pub const RESULTS: u16 = 192;
    /// What port 0 loaded in the last two instructions.
    pub const PORT: u16 = 210;
    /// Rows there are.
    pub const COUNT: usize = 218;
}

/// Units with results: both adders, both multipliers, pass, complex.
const UNITS: u16 = 6;

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

/// A program as operations on rows; `None` in a program that goes by addresses the lanes do not share.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexCode {
    /// The instructions.
    pub steps: Vec<Step>,
    /// Rows that must be zero at the start.
    pub clear: Vec<u16>,
    /// Attributes that are read, a bit each.
    pub attributes: u16,
}

impl VertexCode {
    /// Takes a program apart, unless it stores temporaries or uses address registers: those differ by lane.
    pub fn new(program: &[Instruction]) -> Option<Self> {
        let indirect = |i: &Instruction| {
            let offset = i.load_offset != ops::NO_OFFSET && sources(i).iter().any(|source| (12..=15).contains(source));
            let address = i.complex_source != ops::IDLE && matches!(i.complex_op, 10 | 12..=15);
            offset || address || i.store0_temporary == 1 || i.store1_temporary == 1
        };
        if program.iter().any(indirect) {
            return None;
        }
        let straight = program.iter().all(|i| i.branch == 0);
        let read: Vec<u16> = program.iter().flat_map(sources).collect();
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
            let branch = (program[at].branch == 1).then(|| (builder.result(4), usize::from(program[at].target())));
            steps.push(Step {
                ops: builder.ops,
                branch,
                fault: built.err(),
            });
        }
        let reads = steps.iter().flat_map(|step| &step.ops).flat_map(|alu| alu.operands);
        let mut rows: Vec<u16> = reads
            .filter_map(|operand| {
                if let From::Row(row) = operand.from {
                    Some(row)
                } else {
                    None
                }
            })
            .chain(
                steps
                    .iter()
                    .filter_map(|step| step.branch)
                    .filter_map(|(operand, _)| match operand.from {
                        From::Row(row) => Some(row),
                        _ => None,
                    }),
            )
            .collect();
        rows.sort_unstable();
        rows.dedup();
        let attributes = rows
            .iter()
            .filter(|row| (row::ATTRIBUTES..row::OUTPUTS).contains(row))
            .fold(0, |set, row| set | 1 << ((row - row::ATTRIBUTES) / 4));
        rows.retain(|row| !(row::ATTRIBUTES..row::OUTPUTS).contains(row));
        Some(Self {
            steps,
            clear: rows,
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
    read: &'a [u16],
    ops: Vec<Alu>,
}

impl Builder<'_> {
    fn i(&self) -> &Instruction {
        &self.program[self.at]
    }

    /// Row of a unit's result in one of the three banks.
    fn bank(bank: usize, unit: u16) -> u16 {
        row::RESULTS + bank as u16 * UNITS + unit
    }

    /// Row that a unit's result of this instruction is computed into.
    fn own(&self, unit: u16) -> u16 {
        Self::bank(if self.straight { self.at % 3 } else { 2 }, unit)
    }

    /// This instruction's result of a unit, zero of one that is idle.
    fn result(&self, unit: u16) -> Operand {
        let place = [0, 1, 2, 3, 5, 4][usize::from(unit)];
        if busy(self.i())[place] {
            Operand::row(self.own(unit))
        } else {
            Operand::value(0.0)
        }
    }

    /// An earlier instruction's result of a unit; zero before the first.
    fn earlier(&self, ago: usize, unit: u16) -> From {
        if !self.straight {
            return From::Row(Self::bank(ago - 1, unit));
        }
        let Some(at) = self.at.checked_sub(ago) else {
            return From::Value(0.0);
        };
        let before = Builder {
            at,
            ops: Vec::new(),
            ..*self
        };
        before.result(unit).from
    }

    fn port0(&self, component: u16) -> From {
        let i = self.i();
        let first = if i.register0_is_attribute == 1 {
            row::ATTRIBUTES
        } else {
            row::REGISTERS
        };
        From::Row(first + 4 * i.register0_address + component)
    }

    /// What port 0 loaded in the instruction before.
    fn port0_before(&self, component: u16) -> From {
        if !self.straight {
            return From::Row(row::PORT + component);
        }
        let Some(at) = self.at.checked_sub(1) else {
            return From::Value(0.0);
        };
        let before = Builder {
            at,
            ops: Vec::new(),
            ..*self
        };
        match before.i().register0_is_attribute {
            1 => before.port0(component),
            _ => From::Row(before.port_copy(component)),
        }
    }

    /// Row that keeps what port 0 loaded here, for the next instruction.
    fn port_copy(&self, component: u16) -> u16 {
        row::PORT + (self.at % 2) as u16 * 4 + component
    }

    fn source(&self, source: u16) -> Result<Operand, String> {
        let component = source & 3;
        let from = match source {
            0..=3 => self.port0(component),
            4..=7 => From::Row(row::REGISTERS + 4 * self.i().register1_address + component),
            12..=15 => From::Uniform(4 * self.i().load_address + component),
            16..=19 => self.earlier(1, source - 16),
            20 => self.earlier(1, 4),
            ops::IDLE => From::Value(0.0),
            ops::IDENTITY => self.earlier(1, 5),
            23 => self.earlier(2, 4),
            24..=27 => self.earlier(2, source - 24),
            28..=31 => self.port0_before(component),
            _ => return Err(format!("source {source} is unknown")),
        };
        Ok(Operand::new(from))
    }

    fn second(&self, source: u16, identity: f32) -> Result<Operand, String> {
        if source == ops::IDENTITY {
            Ok(Operand::value(identity))
        } else {
            self.source(source)
        }
    }

    fn push(&mut self, op: AluOp, operands: &[Operand], unit: u16, negate: u16) {
        let modifier = if negate == 1 { NEGATED } else { 0 };
        let to = self.own(unit);
        self.ops.push(Alu {
            modifier,
            ..Alu::new(op, operands, to)
        });
    }

    fn instruction(&mut self) -> Result<(), String> {
        self.keep_port();
        self.adders()?;
        self.multipliers()?;
        let i = *self.i();
        if i.complex_source != ops::IDLE {
            let value = self.source(i.complex_source)?;
            let op = match i.complex_op {
                0 => (AluOp::Copy, Operand::value(0.0)),
                2 => (AluOp::Exp2, value),
                3 => (AluOp::Log2, value),
                4 => (AluOp::Rsqrt, value),
                5 => (AluOp::Rcp, value),
                9 => (AluOp::Copy, value),
                op => return Err(format!("complex operation {op} is unknown")),
            };
            self.push(op.0, &[op.1], 5, 0);
        }
        if i.pass_source != ops::IDLE {
            let value = self.source(i.pass_source)?;
            match i.pass_op {
                2 | 4 | 5 => self.push(AluOp::Copy, &[value], 4, 0),
                ops::CLAMP => {
                    let limits = [self.source(ops::MEMORY)?, self.source(ops::MEMORY + 1)?];
                    self.push(AluOp::Clamp, &[value, limits[0], limits[1]], 4, 0);
                }
                op => return Err(format!("pass operation {op} is unknown")),
            }
        }
        self.stores()?;
        self.shift();
        Ok(())
    }

    /// Keeps port 0's register for the next instruction, which may be stored to by this one.
    fn keep_port(&mut self) {
        let next = self.program.get(self.at + 1);
        let wanted = if self.straight {
            self.i().register0_is_attribute == 0
                && next.is_some_and(|next| sources(next).iter().any(|source| *source >= 28))
        } else {
            false
        };
        for component in (0..4).filter(|_| wanted) {
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
        let units = [
            (i.acc0_a, i.acc0_b, i.acc0_a_negate, i.acc0_b_negate),
            (i.acc1_a, i.acc1_b, i.acc1_a_negate, i.acc1_b_negate),
        ];
        for (unit, (a, b, a_negate, b_negate)) in units.into_iter().enumerate() {
            if a == ops::IDLE {
                continue;
            }
            let a = Operand {
                negate: a_negate == 1,
                ..self.source(a)?
            };
            let b = Operand {
                negate: b_negate == 1,
                ..self.second(b, 0.0)?
            };
            let (op, operands) = match i.acc_op {
                0 => (AluOp::Add, [a, b]),
                1 => (AluOp::Floor, [a, b]),
                2 => (AluOp::Sign, [a, b]),
                4 => (AluOp::Ge, [a, b]),
                5 => (AluOp::Gt, [b, a]),
                6 => (AluOp::Min, [a, b]),
                7 => (AluOp::Max, [a, b]),
                op => return Err(format!("acc operation {op} is unknown")),
            };
            self.push(op, &operands, unit as u16, 0);
        }
        Ok(())
    }

    fn multipliers(&mut self) -> Result<(), String> {
        let i = *self.i();
        let idle = i.mul0_a == ops::IDLE || i.mul0_b == ops::IDLE;
        match i.mul_op {
            ops::MUL => {
                self.product(2, i.mul0_a, i.mul0_b, i.mul0_negate)?;
                self.product(3, i.mul1_a, i.mul1_b, i.mul1_negate)?;
            }
            ops::COMPLEX2 => {
                if !idle {
                    let operands = [self.source(i.mul0_a)?, self.source(i.mul0_b)?];
                    self.push(AluOp::Mul, &operands, 2, 0);
                }
                self.product(3, i.mul1_a, i.mul1_b, i.mul1_negate)?;
            }
            _ if idle => {}
            ops::COMPLEX1 => {
                let value = self.source(i.mul0_a)?;
                self.push(AluOp::Copy, &[value], 2, 0);
            }
            ops::SELECT => {
                let operands = [self.source(i.mul1_a)?, self.source(i.mul0_a)?, self.source(i.mul0_b)?];
                self.push(AluOp::Select, &operands, 2, 0);
            }
            op => return Err(format!("mul operation {op} is unknown")),
        }
        Ok(())
    }

    fn product(&mut self, unit: u16, a: u16, b: u16, negate: u16) -> Result<(), String> {
        if a == ops::IDLE || b == ops::IDLE {
            return Ok(());
        }
        let first = self.source(a)?;
        // Times one is a move, bit for bit.
        if b == ops::IDENTITY {
            self.push(AluOp::Copy, &[first], unit, negate);
        } else {
            let second = self.source(b)?;
            self.push(AluOp::Mul, &[first, second], unit, negate);
        }
        Ok(())
    }

    fn stores(&mut self) -> Result<(), String> {
        for (component, (unit, target)) in self.i().stores().into_iter().enumerate() {
            let value = match unit {
                0..=4 => self.result(unit),
                6 => self.result(5),
                ops::NO_STORE => continue,
                _ => return Err(format!("store source {unit} is unknown")),
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
        let reads = |source: u16| self.read.contains(&source);
        let numbers = [
            (0, 16, 24),
            (1, 17, 25),
            (2, 18, 26),
            (3, 19, 27),
            (4, 20, 23),
            (5, 22, 22),
        ];
        let mut moves = Vec::new();
        for (unit, last, before) in numbers {
            if unit < 5 && reads(before) {
                moves.push(Alu::new(
                    AluOp::Copy,
                    &[Operand::row(Self::bank(0, unit))],
                    Self::bank(1, unit),
                ));
            }
            if reads(last) || reads(before) {
                moves.push(Alu::new(AluOp::Copy, &[self.result(unit)], Self::bank(0, unit)));
            }
        }
        // The port's value is what it was before this instruction's stores: it is fetched in front of everything.
        if self.read.iter().any(|source| *source >= 28) {
            for component in 0..4 {
                let aside = row::PORT + 4 + component;
                self.ops
                    .insert(0, Alu::new(AluOp::Copy, &[Operand::new(self.port0(component))], aside));
                moves.push(Alu::new(AluOp::Copy, &[Operand::row(aside)], row::PORT + component));
            }
        }
        self.ops.extend(moves);
    }
}
