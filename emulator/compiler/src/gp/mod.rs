//! The vertex processor's back end: selection, scheduling, registers, machine words.

mod across;
mod node;
mod schedule;
mod select;
mod word;

use crate::edges;
use crate::error::{Error, Result};
use crate::ir::{Function, Span};
use crate::layout::Table;
use node::Kind;
use schedule::{Scheduler, Stuck};
use std::collections::HashSet;
use std::ops::Range;
use utgard::debug::{Assigned, Location};
use utgard::gp::{Instruction, Source, Stored, Target};

/// A vertex program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its instructions.
    pub instructions: Vec<Instruction>,
    /// Places in the source of what each instruction does.
    pub spans: Vec<Vec<Span>>,
    /// The numbers that each instruction makes for local variables of the source.
    pub assigned: Vec<Vec<Assigned>>,
    /// Numbers that are put behind the uniforms, with their first float.
    pub constants: Vec<(u32, Vec<f32>)>,
    /// Registers in use.
    pub registers: u32,
    /// Floats of the uniform memory that is in use.
    pub space: u32,
    /// Floats of temporaries.
    pub temporaries: u32,
    /// Stores to temporaries, and instructions that load them.
    pub spills: [u32; 2],
}

/// Outputs: where each lies.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// Output number of the position.
    pub position: u16,
    /// Output number of the point size.
    pub point_size: u16,
    /// Output and component of each scalar of the varyings.
    pub varyings: Vec<(u16, u8)>,
}

/// What the program takes: where it lies.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// Uniforms.
    pub uniforms: &'a Table,
    /// Attributes.
    pub attributes: &'a Table,
    /// First float of the viewport's scale and offset.
    pub viewport: u32,
    /// First float of the limits of point sizes.
    pub point_size: u32,
    /// First float that is free.
    pub free: u32,
}

/// Instructions a program may have.
pub const MAX_INSTRUCTIONS: usize = 512;

/// Ways to compile, the best code first: register components for what several blocks need, operations of a block.
const WAYS: [(u32, usize); 5] = [(64, usize::MAX), (48, usize::MAX), (40, 64), (32, 24), (24, 8)];

/// Compiles a program whose operations the units have.
///
/// # Errors
/// What has no place on the hardware, and budgets that are spent.
pub fn compile(function: &Function, inputs: &Inputs<'_>, outputs: &Outputs) -> Result<Program> {
    for (registers, length) in WAYS {
        let mut function = function.clone();
        edges::split_critical(&mut function);
        edges::follow_branches(&mut function);
        edges::split_long(&mut function, length);
        let selected = select::select(&function, inputs, outputs, registers)?;
        if let Some(program) = scheduled(selected)? {
            return Ok(program);
        }
    }
    Err(Error::limit("a vertex program whose numbers find no registers"))
}

/// How many orders of equal nodes are tried: the limit of a block's nodes, and the number.
const ORDERS: [(usize, u32); 3] = [(64, 16), (160, 6), (400, 2)];

/// The shortest of several schedules of a block; nothing when its numbers find no registers.
fn shortest(block: &select::Selected) -> Option<schedule::Block> {
    let size = block.nodes.len();
    let orders = ORDERS
        .iter()
        .find(|(most, _)| size <= *most)
        .map_or(1, |(_, orders)| *orders);
    let least = least(block);
    let mut best: Option<schedule::Block> = None;
    for order in 0..orders {
        let new = in_order(block, order);
        let shorter = |new: &schedule::Block| best.as_ref().is_none_or(|best| new.words.len() < best.words.len());
        if new.as_ref().is_some_and(shorter) {
            best = new;
        }
        if best.as_ref().is_some_and(|best| best.words.len() <= least) {
            break;
        }
    }
    best
}

