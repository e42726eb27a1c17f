//! What has to be looked at where values become halves in hope, and what does not: most programs' numbers cannot be too large
//! or too small there, if those are not that they are computed of.

use super::call::Hope;
use super::graph::{Graph, Kind, Node, Value};

/// What a rounded value is looked at for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// It may be less than the smallest normal half, and not zero.
    pub tiny: bool,
    /// It may be too large, or less of it is known than is good for what comes after it.
    pub huge: Option<Limit>,
}

/// What a value has to be within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Less than two to this power, with either sign.
    Both(u8),
    /// Not less than zero, and less than 4.
    FromZero,
}

impl Limit {
    fn range(self) -> Range {
        let [low, high] = match self {
            Self::Both(power) => [-two_to(power.into()), two_to(power.into())],
            Self::FromZero => [0.0, 4.0],
        };
        Range {
            low,
            high,
            least: NORMAL,
        }
    }
}

/// What is known of a value that is a number, and not infinite: others come of what the processor takes note of, or stay what
/// they are on any way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
    /// It is zero, or not less than this with either sign.
    least: f64,
}

/// The smallest half that is normal, and what becomes infinite.
const NORMAL: f64 = 1.0 / 16384.0;
const TOO_LARGE: f64 = 65520.0;

/// More than any rounding, to a float and to a half, changes in a number.
const OF_FLOATS: f64 = 1.0 / (1 << 22) as f64;
const OF_HALVES: f64 = 1.0 / 1024.0;

/// What nobody knows anything of.
const ANY: Range = Range {
    low: f64::NEG_INFINITY,
    high: f64::INFINITY,
    least: 0.0,
};

fn two_to(power: i32) -> f64 {
    f64::from(power).exp2()
}

/// What has to be looked at of a graph's values, each of which is rounded.
pub(super) fn looks(graph: &Graph, hope: Hope) -> Vec<Looks> {
    let mut ranges: Vec<Range> = Vec::with_capacity(graph.nodes.len());
    let mut all = vec![Looks::default(); graph.nodes.len()];
    for (at, node) in graph.nodes.iter().enumerate() {
        let range = match *node {
            Node::Op(Kind::RoundHalf, [from, ..]) => {
                let from = ranges[from as usize];
                all[at] = from.looks(hope);
                from.rounded(all[at])
            }
            Node::Op(kind, operands) => {
                let of = operands.map(|value| ranges.get(value as usize).copied().unwrap_or(ANY));
                computed(graph, kind, operands, of).widened(OF_FLOATS)
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
    all
}

/// What comes of operands that are in these ranges.
fn computed(graph: &Graph, kind: Kind, operands: [Value; 3], [a, b, c]: [Range; 3]) -> Range {
    match kind {
        Kind::Add => a.plus(b),
        Kind::Sub => a.plus(b.negated()),
        Kind::Mul => a.times(b),
        Kind::Fused => a.times(b).plus(c),
        Kind::Select => b.or(c),
        // Of what is no number comes the second.
        Kind::Min => Range {
            high: b.high,
            ..a.or(b)
        },
        Kind::Max => Range { low: b.low, ..a.or(b) },
        Kind::Abs => Range {
            low: 0.0,
            high: a.largest(),
            least: a.least,
        },
        Kind::Neg => a.negated(),
        Kind::Permute(_) | Kind::Move => a,
        Kind::Unit | Kind::HalfUnit => Range {
            low: 0.0,
            high: 1.0,
            least: 0.0,
        },
        Kind::Floor | Kind::Trunc => Range {
            low: a.low.floor(),
            high: a.high.ceil(),
            least: 1.0,
        },
        Kind::ToFloat => {
            let is_byte = graph.is_byte(operands[0]);
            let [low, high] = if is_byte {
                [0.0, 255.0]
            } else {
                [i32::MIN.into(), i32::MAX.into()]
            };
            Range { low, high, least: 1.0 }
        }
        Kind::Lookup(table) => {
            let entries = graph.tables[usize::from(table)].map(|bits| Range::of(f32::from_bits(bits)));
            entries.into_iter().reduce(Range::or).unwrap_or(ANY)
        }
        Kind::Div | Kind::Sqrt | Kind::RoundHalf | Kind::ToInt | Kind::Gather(_) => ANY,
        Kind::AddInt | Kind::AndBits | Kind::OrBits | Kind::OrThree | Kind::AndOr => ANY,
        Kind::Gt | Kind::Ge | Kind::Eq | Kind::Ne | Kind::ShiftLeft(_) | Kind::ShiftRight(_) => ANY,
    }
}

impl Range {
    fn of(value: f32) -> Self {
        if !value.is_finite() {
            return ANY;
        }
        let value = f64::from(value);
        Self {
            low: value,
            high: value,
            least: value.abs(),
        }
    }

    /// The most it can be, with either sign.
    fn largest(self) -> f64 {
        self.high.max(-self.low)
    }

    fn negated(self) -> Self {
        Self {
            low: -self.high,
            high: -self.low,
            ..self
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
        }
    }

    fn plus(self, other: Self) -> Self {
        let [low, high] = [self.low + other.low, self.high + other.high];
        // Both of a sign, or who knows what is left of them.
        let is_one_sign = self.low >= 0.0 && other.low >= 0.0 || self.high <= 0.0 && other.high <= 0.0;
        let least = if is_one_sign { self.least.min(other.least) } else { 0.0 };
        Self {
            low,
            high,
            least: least.max(low).max(-high),
        }
    }

    fn times(self, other: Self) -> Self {
        let products = [self.low, self.high].map(|a| [a * other.low, a * other.high]);
        let all = products.as_flattened();
        // Nothing times infinity: who knows.
        if all.iter().any(|product| product.is_nan()) {
            return ANY;
        }
        Self {
            low: all.iter().copied().fold(f64::INFINITY, f64::min),
            high: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            least: self.least * other.least,
        }
    }

    /// Wider by so much of each end.
    fn widened(self, part: f64) -> Self {
        Self {
            low: self.low - part * self.low.abs(),
            high: self.high + part * self.high.abs(),
            least: self.least - part * self.least,
        }
    }

    /// What has to be looked at when it becomes a half.
    fn looks(self, hope: Hope) -> Looks {
        let huge = match hope {
            _ if self.largest() < TOO_LARGE => None,
            Hope::SmallFromZero | Hope::Small if self.largest().is_finite() => Some(Limit::Both(8)),
            Hope::SmallFromZero => Some(Limit::FromZero),
            Hope::Small => Some(Limit::Both(2)),
            Hope::Any => Some(Limit::Both(16)),
        };
        Looks {
            tiny: self.least < NORMAL,
            huge,
        }
    }

    /// What it is as a half that was looked at.
    fn rounded(self, looks: Looks) -> Self {
        let half = self.widened(OF_HALVES);
        let within = looks.huge.map_or(half, Limit::range);
        Self {
            low: half.low.max(within.low),
            high: half.high.min(within.high),
            least: half.least.max(NORMAL),
        }
    }
}
