//! A [`Lanes`] implementation that records an SSA graph: the formulas that all engines share run once with it; and the formulas
//! of pictures' words, which only machine code has.

use crate::blend::{Blending, unit};
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::native::call::UNIFORMS;
use crate::exec::native::trace::graph::{Effect, Graph, Kind, Neighbour, Node, Value};
use crate::exec::wide::alu::{Alu, Operand, Source, formula, modified};
use crate::exec::wide::fragment_code::row;
use crate::fragment_ops::{self, DepthStencil, LateTests};
use num::lanes::{Lanes, QuadLanes};
use std::cell::RefCell;
use std::mem::offset_of;
use utgard::state::Compare;

thread_local! {
    /// The graph that is being made.
    static GRAPH: RefCell<Graph> = RefCell::default();
}

/// Calls `f` so that [`Tracer`] records into `graph`.
pub(crate) fn record<R>(graph: &mut Graph, f: impl FnOnce() -> R) -> R {
    GRAPH.with_borrow_mut(|have| std::mem::swap(have, graph));
    let result = f();
    GRAPH.with_borrow_mut(|have| std::mem::swap(have, graph));
    result
}

fn op(kind: Kind, operands: &[Value]) -> Value {
    GRAPH.with_borrow_mut(|graph| graph.op(kind, operands))
}

/// A leaf's value.
pub(crate) fn leaf(node: Node) -> Value {
    GRAPH.with_borrow_mut(|graph| graph.node(node))
}

fn bits(value: u32) -> Value {
    leaf(Node::Const(value))
}

/// What an operand is; `row` says what rows hold.
pub(crate) fn operand(graph: &mut Graph, operand: &Operand, row: impl FnOnce(&mut Graph, u16) -> Value) -> Value {
    let value = match operand.from {
        Source::Row(number) => row(graph, number),
        Source::Value(value) => graph.node(Node::Const(value.to_bits())),
        Source::Uniform(at) => graph.node(Node::Uniform(at)),
    };
    record(graph, || {
        let value = if operand.absolute { Tracer::abs(value) } else { value };
        if operand.negate { Tracer::neg(value) } else { value }
    })
}

/// What an operation computes; `row` says what rows hold.
pub(crate) fn computed(graph: &mut Graph, alu: &Alu, mut row: impl FnMut(&mut Graph, u16) -> Value) -> Value {
    let [a, b, c] = [0, 1, 2].map(|at| operand(graph, &alu.operands[at], &mut row));
    record(graph, || {
        let value = modified::<Tracer>(alu.finish, formula::<Tracer>(alu.op, a, b, c));
        if alu.round { Tracer::round_half(value) } else { value }
    })
}

/// Says that something has to be done.
pub(crate) fn effect(effect: Effect) {
    GRAPH.with_borrow_mut(|graph| graph.effects.push(effect));
}

/// Textures that are looked into from now on.
pub(crate) fn texture(number: u8) {
    GRAPH.with_borrow_mut(|graph| graph.texture = number);
}

/// A number of a plane of the primitive's inputs.
pub(crate) fn plane(offset: usize) -> [Value; 3] {
    let float = |field: usize| leaf(Node::Input((offset + field) as u16));
    [
        float(offset_of!(Plane, base)),
        float(offset_of!(Plane, dx)),
        float(offset_of!(Plane, dy)),
    ]
}

/// 1.0 where the front is seen.
pub(crate) fn front() -> Value {
    const AT: usize = offset_of!(Inputs, front);
    // A byte of one of the words that the inputs are made of.
    let word = leaf(Node::Input((AT - AT % 4) as u16));
    op(Kind::ToFloat, &[bytes(word, |byte| byte)[AT % 4]])
}

/// Byte of a varying's plane.
pub(crate) fn varying(at: u16) -> usize {
    offset_of!(Inputs, varyings) + usize::from(at) * size_of::<Plane>()
}

/// Byte of a plane of the place in a point.
pub(crate) fn point(axis: u8) -> usize {
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
pub(crate) fn blended(blending: &Blending, color: [Value; 4]) -> Value {
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
            Tracer::select(compares(compare, alpha, than), word, destination)
        }
        None => word,
    }
}

