//! Takes out what need not be before nodes are put together: dead ones, copies, moves that their readers can do.

use super::live::{self, Ranges};
use super::node::{Cell, CellMap, CellSet, Coord, Kind, Node, Nodes, Operand, Src, Tex};
use std::collections::HashSet;
use utgard::pp::Modifier;

/// How often each cell is written and read.
pub(super) fn counts(nodes: &Nodes) -> (Vec<u32>, Vec<u32>) {
    let (mut writes, mut reads) = (vec![0; nodes.cells as usize], vec![0; nodes.cells as usize]);
    for block in &nodes.blocks {
        for node in &block.nodes {
            node.dst.iter().for_each(|cell| writes[*cell as usize] += 1);
            node.reads().for_each(|(cell, _)| reads[cell as usize] += 1);
        }
        block.end.reads().iter().for_each(|cell| reads[*cell as usize] += 1);
    }
    nodes.outputs.iter().for_each(|cell| reads[*cell as usize] += 1);
    (writes, reads)
}

/// Removes nodes without readers.
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
    let outputs: CellSet = nodes.outputs.iter().copied().collect();
    for block in &mut nodes.blocks {
        let mut targets: CellMap<Vec<usize>> = CellMap::default();
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
            let mover = &block.nodes[at];
            let carries = mover.tex.is_some() || mover.load.is_some_and(|load| load.temporary || load.offset.is_some());
            if !carries || !mover.is_move() || mover.modifier != Modifier::None {
                continue;
            }
            if mover.dst.iter().any(|cell| writes[*cell as usize] != 1) {
                continue;
            }
            let uses = |node: &Node| node.reads().filter(|(cell, _)| mover.dst.contains(cell)).count();
            let Some(reader) = (at + 1..block.nodes.len()).find(|other| uses(&block.nodes[*other]) > 0) else {
                continue;
            };
            let total: u32 = mover.dst.iter().map(|cell| reads[*cell as usize]).sum();
            if uses(&block.nodes[reader]) != total as usize || !moves_to(&block.nodes[at + 1..reader], mover) {
                continue;
            }
            if let Some(new) = carried(mover, &block.nodes[reader]) {
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

/// Moves biases that the varying unit writes: a plain look-up of the next instruction reads them before that
/// (docs/spec/mali/pp.md, section 6).
pub(super) fn move_biases(nodes: &mut Nodes) {
    let all = nodes.blocks.iter().flat_map(|block| &block.nodes);
    let varyings = all.filter(|node| matches!(node.kind, Kind::Varying(_)));
    let late: CellSet = varyings.flat_map(|node| node.dst.iter().copied()).collect();
    for at in 0..nodes.blocks.len() {
        let old = std::mem::take(&mut nodes.blocks[at].nodes);
        let mut new = Vec::with_capacity(old.len());
        for mut node in old {
            if let Some(Tex {
                cube: false,
                lod: Some((cell, false)),
                ..
            }) = &mut node.tex
                && late.contains(cell)
            {
                let bias = nodes.cell();
                new.push(Node::mov(vec![bias], Operand::one(Src::Cell(*cell)), node.span));
                *cell = bias;
            }
            new.push(node);
        }
        nodes.blocks[at].nodes = new;
    }
}

/// Whether what a node reads is the same behind the nodes between.
fn moves_to(between: &[Node], mover: &Node) -> bool {
    let reads: Vec<Cell> = mover.reads().map(|(cell, _)| cell).collect();
    let memory = mover.load.is_some_and(|load| load.temporary);
    !between.iter().any(|node| {
        node.dst.iter().any(|cell| reads.contains(cell)) || memory && matches!(node.kind, Kind::Store { .. })
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
    let total = reader.reads().filter(|(cell, _)| source(*cell).is_some()).count();
    if replaced != total {
        return None;
    }
    new.tex = new.tex.or_else(|| mover.tex.clone());
    new.load = new.load.or(mover.load);
    Some(new)
}
