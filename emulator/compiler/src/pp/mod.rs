//! The fragment processor's back end: selection, packing, registers, machine words.

mod alloc;
mod encode;
mod encoder;
mod ends;
mod fetch;
mod group;
mod live;
mod node;
mod schedule;
mod select;
mod spill;
mod tidy;

use crate::edges;
use crate::error::{Error, Result};
use crate::interface::Interface;
use crate::ir::{Function, Span};
use crate::layout::Table;
use alloc::Outcome;
use schedule::Mode;
use utgard::debug::Assigned;
use utgard::pp::Instruction;

/// A fragment program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Machine words.
    pub words: Vec<u32>,
    /// The instructions they are.
    pub instructions: Vec<Instruction>,
    /// Places in the source of what each instruction does.
    pub spans: Vec<Vec<Span>>,
    /// The numbers that each instruction makes for local variables of the source.
    pub assigned: Vec<Vec<Assigned>>,
    /// Registers in use.
    pub registers: u32,
    /// Floats of temporaries.
    pub temporaries: u32,
    /// Stores and loads that spilling put in.
    pub spills: [u32; 2],
    /// Some fragments are discarded.
    pub discards: bool,
}

/// Rounds of spilling at most; each takes a cell out of registers.
const MAX_SPILLS: usize = 2000;

/// Operations that are packed at most, in all rounds together.
const MAX_WORK: usize = 200_000;

/// Compiles a program whose operations the units have.
///
/// # Errors
/// What has no place on the hardware, and budgets that are spent.
pub fn compile(
    function: &Function,
    interface: &Interface,
    uniforms: &Table,
    varyings: &Table,
    conservative: bool,
) -> Result<Program> {
    let mut function = function.clone();
    edges::split_critical(&mut function);
    let mut nodes = select::select(&function, interface, uniforms, varyings)?;
    tidy::dead(&mut nodes);
    tidy::widen(&mut nodes);
    tidy::coalesce(&mut nodes);
    tidy::attach(&mut nodes);
    tidy::move_biases(&mut nodes);
    let mut base = nodes;
    let mut done = node::CellSet::default();
    let mut work = 0;
    for round in 0..MAX_SPILLS {
        work += base.blocks.iter().map(|block| block.nodes.len()).sum::<usize>();
        if work > MAX_WORK {
            return Err(Error::limit(
                "a program that is too long for the number of values it keeps at once",
            ));
        }
        let mut nodes = base.clone();
        let classes = group::vectors(&mut nodes);
        // What scalars could not take along, vectors may.
        tidy::attach(&mut nodes);
        let graphs: Vec<_> = nodes.blocks.iter().map(|block| schedule::graph(&block.nodes)).collect();
        let out = live::live_out(&nodes);
        let mut full = Vec::new();
        for in_order in [false, true] {
            let mode = Mode { in_order, conservative };
            let blocks = nodes.blocks.iter().zip(&graphs);
            let schedule: Vec<_> = blocks
                .map(|(block, graph)| schedule::pack(block, graph, mode))
                .collect();
            let forwarded = alloc::forwarded(&nodes, &schedule, &out);
            match alloc::allocate(&nodes, &classes, &schedule, &out, &forwarded.cells) {
                Outcome::Done(places) => {
                    let registers = places.values().map(|(register, _)| u32::from(*register) + 1).max();
                    forwarded.swap(&mut nodes);
                    let encoded = encode::encode(&nodes, &schedule, &places, &forwarded.cells)?;
                    return Ok(Program {
                        words: encoded.words,
                        instructions: encoded.instructions,
                        spans: encoded.spans,
                        assigned: encoded.assigned,
                        registers: registers.unwrap_or(0),
                        temporaries: nodes.temporaries,
                        spills: nodes.spills,
                        discards: nodes.blocks.iter().any(|block| block.end == node::End::Discard),
                    });
                }
                Outcome::Full(cells) => full = cells,
            }
        }
        full.retain(|cell| *cell < base.cells);
        // More at once as it goes on: long programs need many.
        spill::spill(&mut base, &full, round / 4 + 1, &mut done);
        if full.is_empty() {
            break;
        }
    }
    Err(Error::limit("a program whose numbers find no registers"))
}

