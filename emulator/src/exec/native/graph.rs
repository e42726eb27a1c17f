//! What a piece of a program computes, as a graph of values. The formulas are not written here: they are those of
//! every engine, generic in [`Lanes`], run once with lanes that take notes instead of computing.

use super::call::{PLACES, UNIFORMS};
use super::isa::Isa;
use crate::blend::{Blending, unit};
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::wide::alu::{Alu, Operand, Source, formula, modified};
use crate::exec::wide::fragment_code::{Input, row};
use num::half;
use num::lanes::{Lanes, QuadLanes};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::offset_of;
use utgard::state::Compare;

/// Number of a value.
pub type Value = u32;

/// Which of a quad's two columns or rows all of it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Neighbour {
    Left,
    Right,
    Upper,
    Lower,
}

/// What is computed of values.
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
    /// The half that is nearest to an 8192th: only where roundings are hopeful.
    RoundScaled,
    /// From 0 to 1, what is no number as 0.
    Unit,
    /// From 0 to 1, to the nearest half, where that is a normal one: what becomes a byte, which is 0 for all below.
    HalfUnit,
    /// The same of an 8192th: only where roundings are hopeful.
    HalfUnitScaled,
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
pub enum Node {
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
    pub fn is_leaf(self) -> bool {
        !matches!(self, Self::Op(..))
    }

    /// Whether it is found as one number for all lanes.
    pub fn is_of_all_lanes(self) -> bool {
        self.is_leaf() && !matches!(self, Self::Row(_) | Self::Destination)
    }
}

/// How many of an operation's values count.
impl Kind {
    /// Operands.
    pub fn operands(self) -> usize {
        match self {
            Self::Fused | Self::Select | Self::OrThree | Self::AndOr => 3,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Min | Self::Max => 2,
            Self::Gt | Self::Ge | Self::Eq | Self::Ne | Self::AddInt | Self::AndBits | Self::OrBits => 2,
            _ => 1,
        }
    }

    /// The result is a mask.
    pub fn is_mask(self) -> bool {
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
pub enum Effect {
    /// A row becomes a value.
    Store(u16, Value),
    /// A row becomes a value, for all lanes whatever the mask.
    StoreAll(u16, Value),
    /// The words of all lanes.
    Words(Value),
    /// Where the mask does not hold, somebody else has to do the work.
    Require(Value),
}

/// Values, and what has to be done with them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
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
    /// Rows from this one on have what planes come to, where fragments are gathered.
    gathered: Option<u16>,
    /// Values of planes that nothing is divided from, and which those are.
    pub planes: Vec<(Value, Input)>,
    /// And of those that are computed [larger](super::scaled).
    pub large_planes: Vec<Value>,
    /// There are mask registers, and with them short ways.
    has_masks: bool,
    /// Products and sums are one instruction, and there is a short way to bytes with them.
    fuses: bool,
}

impl Graph {
    /// An empty graph of a fragment program.
    pub fn new(isa: Isa) -> Self {
        Self {
            has_masks: isa.evex(),
            fuses: isa.fma() && isa != Isa::Neon,
            ..Self::default()
        }
    }

    /// An empty graph of a vertex program.
    pub fn of_vertices(isa: Isa) -> Self {
        Self {
            of_vertices: true,
            ..Self::new(isa)
        }
    }

    /// An empty graph of a program for gathered fragments, whose planes are in the rows from `first` on.
    pub fn gathered(isa: Isa, first: u16) -> Self {
        Self {
            gathered: Some(first),
            ..Self::new(isa)
        }
    }

    /// A graph of the same rows, textures and tables with nothing computed in it.
    pub fn empty(&self) -> Self {
        Self {
            textures: self.textures.clone(),
            tables: self.tables.clone(),
            of_vertices: self.of_vertices,
            gathered: self.gathered,
            has_masks: self.has_masks,
            fuses: self.fuses,
            ..Self::default()
        }
    }

    /// So many times a value.
    pub fn times(&mut self, value: Value, scale: f32) -> Value {
        if let Node::Const(bits) = self.nodes[value as usize] {
            return self.node(Node::Const((f32::from_bits(bits) * scale).to_bits()));
        }
        let scale = self.node(Node::Const(scale.to_bits()));
        self.node(Node::Op(Kind::Mul, [value, scale, 0]))
    }

