//! Which instructions a processor's units are given, where there is a choice. Units that multiply also add; those that only
//! add convert and compare as well, and are what most programs wait for.

use super::call::Rounding;
use super::graph::{Graph, Kind, Node};
use super::isa::Isa;
use super::order::{Item, Order};
use super::ranges::Ranges;
use super::shares::Shares;

/// What is given to the units that multiply though others have it too: evenly, so that both kinds of units are done at the
/// same time.
pub(super) struct Balance {
    /// Sums of two.
    sums: Turn,
    /// Splittings of floats, which are two products, or one and two sums.
    splits: Turn,
    /// Those of scaled ones that may go by exponents, which are two sums, or one and a product.
    scaled: Turn,
}

/// Some of many, evenly.
#[derive(Debug, Default)]
struct Turn {
    /// How many of all, from 0 to 1.
    share: f32,
    /// What has come together of one.
    sum: f32,
}

impl Turn {
    fn of(share: f32) -> Self {
        Self { share, sum: 0.0 }
    }

    /// Whether it is the next one's turn.
    fn next(&mut self) -> bool {
        self.sum += self.share;
        let is_turn = self.sum >= 1.0;
        if is_turn {
            self.sum -= 1.0;
        }
        is_turn
    }
}

impl Balance {
    /// That of a graph's code.
    pub fn of(
        (graph, order, shares): (&Graph, &Order, &Shares),
        ranges: &Ranges,
        isa: Isa,
        rounding: Rounding,
    ) -> Self {
        if !isa.apart() {
            return Self {
                splits: Turn::of(1.0),
                scaled: Turn::default(),
                sums: Turn::default(),
            };
        }
        let (mut multiply, mut add, mut either, mut splits, mut exponents) = (0.0, 0.0, 0.0, 0.0, 0.0f32);
        for item in &order.items {
            let Item::Compute(value) = *item else { continue };
            let Node::Op(kind, [from, ..]) = graph.nodes[value as usize] else {
                continue;
            };
            let times = shares.count(value) as f32;
            match kind {
                Kind::Add | Kind::Sub => either += times,
                Kind::RoundHalf if rounding != Rounding::Exact => splits += times,
                Kind::HalfUnit => splits += times,
                Kind::RoundScaled | Kind::HalfUnitScaled => {
                    either += times;
                    exponents += if ranges.is_something(kind, from) { times } else { 0.0 };
                }
                _ => {}
            }
            let [first, second] = cycles(kind, rounding);
            multiply += times * first;
            add += times * second;
        }
        // Each by its exponent is a sum, and one of any unit, instead of a product.
        let by_exponents = ((multiply + splits - add - either - 2.0 * splits) / 2.0).clamp(0.0, exponents);
        multiply -= by_exponents / 2.0;
        add += by_exponents * 1.5;
        // Each splitting is a product and two sums, or one more product instead of those.
        let by_products = ((add + either + splits - multiply) / 3.0).clamp(0.0, splits);
        multiply += splits + by_products;
        either += 2.0 * (splits - by_products);
        let most: f32 = if isa.evex() { either } else { 0.0 };
        Self {
            splits: Turn::of(by_products / splits.max(1.0)),
            scaled: Turn::of(by_exponents / exponents.max(1.0)),
            sums: Turn::of(((add - multiply + either) / 2.0).clamp(0.0, most) / either.max(1.0)),
        }
    }

    /// Whether the units that multiply have time for more than what nobody else can do.
    pub fn has_time(&self) -> bool {
        self.sums.share > 0.0
    }

    /// Whether the next sum is given to the units that multiply.
    pub fn other_way(&mut self) -> bool {
        self.sums.next()
    }

    /// Whether the next scaled float that may is split by its exponent.
    pub fn by_exponents(&mut self) -> bool {
        self.scaled.next()
    }

    /// Whether the next float is split by products.
    pub fn by_products(&mut self) -> bool {
        self.splits.next()
    }
}

/// Cycles that an operation takes the units that multiply, and those that add; sums of two and splittings aside, which either
/// can have. Measured on a Zen 4 with 512 bits.
fn cycles(kind: Kind, rounding: Rounding) -> [f32; 2] {
    match kind {
        Kind::RoundHalf if rounding != Rounding::Exact => [0.0, 0.0],
        Kind::Add | Kind::Sub => [0.0, 0.0],
        Kind::Mul | Kind::Fused | Kind::Gt | Kind::Ge | Kind::Eq | Kind::Ne => [1.0, 0.0],
        Kind::Div => [5.0, 0.0],
        Kind::Sqrt => [6.0, 0.0],
        Kind::Floor | Kind::Trunc | Kind::Min | Kind::Max => [0.0, 1.0],
        Kind::ToInt | Kind::ToFloat | Kind::ShiftLeft(_) | Kind::ShiftRight(_) => [0.0, 1.0],
        Kind::RoundHalf => [0.5, 2.7],
        Kind::RoundScaled => [1.0, 0.0],
        Kind::HalfUnitScaled => [1.2, 1.2],
        Kind::HalfUnit => [0.2, 1.2],
        Kind::Unit => [1.2, 0.2],
        Kind::Permute(_) | Kind::Lookup(_) => [0.5, 0.5],
        Kind::Abs | Kind::Neg | Kind::Select | Kind::AddInt | Kind::AndBits | Kind::OrBits | Kind::Move => [0.2, 0.2],
        Kind::OrThree | Kind::AndOr => [0.2, 0.2],
        Kind::Gather(_) | Kind::GatherRow(..) | Kind::ScatterRow(..) => [2.0, 2.0],
    }
}
