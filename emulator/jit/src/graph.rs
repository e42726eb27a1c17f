//! What a program computes, as a graph of values in SSA form. Formulas are [recorded](crate::tracer) into it.

use crate::isa::Isa;
use num::half;
use std::collections::HashMap;
use std::ops::Range;

/// Number of a value.
pub type Value = u32;

/// The column or row of a quad whose values both of its columns or rows get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Neighbour {
    Left,
    Right,
    Upper,
    Lower,
}

/// An operation. Floats are as in [`Lanes`](num::lanes::Lanes); masks are what comparisons give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Floor,
    Trunc,
    Abs,
    Neg,
    Min,
    Max,
    /// a * b + c, where a * b needs no rounding.
    Fused,
    Gt,
    Ge,
    Eq,
    Ne,
    /// b where the mask a is set, c elsewhere.
    Select,
    /// To the nearest half, denormals to zero.
    RoundHalf,
    /// Clamped to 0 and 1, NaN to 0.
    Unit,
    /// Clamped to 0 and 1, then to the nearest half; what is below the smallest normal half may be any value that becomes the
    /// byte 0.
    HalfUnit,
    /// To an integer, towards zero.
    ToInt,
    /// From an integer to a float.
    ToFloat,
    AddInt,
    AndBits,
    OrBits,
    /// a | b | c.
    OrThree,
    /// a & b | c.
    AndOr,
    ShiftLeft(u8),
    ShiftRight(u8),
    /// Values of other lanes of the quads.
    Permute(Neighbour),
    /// The word of a texture, or of the [uniforms](crate::UNIFORMS), with an integer index; the last one for others.
    Gather(u8),
    /// The entry of a table with an integer index from 0 to 15.
    Lookup(u8),
    /// A copy: a row's value before another value is stored there.
    Move,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The same bits in every lane.
    Const(u32),
    /// A uniform, by its number.
    Uniform(u16),
    /// A float of [`Call::inputs`](crate::Call::inputs), by its byte offset.
    Input(u16),
    /// A row's value before the code runs.
    Row(u16),
    /// [`Call::words`](crate::Call::words) before the code runs.
    Destination,
    /// [`Texels::largest`](crate::Texels::largest) of a texture.
    Largest(u8),
    /// An operation on at most three values.
    Op(Kind, [Value; 3]),
}

impl Node {
    /// Whether it is in memory, and can be loaded at any time.
    pub(crate) fn is_leaf(self) -> bool {
        !matches!(self, Self::Op(..))
    }

    /// Whether it is in memory as one number for all lanes.
    pub(crate) fn is_of_all_lanes(self) -> bool {
        self.is_leaf() && !matches!(self, Self::Row(_) | Self::Destination)
    }
}

impl Kind {
    /// The number of operands.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::Fused | Self::Select | Self::OrThree | Self::AndOr => 3,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Min | Self::Max => 2,
            Self::Gt | Self::Ge | Self::Eq | Self::Ne | Self::AddInt | Self::AndBits | Self::OrBits => 2,
            _ => 1,
        }
    }

    /// Whether the result is a mask.
    pub(crate) fn is_mask(self) -> bool {
        matches!(self, Self::Gt | Self::Ge | Self::Eq | Self::Ne)
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// A half, denormals and both zeros included: products of two are exact.
    half: bool,
    /// What a register may hold: rounding changes nothing.
    register: bool,
    /// A multiple of two to this power, if it is a number.
    step: Option<i16>,
}

/// The smallest float is two to this power, and a half is a multiple of two to the other one.
const SMALLEST: i16 = -149;
const HALF_STEP: i16 = -24;

/// The power of two that a number is a multiple of, and the highest that is not more.
fn powers(bits: u32) -> Option<[i16; 2]> {
    let (mantissa, exponent) = (bits & 0x7f_ffff, (bits >> 23 & 0xff) as i16);
    match (mantissa, exponent) {
        (_, 0 | 0xff) => None,
        (mantissa, exponent) => {
            let whole = mantissa | 0x80_0000;
            Some([exponent - 150 + whole.trailing_zeros() as i16, exponent - 127])
        }
    }
}

/// What code does besides computing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Stores a value in a row.
    Store(u16, Value),
    /// Stores a value in a row, in all lanes whatever the mask.
    StoreAll(u16, Value),
    /// Stores a value in [`Call::words`](crate::Call::words).
    Words(Value),
    /// Ends the code where a mask is not set in all lanes: [`Variants::run`](crate::Variants::run) returns false.
    Guard(Value),
}

/// What rows hold when code is called.
#[derive(Clone, Debug, Default)]
pub struct RowTypes {
    /// Rows whose values are rounded to halves, denormals to zero, as [`Kind::RoundHalf`] does; others may hold any float.
    pub halves: [Range<u16>; 2],
    /// Two rows of columns in a tile and two of rows, alternating, such as of distances and pixels: in whole tiles their values
    /// are the same in all lanes of a column or a row. Only a graph that reads no other rows is compiled for whole tiles.
    pub places: Option<[u16; 4]>,
}

