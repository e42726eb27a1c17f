//! Runs the compiler's own form in fp32, four fragments at a time, with a bound of what the hardware's rounding may
//! change: the measure that compiled programs are held against.

use crate::ir::{Block, Function, Input, Lod, Op, Output, Term, Value};
use crate::opt::fold;
use std::collections::HashMap;

/// A number and how far the hardware's may be from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounded {
    /// The number.
    pub value: f32,
    /// The bound; infinite where a decision hangs on a difference within it.
    pub error: f32,
}

/// How numbers are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// Relative error of an operation.
    pub relative: f32,
    /// Absolute error of an operation: the largest number that becomes zero.
    pub absolute: f32,
    /// Largest number.
    pub largest: f32,
}

/// The fragment processor's registers: fp16 without denormals.
pub const HALF: Rounding = Rounding {
    relative: 1.0 / 2048.0,
    absolute: 6.2e-5,
    largest: 65_000.0,
};

/// The vertex processor's numbers, with what its transcendental units lose.
pub const SINGLE: Rounding = Rounding {
    relative: 1.0e-6,
    absolute: 1.0e-37,
    largest: 1.0e37,
};

/// A texture: unit, coordinates and level of four fragments to their texels.
pub type Sampler<'a> = dyn Fn(u32, bool, Lod, [[f32; 4]; 4]) -> [[f32; 4]; 4] + 'a;

/// What a program is given.
pub struct Given<'a> {
    /// Scalars of the uniforms.
    pub uniforms: &'a [f32],
    /// Inputs of each fragment, or of the vertex.
    pub input: &'a dyn Fn(usize, Input) -> f32,
    /// Textures.
    pub sampler: &'a Sampler<'a>,
    /// Rounding of the processor.
    pub rounding: Rounding,
    /// Blocks to run at most.
    pub budget: u32,
}

/// What a fragment or vertex leaves behind; nothing where it was discarded.
pub type Outcome = Option<HashMap<Output, Bounded>>;

struct Lanes<'a> {
    function: &'a Function,
    given: &'a Given<'a>,
    values: Vec<[Bounded; 4]>,
    texels: HashMap<Value, [[Bounded; 4]; 4]>,
    memory: Vec<[Bounded; 4]>,
    /// A lane's way hung on too little.
    unsure: [bool; 4],
}

/// Runs four fragments, or a vertex four times; nothing when the budget is spent.
pub fn run(function: &Function, given: &Given<'_>) -> Option<[Outcome; 4]> {
    let order = function.order();
    let number: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let mut lanes = Lanes {
        function,
        given,
        values: vec![[Bounded::default(); 4]; function.values.len()],
        texels: HashMap::new(),
        memory: vec![[Bounded::default(); 4]; function.memory as usize + 4],
        unsure: [false; 4],
    };
    for (at, inst) in function.values.iter().enumerate() {
        if let Op::Const(bits) = inst.op {
            let value = f32::from_bits(bits);
            lanes.values[at] = [lanes.rounded(value, 0.0); 4];
        }
    }
    let mut outcomes: [Outcome; 4] = Default::default();
    let mut at: [Option<usize>; 4] = [Some(0); 4];
    let mut from: [Option<Block>; 4] = [None; 4];
    let mut budget = given.budget;
    while let Some(here) = at.iter().flatten().min().copied() {
        budget = budget.checked_sub(1)?;
        let active: [bool; 4] = std::array::from_fn(|lane| at[lane] == Some(here));
        let block = order[here];
        lanes.block(block, &active, &from);
        for lane in (0..4).filter(|lane| active[*lane]) {
            from[lane] = Some(block);
            at[lane] = match function.block(block).term {
                Term::Jump(to) => Some(number[&to]),
                Term::Branch(value, then, other) => {
                    let condition = lanes.values[value.0 as usize][lane];
                    lanes.unsure[lane] |= condition.error >= 0.5;
                    Some(number[if condition.value != 0.0 { &then } else { &other }])
                }
                Term::Discard | Term::Open => {
                    if lanes.unsure[lane] {
                        outcomes[lane] = Some(HashMap::new());
                    }
                    None
                }
                Term::End => {
                    let unsure = lanes.unsure[lane];
                    let get = |value: &Value| {
                        let mut number = lanes.values[value.0 as usize][lane];
                        if unsure {
                            number.error = f32::INFINITY;
                        }
                        number
                    };
                    let outputs = function.outputs.iter().map(|(output, value)| (*output, get(value)));
                    outcomes[lane] = Some(outputs.collect());
                    None
                }
            };
        }
    }
    Some(outcomes)
}

