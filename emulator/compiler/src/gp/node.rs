//! What the vertex processor's units are asked to do, before it is settled when.

use crate::ir::Span;

/// A number that a node makes.
pub type Id = usize;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// What a node makes.
    Node(Id),
    /// A float of the uniform memory.
    Memory(u32),
    /// A float of the attributes.
    Attribute(u32),
    /// A register's component, written by another block: register * 4 + component.
    Register(u32),
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An operation of the adders: its number, signs of the operands, whether they may be swapped.
    Acc(u16, [bool; 2], bool),
    /// A product, negated or not.
    Mul(bool),
    /// Condition, value where it holds, value where not.
    Select,
    /// A function: the complex unit's operation.
    Function(u16),
    /// The pass unit's clamp to the first two components of a vec4 of the uniform memory.
    Clamp(u32),
    /// The pass unit's step in front of an exponential (4) or behind a logarithm (5).
    Step(u16),
    /// A move.
    Move,
    /// A store to an output: number and component.
    Output(u16, u8),
    /// A store to a register that other blocks read: register and component.
    Keep(u16, u8),
    /// The branch.
    Branch,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What.
    pub kind: Kind,
    /// Operands.
    pub args: Vec<Arg>,
    /// Place in the source.
    pub span: Span,
}
