//! Moves cells to temporaries, or computes them again where they are read.

use super::node::{Cell, CellSet, Coord, Kind, LoadAt, Node, NodeBlock, Nodes, Operand, Src, Tex};
use super::tidy;
use utgard::pp::Alignment;

/// In the tags of varyings that are loaded once more for a reader: only those for the same vector operation may become
/// one load, or they would all be loaded in front again.
pub(super) const AGAIN: u32 = 1 << 31;

/// Takes the first of the candidates that can go out of their registers, `most` at most.
pub(super) fn spill(nodes: &mut Nodes, candidates: &[Cell], most: usize, done: &mut CellSet) {
    let (writes, reads) = tidy::counts(nodes);
    let mut candidates = candidates.iter().copied();
    for _ in 0..most {
        let candidate = candidates.find(|cell| {
            let at = *cell as usize;
            !done.contains(cell) && !nodes.outputs.contains(cell) && writes[at] > 0 && reads[at] > 0
        });
        let Some(cell) = candidate else { return };
        done.insert(cell);
        let mut places = nodes.blocks.iter().enumerate().flat_map(|(block, data)| {
            let nodes = data.nodes.iter().enumerate();
            nodes.map(move |(at, node)| (block, at, node))
        });
        let maker = places.find(|(.., node)| node.dst.contains(&cell));
        if let Some((block, at, node)) = maker
            && let (Kind::Varying(_), 1) = (&node.kind, writes[cell as usize])
        {
            again(nodes, cell, block, at, done);
        } else {
            to_memory(nodes, cell, done);
        }
    }
}

/// Whether a block has something to do with a cell.
fn names(block: &NodeBlock, cell: Cell) -> bool {
    let names = |node: &Node| node.dst.contains(&cell) || node.reads().any(|(read, _)| read == cell);
    block.nodes.iter().any(names) || block.end.reads().contains(&cell)
}

/// Loads a varying again in front of each reader.
fn again(nodes: &mut Nodes, cell: Cell, block: usize, at: usize, done: &mut CellSet) {
    let mut maker = nodes.blocks[block].nodes[at].clone();
    maker.named.clear();
    let lane = nodes.lanes.get(&cell).copied();
    // The others of the same load stay where they are.
    let node = &mut nodes.blocks[block].nodes[at];
    let position = node.dst.iter().position(|dst| *dst == cell).unwrap_or(0);
    node.dst.remove(position);
    node.named.clear();
    let empty = node.dst.is_empty();
    for number in 0..nodes.blocks.len() {
        if number != block && !names(&nodes.blocks[number], cell) {
            continue;
        }
        let old = std::mem::take(&mut nodes.blocks[number].nodes);
        let mut new = Vec::with_capacity(old.len());
        for (place, mut node) in old.into_iter().enumerate() {
            if empty && (number, place) == (block, at) {
                continue;
            }
            if node.reads().any(|(read, _)| read == cell) {
                let fresh = nodes.cell();
                done.insert(fresh);
                if let Some(lane) = lane {
                    nodes.lanes.insert(fresh, lane);
                }
                let tag = AGAIN | if node.tag == 0 { fresh | AGAIN >> 1 } else { node.tag };
                new.push(Node {
                    dst: vec![fresh],
                    order: node.order,
                    tag,
                    ..maker.clone()
                });
                node.rename_reads(|read| if read == cell { fresh } else { read });
            }
            new.push(node);
        }
        if nodes.blocks[number].end.reads().contains(&cell) {
            let fresh = nodes.cell();
            done.insert(fresh);
            if let Some(lane) = lane {
                nodes.lanes.insert(fresh, lane);
            }
            new.push(Node {
                dst: vec![fresh],
                order: u32::MAX,
                tag: AGAIN | AGAIN >> 1 | fresh,
                ..maker.clone()
            });
            rename_end(nodes, number, cell, fresh);
        }
        nodes.blocks[number].nodes = new;
    }
}

