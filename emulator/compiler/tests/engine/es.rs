//! What GLSL ES 1.00 has, kind by kind: programs that give one colour whatever they are given, and the colour.

use skrymir_compiler::ir::Output;
use skrymir_compiler::{Input, Options, Stage, compile};

/// What is tried, what stands in front of `main`, its body, and the colour that it gives.
#[rustfmt::skip]
const KINDS: &[(&str, &str, &str, [f32; 4])] = &[
    ("numbers of truth values", "", "gl_FragColor = vec4(vec3(true), 0.0) + vec4(vec2(bvec2(false, true)), mat2(true)[1]);", [1.0, 2.0, 1.0, 1.0]),
    ("columns of matrices", "", "mat4 m = mat4(2.0); m[3].x = 0.5; m[1].yz = vec2(3.0, 4.0); m[0][1] = 1.0; gl_FragColor = vec4(m[3].x, m[1].yz, m[0][1]);", [0.5, 3.0, 4.0, 1.0]),
    ("constants in functions", "", "const int n = 1; float a[n + n]; a[0] = 0.25; a[1] = 0.5; gl_FragColor = vec4(a[0], a[1], float(n), 0.0);", [0.25, 0.5, 1.0, 0.0]),
    ("structures without a name", "", "struct { float a; vec2 b; } s; s.a = 0.5; s.b = vec2(0.25); gl_FragColor = vec4(s.a, s.b, 1.0);", [0.5, 0.25, 0.25, 1.0]),
    ("comparison of structures", "struct S { float a; vec2 b; };", "S s = S(1.0, vec2(2.0)); S t = s; bool same = s == t; t.b.y = 3.0; gl_FragColor = vec4(same, s == t, s != t, 1.0);", [1.0, 0.0, 1.0, 1.0]),
    ("names that hide samplers", "uniform sampler2D from;", "vec4 a = texture2D(from, vec2(0.0)); { vec4 from = vec4(0.5); gl_FragColor = from; }", [0.5, 0.5, 0.5, 0.5]),
    ("names that hide functions", "float scale(float x) { return x * 2.0; }", "float a = scale(1.0); { float scale = 4.0; a += scale; } gl_FragColor = vec4(a);", [6.0, 6.0, 6.0, 6.0]),
    ("functions of numbers", "", "gl_FragColor = vec4(dot(2.0, 3.0), reflect(1.0, 0.5), faceforward(1.0, 2.0, 3.0), distance(1.0, 3.0));", [6.0, 0.5, -1.0, 2.0]),
    ("functions of constants", "const vec2 half_way = mix(vec2(0.0), vec2(1.0, 2.0), 0.5);", "gl_FragColor = vec4(half_way, max(half_way.x, half_way.y), 1.0);", [0.5, 1.0, 1.0, 1.0]),
    ("prototypes without names", "float twice(float);", "gl_FragColor = vec4(twice(0.25)); } float twice(float x) { return x + x;", [0.5, 0.5, 0.5, 0.5]),
    ("functions in any order", "float a(float x); float b(float x); float a(float x) { return b(x) + 1.0; } float b(float x) { return x * 2.0; }", "gl_FragColor = vec4(a(1.0));", [3.0, 3.0, 3.0, 3.0]),
    ("one variable for two results", "void two(out float a, out float b) { a = 1.0; b = 2.0; }", "float x = 0.0; float y = 0.0; two(x, y); two(y, x); gl_FragColor = vec4(x, y, 0.0, 1.0);", [2.0, 1.0, 0.0, 1.0]),
    ("returns from main", "", "gl_FragColor = vec4(1.0); if (gl_FragColor.x > 0.5) return; gl_FragColor = vec4(0.0);", [1.0, 1.0, 1.0, 1.0]),
    ("names of later languages", "float round(float x) { return floor(x); } float sample; struct texture { float buffer; };", "texture patch; patch.buffer = round(1.75); sample = 0.5; gl_FragColor = vec4(patch.buffer, sample, 0.0, 1.0);", [1.0, 0.5, 0.0, 1.0]),
    ("arrays in structures", "struct S { float a[2]; mat2 m; }; uniform S unused[3];", "S s; s.a[1] = 0.5; s.m = mat2(1.0); gl_FragColor = vec4(s.a[1], s.m[1], 0.0);", [0.5, 0.0, 1.0, 0.0]),
    ("results that are functions' last", "float f(float x) { if (x > 1.0) { return 0.25; } else if (x > 0.0) { return 0.5; } return 0.75; }", "gl_FragColor = vec4(f(2.0), f(0.5), f(-1.0), 1.0);", [0.25, 0.5, 0.75, 1.0]),
    ("words about precision", "precision highp int; uniform lowp float unused; varying highp vec2 also;", "highp float a = 0.5; lowp vec2 b = vec2(0.25); mediump int n = 1; gl_FragColor = vec4(a, b, float(n));", [0.5, 0.25, 0.25, 1.0]),
    ("parameters that are not written", "float f(const in float x, in float y, const float z) { return x + y * z; }", "gl_FragColor = vec4(f(1.0, 2.0, 3.0));", [7.0, 7.0, 7.0, 7.0]),
    ("the depth range", "", "gl_FragColor = vec4(gl_DepthRange.near, gl_DepthRange.far, gl_DepthRange.diff, 0.5);", [0.0, 1.0, 1.0, 0.5]),
    ("the first of the colours", "", "gl_FragData[0] = vec4(0.25, 0.5, 0.75, 1.0);", [0.25, 0.5, 0.75, 1.0]),
    ("whole numbers", "", "int a = 0x10; int b = 010; int c = 17 / 5; gl_FragColor = vec4(a, b, c, -7 / 2);", [16.0, 8.0, 3.0, -3.0]),
    ("several declarations at once", "uniform float k, list[3]; varying vec2 v, w; float g = 0.5, h = 0.25;", "float a = 1.0, b = 2.0; gl_FragColor = vec4(a, b, g, h);", [1.0, 2.0, 0.5, 0.25]),
    ("structures of uniforms", "uniform struct S { float x; vec2 y[2]; } s, t[2];", "S own; own.x = 0.5; own.y[1] = vec2(0.25); gl_FragColor = vec4(own.x, own.y[1], 1.0);", [0.5, 0.25, 0.25, 1.0]),
    ("names in front of those of the rewriting", "float es_x = 0.5; float es_FragColor(float es_y) { return es_y * 2.0; }", "gl_FragColor = vec4(es_x, es_FragColor(es_x), 0.0, 1.0);", [0.5, 1.0, 0.0, 1.0]),
    ("macros", "#define HALF 0.5\n#define twice(x) ((x) * 2.0)\n#ifdef GL_ES\nconst float es = 1.0;\n#else\nconst float es = 0.0;\n#endif", "gl_FragColor = vec4(HALF, twice(HALF), es, float(__VERSION__));", [0.5, 1.0, 1.0, 100.0]),
    ("loops of every kind", "", "float a = 0.0; for (int i = 0; i < 4; i++) { if (i == 2) continue; a += 1.0; } int n = 0; while (n < 3) n++; float b = 0.0; do { b += 0.5; } while (b < 1.0); gl_FragColor = vec4(a, float(n), b, 1.0);", [3.0, 3.0, 1.0, 1.0]),
    ("parts of parts", "", "vec4 c = vec4(1.0, 2.0, 3.0, 4.0); c.wz.y = 5.0; c[1] = 6.0; mat3 m = mat3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0); m[1].xz = c.xy; gl_FragColor = vec4(c.z, m[1][0], m[1].z, c.abgr.x);", [5.0, 1.0, 6.0, 4.0]),
    ("operators in their order", "", "int a = 2 + 3 * 4 - 6 / 2; bool b = 1 < 2 && 3 > 2 || false; float c = -2.0 * -3.0; c -= 1.0; c /= 2.0; gl_FragColor = vec4(a, b, c, !b ^^ b);", [11.0, 1.0, 2.5, 1.0]),
    ("what is not computed in vain", "float n = 0.0; bool count() { n += 1.0; return true; }", "bool a = false && count(); bool b = true || count(); bool c = true && count(); gl_FragColor = vec4(a, b, c, n);", [0.0, 1.0, 1.0, 1.0]),
];

