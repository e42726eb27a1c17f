//! Puts nodes into instructions, from a block's beginning to its end. Results are on the bypass network for two
//! instructions; when something is wanted later, moves and register stores are put into free places of the instructions
//! between, which stand already.

use super::node::{Arg, Id, Kind, Node};
use super::word::{ACC0, ACC1, COMPLEX, MUL0, MUL1, NEUTRAL, PASS, Word};
use std::collections::{HashMap, HashSet};

/// Where a result is on the bypass network.
#[derive(Clone, Copy, Debug)]
struct Loc {
    time: usize,
    unit: u8,
    /// It can be read two instructions on only, and not be stored.
    delayed: bool,
}

/// Register components.
pub const COMPONENTS: usize = 64;

/// Instructions from a register's store to its first load.
const LATENCY: usize = 3;

/// Instructions without anything placed, after which something is out of reach for good.
const PATIENCE: usize = 6;

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
    /// For each instruction the nodes that are done in it.
    pub done: Vec<Vec<Id>>,
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
    done: Vec<Vec<Id>>,
    locs: HashMap<Arg, Vec<Loc>>,
    stored: HashMap<Arg, (usize, usize)>,
    /// For each register component from when on it is free; `usize::MAX` for never.
    free_from: [usize; COMPONENTS],
    left: HashMap<Arg, u32>,
    read: HashMap<u32, usize>,
    kept: usize,
    undo: Undo,
}

fn p1(unit: u8) -> u16 {
    match unit {
        ACC0 => 16,
        ACC1 => 17,
        MUL0 => 18,
        MUL1 => 19,
        PASS => 20,
        _ => NEUTRAL,
    }
}

fn p2(unit: u8) -> Option<u16> {
    Some(match unit {
        ACC0 => 24,
        ACC1 => 25,
        MUL0 => 26,
        MUL1 => 27,
        PASS => 23,
        _ => return None,
    })
}

