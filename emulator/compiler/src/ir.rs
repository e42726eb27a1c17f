//! The compiler's own form of a program: static single assignment over scalars, blocks with a jump at their end.
//!
//! Every value is one number. What belonged to one vector operation in the source keeps a common tag, so that the
//! fragment processor's back end can put it together again; the vertex processor is scalar anyway.

use std::ops::Range;
use utgard::debug::Local;

/// A value: the instruction that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(pub u32);

/// Bytes of the source, in a call of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// Index of the call.
    pub call: u32,
}

/// A place in the source, or nothing.
pub type Span = Option<Place>;

/// A call of a function, which became part of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// Index of the call that it is in, and where; `None` of the entry point.
    pub caller: Option<(u32, Span)>,
}

/// What comes from outside for each vertex or fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A scalar of the attributes, in the order of the interface.
    Attribute(u32),
    /// A scalar of the varyings, in the order of the interface.
    Varying(u32),
    /// Position in the window; the fourth component is 1/w already turned.
    FragCoord(u8),
    /// Place inside a point.
    PointCoord(u8),
    /// 1 for the front.
    FrontFacing,
}

/// Where a texture's level comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lod {
    /// Differences between neighbours.
    Implicit,
    /// The same, and the last argument added.
    Bias,
    /// The last argument.
    Explicit,
}

/// An operation. Truth values are 1.0 and 0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A number, as bits.
    Const(u32),
    /// A scalar of the uniforms, in the order of the interface.
    Uniform(u32),
    /// A scalar of the uniforms: the first one plus the argument times a stride; elements there are.
    UniformAt {
        /// Scalar at index 0.
        base: u32,
        /// Scalars from one index to the next.
        stride: u32,
        /// Indices there are.
        count: u32,
    },
    /// What comes from outside.
    Input(Input),
    /// a + b
    Add,
    /// a * b
    Mul,
    /// Sum of three or four.
    Sum,
    /// -a
    Neg,
    /// |a|
    Abs,
    /// a clamped to 0 and 1.
    Sat,
    /// a < b ? a : b
    Min,
    /// a > b ? a : b
    Max,
    /// Next whole number below.
    Floor,
    /// Next whole number above.
    Ceil,
    /// a - floor(a)
    Fract,
    /// Towards zero.
    Trunc,
    /// -1, 0 or 1.
    Sign,
    /// 1 / a
    Rcp,
    /// 1 / sqrt(a)
    Rsqrt,
    /// Square root.
    Sqrt,
    /// 2 to the power of a.
    Exp2,
    /// Logarithm to base 2.
    Log2,
    /// Sine of a turns.
    Sin,
    /// Cosine of a turns.
    Cos,
    /// a < b
    Lt,
    /// a >= b
    Ge,
    /// a == b
    Eq,
    /// a != b
    Ne,
    /// a == 0
    Not,
    /// Both.
    And,
    /// Either.
    Or,
    /// One of them.
    Xor,
    /// a ? b : c
    Select,
    /// Difference to the neighbour in x.
    Ddx,
    /// Difference to the neighbour in y.
    Ddy,
    /// A texture look-up; arguments are coordinates, then the level. Its components are taken by [`Op::Lane`].
    Texture {
        /// Number of the sampler.
        unit: u32,
        /// A cube map.
        cube: bool,
        /// Level.
        lod: Lod,
    },
    /// A component of a texture look-up.
    Lane(u8),
    /// One of the arguments, by the block that was left; in the order of the block's predecessors.
    Phi,
    /// Reads a scalar of the local memory: place plus argument.
    Load(u32),
    /// Writes a scalar of the local memory: place plus first argument, value.
    Store(u32),
    /// The argument as it is, where a copy is needed.
    Copy,
}

impl Op {
    /// The operation has an effect beside its value, or is ordered among those that have.
    pub fn is_memory(self) -> bool {
        matches!(self, Self::Load(_) | Self::Store(_))
    }

    /// It may run although its block would not have run, and costs little.
    pub fn is_cheap(self) -> bool {
        !matches!(
            self,
            Self::Texture { .. } | Self::Lane(_) | Self::Load(_) | Self::Store(_) | Self::Phi | Self::Ddx | Self::Ddy
        )
    }

