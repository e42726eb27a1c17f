//! One vertex through a GP program (facts/mali/gp.md).

use crate::exec::observe::{Observer, Outside, VertexStep};
use crate::exec::{BUDGET, VERTEX_MEMORY, VertexProgram};
use crate::gpu::fault::{Fault, FaultKind, Result};
use num::lanes::One;
use num::math;
use utgard::gp::{Instruction, Target, flow, ops};

/// Results of an instruction's units.
#[derive(Clone, Copy, Default)]
struct Results {
    acc: [f32; 2],
    mul: [f32; 2],
    pass: f32,
    complex: f32,
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
        let taken = i.branch == 1 && results.pass != 0.0;
        let addresses = self.addresses;
        self.addresses(i, &results);
        self.store(i, &results, outputs, observer)?;
        if O::ON {
            self.observed((number, i), &loads, &results, (addresses, taken), observer);
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
        observer: &mut O,
    ) {
        let sources = flow::sources(instruction);
        let reads = |range: std::ops::Range<u16>| sources.iter().any(|source| range.contains(source));
        let attribute = usize::from(instruction.register0_address);
        if reads(0..4) && instruction.register0_is_attribute == 1 && attribute >= self.attributes.len() {
            observer.outside(0, Outside::Attribute, attribute as i64);
        }
        let address = load_address(instruction, addresses);
        if reads(12..16) && !(0..self.uniforms.len() as i32).contains(&address) {
            observer.outside(0, Outside::Uniform, i64::from(address));
        }
        let value = |source: u16| Some((source, self.source(loads, source).ok()?));
        observer.vertex_step(&VertexStep {
            number,
            instruction,
            sources: &sources.into_iter().filter_map(value).collect::<Vec<_>>(),
            results: [
                results.acc[0],
                results.acc[1],
                results.mul[0],
                results.mul[1],
                results.complex,
                results.pass,
            ],
            addresses,
            taken,
        });
    }

