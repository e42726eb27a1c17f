//! Registers for cells: a register and lanes for each class of cells, by when they hold something.

use super::group::Classes;
use super::live::{self, Ranges, Taken};
use super::node::{Cell, End, Nodes, ReadAt, Src};
use super::schedule::{Scheduled, Unit};
use std::collections::{HashMap, HashSet};
use utgard::pp::AccOp;

/// Registers of four lanes.
pub const REGISTERS: u8 = 6;

/// Where each cell lives: register and lane.
pub(super) type Places = HashMap<Cell, (u8, u8)>;

/// Times are eight for an instruction, one for each stage.
fn ranges(nodes: &Nodes, schedule: &[Scheduled], forwarded: &HashSet<Cell>) -> Vec<Ranges> {
    let out = live::live_out(nodes);
    let mut all = vec![Ranges::default(); nodes.cells as usize];
    let mut base = 0u32;
    for (at, block) in nodes.blocks.iter().enumerate() {
        let words = &schedule[at].words;
        let end = base + 8 * words.len().max(1) as u32;
        // Reads and writes in time; at the same time reads come first.
        let mut events: Vec<(u32, bool, Cell)> = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let time = |stage: u8| base + 8 * number as u32 + u32::from(stage);
            for (node, unit) in &word.nodes {
                let node = &block.nodes[*node];
                for (cell, read) in node.reads() {
                    let stage = match read {
                        ReadAt::Stage(stage) => stage,
                        ReadAt::Unit => unit.stage(),
                    };
                    events.push((time(stage), false, cell));
                }
                for cell in &node.dst {
                    events.push((time(unit.stage()), true, *cell));
                }
            }
        }
        for cell in block.end.reads() {
            events.push((end - 1, false, cell));
        }
        events.sort_unstable();
        let mut open: HashMap<Cell, u32> = out[at].iter().map(|cell| (cell, end)).collect();
        for (time, write, cell) in events.into_iter().rev() {
            if forwarded.contains(&cell) {
                continue;
            }
            if write {
                let until = open.remove(&cell).unwrap_or(time + 1).max(time + 1);
                all[cell as usize].add(time, until);
            } else {
                open.entry(cell).or_insert(time);
            }
        }
        for (cell, until) in open {
            if !forwarded.contains(&cell) {
                all[cell as usize].add(base, until.max(base + 1));
            }
        }
        base = end;
    }
    all.iter_mut().for_each(Ranges::tidy);
    all
}

/// What came of it.
pub(super) enum Outcome {
    /// Places for all cells.
    Done(Places),
    /// Cells of a class that found no place, and those whose stay is longest.
    Full(Vec<Cell>),
}

/// What a lane holds, and when; how many cells it holds in all.
#[derive(Clone, Default)]
struct Lane {
    taken: Taken,
    cells: u32,
}

/// Finds places.
pub(super) fn allocate(nodes: &Nodes, classes: &Classes, schedule: &[Scheduled], forwarded: &HashSet<Cell>) -> Outcome {
    let ranges = ranges(nodes, schedule, forwarded);
    let mut seen = HashSet::new();
    let mut all: Vec<Vec<Cell>> = Vec::new();
    for cell in 0..nodes.cells {
        if seen.insert(classes.class(cell)) {
            let members: Vec<Cell> = classes
                .members(cell)
                .iter()
                .copied()
                .filter(|cell| !ranges[*cell as usize].0.is_empty())
                .collect();
            if !members.is_empty() {
                all.push(members);
            }
        }
    }
    let start = |members: &[Cell]| {
        members
            .iter()
            .map(|cell| ranges[*cell as usize].0[0].0)
            .min()
            .unwrap_or(0)
    };
    let length = |members: &[Cell]| members.iter().map(|cell| ranges[*cell as usize].length()).sum::<u32>();
    let pinned = |members: &[Cell]| members.iter().any(|cell| nodes.outputs.contains(cell));
    let mut failed = Vec::new();
    for attempt in 0..4 {
        let mut order = all.clone();
        match attempt {
            0 => order.sort_by_key(|members| (!pinned(members), std::cmp::Reverse(members.len()), start(members))),
            1 => order.sort_by_key(|members| (!pinned(members), start(members))),
            2 => order.sort_by_key(|members| (!pinned(members), std::cmp::Reverse(length(members)))),
            _ => order.sort_by_key(|members| {
                let wide = members.len() > 2;
                (
                    !pinned(members),
                    !wide,
                    start(members),
                    std::cmp::Reverse(members.len()),
                )
            }),
        }
        match attempt_order(nodes, &order, &ranges) {
            Ok(places) => return Outcome::Done(places),
            Err(members) => {
                if failed.is_empty() {
                    failed = members;
                }
            }
        }
    }
    Outcome::Full(spill_candidates(&all, &ranges, &failed))
}

