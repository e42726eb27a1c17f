//! One vertex through a GP program (docs/spec/mali/gp.md).

use super::numbers::Numbers;
use crate::exec::observe::{Observer, Outside, VertexStep};
use crate::exec::{BUDGET, VERTEX_MEMORY, VertexProgram};
use crate::fault::{Fault, FaultKind, Result};
use crate::silicon::Silicon;
use num::lanes::One;
use num::math;
use utgard::gp::{
    AccOp, Age, ComplexOp, Instruction, MulOp, Operand, PassOp, Product, Source, Stored, Target, UNITS, Unit,
};

/// Results of an instruction's units.
#[derive(Clone, Copy, Default)]
struct Results {
    acc: [f32; 2],
    mul: [f32; 2],
    pass: f32,
    complex: f32,
}

impl Results {
    fn of(&self, unit: Unit) -> f32 {
        match unit {
            Unit::Acc0 => self.acc[0],
            Unit::Acc1 => self.acc[1],
            Unit::Mul0 => self.mul[0],
            Unit::Mul1 => self.mul[1],
            Unit::Complex => self.complex,
            Unit::Pass => self.pass,
        }
    }
}

struct Vertex<'a> {
    uniforms: &'a [[f32; 4]],
    /// The memory with what this vertex stored there, once it has.
    memory: Vec<[f32; 4]>,
    attributes: &'a [[f32; 4]],
    registers: [[f32; 4]; 16],
    addresses: [i32; 4],
    /// Results of the last two instructions, the last one first.
    results: [Results; 2],
    port0_before: [f32; 4],
    numbers: Numbers,
}

/// What an instruction's loads brought.
struct Loads {
    port0: [f32; 4],
    port1: [f32; 4],
    memory: [f32; 4],
}

/// Runs a vertex; how many instructions it took.
pub(super) fn run<O: Observer>(
    program: &VertexProgram,
    uniforms: &[[f32; 4]],
    attributes: &[[f32; 4]],
    outputs: &mut [[f32; 4]],
    silicon: Silicon,
    observer: &mut O,
) -> Result<u64> {
    observer.vertex(program);
    let mut vertex = Vertex {
        uniforms,
        memory: Vec::new(),
        attributes,
        registers: [[0.0; 4]; 16],
        addresses: [0; 4],
        results: [Results::default(); 2],
        port0_before: [0.0; 4],
        numbers: Numbers::new(silicon),
    };
    let (mut at, mut budget) = (0, BUDGET);
    while let Some(instruction) = program.instructions.get(at) {
        budget -= 1;
        if budget == 0 {
            return Err(Fault::new(FaultKind::Budget, "a vertex does not come to its end").pc(at as u32));
        }
        let taken = vertex
            .step(at, instruction, outputs, observer)
            .map_err(|fault| fault.pc(at as u32))?;
        at = if taken {
            usize::from(instruction.target())
        } else {
            at + 1
        };
    }
    Ok(u64::from(BUDGET - budget))
}

