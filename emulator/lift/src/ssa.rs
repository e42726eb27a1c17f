//! The values of a lifted program: vectors of one to four components in static single assignment form, in blocks.
//!
//! Every operand is a *gather*: for each component of the operation it names a component of an earlier value, so that
//! swizzles and partially written registers need no operations. Registers are variables until [`Builder::read`] and
//! [`Builder::write`] have converted them to values (Braun et al., "Simple and Efficient Construction of Static Single
//! Assignment Form", 2013).

use std::collections::HashMap;

/// Number of a value.
pub(crate) type Id = u32;

/// Number of a block.
pub(crate) type BlockId = usize;

/// A variable: a component of a register, or of other state kept between instructions.
pub(crate) type Variable = u32;

/// One component of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Lane {
    /// The value.
    pub value: Id,
    /// Its component.
    pub lane: u8,
}

/// An operand: the source of each component.
pub(crate) type Gather = Vec<Lane>;

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    /// `a == b`
    Equal,
    /// `a != b`, true for values that are not numbers.
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
}

/// An input of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    /// Components of the inputs starting at a float.
    Stage(u32),
    /// A component of the inputs at a computed float index (the operand).
    StageAt,
    /// `gl_FragCoord`.
    FragCoord,
    /// `gl_PointCoord`.
    PointCoord,
    /// 1.0 on front faces, else 0.0.
    FrontFacing,
    /// Uniforms starting at a float.
    Uniform(u32),
    /// Uniforms starting at a computed float index (the operand).
    UniformAt,
}

/// How a texture's level is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Level {
    /// From the neighbours' coordinates.
    Implicit,
    /// From the neighbours' coordinates plus the second operand.
    Bias,
    /// The second operand.
    Exact,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Constant bits, one number per component.
    Constant([u32; 4]),
    /// An input.
    Input(Input),
    /// Floats of the program's memory, starting at the index in the operand.
    Load,
    /// Writes the second operand to memory; the result is unused.
    Store,
    /// One operand for each of [`Block::before`].
    Phi,
    /// The operand itself.
    Copy,
    /// Negation.
    Neg,
    /// Absolute value.
    Abs,
    /// Rounds to fp16 and flushes denormals to zero, as a fragment register does.
    Half,
    /// Clamped to 0 and 1.
    Saturate,
    /// Rounds towards zero.
    Trunc,
    /// Rounds down.
    Floor,
    /// Rounds up.
    Ceil,
    /// Fractional part: the operand minus its floor.
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
    /// Sine; the angle is in turns.
    SinTurns,
    /// Cosine; the angle is in turns.
    CosTurns,
    /// Arc tangent.
    Atan,
    /// Arc tangent of the quotient of the first and second.
    Atan2,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// A uniform matrix, starting at a float, times the operand.
    Transform {
        /// Index of the matrix's first float.
        float: u32,
        /// Floats between columns.
        stride: u8,
        /// Columns: the operand's number of components.
        columns: u8,
    },
    /// Quotient.
    Div,
    /// `a < b ? a : b`
    Min,
    /// `a > b ? a : b`
    Max,
    /// Comparison; the result is a bool.
    Compare(Relation),
    /// Logical and.
    And,
    /// Logical or.
    Or,
    /// Logical exclusive or.
    Xor,
    /// 1.0 for true, else 0.0.
    Truth,
    /// The second operand where the first is true, else the third.
    Select,
    /// Dot product.
    Dot,
    /// The operand divided by its length.
    Normalize,
    /// Difference of the right and the left pixel.
    DerivativeX,
    /// Difference of the lower and the upper row.
    DerivativeY,
    /// A texel: sampler, coordinates in a cube or a plane.
    Texture {
        /// Index of the sampler.
        sampler: u32,
        /// Whether it is a cube map.
        cube: bool,
        /// Its level.
        level: Level,
    },
}

impl Op {
    /// Whether the value is a bool rather than a number.
    pub(crate) fn is_truth(self) -> bool {
        matches!(self, Self::Compare(_) | Self::And | Self::Or | Self::Xor)
    }