impl<'a> Scheduler<'a> {
    pub fn new(nodes: &'a [Node], must: &'a HashSet<Arg>, reserved: &HashSet<u32>) -> Self {
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

    fn found(&mut self, arg: Arg, loc: Loc) {
        self.locs.entry(arg).or_default().push(loc);
        self.undo.locs.push(arg);
    }

    /// A source number for something at a time, from where it is.
    fn direct(&mut self, arg: Arg, time: usize, neutral: bool) -> Option<u16> {
        for loc in self.locs.get(&arg).into_iter().flatten().rev() {
            match time.checked_sub(loc.time) {
                Some(1) if !loc.delayed && (neutral || loc.unit != COMPLEX) => return Some(p1(loc.unit)),
                Some(2) => {
                    if let Some(source) = p2(loc.unit) {
                        return Some(source);
                    }
                }
                _ => {}
            }
        }
        match arg {
            Arg::Memory(float) => {
                let source = 12 + (float % 4) as u16;
                return self.change(time, |word| word.memory(float / 4)).then_some(source);
            }
            Arg::Attribute(float) => {
                let (vector, lane) = (float / 4, (float % 4) as u16);
                if time > 0 && self.words[time - 1].loaded() == Some((true, vector)) {
                    return Some(28 + lane);
                }
                return self.change(time, |word| word.port0(true, vector)).then_some(lane);
            }
            Arg::Register(component) => return self.register(component as usize, time, true),
            Arg::Node(_) => {}
        }
        let (component, since) = *self.stored.get(&arg)?;
        if time < since + LATENCY {
            return None;
        }
        let before = time > since + LATENCY;
        self.register(component, time, before)
    }

    fn register(&mut self, component: usize, time: usize, before: bool) -> Option<u16> {
        let (vector, lane) = ((component / 4) as u32, (component % 4) as u16);
        let source = if self.change(time, |word| word.loaded() == Some((false, vector))) {
            lane
        } else if time > 0 && before && self.words[time - 1].loaded() == Some((false, vector)) {
            28 + lane
        } else if self.change(time, |word| word.port1(vector)) {
            4 + lane
        } else if self.change(time, |word| word.port0(false, vector)) {
            lane
        } else {
            return None;
        };
        let last = self.read.entry(component as u32).or_default();
        *last = (*last).max(time);
        Some(source)
    }

    /// A move in a free unit of an instruction.
    fn moved(&mut self, arg: Arg, time: usize, units: &[u8]) -> bool {
        for unit in units {
            if !self.words[time].may(&Kind::Move, *unit) {
                continue;
            }
            let mark = self.mark();
            if let Some(source) = self.direct(arg, time, true)
                && self.change(time, |word| word.set(&Kind::Move, *unit, &[source]))
            {
                self.found(
                    arg,
                    Loc {
                        time,
                        unit: *unit,
                        delayed: false,
                    },
                );
                return true;
            }
            self.back(mark);
        }
        false
    }

    /// A source number for something at a time, with moves and stores where they are needed.
    fn source(&mut self, arg: Arg, time: usize, neutral: bool) -> Option<u16> {
        let mark = self.mark();
        if let Some(source) = self.direct(arg, time, neutral) {
            return Some(source);
        }
        self.back(mark);
        if let Some(source) = self.chained(arg, time, neutral, 1) {
            return Some(source);
        }
        if let Some(source) = self.through_register(arg, time, neutral) {
            return Some(source);
        }
        self.chained(arg, time, neutral, 6)
    }

    /// Along moves, at most so many.
    fn chained(&mut self, arg: Arg, time: usize, neutral: bool, most: usize) -> Option<u16> {
        const LASTING: [u8; 5] = [PASS, ACC1, ACC0, MUL1, MUL0];
        const ANY: [u8; 6] = [PASS, COMPLEX, ACC1, ACC0, MUL1, MUL0];
        let mark = self.mark();
        for _ in 0..most {
            let latest = self.locs.get(&arg).and_then(|locs| locs.last()).map(|loc| loc.time);
            let last = time.checked_sub(1)?;
            let onwards = |from: usize| (from + 1..=(from + 2).min(last)).rev();
            let stops: Vec<usize> = match (arg, latest) {
                (Arg::Node(_), None) => return None,
                (Arg::Node(_), Some(from)) => onwards(from).collect(),
                // From a port or the uniform memory: near enough, or on from where it was moved before.
                (_, from) => {
                    let near = (last.saturating_sub(1)..=last).rev();
                    near.chain(from.into_iter().flat_map(onwards)).collect()
                }
            };
            let moved = stops.into_iter().any(|stop| {
                let units: &[u8] = if stop == last && neutral { &ANY } else { &LASTING };
                self.moved(arg, stop, units)
            });
            if !moved {
                break;
            }
            let inner = self.mark();
            if let Some(source) = self.direct(arg, time, neutral) {
                return Some(source);
            }
            self.back(inner);
        }
        self.back(mark);
        None
    }

    /// Stored when it was made, and loaded now.
    fn through_register(&mut self, arg: Arg, time: usize, neutral: bool) -> Option<u16> {
        if self.stored.contains_key(&arg) || !matches!(arg, Arg::Node(_)) {
            return None;
        }
        let locs = self.locs.get(&arg)?.clone();
        for loc in locs {
            if loc.delayed || time < loc.time + LATENCY {
                continue;
            }
            for component in 0..COMPONENTS {
                let mark = self.mark();
                if self.keep(arg, loc, component) {
                    if let Some(source) = self.direct(arg, time, neutral) {
                        return Some(source);
                    }
                    self.back(mark);
                }
            }
        }
        None
    }

    /// Stores what a unit makes in a free register component.
    fn keep(&mut self, arg: Arg, loc: Loc, component: usize) -> bool {
        if self.free_from[component] > loc.time {
            return false;
        }
        let (register, lane) = ((component / 4) as u16, (component % 4) as u8);
        if !self.change(loc.time, |word| word.store(loc.unit, false, register, lane)) {
            return false;
        }
        self.undo.stored.push((arg, self.free_from[component]));
        self.free_from[component] = usize::MAX;
        self.stored.insert(arg, (component, loc.time));
        true
    }

    /// Stores a result as soon as it is there, when it must be.
    fn secured(&mut self, arg: Arg, loc: Loc) -> bool {
        if !self.must.contains(&arg) {
            return true;
        }
        let mut loc = loc;
        if loc.delayed {
            let time = loc.time + 2;
            self.ensure(time);
            if !self.moved(arg, time, &[PASS, ACC1, ACC0]) {
                return false;
            }
            let Some(last) = self.locs.get(&arg).and_then(|locs| locs.last()) else {
                return false;
            };
            loc = *last;
        }
        // Components next to each other, so that one load brings several.
        (0..COMPONENTS).any(|component| {
            let mark = self.mark();
            let kept = self.keep(arg, loc, component);
            if !kept {
                self.back(mark);
            }
            kept
        })
    }

    fn operation(&mut self, id: Id, time: usize, unit: u8) -> bool {
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
                unit: MUL0,
                delayed: true,
            };
        }
        self.found(Arg::Node(id), loc);
        self.secured(Arg::Node(id), loc)
    }

    /// A store to an output or to a register that other blocks read.
    fn stored_away(&mut self, id: Id, time: usize) -> Option<usize> {
        let node = &self.nodes[id];
        let (varying, address, component, not_before) = match node.kind {
            Kind::Output(address, component) => (true, address, component, 0),
            Kind::Keep(address, component) => {
                let place = u32::from(address) * 4 + u32::from(component);
                (false, address, component, self.read.get(&place).copied().unwrap_or(0))
            }
            _ => return None,
        };
        let arg = node.args[0];
        let locs = self.locs.get(&arg).cloned().unwrap_or_default();
        for loc in locs
            .into_iter()
            .rev()
            .filter(|loc| !loc.delayed && loc.time >= not_before)
        {
            if self.change(loc.time, |word| word.store(loc.unit, varying, address, component)) {
                return Some(loc.time);
            }
        }
        for unit in [PASS, ACC0, ACC1, MUL0, MUL1, COMPLEX] {
            if !self.words[time].may(&Kind::Move, unit) {
                continue;
            }
            let mark = self.mark();
            if let Some(source) = self.source(arg, time, true)
                && self.change(time, |word| word.set(&Kind::Move, unit, &[source]))
                && self.change(time, |word| word.store(unit, varying, address, component))
            {
                let loc = Loc {
                    time,
                    unit,
                    delayed: false,
                };
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
        let units: &[u8] = match kind {
            Kind::Acc(..) => &[ACC0, ACC1],
            Kind::Mul(_) => &[MUL0, MUL1],
            Kind::Select => &[MUL0],
            Kind::Function(_) => &[COMPLEX],
            Kind::Clamp(_) | Kind::Step(_) => &[PASS],
            Kind::Move => &[PASS, ACC1, ACC0, MUL1, MUL0],
            Kind::Branch => &[PASS],
            Kind::Output(..) | Kind::Keep(..) => {
                if let Some(at) = self.stored_away(id, time) {
                    if let Kind::Keep(..) = kind {
                        self.kept = self.kept.max(at + LATENCY);
                    }
                    self.done[at].push(id);
                    return true;
                }
                self.abort();
                return false;
            }
        };
        for unit in units {
            if self.words[time].may(&kind, *unit) && self.operation(id, time, *unit) {
                self.done[time].push(id);
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
    pub fn run(mut self, after: &[Vec<(Id, usize)>]) -> Result<Block, Stuck> {
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
            let mut order: Vec<(bool, usize, std::cmp::Reverse<Id>)> = ready
                .iter()
                .filter(|id| earliest[**id] <= time)
                .map(|id| (expiring(*id), height[*id], std::cmp::Reverse(*id)))
                .collect();
            order.sort_unstable();
            let mut placed = None;
            for (.., std::cmp::Reverse(id)) in order.into_iter().rev() {
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
                    if idle > PATIENCE {
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