    /// The order of two arguments does not matter.
    pub fn commutes(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Mul | Self::Eq | Self::Ne | Self::And | Self::Or | Self::Xor | Self::Min | Self::Max
        )
    }
}

/// An operation with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Arguments.
    pub args: Vec<Value>,
    /// Place in the source.
    pub span: Span,
    /// Instructions with the same tag came from one vector operation; 0 for none.
    pub tag: u32,
}

/// What is behind the last instruction of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Not known yet.
    Open,
    /// On to a block.
    Jump(Block),
    /// To the first block when the value is not 0, else to the second.
    Branch(Value, Block, Block),
    /// The fragment ends without output.
    Discard,
    /// The program ends with the outputs.
    End,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    /// Instructions in order, phis first.
    pub insts: Vec<Value>,
    /// End.
    pub term: Term,
    /// Blocks that go here, in the order of the phis' arguments.
    pub preds: Vec<Block>,
}

/// What a program leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Component of the position in clip space.
    Position(u8),
    /// Size of a point.
    PointSize,
    /// A scalar of the varyings, in the order of the interface.
    Varying(u32),
    /// Component of the fragment's colour.
    Color(u8),
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Instructions by value.
    pub values: Vec<Inst>,
    /// Blocks.
    pub blocks: Vec<BlockData>,
    /// Blocks in the order of the source; the first is where it begins.
    pub layout: Vec<Block>,
    /// What it leaves behind; used where a block ends it.
    pub outputs: Vec<(Output, Value)>,
    /// Scalars of local memory.
    pub memory: u32,
    /// Calls of functions, the entry point's first.
    pub calls: Vec<Call>,
    /// Local variables of the source.
    pub locals: Vec<Local>,
    /// Values that were given to local variables: index and component.
    pub assigned: Vec<(Value, u32, u32)>,
}

impl Function {
    /// The instruction of a value.
    pub fn inst(&self, value: Value) -> &Inst {
        &self.values[value.0 as usize]
    }

    /// A value's number, when it is one.
    pub fn constant(&self, value: Value) -> Option<f32> {
        match self.inst(value).op {
            Op::Const(bits) => Some(f32::from_bits(bits)),
            _ => None,
        }
    }

    /// A block.
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block.0 as usize]
    }

    /// Appends an instruction that is in no block yet.
    pub fn add(&mut self, inst: Inst) -> Value {
        self.values.push(inst);
        Value(self.values.len() as u32 - 1)
    }

    /// Numbers of all blocks.
    pub fn block_ids(&self) -> impl Iterator<Item = Block> + use<> {
        (0..self.blocks.len() as u32).map(Block)
    }

    /// Blocks that a block goes to.
    pub fn successors(&self, block: Block) -> Vec<Block> {
        match self.block(block).term {
            Term::Jump(to) => vec![to],
            Term::Branch(_, a, b) => vec![a, b],
            _ => Vec::new(),
        }
    }

    /// How often each value is used, by instructions in blocks, branches and outputs.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.values.len()];
        for block in &self.blocks {
            for value in &block.insts {
                for arg in &self.inst(*value).args {
                    uses[arg.0 as usize] += 1;
                }
            }
            if let Term::Branch(value, ..) = block.term {
                uses[value.0 as usize] += 1;
            }
        }
        for (_, value) in &self.outputs {
            uses[value.0 as usize] += 1;
        }
        uses
    }

    /// Reachable blocks in the order of the source: every block behind those that dominate it, loops in one piece.
    pub fn order(&self) -> Vec<Block> {
        let mut seen = vec![false; self.blocks.len()];
        let mut pending = Vec::from_iter(self.layout.first().copied());
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut seen[block.0 as usize], true) {
                pending.extend(self.successors(block));
            }
        }
        let reachable = |block: &Block| seen[block.0 as usize];
        self.layout.iter().copied().filter(reachable).collect()
    }
}

/// A range of bytes as a place in a call.
pub fn span(range: Option<Range<usize>>, call: u32) -> Span {
    range.map(|range| Place {
        start: range.start as u32,
        end: range.end as u32,
        call,
    })
}

/// A span as a range.
pub fn range(span: Span) -> Option<Range<usize>> {
    span.map(|place| place.start as usize..place.end as usize)
}