fn attempt_order(nodes: &Nodes, order: &[Vec<Cell>], ranges: &[Ranges]) -> Result<Places, Vec<Cell>> {
    let mut table: [[Lane; 4]; REGISTERS as usize] = Default::default();
    let mut places = Places::new();
    for members in order {
        let registers = if members.iter().any(|cell| nodes.outputs.contains(cell)) {
            0..1
        } else {
            0..REGISTERS
        };
        let mut best: Option<(u32, u8, Vec<u8>)> = None;
        for register in registers {
            let free: Vec<Vec<u8>> = members
                .iter()
                .map(|cell| {
                    let wanted = nodes.lanes.get(cell).copied();
                    (0..4u8)
                        .filter(|lane| wanted.is_none_or(|wanted| wanted == *lane))
                        .filter(|lane| {
                            let there = &table[register as usize][*lane as usize].taken;
                            there.is_free(&ranges[*cell as usize])
                        })
                        .collect()
                })
                .collect();
            let mut chosen = Vec::new();
            if assign(&free, &mut chosen) {
                // The fullest register that still has room keeps others free for vectors.
                let used = table[register as usize].iter().map(|lane| lane.cells).sum::<u32>();
                let fill = if members.len() > 2 {
                    u32::from(register)
                } else {
                    u32::MAX / 2 - used.min(1000)
                };
                if best.as_ref().is_none_or(|(have, ..)| fill < *have) {
                    best = Some((fill, register, chosen));
                }
            }
        }
        let Some((_, register, lanes)) = best else {
            return Err(members.clone());
        };
        for (cell, lane) in members.iter().zip(lanes) {
            let there = &mut table[register as usize][lane as usize];
            there.taken.take(&ranges[*cell as usize]);
            there.cells += 1;
            places.insert(*cell, (register, lane));
        }
    }
    Ok(places)
}

/// A different lane for every cell.
fn assign(free: &[Vec<u8>], chosen: &mut Vec<u8>) -> bool {
    let Some(lanes) = free.get(chosen.len()) else {
        return true;
    };
    for lane in lanes {
        if !chosen.contains(lane) {
            chosen.push(*lane);
            if assign(free, chosen) {
                return true;
            }
            chosen.pop();
        }
    }
    false
}

/// Cells that make most room when they go to memory: of those alive with what failed, the class that stays longest.
fn spill_candidates(all: &[Vec<Cell>], ranges: &[Ranges], failed: &[Cell]) -> Vec<Cell> {
    let meets = |members: &[Cell]| {
        members.iter().any(|a| {
            failed
                .iter()
                .any(|b| ranges[*a as usize].overlaps(&ranges[*b as usize]))
        })
    };
    let weight = |members: &[Cell]| members.iter().map(|cell| ranges[*cell as usize].length()).sum::<u32>();
    let mut candidates: Vec<&Vec<Cell>> = all.iter().filter(|members| meets(members)).collect();
    candidates.sort_by_key(|members| std::cmp::Reverse(weight(members)));
    candidates.into_iter().flatten().copied().collect()
}

/// Results of multipliers that only the adder behind them reads: they need no register.
pub(super) fn forwarded(nodes: &mut Nodes, schedule: &[Scheduled], out: &[live::Set]) -> HashSet<Cell> {
    let mut forwarded = HashSet::new();
    let mut writes: HashMap<Cell, u32> = HashMap::new();
    let mut reads: HashMap<Cell, u32> = HashMap::new();
    for block in &nodes.blocks {
        for node in &block.nodes {
            node.dst.iter().for_each(|cell| *writes.entry(*cell).or_default() += 1);
            node.reads()
                .iter()
                .for_each(|(cell, _)| *reads.entry(*cell).or_default() += 1);
        }
        if let End::Branch { .. } = block.end {
            block
                .end
                .reads()
                .iter()
                .for_each(|cell| *reads.entry(*cell).or_default() += 1);
        }
    }
    for (at, scheduled) in schedule.iter().enumerate() {
        for word in &scheduled.words {
            for (mul, acc) in [(Unit::VecMul, Unit::VecAcc), (Unit::FloatMul, Unit::FloatAcc)] {
                let of = |wanted: Unit| {
                    word.nodes
                        .iter()
                        .find(|(_, unit)| *unit == wanted)
                        .map(|(node, _)| *node)
                };
                let (Some(from), Some(to)) = (of(mul), of(acc)) else {
                    continue;
                };
                let block = &mut nodes.blocks[at];
                let dst = block.nodes[from].dst.clone();
                let single = dst
                    .iter()
                    .all(|cell| writes[cell] == 1 && !out[at].has(*cell) && !nodes.outputs.contains(cell));
                let reader = &block.nodes[to];
                let in_operand = |operand: usize| {
                    reader.src.get(operand).is_some_and(|operand| {
                        operand
                            .comps
                            .iter()
                            .all(|src| matches!(src, Src::Cell(cell) if dst.contains(cell)))
                    })
                };
                let total: u32 = dst.iter().map(|cell| reads.get(cell).copied().unwrap_or(0)).sum();
                let operand = (0..2).find(|operand| in_operand(*operand));
                let Some(operand) = operand.filter(|_| single) else {
                    continue;
                };
                if total as usize != reader.src[operand].comps.len() {
                    continue;
                }
                if operand == 1 {
                    use super::node::Kind;
                    let commutes = matches!(
                        reader.kind,
                        Kind::Alu {
                            acc: Some(AccOp::Add | AccOp::Ne | AccOp::Eq),
                            ..
                        }
                    );
                    if !commutes {
                        continue;
                    }
                    block.nodes[to].src.swap(0, 1);
                }
                forwarded.extend(dst);
            }
        }
    }
    forwarded
}
