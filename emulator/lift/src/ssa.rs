//! The values of a lifted program: vectors of one to four components in static single assignment form, in blocks.
//!
//! Every operand is a *gather*: for each component of the operation it names a component of some earlier value, so
//! swizzles and registers that were filled piece by piece need no operations of their own. Registers are variables
//! until [`Builder::read`] and [`Builder::write`] have turned them into values (Braun et al., "Simple and Efficient
//! Construction of Static Single Assignment Form", 2013).

use std::collections::HashMap;

/// Number of a value.
pub type Id = u32;

/// Number of a block.
pub type BlockId = usize;

/// A variable: a component of a register, or of whatever else keeps numbers between instructions.
pub type Variable = u32;

/// One component of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    /// The value.
    pub value: Id,
    /// Its component.
    pub lane: u8,
}

/// An operand: the source of each component.
pub type Gather = Vec<Lane>;

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `a == b`
    Equal,
    /// `a != b`, true for values that are no numbers.
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
}

/// What comes from outside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Components of the inputs from a float number on.
    Stage(u32),
    /// A component of the inputs whose float number the operand gives.
    StageAt,
    /// `gl_FragCoord`.
    FragCoord,
    /// `gl_PointCoord`.
    PointCoord,
    /// 1.0 on front faces, else 0.0.
    FrontFacing,
    /// Uniforms from a float number on.
    Uniform(u32),
    /// Uniforms from the float number on that the operand gives.
    UniformAt,
}

/// How a texture's level is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// By the neighbours' coordinates.
    Implicit,
    /// By them, and the second operand added.
    Bias,
    /// The second operand.
    Exact,
}

/// What makes a value of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Bits of numbers, as many as the value is wide.
    Constant([u32; 4]),
    /// What comes from outside.
    Input(Input),
    /// Floats of the program's own memory from the number on that the operand gives.
    Load,
    /// Writes the second operand there; the value is of no use.
    Store,
    /// Comes from the block before, an operand for each of [`Block::before`].
    Phi,
    /// The operand itself.
    Copy,
    /// Minus.
    Neg,
    /// Absolute value.
    Abs,
    /// Rounded to fp16, numbers too small for a normal half to zero: what a fragment register keeps.
    Half,
    /// Clamped to 0 and 1.
    Saturate,
    /// Towards zero.
    Trunc,
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// Less its floor.
    Fract,
    /// -1, 0 or 1.
    Sign,
    /// 1 / x
    Rcp,
    /// Square root.
    Sqrt,
    /// 1 / sqrt(x)
    Rsqrt,
    /// Power of two.
    Exp2,
    /// Logarithm to base two.
    Log2,
    /// Sine of turns.
    SinTurns,
    /// Cosine of turns.
    CosTurns,
    /// Arc tangent.
    Atan,
    /// Arc tangent of the first by the second.
    Atan2,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// A matrix of uniforms, from a float number on, times the operand.
    Transform {
        /// Number of the matrix' first float.
        float: u32,
        /// Floats from a column to the next.
        stride: u8,
        /// Columns, as many as the operand has components.
        columns: u8,
    },
    /// Quotient.
    Div,
    /// `a < b ? a : b`
    Min,
    /// `a > b ? a : b`
    Max,
    /// Comparison: a truth value.
    Compare(Relation),
    /// Both truths.
    And,
    /// One of two truths.
    Or,
    /// One of two truths and not the other.
    Xor,
    /// 1.0 for a truth, else 0.0.
    Truth,
    /// The second operand where the first is true, else the third.
    Select,
    /// Scalar product of both operands.
    Dot,
    /// The operand by its length.
    Normalize,
    /// Change from the left pixel to the right one.
    DerivativeX,
    /// Change from the upper row to the lower one.
    DerivativeY,
    /// A texel: sampler, coordinates of a cube or a plane.
    Texture {
        /// Number of the sampler.
        sampler: u32,
        /// A cube's direction.
        cube: bool,
        /// Its level.
        level: Level,
    },
}

