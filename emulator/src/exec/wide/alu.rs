//! Operations on rows.

use crate::exec::lanes::{LANES, Mask, Row};
use num::lanes::{Lanes, QuadLanes};
use num::math;
use utgard::pp::{Condition, Modifier};

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A row.
    Row(u16),
    /// The same number for every lane.
    Value(f32),
    /// A uniform: the same number for every lane, known when the batch runs. What is not there is zero.
    Uniform(u16),
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// Where it comes from.
    pub from: Source,
    /// Its absolute value.
    pub absolute: bool,
    /// Negated, after that.
    pub negate: bool,
}

impl Operand {
    /// A plain operand.
    pub const fn new(from: Source) -> Self {
        Self {
            from,
            absolute: false,
            negate: false,
        }
    }

    /// A row.
    pub const fn row(row: u16) -> Self {
        Self::new(Source::Row(row))
    }

    /// The same number everywhere.
    pub const fn value(value: f32) -> Self {
        Self::new(Source::Value(value))
    }
}

/// What is computed of operands a, b and c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AluOp {
    /// a
    Copy,
    /// a * b
    Mul,
    /// a * b * c
    MulScaled,
    /// a + b
    Add,
    /// a * b + c, rounded in between
    MulAdd,
    /// a / b
    Div,
    /// a == 0
    Not,
    /// a != 0 and b != 0
    And,
    /// a != 0 or b != 0
    Or,
    /// a != 0 is not b != 0
    Xor,
    /// a != b
    Ne,
    /// a > b
    Gt,
    /// a >= b
    Ge,
    /// a == b
    Eq,
    /// a < b ? a : b
    Min,
    /// a > b ? a : b
    Max,
    /// Part behind the point.
    Fract,
    /// Whole number below.
    Floor,
    /// Whole number above.
    Ceil,
    /// -1, 0 or 1
    Sign,
    /// a + (b + c)
    Sum3,
    /// c != 0 ? a : b
    Select,
    /// At least b, at most c.
    Clamp,
    /// Right neighbour's a plus left one's b.
    Ddx,
    /// Upper neighbour's a plus lower one's b.
    DdyUp,
    /// Lower neighbour's a plus upper one's b.
    DdyDown,
    /// 1 / a
    Rcp,
    /// Square root.
    Sqrt,
    /// 1 / square root
    Rsqrt,
    /// 2 to the power of a
    Exp2,
    /// Logarithm to base 2.
    Log2,
    /// Sine of a turns.
    Sin,
    /// Cosine of a turns.
    Cos,
    /// Arc tangent.
    Atan,
    /// Angle of (b, a).
    Atan2,
}

/// An operation with its operands, result and what is done to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alu {
    /// What is computed.
    pub op: AluOp,
    /// Operands; operations use as many as they need.
    pub operands: [Operand; 3],
    /// What is done to the result before it is rounded.
    pub finish: Finish,
    /// Rounded to fp16.
    pub round: bool,
    /// Row of the result.
    pub to: u16,
}

impl Alu {
    /// An operation whose result stays as it is.
    pub fn new(op: AluOp, operands: &[Operand], to: u16) -> Self {
        let mut all = [Operand::value(0.0); 3];
        all[..operands.len()].copy_from_slice(operands);
        Self {
            op,
            operands: all,
            finish: Finish::PLAIN,
            round: false,
            to,
        }
    }

    /// Whether it reads a row.
    pub fn reads(&self, row: u16) -> bool {
        self.operands.iter().any(|operand| operand.from == Source::Row(row))
    }
}

/// What is done to a result before it is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// What a unit of the PP does.
    Modifier(Modifier),
    /// It is negated, as in units of the GP.
    Negate,
}

impl Finish {
    /// It stays as it is.
    pub const PLAIN: Self = Self::Modifier(Modifier::None);
}

/// An operand made ready for a batch.
#[derive(Clone, Copy)]
struct Ready<L: Lanes> {
    row: usize,
    value: Option<L::V>,
    absolute: bool,
    negate: bool,
}