#[test]
fn kinds_of_es_give_their_colours() {
    let mut wrong = Vec::new();
    for (kind, globals, body, colour) in KINDS {
        let text = format!("precision mediump float;\n{globals}\nvoid main() {{ {body} }}\n");
        let compiled = match compile(Input::GlslEs(&text, Stage::Fragment), &Options::default()) {
            Ok(compiled) => compiled,
            Err(error) => {
                wrong.push(format!("{kind}: {}", error.render("a.frag", &text)));
                continue;
            }
        };
        let function = &compiled.shader.function;
        let mut given = [None; 4];
        for (output, value) in &function.outputs {
            if let Output::Color(component) = output {
                given[usize::from(*component)] = function.constant(*value);
            }
        }
        if given != colour.map(Some) {
            wrong.push(format!("{kind}: {given:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for the languages with `in` and `out`: version, globals, body, colour.
#[test]
fn kinds_of_newer_versions_give_their_colours() {
    let rows = [
        (
            "300 es",
            "precision mediump float; layout(location = 0) out vec4 c; in vec2 v; flat in int n; uniform float k;",
            "c = vec4(0.5, 0.25, float(3u), 1.0);",
            [0.5, 0.25, 3.0, 1.0],
        ),
        (
            "300 es",
            "precision mediump float; out vec4 c; centroid in vec4 v; float f(in float x, out float y) { y = x * 2.0; return x + 1.0; }",
            "float y; float x = f(0.5, y); c = vec4(x, y, round(1.75), trunc(-1.5));",
            [1.5, 1.0, 2.0, -1.0],
        ),
        (
            "330",
            "out vec4 c; smooth in vec4 v; const float list[3] = float[3](0.5, 1.0, 2.0);",
            "float s = 0.0; for (int i = 0; i < list.length(); i++) s += list[i]; c = vec4(s, mod(5.5, 2.0), 0.0, 1.0);",
            [3.5, 1.5, 0.0, 1.0],
        ),
        (
            "120",
            "varying vec4 v; uniform sampler2D s;",
            "gl_FragColor = vec4(1, 2, 3, 4) * 0.5;",
            [0.5, 1.0, 1.5, 2.0],
        ),
    ];
    for (version, globals, body, colour) in rows {
        let text = format!("#version {version}\n{globals}\nvoid main() {{ {body} }}\n");
        let compiled = compile(Input::GlslEs(&text, Stage::Fragment), &Options::default())
            .unwrap_or_else(|error| panic!("{}", error.render("a.frag", &text)));
        let function = &compiled.shader.function;
        let given = [0, 1, 2, 3].map(|component| {
            let output = function
                .outputs
                .iter()
                .find(|(output, _)| *output == Output::Color(component));
            output.and_then(|(_, value)| function.constant(*value))
        });
        assert_eq!(given, colour.map(Some), "{text}");
    }
}

/// Built-in variables of fragments are the hardware's inputs, and nothing else is.
#[test]
fn built_in_variables_are_inputs() {
    use skrymir_compiler::ir::{Input as From, Op};
    let rows: [(&str, &[From]); 5] = [
        (
            "vec4(gl_PointCoord, 0.0, 1.0)",
            &[From::PointCoord(0), From::PointCoord(1)],
        ),
        ("vec4(gl_PointCoord.y)", &[From::PointCoord(1)]),
        (
            "gl_FragCoord",
            &[
                From::FragCoord(0),
                From::FragCoord(1),
                From::FragCoord(2),
                From::FragCoord(3),
            ],
        ),
        ("vec4(gl_FrontFacing ? 1.0 : 0.0)", &[From::FrontFacing]),
        ("v.yyxx", &[From::Varying(0), From::Varying(1)]),
    ];
    for (value, wanted) in rows {
        let text = format!("precision mediump float; varying vec2 v; void main() {{ gl_FragColor = {value}; }}");
        let compiled = compile(Input::GlslEs(&text, Stage::Fragment), &Options::default())
            .unwrap_or_else(|error| panic!("{}", error.render("a.frag", &text)));
        let function = &compiled.shader.function;
        let blocks = function.order();
        let values = blocks.iter().flat_map(|block| &function.block(*block).insts);
        let mut inputs: Vec<From> = values
            .filter_map(|value| match function.inst(*value).op {
                Op::Input(input) => Some(input),
                _ => None,
            })
            .collect();
        inputs.sort_by_key(|input| format!("{input:?}"));
        inputs.dedup();
        assert_eq!(inputs, wanted, "{value}");
    }
}
