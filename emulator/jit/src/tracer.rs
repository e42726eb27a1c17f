//! Recording of formulas: a [`Lanes`] implementation that adds to a graph what is computed.

use crate::graph::{Effect, Graph, Kind, Neighbour, Node, Value};
use num::lanes::{Lanes, QuadLanes};
use std::cell::RefCell;

thread_local! {
    /// The graph that is recorded into.
    static GRAPH: RefCell<Graph> = RefCell::default();
}

/// Calls `f` so that [`Tracer`] records into `graph`.
pub fn record<R>(graph: &mut Graph, f: impl FnOnce() -> R) -> R {
    GRAPH.with_borrow_mut(|have| std::mem::swap(have, graph));
    let result = f();
    GRAPH.with_borrow_mut(|have| std::mem::swap(have, graph));
    result
}

/// Calls `f` with the graph that is recorded into.
pub fn with_graph<R>(f: impl FnOnce(&mut Graph) -> R) -> R {
    GRAPH.with_borrow_mut(f)
}

/// An operation's value.
pub fn op(kind: Kind, operands: &[Value]) -> Value {
    with_graph(|graph| graph.op(kind, operands))
}

/// A leaf's value.
pub fn leaf(node: Node) -> Value {
    with_graph(|graph| graph.node(node))
}

/// The value with these bits in every lane.
pub fn bits(value: u32) -> Value {
    leaf(Node::Const(value))
}

/// Adds an effect.
pub fn effect(effect: Effect) {
    with_graph(|graph| graph.effects.push(effect));
}

/// Sets the texture that [`Lanes::texels`] reads from now on.
pub fn texture(number: u8) {
    with_graph(|graph| graph.texture = number);
}

/// The bytes of a word as integers, lowest first, each mapped by `make`.
pub fn bytes(word: Value, make: impl Fn(Value) -> Value) -> [Value; 4] {
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
pub fn unpacked(word: Value) -> [Value; 4] {
    bytes(word, |byte| op(Kind::ToFloat, &[byte]))
}

/// Lanes that record what is computed. Loads, stores and bits of masks cannot be recorded: formulas work on values.
#[derive(Clone, Copy, Debug)]
pub struct Tracer;

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
        with_graph(|graph| graph.add(a, b))
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
        with_graph(|graph| graph.round_half(a))
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
        let number = with_graph(|graph| graph.table(table.map(f32::to_bits)));
        op(Kind::Lookup(number), &[op(Kind::ToInt, &[at])])
    }
    fn texels(_: &[u32], start: Value, at: Value) -> [Value; 4] {
        let number = with_graph(|graph| {
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
