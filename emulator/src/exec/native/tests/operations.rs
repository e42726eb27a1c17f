//! Every operation in machine code beside the portable lanes, on numbers of every kind, and more of them at once than
//! there are registers.

use crate::exec::inputs::Inputs;
use crate::exec::lanes::{LANES, Mask, Row};
use crate::exec::native::call::{Call, Rounding, Which};
use crate::exec::native::codegen::emit::{Copies, emit, emit_rounding};
use crate::exec::native::isa;
use crate::exec::native::isa::Isa;
use crate::exec::native::runtime::code::Code;
use crate::exec::native::runtime::variants::NO_INPUTS;
use crate::exec::native::tests::lockstep::levels;
use crate::exec::native::trace::graph::{Effect, Graph, Node, Value};
use crate::exec::native::trace::tracer::{self, Tracer};
use crate::simd::{Found, Portable};
use fastrand::Rng;
use num::lanes::{Lanes, QuadLanes};
use num::math;

/// What is computed of two numbers, and of some words.
fn computed<L: QuadLanes>(a: L::V, b: L::V, words: &[u32]) -> Vec<L::V> {
    let splat = L::splat;
    // Whole numbers from 0 to 15.
    let whole = |a| L::min(L::floor(L::abs(a)), splat(15.0));
    // Products of halves are exact.
    let [x, y] = [L::round_half(a), L::round_half(b)];
    let table = std::array::from_fn(|at| 0.75 - at as f32);
    let mut all = vec![
        L::add(a, b),
        L::sub(a, b),
        L::mul(a, b),
        L::div(a, b),
        L::min(a, b),
        L::max(a, b),
        L::min(a, splat(1.0)),
        L::max(a, splat(0.0)),
        L::min(splat(-0.0), a),
        L::max(splat(-0.0), a),
        L::select(L::gt(a, b), a, b),
        L::select(L::ge(a, b), b, a),
        L::select(L::eq(a, b), splat(0.1), a),
        L::select(L::ne(a, b), b, splat(0.0)),
        L::select(L::gt(a, splat(0.0)), L::neg(b), L::abs(b)),
        math::truth::<L>(L::ge(a, b)),
        L::sqrt(a),
        L::floor(a),
        L::trunc(a),
        L::abs(a),
        L::neg(a),
        x,
        L::add(L::mul(x, y), b),
        L::add(L::mul(x, y), x),
        L::add(L::mul(x, x), L::add(L::mul(x, y), L::mul(y, y))),
        L::left(a),
        L::right(a),
        L::upper(a),
        L::lower(a),
        L::power(L::sub(whole(a), splat(7.0))),
        L::lookup(&table, whole(a)),
        math::exp2::<L>(a),
        math::log2::<L>(a),
        math::sin_turns::<L>(a),
        math::cos_turns::<L>(b),
        math::atan::<L>(a),
        math::atan2::<L>(a, b),
        math::saturate::<L>(a),
        math::sign::<L>(a),
    ];
    all.extend(L::texels(words, splat(0.0), whole(a)));
    all.extend(L::texels(words, whole(b), whole(a)));
    all
}

/// A number of any kind.
fn number(random: &mut Rng) -> f32 {
    let special = [
        0,
        0x3f80_0000,
        // Infinity, and NaN, quiet and signalling.
        0x7f80_0000,
        0x7fc0_0000,
        0x7fa0_0001,
        // The largest half, what is above it, and where it is nearer to infinity.
        0x477f_e000,
        0x477f_efff,
        0x477f_f000,
        // The smallest normal half, what is below it, and denormals: of halves and of floats.
        0x3880_0000,
        0x387f_f000,
        0x387f_efff,
        0x3380_0000,
        0x0000_1234,
        // In the middle of two halves.
        0x3f80_1000,
        0x3f80_3000,
    ];
    let sign = random.u32(..2) << 31;
    match random.u32(..4) {
        0 => f32::from_bits(special[random.usize(..special.len())] | sign),
        1 => f32::from_bits(random.u32(..)),
        2 => (random.f32() * 2.0 - 1.0) * 20.0,
        _ => f32::from_bits(random.u32(0x3700_0000..0x4800_0000) | sign),
    }
}