/// Values and effects. Equal nodes are one value.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub(crate) nodes: Vec<Node>,
    known: Vec<Known>,
    numbers: HashMap<Node, Value>,
    /// The effects, in order; guards are checked as early as possible.
    pub effects: Vec<Effect>,
    /// The texture that is recorded as being read.
    pub(crate) texture: u8,
    /// For each texture whether it is read.
    pub(crate) textures: Vec<bool>,
    /// Tables of [`Kind::Lookup`].
    pub(crate) tables: Vec<[u32; 16]>,
    rows: RowTypes,
    has_masks: bool,
    /// Products and sums are one instruction, and there is a short way to bytes with them.
    fuses: bool,
}

/// Whether products and sums are one instruction, and bytes the last bits of a sum.
fn fuses(isa: Isa) -> bool {
    isa.fma() && isa != Isa::Neon
}

impl Graph {
    /// An empty graph, for an instruction set and rows of these types.
    pub fn new(isa: Isa, rows: RowTypes) -> Self {
        Self {
            rows,
            has_masks: isa.evex(),
            fuses: fuses(isa),
            ..Self::default()
        }
    }

    /// Whether its operations are those of an instruction set.
    pub(crate) fn is_for(&self, isa: Isa) -> bool {
        self.has_masks == isa.evex() && self.fuses == fuses(isa)
    }

    /// Whether there are mask registers, and instructions of three operands of bits.
    pub fn has_masks(&self) -> bool {
        self.has_masks
    }

    /// The rows of lanes' columns and rows in a tile, if there are any.
    pub(crate) fn places(&self) -> Option<[u16; 4]> {
        self.rows.places
    }

    /// Whether all lanes of a tile may be computed at once: no rows are read but those of their places.
    pub(crate) fn takes_tiles(&self) -> bool {
        let is_other = |node: &Node, places: [u16; 4]| matches!(node, Node::Row(row) if !places.contains(row));
        self.rows
            .places
            .is_some_and(|places| !self.nodes.iter().any(|node| is_other(node, places)))
    }

    /// The nodes of all values.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The value of a node.
    pub fn node(&mut self, node: Node) -> Value {
        if let Some(value) = self.numbers.get(&node) {
            return *value;
        }
        let value = self.nodes.len() as Value;
        self.known.push(self.known_of(node));
        self.nodes.push(node);
        self.numbers.insert(node, value);
        value
    }

    fn known_of(&self, node: Node) -> Known {
        let both = |register: bool| Known {
            half: true,
            register,
            step: Some(HALF_STEP),
        };
        match node {
            Node::Const(bits) => {
                let value = f32::from_bits(bits);
                Known {
                    half: half::to_f32(half::from_f32(value)).to_bits() == bits,
                    register: half::round(value).to_bits() == bits,
                    step: match value {
                        0.0 => Some(0),
                        _ => powers(bits).map(|[step, _]| step),
                    },
                }
            }
            Node::Row(row) if self.rows.halves.iter().any(|rows| rows.contains(&row)) => both(true),
            Node::Row(_) => Known::default(),
            Node::Uniform(_) | Node::Input(_) | Node::Destination | Node::Largest(_) => Known::default(),
            Node::Op(kind, [a, b, c]) => {
                let of = |value: Value| self.known[value as usize];
                let all = |values: &[Value]| Known {
                    half: values.iter().all(|value| of(*value).half),
                    register: values.iter().all(|value| of(*value).register),
                    step: self.least_step(values),
                };
                let only = |step: Option<i16>| Known {
                    step: step.filter(|step| *step >= SMALLEST),
                    ..Known::default()
                };
                match kind {
                    Kind::RoundHalf => both(true),
                    Kind::HalfUnit => both(false),
                    Kind::ToFloat if self.is_byte(a) => Known {
                        step: Some(0),
                        ..both(true)
                    },
                    Kind::ToFloat | Kind::Floor | Kind::Trunc => only(Some(0)),
                    Kind::Unit => Known { step: None, ..of(a) },
                    Kind::Min | Kind::Max => all(&[a, b]),
                    Kind::Select => all(&[b, c]),
                    Kind::Permute(_) | Kind::Move | Kind::Abs => of(a),
                    Kind::Neg => Known {
                        register: false,
                        ..of(a)
                    },
                    // Rounding makes steps larger, if anything.
                    Kind::Mul => only(self.product_step(a, b)),
                    Kind::Add | Kind::Sub => only(self.least_step(&[a, b]).or_else(|| self.sum_step(a, b))),
                    Kind::Fused => only(
                        self.product_step(a, b)
                            .zip(of(c).step)
                            .map(|(product, step)| product.min(step)),
                    ),
                    _ => Known::default(),
                }
            }
        }
    }