    /// Whether the operation has a side effect.
    pub(crate) fn has_effect(self) -> bool {
        matches!(self, Self::Store)
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its operation.
    pub op: Op,
    /// Its operands.
    pub args: Vec<Gather>,
    /// Components.
    pub width: u8,
    /// Its block.
    pub block: BlockId,
}

/// The end of a block.
#[derive(Clone, Debug, Default)]
pub(crate) enum End {
    /// Not set yet.
    #[default]
    Open,
    /// Continues at a block.
    Jump(BlockId),
    /// Continues at the first block if the lane is true, else at the second.
    Branch(Lane, BlockId, BlockId),
    /// The end of the program.
    Exit,
    /// The fragment is discarded.
    Discard,
}

impl End {
    /// Its possible successors.
    pub(crate) fn next(&self) -> Vec<BlockId> {
        match self {
            Self::Jump(to) => vec![*to],
            Self::Branch(_, yes, no) => vec![*yes, *no],
            Self::Open | Self::Exit | Self::Discard => Vec::new(),
        }
    }
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// Its values in order.
    pub nodes: Vec<Id>,
    /// Its end.
    pub end: End,
    /// Its predecessors.
    pub before: Vec<BlockId>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    /// All values.
    pub nodes: Vec<Node>,
    /// All blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// The results, in the order of the front end that made it.
    pub results: Vec<Gather>,
}

impl Function {
    /// The node of a value.
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The value of a constant lane.
    pub(crate) fn constant(&self, lane: Lane) -> Option<f32> {
        match self.node(lane.value).op {
            Op::Constant(bits) => Some(f32::from_bits(bits[usize::from(lane.lane)])),
            _ => None,
        }
    }
}

/// Builds a [`Function`] from blocks with known edges.
pub(crate) struct Builder {
    /// The function under construction.
    pub function: Function,
    definitions: HashMap<(BlockId, Variable), Lane>,
    /// Whether all predecessors of a block are filled.
    sealed: Vec<bool>,
    filled: Vec<bool>,
    /// Phis without operands yet, by block.
    incomplete: Vec<Vec<(Variable, Id)>>,
    /// Phis that were replaced by another lane.
    replaced: HashMap<Id, Lane>,
    pool: HashMap<u32, Id>,
}

impl Builder {
    /// A function of empty blocks; `edges` are each block's successors.
    pub(crate) fn new(edges: &[Vec<BlockId>]) -> Self {
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
    pub(crate) fn push(&mut self, block: BlockId, op: Op, args: Vec<Gather>, width: u8) -> Id {
        let id = self.node(block, op, args, width);
        self.function.blocks[block].nodes.push(id);
        id
    }

    fn node(&mut self, block: BlockId, op: Op, args: Vec<Gather>, width: u8) -> Id {
        let id = self.function.nodes.len() as Id;
        self.function.nodes.push(Node { op, args, width, block });
        id
    }

    /// A constant; equal ones share one value at the program's start.
    pub(crate) fn number(&mut self, value: f32) -> Lane {
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
    pub(crate) fn write(&mut self, block: BlockId, variable: Variable, lane: Lane) {
        self.definitions.insert((block, variable), lane);
    }

    /// The value of a variable; zero if it was never written.
    pub(crate) fn read(&mut self, block: BlockId, variable: Variable) -> Lane {
        let lane = match self.definitions.get(&(block, variable)) {
            Some(lane) => *lane,
            None => self.read_before(block, variable),
        };
        self.resolve(lane)
    }

    /// Follows chains of single predecessors in a loop, so that long programs do not recurse deeply.
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
                // Unreachable blocks may form a cycle.
                [_] if chain.len() > self.function.blocks.len() => break self.number(0.0),
                // The first block also has the entry as a predecessor.
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

    /// Adds a phi's operands; a phi of only one distinct lane is replaced by it.
    fn complete(&mut self, block: BlockId, variable: Variable, phi: Id) -> Lane {
        let before = self.function.blocks[block].before.clone();
        let operands: Vec<Gather> = before.into_iter().map(|from| vec![self.read(from, variable)]).collect();
        self.function.nodes[phi as usize].args = operands;
        self.simplify(phi)
    }

    fn simplify(&mut self, phi: Id) -> Lane {
        let me = Lane { value: phi, lane: 0 };
        // On entry all variables are zero.
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

    /// Marks a block as filled, and sets its end.
    pub(crate) fn end(&mut self, block: BlockId, end: End) {
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

    /// Returns the function with these results.
    pub(crate) fn finish(mut self, results: Vec<Gather>) -> Function {
        self.function.results = results;
        // Removing a phi may make another redundant.
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
    fn only_variables_written_on_both_paths_become_phis() {
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
    fn a_loop_keeps_unchanged_variables() {
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
        assert_eq!(f.constant(f.results[1][0]), Some(2.0), "the limit is unchanged");
    }

    /// The phis that are in the blocks.
    fn phis(function: &Function) -> usize {
        let ids = function.blocks.iter().flat_map(|block| &block.nodes);
        ids.filter(|id| function.node(**id).op == Op::Phi).count()
    }

    #[test]
    fn loops_in_loops_keep_unchanged_variables() {
        // 0 -> 1 -> 2 -> 3 -> 2, 3 -> 1, 1 -> 4: variable 0 is unchanged, 1 is changed in block 3, 2 is never written.
        let edges = [vec![1], vec![2, 4], vec![3], vec![2, 1], vec![]];
        let mut b = Builder::new(&edges);
        let (one, two) = (b.number(1.0), b.number(2.0));
        b.write(0, 0, two);
        b.write(0, 1, one);
        b.end(0, End::Jump(1));
        let limit = b.read(1, 0);
        let truth = b.push(1, Op::Compare(Relation::Less), vec![vec![limit], vec![one]], 1);
        b.end(1, End::Branch(Lane { value: truth, lane: 0 }, 2, 4));
        b.end(2, End::Jump(3));
        let (x, y, z) = (b.read(3, 0), b.read(3, 1), b.read(3, 2));
        let sum = b.push(3, Op::Add, vec![vec![x], vec![y]], 1);
        let more = b.push(3, Op::Add, vec![vec![z], vec![y]], 1);
        b.write(3, 1, Lane { value: sum, lane: 0 });
        let truth = b.push(3, Op::Compare(Relation::Less), vec![vec![x], vec![y]], 1);
        b.end(3, End::Branch(Lane { value: truth, lane: 0 }, 2, 1));
        let results = vec![vec![b.read(4, 0)], vec![b.read(4, 1)], vec![b.read(4, 2)]];
        b.end(4, End::Exit);
        let f = b.finish(results);
        assert_eq!(f.constant(f.results[0][0]), Some(2.0));
        assert_eq!(f.node(f.results[1][0].value).op, Op::Phi);
        assert_eq!(f.constant(f.results[2][0]), Some(0.0));
        // One phi for variable 1 in each head; every use has the value itself.
        assert_eq!(phis(&f), 2);
        assert_eq!(f.constant(f.node(sum).args[0][0]), Some(2.0));
        assert_eq!(f.constant(f.node(more).args[0][0]), Some(0.0));
        assert_eq!(f.constant(f.node(truth).args[0][0]), Some(2.0));
        assert_eq!(f.blocks[1].before, [0, 3]);
    }

    #[test]
    fn variables_are_zero_at_the_start_even_if_it_is_a_loop() {
        // 0 -> 0, 0 -> 1
        let mut b = Builder::new(&[vec![0, 1], vec![]]);
        let (x, same) = (b.read(0, 0), b.read(0, 1));
        let one = b.number(1.0);
        let sum = b.push(0, Op::Add, vec![vec![x], vec![one]], 1);
        b.write(0, 0, Lane { value: sum, lane: 0 });
        let truth = b.push(0, Op::Compare(Relation::Less), vec![vec![x], vec![one]], 1);
        b.end(0, End::Branch(Lane { value: truth, lane: 0 }, 0, 1));
        b.end(1, End::Exit);
        let f = b.finish(vec![vec![x], vec![same]]);
        assert_eq!(f.node(x.value).op, Op::Phi);
        assert_eq!(f.constant(f.results[1][0]), Some(0.0));
        assert_eq!(phis(&f), 1);
    }

    #[test]
    fn blocks_that_nothing_reaches_read_zeros() {
        // 0; 1 -> 2 -> 1, 3
        let mut b = Builder::new(&[vec![], vec![2], vec![1], vec![]]);
        b.end(0, End::Exit);
        for block in [1, 2] {
            b.read(block, 5);
            b.end(block, End::Jump(3 - block));
        }
        let (lost, alone) = (b.read(2, 5), b.read(3, 5));
        b.end(3, End::Exit);
        let f = b.finish(vec![vec![lost], vec![alone]]);
        assert_eq!(
            f.results.iter().map(|lane| f.constant(lane[0])).collect::<Vec<_>>(),
            [Some(0.0); 2]
        );
    }

    #[test]
    fn numbers_that_are_equal_are_one_value() {
        let mut b = Builder::new(&[vec![1], vec![]]);
        let value = b.push(0, Op::Input(Input::FragCoord), Vec::new(), 4);
        b.end(0, End::Jump(1));
        let lanes = [1.0, 0.0, -0.0, 1.0].map(|number| b.number(number));
        b.end(1, End::Exit);
        let f = b.finish(vec![lanes.to_vec()]);
        assert_eq!(lanes[0], lanes[3]);
        assert_ne!(lanes[1], lanes[2]);
        // They are ahead of everything else.
        assert_eq!(f.blocks[0].nodes.last(), Some(&value));
        assert_eq!((f.blocks[0].nodes.len(), f.blocks[1].nodes.len()), (4, 0));
    }
}
