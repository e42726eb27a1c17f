//! Vertex programs as machine code: regions of instructions that run from the first to the last.

use crate::exec::native::formulas;
use crate::exec::wide::VertexCode;
use crate::exec::wide::alu::Alu;
use crate::exec::wide::region::{VertexRegion, VertexRegions};
use crate::exec::wide::vertex_code::row;
use jit::graph::{Effect, Graph, Kind, Node, RowTypes, Value};
use jit::{Isa, Variants};
use std::collections::BTreeMap;

/// Instructions of a region at most, and regions of a program: generating code must take
/// bounded time for any program.
const MAX_LENGTH: usize = 64;
const MAX_REGIONS: usize = 128;

/// A vertex program as machine code.
#[derive(Debug)]
pub struct VertexVariants {
    /// Its regions.
    pub regions: VertexRegions,
    /// Bytes of all code that was made at once.
    pub size: usize,
}

impl VertexVariants {
    /// Makes code of a program; nothing where there can be none.
    pub fn new(code: &VertexCode, isa: Isa) -> Option<Self> {
        let leaders = leaders(code);
        if leaders.iter().filter(|leader| **leader).count() > MAX_REGIONS {
            return None;
        }
        let mut variants = Self {
            regions: Vec::new(),
            size: 0,
        };
        variants.regions.resize_with(code.steps.len(), || None);
        for first in (0..code.steps.len()).filter(|step| leaders[*step]) {
            let mut builder = Builder {
                code,
                graph: Graph::new(isa, RowTypes::default()),
                rows: BTreeMap::new(),
            };
            let last = builder.region(first, &leaders);
            let Some(last) = last else { continue };
            builder.store(last);
            // What computes nothing is left as it is.
            if builder.graph.effects.is_empty() {
                continue;
            }
            let region = Variants::new(builder.graph, isa)?;
            variants.size += region.size();
            variants.regions[first] = Some(VertexRegion {
                code: Box::new(region),
                last,
                steps: (last - first + 1) as u32,
            });
        }
        Some(variants)
    }
}

/// Instructions that are branch targets; unknown ones, and the ones behind
/// them; and every [`MAX_LENGTH`]th.
fn leaders(code: &VertexCode) -> Vec<bool> {
    let mut leaders = vec![false; code.steps.len()];
    let mut lead = |step: usize| {
        if let Some(leader) = leaders.get_mut(step) {
            *leader = true;
        }
    };
    (0..code.steps.len()).step_by(MAX_LENGTH).for_each(&mut lead);
    for (at, step) in code.steps.iter().enumerate() {
        if let Some((_, target)) = step.branch {
            lead(target);
            lead(at + 1);
        }
        if step.fault.is_some() {
            lead(at);
        }
    }
    leaders
}

/// Makes the code of a region.
struct Builder<'a> {
    code: &'a VertexCode,
    graph: Graph,
    /// What rows hold that are not what they were.
    rows: BTreeMap<u16, Value>,
}

impl Builder<'_> {
    /// Takes note of the instructions from one on up to the last in front of another region: that one's number, if there
    /// is any.
    fn region(&mut self, first: usize, leaders: &[bool]) -> Option<usize> {
        let mut last = None;
        for (at, step) in self.code.steps.iter().enumerate().skip(first) {
            if step.fault.is_some() || (at > first && leaders[at]) {
                break;
            }
            step.ops.iter().for_each(|op| self.alu(op));
            last = Some(at);
        }
        last
    }

    fn alu(&mut self, alu: &Alu) {
        let rows = &self.rows;
        let value = formulas::computed(&mut self.graph, alu, |graph, row| match rows.get(&row) {
            Some(value) => *value,
            None => graph.node(Node::Row(row)),
        });
        self.rows.insert(alu.to, value);
    }

    /// Rows that may be read later are stored: outputs, and behind the program's last instruction nothing else.
    fn store(&mut self, last: usize) {
        let ends = last + 1 == self.code.steps.len() && self.code.steps[last].branch.is_none();
        let output = |row: u16| (row::OUTPUTS..row::RESULTS).contains(&row);
        let wanted = |row: u16| output(row) || !ends && self.code.read.contains(&row);
        for (row, value) in self.rows.iter().filter(|(row, _)| wanted(**row)) {
            // A row that becomes another is read before that one is written.
            let value = match self.graph.nodes()[*value as usize] {
                Node::Row(from) if from == *row => continue,
                Node::Row(_) => self.graph.node(Node::Op(Kind::Move, [*value, 0, 0])),
                _ => *value,
            };
            self.graph.effects.push(Effect::Store(*row, value));
        }
    }
}
