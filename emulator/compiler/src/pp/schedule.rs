//! Packs nodes into instructions, from a block's end to its beginning: each goes as late as its readers allow, in any
//! unit that has its operation. Results are handed on inside an instruction from stage to stage.

use super::node::{Cell, Cond, End, Kind, LoadAt, Node, NodeBlock, Operand, ReadAt, Src, stage};
use num::half;
use std::collections::HashMap;
use utgard::pp::{Modifier, MulOp};

/// A unit that a node's result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Varying,
    VecMul,
    FloatMul,
    VecAcc,
    FloatAcc,
    Combine,
    Store,
}

impl Unit {
    pub fn stage(self) -> u8 {
        match self {
            Self::Varying => stage::VARYING,
            Self::VecMul | Self::FloatMul => stage::MUL,
            Self::VecAcc | Self::FloatAcc => stage::ACC,
            Self::Combine => stage::COMBINE,
            Self::Store => stage::STORE,
        }
    }
}

/// How nodes are ordered and packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    /// Nodes go in the program's order, which keeps few registers alive.
    pub in_order: bool,
    /// Only what real drivers have been seen to pack: a multiplication handed to an addition.
    pub conservative: bool,
}

/// An instruction: nodes by unit, and what else it holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Nodes and the units their results come from.
    pub nodes: Vec<(usize, Unit)>,
    /// The load.
    pub load: Option<LoadAt>,
    /// There is a look-up.
    pub texture: bool,
    /// The varying unit is busy.
    pub varying: bool,
    /// Units that are busy.
    busy: Vec<Unit>,
    /// Constants, as halves.
    pub constants: [Vec<u16>; 2],
}

/// A block of instructions, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Scheduled {
    pub words: Vec<Word>,
}

#[derive(Clone, Copy, Debug)]
enum Edge {
    /// The other reads what this writes.
    Raw(ReadAt),
    /// The other writes what this reads.
    War(ReadAt),
    /// Both write.
    Waw,
    /// The other loads what this stores, or stores over it.
    Memory,
    /// The other stores over what this loads.
    MemoryRead,
}

/// A half of a constant.
pub(super) fn half_of(bits: u32) -> u16 {
    half::from_f32(half::round(f32::from_bits(bits)))
}

fn constants(operand: &Operand) -> Vec<u16> {
    let comps = operand.comps.iter();
    let mut halves: Vec<u16> = comps
        .filter_map(|src| {
            if let Src::Const(bits) = src {
                Some(half_of(*bits))
            } else {
                None
            }
        })
        .collect();
    halves.sort_unstable();
    halves.dedup();
    halves
}

/// Operands of a node that may hold constants.
fn operands(node: &Node) -> Vec<&Operand> {
    let mut all: Vec<&Operand> = node.src.iter().collect();
    match &node.kind {
        Kind::Select(Cond::Value(operand)) => all.push(operand),
        Kind::Select(Cond::Compare(_, a, b)) => all.extend([a, b]),
        _ => {}
    }
    all
}

/// Places constants in a field that has room for them.
fn place_constants(fields: &mut [Vec<u16>; 2], halves: &[u16]) -> bool {
    if halves.is_empty() {
        return true;
    }
    for field in fields {
        let new: Vec<u16> = halves.iter().copied().filter(|half| !field.contains(half)).collect();
        if field.len() + new.len() <= 4 {
            field.extend(new);
            return true;
        }
    }
    false
}

/// Whether a multiplication can be done by the combine unit: the operand that is one number for all components.
pub(super) fn scalar_factor(node: &Node) -> Option<usize> {
    if !matches!(
        node.kind,
        Kind::Alu {
            mul: Some(MulOp::Mul),
            ..
        }
    ) || node.modifier != Modifier::None
    {
        return None;
    }
    (0..2).find(|at| {
        let (a, b) = (&node.src[*at], &node.src[1 - *at]);
        a.comps.iter().all(|src| *src == a.comps[0]) && !b.negate && !b.absolute
    })
}