/// Instructions a block has at least, by the longest way through it and by the units it needs.
fn least(block: &select::Selected) -> usize {
    let mut height = vec![0usize; block.nodes.len()];
    for id in (0..block.nodes.len()).rev() {
        let behind = block.after[id].iter().map(|(to, distance)| height[*to] + distance);
        height[id] = behind.max().unwrap_or(0);
    }
    let count = |wanted: fn(&Kind) -> bool| block.nodes.iter().filter(|node| wanted(&node.kind)).count();
    let units = [
        count(|kind| matches!(kind, Kind::Acc(..))).div_ceil(2),
        // A function takes a multiplier of its first instruction and both of its second.
        (count(|kind| matches!(kind, Kind::Mul(_)))
            + 2 * count(|kind| matches!(kind, Kind::Select))
            + 3 * count(|kind| matches!(kind, Kind::Function(_))))
        .div_ceil(2),
    ];
    let path = height.into_iter().max().map_or(0, |most| most + 1);
    units.into_iter().fold(path, usize::max)
}

/// A block's schedule with equals in one of the orders.
fn in_order(block: &select::Selected, order: u32) -> Option<schedule::Block> {
    let mut must = HashSet::new();
    loop {
        match Scheduler::new(&block.nodes, &must, &block.reserved, order).run(&block.after) {
            Ok(scheduled) => return Some(scheduled),
            Err(Stuck::Store(args)) => must.extend(args),
            Err(Stuck::Full) => return None,
        }
    }
}

/// Schedules the blocks; nothing when the numbers of one find no registers.
fn scheduled(selected: select::Program) -> Result<Option<Program>> {
    // Scheduling takes the square of a block's length: what is too long anyhow is not begun.
    let least: usize = selected.blocks.iter().map(least).sum();
    if least > MAX_INSTRUCTIONS {
        return Err(Error::limit(format!(
            "at least {least} instructions: a vertex program has at most {MAX_INSTRUCTIONS}"
        )));
    }
    let mut program = Program {
        constants: selected.constants,
        space: selected.space,
        ..Program::default()
    };
    let mut starts = Vec::new();
    let mut jumps = Vec::new();
    for block in &selected.blocks {
        starts.push(program.instructions.len());
        let Some(scheduled) = shortest(block) else {
            return Ok(None);
        };
        for (word, done) in scheduled.words.into_iter().zip(scheduled.done) {
            program.instructions.push(word.i);
            program
                .spans
                .push(done.iter().map(|(id, _)| block.nodes[*id].span).collect());
            let made = done.iter().filter_map(|(id, unit)| Some((&block.nodes[*id], (*unit)?)));
            let assigned = made.flat_map(|(node, unit)| {
                node.named.iter().map(move |(local, component)| Assigned {
                    local: *local,
                    component: *component,
                    location: Location::Unit(unit as u8),
                })
            });
            program.assigned.push(assigned.collect());
        }
        if let Some(to) = block.branch {
            jumps.push((program.instructions.len().saturating_sub(1), to));
        }
    }
    starts.push(program.instructions.len());
    let count = program.instructions.len();
    if count > MAX_INSTRUCTIONS {
        return Err(Error::limit(format!(
            "{count} instructions: a vertex program has at most {MAX_INSTRUCTIONS}"
        )));
    }
    for (from, to) in jumps {
        program.instructions[from].set_target(starts[to] as u16);
    }
    let stores = program.instructions.iter().flat_map(Instruction::stores);
    let used = stores.filter_map(|(stored, target)| match target {
        Target::Register(register) if stored != Stored::Nothing => Some(u32::from(register) + 1),
        _ => None,
    });
    program.registers = used.max().unwrap_or(0);
    program.temporaries = selected.temporaries.len() as u32;
    program.spills = spills(&program.instructions, &selected.temporaries);
    Ok(Some(program))
}

/// Stores to temporaries, and instructions that load them.
fn spills(instructions: &[Instruction], temporaries: &Range<u32>) -> [u32; 2] {
    let stored = |i: &Instruction| {
        let stores = i.stores().into_iter();
        stores
            .filter(|(stored, target)| *stored != Stored::Nothing && *target == Target::Temporary)
            .count() as u32
    };
    let loads = |i: &Instruction| {
        let there = temporaries.contains(&(4 * u32::from(i.load_address)));
        there
            && i.sources()
                .into_iter()
                .any(|source| matches!(source, Source::Memory(_)))
    };
    let loaded = instructions.iter().filter(|i| loads(i)).count() as u32;
    [instructions.iter().map(stored).sum(), loaded]
}
