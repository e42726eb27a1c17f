//! Formulas of words and uniforms in machine code beside the scalar engine's.

use crate::exec::native::formulas;
use fastrand::Rng;
use jit::graph::{Effect, Graph, Node, RowTypes};
use jit::tracer::{self, Tracer};
use jit::{Call, Isa, Variants};
use num::lanes::Lanes;
use num::rows::{LANES, Row};

/// The instruction sets that code can run of here.
fn isas() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_supported())
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

/// Uniforms by any offset are those of its whole part, saturated and then going around as whole numbers do; what is not there
/// is zero.
#[test]
fn uniforms_are_found_by_any_number() {
    let mut random = Rng::with_seed(13);
    let mut uniforms: Vec<f32> = (0..21).map(|_| number(&mut random)).collect();
    let zero = uniforms.len();
    uniforms.push(0.0);
    for isa in isas() {
        for (index, shift) in [(0, 0), (3, 2), (-2, 1), (1, 2), (-32768, 0)] {
            let mut graph = Graph::new(isa, RowTypes::default());
            let offset = graph.node(Node::Row(0));
            let found = tracer::record(&mut graph, || formulas::uniforms_at(offset, index, shift));
            let stores = (1..).zip(found).map(|(row, value)| Effect::Store(row, value));
            graph.effects.extend(stores);
            let code = Variants::new(graph, isa).expect("code");
            let (mut inside, mut rows) = (0, vec![Row::splat(0.0); 5]);
            for _ in 0..40 {
                let near = random.bool();
                let mut offset = || match near {
                    true => random.f32() * 30.0 - 8.0 - index as f32,
                    false => number(&mut random) * if random.bool() { 1e9 } else { 1.0 },
                };
                rows[0].iter_mut().for_each(|value| *value = offset());
                assert!(code.run(Call {
                    uniforms: &uniforms,
                    ..Call::of_rows(&mut rows)
                }));
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
    for isa in isas() {
        let mut graph = Graph::new(isa, RowTypes::default());
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
            tracer::effect(Effect::Words(formulas::packed([red, green, blue, alpha])));
        });
        let code = Variants::new(graph, isa).expect("code");
        for some in colors.as_chunks::<LANES>().0 {
            let (mut rows, mut words) = ([Row::splat(0.0)], [0; LANES]);
            rows[0].copy_from_slice(some);
            assert!(code.run(Call {
                words: &mut words,
                ..Call::of_rows(&mut rows)
            }));
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
    for isa in isas() {
        let mut graph = Graph::new(isa, RowTypes::default());
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
            tracer::effect(Effect::Words(formulas::packed([red, zero, zero, one])));
            tracer::effect(Effect::Store(1, Tracer::select(mask, one, zero)));
        });
        let code = Variants::new(graph, isa).expect("code");
        // Few lanes have a variant of their own.
        for lanes in [16, LANES] {
            let (mut rows, mut words) = ([Row::splat(0.0), Row::splat(0.0)], [0; LANES]);
            (0..LANES).for_each(|lane| rows[0][lane] = (lane * 37 % LANES) as f32 / 16.0 - 4.0);
            let values = rows[0];
            assert!(code.run(Call {
                lanes,
                words: &mut words,
                ..Call::of_rows(&mut rows)
            }));
            for (lane, value) in values.iter().enumerate().take(lanes) {
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