/// Numbers as bits; which NaN it is does not count.
fn bits(row: &Row) -> [u32; LANES] {
    row.map(|value| if value.is_nan() { f32::NAN } else { value }.to_bits())
}

/// The graph of all that is computed, and the values.
fn noted(isa: Isa) -> (Graph, Vec<Value>) {
    // Of vertices, for their rows may hold anything.
    let mut graph = Graph::of_vertices(isa);
    let [a, b] = [0, 1].map(|row| graph.node(Node::Row(row)));
    let values = tracer::record(&mut graph, || {
        tracer::texture(0);
        computed::<Tracer>(a, b, &[])
    });
    (graph, values)
}

/// What portable lanes make of two rows.
fn wanted(rows: &[Row], words: &[u32]) -> Vec<Row> {
    let mut wanted = Vec::new();
    for at in (0..LANES).step_by(Portable::COUNT) {
        let [a, b] = [0, 1].map(|row| Portable::load(&rows[row][at..]));
        let values = computed::<Portable>(a, b, words);
        wanted.resize(values.len(), Row::splat(0.0));
        for (row, value) in wanted.iter_mut().zip(values) {
            Portable::store(&mut row[at..], value);
        }
    }
    wanted
}

#[test]
fn every_operation_gives_the_same_bits() {
    let mut random = Rng::with_seed(11);
    let words: [u32; 23] = std::array::from_fn(|_| random.u32(..));
    for isa in levels().into_iter().filter_map(|level| isa(Found::at_most(level))) {
        let (mut graph, values) = noted(isa);
        let mut codes = Vec::new();
        for value in &values {
            graph.effects = vec![Effect::Store(2, *value)];
            for (masked, copies) in [(false, Copies::One), (false, Copies::Best), (true, Copies::Best)] {
                let which = if masked { Which::Masked } else { Which::All };
                let code = Code::new(emit(&graph, isa, which, copies).expect("room on the stack"));
                codes.push((masked, code.expect("memory for code")));
            }
        }
        for _ in 0..100 {
            let mut rows: Vec<Row> = (0..3).map(|_| Row::splat(0.0)).collect();
            rows.iter_mut()
                .for_each(|row| row.iter_mut().for_each(|value| *value = number(&mut random)));
            let mask = Mask::from(random.u64(..)) | Mask::from(random.u64(..)) << 64;
            for (at, want) in wanted(&rows, &words).iter().enumerate() {
                for (masked, code) in &codes[3 * at..3 * at + 3] {
                    let mut have = rows.clone();
                    let left = !code.run(Call {
                        rows: &mut have,
                        lanes: LANES,
                        uniforms: &[],
                        inputs: &Inputs::default(),
                        mask: Some(&mask),
                        textures: &[(0.0, &words)],
                        words: &mut [],
                    });
                    assert!(!left);
                    let (old, have, want) = (bits(&rows[2]), bits(&have[2]), bits(want));
                    for lane in 0..LANES {
                        let is_kept = *masked && mask >> lane & 1 == 0;
                        let want = if is_kept { old[lane] } else { want[lane] };
                        let [a, b] = [rows[0][lane], rows[1][lane]].map(f32::to_bits);
                        let have = have[lane];
                        assert_eq!(
                            have, want,
                            "{isa:?}, value {at} of {a:#x} and {b:#x}: {have:#x} is not {want:#x}"
                        );
                    }
                }
            }
        }
    }
}

/// Runs code for all lanes of rows that are all it works on.
fn run_rows(code: &Code, rows: &mut [Row]) -> bool {
    run_words(code, rows, &mut [])
}

/// The same of code that makes words.
fn run_words(code: &Code, rows: &mut [Row], words: &mut [u32]) -> bool {
    code.run(Call {
        rows,
        lanes: LANES,
        uniforms: &[],
        inputs: &NO_INPUTS,
        mask: None,
        textures: &[],
        words,
    })
}

/// Instructions that may be used here and round speculatively.
fn speculating() -> impl Iterator<Item = Isa> {
    let isas = levels().into_iter().filter_map(|level| isa(Found::at_most(level)));
    isas.filter(|isa| isa.speculates())
}

