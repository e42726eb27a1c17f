//! Where vertices come to in the window: positions of every kind, and the sizes of points.

use crate::run::{VIEWPORT, vertex_outputs, well_formed};
use skrymir_compiler::{Input, Options, Stage, compile};

/// Clip space, with attributes 0.5, -0.25, 2.0 and 4.0 and a uniform of 1.5.
const ATTRIBUTES: [f32; 4] = [0.5, -0.25, 2.0, 4.0];
const UNIFORM: f32 = 1.5;

/// Expressions of clip space's components, and what they are.
#[rustfmt::skip]
const POSITIONS: &[([&str; 4], [f32; 4])] = &[
    (["p.x", "p.y", "p.z", "p.w"], [0.5, -0.25, 2.0, 4.0]),
    (["p.x", "p.y", "p.z", "1.0"], [0.5, -0.25, 2.0, 1.0]),
    (["p.x", "p.y", "0.0", "1.0"], [0.5, -0.25, 0.0, 1.0]),
    (["0.0", "0.0", "0.0", "1.0"], [0.0, 0.0, 0.0, 1.0]),
    (["0.0", "p.y", "0.0", "p.w"], [0.0, -0.25, 0.0, 4.0]),
    (["p.x", "p.y", "p.z", "2.0"], [0.5, -0.25, 2.0, 2.0]),
    (["p.x", "p.y", "p.z", "-2.0"], [0.5, -0.25, 2.0, -2.0]),
    (["1.0", "-1.0", "0.5", "0.5"], [1.0, -1.0, 0.5, 0.5]),
    (["k", "k", "k", "k"], [1.5, 1.5, 1.5, 1.5]),
    (["-p.x", "-p.y", "-p.z", "-p.w"], [-0.5, 0.25, -2.0, -4.0]),
    (["p.x * k", "p.y + k", "p.z - k", "p.w * k"], [0.75, 1.25, 0.5, 6.0]),
    (["p.w", "p.w", "p.w", "p.w"], [4.0, 4.0, 4.0, 4.0]),
    (["p.x", "p.y", "p.z", "-p.y"], [0.5, -0.25, 2.0, 0.25]),
];

#[test]
fn positions_are_those_of_the_window() {
    for ([x, y, z, w], clip) in POSITIONS {
        for (rest, point) in [("", None), ("gl_PointSize = 2.0;", Some(2.0))] {
            let text = format!(
                "attribute vec4 p; uniform float k; varying vec2 o; void main() {{ gl_Position = vec4({x}, {y}, {z}, {w}); o = p.zx; {rest} }}"
            );
            let compiled = compile(Input::GlslEs(&text, Stage::Vertex), &Options::default());
            let compiled = compiled.unwrap_or_else(|error| panic!("{}", error.render("s", &text)));
            well_formed(&text, &compiled.program);
            let outputs = vertex_outputs(&text, &compiled, &[UNIFORM], &ATTRIBUTES);
            let inverse = 1.0 / clip[3];
            for at in 0..3 {
                let want = clip[at] * inverse * VIEWPORT[at] + VIEWPORT[at + 4];
                assert!(
                    (outputs[0][at] - want).abs() < 1e-4,
                    "{text}: {:?} for {want}",
                    outputs[0]
                );
            }
            assert!((outputs[0][3] - inverse).abs() < 1e-6, "{text}: {:?}", outputs[0]);
            assert_eq!(outputs[1][..2], [2.0, 0.5], "{text}");
            if let Some(size) = point {
                assert_eq!(outputs[2][0], size, "{text}");
            }
        }
    }
    // Nothing is divided by zero.
    for (w, inverse) in [("0.0", 1e10), ("p.x - 0.5", 1e10), ("1e-12", 1e10), ("-1e-12", -1e10)] {
        let text = format!("attribute vec4 p; void main() {{ gl_Position = vec4(p.xyz, {w}); }}");
        let compiled = compile(Input::GlslEs(&text, Stage::Vertex), &Options::default()).expect(w);
        let have = vertex_outputs(&text, &compiled, &[], &ATTRIBUTES)[0][3];
        assert!((have / inverse - 1.0).abs() < 1e-5, "{w}: {have}");
    }
}

/// Sizes of points are between the driver's limits, 1 and 100 here.
#[test]
fn sizes_of_points_have_limits() {
    for (size, wanted) in [
        ("2.0", 2.0),
        ("0.25", 1.0),
        ("-3.0", 1.0),
        ("300.0", 100.0),
        ("p.z", 2.0),
        ("p.x", 1.0),
        ("-p.w", 1.0),
        ("p.w * 50.0", 100.0),
        ("k", 1.5),
        ("k + p.z", 3.5),
    ] {
        for varyings in 0..3usize {
            let declared: String = (0..varyings).map(|at| format!("varying vec4 v{at};")).collect();
            let set: String = (0..varyings).map(|at| format!("v{at} = p;")).collect();
            let text = format!(
                "attribute vec4 p; uniform float k; {declared} void main() {{ gl_Position = p; gl_PointSize = {size}; {set} }}"
            );
            let compiled = compile(Input::GlslEs(&text, Stage::Vertex), &Options::default()).expect(size);
            let outputs = vertex_outputs(&text, &compiled, &[UNIFORM], &ATTRIBUTES);
            // Behind the position and the varyings.
            assert_eq!(outputs[varyings + 1][0], wanted, "{text}");
            assert!(
                outputs[1..=varyings].iter().all(|output| *output == ATTRIBUTES),
                "{text}"
            );
        }
    }
}
