//! Registers for cells: a register and lanes for each class of cells, by when they hold something.

use super::group::Classes;
use super::live::{self, Ranges, Taken};
use super::node::{Cell, CellMap, CellSet, Kind, Nodes, ReadAt, Src};
use super::schedule::{Scheduled, Unit};
use super::tidy;
use std::cmp::Reverse;
use utgard::pp::AccOp;

/// Registers of four lanes.
pub(super) const REGISTERS: u8 = 6;

/// Lanes of all registers.
const LANES: i32 = 4 * REGISTERS as i32;

/// Where each cell lives: register and lane.
pub(super) type Places = CellMap<(u8, u8)>;

/// Times are eight for an instruction, one for each stage.
fn ranges(nodes: &Nodes, schedule: &[Scheduled], out: &[live::Set], forwarded: &CellSet) -> Vec<Ranges> {
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
        let mut open: CellMap<u32> = out[at].iter().map(|cell| (cell, end)).collect();
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

/// Finds places; `out` are the cells that are read behind each block.
pub(super) fn allocate(
    nodes: &Nodes,
    classes: &Classes,
    schedule: &[Scheduled],
    out: &[live::Set],
    forwarded: &CellSet,
) -> Outcome {
    let ranges = ranges(nodes, schedule, out, forwarded);
    let mut seen = vec![false; nodes.cells as usize];
    let mut all: Vec<Vec<Cell>> = Vec::new();
    for cell in 0..nodes.cells {
        if !std::mem::replace(&mut seen[classes.class(cell) as usize], true) {
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
    // No order finds places for more cells than there are lanes; the first one says what is in the way.
    let attempts = if most_at_once(&ranges) > LANES { 1 } else { 4 };
    let mut failed = Vec::new();
    for attempt in 0..attempts {
        let mut order: Vec<&[Cell]> = all.iter().map(Vec::as_slice).collect();
        match attempt {
            0 => order.sort_by_cached_key(|members| (!pinned(members), Reverse(members.len()), start(members))),
            1 => order.sort_by_cached_key(|members| (!pinned(members), start(members))),
            2 => order.sort_by_cached_key(|members| (!pinned(members), Reverse(length(members)))),
            _ => order.sort_by_cached_key(|members| {
                let wide = members.len() > 2;
                (!pinned(members), !wide, start(members), Reverse(members.len()))
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

/// Cells that hold something at the same time, at most.
fn most_at_once(ranges: &[Ranges]) -> i32 {
    let ranges = ranges.iter().flat_map(|ranges| &ranges.0);
    // Ends come first: ranges are half-open.
    let mut changes: Vec<(u32, i32)> = ranges.flat_map(|(start, end)| [(*start, 1), (*end, -1)]).collect();
    changes.sort_unstable();
    let held = changes.iter().scan(0, |held, (_, change)| {
        *held += change;
        Some(*held)
    });
    held.max().unwrap_or(0)
}

fn attempt_order(nodes: &Nodes, order: &[&[Cell]], ranges: &[Ranges]) -> Result<Places, Vec<Cell>> {
    let mut table: [[Lane; 4]; REGISTERS as usize] = Default::default();
    let mut places = Places::default();
    for members in order {
        let registers = if members.iter().any(|cell| nodes.outputs.contains(cell)) {
            0..1
        } else {
            0..REGISTERS
        };
        let mut best: Option<(u32, u8, Chosen)> = None;
        for register in registers {
            let lanes = &table[register as usize];
            let mut free = Free::default();
            for (cell, free) in members.iter().zip(&mut free) {
                let wanted = nodes.lanes.get(cell).copied();
                let fits = |lane: &usize| {
                    wanted.is_none_or(|wanted| usize::from(wanted) == *lane)
                        && lanes[*lane].taken.is_free(&ranges[*cell as usize])
                };
                *free = (0..4).filter(fits).fold(0, |free, lane| free | 1 << lane);
            }
            let mut chosen = Chosen::default();
            if assign(&free[..members.len()], 0, &mut chosen) {
                // The fullest register that still has room keeps others free for vectors.
                let used = lanes.iter().map(|lane| lane.cells).sum::<u32>();
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
        let Some((_, register, chosen)) = best else {
            return Err(members.to_vec());
        };
        for (cell, lane) in members.iter().zip(chosen) {
            let there = &mut table[register as usize][lane as usize];
            there.taken.take(&ranges[*cell as usize]);
            there.cells += 1;
            places.insert(*cell, (register, lane));
        }
    }
    Ok(places)
}

/// For each cell of a class the lanes that it may have, a bit each.
type Free = [u8; 4];

/// For each cell of a class its lane.
type Chosen = [u8; 4];

/// A different lane for every cell from a place in the class on.
fn assign(free: &[u8], at: usize, chosen: &mut Chosen) -> bool {
    let Some(lanes) = free.get(at) else {
        return true;
    };
    (0..4).filter(|lane| lanes >> lane & 1 == 1).any(|lane| {
        chosen[at] = lane;
        !chosen[..at].contains(&lane) && assign(free, at + 1, chosen)
    })
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
    candidates.sort_by_cached_key(|members| Reverse(weight(members)));
    candidates.into_iter().flatten().copied().collect()
}

/// What goes from multipliers to adders without registers.
#[derive(Default)]
pub(super) struct Forwarded {
    /// Results of multipliers that only the adder behind them reads: they need no register.
    pub cells: CellSet,
    /// Additions and the like that read them second, by block and node: only the first operand can be one.
    swapped: Vec<(usize, usize)>,
}

impl Forwarded {
    /// Puts each of them first among its adder's operands.
    pub(super) fn swap(&self, nodes: &mut Nodes) {
        for (block, node) in &self.swapped {
            nodes.blocks[*block].nodes[*node].src.swap(0, 1);
        }
    }
}

/// Finds the results that need no register; `out` are the cells that are read behind each block.
pub(super) fn forwarded(nodes: &Nodes, schedule: &[Scheduled], out: &[live::Set]) -> Forwarded {
    let mut forwarded = Forwarded::default();
    let (writes, reads) = tidy::counts(nodes);
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
                let block = &nodes.blocks[at];
                let dst = &block.nodes[from].dst;
                let single = dst
                    .iter()
                    .all(|cell| writes[*cell as usize] == 1 && !out[at].has(*cell) && !nodes.outputs.contains(cell));
                let reader = &block.nodes[to];
                let in_operand = |operand: usize| {
                    reader.src.get(operand).is_some_and(|operand| {
                        operand
                            .comps
                            .iter()
                            .all(|src| matches!(src, Src::Cell(cell) if dst.contains(cell)))
                    })
                };
                let total: u32 = dst.iter().map(|cell| reads[*cell as usize]).sum();
                let operand = (0..2).find(|operand| in_operand(*operand));
                let Some(operand) = operand.filter(|_| single) else {
                    continue;
                };
                if total as usize != reader.src[operand].comps.len() {
                    continue;
                }
                if operand == 1 {
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
                    forwarded.swapped.push((at, to));
                }
                forwarded.cells.extend(dst);
            }
        }
    }
    forwarded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether some cells can have a different lane each: all ways are tried.
    fn fits(free: &[u8], taken: u8) -> bool {
        free.split_first().is_none_or(|(lanes, rest)| {
            (0..4).any(|lane| lanes & !taken & 1 << lane != 0 && fits(rest, taken | 1 << lane))
        })
    }

    #[test]
    fn lanes_are_found_where_there_are_any() {
        for cells in 0..=4usize {
            for number in 0..1u32 << (4 * cells) {
                let free: Vec<u8> = (0..cells).map(|at| (number >> (4 * at) & 15) as u8).collect();
                let mut chosen = Chosen::default();
                let found = assign(&free, 0, &mut chosen);
                assert_eq!(found, fits(&free, 0), "{free:?}");
                if found {
                    let mut taken = 0;
                    for (free, lane) in free.iter().zip(chosen) {
                        assert!(free & !taken & 1 << lane != 0, "{free:?}: {chosen:?}");
                        taken |= 1 << lane;
                    }
                }
            }
        }
    }

    fn random_ranges(random: &mut fastrand::Rng, cells: u32) -> Vec<Ranges> {
        let one = |random: &mut fastrand::Rng| {
            let mut ranges = Ranges::default();
            for _ in 0..random.usize(1..3) {
                let start = random.u32(..60);
                ranges.add(start, start + random.u32(1..12));
            }
            ranges.tidy();
            ranges
        };
        (0..cells).map(|_| one(random)).collect()
    }

    #[test]
    fn cells_at_once_are_counted() {
        let mut random = fastrand::Rng::with_seed(4);
        for cells in 0..40 {
            let ranges = random_ranges(&mut random, cells);
            let held = |time: u32| {
                let holds = |ranges: &&Ranges| ranges.0.iter().any(|(start, end)| (*start..*end).contains(&time));
                ranges.iter().filter(holds).count() as i32
            };
            assert_eq!(most_at_once(&ranges), (0..80).map(held).max().unwrap_or(0));
        }
    }

    /// Classes of one to four cells, some with lanes they must have, some of the colour.
    fn random_classes(random: &mut fastrand::Rng, nodes: &mut Nodes) -> Vec<Vec<Cell>> {
        let mut classes = Vec::new();
        let most = random.u32(20..90);
        while nodes.cells < most {
            let members: Vec<Cell> = (0..random.usize(1..=4)).map(|_| nodes.cell()).collect();
            let first = random.u8(..4);
            for (lane, cell) in (first..).zip(&members).filter(|_| random.bool()) {
                nodes.lanes.insert(*cell, lane % 4);
            }
            classes.push(members);
        }
        nodes.outputs = classes[0].clone();
        classes
    }

    /// Cells that hold something at the same time have different places, those of a class one register, those with a
    /// lane that one, those of the colour register 0.
    #[test]
    fn places_hold_one_cell_at_a_time() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut done, mut full) = (0, 0);
        for _ in 0..400 {
            let mut nodes = Nodes::default();
            let classes = random_classes(&mut random, &mut nodes);
            let ranges = random_ranges(&mut random, nodes.cells);
            let order: Vec<&[Cell]> = classes.iter().map(Vec::as_slice).collect();
            let places = match attempt_order(&nodes, &order, &ranges) {
                Ok(places) => places,
                Err(failed) => {
                    assert!(classes.contains(&failed));
                    full += 1;
                    continue;
                }
            };
            done += 1;
            assert_eq!(places.len() as u32, nodes.cells);
            for members in &classes {
                let registers: Vec<u8> = members.iter().map(|cell| places[cell].0).collect();
                assert!(
                    registers
                        .iter()
                        .all(|register| *register == registers[0] && *register < REGISTERS)
                );
                if members.iter().any(|cell| nodes.outputs.contains(cell)) {
                    assert_eq!(registers[0], 0);
                }
            }
            for (cell, lane) in &nodes.lanes {
                assert_eq!(places[cell].1, *lane);
            }
            for a in 0..nodes.cells {
                for b in 0..a {
                    let meet = ranges[a as usize].overlaps(&ranges[b as usize]);
                    let is_class = classes
                        .iter()
                        .any(|members| members.contains(&a) && members.contains(&b));
                    assert!(places[&a] != places[&b] || !meet && !is_class, "{a} and {b}");
                }
            }
        }
        assert!(done > 100 && full > 20, "{done} {full}");
    }

    /// A single cell goes where others are, so that registers stay free for vectors.
    #[test]
    fn single_cells_fill_the_fullest_register() {
        for singles in 1..=8u8 {
            let mut nodes = Nodes::default();
            let cells: Vec<Vec<Cell>> = (0..singles).map(|_| vec![nodes.cell()]).collect();
            let ranges = vec![Ranges(vec![(0, 10)]); usize::from(singles)];
            let order: Vec<&[Cell]> = cells.iter().map(Vec::as_slice).collect();
            let places = attempt_order(&nodes, &order, &ranges).unwrap_or_else(|_| panic!("{singles} cells"));
            let used = places
                .values()
                .map(|(register, _)| *register)
                .max()
                .map_or(0, |most| most + 1);
            assert_eq!(used, singles.div_ceil(4), "{singles}");
        }
    }

    /// What goes to memory first is what stays longest, of those that are in the way.
    #[test]
    fn what_stays_longest_is_spilled_first() {
        let mut random = fastrand::Rng::with_seed(6);
        for _ in 0..200 {
            let mut nodes = Nodes::default();
            let classes = random_classes(&mut random, &mut nodes);
            let ranges = random_ranges(&mut random, nodes.cells);
            let failed = &classes[random.usize(..classes.len())];
            let candidates = spill_candidates(&classes, &ranges, failed);
            let meets = |members: &&Vec<Cell>| {
                let meets = |a: &Cell| {
                    failed
                        .iter()
                        .any(|b| ranges[*a as usize].overlaps(&ranges[*b as usize]))
                };
                members.iter().any(meets)
            };
            let length = |cell: &Cell| -> u32 {
                let own = classes.iter().find(|members| members.contains(cell)).expect("a class");
                own.iter().map(|cell| ranges[*cell as usize].length()).sum()
            };
            let wanted: usize = classes.iter().filter(meets).map(Vec::len).sum();
            assert_eq!(candidates.len(), wanted);
            assert!(failed.iter().all(|cell| candidates.contains(cell)));
            assert!(candidates.windows(2).all(|pair| length(&pair[0]) >= length(&pair[1])));
        }
    }
}