fn rename_end(nodes: &mut Nodes, block: usize, from: Cell, to: Cell) {
    if let super::node::End::Branch { a, b, .. } = &mut nodes.blocks[block].end {
        for src in [a, b] {
            if *src == Src::Cell(from) {
                *src = Src::Cell(to);
            }
        }
    }
}

/// Stores a cell behind each write, and loads it for each read.
fn to_memory(nodes: &mut Nodes, cell: Cell, done: &mut CellSet) {
    nodes.temporaries += 1;
    let index = -(nodes.temporaries as i32);
    let load = LoadAt {
        temporary: true,
        index,
        alignment: Alignment::Float,
        offset: None,
    };
    for number in 0..nodes.blocks.len() {
        if !names(&nodes.blocks[number], cell) {
            continue;
        }
        let old = std::mem::take(&mut nodes.blocks[number].nodes);
        let mut new = Vec::with_capacity(old.len());
        for mut node in old {
            if node.reads().any(|(read, _)| read == cell) {
                nodes.spills[1] += 1;
                if !direct(&mut node, cell, load) {
                    let fresh = nodes.cell();
                    done.insert(fresh);
                    new.push(loading(fresh, load, &node));
                    node.rename_reads(|read| if read == cell { fresh } else { read });
                }
            }
            let writes = node.dst.contains(&cell);
            let (span, order) = (node.span, node.order);
            if writes {
                // What is stored needs a register only until it is.
                let fresh = nodes.cell();
                done.insert(fresh);
                if let Some(lane) = nodes.lanes.get(&cell).copied() {
                    nodes.lanes.insert(fresh, lane);
                }
                node.dst
                    .iter_mut()
                    .filter(|dst| **dst == cell)
                    .for_each(|dst| *dst = fresh);
                new.push(node);
                nodes.spills[0] += 1;
                new.push(Node {
                    kind: Kind::Store { index, offset: None },
                    dst: Vec::new(),
                    order,
                    ..Node::mov(Vec::new(), Operand::one(Src::Cell(fresh)), span)
                });
            } else {
                new.push(node);
            }
        }
        if nodes.blocks[number].end.reads().contains(&cell) {
            let fresh = nodes.cell();
            done.insert(fresh);
            let mut node = Node::mov(vec![fresh], Operand::one(Src::Load(0)), None);
            (node.load, node.order) = (Some(load), u32::MAX);
            new.push(node);
            nodes.spills[1] += 1;
            rename_end(nodes, number, cell, fresh);
        }
        nodes.blocks[number].nodes = new;
    }
}

fn loading(fresh: Cell, load: LoadAt, reader: &Node) -> Node {
    let mut node = Node::mov(vec![fresh], Operand::one(Src::Load(0)), reader.span);
    (node.load, node.order) = (Some(load), reader.order);
    node
}

/// Lets a node load what it reads itself, when it has room for it and all of the operand is that cell.
fn direct(node: &mut Node, cell: Cell, load: LoadAt) -> bool {
    let coordinate = matches!(&node.tex, Some(Tex { coord: Coord::Register(operand), .. })
        if operand.comps.contains(&Src::Cell(cell)));
    if node.load.is_some() || coordinate || matches!(node.kind, Kind::Store { .. } | Kind::Varying(_)) {
        return false;
    }
    let level = matches!(node.tex, Some(Tex { lod: Some((have, _)), .. }) if have == cell);
    let whole = |operand: &Operand| operand.comps.iter().all(|src| *src == Src::Cell(cell));
    let fits = node
        .operands_mut()
        .iter()
        .all(|operand| whole(operand) || !operand.comps.contains(&Src::Cell(cell)));
    if level || !fits {
        return false;
    }
    for operand in node.operands_mut() {
        for src in &mut operand.comps {
            if *src == Src::Cell(cell) {
                *src = Src::Load(0);
            }
        }
    }
    node.load = Some(load);
    true
}