impl Op {
    /// The value is a truth, not a number.
    pub fn is_truth(self) -> bool {
        matches!(self, Self::Compare(_) | Self::And | Self::Or | Self::Xor)
    }

    /// The value does something besides being there.
    pub fn has_effect(self) -> bool {
        matches!(self, Self::Store)
    }
}

/// A value.
#[derive(Clone, Debug)]
pub struct Node {
    /// What makes it.
    pub op: Op,
    /// Of what.
    pub args: Vec<Gather>,
    /// Components.
    pub width: u8,
    /// Where.
    pub block: BlockId,
}

/// Where a block ends.
#[derive(Clone, Debug, Default)]
pub enum End {
    /// Nobody has said yet.
    #[default]
    Open,
    /// Goes on there.
    Jump(BlockId),
    /// Goes to the first where a truth holds, else to the second.
    Branch(Lane, BlockId, BlockId),
    /// The program's end.
    Exit,
    /// The fragment gives up.
    Discard,
}

impl End {
    /// The blocks that may follow.
    pub fn next(&self) -> Vec<BlockId> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch(_, yes, no) => vec![*yes, *no],
            Self::Open | Self::Exit | Self::Discard => Vec::new(),
        }
    }
}

/// A straight piece of the program.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its values in order.
    pub nodes: Vec<Id>,
    /// Its end.
    pub end: End,
    /// The blocks it may be come to from.
    pub before: Vec<BlockId>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// All values.
    pub nodes: Vec<Node>,
    /// All blocks; the first one is where it begins.
    pub blocks: Vec<Block>,
    /// What it gives: the results in the order of the front that made it.
    pub results: Vec<Gather>,
}

impl Function {
    /// The node of a value.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The bits of a lane that is constant.
    pub fn constant(&self, lane: Lane) -> Option<f32> {
        match self.node(lane.value).op {
            Op::Constant(bits) => Some(f32::from_bits(bits[usize::from(lane.lane)])),
            _ => None,
        }
    }
}

/// Builds a [`Function`] from blocks whose edges are known beforehand.
pub struct Builder {
    /// What is built.
    pub function: Function,
    definitions: HashMap<(BlockId, Variable), Lane>,
    /// Blocks all of whose predecessors have been filled.
    sealed: Vec<bool>,
    filled: Vec<bool>,
    /// Phis whose operands are not known yet, by block.
    incomplete: Vec<Vec<(Variable, Id)>>,
    /// Phis that turned out to be another lane.
    replaced: HashMap<Id, Lane>,
    pool: HashMap<u32, Id>,
}

impl Builder {
    /// A function of empty blocks; `edges` are each block's successors.
    pub fn new(edges: &[Vec<BlockId>]) -> Self {
        let mut blocks = vec![Block::default(); edges.len()];
        for (from, next) in edges.iter().enumerate() {
            for &to in next {
                if !blocks[to].before.contains(&from) {
                    blocks[to].before.push(from);
                }
            }
        }
        let mut builder = Self {
            definitions: HashMap::new(),
            sealed: vec![false; blocks.len()],
            filled: vec![false; blocks.len()],
            incomplete: vec![Vec::new(); blocks.len()],
            replaced: HashMap::new(),
            pool: HashMap::new(),
            function: Function {
                blocks,
                ..Function::default()
            },
        };
        (0..edges.len()).for_each(|block| builder.seal_if_ready(block));
        builder
    }

    /// Appends a value to a block.
    pub fn push(&mut self, block: BlockId, op: Op, args: Vec<Gather>, width: u8) -> Id {
        let id = self.node(block, op, args, width);
        self.function.blocks[block].nodes.push(id);
        id
    }

    fn node(&mut self, block: BlockId, op: Op, args: Vec<Gather>, width: u8) -> Id {
        let id = self.function.nodes.len() as Id;
        self.function.nodes.push(Node { op, args, width, block });
        id
    }

