//! Values that are the same in several rows of lanes side by side, and need to be computed for one of them only: in a whole
//! tile those that depend on nothing but the column, or nothing but the row.

use crate::analysis::schedule::operands;
use crate::call::Which;
use crate::graph::{Graph, Node, Value};
use crate::isa::Isa;

/// Lanes of a tile's quads that are beside each other: behind them columns come again, and rows are others.
const BESIDE: usize = 32;

/// On what a value depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct On {
    column: bool,
    row: bool,
}

/// Which copies of values are the same.
#[derive(Debug)]
pub(crate) struct Uniformity {
    /// By value.
    on: Vec<On>,
    copies: usize,
    /// Copies of quads that are beside each other.
    beside: usize,
}

impl Uniformity {
    /// Those of a graph's values, in code for these lanes.
    pub(crate) fn new(graph: &Graph, isa: Isa, which: Which, copies: usize) -> Self {
        let [columns, rows] = match graph.places().filter(|_| which == Which::Tile) {
            Some([a, b, c, d]) => [vec![a, c], vec![b, d]],
            None => [const { Vec::new() }; 2],
        };
        let mut on: Vec<On> = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let here = match *node {
                Node::Row(row) if columns.contains(&row) => On {
                    column: true,
                    row: false,
                },
                Node::Row(row) if rows.contains(&row) => On {
                    column: false,
                    row: true,
                },
                Node::Row(_) | Node::Destination => On {
                    column: true,
                    row: true,
                },
                Node::Op(..) => operands(*node).fold(On::default(), |all, value| {
                    let of = on[value as usize];
                    On {
                        column: all.column || of.column,
                        row: all.row || of.row,
                    }
                }),
                _ => On::default(),
            };
            on.push(here);
        }
        Self {
            on,
            copies,
            beside: (BESIDE / isa.lanes()).max(1),
        }
    }

    /// The first copy that is the same as one.
    #[inline]
    pub(crate) fn first(&self, value: Value, copy: usize) -> usize {
        match self.on[value as usize] {
            On {
                column: true,
                row: true,
            } => copy,
            On {
                column: true,
                row: false,
            } => copy % self.beside,
            On {
                column: false,
                row: true,
            } => copy - copy % self.beside,
            On {
                column: false,
                row: false,
            } => 0,
        }
    }

    /// Whether a value is the same in all lanes.
    pub(crate) fn is_of_all_lanes(&self, value: Value) -> bool {
        self.on[value as usize] == On::default()
    }

    /// Whether no later copy is the same as one.
    pub(crate) fn is_last(&self, value: Value, copy: usize) -> bool {
        let first = self.first(value, copy);
        (copy + 1..self.copies).all(|later| self.first(value, later) != first)
    }
}
