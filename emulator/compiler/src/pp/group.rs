//! Puts nodes together: copies that need not be, look-ups with what uses them, components of one vector operation.

use super::node::{Cell, CellMap, Coord, Kind, Node, Nodes, Operand, Src, Tex};
use super::spill::AGAIN;
use std::collections::HashMap;
use utgard::pp::{AccOp, Modifier};

/// Cells of one register.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    cells: [Cell; 4],
    count: usize,
}

impl Class {
    fn of(cell: Cell) -> Self {
        Self {
            cells: [cell; 4],
            count: 1,
        }
    }

    fn cells(&self) -> &[Cell] {
        &self.cells[..self.count]
    }

    /// Both in one, where a register has lanes for all of their cells.
    fn joined(mut self, other: &Self, lanes: &CellMap<u8>) -> Option<Self> {
        for cell in other.cells() {
            *self.cells.get_mut(self.count)? = *cell;
            self.count += 1;
        }
        let mut fixed = 0u32;
        for lane in self.cells().iter().filter_map(|cell| lanes.get(cell)) {
            if fixed >> lane & 1 == 1 {
                return None;
            }
            fixed |= 1 << lane;
        }
        Some(self)
    }
}

/// Cells that share a register.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    of: Vec<u32>,
    members: Vec<Class>,
}

impl Classes {
    fn new(cells: u32) -> Self {
        Self {
            of: (0..cells).collect(),
            members: (0..cells).map(Class::of).collect(),
        }
    }

    /// Cells of a cell's class.
    pub(super) fn members(&self, cell: Cell) -> &[Cell] {
        self.members[self.of[cell as usize] as usize].cells()
    }

    /// Number of a cell's class.
    pub(super) fn class(&self, cell: Cell) -> u32 {
        self.of[cell as usize]
    }

    /// Makes every set of cells share a register, or changes nothing.
    fn share(&mut self, sets: &[Vec<Cell>], lanes: &CellMap<u8>) -> bool {
        let mut undo: Vec<(u32, Class, u32, Class)> = Vec::new();
        for set in sets {
            for cell in set.iter().skip(1) {
                let (a, b) = (self.class(set[0]), self.class(*cell));
                if a == b {
                    continue;
                }
                let (old_a, old_b) = (self.members[a as usize], self.members[b as usize]);
                let Some(joined) = old_a.joined(&old_b, lanes) else {
                    for (a, old_a, b, old_b) in undo.into_iter().rev() {
                        for cell in old_b.cells() {
                            self.of[*cell as usize] = b;
                        }
                        self.members[a as usize] = old_a;
                        self.members[b as usize] = old_b;
                    }
                    return false;
                };
                self.members[a as usize] = joined;
                self.members[b as usize] = Class::default();
                for cell in old_b.cells() {
                    self.of[*cell as usize] = a;
                }
                undo.push((a, old_a, b, old_b));
            }
        }
        true
    }
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
    let cells = |operand: &Operand| -> Vec<Cell> { operand.cells().collect() };
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
    let behind = b
        .named
        .iter()
        .map(|(at, local, component)| (a.dst.len() + at, *local, *component));
    node.named.extend(behind);
    node.dst.extend(&b.dst);
    node.order = a.order.max(b.order);
    for (operand, more) in node.src.iter_mut().zip(&b.src) {
        operand.comps.extend(&more.comps);
    }
    node
}