/// Speculative roundings are right, or the call is left to others: that is where there is a denormal half, or what becomes one
/// or zero, 4 or more, or a NaN that signals.
#[test]
fn speculative_roundings_are_right_or_left_to_others() {
    for isa in speculating() {
        let mut graph = Graph::of_vertices(isa);
        let x = graph.node(Node::Row(0));
        let half = tracer::record(&mut graph, || Tracer::round_half(x));
        graph.effects.push(Effect::Store(1, half));
        let emitted = emit_rounding(&graph, isa, Which::All, Copies::Best, Rounding::Speculative);
        let code = emitted.and_then(Code::new).expect("code");
        let mut rows = vec![Row::splat(0.0); 2];
        let mut is_left = |values: &[f32; LANES]| {
            rows[0].copy_from_slice(values);
            let done = run_rows(&code, &mut rows);
            let wanted = rows[0].map(num::half::round);
            for (lane, (have, want)) in bits(&rows[1]).into_iter().zip(bits(&Row(wanted))).enumerate() {
                assert!(!done || have == want, "{:#x}: {have:#x}", rows[0][lane].to_bits());
            }
            !done
        };
        let mut left = 0u32;
        for high in 0..1u32 << 20 {
            // Bits that halves have, the first of those behind them, and what may be there.
            let low = [0, 1, 0x7ff, 0x800, 0x801, 0xffe, 0xfff];
            let values: [f32; LANES] = std::array::from_fn(|lane| f32::from_bits(high << 12 | low[lane % low.len()]));
            let is_left_for = |value: &f32| {
                let half = num::half::round(*value);
                let signals = value.is_nan() && value.to_bits() & 1 << 22 == 0;
                signals || !(half.abs() < 4.0 || half.is_nan()) || half == 0.0 && *value != 0.0
            };
            let want = values.iter().any(is_left_for);
            let have = is_left(&values);
            // What is below the smallest normal half, but nearer to it than to the next, may be left.
            let may = |value: &f32| *value != 0.0 && value.abs() < num::half::to_f32(0x0400);
            assert!(have == want || have && values.iter().any(may), "{high:#x}");
            left += u32::from(have);
        }
        // Of all exponents 16 are those of halves less than 4.
        assert!((1 << 19..(1 << 20) - (1 << 14)).contains(&left), "{left}");
        // One of many is enough.
        for lane in 0..LANES {
            let mut values = [1.5; LANES];
            values[lane] = 70_000.0;
            assert!(is_left(&values), "{lane}");
            values[lane] = -0.0;
            assert!(!is_left(&values), "{lane}");
        }
    }
}

/// Products and sums of halves, each rounded, of what was computed before: in machine code's rows behind the first two, and
/// what they ought to be.
fn chain<L: Lanes>(random: &mut Rng, first: [L::V; 2]) -> Vec<L::V> {
    let mut all = first.map(L::round_half).to_vec();
    for _ in 0..12 {
        // What is new more often than what is old, but one.
        let mut before = || all[all.len() - 1 - random.usize(..all.len().min(4))];
        let (a, b, c, often) = (before(), before(), before(), all[1]);
        let what = match random.u32(..9) {
            0 => L::add(a, b),
            1 => L::sub(a, b),
            2 => L::add(L::mul(a, b), L::splat(0.0625)),
            3 => L::add(L::mul(a, b), c),
            4 => L::min(L::mul(a, b), L::splat(1.5)),
            5 => L::mul(a, L::splat(0.4375)),
            6 => L::mul(a, often),
            7 => L::add(L::mul(a, often), L::splat(0.25)),
            _ => L::mul(a, b),
        };
        all.push(L::round_half(what));
    }
    all
}