    /// Whether a row has what a plane comes to.
    fn is_gathered(&self, row: u16) -> bool {
        self.gathered.is_some_and(|first| row >= first)
    }

    /// Whether all of a tile's fragments may be computed at once: no rows are read but those of their places.
    pub fn takes_tiles(&self) -> bool {
        self.gathered.is_none() && self.is_of_places()
    }

    /// Whether no rows are read but those of fragments' places, and of gathered planes.
    pub fn is_of_places(&self) -> bool {
        let others = |node: &Node| matches!(node, Node::Row(row) if !PLACES.contains(row) && !self.is_gathered(*row));
        !self.nodes.iter().any(others)
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
            Node::Row(row) if self.of_vertices || self.is_gathered(row) => Known::default(),
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
                    Kind::RoundHalf | Kind::RoundScaled => both(true),
                    Kind::HalfUnit | Kind::HalfUnitScaled => both(false),
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
    pub fn is_byte(&self, value: Value) -> bool {
        match self.nodes[value as usize] {
            Node::Op(Kind::AndBits, [_, mask, _]) => self.nodes[mask as usize] == Node::Const(0xff),
            Node::Op(Kind::ShiftRight(24), _) => true,
            _ => false,
        }
    }

    fn op(&mut self, kind: Kind, operands: &[Value]) -> Value {
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
    pub fn step(&self, value: Value) -> Option<i16> {
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

    fn add(&mut self, a: Value, b: Value) -> Value {
        if let Some((x, y)) = self.exact_product(a) {
            return self.op(Kind::Fused, &[x, y, b]);
        }
        if let Some((x, y)) = self.exact_product(b) {
            return self.op(Kind::Fused, &[x, y, a]);
        }
        self.op(Kind::Add, &[a, b])
    }

    /// Number of a table.
    fn table(&mut self, table: [u32; 16]) -> u8 {
        let have = self.tables.iter().position(|have| *have == table);
        have.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        }) as u8
    }

    /// A half from 0 to 1 that becomes the same byte as a value, if there is a short way to it; for a value that is there in any
    /// case, or is not.
    fn half_unit(&mut self, value: Value, is_there: bool) -> Option<Value> {
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

    fn round_half(&mut self, a: Value) -> Value {
        if self.known[a as usize].register {
            a
        } else {
            self.op(Kind::RoundHalf, &[a])
        }
    }
}

thread_local! {
    /// The graph that is being made.
    static GRAPH: RefCell<Graph> = RefCell::default();
}

/// Calls `f` so that [`Notes`] write into `graph`.
pub fn record<R>(graph: &mut Graph, f: impl FnOnce() -> R) -> R {
    GRAPH.with_borrow_mut(|have| std::mem::swap(have, graph));
    let result = f();
    GRAPH.with_borrow_mut(|have| std::mem::swap(have, graph));
    result
}

fn op(kind: Kind, operands: &[Value]) -> Value {
    GRAPH.with_borrow_mut(|graph| graph.op(kind, operands))
}

/// A leaf's value.
pub fn leaf(node: Node) -> Value {
    GRAPH.with_borrow_mut(|graph| graph.node(node))
}

fn bits(value: u32) -> Value {
    leaf(Node::Const(value))
}

/// What an operand is; `row` says what rows hold.
pub fn operand(graph: &mut Graph, operand: &Operand, row: impl FnOnce(&mut Graph, u16) -> Value) -> Value {
    let value = match operand.from {
        Source::Row(number) => row(graph, number),
        Source::Value(value) => graph.node(Node::Const(value.to_bits())),
        Source::Uniform(at) => graph.node(Node::Uniform(at)),
    };
    record(graph, || {
        let value = if operand.absolute { Notes::abs(value) } else { value };
        if operand.negate { Notes::neg(value) } else { value }
    })
}

/// What an operation computes; `row` says what rows hold.
pub fn computed(graph: &mut Graph, alu: &Alu, mut row: impl FnMut(&mut Graph, u16) -> Value) -> Value {
    let [a, b, c] = [0, 1, 2].map(|at| operand(graph, &alu.operands[at], &mut row));
    record(graph, || {
        let value = modified::<Notes>(alu.finish, formula::<Notes>(alu.op, a, b, c));
        if alu.round { Notes::round_half(value) } else { value }
    })
}

/// Says that something has to be done.
pub fn effect(effect: Effect) {
    GRAPH.with_borrow_mut(|graph| graph.effects.push(effect));
}

/// Textures that are looked into from now on.
pub fn texture(number: u8) {
    GRAPH.with_borrow_mut(|graph| graph.texture = number);
}

/// A number of a plane of the primitive's inputs.
pub fn plane(offset: usize) -> [Value; 3] {
    let float = |field: usize| leaf(Node::Input((offset + field) as u16));
    [
        float(offset_of!(Plane, base)),
        float(offset_of!(Plane, dx)),
        float(offset_of!(Plane, dy)),
    ]
}

/// 1.0 where the front is seen.
pub fn front() -> Value {
    const AT: usize = offset_of!(Inputs, front);
    // A byte of one of the words that the inputs are made of.
    let word = leaf(Node::Input((AT - AT % 4) as u16));
    op(Kind::ToFloat, &[bytes(word, |byte| byte)[AT % 4]])
}

/// Byte of a varying's plane.
pub fn varying(at: u16) -> usize {
    offset_of!(Inputs, varyings) + usize::from(at) * size_of::<Plane>()
}

/// Byte of a plane of the place in a point.
pub fn point(axis: u8) -> usize {
    offset_of!(Inputs, point) + usize::from(axis & 1) * size_of::<Plane>()
}

/// The bytes of a word as whole numbers, lowest first, each made into something.
fn bytes(word: Value, make: impl Fn(Value) -> Value) -> [Value; 4] {
    [0, 8, 16, 24].map(|shift| {
        let shifted = match shift {
            0 => word,
            _ => op(Kind::ShiftRight(shift), &[word]),
        };
        make(match shift {
            24 => shifted,
            _ => op(Kind::AndBits, &[shifted, bits(0xff)]),
        })
    })
}

/// The bytes of a word as floats, lowest first.
fn unpacked(word: Value) -> [Value; 4] {
    bytes(word, |byte| op(Kind::ToFloat, &[byte]))
}

/// The bytes of a word as [parts of 255](unit), lowest first, without conversions: below the bits of a large number bytes are
/// that number's last places.
fn units(word: Value) -> [Value; 4] {
    const POWER: f32 = 1.0 / 256.0;
    let splat = |value: f32| bits(value.to_bits());
    bytes(word, |byte| {
        let large = op(Kind::OrBits, &[byte, bits(LARGE.to_bits())]);
        let exact = op(Kind::Fused, &[large, splat(POWER), splat(-LARGE * POWER)]);
        op(Kind::Fused, &[exact, splat(REST), exact])
    })
}

/// What a byte's 256th part lacks of its 255th, by the part.
const REST: f32 = 1.0 / 255.0;

/// The word that a colour and the destination come to.
pub fn blended(blending: &Blending, color: [Value; 4]) -> Value {
    let destination = leaf(Node::Destination);
    let written = packed(match blending.covers() {
        true => color,
        false => met(blending, color, destination),
    });
    let bytes = u32::from_le_bytes([0, 1, 2, 3].map(|channel| if blending.writes(channel) { 0xff } else { 0 }));
    let word = match bytes {
        u32::MAX => written,
        _ => {
            let kept = op(Kind::AndBits, &[destination, bits(!bytes)]);
            op(Kind::OrBits, &[op(Kind::AndBits, &[written, bits(bytes)]), kept])
        }
    };
    match blending.alpha_test {
        Some((compare, than)) => {
            let alpha = byte(color[3], !blending.covers());
            Notes::select(compares(compare, alpha, than), word, destination)
        }
        None => word,
    }
}

/// A colour blended with a word's.
fn met(blending: &Blending, color: [Value; 4], destination: Value) -> [Value; 4] {
    let tile = match GRAPH.with_borrow(|graph| graph.has_masks) {
        true => units(destination),
        false => unpacked(destination).map(|byte| unit::<Notes>(byte, 255.0)),
    };
    blending.blend::<Notes>(color, [Notes::splat(0.0); 4], tile)
}

/// Whether a channel's [byte] compares so with another.
fn compares(compare: Compare, channel: Value, than: u8) -> Value {
    let is_whole = GRAPH.with_borrow(|graph| matches!(graph.nodes[channel as usize], Node::Op(Kind::ToInt, _)));
    let (channel, zero) = match is_whole {
        true => (op(Kind::ToFloat, &[channel]), 0.0),
        // Bytes are in a float's lowest bits.
        false => (channel, LARGE),
    };
    let than = Notes::splat(zero + f32::from(than));
    match compare {
        Compare::Never => Notes::ne(than, than),
        Compare::Less => Notes::gt(than, channel),
        Compare::Equal => Notes::eq(channel, than),
        Compare::LessEqual => Notes::ge(than, channel),
        Compare::Greater => Notes::gt(channel, than),
        Compare::NotEqual => Notes::ne(channel, than),
        Compare::GreaterEqual => Notes::ge(channel, than),
        Compare::Always => Notes::eq(than, than),
    }
}

/// A word with the colour's bytes, red lowest, as the tile stores a plain colour: clamped, to the nearest.
pub fn packed(color: [Value; 4]) -> Value {
    let [red, green, blue, alpha] = color.map(|value| byte(value, false));
    let [green, blue, alpha] =
        [(8, green), (16, blue), (24, alpha)].map(|(bits, value)| op(Kind::ShiftLeft(bits), &[value]));
    let (node, has_masks) = GRAPH.with_borrow(|graph| (graph.nodes[red as usize], graph.has_masks));
    let is_byte = matches!(node, Node::Op(Kind::ToInt, _));
    let low = match (is_byte, has_masks) {
        (true, _) => op(Kind::OrBits, &[red, green]),
        (false, true) => op(Kind::AndOr, &[red, bits(0xff), green]),
        (false, false) => op(Kind::OrBits, &[op(Kind::AndBits, &[red, bits(0xff)]), green]),
    };
    match has_masks {
        true => op(Kind::OrThree, &[low, blue, alpha]),
        false => op(Kind::OrBits, &[low, op(Kind::OrBits, &[blue, alpha])]),
    }
}

/// What a channel is stored as: in the lowest byte, with no more above it than the highest may have. `is_there`: its value is
/// wanted for something else, too.
fn byte(value: Value, is_there: bool) -> Value {
    type L = Notes;
    let half = GRAPH.with_borrow_mut(|graph| graph.half_unit(value, is_there));
    if let Some(clamped) = half {
        // 255 of a half lies between two whole numbers only where it is 127.5, and the even one is the next. Beside so large
        // a number there is no room for what is behind the point.
        return L::add(L::mul(clamped, L::splat(255.0)), L::splat(LARGE));
    }
    let clamped = L::min(L::max(value, L::splat(0.0)), L::splat(1.0));
    op(Kind::ToInt, &[L::add(L::mul(clamped, L::splat(255.0)), L::splat(0.5))])
}

/// The floats from here on are the whole numbers.
const LARGE: f32 = (1 << 23) as f32;

/// Lanes that take notes.
#[derive(Clone, Copy, Debug)]
pub struct Notes;

impl Lanes for Notes {
    const COUNT: usize = 16;
    type V = Value;
    type M = Value;

    fn splat(value: f32) -> Value {
        bits(value.to_bits())
    }
    fn load(_: &[f32]) -> Value {
        unreachable!("formulas work on values")
    }
    fn store(_: &mut [f32], _: Value) {
        unreachable!("formulas work on values")
    }
    fn add(a: Value, b: Value) -> Value {
        GRAPH.with_borrow_mut(|graph| graph.add(a, b))
    }
    fn sub(a: Value, b: Value) -> Value {
        op(Kind::Sub, &[a, b])
    }
    fn mul(a: Value, b: Value) -> Value {
        op(Kind::Mul, &[a, b])
    }
    fn div(a: Value, b: Value) -> Value {
        op(Kind::Div, &[a, b])
    }
    fn sqrt(a: Value) -> Value {
        op(Kind::Sqrt, &[a])
    }
    fn floor(a: Value) -> Value {
        op(Kind::Floor, &[a])
    }
    fn trunc(a: Value) -> Value {
        op(Kind::Trunc, &[a])
    }
    fn abs(a: Value) -> Value {
        op(Kind::Abs, &[a])
    }
    fn neg(a: Value) -> Value {
        op(Kind::Neg, &[a])
    }
    fn min(a: Value, b: Value) -> Value {
        op(Kind::Min, &[a, b])
    }
    fn max(a: Value, b: Value) -> Value {
        op(Kind::Max, &[a, b])
    }
    fn gt(a: Value, b: Value) -> Value {
        op(Kind::Gt, &[a, b])
    }
    fn ge(a: Value, b: Value) -> Value {
        op(Kind::Ge, &[a, b])
    }
    fn eq(a: Value, b: Value) -> Value {
        op(Kind::Eq, &[a, b])
    }
    fn ne(a: Value, b: Value) -> Value {
        op(Kind::Ne, &[a, b])
    }
    fn select(mask: Value, a: Value, b: Value) -> Value {
        op(Kind::Select, &[mask, a, b])
    }
    fn mask(_: u32) -> Value {
        unreachable!("formulas work on values")
    }
    fn bits(_: Value) -> u32 {
        unreachable!("formulas work on values")
    }
    fn round_half(a: Value) -> Value {
        GRAPH.with_borrow_mut(|graph| graph.round_half(a))
    }
    fn power(exponent: Value) -> Value {
        let biased = op(Kind::AddInt, &[op(Kind::ToInt, &[exponent]), bits(127)]);
        op(Kind::ShiftLeft(23), &[biased])
    }
    fn split(a: Value) -> (Value, Value) {
        let exponent = op(Kind::ToFloat, &[op(Kind::ShiftRight(23), &[a])]);
        let mantissa = op(Kind::AndBits, &[a, bits(0x007f_ffff)]);
        let mantissa = op(Kind::OrBits, &[mantissa, bits(0x3f80_0000)]);
        (Self::sub(exponent, Self::splat(127.0)), mantissa)
    }
    fn lookup(table: &[f32; 16], at: Value) -> Value {
        if table.iter().all(|entry| entry.to_bits() == table[0].to_bits()) {
            return Self::splat(table[0]);
        }
        let number = GRAPH.with_borrow_mut(|graph| graph.table(table.map(f32::to_bits)));
        op(Kind::Lookup(number), &[op(Kind::ToInt, &[at])])
    }
    fn texels(_: &[u32], start: Value, at: Value) -> [Value; 4] {
        let number = GRAPH.with_borrow_mut(|graph| {
            let texture = usize::from(graph.texture);
            if graph.textures.len() <= texture {
                graph.textures.resize(texture + 1, false);
            }
            graph.textures[texture] = true;
            graph.texture
        });
        let at = op(Kind::ToInt, &[at]);
        let at = match start == Self::splat(0.0) {
            true => at,
            false => op(Kind::AddInt, &[op(Kind::ToInt, &[start]), at]),
        };
        unpacked(op(Kind::Gather(number), &[at]))
    }
}

/// Uniforms one behind the other, of which the first has the whole part of `offset` more than a number, a multiple of so many:
/// as whole numbers go around.
pub fn uniforms_at(offset: Value, index: i32, shift: u8) -> [Value; 4] {
    const TOO_LARGE: f32 = (1u32 << 31) as f32;
    let number = Notes::select(Notes::eq(offset, offset), offset, Notes::splat(0.0));
    let whole = op(Kind::ToInt, &[number]);
    let largest = bits(i32::MAX.cast_unsigned());
    let whole = Notes::select(Notes::ge(number, Notes::splat(TOO_LARGE)), largest, whole);
    let first = op(Kind::AddInt, &[whole, bits(index.cast_unsigned())]);
    let first = match shift {
        0 => first,
        bits => op(Kind::ShiftLeft(bits), &[first]),
    };
    std::array::from_fn(|component| {
        let at = op(Kind::AddInt, &[first, bits(component as u32)]);
        op(Kind::Gather(UNIFORMS), &[at])
    })
}

impl QuadLanes for Notes {
    fn left(a: Value) -> Value {
        op(Kind::Permute(Neighbour::Left), &[a])
    }
    fn right(a: Value) -> Value {
        op(Kind::Permute(Neighbour::Right), &[a])
    }
    fn upper(a: Value) -> Value {
        op(Kind::Permute(Neighbour::Upper), &[a])
    }
    fn lower(a: Value) -> Value {
        op(Kind::Permute(Neighbour::Lower), &[a])
    }
}