/// Units a node may go to, the best first.
fn units(node: &Node, mode: Mode) -> Vec<Unit> {
    let single = node.dst.len() == 1;
    let mut units = Vec::new();
    match &node.kind {
        Kind::Alu { mul, acc } => {
            if single {
                units.extend(mul.map(|_| Unit::FloatMul));
                units.extend(acc.map(|_| Unit::FloatAcc));
                if node.is_move() && !mode.conservative {
                    units.push(Unit::Combine);
                }
            }
            units.extend(mul.map(|_| Unit::VecMul));
            units.extend(acc.map(|_| Unit::VecAcc));
            if !mode.conservative && scalar_factor(node).is_some() {
                units.push(Unit::Combine);
            }
        }
        Kind::Sum => units.push(Unit::VecAcc),
        Kind::Select(_) if single => units.extend([Unit::FloatAcc, Unit::VecAcc]),
        Kind::Select(_) => units.push(Unit::VecAcc),
        Kind::Function(_) => units.push(Unit::Combine),
        Kind::Varying(_) => units.push(Unit::Varying),
        Kind::Store { .. } => units.push(Unit::Store),
    }
    units
}

fn stage_of(read: ReadAt, unit: Unit) -> u8 {
    match read {
        ReadAt::Stage(stage) => stage,
        ReadAt::Unit => unit.stage(),
    }
}

/// Everything about a block's nodes that the packing asks.
struct Graph {
    after: Vec<Vec<(usize, Edge)>>,
    /// Earliest time of each node if units were free.
    earliest: Vec<u32>,
}

fn graph(nodes: &[Node]) -> Graph {
    let count = nodes.len();
    let mut after: Vec<Vec<(usize, Edge)>> = vec![Vec::new(); count];
    let mut wrote: HashMap<Cell, Vec<usize>> = HashMap::new();
    let mut readers: HashMap<Cell, Vec<(usize, ReadAt)>> = HashMap::new();
    let (mut stores, mut loads): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, node) in nodes.iter().enumerate() {
        for (cell, read) in node.reads() {
            for writer in wrote.get(&cell).into_iter().flatten() {
                after[*writer].push((at, Edge::Raw(read)));
            }
        }
        for cell in &node.dst {
            for writer in wrote.get(cell).into_iter().flatten() {
                after[*writer].push((at, Edge::Waw));
            }
            for (reader, read) in readers.get(cell).into_iter().flatten() {
                if *reader != at {
                    after[*reader].push((at, Edge::War(*read)));
                }
            }
        }
        for (cell, read) in node.reads() {
            readers.entry(cell).or_default().push((at, read));
        }
        for cell in &node.dst {
            wrote.insert(*cell, vec![at]);
            // Those that read the old value stand before this write already.
            readers.remove(cell);
            if node.reads().iter().any(|(read, _)| read == cell) {
                let own = node.reads().into_iter().filter(|(read, _)| read == cell);
                readers.insert(*cell, own.map(|(_, read)| (at, read)).collect());
            }
        }
        if node.load.is_some_and(|load| load.temporary) {
            stores.iter().for_each(|store| after[*store].push((at, Edge::Memory)));
            loads.push(at);
        }
        if matches!(node.kind, Kind::Store { .. }) {
            stores.iter().for_each(|store| after[*store].push((at, Edge::Memory)));
            loads
                .iter()
                .filter(|load| **load != at)
                .for_each(|load| after[*load].push((at, Edge::MemoryRead)));
            stores = vec![at];
            loads.clear();
        }
    }
    let mut earliest = vec![0u32; count];
    for at in 0..count {
        let unit = units(
            &nodes[at],
            Mode {
                in_order: false,
                conservative: false,
            },
        )[0];
        let ready = earliest[at];
        let own = u32::from(unit.stage());
        // The first time of the unit's stage that is not before it is ready.
        let time = if ready % 8 <= own {
            ready - ready % 8 + own
        } else {
            ready - ready % 8 + 8 + own
        };
        for (to, edge) in &after[at] {
            let next = match edge {
                Edge::Raw(_) => time + 1,
                Edge::Memory => time - time % 8 + 8,
                _ => time,
            };
            earliest[*to] = earliest[*to].max(next);
        }
        earliest[at] = time;
    }
    Graph { after, earliest }
}

