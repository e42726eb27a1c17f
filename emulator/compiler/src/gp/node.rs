//! What the vertex processor's units are asked to do, before it is settled when.

use crate::ir::Span;
use utgard::gp::{AccOp, ComplexOp, Component, PassOp};

/// A number that a node makes.
pub(super) type Id = usize;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arg {
    /// What a node makes.
    Node(Id),
    /// A float of the memory that uniforms, constants and temporaries share.
    Memory(u32),
    /// A float of the attributes.
    Attribute(u32),
    /// A register's component, written by another block: register * 4 + component.
    Register(u32),
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An operation of the adders, signs of the operands, whether they may be swapped.
    Acc(AccOp, [bool; 2], bool),
    /// A product, negated or not.
    Mul(bool),
    /// Condition, value where it holds, value where not.
    Select,
    /// A function: the complex unit's operation.
    Function(ComplexOp),
    /// The pass unit's clamp to the first two components of a vec4 of the uniform memory.
    Clamp(u32),
    /// The pass unit's step in front of an exponential or behind a logarithm.
    Step(PassOp),
    /// A move.
    Move,
    /// A store to an output: number and component.
    Output(u16, Component),
    /// A store to a register that other blocks read: register and component.
    Keep(u16, Component),
    /// A store to a temporary that other blocks read: vec4 of the memory and component. The second operand is the
    /// vec4's number.
    Spill(u32, Component),
    /// The branch.
    Branch,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// What.
    pub kind: Kind,
    /// Operands.
    pub args: Vec<Arg>,
    /// Place in the source.
    pub span: Span,
    /// Local variables of the source that its result is, and the component of each.
    pub named: Vec<(u32, u32)>,
}

impl Node {
    /// The place of another block's that a store overwrites: its readers come first.
    pub(super) fn overwrites(&self) -> Option<Arg> {
        match self.kind {
            Kind::Keep(register, component) => Some(Arg::Register(u32::from(register) * 4 + component.index() as u32)),
            Kind::Spill(vector, component) => Some(Arg::Memory(vector * 4 + component.index() as u32)),
            _ => None,
        }
    }
}