impl Lanes<'_> {
    fn rounded(&self, value: f32, error: f32) -> Bounded {
        let rounding = self.given.rounding;
        let error = error + value.abs() * rounding.relative + rounding.absolute;
        let lost = !value.is_finite() || value.abs() + error > rounding.largest || !error.is_finite();
        Bounded {
            value,
            error: if lost { f32::INFINITY } else { error },
        }
    }

    fn block(&mut self, block: Block, active: &[bool; 4], from: &[Option<Block>; 4]) {
        let function = self.function;
        let data = function.block(block);
        let phis: Vec<(Value, [Bounded; 4])> = data
            .insts
            .iter()
            .filter(|value| function.inst(**value).op == Op::Phi)
            .map(|phi| {
                let chosen = std::array::from_fn(|lane| {
                    let at = data.preds.iter().position(|pred| Some(*pred) == from[lane]);
                    let arg = at.and_then(|at| function.inst(*phi).args.get(at));
                    arg.map_or(Bounded::default(), |arg| self.values[arg.0 as usize][lane])
                });
                (*phi, chosen)
            })
            .collect();
        for (phi, chosen) in phis {
            for lane in (0..4).filter(|lane| active[*lane]) {
                self.values[phi.0 as usize][lane] = chosen[lane];
            }
        }
        for value in &data.insts {
            let inst = function.inst(*value);
            if inst.op == Op::Phi {
                continue;
            }
            if let Op::Texture { .. } = inst.op {
                self.texture(*value);
                continue;
            }
            let results: [Bounded; 4] = std::array::from_fn(|lane| {
                if active[lane] {
                    self.one(*value, lane)
                } else {
                    self.values[value.0 as usize][lane]
                }
            });
            self.values[value.0 as usize] = results;
        }
    }

    fn texture(&mut self, value: Value) {
        let inst = self.function.inst(value);
        let Op::Texture { unit, cube, lod } = inst.op else {
            return;
        };
        let mut sure = true;
        let coordinates = std::array::from_fn(|lane| {
            let mut all = [0.0; 4];
            for (to, arg) in all.iter_mut().zip(&inst.args) {
                let number = self.values[arg.0 as usize][lane];
                *to = number.value;
                sure &= number.error.is_finite();
            }
            all
        });
        let texels = (self.given.sampler)(unit, cube, lod, coordinates);
        let texels = texels.map(|texel| {
            texel.map(|channel| {
                let mut number = self.rounded(channel, 0.0);
                if !sure {
                    number.error = f32::INFINITY;
                }
                number
            })
        });
        self.texels.insert(value, texels);
    }

    fn address(&self, base: u32, arg: Value, lane: usize) -> Option<usize> {
        let offset = self.values[arg.0 as usize][lane];
        if offset.error >= 0.5 {
            return None;
        }
        usize::try_from(i64::from(base) + offset.value.round() as i64).ok()
    }

    fn one(&mut self, value: Value, lane: usize) -> Bounded {
        let unknown = Bounded {
            value: 0.0,
            error: f32::INFINITY,
        };
        let inst = self.function.inst(value);
        let args: Vec<Bounded> = inst.args.iter().map(|arg| self.values[arg.0 as usize][lane]).collect();
        match inst.op {
            Op::Const(_) => self.values[value.0 as usize][lane],
            Op::Uniform(slot) => {
                let number = self.given.uniforms.get(slot as usize).copied().unwrap_or(0.0);
                self.rounded(number, 0.0)
            }
            Op::UniformAt { base, stride, count } => {
                if args[0].error >= 0.5 {
                    return unknown;
                }
                let index = args[0].value.round();
                // Outside of the array the languages promise nothing.
                if !(0.0..count as f32).contains(&index) {
                    return unknown;
                }
                let index = index as u32;
                let slot = (base + index * stride) as usize;
                self.rounded(self.given.uniforms.get(slot).copied().unwrap_or(0.0), 0.0)
            }
            Op::Input(input) => self.rounded((self.given.input)(lane, input), 0.0),
            Op::Lane(number) => self
                .texels
                .get(&inst.args[0])
                .map_or(unknown, |texels| texels[lane][usize::from(number)]),
            Op::Ddx | Op::Ddy => {
                let of = |other: usize| self.values[inst.args[0].0 as usize][other];
                let (low, high) = if inst.op == Op::Ddx {
                    (lane & !1, lane | 1)
                } else {
                    (lane | 2, lane & !2)
                };
                let (low, high) = (of(low), of(high));
                self.rounded(high.value - low.value, low.error + high.error)
            }
            Op::Load(base) => match self.address(base, inst.args[0], lane) {
                Some(at) => self.memory.get(at).map_or(unknown, |slot| slot[lane]),
                None => unknown,
            },
            Op::Store(base) => {
                match self.address(base, inst.args[0], lane) {
                    Some(at) => {
                        if let Some(slot) = self.memory.get_mut(at) {
                            slot[lane] = args[1];
                        }
                    }
                    None => self.memory.iter_mut().for_each(|slot| slot[lane] = unknown),
                }
                Bounded::default()
            }
            op => self.arithmetic(op, &args),
        }
    }

    fn arithmetic(&self, op: Op, args: &[Bounded]) -> Bounded {
        let unknown = Bounded {
            value: 0.0,
            error: f32::INFINITY,
        };
        let values: Vec<f32> = args.iter().map(|arg| arg.value).collect();
        let Some(value) = fold::compute(op, &values) else {
            return unknown;
        };
        let known = Bounded { value, error: 0.0 };
        let a = args.first().copied().unwrap_or_default();
        let b = args.get(1).copied().unwrap_or_default();
        let sum: f32 = args.iter().map(|arg| arg.error).sum();
        // The whole range of an argument, for what grows with it.
        let ends = |op: Op| {
            let at = |value: f32| fold::compute(op, &[value]).unwrap_or(f32::NAN);
            let (low, high) = (at(a.value - a.error), at(a.value + a.error));
            (low - value).abs().max((high - value).abs())
        };
        // One of few results, whichever way it goes.
        let decided = |close: bool, apart: f32| Bounded {
            value,
            error: if close && sum > 0.0 { apart } else { 0.0 },
        };
        // What an argument says alone, when it is sure.
        let says = |truth: bool| args.iter().any(|arg| arg.error < 0.5 && (arg.value != 0.0) == truth);
        match op {
            Op::Add | Op::Sum => {
                let most = values.iter().fold(value.abs(), |most, value| most.max(value.abs()));
                let steps = self.given.rounding.relative * most * args.len() as f32;
                self.rounded(value, sum + steps)
            }
            Op::Mul => {
                let error = a.value.abs() * b.error + b.value.abs() * a.error + a.error * b.error;
                self.rounded(value, if error.is_nan() { f32::INFINITY } else { error })
            }
            Op::Neg | Op::Abs | Op::Copy => Bounded { value, error: a.error },
            Op::Min | Op::Max => Bounded {
                value,
                error: a.error.max(b.error),
            },
            Op::Sat => Bounded {
                value,
                error: if a.error.is_finite() {
                    a.error.min(1.0)
                } else {
                    f32::INFINITY
                },
            },
            Op::Floor | Op::Ceil | Op::Trunc | Op::Fract if !a.error.is_finite() => unknown,
            // Where a number is whole already, either neighbour may come.
            Op::Floor | Op::Ceil | Op::Trunc => Bounded { value, error: ends(op) },
            Op::Fract => {
                let same = (a.value - a.error).floor() == (a.value + a.error).floor();
                let around = if same { a.error } else { 1.0 };
                self.rounded(value, around.min(1.0))
            }
            Op::Sign => decided(a.value.abs() <= a.error, 2.0),
            Op::Lt | Op::Ge | Op::Eq | Op::Ne => decided((a.value - b.value).abs() <= sum, 1.0),
            Op::And if says(false) => known,
            Op::Or if says(true) => known,
            Op::Not | Op::And | Op::Or | Op::Xor => decided(args.iter().any(|arg| arg.error >= 0.5), 1.0),
            Op::Select => {
                let (b, c) = (b, args.get(2).copied().unwrap_or_default());
                if a.error < 0.5 {
                    Bounded {
                        value,
                        error: if a.value != 0.0 { b.error } else { c.error },
                    }
                } else {
                    Bounded {
                        value,
                        error: (b.value - c.value).abs() + b.error + c.error,
                    }
                }
            }
            Op::Rcp | Op::Rsqrt | Op::Sqrt | Op::Log2 | Op::Exp2 => {
                let crosses = matches!(op, Op::Rcp | Op::Rsqrt | Op::Log2) && a.value.abs() <= a.error;
                let error = ends(op);
                // A root of what is less than nothing for one of the two.
                let root = op == Op::Sqrt && a.value - a.error < 0.0;
                if crosses || root || error.is_nan() {
                    unknown
                } else {
                    self.rounded(value, error)
                }
            }
            Op::Sin | Op::Cos => self.rounded(value, (a.error * std::f32::consts::TAU).min(2.0)),
            _ => unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation of numbers without rounding; truth values are 0 and 1.
    fn exact(op: Op, args: &[f64]) -> f64 {
        let turn = std::f64::consts::TAU;
        let (a, b) = (args[0], args.get(1).copied().unwrap_or(0.0));
        let truth = |value: bool| f64::from(u8::from(value));
        match op {
            Op::Add => a + b,
            Op::Mul => a * b,
            Op::Neg => -a,
            Op::Abs => a.abs(),
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::Sat => a.clamp(0.0, 1.0),
            Op::Floor => a.floor(),
            Op::Ceil => a.ceil(),
            Op::Trunc => a.trunc(),
            Op::Fract => a - a.floor(),
            Op::Sign => truth(a > 0.0) - truth(a < 0.0),
            Op::Rcp => 1.0 / a,
            Op::Rsqrt => 1.0 / a.sqrt(),
            Op::Sqrt => a.sqrt(),
            Op::Log2 => a.log2(),
            Op::Exp2 => a.exp2(),
            Op::Sin => (a * turn).sin(),
            Op::Cos => (a * turn).cos(),
            Op::Lt => truth(a < b),
            Op::Ge => truth(a >= b),
            Op::Eq => truth(a == b),
            Op::Ne => truth(a != b),
            Op::Not => truth(a == 0.0),
            Op::And => truth(a != 0.0 && b != 0.0),
            Op::Or => truth(a != 0.0 || b != 0.0),
            Op::Xor => truth((a != 0.0) != (b != 0.0)),
            Op::Select => {
                if a != 0.0 {
                    b
                } else {
                    args[2]
                }
            }
            _ => f64::NAN,
        }
    }

    const NUMBERS: [(Op, usize); 23] = [
        (Op::Add, 2),
        (Op::Mul, 2),
        (Op::Neg, 1),
        (Op::Abs, 1),
        (Op::Min, 2),
        (Op::Max, 2),
        (Op::Sat, 1),
        (Op::Floor, 1),
        (Op::Ceil, 1),
        (Op::Trunc, 1),
        (Op::Fract, 1),
        (Op::Sign, 1),
        (Op::Rcp, 1),
        (Op::Rsqrt, 1),
        (Op::Sqrt, 1),
        (Op::Log2, 1),
        (Op::Exp2, 1),
        (Op::Sin, 1),
        (Op::Cos, 1),
        (Op::Lt, 2),
        (Op::Ge, 2),
        (Op::Eq, 2),
        (Op::Ne, 2),
    ];
    const TRUTHS: [(Op, usize); 4] = [(Op::Not, 1), (Op::And, 2), (Op::Or, 2), (Op::Xor, 2)];

    fn lanes_run(test: impl Fn(&Lanes<'_>)) {
        let function = Function::default();
        for rounding in [HALF, SINGLE] {
            let given = Given {
                uniforms: &[],
                input: &|_, _| 0.0,
                sampler: &|_, _, _, _| [[0.0; 4]; 4],
                rounding,
                budget: 0,
            };
            test(&Lanes {
                function: &function,
                given: &given,
                values: Vec::new(),
                texels: HashMap::new(),
                memory: Vec::new(),
                unsure: [false; 4],
            });
        }
    }

    /// Whatever the arguments are within their bounds, the result is within its own.
    #[test]
    fn results_are_within_their_bounds() {
        lanes_run(|lanes| {
            let mut random = fastrand::Rng::with_seed(3);
            for (op, count) in NUMBERS.into_iter().chain(TRUTHS).chain([(Op::Select, 3)]) {
                let is_truth = |at: usize| TRUTHS.iter().any(|(truth, _)| *truth == op) || op == Op::Select && at == 0;
                let mut bounded = 0;
                for _ in 0..400 {
                    let args: Vec<Bounded> = (0..count)
                        .map(|at| match is_truth(at) {
                            true => Bounded {
                                value: random.i32(0..3) as f32,
                                error: [0.0, 0.25, 1.0][random.usize(..3)],
                            },
                            false => Bounded {
                                value: random.i32(-64..=64) as f32 / 16.0,
                                error: [0.0, 0.0, 0.015625, 0.25, 1.5][random.usize(..5)],
                            },
                        })
                        .collect();
                    let result = lanes.arithmetic(op, &args);
                    if !result.error.is_finite() || !result.value.is_finite() {
                        continue;
                    }
                    bounded += 1;
                    for _ in 0..20 {
                        let chosen: Vec<f64> = args
                            .iter()
                            .enumerate()
                            .map(|(at, arg)| match is_truth(at) {
                                // A truth is sure while less than half a step is in doubt.
                                true if arg.error < 0.5 => f64::from(arg.value),
                                true => f64::from(random.i32(0..2)),
                                false => {
                                    f64::from(arg.value) + f64::from(arg.error) * f64::from(random.i32(-8..=8)) / 8.0
                                }
                            })
                            .collect();
                        let want = exact(op, &chosen);
                        if want.is_nan() {
                            continue;
                        }
                        let far = (want - f64::from(result.value)).abs();
                        let most = f64::from(result.error) * 1.0001 + 1e-5;
                        assert!(far <= most, "{op:?} of {chosen:?} in {args:?}: {want} for {result:?}");
                    }
                }
                assert!(bounded > 40, "{op:?}: {bounded} of 400");
            }
        });
    }

    /// A bound is no further away than the arguments' own can bring a result.
    #[test]
    fn bounds_of_doubtful_numbers_are_tight() {
        // Sines are as steep as a turn is long.
        let turn = std::f64::consts::TAU;
        let ops = [
            Op::Add,
            Op::Mul,
            Op::Neg,
            Op::Abs,
            Op::Floor,
            Op::Ceil,
            Op::Trunc,
            Op::Rcp,
            Op::Rsqrt,
            Op::Sqrt,
            Op::Log2,
            Op::Exp2,
        ];
        let rows = ops
            .map(|op| (op, 1.0))
            .into_iter()
            .chain([(Op::Fract, 1.0), (Op::Sin, turn), (Op::Cos, turn)]);
        lanes_run(|lanes| {
            for (op, steepest) in rows.clone() {
                let count = if matches!(op, Op::Add | Op::Mul) { 2 } else { 1 };
                for (a, b) in [(1.5, 2.25), (-1.5, 0.75), (3.3, -1.1), (2.0, 3.0), (0.6, 0.6)] {
                    for [first, second] in [[0.0, 0.25], [0.125, 0.0], [0.125, 0.25], [0.4, 0.4]] {
                        let numbers: [(f32, f32); 2] = [(a, first), (b, second)];
                        let args = numbers.map(|(value, error)| Bounded { value, error });
                        let result = lanes.arithmetic(op, &args[..count]);
                        if !result.error.is_finite() || !result.value.is_finite() {
                            continue;
                        }
                        let steps = || (-16..=16).map(|step| f64::from(step) / 16.0);
                        let pairs = steps().flat_map(|x| steps().map(move |y| [x, y]));
                        let far = pairs.map(|parts| {
                            let chosen: Vec<f64> = args[..count]
                                .iter()
                                .zip(parts)
                                .map(|(arg, part)| f64::from(arg.value) + part * f64::from(arg.error))
                                .collect();
                            (exact(op, &chosen) - f64::from(result.value)).abs()
                        });
                        // A number beside a whole one may have either for its part.
                        let crosses = (a - first).floor() != (a + first).floor();
                        let far = match op {
                            Op::Fract if crosses => 1.0,
                            Op::Sin | Op::Cos => (f64::from(first) * steepest).min(2.0),
                            _ => far.fold(0.0, f64::max),
                        };
                        let size = f64::from(result.value.abs().max(a.abs() + b.abs()));
                        let rounding = lanes.given.rounding;
                        let most = far * 1.001
                            + f64::from(rounding.relative) * 4.0 * size
                            + f64::from(rounding.absolute)
                            + 1e-6;
                        assert!(
                            f64::from(result.error) <= most,
                            "{op:?} of {args:?}: {result:?}, {most} at most"
                        );
                    }
                }
            }
        });
    }

    /// What is known exactly has the bound of its rounding.
    #[test]
    fn bounds_of_known_numbers_are_tight() {
        lanes_run(|lanes| {
            for (op, count) in NUMBERS.into_iter().chain(TRUTHS).chain([(Op::Select, 3)]) {
                for (a, b) in [(2.0, 1.0), (1.0, 2.0), (0.5, 0.5), (3.25, 0.0)] {
                    let args = [a, b, 0.25].map(|value| Bounded { value, error: 0.0 });
                    let result = lanes.arithmetic(op, &args[..count]);
                    let numbers: Vec<f64> = args[..count].iter().map(|arg| f64::from(arg.value)).collect();
                    let want = exact(op, &numbers);
                    let rounding = lanes.given.rounding;
                    let most = f64::from(rounding.relative) * 8.0 * want.abs().max(f64::from(a) + f64::from(b))
                        + f64::from(rounding.absolute) * 2.0;
                    assert!(
                        f64::from(result.error) <= most + 1e-6,
                        "{op:?} of {a} and {b}: {result:?}"
                    );
                    assert!(
                        (f64::from(result.value) - want).abs() <= most + 1e-5,
                        "{op:?} of {a} and {b}: {result:?} for {want}"
                    );
                }
            }
        });
    }
}