/// What speculative roundings are not looked at for does not happen: of chains of products and sums every value is right, or the
/// call is left to others, near the ends of what halves can be and far from them.
#[test]
fn what_is_not_looked_at_does_not_happen() {
    let mut random = Rng::with_seed(17);
    for isa in speculating() {
        let [mut right, mut left] = [0u32; 2];
        for seed in 0..1500 {
            let mut graph = Graph::of_vertices(isa);
            let first = [0, 1].map(|row| graph.node(Node::Row(row)));
            let values = tracer::record(&mut graph, || chain::<Tracer>(&mut Rng::with_seed(seed), first));
            let stores = values.iter().zip(2..).map(|(value, row)| Effect::Store(row, *value));
            graph.effects.extend(stores);
            let emitted = emit_rounding(&graph, isa, Which::All, Copies::Best, Rounding::Speculative);
            let code = emitted.and_then(Code::new).expect("code");
            let mut rows = vec![Row::splat(0.0); 2 + values.len()];
            for _ in 0..24 {
                // All lanes are alike, or there would be one that is left in each call.
                for row in &mut rows[..2] {
                    let is_zero = random.u32(..12) == 0;
                    let (power, sign) = (random.i32(-12..3), if random.u32(..4) == 0 { -1.0 } else { 1.0 });
                    let mut about =
                        || sign * f32::from(1 + random.u16(..64)).mul_add(1.0 / 64.0, 1.0) * (power as f32).exp2();
                    row.iter_mut()
                        .for_each(|lane| *lane = if is_zero { 0.0 } else { about() });
                }
                if !run_rows(&code, &mut rows) {
                    left += 1;
                    continue;
                }
                right += 1;
                for at in (0..LANES).step_by(Portable::COUNT) {
                    let first = [0, 1].map(|row| Portable::load(&rows[row][at..]));
                    let wanted = chain::<Portable>(&mut Rng::with_seed(seed), first);
                    for (row, want) in rows[2..].iter().zip(wanted) {
                        let have = &row[at..at + Portable::COUNT];
                        let is_same = have
                            .iter()
                            .zip(want)
                            .all(|(have, want)| have.to_bits() == want.to_bits());
                        assert!(is_same, "{seed}: {have:?} is not {want:?} of {first:?}");
                    }
                }
            }
        }
        println!("{isa:?}: {right} calls right, {left} left to others");
        assert!(right.min(left) > 500, "{right} {left}");
    }
}

/// Uniforms by any offset are those of its whole part, saturated and then going around as whole numbers do; what is not there
/// is zero.
#[test]
fn uniforms_are_found_by_any_number() {
    let mut random = Rng::with_seed(13);
    let mut uniforms: Vec<f32> = (0..21).map(|_| number(&mut random)).collect();
    let zero = uniforms.len();
    uniforms.push(0.0);
    for isa in levels().into_iter().filter_map(|level| isa(Found::at_most(level))) {
        for (index, shift) in [(0, 0), (3, 2), (-2, 1), (1, 2), (-32768, 0)] {
            // Of vertices, for their rows may hold anything.
            let mut graph = Graph::of_vertices(isa);
            let offset = graph.node(Node::Row(0));
            let found = tracer::record(&mut graph, || tracer::uniforms_at(offset, index, shift));
            let stores = (1..).zip(found).map(|(row, value)| Effect::Store(row, value));
            graph.effects.extend(stores);
            let code = emit(&graph, isa, Which::All, Copies::Best)
                .and_then(Code::new)
                .expect("code");
            let (mut inside, mut rows) = (0, vec![Row::splat(0.0); 5]);
            for _ in 0..40 {
                let near = random.bool();
                let mut offset = || match near {
                    true => random.f32() * 30.0 - 8.0 - index as f32,
                    false => number(&mut random) * if random.bool() { 1e9 } else { 1.0 },
                };
                rows[0].iter_mut().for_each(|value| *value = offset());
                let call = Call {
                    rows: &mut rows,
                    lanes: LANES,
                    uniforms: &uniforms,
                    inputs: &Inputs::default(),
                    mask: None,
                    textures: &[],
                    words: &mut [],
                };
                assert!(code.run(call));
                for (lane, offset) in rows[0].iter().enumerate() {
                    let first = index.wrapping_add(*offset as i32).wrapping_shl(shift.into());
                    for component in 0..4 {
                        let at = usize::try_from(first.wrapping_add(component as i32)).ok();
                        let at = at.filter(|at| *at < zero);
                        let (have, want) = (rows[1 + component][lane], uniforms[at.unwrap_or(zero)]);
                        assert_eq!(
                            have.to_bits(),
                            want.to_bits(),
                            "{isa:?}: {} {index} {shift}",
                            rows[0][lane]
                        );
                        inside += usize::from(at.is_some());
                    }
                }
            }
            assert!(inside > 1000 || index == -32768, "{inside}");
        }
    }
}

