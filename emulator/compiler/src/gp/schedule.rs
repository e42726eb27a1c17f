//! Puts nodes into instructions, from a block's beginning to its end. Results are on the bypass network for two
//! instructions; when something is wanted later, moves and register stores are put into free places of the instructions
//! between, which stand already.

mod reach;

use super::node::{Arg, Id, Kind, Node};
use super::word::Word;
use std::collections::{HashMap, HashSet};
use utgard::gp::Unit::{Acc0, Acc1, Complex, Mul0, Mul1, Pass};
use utgard::gp::{Component, Target, Unit};

/// Where a result is on the bypass network.
#[derive(Clone, Copy, Debug)]
struct Loc {
    time: usize,
    unit: Unit,
    /// It can be read two instructions on only, and not be stored.
    delayed: bool,
}

/// Register components.
pub(super) const COMPONENTS: usize = 64;

/// Instructions from a register's store to its first load.
const LATENCY: usize = 3;

/// Instructions from a temporary's store to its first load.
const TEMPORARY_LATENCY: usize = 4;

/// Instructions without anything placed, after which something is out of reach for good.
const MAX_IDLE: usize = 6;

/// Instructions a block may take at most.
const MAX_BLOCK: usize = 2048;

/// What could not be done.
pub(super) enum Stuck {
    /// These must be stored as soon as they are made.
    Store(Vec<Arg>),
    /// Nothing helps.
    Full,
}

/// A block that is scheduled.
pub(super) struct Block {
    pub words: Vec<Word>,
    /// For each instruction the nodes that are done in it, with the unit that has the result.
    pub done: Vec<Vec<(Id, Option<Unit>)>>,
}

#[derive(Clone)]
struct Undo {
    words: Vec<(usize, Word)>,
    length: usize,
    locs: Vec<Arg>,
    stored: Vec<(Arg, usize)>,
}

pub(super) struct Scheduler<'a> {
    nodes: &'a [Node],
    must: &'a HashSet<Arg>,
    words: Vec<Word>,
    done: Vec<Vec<(Id, Option<Unit>)>>,
    locs: HashMap<Arg, Vec<Loc>>,
    stored: HashMap<Arg, (usize, usize)>,
    /// For each register component from when on it is free; `usize::MAX` for never.
    free_from: [usize; COMPONENTS],
    left: HashMap<Arg, u32>,
    /// When each register component and float of the memory is read last.
    read: HashMap<Arg, usize>,
    kept: usize,
    /// Which of several orders nodes of equal height are tried in.
    order: u32,
    undo: Undo,
}