/// Packs a block. Words are counted from the end while it is built.
pub(super) fn pack(block: &NodeBlock, mode: Mode) -> Scheduled {
    let nodes = &block.nodes;
    let graph = graph(nodes);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, edges) in graph.after.iter().enumerate() {
        for (to, _) in edges {
            before[*to].push(from);
        }
    }
    let mut waiting: Vec<usize> = graph.after.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..nodes.len()).filter(|at| waiting[*at] == 0).collect();
    let mut placed: Vec<Option<(usize, Unit)>> = vec![None; nodes.len()];
    let mut words: Vec<Word> = Vec::new();
    if let End::Branch { a, b, .. } = &block.end {
        let mut word = Word::default();
        for src in [a, b] {
            place_constants(&mut word.constants, &constants(&Operand::one(*src)));
        }
        words.push(word);
    }
    let floor = if block.end == End::Discard { 1 } else { 0 };
    if floor == 1 {
        words.push(Word::default());
    }
    let mut lowest = floor;
    while !ready.is_empty() {
        let priority = |at: &usize| {
            if mode.in_order {
                (nodes[*at].order, 0)
            } else {
                (graph.earliest[*at], nodes[*at].order)
            }
        };
        let Some(best) = (0..ready.len()).max_by_key(|at| priority(&ready[*at])) else {
            break;
        };
        let at = ready.swap_remove(best);
        // Not behind what reads it; words are counted from the end.
        let readers = graph.after[at].iter().filter_map(|(to, _)| Some(placed[*to]?.0));
        let mut number = readers.fold(lowest, usize::max);
        let (word, unit) = loop {
            if number == words.len() {
                words.push(Word::default());
            }
            let fit = units(&nodes[at], mode).into_iter().find_map(|unit| {
                let legal = graph.after[at].iter().all(|(to, edge)| {
                    placed[*to].is_some_and(|(word, other)| allowed(*edge, (number, unit), (word, other), mode))
                });
                let new = legal.then(|| fitted(&words[number], &nodes[at], at, unit)).flatten()?;
                Some((new, unit))
            });
            match fit {
                Some((new, unit)) => {
                    words[number] = new;
                    break (number, unit);
                }
                None => number += 1,
            }
        };
        placed[at] = Some((word, unit));
        if mode.in_order {
            lowest = word.saturating_sub(1).max(floor);
        }
        for from in &before[at] {
            waiting[*from] -= 1;
            if waiting[*from] == 0 {
                ready.push(*from);
            }
        }
    }
    words.reverse();
    Scheduled { words }
}

/// Whether a node may stand at a place, with one behind it at another. Words are counted from the end.
fn allowed(edge: Edge, (word, unit): (usize, Unit), (other_word, other): (usize, Unit), mode: Mode) -> bool {
    if word != other_word {
        return word > other_word;
    }
    match edge {
        Edge::Raw(read) if mode.conservative => {
            // Seen in real programs: varyings and products used by the next stage of their instruction.
            let pair = matches!(
                (unit, other),
                (Unit::VecMul, Unit::VecAcc) | (Unit::FloatMul, Unit::FloatAcc) | (Unit::Varying, _)
            );
            pair && unit.stage() < stage_of(read, other)
        }
        Edge::Raw(read) => unit.stage() < stage_of(read, other),
        Edge::War(read) => stage_of(read, unit) <= other.stage(),
        Edge::Waw => unit.stage() < other.stage(),
        Edge::Memory => false,
        Edge::MemoryRead => true,
    }
}

/// The word with the node in a unit, when there is room.
fn fitted(word: &Word, node: &Node, at: usize, unit: Unit) -> Option<Word> {
    if word.busy.contains(&unit) || unit == Unit::Varying && word.varying {
        return None;
    }
    let mut new = word.clone();
    if let Some(load) = node.load {
        if new.load.is_some_and(|have| have != load) {
            return None;
        }
        new.load = Some(load);
    }
    if node.tex.is_some() {
        if new.varying || new.texture {
            return None;
        }
        (new.varying, new.texture) = (true, true);
    }
    if unit == Unit::Varying {
        new.varying = true;
    }
    // What a store takes of a combine of its own instruction is not known; the verifier refuses the pair.
    if unit == Unit::Store && new.busy.contains(&Unit::Combine)
        || unit == Unit::Combine && new.busy.contains(&Unit::Store)
    {
        return None;
    }
    if let Kind::Select(_) = node.kind {
        if new.busy.contains(&Unit::FloatMul) {
            return None;
        }
        new.busy.push(Unit::FloatMul);
    }
    for operand in operands(node) {
        if !place_constants(&mut new.constants, &constants(operand)) {
            return None;
        }
    }
    new.busy.push(unit);
    new.nodes.push((at, unit));
    Some(new)
}