#[inline(always)]
fn ready<L: Lanes>(operand: &Operand, uniforms: &[f32]) -> Ready<L> {
    let (row, value) = match operand.from {
        Source::Row(row) => (row as usize, None),
        Source::Value(value) => (0, Some(L::splat(value))),
        Source::Uniform(at) => (0, Some(L::splat(uniforms.get(at as usize).copied().unwrap_or(0.0)))),
    };
    Ready {
        row,
        value,
        absolute: operand.absolute,
        negate: operand.negate,
    }
}

#[inline(always)]
fn fetch<L: Lanes>(rows: &[Row], operand: &Ready<L>, at: usize) -> L::V {
    let mut value = match operand.value {
        Some(value) => value,
        None => L::load(&rows[operand.row][at..]),
    };
    if operand.absolute {
        value = L::abs(value);
    }
    if operand.negate {
        value = L::neg(value);
    }
    value
}

/// 1.0 where a number is not zero.
#[inline(always)]
fn nonzero<L: Lanes>(value: L::V) -> L::V {
    math::truth::<L>(L::ne(value, L::splat(0.0)))
}

/// What an operation computes; the angle functions have formulas of their own.
#[inline(always)]
pub(crate) fn formula<L: QuadLanes>(op: AluOp, a: L::V, b: L::V, c: L::V) -> L::V {
    match op {
        AluOp::Copy => a,
        AluOp::Mul => L::mul(a, b),
        AluOp::MulScaled => L::mul(L::mul(a, b), c),
        AluOp::Add => L::add(a, b),
        AluOp::MulAdd => L::add(L::mul(a, b), c),
        AluOp::Div => L::div(a, b),
        AluOp::Not => math::truth::<L>(L::eq(a, L::splat(0.0))),
        AluOp::And => L::mul(nonzero::<L>(a), nonzero::<L>(b)),
        AluOp::Or => L::max(nonzero::<L>(a), nonzero::<L>(b)),
        AluOp::Xor => L::abs(L::sub(nonzero::<L>(a), nonzero::<L>(b))),
        AluOp::Ne => math::truth::<L>(L::ne(a, b)),
        AluOp::Gt => math::truth::<L>(L::gt(a, b)),
        AluOp::Ge => math::truth::<L>(L::ge(a, b)),
        AluOp::Eq => math::truth::<L>(L::eq(a, b)),
        AluOp::Min => L::min(a, b),
        AluOp::Max => L::max(a, b),
        AluOp::Fract => math::fract::<L>(a),
        AluOp::Floor => L::floor(a),
        AluOp::Ceil => math::ceil::<L>(a),
        AluOp::Sign => math::sign::<L>(a),
        AluOp::Sum3 => L::add(a, L::add(b, c)),
        AluOp::Select => L::select(L::ne(c, L::splat(0.0)), a, b),
        AluOp::Clamp => L::min(L::max(a, b), c),
        AluOp::Ddx => L::add(L::right(a), L::left(b)),
        AluOp::DdyUp => L::add(L::upper(a), L::lower(b)),
        AluOp::DdyDown => L::add(L::lower(a), L::upper(b)),
        AluOp::Rcp => math::rcp::<L>(a),
        AluOp::Sqrt => L::sqrt(a),
        AluOp::Rsqrt => math::rsqrt::<L>(a),
        AluOp::Exp2 => math::exp2::<L>(a),
        AluOp::Log2 => math::log2::<L>(a),
        AluOp::Sin => math::sin_turns::<L>(a),
        AluOp::Cos => math::cos_turns::<L>(a),
        AluOp::Atan => math::atan::<L>(a),
        AluOp::Atan2 => math::atan2::<L>(a, b),
    }
}

/// What is done to a result before it is rounded.
#[inline(always)]
pub(crate) fn modified<L: Lanes>(finish: Finish, value: L::V) -> L::V {
    match finish {
        Finish::Modifier(Modifier::None) => value,
        Finish::Modifier(Modifier::Saturate) => math::saturate::<L>(value),
        Finish::Modifier(Modifier::Positive) => L::max(value, L::splat(0.0)),
        Finish::Modifier(Modifier::Integer) => L::trunc(value),
        Finish::Negate => L::neg(value),
    }
}