/// Words of colours are what the scalar engine makes of them: of halves, of what is between two of them, and of numbers of
/// every kind.
#[test]
fn colors_become_words() {
    let mut random = Rng::with_seed(12);
    let near = (0u32..=0x3c02).flat_map(|half| {
        let bits = num::half::to_f32(half as u16).to_bits();
        [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff].map(|more| f32::from_bits(bits + more))
    });
    let mut colors: Vec<f32> = near.collect();
    colors.extend((0..10_000).map(|_| number(&mut random)));
    colors.resize(colors.len().next_multiple_of(LANES), 0.0);
    for isa in levels().into_iter().filter_map(|level| isa(Found::at_most(level))) {
        // Of vertices, for their rows may hold anything.
        let mut graph = Graph::of_vertices(isa);
        let row = graph.node(Node::Row(0));
        tracer::record(&mut graph, || {
            let [red, green] = [
                Tracer::round_half(row),
                Tracer::round_half(Tracer::mul(row, Tracer::splat(0.5))),
            ];
            let blue = Tracer::round_half(Tracer::neg(row));
            // From 0 to 1 for sure: nothing is clamped.
            let positive = Tracer::gt(row, Tracer::splat(0.0));
            let of = |value: f32| Tracer::splat(value);
            let alpha = Tracer::round_half(Tracer::select(positive, of(1.0 / 7.0), of(1.0 / 3.0)));
            tracer::effect(Effect::Words(tracer::packed([red, green, blue, alpha])));
        });
        let code = Code::new(emit(&graph, isa, Which::All, Copies::Best).expect("room on the stack")).expect("memory");
        for some in colors.as_chunks::<LANES>().0 {
            let (mut rows, mut words) = ([Row::splat(0.0)], [0; LANES]);
            rows[0].copy_from_slice(some);
            assert!(run_words(&code, &mut rows, &mut words));
            for (value, word) in some.iter().zip(words) {
                let of = |value: f32| u32::from(crate::exec::unorm(num::half::round(value), 255.0));
                let alpha = if *value > 0.0 { 1.0 / 7.0 } else { 1.0 / 3.0 };
                let wanted = of(*value) | of(value * 0.5) << 8 | of(-value) << 16 | of(alpha) << 24;
                assert_eq!(word, wanted, "{isa:?} of {value:e}: {word:#x} is not {wanted:#x}");
            }
        }
    }
}

/// What is from 0 to 1 for sure becomes a byte without a clamp, and in another register than it was in, where one is free that
/// comes first.
#[test]
fn colors_that_need_no_clamp_become_words() {
    for isa in levels().into_iter().filter_map(|level| isa(Found::at_most(level))) {
        let mut graph = Graph::of_vertices(isa);
        let row = graph.node(Node::Row(0));
        tracer::record(&mut graph, || {
            let (zero, one) = (Tracer::splat(0.0), Tracer::splat(1.0));
            let scaled = Tracer::mul(row, Tracer::splat(0.5));
            let exact = Tracer::select(
                Tracer::gt(row, zero),
                Tracer::splat(1.0 / 7.0),
                Tracer::splat(1.0 / 3.0),
            );
            // Its register is free once that is known.
            let mask = Tracer::gt(Tracer::add(scaled, exact), one);
            let red = Tracer::round_half(exact);
            tracer::effect(Effect::Words(tracer::packed([red, zero, zero, one])));
            tracer::effect(Effect::Store(1, Tracer::select(mask, one, zero)));
        });
        for copies in [Copies::One, Copies::Best] {
            let code = Code::new(emit(&graph, isa, Which::All, copies).expect("room on the stack")).expect("memory");
            let (mut rows, mut words) = ([Row::splat(0.0), Row::splat(0.0)], [0; LANES]);
            (0..LANES).for_each(|lane| rows[0][lane] = lane as f32 / 16.0 - 4.0);
            let values = rows[0];
            assert!(run_words(&code, &mut rows, &mut words));
            for (lane, value) in values.iter().enumerate() {
                let exact: f32 = if *value > 0.0 { 1.0 / 7.0 } else { 1.0 / 3.0 };
                let red = u32::from(crate::exec::unorm(num::half::round(exact), 255.0));
                assert_eq!(words[lane], red | 0xff00_0000, "{isa:?} of {value}");
                assert_eq!(
                    rows[1][lane],
                    f32::from(u8::from(value * 0.5 + exact > 1.0)),
                    "{isa:?} of {value}"
                );
            }
        }
    }
}