impl Vertex<'_> {
    /// Runs one instruction; whether its branch is taken.
    fn step<O: Observer>(
        &mut self,
        number: usize,
        i: &Instruction,
        outputs: &mut [[f32; 4]],
        observer: &mut O,
    ) -> Result<bool> {
        let loads = self.load(i);
        let results = self.compute(i, &loads)?;
        // Without a branch target field that could be wrong: it is an instruction's number, or past the end.
        let taken = i.branch && results.pass != 0.0;
        let addresses = self.addresses;
        self.addresses(i, &results);
        self.store(i, &results, outputs, observer)?;
        if O::ON {
            self.observed((number, i), &loads, &results, (addresses, taken), outputs, observer);
        }
        self.port0_before = loads.port0;
        self.results = [results, self.results[0]];
        Ok(taken)
    }

    /// Tells the observer what the vertex does, and what it finds nothing for.
    #[cold]
    fn observed<O: Observer>(
        &self,
        (number, instruction): (usize, &Instruction),
        loads: &Loads,
        results: &Results,
        (addresses, taken): ([i32; 4], bool),
        outputs: &[[f32; 4]],
        observer: &mut O,
    ) {
        let sources = instruction.sources();
        let reads = |what: fn(&Source) -> bool| sources.iter().any(what);
        let attribute = usize::from(instruction.register0_address);
        let reads_port0 = reads(|source| matches!(source, Source::Port0(_)));
        if reads_port0 && instruction.register0_is_attribute && attribute >= self.attributes.len() {
            observer.outside(0, Outside::Attribute, attribute as i64);
        }
        let address = load_address(instruction, addresses);
        let reads_memory = reads(|source| matches!(source, Source::Memory(_)));
        if reads_memory && !(0..self.uniforms.len() as i32).contains(&address) {
            observer.outside(0, Outside::Uniform, i64::from(address));
        }
        let value = |source: Source| Some((source, self.source(loads, source).ok()?));
        observer.vertex_step(&VertexStep {
            number,
            instruction,
            sources: &sources.into_iter().filter_map(value).collect::<Vec<_>>(),
            results: UNITS.map(|row| results.of(row.unit)),
            addresses,
            taken,
            registers: &self.registers,
            memory: if self.memory.is_empty() {
                self.uniforms
            } else {
                &self.memory
            },
            attributes: self.attributes,
            outputs,
        });
    }

    fn load(&self, i: &Instruction) -> Loads {
        let port0 = if i.register0_is_attribute {
            self.attributes
                .get(usize::from(i.register0_address))
                .copied()
                .unwrap_or([0.0, 0.0, 0.0, 1.0])
        } else {
            self.registers[usize::from(i.register0_address & 15)]
        };
        let address = load_address(i, self.addresses);
        let memory = if self.memory.is_empty() {
            self.uniforms
        } else {
            &self.memory
        };
        Loads {
            port0,
            port1: self.registers[usize::from(i.register1_address & 15)],
            memory: usize::try_from(address)
                .ok()
                .and_then(|at| memory.get(at))
                .copied()
                .unwrap_or_default(),
        }
    }

    fn source(&self, loads: &Loads, source: Source) -> Result<f32> {
        let [last, before] = &self.results;
        Ok(match source {
            Source::Port0(component) => loads.port0[component.index()],
            Source::Port1(component) => loads.port1[component.index()],
            Source::Memory(component) => loads.memory[component.index()],
            Source::Result(unit, Age::One) => last.of(unit),
            Source::Result(unit, Age::Two) => before.of(unit),
            Source::Port0Before(component) => self.port0_before[component.index()],
            // An idle operand of a unit that is not idle reads as zero ([?]).
            Source::Idle => 0.0,
            Source::Undocumented(code) => return Err(unknown(format!("source {code}"))),
        })
    }

    fn second(&self, loads: &Loads, operand: Operand, identity: f32) -> Result<f32> {
        match operand {
            Operand::Identity => Ok(identity),
            Operand::Source(source) => self.source(loads, source),
        }
    }

    fn compute(&self, i: &Instruction, loads: &Loads) -> Result<Results> {
        let mut results = Results::default();
        for (result, sum) in results.acc.iter_mut().zip(i.sums()) {
            if let Some(sum) = sum {
                let sign = |value: f32, negate: bool| if negate { -value } else { value };
                let a = sign(self.source(loads, sum.a)?, sum.a_negate);
                let b = sign(self.second(loads, sum.b, 0.0)?, sum.b_negate);
                *result = acc(self.numbers, i.acc_op, a, b)?;
            }
        }
        results.mul = self.multiply(i, loads)?;
        if i.complex_source.is_used() {
            results.complex = complex(i.complex_op, self.source(loads, i.complex_source)?)?;
        }
        if i.pass_source.is_used() {
            let value = self.source(loads, i.pass_source)?;
            results.pass = match i.pass_op {
                // The steps before exp2 and behind log2 do nothing: the complex unit gives the finished function.
                PassOp::Mov | PassOp::PreExp2 | PassOp::PostLog2 => value,
                PassOp::Clamp => {
                    let [low, high, ..] = loads.memory;
                    let above = if value > low { value } else { low };
                    if above < high { above } else { high }
                }
                PassOp::Undocumented(op) => return Err(unknown(format!("pass operation {op}"))),
            };
        }
        Ok(results)
    }

    fn product(&self, loads: &Loads, product: Option<Product>) -> Result<f32> {
        let Some(product) = product else { return Ok(0.0) };
        let a = self.source(loads, product.a)?;
        let value = match product.b {
            // Times one is a move, bit for bit.
            Operand::Identity => a,
            Operand::Source(b) => self.numbers.product(a, self.source(loads, b)?),
        };
        Ok(if product.negate { -value } else { value })
    }

    fn multiply(&self, i: &Instruction, loads: &Loads) -> Result<[f32; 2]> {
        let source = |source| self.source(loads, source);
        let [first, second] = i.products();
        let idle = first.is_none();
        Ok(match i.mul_op {
            MulOp::Mul => [self.product(loads, first)?, self.product(loads, second)?],
            // The complex unit's result is finished already, so the helper is unused and the last step passes it on.
            MulOp::Complex2 => [
                if idle {
                    0.0
                } else {
                    self.numbers.product(source(i.mul0_a)?, source(i.mul0_b)?)
                },
                self.product(loads, second)?,
            ],
            _ if idle => [0.0; 2],
            MulOp::Complex1 => [source(i.mul0_a)?, 0.0],
            // docs/spec/mali/gp.md, section 5: with this order Mesa's programs give the right pictures, with the notes' they do not.
            MulOp::Select => {
                // All three are read: whether a program is sound does not hang on its numbers.
                let [yes, no, condition] = [source(i.mul1_a)?, source(i.mul0_a)?, source(i.mul0_b)?];
                [if condition != 0.0 { yes } else { no }, 0.0]
            }
            MulOp::Undocumented(op) => return Err(unknown(format!("mul operation {op}"))),
        })
    }

    /// The complex unit's writes of address registers; values are cut to whole numbers ([?]).
    fn addresses(&mut self, i: &Instruction, results: &Results) {
        if !i.complex_source.is_used() {
            return;
        }
        let value = results.complex as i32;
        match i.complex_op {
            ComplexOp::TempAddressPair => {
                (self.addresses[0], self.addresses[1]) = (results.pass as i32, results.pass as i32);
            }
            ComplexOp::TempStoreAddress => self.addresses[0] = value,
            ComplexOp::TempLoadAddress1 => self.addresses[1] = value,
            ComplexOp::TempLoadAddress2 => self.addresses[2] = value,
            ComplexOp::TempLoadAddress3 => self.addresses[3] = value,
            ComplexOp::Exp2
            | ComplexOp::Log2
            | ComplexOp::Rsqrt
            | ComplexOp::Rcp
            | ComplexOp::Mov
            | ComplexOp::Undocumented(_) => {}
        }
    }

    fn store<O: Observer>(
        &mut self,
        i: &Instruction,
        results: &Results,
        outputs: &mut [[f32; 4]],
        observer: &mut O,
    ) -> Result<()> {
        for (component, (stored, target)) in i.stores().into_iter().enumerate() {
            let value = match stored {
                Stored::Unit(unit) => results.of(unit),
                Stored::Nothing => continue,
                Stored::Undocumented(code) => return Err(unknown(format!("store source {code}"))),
            };
            let slot = match target {
                Target::Temporary => self.temporary(),
                Target::Varying(address) => outputs.get_mut(usize::from(address)),
                Target::Register(address) => self.registers.get_mut(usize::from(address)),
            };
            // Stores outside what is there are lost.
            if let Some(slot) = slot {
                slot[component] = value;
            } else if O::ON {
                let (what, index) = match target {
                    Target::Temporary => (Outside::Temporary, self.addresses[0].into()),
                    Target::Varying(address) | Target::Register(address) => (Outside::Output, i64::from(address)),
                };
                observer.outside(0, what, index);
            }
        }
        Ok(())
    }

    /// The temporary at address register 0.
    fn temporary(&mut self) -> Option<&mut [f32; 4]> {
        if self.memory.is_empty() {
            self.memory = self.uniforms.to_vec();
            self.memory.resize(VERTEX_MEMORY, [0.0; 4]);
        }
        self.memory.get_mut(usize::try_from(self.addresses[0]).ok()?)
    }
}

