//! The interpreter of the compiler's own form: what each kind of operation gives four fragments, and where a result has no
//! bound because something hangs on a number that is in doubt.

use skrymir_compiler::interp::{self, Bounded, Given, Outcome, Rounding};
use skrymir_compiler::ir::{Input as From, Output};
use skrymir_compiler::{Input, Options, Stage, compile};

/// No rounding, but that numbers from outside may be off by this.
const DOUBT: f32 = 1.0 / 64.0;

/// What the varying `v` is for each of four fragments.
const V: [f32; 4] = [1.0, 2.0, 4.0, 8.0];

/// The fragments of a body, where `k` is a uniform; with `u`, five of them: 10, 11 and so on.
fn fragments(body: &str, k: f32, rounding: Rounding, budget: u32) -> Option<[Outcome; 4]> {
    let text = format!(
        "#extension GL_OES_standard_derivatives : enable
         precision mediump float; varying float v; uniform float k; uniform float u[5]; uniform sampler2D s;
         void main() {{ {body} }}"
    );
    let compiled = compile(Input::GlslEs(&text, Stage::Fragment), &Options::default());
    let shader = compiled
        .unwrap_or_else(|error| panic!("{}", error.render("s", &text)))
        .shader;
    let mut uniforms = vec![0.0; 6];
    for variable in &shader.interface.uniforms {
        match variable.name.as_str() {
            "k" => uniforms[variable.first as usize] = k,
            _ => (0..5).for_each(|at| uniforms[variable.first as usize + at] = 10.0 + at as f32),
        }
    }
    let given = Given {
        uniforms: &uniforms,
        input: &|lane, input| match input {
            From::Varying(_) => V[lane],
            _ => 0.5,
        },
        sampler: &|_, _, _, coordinates| coordinates.map(|[x, y, ..]| [x + 1.0, y + 2.0, 0.25, 1.0]),
        rounding,
        budget,
    };
    interp::run(&shader.function, &given)
}

const EXACT: Rounding = Rounding {
    relative: 0.0,
    absolute: 0.0,
    largest: 1e6,
};

/// What a colour's first component is for each of four fragments: nothing for one that is discarded.
#[rustfmt::skip]
const EACH: &[(&str, f32, [Option<f32>; 4])] = &[
    ("gl_FragColor = vec4(v);", 0.0, [Some(1.0), Some(2.0), Some(4.0), Some(8.0)]),
    ("gl_FragColor = vec4(v * k + 1.0);", 2.0, [Some(3.0), Some(5.0), Some(9.0), Some(17.0)]),
    ("gl_FragColor = vec4(dFdx(v));", 0.0, [Some(1.0), Some(1.0), Some(4.0), Some(4.0)]),
    ("gl_FragColor = vec4(dFdy(v));", 0.0, [Some(-3.0), Some(-6.0), Some(-3.0), Some(-6.0)]),
    ("gl_FragColor = vec4(fwidth(v));", 0.0, [Some(4.0), Some(7.0), Some(7.0), Some(10.0)]),
    ("if (v > k) discard; gl_FragColor = vec4(v);", 2.0, [Some(1.0), Some(2.0), None, None]),
    ("gl_FragColor = vec4(u[int(v)]);", 0.0, [Some(11.0), Some(12.0), Some(14.0), Some(f32::NAN)]),
    ("gl_FragColor = texture2D(s, vec2(v, k));", 3.0, [Some(2.0), Some(3.0), Some(5.0), Some(9.0)]),
    ("gl_FragColor = texture2D(s, vec2(k, v)).yxzw;", 3.0, [Some(3.0), Some(4.0), Some(6.0), Some(10.0)]),
    ("float a = 0.0; for (int i = 0; i < 300; i++) { if (float(i) >= v) break; a += 2.0; } gl_FragColor = vec4(a);", 0.0,
     [Some(2.0), Some(4.0), Some(8.0), Some(16.0)]),
    ("vec4 c = vec4(v); if (v > k) c = texture2D(s, vec2(v)); gl_FragColor = c;", 2.0, [Some(1.0), Some(2.0), Some(5.0), Some(9.0)]),
    ("float a[6]; for (int i = 0; i < 6; i++) a[i] = float(i) * k; a[int(v) / 2] = 9.0; gl_FragColor = vec4(a[int(v) - int(v) / 4 * 2]);", 0.5,
     [Some(0.5), Some(1.0), Some(9.0), Some(9.0)]),
];

#[test]
fn fragments_are_computed_one_by_one() {
    for (body, k, wanted) in EACH {
        let outcomes = fragments(body, *k, EXACT, 100_000).expect("an end");
        for (lane, (outcome, wanted)) in outcomes.iter().zip(wanted).enumerate() {
            let have = outcome.as_ref().map(|colors| colors[&Output::Color(0)]);
            match (have, wanted) {
                (None, None) => {}
                // Outside of an array nothing is promised.
                (Some(have), Some(wanted)) if wanted.is_nan() => {
                    assert!(!have.error.is_finite(), "{body} {lane}: {have:?}")
                }
                (Some(have), Some(value)) => {
                    let exact = Bounded {
                        value: *value,
                        error: 0.0,
                    };
                    assert_eq!(have, exact, "{body} {lane}");
                }
                _ => panic!("{body} {lane}: {have:?}"),
            }
        }
    }
}

