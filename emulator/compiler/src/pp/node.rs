//! What the fragment processor's units are asked to do, before it is settled which unit does it when.

use crate::ir::Span;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use utgard::pp::{AccOp, Alignment, Condition, Modifier, MulOp, ScalarFunction, VaryingKind};

/// A number that lives in a register: one lane of one of them.
pub(super) type Cell = u32;

/// A hasher for cells: the standard one takes longer than what the tables are for.
#[derive(Clone, Copy, Default)]
pub(super) struct CellHasher(u64);

impl Hasher for CellHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }

    fn write_u32(&mut self, number: u32) {
        // The fraction of the golden ratio spreads consecutive numbers.
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Something for each of some cells.
pub(super) type CellMap<V> = HashMap<Cell, V, BuildHasherDefault<CellHasher>>;

/// Some cells.
pub(super) type CellSet = HashSet<Cell, BuildHasherDefault<CellHasher>>;

/// Where a component of an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Src {
    /// A register.
    Cell(Cell),
    /// A constant of the instruction, as bits of an fp32.
    Const(u32),
    /// A lane of what the node's own load brings.
    Load(u8),
    /// A lane of what the node's own look-up brings.
    Tex(u8),
}

/// An operand: a source for each component.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operand {
    /// Sources.
    pub comps: Vec<Src>,
    /// Negated, after the absolute value.
    pub negate: bool,
    /// Absolute value.
    pub absolute: bool,
}

impl Operand {
    /// One component as it is.
    pub(super) fn one(src: Src) -> Self {
        Self {
            comps: vec![src],
            negate: false,
            absolute: false,
        }
    }

    /// The registers among its sources.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        let cell = |src: &Src| if let Src::Cell(cell) = src { Some(*cell) } else { None };
        self.comps.iter().filter_map(cell)
    }
}

/// An interpolated input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VaryingLoad {
    /// Kind, as in the varying unit.
    pub kind: VaryingKind,
    /// Index in units of the alignment.
    pub index: u32,
    /// What the index counts in.
    pub alignment: Alignment,
}

/// A load of uniforms or temporaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoadAt {
    /// Of temporaries.
    pub temporary: bool,
    /// Index in units of the alignment.
    pub index: i32,
    /// What the index counts in.
    pub alignment: Alignment,
    /// What is added to the index.
    pub offset: Option<Cell>,
}

/// Coordinates of a look-up.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Coord {
    /// Straight from the varying unit.
    Varying(VaryingLoad),
    /// From a register.
    Register(Operand),
}

/// A look-up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tex {
    /// Number of the sampler.
    pub unit: u32,
    /// A cube map.
    pub cube: bool,
    /// Coordinates.
    pub coord: Coord,
    /// Level or bias, and whether it is the level.
    pub lod: Option<(Cell, bool)>,
}

/// What a select looks at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cond {
    /// A truth value.
    Value(Operand),
    /// A comparison that the scalar multiplier makes.
    Compare(MulOp, Operand, Operand),
}

/// What a node does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// An operation of a multiplier, an adder, or either.
    Alu {
        /// The multiplier's operation.
        mul: Option<MulOp>,
        /// The adder's operation.
        acc: Option<AccOp>,
    },
    /// A sum of three or four components of the first operand.
    Sum,
    /// First operand where the condition holds, else the second.
    Select(Cond),
    /// A function of the combine unit.
    Function(ScalarFunction),
    /// An interpolated input.
    Varying(VaryingLoad),
    /// Stores the operand's component to temporaries.
    Store {
        /// Float number.
        index: i32,
        /// What is added to it.
        offset: Option<Cell>,
    },
}

impl Kind {
    /// The operands of a select's condition.
    pub(super) fn compared(&self) -> impl Iterator<Item = &Operand> {
        let operands = match self {
            Self::Select(Cond::Value(operand)) => [Some(operand), None],
            Self::Select(Cond::Compare(_, a, b)) => [Some(a), Some(b)],
            _ => [None, None],
        };
        operands.into_iter().flatten()
    }
}

/// A move: multipliers and adders have it.
pub(super) const MOVE: Kind = Kind::Alu {
    mul: Some(MulOp::Mov),
    acc: Some(AccOp::Mov),
};

/// Something to be done in one instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// What.
    pub kind: Kind,
    /// Cells it writes, by component.
    pub dst: Vec<Cell>,
    /// Operands.
    pub src: Vec<Operand>,
    /// Destination modifier.
    pub modifier: Modifier,
    /// Load that comes with it.
    pub load: Option<LoadAt>,
    /// Look-up that comes with it.
    pub tex: Option<Tex>,
    /// Tag of the vector operation it came from.
    pub tag: u32,
    /// Its place in the program before vectors were joined.
    pub order: u32,
    /// Place in the source.
    pub span: Span,
    /// Local variables of the source that its results are: number of the result, local variable and component.
    pub named: Vec<(usize, u32, u32)>,
}

/// When in its instruction a node reads something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReadAt {
    /// A stage that does not depend on the unit.
    Stage(u8),
    /// The unit's stage.
    Unit,
}

/// Stages of an instruction, in order.
pub(super) mod stage {
    /// The varying unit.
    pub(crate) const VARYING: u8 = 0;
    /// The sampler.
    pub(crate) const SAMPLER: u8 = 1;
    /// Loads of uniforms and temporaries.
    pub(crate) const LOAD: u8 = 2;
    /// Multipliers.
    pub(crate) const MUL: u8 = 3;
    /// Adders.
    pub(crate) const ACC: u8 = 4;
    /// The combine unit.
    pub(crate) const COMBINE: u8 = 5;
    /// Stores of temporaries.
    pub(crate) const STORE: u8 = 6;
}