/// A number for a node that decides between equals: its own in the first order, anything in others.
fn lot(id: Id, order: u32) -> u32 {
    let mixed = (id as u32 ^ order.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
    if order == 0 { id as u32 } else { mixed ^ mixed >> 15 }
}

/// Component of a float's vec4.
fn lane(float: u32) -> Component {
    Component::ALL[float as usize % 4]
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(nodes: &'a [Node], must: &'a HashSet<Arg>, reserved: &HashSet<u32>, order: u32) -> Self {
        let mut free_from = [0; COMPONENTS];
        for component in reserved {
            free_from[*component as usize] = usize::MAX;
        }
        let mut left = HashMap::new();
        for node in nodes {
            for arg in &node.args {
                *left.entry(*arg).or_default() += 1;
            }
        }
        Self {
            nodes,
            must,
            words: Vec::new(),
            done: Vec::new(),
            locs: HashMap::new(),
            stored: HashMap::new(),
            free_from,
            left,
            read: HashMap::new(),
            kept: 0,
            order,
            undo: Undo {
                words: Vec::new(),
                length: 0,
                locs: Vec::new(),
                stored: Vec::new(),
            },
        }
    }

    fn begin(&mut self) {
        self.undo = Undo {
            words: Vec::new(),
            length: self.words.len(),
            locs: Vec::new(),
            stored: Vec::new(),
        };
    }

    /// Where the changes stand now, to come back to.
    fn mark(&self) -> (usize, usize, usize) {
        (self.undo.words.len(), self.undo.locs.len(), self.undo.stored.len())
    }

    fn back(&mut self, (words, locs, stored): (usize, usize, usize)) {
        while self.undo.words.len() > words {
            if let Some((at, word)) = self.undo.words.pop() {
                self.words[at] = word;
            }
        }
        while self.undo.locs.len() > locs {
            if let Some(arg) = self.undo.locs.pop()
                && let Some(list) = self.locs.get_mut(&arg)
            {
                list.pop();
            }
        }
        while self.undo.stored.len() > stored {
            if let Some((arg, free)) = self.undo.stored.pop()
                && let Some((component, _)) = self.stored.remove(&arg)
            {
                self.free_from[component] = free;
            }
        }
    }

    fn abort(&mut self) {
        self.back((0, 0, 0));
        let length = self.undo.length;
        self.words.truncate(length);
        self.done.truncate(length);
    }

    fn ensure(&mut self, time: usize) {
        while self.words.len() <= time {
            self.words.push(Word::default());
            self.done.push(Vec::new());
        }
    }

    /// Changes an instruction, or leaves it as it is.
    fn change(&mut self, time: usize, f: impl FnOnce(&mut Word) -> bool) -> bool {
        let old = self.words[time].clone();
        if f(&mut self.words[time]) {
            self.undo.words.push((time, old));
            true
        } else {
            self.words[time] = old;
            false
        }
    }

    fn operation(&mut self, id: Id, time: usize, unit: Unit) -> bool {
        let node = &self.nodes[id];
        let orders: &[[usize; 2]] = match node.kind {
            Kind::Acc(_, _, true) | Kind::Mul(_) => &[[0, 1], [1, 0]],
            _ => &[[0, 1]],
        };
        for order in orders {
            let mark = self.mark();
            let mut kind = node.kind;
            if *order == [1, 0]
                && let Kind::Acc(op, [a, b], swaps) = kind
            {
                kind = Kind::Acc(op, [b, a], swaps);
            }
            let mut sources = Vec::new();
            for (at, from) in (0..node.args.len()).map(|at| (at, if node.args.len() == 2 { order[at] } else { at })) {
                let neutral = match node.kind {
                    Kind::Acc(..) | Kind::Mul(_) => at == 0,
                    Kind::Select => at > 0,
                    Kind::Function(_) => false,
                    _ => true,
                };
                match self.source(node.args[from], time, neutral) {
                    Some(source) => sources.push(source),
                    None => break,
                }
            }
            if sources.len() == node.args.len() && self.change(time, |word| word.set(&kind, unit, &sources)) {
                let loc = Loc {
                    time,
                    unit,
                    delayed: false,
                };
                if self.finished(id, loc) {
                    return true;
                }
            }
            self.back(mark);
        }
        false
    }

    /// What comes behind a unit's operation.
    fn finished(&mut self, id: Id, mut loc: Loc) -> bool {
        let node = &self.nodes[id];
        if let Kind::Function(_) = node.kind {
            self.ensure(loc.time + 1);
            let Some(argument) = self.source(node.args[0], loc.time + 1, false) else {
                return false;
            };
            if !self.change(loc.time + 1, |word| word.second_step(argument)) {
                return false;
            }
            loc = Loc {
                time: loc.time + 1,
                unit: Mul0,
                delayed: true,
            };
        }
        self.found(Arg::Node(id), loc);
        self.secured(Arg::Node(id), loc)
    }

    /// Stores a unit's result of an instruction where a node wants it.
    fn put(&mut self, id: Id, loc: Loc) -> bool {
        let node = &self.nodes[id];
        let (target, component) = match node.kind {
            Kind::Output(address, component) => (Target::Varying(address), component),
            Kind::Keep(address, component) => (Target::Register(address), component),
            Kind::Spill(vector, component) => {
                if self.words[loc.time].addressed() != Some(vector) {
                    // The address is a number of the memory, so that it is at hand at any time.
                    let Some(source) = self.direct(node.args[1], loc.time, true) else {
                        return false;
                    };
                    if !self.change(loc.time, |word| word.address(vector, source)) {
                        return false;
                    }
                }
                (Target::Temporary, component)
            }
            _ => return false,
        };
        self.change(loc.time, |word| word.store(loc.unit, target, component))
    }

    /// A store to an output, or to a register or temporary that other blocks read.
    fn stored_away(&mut self, id: Id, time: usize) -> Option<usize> {
        let node = &self.nodes[id];
        let not_before = node.overwrites().and_then(|place| self.read.get(&place).copied());
        let arg = node.args[0];
        let locs = self.locs.get(&arg).cloned().unwrap_or_default();
        let late = |loc: &Loc| !loc.delayed && loc.time >= not_before.unwrap_or(0);
        for loc in locs.into_iter().rev().filter(late) {
            let mark = self.mark();
            if self.put(id, loc) {
                return Some(loc.time);
            }
            self.back(mark);
        }
        for unit in [Pass, Acc0, Acc1, Mul0, Mul1, Complex] {
            if !self.words[time].may(&Kind::Move, unit) {
                continue;
            }
            let mark = self.mark();
            let loc = Loc {
                time,
                unit,
                delayed: false,
            };
            if let Some(source) = self.source(arg, time, true)
                && self.change(time, |word| word.set(&Kind::Move, unit, &[source]))
                && self.put(id, loc)
            {
                self.found(arg, loc);
                return Some(time);
            }
            self.back(mark);
        }
        None
    }

    /// Tries to do a node at a time.
    fn place(&mut self, id: Id, time: usize) -> bool {
        self.begin();
        self.ensure(time);
        let kind = self.nodes[id].kind;
        let units: &[Unit] = match kind {
            Kind::Acc(..) => &[Acc0, Acc1],
            Kind::Mul(_) => &[Mul0, Mul1],
            Kind::Select => &[Mul0],
            Kind::Function(_) => &[Complex],
            Kind::Clamp(_) | Kind::Step(_) => &[Pass],
            Kind::Move => &[Pass, Acc1, Acc0, Mul1, Mul0],
            Kind::Branch => &[Pass],
            Kind::Output(..) | Kind::Keep(..) | Kind::Spill(..) => {
                if let Some(at) = self.stored_away(id, time) {
                    match kind {
                        Kind::Keep(..) => self.kept = self.kept.max(at + LATENCY),
                        Kind::Spill(..) => self.kept = self.kept.max(at + TEMPORARY_LATENCY),
                        _ => {}
                    }
                    self.done[at].push((id, None));
                    return true;
                }
                self.abort();
                return false;
            }
        };
        for unit in units {
            if self.words[time].may(&kind, *unit) && self.operation(id, time, *unit) {
                // A function's result comes an instruction later.
                let has_result = !matches!(kind, Kind::Function(_));
                self.done[time].push((id, has_result.then_some(*unit)));
                return true;
            }
        }
        self.abort();
        false
    }

    /// Something is not wanted once more.
    fn used(&mut self, id: Id, time: usize) {
        for arg in &self.nodes[id].args {
            let Some(left) = self.left.get_mut(arg) else { continue };
            *left -= 1;
            if *left == 0
                && let Some((component, _)) = self.stored.get(arg)
            {
                // Its last load may come in a step behind the operation.
                self.free_from[*component] = time + 2;
            }
        }
    }

    /// Schedules all nodes; `after` are for each node those that must come behind it, and instructions between.
    pub(super) fn run(mut self, after: &[Vec<(Id, usize)>]) -> Result<Block, Stuck> {
        let count = self.nodes.len();
        let mut waiting = vec![0; count];
        let mut height = vec![0usize; count];
        for id in (0..count).rev() {
            for (to, distance) in &after[id] {
                waiting[*to] += 1;
                height[id] = height[id].max(height[*to] + (*distance).max(1));
            }
        }
        let mut earliest = vec![0usize; count];
        let mut ready: Vec<Id> = (0..count).filter(|id| waiting[*id] == 0).collect();
        let (mut time, mut idle) = (0, 0);
        while !ready.is_empty() {
            if time > MAX_BLOCK {
                return Err(Stuck::Full);
            }
            let branch_only = ready.len() == 1 && self.nodes[ready[0]].kind == Kind::Branch;
            if branch_only {
                time = time
                    .max(self.kept.saturating_sub(1))
                    .max(self.words.len().saturating_sub(1));
            }
            let expiring = |id: Id| {
                self.nodes[id].args.iter().any(|arg| {
                    let last = self.locs.get(arg).and_then(|locs| locs.last());
                    last.is_some_and(|loc| loc.time + 2 == time) && !self.stored.contains_key(arg)
                })
            };
            let mut order: Vec<_> = ready
                .iter()
                .filter(|id| earliest[**id] <= time)
                .map(|id| {
                    (
                        expiring(*id),
                        height[*id],
                        std::cmp::Reverse((lot(*id, self.order), *id)),
                    )
                })
                .collect();
            order.sort_unstable();
            let mut placed = None;
            for (.., std::cmp::Reverse((_, id))) in order.into_iter().rev() {
                if self.nodes[id].kind == Kind::Branch && !branch_only {
                    continue;
                }
                if self.place(id, time) {
                    placed = Some(id);
                    break;
                }
            }
            match placed {
                Some(id) => {
                    idle = 0;
                    ready.retain(|other| *other != id);
                    self.used(id, time);
                    for (to, distance) in &after[id] {
                        waiting[*to] -= 1;
                        earliest[*to] = earliest[*to].max(time + distance);
                        if waiting[*to] == 0 {
                            ready.push(*to);
                        }
                    }
                }
                None => {
                    time += 1;
                    idle += 1;
                    if idle > MAX_IDLE {
                        return Err(self.stuck(&ready));
                    }
                }
            }
        }
        let length = self.words.len().max(self.kept);
        if length > 0 {
            self.ensure(length - 1);
        }
        Ok(Block {
            words: self.words,
            done: self.done,
        })
    }

    /// What the nodes that wait cannot reach.
    fn stuck(&self, ready: &[Id]) -> Stuck {
        let mut missing: Vec<Arg> = Vec::new();
        for id in ready {
            for arg in &self.nodes[*id].args {
                if matches!(arg, Arg::Node(_)) && !self.stored.contains_key(arg) && !self.must.contains(arg) {
                    missing.push(*arg);
                }
            }
        }
        if missing.is_empty() {
            Stuck::Full
        } else {
            Stuck::Store(missing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utgard::gp::{AccOp, ComplexOp};

    /// Nodes of every kind that read earlier ones, attributes, registers and the memory.
    fn random_nodes(random: &mut fastrand::Rng) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        for id in 0..random.usize(4..28) {
            let readable: Vec<Id> = (0..id)
                .filter(|other| !matches!(nodes[*other].kind, Kind::Output(..) | Kind::Keep(..)))
                .collect();
            let arg = |random: &mut fastrand::Rng| match random.u8(..6) {
                0 => Arg::Memory(random.u32(..12)),
                1 => Arg::Attribute(random.u32(..12)),
                2 => Arg::Register(random.u32(..8)),
                _ if readable.is_empty() => Arg::Attribute(0),
                _ => Arg::Node(readable[random.usize(..readable.len())]),
            };
            let component = Component::ALL[random.usize(..4)];
            let (kind, count) = match random.u8(..10) {
                0..=2 => (Kind::Acc(AccOp::Add, [random.bool(), false], true), 2),
                3 => (Kind::Acc(AccOp::Floor, [false; 2], false), 1),
                4 | 5 => (Kind::Mul(random.bool()), 2),
                6 => (Kind::Select, 3),
                7 => (Kind::Function(ComplexOp::Rcp), 1),
                8 => (Kind::Output(random.u16(1..4), component), 1),
                _ => (Kind::Keep(random.u16(..2), component), 1),
            };
            nodes.push(Node {
                kind,
                args: (0..count).map(|_| arg(random)).collect(),
                span: None,
                named: Vec::new(),
            });
        }
        nodes
    }

    /// What a scheduler has done so far.
    fn state(scheduler: &Scheduler<'_>) -> [String; 4] {
        let mut locs: Vec<String> = scheduler
            .locs
            .iter()
            .filter(|(_, locs)| !locs.is_empty())
            .map(|(arg, locs)| format!("{arg:?} {locs:?}"))
            .collect();
        let mut stored: Vec<String> = scheduler.stored.iter().map(|stored| format!("{stored:?}")).collect();
        locs.sort();
        stored.sort();
        let (words, free) = (&scheduler.words, &scheduler.free_from);
        [
            format!("{words:?}"),
            locs.join(" "),
            stored.join(" "),
            format!("{free:?}"),
        ]
    }

    /// What finds no place leaves nothing behind; what was done for others stays where it is.
    #[test]
    fn what_finds_no_place_changes_nothing() {
        let mut random = fastrand::Rng::with_seed(13);
        let (mut placed, mut refused) = (0, 0);
        for _ in 0..150 {
            let nodes = random_nodes(&mut random);
            let must: HashSet<Arg> = (0..nodes.len())
                .filter(|_| random.u8(..4) == 0)
                .map(Arg::Node)
                .collect();
            let reserved = (0..8).collect();
            let mut scheduler = Scheduler::new(&nodes, &must, &reserved, 0);
            let mut first = 0;
            for id in 0..nodes.len() {
                let mut time = first;
                loop {
                    let before = state(&scheduler);
                    if scheduler.place(id, time) {
                        placed += 1;
                        break;
                    }
                    assert_eq!(state(&scheduler), before, "{id} at {time} of {nodes:?}");
                    refused += 1;
                    time += 1;
                    if time > first + 12 {
                        break;
                    }
                }
                // Others come later, so that some are out of reach.
                first = if random.u8(..3) == 0 {
                    time
                } else {
                    time.saturating_sub(1)
                };
            }
            for arg in &must {
                let is_done = scheduler.locs.get(arg).is_some_and(|locs| !locs.is_empty());
                assert!(
                    !is_done || scheduler.stored.contains_key(arg),
                    "{arg:?} was to be stored"
                );
            }
        }
        println!("{placed} placed, {refused} times none was found");
        assert!(placed > 1000 && refused > 1000, "{placed} {refused}");
    }

    /// Nodes of equal height come in the order of their numbers first; every other order is one of its own.
    #[test]
    fn orders_of_equals_differ() {
        let order = |number: u32| {
            let mut all: Vec<Id> = (0..12).collect();
            all.sort_by_key(|id| lot(*id, number));
            all
        };
        assert_eq!(order(0), (0..12).collect::<Vec<_>>());
        let all: HashSet<Vec<Id>> = (0..16).map(order).collect();
        assert_eq!(all.len(), 16);
    }
}