    /// A constant; equal ones are one value, which stands at the beginning of the program.
    pub fn number(&mut self, value: f32) -> Lane {
        let bits = value.to_bits();
        let value = match self.pool.get(&bits) {
            Some(id) => *id,
            None => {
                let id = self.node(0, Op::Constant([bits; 4]), Vec::new(), 1);
                self.function.blocks[0].nodes.insert(0, id);
                self.pool.insert(bits, id);
                id
            }
        };
        Lane { value, lane: 0 }
    }

    /// Sets a variable.
    pub fn write(&mut self, block: BlockId, variable: Variable, lane: Lane) {
        self.definitions.insert((block, variable), lane);
    }

    /// What a variable holds; one that nothing wrote holds zero.
    pub fn read(&mut self, block: BlockId, variable: Variable) -> Lane {
        let lane = match self.definitions.get(&(block, variable)) {
            Some(lane) => *lane,
            None => self.read_before(block, variable),
        };
        self.resolve(lane)
    }

    /// Walks chains of single predecessors in a loop, so that long programs need no deep stack.
    fn read_before(&mut self, block: BlockId, variable: Variable) -> Lane {
        let (mut chain, mut at) = (vec![block], block);
        let lane = loop {
            if let Some(lane) = self.definitions.get(&(at, variable)) {
                break *lane;
            }
            let before = &self.function.blocks[at].before;
            if !self.sealed[at] {
                let phi = self.phi(at);
                self.incomplete[at].push((variable, phi));
                break Lane { value: phi, lane: 0 };
            }
            match *before.as_slice() {
                [] => break self.number(0.0),
                // Blocks that nothing leads to may lead round in a circle.
                [_] if chain.len() > self.function.blocks.len() => break self.number(0.0),
                // The first block is come to from outside too.
                [one] if at != 0 => {
                    chain.push(one);
                    at = one;
                }
                _ => {
                    let phi = self.phi(at);
                    self.definitions.insert((at, variable), Lane { value: phi, lane: 0 });
                    break self.complete(at, variable, phi);
                }
            }
        };
        chain.into_iter().for_each(|block| {
            self.definitions.insert((block, variable), lane);
        });
        lane
    }

    fn phi(&mut self, block: BlockId) -> Id {
        self.node(block, Op::Phi, Vec::new(), 1)
    }

    /// Gives a phi its operands; one that only ever is one other lane becomes that.
    fn complete(&mut self, block: BlockId, variable: Variable, phi: Id) -> Lane {
        let before = self.function.blocks[block].before.clone();
        let operands: Vec<Gather> = before.into_iter().map(|from| vec![self.read(from, variable)]).collect();
        self.function.nodes[phi as usize].args = operands;
        self.simplify(phi)
    }

    fn simplify(&mut self, phi: Id) -> Lane {
        let me = Lane { value: phi, lane: 0 };
        // Before the first block everything is zero, as a phi's variable is.
        let first = self.function.nodes[phi as usize].block == 0;
        let mut same = first.then(|| self.number(0.0));
        for operand in self.function.nodes[phi as usize].args.clone() {
            let operand = self.resolve(operand[0]);
            if operand == me || Some(operand) == same {
                continue;
            }
            if same.is_some() {
                return me;
            }
            same = Some(operand);
        }
        let same = same.unwrap_or_else(|| self.number(0.0));
        self.replaced.insert(phi, same);
        same
    }

    fn resolve(&self, mut lane: Lane) -> Lane {
        while let Some(other) = self.replaced.get(&lane.value) {
            lane = *other;
        }
        lane
    }

    /// Says that a block has all its values, and how it ends.
    pub fn end(&mut self, block: BlockId, end: End) {
        self.function.blocks[block].end = end;
        self.filled[block] = true;
        let next = self.function.blocks[block].end.next();
        next.into_iter().for_each(|block| self.seal_if_ready(block));
    }