/// The word that a colour comes to where fragments are tested behind their program; what the tile has of depth and stencil is
/// stored.
pub(crate) fn tested(tests: &LateTests, blending: Option<&Blending>, color: [Value; 4]) -> Value {
    let of_row = |row| leaf(Node::Row(row));
    let mut arrived = Tracer::ne(of_row(row::ARRIVED), Tracer::splat(0.0));
    if let Some((how, reference)) = tests.alpha {
        let passes = fragment_ops::alpha_passes::<Tracer>(how, reference, color[3]);
        arrived = fragment_ops::both::<Tracer>(arrived, passes);
    }
    let mut have = DepthStencil {
        depth: of_row(row::TILE_DEPTH),
        stencil: of_row(row::TILE_STENCIL),
    };
    let outcome = tests
        .tests()
        .run::<Tracer>(arrived, of_row(row::DEPTH), None, &mut have);
    let word = match blending {
        Some(blending) => blended(blending, color),
        None => packed(color),
    };
    for (at, value) in [(row::TILE_DEPTH, have.depth), (row::TILE_STENCIL, have.stencil)] {
        if value != of_row(at) {
            effect(Effect::Store(at, value));
        }
    }
    Tracer::select(outcome.passed, word, leaf(Node::Destination))
}

/// A colour blended with a word's.
fn met(blending: &Blending, color: [Value; 4], destination: Value) -> [Value; 4] {
    let tile = match GRAPH.with_borrow(|graph| graph.has_masks) {
        true => units(destination),
        false => unpacked(destination).map(|byte| unit::<Tracer>(byte, 255.0)),
    };
    blending.blend::<Tracer>(color, [Tracer::splat(0.0); 4], tile)
}

/// Whether a channel's [byte] compares so with another.
fn compares(compare: Compare, channel: Value, than: u8) -> Value {
    let is_whole = GRAPH.with_borrow(|graph| matches!(graph.nodes[channel as usize], Node::Op(Kind::ToInt, _)));
    let (channel, zero) = match is_whole {
        true => (op(Kind::ToFloat, &[channel]), 0.0),
        // Bytes are in a float's lowest bits.
        false => (channel, LARGE),
    };
    let than = Tracer::splat(zero + f32::from(than));
    fragment_ops::compare::<Tracer>(compare, channel, than)
}

/// A word with the colour's bytes, red lowest, as the tile stores a plain colour: clamped, to the nearest.
pub(crate) fn packed(color: [Value; 4]) -> Value {
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
    type L = Tracer;
    let half = GRAPH.with_borrow_mut(|graph| graph.half_unit(value, is_there));
    if let Some(clamped) = half {
        // 255 of a half lies between two whole numbers only where it is 127.5, and the even one is the next. Beside so large
        // a number there is no room for what is behind the point.
        return L::add(L::mul(clamped, L::splat(255.0)), L::splat(LARGE));
    }
    op(Kind::ToInt, &[fragment_ops::scaled::<L>(value, 255.0)])
}

/// The floats from here on are the whole numbers.
const LARGE: f32 = (1 << 23) as f32;

/// Lanes that record what is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracer;

impl Lanes for Tracer {
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

/// The number of the first of floats one behind the other: the whole part of `offset` more than a number, a multiple of so
/// many, as whole numbers go around.
fn first_at(offset: Value, index: i32, shift: u8) -> Value {
    const TOO_LARGE: f32 = (1u32 << 31) as f32;
    let number = Tracer::select(Tracer::eq(offset, offset), offset, Tracer::splat(0.0));
    let whole = op(Kind::ToInt, &[number]);
    let largest = bits(i32::MAX.cast_unsigned());
    let whole = Tracer::select(Tracer::ge(number, Tracer::splat(TOO_LARGE)), largest, whole);
    let first = op(Kind::AddInt, &[whole, bits(index.cast_unsigned())]);
    match shift {
        0 => first,
        bits => op(Kind::ShiftLeft(bits), &[first]),
    }
}

/// Uniforms by an offset: four, the [first](first_at) and those behind it.
pub(crate) fn uniforms_at(offset: Value, index: i32, shift: u8) -> [Value; 4] {
    let first = first_at(offset, index, shift);
    std::array::from_fn(|component| {
        let at = op(Kind::AddInt, &[first, bits(component as u32)]);
        op(Kind::Gather(UNIFORMS), &[at])
    })
}

impl QuadLanes for Tracer {
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