/// The vec4 that the memory load reads.
fn load_address(i: &Instruction, addresses: [i32; 4]) -> i32 {
    let offset = i.load_offset.register().map_or(0, |register| addresses[register]);
    i32::from(i.load_address).wrapping_add(offset)
}

/// The fault of a number that no table has.
fn unknown(what: String) -> Fault {
    Fault::new(FaultKind::Program, format!("{what} is unknown"))
}

fn acc(numbers: Numbers, op: AccOp, a: f32, b: f32) -> Result<f32> {
    Ok(match op {
        AccOp::Add => a + b,
        AccOp::Floor => a.floor(),
        AccOp::Sign => math::sign::<One>(a),
        AccOp::Ge => math::truth::<One>(a >= b),
        AccOp::Lt => math::truth::<One>(a < b),
        AccOp::Min => numbers.minimum(a, b),
        AccOp::Max => numbers.maximum(a, b),
        AccOp::Undocumented(op) => return Err(unknown(format!("acc operation {op}"))),
    })
}

fn complex(op: ComplexOp, value: f32) -> Result<f32> {
    Ok(match op {
        ComplexOp::IDLE => 0.0,
        ComplexOp::Exp2 => math::exp2::<One>(value),
        ComplexOp::Log2 => math::log2::<One>(value),
        ComplexOp::Rsqrt => math::rsqrt::<One>(value),
        ComplexOp::Rcp => math::rcp::<One>(value),
        ComplexOp::Mov
        | ComplexOp::TempAddressPair
        | ComplexOp::TempStoreAddress
        | ComplexOp::TempLoadAddress1
        | ComplexOp::TempLoadAddress2
        | ComplexOp::TempLoadAddress3 => value,
        ComplexOp::Undocumented(op) => return Err(unknown(format!("complex operation {op}"))),
    })
}