    /// The power of two that all of some values are multiples of.
    fn least_step(&self, values: &[Value]) -> Option<i16> {
        let mut steps = values.iter().map(|value| self.known[*value as usize].step);
        steps.try_fold(i16::MAX, |least, step| Some(least.min(step?)))
    }

    /// The power of two that a product is a multiple of.
    fn product_step(&self, a: Value, b: Value) -> Option<i16> {
        let [a, b] = [a, b].map(|value| self.known[value as usize].step);
        Some(a? + b?)
    }

    /// The power of two that the sum of a constant and anything is a multiple of: it is at least half the constant, or what is
    /// added is.
    fn sum_step(&self, a: Value, b: Value) -> Option<i16> {
        let of_constant = |value: Value| match self.nodes[value as usize] {
            Node::Const(bits) => powers(bits).map(|[_, highest]| highest - 24),
            _ => None,
        };
        of_constant(a).or_else(|| of_constant(b))
    }

    /// A whole number from 0 to 255.
    pub(crate) fn is_byte(&self, value: Value) -> bool {
        match self.nodes[value as usize] {
            Node::Op(Kind::AndBits, [_, mask, _]) => self.nodes[mask as usize] == Node::Const(0xff),
            Node::Op(Kind::ShiftRight(24), _) => true,
            _ => false,
        }
    }

    /// The value of an operation.
    pub fn op(&mut self, kind: Kind, operands: &[Value]) -> Value {
        let mut all = [0; 3];
        all[..operands.len()].copy_from_slice(operands);
        match self.clamped(kind, operands) {
            Some(value) => self.node(Node::Op(Kind::Unit, [value, 0, 0])),
            None => self.node(Node::Op(kind, all)),
        }
    }

    /// What an operation clamps to 0 and 1, if it does that and there is a short way for it.
    fn clamped(&self, kind: Kind, operands: &[Value]) -> Option<Value> {
        let is = |value: Value, number: f32| self.nodes[value as usize] == Node::Const(number.to_bits());
        let (Kind::Min, [inner, one]) = (kind, operands) else {
            return None;
        };
        match self.nodes[*inner as usize] {
            Node::Op(Kind::Max, [value, zero, _]) if self.has_masks && is(*one, 1.0) && is(zero, 0.0) => Some(value),
            _ => None,
        }
    }

    /// The power of two that a value is a multiple of, if it is a number and that is known.
    pub(crate) fn step(&self, value: Value) -> Option<i16> {
        self.known[value as usize].step
    }

    /// The product a sum may swallow.
    fn exact_product(&self, value: Value) -> Option<(Value, Value)> {
        match self.nodes[value as usize] {
            Node::Op(Kind::Mul, [a, b, _]) if self.is_exact(a, b) => Some((a, b)),
            _ => None,
        }
    }

    /// Whether the product of two needs no rounding: that of halves, or with a power of two that is not too small.
    fn is_exact(&self, a: Value, b: Value) -> bool {
        let of = |value: Value| self.known[value as usize];
        let scales = |value: Value, by: Value| match self.nodes[by as usize] {
            Node::Const(bits) => {
                let step = powers(bits).filter(|[step, highest]| step == highest && *step <= 0);
                step.zip(of(value).step)
                    .is_some_and(|([power, _], step)| step + power >= SMALLEST)
            }
            _ => false,
        };
        of(a).half && of(b).half || scales(a, b) || scales(b, a)
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        if let Some((x, y)) = self.exact_product(a) {
            return self.op(Kind::Fused, &[x, y, b]);
        }
        if let Some((x, y)) = self.exact_product(b) {
            return self.op(Kind::Fused, &[x, y, a]);
        }
        self.op(Kind::Add, &[a, b])
    }

    /// Number of a table.
    pub(crate) fn table(&mut self, table: [u32; 16]) -> u8 {
        let have = self.tables.iter().position(|have| *have == table);
        have.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        }) as u8
    }

    /// A half from 0 to 1 that becomes the same byte as a value, if there is a short way to it; for a value that is there in any
    /// case, or is not.
    pub fn half_unit(&mut self, value: Value, is_there: bool) -> Option<Value> {
        if !self.fuses {
            return None;
        }
        match self.nodes[value as usize] {
            // Denormals become nothing in either case.
            Node::Op(Kind::RoundHalf, [exact, ..]) if !is_there => Some(self.op(Kind::HalfUnit, &[exact])),
            _ if self.known[value as usize].half => Some(self.op(Kind::Unit, &[value])),
            _ => None,
        }
    }

    pub(crate) fn round_half(&mut self, a: Value) -> Value {
        if self.known[a as usize].register {
            a
        } else {
            self.op(Kind::RoundHalf, &[a])
        }
    }
}