#[cfg(test)]
mod tests {
    use super::node::{
        Cell, CellSet, Cond, Coord, End, Kind, LoadAt, Node, NodeBlock, Nodes, Operand, Src, Tex, VaryingLoad,
    };
    use super::{group, spill, tidy};
    use std::collections::HashMap;
    use std::hash::{DefaultHasher, Hash, Hasher};
    use utgard::pp::{AccOp, Alignment, Condition, Modifier, MulOp, ScalarFunction, VaryingKind};

    /// A number that stands for an operation of others: equal for equal ones, and for no others.
    fn mixed(parts: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        hasher.finish()
    }

    /// What cells and temporaries hold while a program of nodes runs, operations being what they are of.
    struct Run<'a> {
        nodes: &'a Nodes,
        cells: HashMap<Cell, u64>,
        memory: HashMap<i32, u64>,
    }

    impl Run<'_> {
        fn src(&self, node: &Node, src: Src) -> u64 {
            match src {
                Src::Cell(cell) => self.cells[&cell],
                Src::Const(bits) => mixed(("constant", bits)),
                Src::Load(lane) => {
                    let load = node.load.expect("a load");
                    let offset = load.offset.map(|cell| self.cells[&cell]);
                    match (load.temporary, offset) {
                        (true, None) => self.memory.get(&load.index).copied().unwrap_or(0),
                        _ => mixed(("uniform", load.index, offset, lane)),
                    }
                }
                Src::Tex(lane) => {
                    let tex = node.tex.as_ref().expect("a look-up");
                    let coord = match &tex.coord {
                        Coord::Varying(load) => mixed(("varying", load.index)),
                        Coord::Register(operand) => {
                            let count = 0..operand.comps.len();
                            mixed(count.map(|at| self.operand(node, operand, at)).collect::<Vec<_>>())
                        }
                    };
                    let level = tex.lod.map(|(cell, explicit)| (self.cells[&cell], explicit));
                    mixed(("texture", tex.unit, coord, level, lane))
                }
            }
        }

        fn operand(&self, node: &Node, operand: &Operand, at: usize) -> u64 {
            let value = self.src(node, operand.comps[at]);
            match (operand.negate, operand.absolute) {
                (false, false) => value,
                signs => mixed((signs, value)),
            }
        }

        fn node(&mut self, node: &Node) {
            let all = |operand: &Operand| -> Vec<u64> {
                (0..operand.comps.len())
                    .map(|at| self.operand(node, operand, at))
                    .collect()
            };
            if let Kind::Store { index, .. } = node.kind {
                let value = self.operand(node, &node.src[0], 0);
                self.memory.insert(index, value);
                return;
            }
            let results: Vec<u64> = (0..node.dst.len())
                .map(|at| {
                    let operands: Vec<u64> = match node.kind {
                        Kind::Sum | Kind::Function(_) => all(&node.src[0]),
                        _ => node.src.iter().map(|operand| self.operand(node, operand, at)).collect(),
                    };
                    let value = match &node.kind {
                        _ if node.is_move() => operands[0],
                        Kind::Alu { mul, acc } => mixed((format!("{mul:?} {acc:?}"), operands)),
                        Kind::Varying(load) => mixed(("varying", load.index, self.nodes.lanes.get(&node.dst[at]))),
                        Kind::Select(cond) => {
                            let compared: Vec<u64> = match cond {
                                Cond::Value(operand) => vec![self.operand(node, operand, 0)],
                                Cond::Compare(_, a, b) => vec![self.operand(node, a, 0), self.operand(node, b, 0)],
                            };
                            mixed(("select", compared, operands))
                        }
                        // A sum is a sum, one addition after the other or at once.
                        Kind::Sum => operands.iter().fold(0, |sum: u64, part| sum.wrapping_add(*part)),
                        other => mixed((format!("{other:?}"), operands)),
                    };
                    match node.modifier {
                        Modifier::None => value,
                        modifier => mixed((format!("{modifier:?}"), value)),
                    }
                })
                .collect();
            self.cells.extend(node.dst.iter().copied().zip(results));
        }
    }

    /// What a program leaves in the colour; nothing where it discards, or has not ended after some blocks.
    fn run(nodes: &Nodes) -> Option<Vec<u64>> {
        let mut run = Run {
            nodes,
            cells: HashMap::new(),
            memory: HashMap::new(),
        };
        let mut at = 0;
        for _ in 0..24 {
            let block = &nodes.blocks[at];
            block.nodes.iter().for_each(|node| run.node(node));
            at = match &block.end {
                End::Stop => return Some(nodes.outputs.iter().map(|cell| run.cells[cell]).collect()),
                End::Discard => return None,
                End::Jump(to) => *to,
                End::Branch { a, b, then, other, .. } => {
                    let none = Node::mov(Vec::new(), Operand::one(*a), None);
                    let taken = mixed((run.src(&none, *a), run.src(&none, *b))).is_multiple_of(2);
                    if taken { *then } else { *other }
                }
            };
        }
        None
    }

    /// A program whose first block fills all cells; the colour is moved together at the end.
    fn random_program(random: &mut fastrand::Rng) -> Nodes {
        let mut nodes = Nodes::default();
        let own: Vec<Cell> = (0..random.u32(4..14)).map(|_| nodes.cell()).collect();
        let varying = |index: u32| VaryingLoad {
            kind: VaryingKind::Plain,
            index,
            alignment: Alignment::Varying4,
        };
        let count = random.usize(1..5);
        for number in 0..count {
            let mut all = Vec::new();
            // Those of the program, and those of the block, which are written once.
            let mut known = own.clone();
            if number == 0 {
                for (at, cell) in own.iter().enumerate() {
                    nodes.lanes.insert(*cell, (at % 4) as u8);
                    all.push(Node::new(
                        Kind::Varying(varying(at as u32 / 4)),
                        vec![*cell],
                        Vec::new(),
                        None,
                    ));
                }
            }
            for _ in 0..random.usize(..9) {
                let operand = |random: &mut fastrand::Rng| Operand {
                    comps: vec![match random.u8(..6) {
                        0 => Src::Const(random.u32(..3)),
                        _ => Src::Cell(known[random.usize(..known.len())]),
                    }],
                    negate: random.u8(..6) == 0,
                    absolute: random.u8(..8) == 0,
                };
                let plain = |random: &mut fastrand::Rng| Operand::one(Src::Cell(known[random.usize(..known.len())]));
                let dst = match random.bool() {
                    true => own[random.usize(..own.len())],
                    false => nodes.cell(),
                };
                let tag = random.u32(..3);
                let load = LoadAt {
                    temporary: random.bool(),
                    index: random.i32(-2..0),
                    alignment: Alignment::Float,
                    offset: None,
                };
                let alu = |mul, acc| Kind::Alu { mul, acc };
                let mut node = match random.u8(..12) {
                    0..=2 => Node::mov(vec![dst], plain(random), None),
                    3 => Node::mov(vec![dst], operand(random), None),
                    4 => Node::new(
                        alu(Some(MulOp::Mul), None),
                        vec![dst],
                        vec![operand(random), operand(random)],
                        None,
                    ),
                    5 => Node::new(
                        alu(Some(MulOp::Min), Some(AccOp::Min)),
                        vec![dst],
                        vec![operand(random), operand(random)],
                        None,
                    ),
                    6 => Node {
                        load: Some(load),
                        ..Node::mov(vec![dst], Operand::one(Src::Load(0)), None)
                    },
                    7 => {
                        let store = Kind::Store {
                            index: random.i32(-2..0),
                            offset: None,
                        };
                        Node::new(store, Vec::new(), vec![plain(random)], None)
                    }
                    8 => Node {
                        tex: Some(Tex {
                            unit: random.u32(..2),
                            cube: false,
                            coord: match random.bool() {
                                true => Coord::Varying(varying(0)),
                                // Different cells: coordinates have a lane each.
                                false => Coord::Register(Operand {
                                    comps: vec![Src::Cell(own[0]), Src::Cell(own[1])],
                                    ..Operand::one(Src::Cell(own[0]))
                                }),
                            },
                            lod: random.bool().then(|| (own[random.usize(..own.len())], random.bool())),
                        }),
                        ..Node::mov(vec![dst], Operand::one(Src::Tex(random.u8(..4))), None)
                    },
                    9 => Node::new(
                        Kind::Function(ScalarFunction::Rcp),
                        vec![dst],
                        vec![plain(random)],
                        None,
                    ),
                    10 => {
                        let cond = match random.bool() {
                            true => Cond::Value(plain(random)),
                            false => Cond::Compare(MulOp::Gt, operand(random), operand(random)),
                        };
                        Node::new(
                            Kind::Select(cond),
                            vec![dst],
                            vec![operand(random), operand(random)],
                            None,
                        )
                    }
                    _ => Node {
                        modifier: Modifier::Saturate,
                        ..Node::mov(vec![dst], plain(random), None)
                    },
                };
                node.tag = tag;
                known.extend(node.dst.iter().filter(|cell| !own.contains(cell)));
                all.push(node);
            }
            let end = match random.u8(..5) {
                _ if number + 1 == count => End::Stop,
                0 => End::Discard,
                1 => End::Jump(random.usize(number + 1..count)),
                _ => End::Branch {
                    a: Src::Cell(own[random.usize(..own.len())]),
                    b: Src::Const(1),
                    condition: Condition::Lt,
                    then: random.usize(..count),
                    other: number + 1,
                },
            };
            if end == End::Stop {
                let same = random.bool().then(|| known[known.len() - 1]);
                for lane in 0..4 {
                    let (color, from) = (nodes.cell(), same.unwrap_or(own[random.usize(..own.len())]));
                    nodes.lanes.insert(color, lane);
                    nodes.outputs.push(color);
                    let tag = 0x2000_0000;
                    all.push(Node {
                        tag,
                        ..Node::mov(vec![color], Operand::one(Src::Cell(from)), None)
                    });
                }
            }
            nodes.blocks.push(NodeBlock { nodes: all, end });
        }
        nodes.temporaries = 2;
        nodes
    }

    fn length(nodes: &Nodes) -> usize {
        nodes.blocks.iter().map(|block| block.nodes.len()).sum()
    }

    /// Every pass on its own, and all after one another, leave the same colour; those that take out do.
    #[test]
    fn passes_keep_what_programs_compute() {
        type Pass = fn(&mut Nodes, &mut fastrand::Rng);
        let passes: [(&str, Pass); 7] = [
            ("dead", |nodes, _| tidy::dead(nodes)),
            ("widen", |nodes, _| tidy::widen(nodes)),
            ("coalesce", |nodes, _| tidy::coalesce(nodes)),
            ("attach", |nodes, _| tidy::attach(nodes)),
            ("move biases", |nodes, _| tidy::move_biases(nodes)),
            ("spill", |nodes, random| {
                let mut candidates: Vec<Cell> = (0..nodes.cells).collect();
                random.shuffle(&mut candidates);
                let mut done = CellSet::default();
                spill::spill(nodes, &candidates, random.usize(1..4), &mut done);
            }),
            ("vectors", |nodes, _| {
                group::vectors(nodes);
            }),
        ];
        let mut random = fastrand::Rng::with_seed(12);
        let (mut colors, mut shorter, mut vectors, mut spills) = (0, [0; 4], 0, 0);
        for _ in 0..1500 {
            let whole = random_program(&mut random);
            let wanted = run(&whole);
            colors += u32::from(wanted.is_some());
            let mut all = whole.clone();
            for (number, (name, pass)) in passes.iter().enumerate() {
                let mut changed = whole.clone();
                pass(&mut changed, &mut random);
                assert_eq!(run(&changed), wanted, "{name} of {whole:#?}");
                if number < 4 {
                    assert!(length(&changed) <= length(&whole), "{name}");
                    shorter[number] += u32::from(length(&changed) < length(&whole));
                }
                spills += changed.spills[0];
                let before = all.clone();
                pass(&mut all, &mut random);
                assert_eq!(run(&all), wanted, "{name} of {before:#?}");
            }
            let wide = |node: &&Node| node.dst.len() > 1;
            vectors += all.blocks.iter().flat_map(|block| &block.nodes).filter(wide).count();
        }
        println!("{colors} colours, shorter {shorter:?}, {vectors} vectors, {spills} spills");
        assert!(colors > 500 && shorter.iter().all(|count| *count > 50) && vectors > 500 && spills > 500);
    }
}