    fn seal_if_ready(&mut self, block: BlockId) {
        let ready = self.function.blocks[block].before.iter().all(|from| self.filled[*from]);
        if ready && !self.sealed[block] {
            self.sealed[block] = true;
            for (variable, phi) in std::mem::take(&mut self.incomplete[block]) {
                self.complete(block, variable, phi);
            }
        }
    }

    /// The function with its results.
    pub fn finish(mut self, results: Vec<Gather>) -> Function {
        self.function.results = results;
        // Removing one phi may leave another without a choice.
        loop {
            let open: Vec<Id> = (0..self.function.nodes.len() as Id)
                .filter(|id| self.function.node(*id).op == Op::Phi && !self.replaced.contains_key(id))
                .collect();
            let before = self.replaced.len();
            for phi in open {
                self.simplify(phi);
            }
            if self.replaced.len() == before {
                break;
            }
        }
        let lanes: Vec<Lane> = (0..self.function.nodes.len() as Id)
            .map(|value| self.resolve(Lane { value, lane: 0 }))
            .collect();
        let resolve = |lane: &mut Lane| {
            let other = lanes[lane.value as usize];
            if other.value != lane.value {
                *lane = other;
            }
        };
        let function = &mut self.function;
        function
            .nodes
            .iter_mut()
            .flat_map(|node| node.args.iter_mut().flatten())
            .for_each(resolve);
        function.results.iter_mut().flatten().for_each(resolve);
        for block in &mut function.blocks {
            if let End::Branch(lane, ..) = &mut block.end {
                resolve(lane);
            }
        }
        for id in 0..function.nodes.len() as Id {
            let node = function.node(id);
            if node.op == Op::Phi && lanes[id as usize].value == id {
                let block = node.block;
                function.blocks[block].nodes.insert(0, id);
            }
        }
        self.function
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_both_ways_write_becomes_a_phi_and_others_do_not() {
        let edges = [vec![1, 2], vec![3], vec![3], vec![]];
        let mut b = Builder::new(&edges);
        let (one, two) = (b.number(1.0), b.number(2.0));
        b.write(0, 7, one);
        let truth = b.push(0, Op::Compare(Relation::Less), vec![vec![one], vec![two]], 1);
        b.end(0, End::Branch(Lane { value: truth, lane: 0 }, 1, 2));
        b.write(1, 5, one);
        b.end(1, End::Jump(3));
        b.write(2, 5, two);
        b.end(2, End::Jump(3));
        let (merged, same) = (b.read(3, 5), b.read(3, 7));
        b.end(3, End::Exit);
        let f = b.finish(vec![vec![merged], vec![same]]);
        assert_eq!(f.node(f.results[0][0].value).op, Op::Phi);
        assert_eq!(f.constant(f.results[1][0]), Some(1.0));
    }

    #[test]
    fn a_loop_keeps_what_it_does_not_change() {
        // 0 -> 1 -> 2 -> 1, 1 -> 3
        let edges = [vec![1], vec![2, 3], vec![1], vec![]];
        let mut b = Builder::new(&edges);
        let (one, two) = (b.number(1.0), b.number(2.0));
        b.write(0, 0, one);
        b.write(0, 1, two);
        b.end(0, End::Jump(1));
        let (x, y) = (b.read(1, 0), b.read(1, 1));
        let truth = b.push(1, Op::Compare(Relation::Less), vec![vec![x], vec![y]], 1);
        b.end(1, End::Branch(Lane { value: truth, lane: 0 }, 2, 3));
        let x = b.read(2, 0);
        let sum = b.push(2, Op::Add, vec![vec![x], vec![y]], 1);
        b.write(2, 0, Lane { value: sum, lane: 0 });
        b.end(2, End::Jump(1));
        let (x, y) = (b.read(3, 0), b.read(3, 1));
        b.end(3, End::Exit);
        let f = b.finish(vec![vec![x], vec![y]]);
        assert_eq!(f.node(f.results[0][0].value).op, Op::Phi, "it counts");
        assert_eq!(f.constant(f.results[1][0]), Some(2.0), "the limit is what it was");
    }
}
