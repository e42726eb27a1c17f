//! Formulas of the GPU as graphs: operations of the wide engine, inputs of the primitive, and words of the picture, which only
//! machine code computes.

use crate::blend::{Blending, unit};
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::wide::alu::{Alu, Operand, Source, formula, modified};
use crate::exec::wide::fragment_code::row;
use crate::fragment_ops::{self, DepthStencil, LateTests};
use jit::UNIFORMS;
use jit::graph::{Effect, Graph, Kind, Node, Value};
use jit::tracer::{Tracer, bits, bytes, effect, leaf, op, record, unpacked, with_graph};
use num::lanes::Lanes;
use std::mem::offset_of;
use utgard::state::Compare;

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
    let tile = match with_graph(|graph| graph.has_masks()) {
        true => units(destination),
        false => unpacked(destination).map(|byte| unit::<Tracer>(byte, 255.0)),
    };
    blending.blend::<Tracer>(color, [Tracer::splat(0.0); 4], tile)
}

/// Whether a channel's [byte] compares so with another.
fn compares(compare: Compare, channel: Value, than: u8) -> Value {
    let is_whole = with_graph(|graph| matches!(graph.nodes()[channel as usize], Node::Op(Kind::ToInt, _)));
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
    let (node, has_masks) = with_graph(|graph| (graph.nodes()[red as usize], graph.has_masks()));
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
    let half = with_graph(|graph| graph.half_unit(value, is_there));
    if let Some(clamped) = half {
        // 255 of a half lies between two whole numbers only where it is 127.5, and the even one is the next. Beside so large
        // a number there is no room for what is behind the point.
        return L::add(L::mul(clamped, L::splat(255.0)), L::splat(LARGE));
    }
    op(Kind::ToInt, &[fragment_ops::scaled::<L>(value, 255.0)])
}

/// The floats from here on are the whole numbers.
const LARGE: f32 = (1 << 23) as f32;

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
