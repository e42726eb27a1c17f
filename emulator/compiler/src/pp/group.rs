//! Puts nodes together: copies that need not be, look-ups with what uses them, components of one vector operation.

use super::live::{self, Ranges};
use super::node::{Cell, Coord, Kind, Node, Nodes, Operand, Src, Tex};
use super::spill::AGAIN;
use std::collections::{HashMap, HashSet};
use utgard::pp::{AccOp, Modifier};

/// Cells that share a register.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    of: Vec<u32>,
    members: Vec<Vec<Cell>>,
}

impl Classes {
    fn new(cells: u32) -> Self {
        Self {
            of: (0..cells).collect(),
            members: (0..cells).map(|cell| vec![cell]).collect(),
        }
    }

    /// Cells of a cell's class.
    pub fn members(&self, cell: Cell) -> &[Cell] {
        &self.members[self.of[cell as usize] as usize]
    }

    /// Number of a cell's class.
    pub fn class(&self, cell: Cell) -> u32 {
        self.of[cell as usize]
    }

    /// Makes every set of cells share a register, or changes nothing.
    fn share(&mut self, sets: &[Vec<Cell>], lanes: &HashMap<Cell, u8>) -> bool {
        let mut undo: Vec<(u32, Vec<Cell>, u32, Vec<Cell>)> = Vec::new();
        for set in sets {
            for cell in set.iter().skip(1) {
                let (a, b) = (self.class(set[0]), self.class(*cell));
                if a == b {
                    continue;
                }
                let mut joined = self.members[a as usize].clone();
                joined.extend(&self.members[b as usize]);
                let fixed: Vec<u8> = joined.iter().filter_map(|cell| lanes.get(cell).copied()).collect();
                let distinct: HashSet<u8> = fixed.iter().copied().collect();
                if joined.len() > 4 || distinct.len() < fixed.len() {
                    for (a, old_a, b, old_b) in undo.into_iter().rev() {
                        for cell in &old_b {
                            self.of[*cell as usize] = b;
                        }
                        self.members[a as usize] = old_a;
                        self.members[b as usize] = old_b;
                    }
                    return false;
                }
                let old_a = std::mem::replace(&mut self.members[a as usize], joined);
                let old_b = std::mem::take(&mut self.members[b as usize]);
                for cell in &old_b {
                    self.of[*cell as usize] = a;
                }
                undo.push((a, old_a, b, old_b));
            }
        }
        true
    }
}

/// How often each cell is written and read.
fn counts(nodes: &Nodes) -> (Vec<u32>, Vec<u32>) {
    let (mut writes, mut reads) = (vec![0; nodes.cells as usize], vec![0; nodes.cells as usize]);
    for block in &nodes.blocks {
        for node in &block.nodes {
            node.dst.iter().for_each(|cell| writes[*cell as usize] += 1);
            node.reads().iter().for_each(|(cell, _)| reads[*cell as usize] += 1);
        }
        block.end.reads().iter().for_each(|cell| reads[*cell as usize] += 1);
    }
    nodes.outputs.iter().for_each(|cell| reads[*cell as usize] += 1);
    (writes, reads)
}

/// Takes out nodes that nobody reads.
pub(super) fn dead(nodes: &mut Nodes) {
    loop {
        let (_, reads) = counts(nodes);
        let mut changed = false;
        for block in &mut nodes.blocks {
            let before = block.nodes.len();
            block
                .nodes
                .retain(|node| node.dst.is_empty() || node.dst.iter().any(|cell| reads[*cell as usize] > 0));
            changed |= before != block.nodes.len();
        }
        if !changed {
            return;
        }
    }
}