    fn load(&self, i: &Instruction) -> Loads {
        let port0 = if i.register0_is_attribute == 1 {
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

    fn source(&self, loads: &Loads, source: u16) -> Result<f32> {
        let [last, before] = &self.results;
        let component = usize::from(source & 3);
        Ok(match source {
            0..=3 => loads.port0[component],
            4..=7 => loads.port1[component],
            12..=15 => loads.memory[component],
            16 | 17 => last.acc[usize::from(source - 16)],
            18 | 19 => last.mul[usize::from(source - 18)],
            20 => last.pass,
            // An idle operand of a unit that is not idle reads as zero ([?]).
            ops::IDLE => 0.0,
            ops::IDENTITY => last.complex,
            23 => before.pass,
            24 | 25 => before.acc[usize::from(source - 24)],
            26 | 27 => before.mul[usize::from(source - 26)],
            28..=31 => self.port0_before[component],
            _ => return Err(Fault::new(FaultKind::Program, format!("source {source} is unknown"))),
        })
    }

    fn second(&self, loads: &Loads, source: u16, identity: f32) -> Result<f32> {
        if source == ops::IDENTITY {
            Ok(identity)
        } else {
            self.source(loads, source)
        }
    }

    fn compute(&self, i: &Instruction, loads: &Loads) -> Result<Results> {
        let mut results = Results::default();
        let units = [
            (i.acc0_a, i.acc0_b, i.acc0_a_negate, i.acc0_b_negate),
            (i.acc1_a, i.acc1_b, i.acc1_a_negate, i.acc1_b_negate),
        ];
        for (result, (a, b, a_negate, b_negate)) in results.acc.iter_mut().zip(units) {
            if a != ops::IDLE {
                let sign = |value: f32, negate: u16| if negate == 1 { -value } else { value };
                let a = sign(self.source(loads, a)?, a_negate);
                let b = sign(self.second(loads, b, 0.0)?, b_negate);
                *result = acc(i.acc_op, a, b)?;
            }
        }
        results.mul = self.multiply(i, loads)?;
        if i.complex_source != ops::IDLE {
            results.complex = complex(i.complex_op, self.source(loads, i.complex_source)?)?;
        }
        if i.pass_source != ops::IDLE {
            let value = self.source(loads, i.pass_source)?;
            results.pass = match i.pass_op {
                // The steps before exp2 and behind log2 do nothing: the complex unit gives the finished function.
                2 | 4 | 5 => value,
                ops::CLAMP => {
                    let [low, high, ..] = loads.memory;
                    let above = if value > low { value } else { low };
                    if above < high { above } else { high }
                }
                op => {
                    return Err(Fault::new(
                        FaultKind::Program,
                        format!("pass operation {op} is unknown"),
                    ));
                }
            };
        }
        Ok(results)
    }

    fn multiply(&self, i: &Instruction, loads: &Loads) -> Result<[f32; 2]> {
        let source = |source| self.source(loads, source);
        let product = |a: u16, b: u16, negate: u16| -> Result<f32> {
            if a == ops::IDLE || b == ops::IDLE {
                return Ok(0.0);
            }
            let a = source(a)?;
            // Times one is a move, bit for bit.
            let product = if b == ops::IDENTITY { a } else { a * source(b)? };
            Ok(if negate == 1 { -product } else { product })
        };
        let second = || product(i.mul1_a, i.mul1_b, i.mul1_negate);
        let idle = i.mul0_a == ops::IDLE || i.mul0_b == ops::IDLE;
        Ok(match i.mul_op {
            ops::MUL => [product(i.mul0_a, i.mul0_b, i.mul0_negate)?, second()?],
            // The complex unit's result is finished already, so the helper is unused and the last step passes it on.
            ops::COMPLEX2 => [
                if idle {
                    0.0
                } else {
                    source(i.mul0_a)? * source(i.mul0_b)?
                },
                second()?,
            ],
            _ if idle => [0.0; 2],
            ops::COMPLEX1 => [source(i.mul0_a)?, 0.0],
            // facts/mali/gp.md, 5: with this order Mesa's programs give the right pictures, with the notes' they do not.
            ops::SELECT => [
                if source(i.mul0_b)? != 0.0 {
                    source(i.mul1_a)?
                } else {
                    source(i.mul0_a)?
                },
                0.0,
            ],
            op => return Err(Fault::new(FaultKind::Program, format!("mul operation {op} is unknown"))),
        })
    }

    /// The complex unit's writes of address registers; values are cut to whole numbers ([?]).
    fn addresses(&mut self, i: &Instruction, results: &Results) {
        if i.complex_source == ops::IDLE {
            return;
        }
        let value = results.complex as i32;
        match i.complex_op {
            10 => (self.addresses[0], self.addresses[1]) = (results.pass as i32, results.pass as i32),
            op @ 12..=15 => self.addresses[usize::from(op - 12)] = value,
            _ => {}
        }
    }

    fn store<O: Observer>(
        &mut self,
        i: &Instruction,
        results: &Results,
        outputs: &mut [[f32; 4]],
        observer: &mut O,
    ) -> Result<()> {
        for (component, (unit, target)) in i.stores().into_iter().enumerate() {
            let value = match unit {
                0 | 1 => results.acc[usize::from(unit)],
                2 | 3 => results.mul[usize::from(unit - 2)],
                4 => results.pass,
                6 => results.complex,
                ops::NO_STORE => continue,
                _ => {
                    return Err(Fault::new(
                        FaultKind::Program,
                        format!("store source {unit} is unknown"),
                    ));
                }
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
    // Load offset 0 is taken for address register 0, 4 to 6 for nothing ([?] in facts/mali/gp.md, 2).
    let offset = match i.load_offset {
        register @ 0..=3 => addresses[usize::from(register)],
        _ => 0,
    };
    i32::from(i.load_address).wrapping_add(offset)
}

fn acc(op: u16, a: f32, b: f32) -> Result<f32> {
    Ok(match op {
        0 => a + b,
        1 => a.floor(),
        2 => math::sign::<One>(a),
        4 => math::truth::<One>(a >= b),
        5 => math::truth::<One>(a < b),
        6 => {
            if a < b {
                a
            } else {
                b
            }
        }
        7 => {
            if a > b {
                a
            } else {
                b
            }
        }
        _ => return Err(Fault::new(FaultKind::Program, format!("acc operation {op} is unknown"))),
    })
}

fn complex(op: u16, value: f32) -> Result<f32> {
    Ok(match op {
        0 => 0.0,
        2 => math::exp2::<One>(value),
        3 => math::log2::<One>(value),
        4 => math::rsqrt::<One>(value),
        5 => math::rcp::<One>(value),
        9 | 10 | 12..=15 => value,
        _ => {
            return Err(Fault::new(
                FaultKind::Program,
                format!("complex operation {op} is unknown"),
            ));
        }
    })
}