impl Node {
    /// A move of an operand.
    pub(super) fn mov(dst: Vec<Cell>, src: Operand, span: Span) -> Self {
        Self::new(MOVE, dst, vec![src], span)
    }

    /// A node with nothing that comes along.
    pub(super) fn new(kind: Kind, dst: Vec<Cell>, src: Vec<Operand>, span: Span) -> Self {
        Self {
            kind,
            dst,
            src,
            modifier: Modifier::None,
            load: None,
            tex: None,
            tag: 0,
            order: 0,
            span,
            named: Vec::new(),
        }
    }

    /// Whether it is a plain move.
    pub(super) fn is_move(&self) -> bool {
        self.kind == MOVE
    }

    /// Every cell it reads, and when.
    pub(super) fn reads(&self) -> impl Iterator<Item = (Cell, ReadAt)> + '_ {
        let sources = match self.kind {
            Kind::Select(_) => ReadAt::Stage(stage::ACC),
            Kind::Store { .. } => ReadAt::Stage(stage::STORE),
            _ => ReadAt::Unit,
        };
        let stored_at = match self.kind {
            Kind::Store { offset, .. } => offset,
            _ => None,
        };
        let coordinates = self.tex.as_ref().and_then(|tex| match &tex.coord {
            Coord::Register(operand) => Some(operand),
            Coord::Varying(_) => None,
        });
        let level = self.tex.as_ref().and_then(|tex| Some(tex.lod?.0));
        let loaded_from = self.load.and_then(|load| load.offset);
        let operands = self.src.iter().map(move |operand| (operand, sources));
        let operands = operands
            .chain(self.kind.compared().map(|operand| (operand, ReadAt::Stage(stage::MUL))))
            .chain(coordinates.map(|operand| (operand, ReadAt::Stage(stage::VARYING))));
        let scalars = [
            (stored_at, stage::STORE),
            (level, stage::SAMPLER),
            (loaded_from, stage::LOAD),
        ];
        let scalars = scalars.into_iter();
        operands
            .flat_map(|(operand, at)| operand.cells().map(move |cell| (cell, at)))
            .chain(scalars.filter_map(|(cell, stage)| Some((cell?, ReadAt::Stage(stage)))))
    }

    /// All its operands, those of conditions included.
    pub(super) fn operands_mut(&mut self) -> Vec<&mut Operand> {
        let mut all: Vec<&mut Operand> = self.src.iter_mut().collect();
        match &mut self.kind {
            Kind::Select(Cond::Value(operand)) => all.push(operand),
            Kind::Select(Cond::Compare(_, a, b)) => all.extend([a, b]),
            _ => {}
        }
        if let Some(Tex {
            coord: Coord::Register(operand),
            ..
        }) = &mut self.tex
        {
            all.push(operand);
        }
        all
    }

    /// Puts other cells in the place of those it reads.
    pub(super) fn rename_reads(&mut self, map: impl Fn(Cell) -> Cell) {
        for operand in self.operands_mut() {
            for src in &mut operand.comps {
                if let Src::Cell(cell) = src {
                    *cell = map(*cell);
                }
            }
        }
        if let Kind::Store {
            offset: Some(offset), ..
        } = &mut self.kind
        {
            *offset = map(*offset);
        }
        if let Some(Tex {
            lod: Some((cell, _)), ..
        }) = &mut self.tex
        {
            *cell = map(*cell);
        }
        if let Some(LoadAt {
            offset: Some(offset), ..
        }) = &mut self.load
        {
            *offset = map(*offset);
        }
    }
}

/// What is behind the last instruction of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// On to a block.
    Jump(usize),
    /// To a block when the condition holds for a and b, else to the other one.
    Branch {
        /// First operand.
        a: Src,
        /// Second operand.
        b: Src,
        /// Condition.
        condition: Condition,
        /// Where to when it holds.
        then: usize,
        /// Where to when not.
        other: usize,
    },
    /// No output.
    Discard,
    /// The end.
    Stop,
}

impl End {
    /// Cells it reads.
    pub(super) fn reads(&self) -> Vec<Cell> {
        match self {
            Self::Branch { a, b, .. } => [a, b]
                .into_iter()
                .filter_map(|src| if let Src::Cell(cell) = src { Some(*cell) } else { None })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Blocks it goes to.
    pub(super) fn targets(&self) -> Vec<usize> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch { then, other, .. } => vec![*then, *other],
            _ => Vec::new(),
        }
    }
}

/// A block of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeBlock {
    /// Nodes in order.
    pub nodes: Vec<Node>,
    /// End.
    pub end: End,
}

/// A program of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Nodes {
    /// Blocks in the order they will stand in.
    pub blocks: Vec<NodeBlock>,
    /// Cells there are.
    pub cells: u32,
    /// Lanes that cells must be in.
    pub lanes: CellMap<u8>,
    /// The colour: cells of register 0.
    pub outputs: Vec<Cell>,
    /// Floats of temporaries in use.
    pub temporaries: u32,
    /// Stores and loads that spilling put in.
    pub spills: [u32; 2],
}

impl Nodes {
    /// An unused cell.
    pub(super) fn cell(&mut self) -> Cell {
        self.cells += 1;
        self.cells - 1
    }
}
