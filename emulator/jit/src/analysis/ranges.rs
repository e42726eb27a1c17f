//! What values may come to, and so what has to be checked where they are rounded speculatively, and what need not be clamped:
//! most programs' numbers cannot be too large or too small, if those are not that they are computed of.

use crate::call::Rounding;
use crate::graph::{Effect, Graph, Kind, Node, Value};
use num::half;
use std::borrow::Cow;

/// What a rounded value is looked at for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    /// It may be less than the smallest normal half, and not zero.
    pub tiny: bool,
    /// It may be too large: what it has to be less than, with either sign, is two to this power.
    pub huge: Option<u8>,
}

/// What need not be clamped of a value, which is a number for sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Within {
    /// It is not less than zero, though it may be a zero with a sign.
    pub from_zero: bool,
    /// And is no such zero.
    pub from_plus_zero: bool,
    /// It is not more than 1.
    pub to_one: bool,
}

/// What is known of a value, infinities included, if it is a number, and no flag was raised where roundings are speculative.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
    /// It is zero, or not less than this with either sign.
    least: f64,
    /// It is a number for sure.
    is_number: bool,
    /// It may be a zero with a sign.
    minus_zero: bool,
}

/// The smallest half that is normal, and what becomes infinite.
const NORMAL: f64 = 1.0 / 16384.0;
const TOO_LARGE: f64 = 65520.0;

/// The range of a value without any bound.
const ANY: Range = Range {
    low: f64::NEG_INFINITY,
    high: f64::INFINITY,
    least: 0.0,
    is_number: false,
    minus_zero: true,
};

fn two_to(power: i32) -> f64 {
    f64::from(power).exp2()
}

/// What a graph's values may come to.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    looks: Vec<Looks>,
    ranges: Vec<Range>,
    /// For each value one that it always is, itself if there is no other.
    same: Vec<Value>,
}

impl Ranges {
    /// That of values that are rounded so.
    pub(crate) fn new(graph: &Graph, rounding: Rounding) -> Self {
        let mut ranges: Vec<Range> = Vec::with_capacity(graph.nodes.len());
        let mut looks = vec![Looks::default(); graph.nodes.len()];
        for (at, node) in graph.nodes.iter().enumerate() {
            let range = match *node {
                Node::Op(Kind::RoundHalf, [from, ..]) => {
                    let from = ranges[from as usize];
                    match rounding {
                        Rounding::Exact => from.rounded(),
                        Rounding::Speculative => {
                            looks[at] = from.looks();
                            from.looked_at(looks[at])
                        }
                    }
                }
                Node::Op(kind, operands) => {
                    let of = operands.map(|value| ranges.get(value as usize).copied().unwrap_or(ANY));
                    computed(graph, kind, operands, of).as_float()
                }
                Node::Const(bits) => Range::of(f32::from_bits(bits)),
                _ => ANY,
            };
            // What is a multiple of something is not less than that.
            let step = graph.step(at as Value).map_or(0.0, |step| two_to(step.into()));
            ranges.push(Range {
                least: range.least.max(step),
                ..range
            });
        }
        let same = (0..graph.nodes.len() as Value).map(|value| match graph.nodes[value as usize] {
            Node::Op(kind, [a, b, _]) if is_first(kind, [a, b].map(|value| ranges[value as usize])) => a,
            _ => value,
        });
        let same = same.collect();
        Self { ranges, looks, same }
    }

    /// The graph without what changes nothing; values keep their numbers.
    pub(crate) fn simplified<'a>(&self, graph: &'a Graph) -> Cow<'a, Graph> {
        let changes = |(value, same): (usize, &Value)| value != *same as usize;
        if !self.same.iter().enumerate().any(changes) {
            return Cow::Borrowed(graph);
        }
        // What a value is the same as may itself be the same as one before.
        let mut same = self.same.clone();
        (0..same.len()).for_each(|at| same[at] = same[same[at] as usize]);
        let mut graph = graph.clone();
        for node in &mut graph.nodes {
            if let Node::Op(_, operands) = node {
                *operands = operands.map(|value| same[value as usize]);
            }
        }
        for effect in &mut graph.effects {
            let (Effect::Store(_, value) | Effect::StoreAll(_, value) | Effect::Words(value) | Effect::Guard(value)) =
                effect;
            *value = same[*value as usize];
        }
        Cow::Owned(graph)
    }

    /// What a rounded value is looked at for.
    pub(crate) fn looks(&self, value: Value) -> Looks {
        self.looks[value as usize]
    }

    /// Whether a value is from 0 to 1 for sure.
    pub(crate) fn within(&self, value: Value) -> Within {
        self.ranges[value as usize].within()
    }
}

/// From 0 to 1.
const UNIT: Range = Range {
    low: 0.0,
    high: 1.0,
    least: 0.0,
    is_number: true,
    minus_zero: false,
};

/// Whether an operation gives its first operand as it is.
fn is_first(kind: Kind, [a, b]: [Range; 2]) -> bool {
    let are_numbers = a.is_number && b.is_number;
    match kind {
        // Of two zeros it would be the second.
        Kind::Max => are_numbers && a.low >= b.high && !(a.minus_zero || b.minus_zero),
        Kind::Min => are_numbers && a.high <= b.low && b.low != 0.0,
        _ => false,
    }
}