/// [`Plane::at`](crate::exec::inputs::Plane::at), many at a time: a plane's base and steps at a distance from the origin.
#[inline(always)]
pub(crate) fn plane_at<L: Lanes>([base, dx, dy]: [L::V; 3], x: L::V, y: L::V) -> L::V {
    L::add(L::mul(dx, x), L::add(L::mul(dy, y), base))
}

/// Rows behind a program's own that a machine keeps for constants.
pub(crate) const CONSTANT_ROWS: usize = 3;

/// Rows, uniforms and lanes that operations work on.
pub struct Machine<'a> {
    /// The rows, the last [`CONSTANT_ROWS`] of them for constants.
    pub rows: &'a mut [Row],
    /// The uniforms as floats.
    pub uniforms: &'a [f32],
    /// Lanes that are there at all, from the first on.
    pub lanes: usize,
}

/// One operation's [`formula`] as a type: unlike a closure it is always inlined.
trait Formula {
    fn of<L: QuadLanes>(a: L::V, b: L::V, c: L::V) -> L::V;
}

impl Machine<'_> {
    /// Computes `F` of the operands for the lanes of `mask`. Operands beyond the first `count` are not fetched.
    ///
    /// Everything in here has to end up inside the function that is compiled for the vector units: no large closures are
    /// called, and nothing goes through the standard library's iterators over arrays, which would stay outside.
    #[inline(always)]
    fn each<L: QuadLanes, F: Formula>(&mut self, alu: &Alu, mask: Mask, count: usize) {
        let all = Mask::MAX >> (LANES - self.lanes);
        let full = mask & all == all;
        let [a, b, c] = &alu.operands;
        let as_is = |operand: &Operand| !(operand.absolute || operand.negate);
        if full && self.lanes == LANES && alu.finish == Finish::PLAIN && as_is(a) && as_is(b) && as_is(c) {
            return self.each_plain::<L, F>(alu, count);
        }
        let a = ready::<L>(&alu.operands[0], self.uniforms);
        let b = ready::<L>(&alu.operands[1], self.uniforms);
        let c = ready::<L>(&alu.operands[2], self.uniforms);
        let to = alu.to as usize;
        let mut at = 0;
        while at < self.lanes {
            let first = fetch::<L>(self.rows, &a, at);
            let second = if count > 1 {
                fetch::<L>(self.rows, &b, at)
            } else {
                first
            };
            let third = if count > 2 {
                fetch::<L>(self.rows, &c, at)
            } else {
                first
            };
            let mut value = modified::<L>(alu.finish, F::of::<L>(first, second, third));
            if alu.round {
                value = L::round_half(value);
            }
            let row = &mut self.rows[to][at..];
            if !full {
                let lanes = L::mask((mask >> at) as u32);
                value = L::select(lanes, value, L::load(row));
            }
            L::store(row, value);
            at += L::COUNT;
        }
    }

    /// [`Machine::each`] for all lanes of a full row, with operands and result as they are: what most operations are.
    #[inline(always)]
    fn each_plain<L: QuadLanes, F: Formula>(&mut self, alu: &Alu, count: usize) {
        let a = self.place::<L>(alu, 0);
        let b = if count > 1 { self.place::<L>(alu, 1) } else { a };
        let c = if count > 2 { self.place::<L>(alu, 2) } else { a };
        let (rows, to) = (&mut *self.rows, alu.to as usize);
        let mut at = 0;
        if alu.round {
            while at < LANES {
                let load = |(row, step): (usize, usize)| L::load(&rows[row][at & step..]);
                let value = L::round_half(F::of::<L>(load(a), load(b), load(c)));
                L::store(&mut rows[to][at..], value);
                at += L::COUNT;
            }
        } else {
            while at < LANES {
                let load = |(row, step): (usize, usize)| L::load(&rows[row][at & step..]);
                let value = F::of::<L>(load(a), load(b), load(c));
                L::store(&mut rows[to][at..], value);
                at += L::COUNT;
            }
        }
    }

    /// Row of an operand, and which bits of a lane's number count there: none for a constant, which is put into the
    /// first lanes of a row of its own.
    #[inline(always)]
    fn place<L: QuadLanes>(&mut self, alu: &Alu, number: usize) -> (usize, usize) {
        let value = match alu.operands[number].from {
            Source::Row(row) => return (row as usize, usize::MAX),
            Source::Value(value) => value,
            Source::Uniform(at) => self.uniforms.get(at as usize).copied().unwrap_or(0.0),
        };
        let row = self.rows.len() - CONSTANT_ROWS + number;
        L::store(&mut self.rows[row][..], L::splat(value));
        (row, 0)
    }

    /// Runs one operation for the lanes of `mask`.
    #[inline(always)]
    pub fn run<L: QuadLanes>(&mut self, alu: &Alu, mask: Mask) {
        // Each operation gets a loop of its own, with nothing to choose inside.
        macro_rules! loops {
            ($($op:ident $count:literal),* $(,)?) => {
                match alu.op {
                    $(AluOp::$op => {
                        struct One;
                        impl Formula for One {
                            #[inline(always)]
                            fn of<L: QuadLanes>(a: L::V, b: L::V, c: L::V) -> L::V {
                                formula::<L>(AluOp::$op, a, b, c)
                            }
                        }
                        self.each::<L, One>(alu, mask, $count);
                    })*
                }
            };
        }
        loops! {
            Copy 1, Mul 2, MulScaled 3, Add 2, MulAdd 3, Div 2, Not 1, And 2, Or 2, Xor 2, Ne 2, Gt 2, Ge 2,
            Eq 2, Min 2, Max 2, Fract 1, Floor 1, Ceil 1, Sign 1, Sum3 3, Select 3, Clamp 3, Ddx 2, DdyUp 2,
            DdyDown 2, Rcp 1, Sqrt 1, Rsqrt 1, Exp2 1, Log2 1, Sin 1, Cos 1, Atan 1, Atan2 2,
        }
    }

    /// Lanes for which a comparison of two operands has one of the wanted outcomes.
    #[inline(always)]
    pub fn compare<L: QuadLanes>(&self, a: &Operand, b: &Operand, wanted: Condition) -> Mask {
        let (a, b) = (ready::<L>(a, self.uniforms), ready::<L>(b, self.uniforms));
        let mut lanes = 0;
        let mut at = 0;
        while at < self.lanes {
            let (a, b) = (fetch::<L>(self.rows, &a, at), fetch::<L>(self.rows, &b, at));
            let mut bits = 0;
            if wanted.greater() {
                bits |= L::bits(L::gt(a, b));
            }
            if wanted.equal() {
                bits |= L::bits(L::eq(a, b));
            }
            if wanted.less() {
                bits |= L::bits(L::gt(b, a));
            }
            lanes |= Mask::from(bits) << at;
            at += L::COUNT;
        }
        lanes
    }
}

/// Keeps operations that read rows apart from operations in front of them that write those: all of a stage read before
/// any of them writes. Results that would be read are put aside, from row `spare` on, and copied at the end; unless a
/// later operation writes the same row, for the last one counts.
pub(crate) fn stage(mut operations: Vec<Alu>, spare: u16, out: &mut Vec<Alu>) {
    let mut copies = Vec::new();
    for at in 0..operations.len() {
        let to = operations[at].to;
        let later = &operations[at + 1..];
        if later.iter().any(|later| later.reads(to)) {
            let aside = spare + at as u16;
            let overwritten = later.iter().any(|later| later.to == to);
            copies.extend((!overwritten).then(|| Alu::new(AluOp::Copy, &[Operand::row(aside)], to)));
            operations[at].to = aside;
        }
    }
    out.extend(operations);
    out.extend(copies);
}
