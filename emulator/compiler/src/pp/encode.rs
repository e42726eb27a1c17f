//! From packed nodes and their registers to machine words.

use super::alloc::Places;
use super::encoder::Encoder;
use super::node::{CellMap, CellSet, End, Node, Nodes};
use super::schedule::Scheduled;
use crate::error::{Error, Result};
use crate::ir::Span;
use utgard::debug::{Assigned, Location};
use utgard::field::Code;
use utgard::pp::flow::last_vector;
use utgard::pp::{Branch, Component, Condition, Constant, FloatMul, Instruction, MAX_PROGRAM_WORDS, MulOp, Register};

/// The machine words, and for each instruction its place in the source.
pub(super) struct Encoded {
    pub words: Vec<u32>,
    pub spans: Vec<Vec<Span>>,
    /// The numbers that each instruction makes for local variables.
    pub assigned: Vec<Vec<Assigned>>,
    pub instructions: Vec<Instruction>,
}

/// The numbers that some nodes make for local variables, where they have registers.
fn assigned<'a>(nodes: impl Iterator<Item = &'a Node>, places: &Places, forwarded: &CellSet) -> Vec<Assigned> {
    let named = nodes.flat_map(|node| {
        node.named
            .iter()
            .map(|(at, local, component)| (node.dst.get(*at), *local, *component))
    });
    named
        .filter_map(|(cell, local, component)| {
            let (register, lane) = places.get(cell.filter(|cell| !forwarded.contains(cell))?)?;
            Some(Assigned {
                local,
                component,
                location: Location::Register(*register, *lane),
            })
        })
        .collect()
}

/// Encodes a program.
pub(super) fn encode(nodes: &Nodes, schedule: &[Scheduled], places: &Places, forwarded: &CellSet) -> Result<Encoded> {
    let mut code: Vec<Instruction> = Vec::new();
    let mut spans: Vec<Vec<Span>> = Vec::new();
    // Instructions that are put in make nothing.
    let mut made: Vec<(usize, Vec<Assigned>)> = Vec::new();
    let mut starts = Vec::new();
    // Instructions that jump, with the block they go to.
    let mut jumps: Vec<(usize, usize)> = Vec::new();
    for (at, (block, scheduled)) in nodes.blocks.iter().zip(schedule).enumerate() {
        starts.push(code.len());
        for word in &scheduled.words {
            let mut encoder = Encoder {
                places,
                forwarded,
                positions: CellMap::default(),
                constants: word.taken.constants,
            };
            code.push(encoder.word(&block.nodes, word)?);
            let done = || word.nodes.iter().map(|(node, _)| &block.nodes[*node]);
            spans.push(done().map(|node| node.span).collect());
            made.push((code.len() - 1, assigned(done(), places, forwarded)));
        }
        let empty = |code: &mut Vec<Instruction>, spans: &mut Vec<Vec<Span>>| {
            code.push(idle());
            spans.push(Vec::new());
        };
        match &block.end {
            End::Stop | End::Discard => {
                // Readers of bare words take the last vector of the instruction that stops for the colour, which is in
                // register 0: a scratch vector there would be taken instead.
                let scratch = code
                    .last()
                    .is_some_and(|last| last_vector(last).is_some_and(|register| register != COLOR));
                if scheduled.words.is_empty() || (scratch && block.end == End::Stop) {
                    empty(&mut code, &mut spans);
                }
                let Some(last) = code.last_mut() else { continue };
                last.control.stop = true;
                if block.end == End::Discard {
                    last.branch = Some(Branch::discard());
                }
            }
            End::Jump(to) if *to == at + 1 => {}
            End::Jump(to) => {
                let taken = code.len() > starts[at] && code.last().is_some_and(|last| last.branch.is_none());
                if !taken {
                    empty(&mut code, &mut spans);
                }
                jumps.push((code.len() - 1, *to));
                set_branch(&mut code, always());
            }
            End::Branch {
                a,
                b,
                condition,
                then,
                other,
            } => {
                let constants = scheduled
                    .words
                    .last()
                    .map(|word| word.taken.constants)
                    .unwrap_or_default();
                let encoder = Encoder {
                    places,
                    forwarded,
                    positions: CellMap::default(),
                    constants,
                };
                // Falling through to the first way needs the opposite condition.
                let (condition, to) = if *then == at + 1 {
                    (opposite(*condition), *other)
                } else {
                    (*condition, *then)
                };
                let branch = Branch {
                    a: encoder.scalar(*a)?,
                    b: encoder.scalar(*b)?,
                    condition,
                    ..Branch::default()
                };
                set_branch(&mut code, branch);
                jumps.push((code.len() - 1, to));
                if *then != at + 1 && *other != at + 1 {
                    empty(&mut code, &mut spans);
                    set_branch(&mut code, always());
                    jumps.push((code.len() - 1, *other));
                }
            }
        }
    }
    starts.push(code.len());
    let mut assigned = vec![Vec::new(); code.len()];
    made.into_iter().for_each(|(at, of)| assigned[at] = of);
    finish(code, (spans, assigned), &starts, &jumps)
}

fn opposite(condition: Condition) -> Condition {
    Condition::from_code(!condition.code() & Condition::Always.code())
}

fn always() -> Branch {
    Branch {
        condition: Condition::Always,
        ..Branch::default()
    }
}

fn set_branch(code: &mut [Instruction], branch: Branch) {
    if let Some(last) = code.last_mut() {
        last.branch = Some(branch);
    }
}

/// The register of the colour in programs of this compiler.
const COLOR: Register = Register(0);

/// An instruction that changes nothing: a constant moved nowhere.
fn idle() -> Instruction {
    Instruction {
        float_mul: Some(FloatMul {
            a: Register::CONST0.component(Component::X),
            b: Register::CONST0.component(Component::X),
            op: MulOp::Mov,
            write: false,
            ..FloatMul::default()
        }),
        const0: Some(Constant::default()),
        ..Instruction::default()
    }
}

/// Branch targets in words, lengths of what comes next.
fn finish(
    mut code: Vec<Instruction>,
    (spans, assigned): (Vec<Vec<Span>>, Vec<Vec<Assigned>>),
    starts: &[usize],
    jumps: &[(usize, usize)],
) -> Result<Encoded> {
    let mut offsets = vec![0i64];
    for instruction in &code {
        let last = offsets.last().copied().unwrap_or(0);
        offsets.push(last + i64::from(instruction.words()));
    }
    let length = offsets.last().copied().unwrap_or(0);
    if length > MAX_PROGRAM_WORDS as i64 {
        return Err(Error::limit(format!(
            "{length} words: a fragment program has at most {MAX_PROGRAM_WORDS}"
        )));
    }
    for (from, block) in jumps {
        let target = starts[*block];
        let distance = offsets[target] - offsets[*from];
        let length = code.get(target).map_or(0, Instruction::words);
        if let Some(branch) = &mut code[*from].branch {
            branch.target = (distance as i32 as u32) & 0x07ff_ffff;
            branch.target_length = length & 31;
        }
    }
    let lengths: Vec<u32> = code.iter().map(Instruction::words).collect();
    let mut words = Vec::new();
    for (at, instruction) in code.iter_mut().enumerate() {
        if let Some(next) = lengths.get(at + 1) {
            instruction.control.next_length = *next;
            instruction.control.prefetch = true;
        }
        instruction.encode(&mut words);
    }
    Ok(Encoded {
        words,
        spans,
        assigned,
        instructions: code,
    })
}
