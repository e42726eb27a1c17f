//! What a piece of a program computes, as a graph of values. The formulas are not written here, but
//! [traced](super::tracer).

use crate::exec::native::call::{PLACES, SAMPLES};
use crate::exec::native::isa::Isa;
use crate::exec::wide::fragment_code::row;
use num::half;
use std::collections::HashMap;

/// Number of a value.
pub(crate) type Value = u32;

/// Which of a quad's two columns or rows all of it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Neighbour {
    Left,
    Right,
    Upper,
    Lower,
}

/// What is computed of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Kind {
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
    /// a * b + c of which a * b is exact.
    Fused,
    /// A mask.
    Gt,
    Ge,
    Eq,
    Ne,
    /// The mask a's b, c elsewhere.
    Select,
    RoundHalf,
    /// Clamped to 0 and 1, NaN to 0.
    Unit,
    /// From 0 to 1, to the nearest half, where that is a normal one: what becomes a byte, which is 0 for all below.
    HalfUnit,
    /// Whole numbers, cut.
    ToInt,
    /// Floats of whole numbers.
    ToFloat,
    AddInt,
    AndBits,
    OrBits,
    /// Bits that are in one of three.
    OrThree,
    /// Bits of a that b has, and all of c.
    AndOr,
    ShiftLeft(u8),
    ShiftRight(u8),
    /// Neighbours in the quads.
    Permute(Neighbour),
    /// The texture's word with this whole number, or the uniform; the last one where it is not there.
    Gather(u8),
    /// The table's entry of this whole number from 0 to 15.
    Lookup(u8),
    /// The value, on its own.
    Move,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// The same bits in every lane.
    Const(u32),
    /// A uniform.
    Uniform(u16),
    /// A float of the primitive's inputs, by its byte.
    Input(u16),
    /// A row as it is in the beginning.
    Row(u16),
    /// What words are blended with.
    Destination,
    /// The largest level of a texture that is there.
    Largest(u8),
    /// Computed of at most three.
    Op(Kind, [Value; 3]),
}

/// What is not computed, but found in memory.
impl Node {
    /// Whether it can be had again at any time.
    pub(crate) fn is_leaf(self) -> bool {
        !matches!(self, Self::Op(..))
    }

    /// Whether it is found as one number for all lanes.
    pub(crate) fn is_of_all_lanes(self) -> bool {
        self.is_leaf() && !matches!(self, Self::Row(_) | Self::Destination)
    }
}

/// How many of an operation's values count.
impl Kind {
    /// Operands.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::Fused | Self::Select | Self::OrThree | Self::AndOr => 3,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Min | Self::Max => 2,
            Self::Gt | Self::Ge | Self::Eq | Self::Ne | Self::AddInt | Self::AndBits | Self::OrBits => 2,
            _ => 1,
        }
    }

    /// The result is a mask.
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

/// Something that has to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    /// A row becomes a value.
    Store(u16, Value),
    /// A row becomes a value, for all lanes whatever the mask.
    StoreAll(u16, Value),
    /// The words of all lanes.
    Words(Value),
    /// Where the mask does not hold, the code bails out.
    Guard(Value),
}

/// Values, and what has to be done with them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The values.
    pub nodes: Vec<Node>,
    known: Vec<Known>,
    numbers: HashMap<Node, Value>,
    /// What has to be done, in order.
    pub effects: Vec<Effect>,
    /// The texture that is being looked into.
    pub texture: u8,
    /// For each texture whether it is looked into.
    pub textures: Vec<bool>,
    /// Tables that are looked things up in.
    pub tables: Vec<[u32; 16]>,
    /// Rows are those of vertices, which hold whole floats.
    of_vertices: bool,
    /// Rows from this one on have what planes come to, where fragments are batched.
    batched: Option<u16>,
    /// There are mask registers, and with them short ways.
    pub(crate) has_masks: bool,
    /// Products and sums are one instruction, and there is a short way to bytes with them.
    fuses: bool,
}

impl Graph {
    /// An empty graph of a fragment program.
    pub(crate) fn new(isa: Isa) -> Self {
        Self {
            has_masks: isa.evex(),
            fuses: isa.fma() && isa != Isa::Neon,
            ..Self::default()
        }
    }

    /// An empty graph of a vertex program.
    pub(crate) fn of_vertices(isa: Isa) -> Self {
        Self {
            of_vertices: true,
            ..Self::new(isa)
        }
    }

    /// An empty graph of a program for batched fragments, whose planes are in the rows from `first` on.
    pub(crate) fn batched(isa: Isa, first: u16) -> Self {
        Self {
            batched: Some(first),
            ..Self::new(isa)
        }
    }

    /// Whether a row has what a plane comes to.
    fn is_batched(&self, row: u16) -> bool {
        self.batched.is_some_and(|first| row >= first)
    }

    /// Whether all of a tile's fragments may be computed at once: no rows are read but those of their places.
    pub(crate) fn takes_tiles(&self) -> bool {
        let is_sample = |node: &Node| matches!(node, Node::Row(row) if SAMPLES.contains(row));
        self.batched.is_none() && self.is_of_places() && !self.nodes.iter().any(is_sample)
    }

    /// Whether no rows are read but those of fragments' places and samples, and of batched planes.
    pub(crate) fn is_of_places(&self) -> bool {
        let others = |node: &Node| match node {
            Node::Row(row) => !PLACES.contains(row) && !SAMPLES.contains(row) && !self.is_batched(*row),
            _ => false,
        };
        !self.nodes.iter().any(others)
    }

    /// The value of a node.
    pub(crate) fn node(&mut self, node: Node) -> Value {
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
            Node::Row(row) if self.of_vertices || self.is_batched(row) => Known::default(),
            // Registers and temporaries.
            Node::Row(row) => {
                if (row::TEXTURE - 8..row::TEMPORARIES).contains(&row) {
                    Known::default()
                } else {
                    both(true)
                }
            }
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

    pub(crate) fn op(&mut self, kind: Kind, operands: &[Value]) -> Value {
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
    pub(crate) fn half_unit(&mut self, value: Value, is_there: bool) -> Option<Value> {
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
