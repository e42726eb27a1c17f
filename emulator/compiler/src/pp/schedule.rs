//! Packs nodes into instructions, from a block's end to its beginning: each goes as late as its readers allow, in any
//! unit that has its operation. Results are handed on inside an instruction from stage to stage.

use super::node::{CellMap, End, Kind, LoadAt, Node, NodeBlock, Operand, ReadAt, Src, stage};
use num::half;
use std::collections::BinaryHeap;
use std::ops::Deref;
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
    pub(super) fn stage(self) -> u8 {
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

/// Constants of one of an instruction's two fields, as halves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Halves {
    halves: [u16; 4],
    count: usize,
}

impl Halves {
    /// Adds a half unless it is there; false where there is no room for it.
    fn add(&mut self, half: u16) -> bool {
        if self.contains(&half) {
            return true;
        }
        let Some(free) = self.halves.get_mut(self.count) else {
            return false;
        };
        *free = half;
        self.count += 1;
        true
    }
}

impl Deref for Halves {
    type Target = [u16];

    fn deref(&self) -> &[u16] {
        &self.halves[..self.count]
    }
}

/// What an instruction's nodes take of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// The load.
    pub load: Option<LoadAt>,
    /// There is a look-up.
    texture: bool,
    /// The varying unit is busy.
    varying: bool,
    /// Units that are busy, a bit each.
    busy: u8,
    /// Constants.
    pub constants: [Halves; 2],
}

impl Taken {
    fn is_busy(&self, unit: Unit) -> bool {
        self.busy >> unit as u8 & 1 == 1
    }

    fn occupy(&mut self, unit: Unit) {
        self.busy |= 1 << unit as u8;
    }
}

/// An instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Nodes and the units their results come from.
    pub nodes: Vec<(usize, Unit)>,
    /// What they take.
    pub taken: Taken,
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

/// Constants of an operand, in ascending order.
fn constants(operand: &Operand) -> Halves {
    let mut halves = Halves::default();
    for src in &operand.comps {
        if let Src::Const(bits) = src {
            halves.add(half_of(*bits));
        }
    }
    halves.halves[..halves.count].sort_unstable();
    halves
}

/// Operands of a node that may hold constants.
fn operands(node: &Node) -> impl Iterator<Item = &Operand> {
    node.src.iter().chain(node.kind.compared())
}

