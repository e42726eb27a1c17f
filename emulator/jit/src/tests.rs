//! Every operation in machine code beside the portable lanes, on numbers of every kind, and more of them at once than
//! there are registers.

use crate::call::{Bailout, Call, Mode, Texels, Which};
use crate::codegen::emit::{Copies, emit};
use crate::graph::{Effect, Graph, Node, RowTypes, Value};
use crate::isa::Isa;
use crate::runtime::code::Code;
use crate::runtime::variants::{OUTCOMES, Variants};
use crate::tracer::{self, Tracer};
use crate::{TILE_ROWS, TILES};
use fastrand::Rng;
use num::lanes::{Lanes, QuadLanes};
use num::math;
use num::portable::Portable;
use num::rows::{LANES, Mask, Row};
use std::sync::atomic::Ordering::Relaxed;

/// The instruction sets that code can run of here.
fn isas() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_supported())
}

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
    let mut graph = Graph::new(isa, RowTypes::default());
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
    for isa in isas() {
        let (mut graph, values) = noted(isa);
        let mut codes = Vec::new();
        for value in &values {
            graph.effects = vec![Effect::Store(2, *value)];
            for (masked, copies) in [(false, Copies::One), (false, Copies::Best), (true, Copies::Best)] {
                let which = if masked { Which::Masked } else { Which::All };
                let code = Code::new(emit(&graph, Mode::exact(isa, which), copies).expect("room on the stack"));
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
                    let textures = [Texels {
                        words: &words,
                        largest: 0.0,
                    }];
                    let left = code.run(&mut Call {
                        mask: Some(&mask),
                        textures: &textures,
                        ..Call::of_rows(&mut have)
                    });
                    assert_eq!(left, Bailout::Nothing);
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
    code.run(&mut Call::of_rows(rows)) == Bailout::Nothing
}

/// Instructions that may be used here and round speculatively.
fn speculating() -> impl Iterator<Item = Isa> {
    isas().filter(|isa| isa.speculates())
}

/// Speculative roundings are right, or the call is left to others: that is where there is a denormal half, or what becomes one
/// or zero, 4 or more, or a NaN that signals.
#[test]
fn speculative_roundings_are_right_or_left_to_others() {
    for isa in speculating() {
        let mut graph = Graph::new(isa, RowTypes::default());
        let x = graph.node(Node::Row(0));
        let half = tracer::record(&mut graph, || Tracer::round_half(x));
        graph.effects.push(Effect::Store(1, half));
        let emitted = emit(&graph, Mode::speculative(isa, Which::All), Copies::Best);
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
            let mut graph = Graph::new(isa, RowTypes::default());
            let first = [0, 1].map(|row| graph.node(Node::Row(row)));
            let values = tracer::record(&mut graph, || chain::<Tracer>(&mut Rng::with_seed(seed), first));
            let stores = values.iter().zip(2..).map(|(value, row)| Effect::Store(row, *value));
            graph.effects.extend(stores);
            let emitted = emit(&graph, Mode::speculative(isa, Which::All), Copies::Best);
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

/// More values at once than there are registers, masks among them: what went to the stack comes back.
#[test]
fn spilled_values_come_back() {
    for (isa, copies) in isas().flat_map(|isa| [Copies::Best, Copies::One].map(|copies| (isa, copies))) {
        let mut graph = Graph::new(isa, RowTypes::default());
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
        let code = Code::new(emit(&graph, Mode::exact(isa, Which::All), copies).unwrap()).unwrap();
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
                "{isa:?}, lane {lane}"
            );
        }
    }
}

/// Rows of whole tiles.
fn of_tiles() -> RowTypes {
    RowTypes {
        places: Some([0, 1, 2, 3]),
        ..RowTypes::default()
    }
}

/// The graph of a sum of `count` products that are all live at once, each compared with a number if `masks` says so.
fn many_at_once(count: usize, masks: bool) -> Graph {
    let mut graph = Graph::new(Isa::Avx512, of_tiles());
    let x = graph.node(Node::Row(0));
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
        let code = emit(
            &many_at_once(count, masks),
            Mode::exact(Isa::Avx512, which),
            Copies::Best,
        );
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

/// Whole tiles give what rows give, also where speculative roundings are wrong; both happen.
#[test]
fn tiles_are_the_same_with_failed_speculation() {
    let mut random = Rng::with_seed(19);
    for isa in isas() {
        let graph_of = |seed: u64| {
            let mut graph = Graph::new(isa, of_tiles());
            let first = [0, 1].map(|row| graph.node(Node::Row(row)));
            let values = tracer::record(&mut graph, || chain::<Tracer>(&mut Rng::with_seed(seed), first));
            graph.effects.push(Effect::Words(*values.last().expect("values")));
            graph
        };
        for seed in 0..200 {
            let variants = Variants::new(graph_of(seed), isa).expect("code");
            assert!(variants.takes_tiles() && !variants.has_guards() && !variants.blends());
            for _ in 0..8 {
                let scale = 2f32.powi(random.i32(-9..4));
                let lanes = TILES * crate::TILE_LANES;
                let mut long = vec![Row::splat(0.0); 5 * TILE_ROWS];
                // Columns are the same in all rows of a tile, and rows in all columns of the tiles.
                let columns: Vec<f32> = (0..16 * TILES).map(|_| random.f32() * scale).collect();
                let lines: [f32; 16] = std::array::from_fn(|_| random.f32() * scale);
                for lane in 0..lanes {
                    let (tile, quad) = (lane / 256, lane % 256 / 4);
                    let column = 16 * tile + quad % 8 * 2 + lane % 2;
                    long[lane / LANES][lane % LANES] = columns[column];
                    long[TILE_ROWS + lane / LANES][lane % LANES] = lines[quad / 8 * 2 + lane % 4 / 2];
                }
                let mut words = vec![0; lanes];
                assert!(variants.run(Call {
                    lanes,
                    words: &mut words,
                    ..Call::of_rows(&mut long)
                }));
                for (row, have) in words.chunks(LANES).enumerate() {
                    let (mut rows, mut words) = ([long[row], long[TILE_ROWS + row]], [0; LANES]);
                    assert!(variants.run(Call {
                        words: &mut words,
                        ..Call::of_rows(&mut rows)
                    }));
                    assert_eq!(have, words, "{isa:?}, {seed}");
                }
            }
        }
    }
    let [again, right] = OUTCOMES.each_ref().map(|count| count.load(Relaxed));
    println!("speculative tiles: {right} calls right, {again} run again");
    assert!(
        speculating().next().is_none() || right.min(again) > 50,
        "{right} {again}"
    );
}