/// A result that only goes to several components of the colour is written there at once.
pub(super) fn widen(nodes: &mut Nodes) {
    let (writes, reads) = counts(nodes);
    let outputs: HashSet<Cell> = nodes.outputs.iter().copied().collect();
    for block in &mut nodes.blocks {
        let mut targets: HashMap<Cell, Vec<usize>> = HashMap::new();
        for (at, node) in block.nodes.iter().enumerate() {
            if node.is_move()
                && node.modifier == Modifier::None
                && node.dst.len() == 1
                && outputs.contains(&node.dst[0])
                && let [only] = &node.src[..]
                && let (Src::Cell(cell), false, false) = (only.comps[0], only.negate, only.absolute)
            {
                targets.entry(cell).or_default().push(at);
            }
        }
        let mut gone = HashSet::new();
        for (cell, movers) in targets {
            let whole = reads[cell as usize] as usize == movers.len() && writes[cell as usize] == 1;
            let maker = block.nodes.iter().position(|node| node.dst == [cell]);
            let (Some(maker), true) = (maker, whole && movers.len() > 1) else {
                continue;
            };
            let dst: Vec<Cell> = movers.iter().map(|at| block.nodes[*at].dst[0]).collect();
            let node = &mut block.nodes[maker];
            match node.kind {
                Kind::Sum => {}
                Kind::Alu { .. } | Kind::Select(_) => {
                    for operand in &mut node.src {
                        operand.comps = vec![operand.comps[0]; dst.len()];
                    }
                }
                _ => continue,
            }
            node.dst = dst;
            gone.extend(movers);
        }
        let mut at = 0;
        block.nodes.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
}

/// Copies whose source and target never hold different things at the same time become one cell.
pub(super) fn coalesce(nodes: &mut Nodes) {
    let mut ranges = live::ranges(nodes);
    let mut of: Vec<Cell> = (0..nodes.cells).collect();
    fn find(of: &[Cell], mut cell: Cell) -> Cell {
        while of[cell as usize] != cell {
            cell = of[cell as usize];
        }
        cell
    }
    for block in &nodes.blocks {
        for node in &block.nodes {
            if !node.is_move() || node.modifier != Modifier::None || node.tex.is_some() || node.dst.len() != 1 {
                continue;
            }
            let operand = &node.src[0];
            let (Src::Cell(source), false, false) = (operand.comps[0], operand.negate, operand.absolute) else {
                continue;
            };
            let (a, b) = (find(&of, source), find(&of, node.dst[0]));
            let lanes = (nodes.lanes.get(&a).copied(), nodes.lanes.get(&b).copied());
            let clash = matches!(lanes, (Some(x), Some(y)) if x != y)
                || nodes.outputs.contains(&a) != nodes.outputs.contains(&b)
                    && lanes.0.is_some()
                    && lanes.1.is_some()
                    && lanes.0 != lanes.1;
            if a == b || clash || ranges[a as usize].overlaps(&ranges[b as usize]) {
                continue;
            }
            let joined: Ranges = std::mem::take(&mut ranges[a as usize]);
            ranges[b as usize].join(&joined);
            of[a as usize] = b;
            if let Some(lane) = lanes.0 {
                nodes.lanes.insert(b, lane);
            }
        }
    }
    for block in &mut nodes.blocks {
        for node in &mut block.nodes {
            node.rename_reads(|cell| find(&of, cell));
            node.dst.iter_mut().for_each(|cell| *cell = find(&of, *cell));
        }
        if let super::node::End::Branch { a, b, .. } = &mut block.end {
            for src in [a, b] {
                if let Src::Cell(cell) = src {
                    *cell = find(&of, *cell);
                }
            }
        }
        block.nodes.retain(|node| {
            let same = node.src.first().is_some_and(|operand| {
                operand.comps.len() == node.dst.len()
                    && !operand.negate
                    && !operand.absolute
                    && operand
                        .comps
                        .iter()
                        .zip(&node.dst)
                        .all(|(src, dst)| *src == Src::Cell(*dst))
            });
            !(node.is_move() && node.modifier == Modifier::None && same)
        });
    }
    for cell in &mut nodes.outputs {
        *cell = find(&of, *cell);
    }
}

/// Moves of what a look-up or load brings go along with their only reader.
pub(super) fn attach(nodes: &mut Nodes) {
    let (writes, reads) = counts(nodes);
    for block in &mut nodes.blocks {
        let mut gone = HashSet::new();
        for at in 0..block.nodes.len() {
            let mover = block.nodes[at].clone();
            let carries = mover.tex.is_some() || mover.load.is_some_and(|load| load.temporary || load.offset.is_some());
            if !carries || !mover.is_move() || mover.modifier != Modifier::None {
                continue;
            }
            if mover.dst.iter().any(|cell| writes[*cell as usize] != 1) {
                continue;
            }
            let uses = |node: &Node| node.reads().iter().filter(|(cell, _)| mover.dst.contains(cell)).count();
            let Some(reader) = (at + 1..block.nodes.len()).find(|other| uses(&block.nodes[*other]) > 0) else {
                continue;
            };
            let total: u32 = mover.dst.iter().map(|cell| reads[*cell as usize]).sum();
            if uses(&block.nodes[reader]) != total as usize || !moves_to(&block.nodes[at + 1..reader], &mover) {
                continue;
            }
            if let Some(new) = carried(&mover, &block.nodes[reader]) {
                block.nodes[reader] = new;
                gone.insert(at);
            }
        }
        let mut at = 0;
        block.nodes.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
}

/// Whether what a node reads is the same behind the nodes between.
fn moves_to(between: &[Node], mover: &Node) -> bool {
    let reads = mover.reads();
    let memory = mover.load.is_some_and(|load| load.temporary);
    !between.iter().any(|node| {
        node.dst.iter().any(|cell| reads.iter().any(|(read, _)| read == cell))
            || memory && matches!(node.kind, Kind::Store { .. })
    })
}

/// The reader with what the mover brings, when it has room for it.
fn carried(mover: &Node, reader: &Node) -> Option<Node> {
    let mut new = reader.clone();
    if matches!(reader.kind, Kind::Varying(_) | Kind::Store { .. })
        || mover.tex.is_some() && reader.tex.is_some()
        || mover.load.is_some() && reader.load.is_some() && mover.load != reader.load
    {
        return None;
    }
    let source = |cell: Cell| {
        let at = mover.dst.iter().position(|dst| *dst == cell)?;
        Some(mover.src[0].comps[at])
    };
    let coord = match &mut new.tex {
        Some(Tex {
            coord: Coord::Register(operand),
            ..
        }) => Some(operand.comps.clone()),
        _ => None,
    };
    if coord.is_some_and(|comps| {
        comps
            .iter()
            .any(|src| matches!(src, Src::Cell(cell) if source(*cell).is_some()))
    }) {
        return None;
    }
    let mut replaced = 0;
    for operand in new.operands_mut() {
        let found: Vec<Option<Src>> = operand
            .comps
            .iter()
            .map(|src| if let Src::Cell(cell) = src { source(*cell) } else { None })
            .collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        let all: Vec<Src> = found.into_iter().collect::<Option<_>>()?;
        replaced += all.len();
        operand.comps = all;
    }
    // Offsets and levels have to be in registers.
    let total = reader
        .reads()
        .iter()
        .filter(|(cell, _)| source(*cell).is_some())
        .count();
    if replaced != total {
        return None;
    }
    new.tex = new.tex.or_else(|| mover.tex.clone());
    new.load = new.load.or(mover.load);
    Some(new)
}

/// What must be equal for nodes to become one: kind and signs, kinds of sources, what comes along.
fn alike(a: &Node, b: &Node) -> bool {
    let kind = |src: &Src| match src {
        Src::Cell(_) => 0,
        Src::Const(_) => 1,
        Src::Load(_) => 2,
        Src::Tex(_) => 3,
    };
    let operands = a.src.len() == b.src.len()
        && a.src
            .iter()
            .zip(&b.src)
            .all(|(a, b)| (a.negate, a.absolute, kind(&a.comps[0])) == (b.negate, b.absolute, kind(&b.comps[0])));
    a.kind == b.kind && a.modifier == b.modifier && a.load == b.load && a.tex == b.tex && operands
}

/// Cells that have to share a register for a node: those of each operand, and those it writes.
fn sets(node: &Node) -> Vec<Vec<Cell>> {
    let cells = |operand: &Operand| -> Vec<Cell> {
        let cells = operand.comps.iter();
        cells
            .filter_map(|src| if let Src::Cell(cell) = src { Some(*cell) } else { None })
            .collect()
    };
    let mut sets: Vec<Vec<Cell>> = node.src.iter().map(cells).collect();
    sets.push(node.dst.clone());
    if let Some(Tex {
        coord: Coord::Register(operand),
        ..
    }) = &node.tex
    {
        sets.push(cells(operand));
    }
    sets.retain(|set| set.len() > 1);
    sets
}

fn joined(a: &Node, b: &Node) -> Node {
    let mut node = a.clone();
    node.dst.extend(&b.dst);
    node.order = a.order.max(b.order);
    for (operand, more) in node.src.iter_mut().zip(&b.src) {
        operand.comps.extend(&more.comps);
    }
    node
}

/// Depth of each node in its block: nodes of the same depth do not need each other.
fn depths(nodes: &[Node]) -> Vec<u32> {
    let mut written: HashMap<Cell, u32> = HashMap::new();
    let mut read: HashMap<Cell, u32> = HashMap::new();
    let mut memory = (0, 0);
    let mut depths = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut depth = 0;
        for (cell, _) in node.reads() {
            depth = depth.max(written.get(&cell).copied().unwrap_or(0));
        }
        for cell in &node.dst {
            depth = depth.max(written.get(cell).copied().unwrap_or(0));
            depth = depth.max(read.get(cell).copied().unwrap_or(0));
        }
        let loads = node.load.is_some_and(|load| load.temporary);
        let stores = matches!(node.kind, Kind::Store { .. });
        if loads {
            depth = depth.max(memory.0);
        }
        if stores {
            depth = depth.max(memory.0).max(memory.1);
        }
        let after = depth + 1;
        for (cell, _) in node.reads() {
            let entry = read.entry(cell).or_default();
            *entry = (*entry).max(after);
        }
        for cell in &node.dst {
            written.insert(*cell, after);
        }
        if loads {
            memory.1 = memory.1.max(after);
        }
        if stores {
            memory.0 = memory.0.max(after);
        }
        depths.push(depth);
    }
    depths
}

/// Joins components of vector operations, and settles which cells share registers.
pub(super) fn vectors(nodes: &mut Nodes) -> Classes {
    let mut classes = Classes::new(nodes.cells);
    let lanes = nodes.lanes.clone();
    let outputs = nodes.outputs.clone();
    classes.share(&[outputs], &lanes);
    mandatory(nodes, &mut classes);
    let lanes = nodes.lanes.clone();
    for block in &mut nodes.blocks {
        for (at, node) in block.nodes.iter_mut().enumerate() {
            node.order = at as u32;
        }
        let depths = depths(&block.nodes);
        let mut groups: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
        let mut keys = Vec::new();
        for (at, node) in block.nodes.iter().enumerate() {
            let joins =
                matches!(node.kind, Kind::Alu { .. } | Kind::Select(_) | Kind::Varying(_)) && node.dst.len() == 1;
            let tag = if matches!(node.kind, Kind::Varying(_)) && node.tag & AGAIN == 0 {
                u32::MAX
            } else {
                node.tag
            };
            if joins && tag != 0 {
                let key = (depths[at], tag);
                let members = groups.entry(key).or_default();
                if members.is_empty() {
                    keys.push(key);
                }
                members.push(at);
            }
        }
        let mut into: Vec<Option<Node>> = block.nodes.iter().cloned().map(Some).collect();
        for key in keys {
            let mut rest = groups.remove(&key).unwrap_or_default();
            while rest.len() > 1 {
                let first = rest.remove(0);
                let Some(mut node) = into[first].take() else { continue };
                let mut left = Vec::new();
                for other in rest {
                    let fits = into[other]
                        .as_ref()
                        .filter(|more| node.dst.len() < 4 && alike(&node, more));
                    let wide = fits.map(|more| joined(&node, more));
                    match wide {
                        Some(wide) if classes.share(&sets(&wide), &lanes) => {
                            node = wide;
                            into[other] = None;
                        }
                        _ => left.push(other),
                    }
                }
                into[first] = Some(node);
                rest = left;
            }
        }
        let mut order: Vec<(u32, usize, Node)> = into
            .into_iter()
            .enumerate()
            .filter_map(|(at, node)| Some((depths[at], at, node?)))
            .collect();
        topological(&mut order);
        block.nodes = order.into_iter().map(|(_, _, node)| node).collect();
    }
    classes
}

/// Sorts by depth, which is an order that no node's needs contradict.
fn topological(order: &mut [(u32, usize, Node)]) {
    order.sort_by_key(|(depth, at, _)| (*depth, *at));
}

/// Operands that must be in one register: sums that are not are taken apart, coordinates are moved.
fn mandatory(nodes: &mut Nodes, classes: &mut Classes) {
    for at in 0..nodes.blocks.len() {
        let old = std::mem::take(&mut nodes.blocks[at].nodes);
        let mut new = Vec::with_capacity(old.len());
        for mut node in old {
            let needs = sets(&node);
            if needs.is_empty() || classes.share(&needs, &nodes.lanes) {
                new.push(node);
                continue;
            }
            if node.kind == Kind::Sum {
                new.extend(chain(nodes, classes, &node));
                continue;
            }
            if let Some(Tex {
                coord: Coord::Register(operand),
                ..
            }) = &mut node.tex
            {
                let mut cells = Vec::new();
                for src in &mut operand.comps {
                    let cell = fresh(nodes, classes);
                    new.push(Node::mov(vec![cell], Operand::one(*src), node.span));
                    *src = Src::Cell(cell);
                    cells.push(cell);
                }
                classes.share(&[cells], &nodes.lanes);
            }
            // What is left can only be the targets: one node for each.
            if classes.share(&sets(&node), &nodes.lanes) {
                new.push(node);
            } else {
                new.extend(apart(nodes, classes, node));
            }
        }
        nodes.blocks[at].nodes = new;
    }
}

fn fresh(nodes: &mut Nodes, classes: &mut Classes) -> Cell {
    let cell = nodes.cell();
    classes.of.push(cell);
    classes.members.push(vec![cell]);
    cell
}

/// A sum as additions, and copies of it.
fn chain(nodes: &mut Nodes, classes: &mut Classes, node: &Node) -> Vec<Node> {
    let operand = &node.src[0];
    let part = |src: Src| Operand {
        comps: vec![src],
        negate: operand.negate,
        absolute: operand.absolute,
    };
    let mut all = Vec::new();
    let mut sum = part(operand.comps[0]);
    let count = operand.comps.len();
    for (at, src) in operand.comps.iter().enumerate().skip(1) {
        let last = at + 1 == count;
        let cell = if last { node.dst[0] } else { fresh(nodes, classes) };
        let mut next = Node {
            kind: Kind::Alu {
                mul: None,
                acc: Some(AccOp::Add),
            },
            src: vec![part(*src), sum],
            dst: vec![cell],
            ..node.clone()
        };
        if !last {
            next.modifier = Modifier::None;
        }
        all.push(next);
        sum = Operand::one(Src::Cell(cell));
    }
    for cell in node.dst.iter().skip(1) {
        all.push(Node::mov(vec![*cell], Operand::one(Src::Cell(node.dst[0])), node.span));
    }
    all
}

/// A node with several targets that cannot share a register: moves from cells of its own.
fn apart(nodes: &mut Nodes, classes: &mut Classes, mut node: Node) -> Vec<Node> {
    let targets = node.dst.clone();
    node.dst = targets.iter().map(|_| fresh(nodes, classes)).collect();
    classes.share(&[node.dst.clone()], &nodes.lanes);
    let moves = node.dst.iter().zip(&targets);
    let moves: Vec<Node> = moves
        .map(|(from, to)| Node::mov(vec![*to], Operand::one(Src::Cell(*from)), node.span))
        .collect();
    std::iter::once(node).chain(moves).collect()
}