/// More values at once than there are registers, masks among them: what went to the stack comes back.
#[test]
fn spilled_values_come_back() {
    for (limit, copies) in levels().into_iter().zip([Copies::Best, Copies::One]) {
        let Some(isa) = isa(Found::at_most(limit)) else {
            continue;
        };
        let mut graph = Graph::new(isa);
        // With more than there is stack for nothing is made at all.
        let count = isa.registers() + 4;
        let x = graph.node(Node::Row(0));
        let sum = tracer::record(&mut graph, || {
            let values: Vec<_> = (0..count)
                .map(|at| Tracer::mul(x, Tracer::splat(at as f32 + 0.5)))
                .collect();
            let masks: Vec<_> = values
                .iter()
                .map(|value| Tracer::gt(*value, Tracer::splat(8.0)))
                .collect();
            let chosen: Vec<_> = values
                .iter()
                .zip(&masks)
                .map(|(value, mask)| Tracer::select(*mask, *value, Tracer::splat(-1.0)))
                .collect();
            chosen
                .iter()
                .rev()
                .fold(Tracer::splat(0.0), |sum, value| Tracer::add(sum, *value))
        });
        graph.effects.push(Effect::Store(1, sum));
        let code = Code::new(emit(&graph, isa, Which::All, copies).unwrap()).unwrap();
        let mut rows = vec![Row::splat(0.0); 2];
        (0..LANES).for_each(|lane| rows[0][lane] = lane as f32 / 16.0);
        assert!(run_rows(&code, &mut rows));
        for (lane, have) in rows[1].iter().enumerate() {
            let x = lane as f32 / 16.0;
            let of = |at: usize| x * (at as f32 + 0.5);
            let chosen = (0..count).rev().map(|at| if of(at) > 8.0 { of(at) } else { -1.0 });
            assert_eq!(
                *have,
                chosen.fold(0.0, |sum, value| sum + value),
                "{limit:?}, lane {lane}"
            );
        }
    }
}

/// The graph of a sum of `count` products that are all live at once, each compared with a number if `masks` says so.
fn many_at_once(count: usize, masks: bool) -> Graph {
    let mut graph = Graph::new(Isa::Avx512);
    let x = graph.node(Node::Row(crate::exec::native::call::PLACES[0]));
    let sum = tracer::record(&mut graph, || {
        let limit = |at: usize| Tracer::splat(at as f32 + 0.5);
        let values: Vec<_> = (0..count)
            .map(|at| match masks {
                true => Tracer::gt(x, limit(at)),
                false => Tracer::round_half(Tracer::mul(x, limit(at))),
            })
            .collect();
        values.iter().fold(x, |sum, value| match masks {
            true => Tracer::select(*value, Tracer::add(sum, x), sum),
            false => Tracer::add(sum, *value),
        })
    });
    graph.effects.push(Effect::Words(sum));
    graph
}

/// Whole tiles have four rows side by side, even where some of them are on the stack, and fewer when that is most of them.
#[test]
fn whole_tiles_have_many_rows_side_by_side() {
    let lanes = |count: usize, masks: bool, which: Which| {
        let code = emit(&many_at_once(count, masks), Isa::Avx512, which, Copies::Best);
        code.expect("room on the stack for one row").lanes
    };
    assert_eq!(
        [4, 12, 30, 60].map(|count| lanes(count, false, Which::Tile)),
        [64, 64, 32, 16]
    );
    assert_eq!(
        [4, 12, 30, 60].map(|count| lanes(count, false, Which::All)),
        [32, 32, 32, 16]
    );
    // Masks have six registers: two rows are more than there is stack for.
    assert_eq!([12, 34].map(|count| lanes(count, true, Which::Tile)), [64, 16]);
}