/// Whether the colour has a bound where numbers from outside are in doubt, and which; `k` is the number.
#[rustfmt::skip]
const DOUBTS: &[(&str, f32, Option<f32>)] = &[
    ("gl_FragColor = vec4(k);", 1.0, Some(DOUBT)),
    ("gl_FragColor = vec4(-k);", 1.0, Some(DOUBT)),
    ("gl_FragColor = vec4(abs(k));", -1.0, Some(DOUBT)),
    // Decided, and in doubt: a select takes either, a branch anything.
    ("gl_FragColor = vec4(k > 0.5 ? 3.0 : 1.0);", 1.0, Some(DOUBT)),
    ("gl_FragColor = vec4(k > 0.5 ? 3.0 : 1.0);", 0.5, Some(2.0 + 2.0 * DOUBT)),
    ("if (k > 0.5) gl_FragColor = texture2D(s, vec2(0.5)); else gl_FragColor = vec4(1.5);", 1.0, Some(DOUBT)),
    ("if (k > 0.5) gl_FragColor = texture2D(s, vec2(0.5)); else gl_FragColor = vec4(1.5);", 0.5, None),
    ("gl_FragColor = texture2D(s, vec2(k));", 1.0, Some(DOUBT)),
    // Too large for the processor.
    ("gl_FragColor = texture2D(s, vec2(k * 2000.0, 0.5));", 1000.0, None),
    ("gl_FragColor = vec4(k * 2000.0);", 1000.0, None),
    // Places in arrays.
    ("gl_FragColor = vec4(u[int(k)]);", 1.5, Some(DOUBT)),
    ("gl_FragColor = vec4(u[int(k)]);", 2.0, None),
    ("gl_FragColor = vec4(u[int(k)]);", 5.5, None),
    ("gl_FragColor = vec4(u[int(k)]);", -1.5, None),
    ("float a[6]; for (int i = 0; i < 6; i++) a[i] = float(i); a[int(k)] = 9.0; gl_FragColor = vec4(a[1]);", 2.5, Some(DOUBT)),
    ("float a[6]; for (int i = 0; i < 6; i++) a[i] = float(i); a[int(k)] = 9.0; gl_FragColor = vec4(a[1]);", 2.0, None),
    ("float a[6]; for (int i = 0; i < 6; i++) a[i] = float(i); gl_FragColor = vec4(a[int(k)]);", 2.5, Some(DOUBT)),
    ("float a[6]; for (int i = 0; i < 6; i++) a[i] = float(i); gl_FragColor = vec4(a[int(k)]);", 2.0, None),
];

#[test]
fn what_hangs_on_a_doubt_has_no_bound() {
    let rounding = Rounding {
        absolute: DOUBT,
        ..EXACT
    };
    for (body, k, wanted) in DOUBTS {
        let outcomes = fragments(body, *k, rounding, 100_000).expect("an end");
        let colors = outcomes[0].as_ref().expect("a colour");
        let have = colors[&Output::Color(0)].error;
        match wanted {
            Some(wanted) => assert!((have - wanted).abs() < 1e-5, "{body} of {k}: {have}"),
            None => assert!(!have.is_finite(), "{body} of {k}: {have}"),
        }
    }
    // A discard that is in doubt: what comes is not known; one that is not, is none.
    let discarded =
        |k: f32| fragments("if (k > 0.5) discard; gl_FragColor = vec4(1.0);", k, rounding, 100).expect("an end");
    assert!(discarded(1.0).iter().all(Option::is_none));
    assert!(
        discarded(0.0)[0]
            .as_ref()
            .is_some_and(|colors| colors.values().all(|color| color.error.is_finite()))
    );
    for outcome in discarded(0.502).into_iter().chain(discarded(0.5)) {
        let colors = outcome.expect("an outcome");
        assert!(colors.values().all(|color| !color.error.is_finite()));
    }
}

/// Relative errors, of what is computed and of what is given.
#[test]
fn errors_grow_with_numbers() {
    let rounding = Rounding {
        relative: 1.0 / 1024.0,
        absolute: 1.0 / 4096.0,
        largest: 1000.0,
    };
    for (body, k, value) in [
        ("gl_FragColor = vec4(k);", 8.0, 8.0),
        ("gl_FragColor = vec4(k);", -8.0, -8.0),
        ("gl_FragColor = vec4(64.0);", 0.0, 64.0),
    ] {
        let outcomes = fragments(body, k, rounding, 10).expect("an end");
        let have = outcomes[0].as_ref().expect("a colour")[&Output::Color(0)];
        let wanted = Bounded {
            value,
            error: value.abs() / 1024.0 + 1.0 / 4096.0,
        };
        assert_eq!(have, wanted, "{body}");
    }
    // The largest number: with its error it must be held.
    for (k, held) in [
        (998.0, true),
        (999.5, false),
        (1001.0, false),
        (-998.0, true),
        (-999.5, false),
    ] {
        let outcomes = fragments("gl_FragColor = vec4(k);", k, rounding, 10).expect("an end");
        let have = outcomes[0].as_ref().expect("a colour")[&Output::Color(0)];
        assert_eq!(have.error.is_finite(), held, "{k}");
    }
}

/// Every block that is run takes one of the budget.
#[test]
fn budgets_count_blocks() {
    let body =
        "float a = 0.0; for (int i = 0; i < 300; i++) { if (float(i) >= k) break; a += 2.0; } gl_FragColor = vec4(a);";
    let least = |k: f32| {
        (1..200)
            .find(|budget| fragments(body, k, EXACT, *budget).is_some())
            .expect("an end")
    };
    let (none, one, two, nine) = (least(0.0), least(1.0), least(2.0), least(9.0));
    assert!(
        one > none && two - one == one - none && nine - none == 9 * (one - none),
        "{none} {one} {two} {nine}"
    );
    assert!(fragments("gl_FragColor = vec4(k);", 0.0, EXACT, 1).is_some());
    assert!(fragments("gl_FragColor = vec4(k);", 0.0, EXACT, 0).is_none());
}