/// What comes of operands that are in these ranges.
fn computed(graph: &Graph, kind: Kind, operands: [Value; 3], [a, b, c]: [Range; 3]) -> Range {
    match kind {
        Kind::Add => a.plus(b),
        Kind::Sub => Range {
            minus_zero: a.minus_zero,
            ..a.plus(b.negated())
        },
        Kind::Mul => a.times(b),
        Kind::Fused => a.times(b).plus(c),
        Kind::Select => b.or(c),
        // If one is NaN, the result is the second.
        Kind::Min => Range {
            high: b.high,
            is_number: b.is_number,
            ..a.or(b)
        },
        Kind::Max => Range {
            low: b.low,
            is_number: b.is_number,
            ..a.or(b)
        },
        Kind::Abs => Range {
            low: 0.0,
            high: a.largest(),
            minus_zero: false,
            ..a
        },
        Kind::Neg => a.negated(),
        Kind::Permute(_) | Kind::Move => a,
        Kind::Unit | Kind::HalfUnit => UNIT,
        Kind::Floor | Kind::Trunc => Range {
            low: a.low.floor(),
            high: a.high.ceil(),
            least: 1.0,
            minus_zero: a.minus_zero || a.low < 0.0,
            ..a
        },
        Kind::ToFloat => {
            let is_byte = graph.is_byte(operands[0]);
            let [low, high] = if is_byte {
                [0.0, 255.0]
            } else {
                [i32::MIN.into(), i32::MAX.into()]
            };
            Range {
                low,
                high,
                least: 1.0,
                is_number: true,
                minus_zero: false,
            }
        }
        Kind::Lookup(table) => {
            let entries = graph.tables[usize::from(table)].map(|bits| Range::of(f32::from_bits(bits)));
            entries.into_iter().reduce(Range::or).unwrap_or(ANY)
        }
        Kind::Div | Kind::Sqrt | Kind::RoundHalf => ANY,
        Kind::ToInt | Kind::Gather(_) => ANY,
        Kind::AddInt | Kind::AndBits | Kind::OrBits | Kind::OrThree | Kind::AndOr => ANY,
        Kind::Gt | Kind::Ge | Kind::Eq | Kind::Ne | Kind::ShiftLeft(_) | Kind::ShiftRight(_) => ANY,
    }
}

impl Range {
    fn of(value: f32) -> Self {
        if !value.is_finite() {
            return ANY;
        }
        let minus_zero = value.to_bits() == (-0f32).to_bits();
        let value = f64::from(value);
        Self {
            low: value,
            high: value,
            least: value.abs(),
            is_number: true,
            minus_zero,
        }
    }

    fn within(self) -> Within {
        let from_zero = self.is_number && self.low >= 0.0;
        Within {
            from_zero,
            from_plus_zero: from_zero && !self.minus_zero,
            to_one: self.is_number && self.high <= 1.0,
        }
    }

    /// It is a number for sure, and not infinite.
    fn is_finite(self) -> bool {
        self.is_number && self.largest().is_finite()
    }

    /// The most it can be, with either sign.
    fn largest(self) -> f64 {
        self.high.max(-self.low)
    }

    fn negated(self) -> Self {
        Self {
            low: -self.high,
            high: -self.low,
            minus_zero: true,
            ..self
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
            is_number: self.is_number && other.is_number,
            minus_zero: self.minus_zero || other.minus_zero,
        }
    }

    fn plus(self, other: Self) -> Self {
        let [low, high] = [self.low + other.low, self.high + other.high];
        // Sums of different signs may cancel out.
        let is_one_sign = self.low >= 0.0 && other.low >= 0.0 || self.high <= 0.0 && other.high <= 0.0;
        let least = if is_one_sign { self.least.min(other.least) } else { 0.0 };
        Self {
            low,
            high,
            least: least.max(low).max(-high),
            is_number: self.is_finite() && other.is_finite(),
            minus_zero: self.minus_zero && other.minus_zero,
        }
    }

    fn times(self, other: Self) -> Self {
        let products = [self.low, self.high].map(|a| [a * other.low, a * other.high]);
        let all = products.as_flattened();
        // Zero times infinity is NaN.
        if all.iter().any(|product| product.is_nan()) {
            return ANY;
        }
        Self {
            low: all.iter().copied().fold(f64::INFINITY, f64::min),
            high: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            least: self.least * other.least,
            is_number: self.is_finite() && other.is_finite(),
            minus_zero: [self, other].iter().any(|range| range.minus_zero || range.low < 0.0),
        }
    }

    /// As the float that is nearest: what is between two numbers is so between what they are rounded to. These are themselves
    /// rounded, to more bits.
    fn as_float(self) -> Self {
        let float = |end: f64| f64::from(end as f32);
        Self {
            low: float(self.low.next_down()),
            high: float(self.high.next_up()),
            least: float(self.least.next_down()),
            ..self
        }
    }

    /// As the nearest half, zero where that is no normal one.
    fn rounded(self) -> Self {
        let half = |end: f64| f64::from(half::round(end as f32));
        Self {
            low: half(self.low),
            high: half(self.high),
            least: half(self.least).max(NORMAL),
            minus_zero: false,
            ..self
        }
    }

    /// What has to be looked at when it becomes a half.
    fn looks(self) -> Looks {
        let huge = match self.largest() {
            largest if largest < TOO_LARGE => None,
            largest if largest.is_finite() => Some(8),
            _ => Some(2),
        };
        Looks {
            tiny: self.least < NORMAL,
            huge,
        }
    }

    /// As a half that was looked at.
    fn looked_at(self, looks: Looks) -> Self {
        let half = self.rounded();
        let Some(power) = looks.huge else { return half };
        let limit = two_to(power.into());
        Self {
            low: half.low.max(-limit),
            high: half.high.min(limit),
            ..half
        }
    }
}