/// Depth of each node in its block: nodes of the same depth do not need each other.
fn depths(nodes: &[Node]) -> Vec<u32> {
    let mut written: CellMap<u32> = CellMap::default();
    let mut read: CellMap<u32> = CellMap::default();
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
    classes.share(std::slice::from_ref(&nodes.outputs), &nodes.lanes);
    mandatory(nodes, &mut classes);
    let lanes = &nodes.lanes;
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
        let mut into: Vec<Option<Node>> = std::mem::take(&mut block.nodes).into_iter().map(Some).collect();
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
                        Some(wide) if classes.share(&sets(&wide), lanes) => {
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
        // By depth, which is an order that no node's needs contradict.
        let mut order: Vec<usize> = (0..into.len()).collect();
        order.sort_by_key(|at| depths[*at]);
        block.nodes = order.into_iter().filter_map(|at| into[at].take()).collect();
    }
    classes
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
    classes.members.push(Class::of(cell));
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
            next.named.clear();
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

#[cfg(test)]
mod tests {
    use super::super::node::{LoadAt, MOVE};
    use super::*;
    use std::collections::BTreeSet;
    use utgard::pp::Alignment;

    type Partition = BTreeSet<BTreeSet<Cell>>;

    fn partition(classes: &Classes, cells: u32) -> Partition {
        let all = (0..cells).map(|cell| {
            let members: BTreeSet<Cell> = classes.members(cell).iter().copied().collect();
            assert!(members.contains(&cell));
            assert!(members.iter().all(|other| classes.class(*other) == classes.class(cell)));
            members
        });
        all.collect()
    }

    /// All sets share a register, or nothing changes: no more than four cells do, none with the lane of another.
    #[test]
    fn classes_have_a_lane_for_each_cell() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut shared, mut refused) = (0, 0);
        for _ in 0..300 {
            let cells = random.u32(2..14);
            let mut lanes = CellMap::default();
            for cell in (0..cells).filter(|cell| cell % 3 == 0) {
                lanes.insert(cell, random.u8(..4));
            }
            let mut classes = Classes::new(cells);
            for _ in 0..8 {
                let set = |random: &mut fastrand::Rng| -> Vec<Cell> {
                    (0..random.usize(1..=4)).map(|_| random.u32(..cells)).collect()
                };
                let sets: Vec<Vec<Cell>> = (0..random.usize(1..=3)).map(|_| set(&mut random)).collect();
                let before = partition(&classes, cells);
                let mut wanted = before.clone();
                for set in &sets {
                    let set: BTreeSet<Cell> = set.iter().copied().collect();
                    let (mut joined, apart): (Partition, Partition) =
                        wanted.into_iter().partition(|members| !members.is_disjoint(&set));
                    wanted = apart;
                    wanted.insert(std::mem::take(&mut joined).into_iter().flatten().collect());
                }
                let fits = |members: &BTreeSet<Cell>| {
                    let fixed: Vec<u8> = members.iter().filter_map(|cell| lanes.get(cell).copied()).collect();
                    let distinct: BTreeSet<u8> = fixed.iter().copied().collect();
                    members.len() <= 4 && fixed.len() == distinct.len()
                };
                let done = classes.share(&sets, &lanes);
                assert_eq!(done, wanted.iter().all(fits), "{sets:?} in {before:?}");
                let after = partition(&classes, cells);
                assert_eq!(after, if done { wanted } else { before }, "{sets:?}");
                (shared, refused) = (shared + u32::from(done), refused + u32::from(!done));
            }
        }
        assert!(shared > 300 && refused > 300, "{shared} {refused}");
    }

    /// A node that needs another is deeper: what it reads, what it writes over, memory that is stored.
    #[test]
    fn nodes_of_one_depth_do_not_need_each_other() {
        let mut random = fastrand::Rng::with_seed(8);
        let load = LoadAt {
            temporary: true,
            index: 0,
            alignment: Alignment::Float,
            offset: None,
        };
        for _ in 0..500 {
            let cells = random.u32(2..7);
            let nodes: Vec<Node> = (0..random.usize(2..9))
                .map(|_| {
                    let read = Operand::one(Src::Cell(random.u32(..cells)));
                    let store = Kind::Store { index: 0, offset: None };
                    match random.u8(..6) {
                        0 => Node::new(store, Vec::new(), vec![read], None),
                        1 => Node {
                            load: Some(load),
                            ..Node::mov(vec![random.u32(..cells)], Operand::one(Src::Load(0)), None)
                        },
                        _ => Node::mov(vec![random.u32(..cells)], read, None),
                    }
                })
                .collect();
            let depths = depths(&nodes);
            for (at, node) in nodes.iter().enumerate() {
                let stores = |node: &Node| matches!(node.kind, Kind::Store { .. });
                let loads = |node: &Node| node.load.is_some();
                let needs = |before: &Node| {
                    let reads = |node: &Node, of: &Node| node.reads().any(|(cell, _)| of.dst.contains(&cell));
                    reads(node, before)
                        || reads(before, node)
                        || node.dst.iter().any(|cell| before.dst.contains(cell))
                        || stores(before) && (loads(node) || stores(node))
                        || loads(before) && stores(node)
                };
                let wanted = (0..at).filter(|before| needs(&nodes[*before]));
                let wanted = wanted.map(|before| depths[before] + 1).max().unwrap_or(0);
                assert_eq!(depths[at], wanted, "{at} of {nodes:?}");
            }
        }
    }

    /// Nodes become one where nothing but their cells differs.
    #[test]
    fn only_nodes_that_do_the_same_are_joined() {
        let operand = |src: Src| Operand::one(src);
        let node = Node {
            src: vec![operand(Src::Cell(1)), operand(Src::Const(0))],
            ..Node::mov(vec![0], operand(Src::Cell(1)), None)
        };
        let changed = |change: fn(&mut Node)| {
            let mut other = node.clone();
            change(&mut other);
            alike(&node, &other) && alike(&other, &node)
        };
        let alike: [fn(&mut Node); 4] = [
            |_| {},
            |node| node.dst = vec![5],
            |node| node.src[0].comps = vec![Src::Cell(7)],
            |node| node.src[1].comps = vec![Src::Const(3)],
        ];
        let unlike: [fn(&mut Node); 9] = [
            |node| node.src[0].negate = true,
            |node| node.src[1].absolute = true,
            |node| node.src[0].comps = vec![Src::Const(0)],
            |node| node.src[0].comps = vec![Src::Load(0)],
            |node| node.src[0].comps = vec![Src::Tex(0)],
            |node| node.src.truncate(1),
            |node| node.modifier = Modifier::Saturate,
            |node| node.kind = Kind::Sum,
            |node| {
                node.load = Some(LoadAt {
                    temporary: false,
                    index: 0,
                    alignment: Alignment::Vec4,
                    offset: None,
                });
            },
        ];
        assert_eq!(node.kind, MOVE);
        assert!(alike.into_iter().all(changed));
        for (number, change) in unlike.into_iter().enumerate() {
            assert!(!changed(change), "change {number}");
        }
    }
}