/// Places constants in a field that has room for them.
fn place_constants(fields: &mut [Halves; 2], halves: &[u16]) -> bool {
    if halves.is_empty() {
        return true;
    }
    for field in fields {
        let mut wider = *field;
        if halves.iter().all(|half| wider.add(*half)) {
            *field = wider;
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

/// What must be in front of what in a block, whatever the mode.
pub(super) struct Graph {
    /// For each node those that must not be in front of it, and why.
    after: Vec<Vec<(usize, Edge)>>,
    /// For each node those that it must not be in front of.
    before: Vec<Vec<usize>>,
    /// Earliest time of each node if units were free.
    earliest: Vec<u32>,
}

/// The graph of a block's nodes.
pub(super) fn graph(nodes: &[Node]) -> Graph {
    let count = nodes.len();
    let mut after: Vec<Vec<(usize, Edge)>> = vec![Vec::new(); count];
    let mut wrote: CellMap<usize> = CellMap::default();
    let mut readers: CellMap<Vec<(usize, ReadAt)>> = CellMap::default();
    let (mut stores, mut loads): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, node) in nodes.iter().enumerate() {
        for (cell, read) in node.reads() {
            if let Some(writer) = wrote.get(&cell) {
                after[*writer].push((at, Edge::Raw(read)));
            }
            readers.entry(cell).or_default().push((at, read));
        }
        for cell in &node.dst {
            if let Some(writer) = wrote.insert(*cell, at).filter(|writer| *writer != at) {
                after[writer].push((at, Edge::Waw));
            }
            // Those that read the old value are in front of this write from now on.
            for (reader, read) in readers.get_mut(cell).map(std::mem::take).into_iter().flatten() {
                if reader == at {
                    readers.entry(*cell).or_default().push((at, read));
                } else {
                    after[reader].push((at, Edge::War(read)));
                }
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
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, edges) in after.iter().enumerate() {
        for (to, _) in edges {
            before[*to].push(from);
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
    Graph {
        after,
        before,
        earliest,
    }
}

/// Packs a block. Words are counted from the end while it is built.
pub(super) fn pack(block: &NodeBlock, graph: &Graph, mode: Mode) -> Scheduled {
    let nodes = &block.nodes;
    let priority = |at: usize| {
        let order = nodes[at].order;
        let first = if mode.in_order { order } else { graph.earliest[at] };
        (first, order, at)
    };
    let mut waiting: Vec<usize> = graph.after.iter().map(Vec::len).collect();
    let ready = (0..nodes.len()).filter(|at| waiting[*at] == 0);
    let mut ready: BinaryHeap<_> = ready.map(priority).collect();
    let mut placed: Vec<Option<(usize, Unit)>> = vec![None; nodes.len()];
    let mut words: Vec<Word> = Vec::new();
    if let End::Branch { a, b, .. } = &block.end {
        let mut word = Word::default();
        for src in [a, b] {
            place_constants(&mut word.taken.constants, &constants(&Operand::one(*src)));
        }
        words.push(word);
    }
    let floor = if block.end == End::Discard { 1 } else { 0 };
    if floor == 1 {
        words.push(Word::default());
    }
    let mut lowest = floor;
    while let Some((.., at)) = ready.pop() {
        let node = &nodes[at];
        let behind = || {
            graph.after[at]
                .iter()
                .filter_map(|(to, edge)| Some((edge, placed[*to]?)))
        };
        // Not behind what reads it; words are counted from the end.
        let first = behind().fold(lowest, |most, (_, (word, _))| most.max(word));
        // In front of that word nothing is in the way but what units are busy with.
        let units = units(node, mode);
        let legal = |number: usize, unit: Unit| {
            number > first || behind().all(|(edge, other)| allowed(*edge, (number, unit), other, mode))
        };
        let mut number = first;
        let (unit, taken) = loop {
            if number == words.len() {
                words.push(Word::default());
            }
            let word = &words[number].taken;
            let mut fits = units.iter().filter(|unit| legal(number, **unit));
            if let Some(fit) = fits.find_map(|unit| Some((*unit, taken_with(word, node, *unit)?))) {
                break fit;
            }
            number += 1;
        };
        words[number].taken = taken;
        words[number].nodes.push((at, unit));
        placed[at] = Some((number, unit));
        if mode.in_order {
            lowest = number.saturating_sub(1).max(floor);
        }
        for from in &graph.before[at] {
            waiting[*from] -= 1;
            if waiting[*from] == 0 {
                ready.push(priority(*from));
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

/// What of an instruction is taken with one more node, in a unit, if there is room.
fn taken_with(word: &Taken, node: &Node, unit: Unit) -> Option<Taken> {
    if word.is_busy(unit) || unit == Unit::Varying && word.varying {
        return None;
    }
    let mut new = *word;
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
    if unit == Unit::Store && new.is_busy(Unit::Combine) || unit == Unit::Combine && new.is_busy(Unit::Store) {
        return None;
    }
    if let Kind::Select(_) = node.kind {
        if new.is_busy(Unit::FloatMul) {
            return None;
        }
        new.occupy(Unit::FloatMul);
    }
    if !operands(node).all(|operand| place_constants(&mut new.constants, &constants(operand))) {
        return None;
    }
    new.occupy(unit);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::super::node::{Cond, Coord, Tex, VaryingLoad};
    use super::*;
    use std::collections::BTreeSet;
    use utgard::pp::{AccOp, Alignment, Condition, ScalarFunction, VaryingKind};

    #[test]
    fn fields_hold_four_halves_each() {
        for count in 0..7usize {
            let halves: Vec<u16> = (0..count as u16).collect();
            let mut field = Halves::default();
            for (at, half) in halves.iter().enumerate() {
                assert_eq!(field.add(*half), at < 4);
            }
            // What is there takes no more room.
            assert!(halves.iter().take(4).all(|half| field.add(*half)));
            assert_eq!(*field, halves[..count.min(4)]);
        }
        // Operands after one another: each whole in a field, the first that has room.
        type Row<'a> = (&'a [&'a [u16]], [&'a [u16]; 2], bool);
        let rows: [Row<'_>; 9] = [
            (&[&[]], [&[], &[]], true),
            (&[&[1, 2], &[2, 3]], [&[1, 2, 3], &[]], true),
            (&[&[1, 2, 3], &[4]], [&[1, 2, 3, 4], &[]], true),
            (&[&[1, 2, 3], &[4, 5]], [&[1, 2, 3], &[4, 5]], true),
            (&[&[1, 2, 3, 4], &[1, 5]], [&[1, 2, 3, 4], &[1, 5]], true),
            (
                &[&[1, 2, 3, 4], &[5, 6, 7, 8], &[8, 5]],
                [&[1, 2, 3, 4], &[5, 6, 7, 8]],
                true,
            ),
            (
                &[&[1, 2, 3, 4], &[5, 6, 7, 8], &[1, 8]],
                [&[1, 2, 3, 4], &[5, 6, 7, 8]],
                false,
            ),
            (&[&[1, 2, 3], &[4, 5, 6], &[7]], [&[1, 2, 3, 7], &[4, 5, 6]], true),
            (
                &[&[1, 2, 3, 4], &[5, 6, 7], &[8, 9]],
                [&[1, 2, 3, 4], &[5, 6, 7]],
                false,
            ),
        ];
        for (operands, wanted, fits) in rows {
            let mut fields = [Halves::default(); 2];
            let placed = operands.iter().all(|halves| place_constants(&mut fields, halves));
            assert_eq!(
                (placed, fields.each_ref().map(|field| &**field)),
                (fits, wanted),
                "{operands:?}"
            );
        }
    }

    /// One source for each component, of four cells or of constants.
    fn operand(random: &mut fastrand::Rng, count: usize, may_be_constant: bool) -> Operand {
        let is_constant = may_be_constant && random.u8(..3) == 0;
        let comps = (0..count).map(|_| match is_constant {
            true => Src::Const((random.u8(..12) as f32).to_bits()),
            false => Src::Cell(random.u32(..10)),
        });
        Operand {
            comps: comps.collect(),
            negate: random.u8(..4) == 0,
            absolute: random.u8(..4) == 0,
        }
    }

    fn random_node(random: &mut fastrand::Rng) -> Node {
        let count = random.usize(1..=3);
        // Different cells.
        let first = random.u32(..10);
        let dst: Vec<u32> = (0..count as u32).map(|at| (first + at) % 10).collect();
        let two = |random: &mut fastrand::Rng, count| vec![operand(random, count, true), operand(random, count, true)];
        let load = |temporary: bool, index: i32| LoadAt {
            temporary,
            index,
            alignment: Alignment::Float,
            offset: None,
        };
        let varying = VaryingLoad {
            kind: VaryingKind::Plain,
            index: 0,
            alignment: Alignment::Vec2,
        };
        let alu = |mul, acc| Kind::Alu { mul, acc };
        match random.u8(..11) {
            0 => Node::new(alu(Some(MulOp::Mul), None), dst, two(random, count), None),
            1 => Node::new(alu(None, Some(AccOp::Add)), dst, two(random, count), None),
            2 => Node::new(alu(Some(MulOp::Min), Some(AccOp::Min)), dst, two(random, count), None),
            3 => Node::mov(dst, operand(random, count, true), None),
            4 => Node::new(Kind::Sum, dst[..1].to_vec(), vec![operand(random, 3, false)], None),
            5 => {
                let cond = match random.bool() {
                    true => Cond::Value(operand(random, 1, false)),
                    false => Cond::Compare(MulOp::Gt, operand(random, 1, true), operand(random, 1, true)),
                };
                Node::new(Kind::Select(cond), dst, two(random, count), None)
            }
            6 => {
                let function = Kind::Function(ScalarFunction::Rcp);
                Node::new(function, dst[..1].to_vec(), vec![operand(random, 1, false)], None)
            }
            7 => Node::new(Kind::Varying(varying), dst, Vec::new(), None),
            8 => {
                let store = Kind::Store {
                    index: random.i32(-3..0),
                    offset: None,
                };
                Node::new(store, Vec::new(), vec![operand(random, 1, false)], None)
            }
            9 => Node {
                load: Some(load(random.bool(), random.i32(-3..0))),
                ..Node::mov(dst[..1].to_vec(), Operand::one(Src::Load(0)), None)
            },
            _ => Node {
                tex: Some(Tex {
                    unit: 0,
                    cube: false,
                    coord: match random.bool() {
                        true => Coord::Varying(varying),
                        false => Coord::Register(operand(random, 2, false)),
                    },
                    lod: random.bool().then(|| (random.u32(..10), true)),
                }),
                ..Node::mov(dst[..1].to_vec(), Operand::one(Src::Tex(0)), None)
            },
        }
    }

    /// The stage in which a node in a unit reads a cell first and last.
    fn read_stages(node: &Node, unit: Unit, cell: u32) -> Option<(u8, u8)> {
        let stages: BTreeSet<u8> = node
            .reads()
            .filter(|(read, _)| *read == cell)
            .map(|(_, at)| match at {
                ReadAt::Stage(stage) => stage,
                ReadAt::Unit => unit.stage(),
            })
            .collect();
        Some((*stages.first()?, *stages.last()?))
    }

    /// What one node and a later one of the block owe each other, where they stand: word, and unit.
    fn in_order(
        (a, [at_a, word_a], unit_a): (&Node, [usize; 2], Unit),
        (b, [at_b, word_b], unit_b): (&Node, [usize; 2], Unit),
        nodes: &[Node],
        conservative: bool,
    ) -> bool {
        if word_a > word_b {
            let stores = |node: &Node| matches!(node.kind, Kind::Store { .. });
            let loads = |node: &Node| node.load.is_some_and(|load| load.temporary);
            let apart = stores(a) && (loads(b) || stores(b)) || loads(a) && stores(b);
            let reads = |x: &Node, y: &Node| x.reads().any(|(cell, _)| y.dst.contains(&cell));
            let hidden = |cell: &u32| nodes[at_a + 1..at_b].iter().any(|node| node.dst.contains(cell));
            let raw = a
                .dst
                .iter()
                .any(|cell| !hidden(cell) && b.reads().any(|(read, _)| read == *cell));
            return !(apart || raw || reads(a, b) || a.dst.iter().any(|cell| b.dst.contains(cell)));
        }
        if word_a < word_b {
            return true;
        }
        let stores = |node: &Node| matches!(node.kind, Kind::Store { .. });
        if stores(a) && (stores(b) || b.load.is_some_and(|load| load.temporary)) {
            return false;
        }
        let handed_on = matches!(
            (unit_a, unit_b),
            (Unit::VecMul, Unit::VecAcc) | (Unit::FloatMul, Unit::FloatAcc) | (Unit::Varying, _)
        );
        (0..10).all(|cell| {
            let hidden = nodes[at_a + 1..at_b].iter().any(|node| node.dst.contains(&cell));
            let (wrote, writes) = (a.dst.contains(&cell), b.dst.contains(&cell));
            let raw = !wrote
                || hidden
                || read_stages(b, unit_b, cell)
                    .is_none_or(|(first, _)| unit_a.stage() < first && (handed_on || !conservative));
            let war = !writes || read_stages(a, unit_a, cell).is_none_or(|(_, last)| last <= unit_b.stage());
            let waw = !wrote || !writes || unit_a.stage() < unit_b.stage();
            raw && war && waw
        })
    }

    #[test]
    fn instructions_keep_the_order_that_nodes_need() {
        let mut random = fastrand::Rng::with_seed(9);
        let (mut words, mut packed) = (0, 0);
        for round in 0..600 {
            let mut nodes: Vec<Node> = (0..random.usize(1..12)).map(|_| random_node(&mut random)).collect();
            for (at, node) in nodes.iter_mut().enumerate() {
                node.order = at as u32;
            }
            let end = match round % 3 {
                0 => End::Stop,
                1 => End::Discard,
                _ => End::Branch {
                    a: Src::Cell(0),
                    b: Src::Const(1.5f32.to_bits()),
                    condition: Condition::Lt,
                    then: 0,
                    other: 1,
                },
            };
            let block = NodeBlock { nodes, end };
            let graph = graph(&block.nodes);
            for mode in [(false, false), (true, false), (false, true), (true, true)] {
                let mode = Mode {
                    in_order: mode.0,
                    conservative: mode.1,
                };
                let scheduled = pack(&block, &graph, mode);
                let mut places = vec![None; block.nodes.len()];
                for (number, word) in scheduled.words.iter().enumerate() {
                    let mut busy = BTreeSet::new();
                    for (node, unit) in &word.nodes {
                        assert!(places[*node].replace((number, *unit)).is_none());
                        assert!(units(&block.nodes[*node], mode).contains(unit));
                        assert!(busy.insert(*unit as u8), "{unit:?} does two things");
                        if let Kind::Select(_) = block.nodes[*node].kind {
                            assert!(busy.insert(Unit::FloatMul as u8), "a select's condition has its unit");
                        }
                    }
                    let has = |wanted: Unit| word.nodes.iter().any(|(_, unit)| *unit == wanted);
                    assert!(!(has(Unit::Store) && has(Unit::Combine)));
                    let nodes = || word.nodes.iter().map(|(node, _)| &block.nodes[*node]);
                    let looks = nodes().filter(|node| node.tex.is_some()).count();
                    assert!(looks + usize::from(has(Unit::Varying)) <= 1);
                    assert!(
                        nodes()
                            .filter_map(|node| node.load)
                            .all(|load| word.taken.load == Some(load))
                    );
                    for operand in nodes().flat_map(operands) {
                        let halves = constants(operand);
                        let holds = |field: &Halves| halves.iter().all(|half| field.contains(half));
                        assert!(word.taken.constants.iter().any(holds), "{operand:?}");
                    }
                }
                let places: Vec<(usize, Unit)> = places.into_iter().map(|place| place.expect("a place")).collect();
                for b in 0..places.len() {
                    for a in 0..b {
                        let of = |at: usize| (&block.nodes[at], [at, places[at].0], places[at].1);
                        assert!(
                            in_order(of(a), of(b), &block.nodes, mode.conservative),
                            "{a} at {:?} and {b} at {:?} of {:?}",
                            places[a],
                            places[b],
                            block.nodes
                        );
                    }
                }
                let last = scheduled.words.last().expect("an instruction");
                match block.end {
                    End::Discard => assert!(last.nodes.is_empty(), "a discard's instruction does nothing else"),
                    End::Branch { .. } => assert!(last.taken.constants[0].contains(&half_of(1.5f32.to_bits()))),
                    _ => {}
                }
                (words, packed) = (words + scheduled.words.len(), packed + places.len());
            }
        }
        // Far fewer instructions than operations.
        println!("{packed} nodes in {words} instructions");
        assert!(3 * words < 2 * packed, "{packed} nodes in {words} instructions");
    }

    /// Whether the combine unit can do a product: one number for all components, and the other operand without signs.
    #[test]
    fn combines_take_one_number_times_a_vector() {
        let cells = |first: u32, same: bool, negate: bool| Operand {
            comps: (0..3)
                .map(|at| Src::Cell(if same { first } else { first + at }))
                .collect(),
            negate,
            absolute: false,
        };
        let absolute = Operand {
            absolute: true,
            ..cells(4, false, false)
        };
        let (vector, other) = (cells(0, false, false), cells(4, false, false));
        let (number, minus) = (cells(8, true, false), cells(8, true, true));
        let negative = cells(4, false, true);
        for (a, b, factor) in [
            (&vector, &other, None),
            (&number, &vector, Some(0)),
            (&vector, &number, Some(1)),
            (&minus, &vector, Some(0)),
            (&vector, &minus, Some(1)),
            (&number, &negative, None),
            (&number, &absolute, None),
            (&number, &minus, Some(1)),
            (&number, &number, Some(0)),
        ] {
            let product = |op: MulOp, modifier: Modifier| {
                let kind = Kind::Alu {
                    mul: Some(op),
                    acc: None,
                };
                let node = Node::new(kind, vec![10, 11, 12], vec![a.clone(), b.clone()], None);
                scalar_factor(&Node { modifier, ..node })
            };
            assert_eq!(product(MulOp::Mul, Modifier::None), factor, "{a:?} {b:?}");
            assert_eq!(product(MulOp::Min, Modifier::None), None);
            assert_eq!(product(MulOp::Mul, Modifier::Saturate), None);
        }
    }
}
