//! Compiled programs on the emulator's scalar engine against the interpreter of the compiler's own form, within the bound
//! that the interpreter computes for each program.
#![allow(missing_docs)]

#[cfg(feature = "glslang")]
mod bounds;
#[path = "../../../../tests/it/files.rs"]
#[allow(dead_code)] // other tests use the rest
mod common;
mod corpora;
mod damage;
#[cfg(feature = "glslang")]
mod es;
#[cfg(feature = "glslang")]
mod interface;
mod operands;
#[cfg(feature = "glslang")]
mod optimised;
mod orientation;
mod own;
mod position;
mod pressure;
mod random;
mod refusals;
mod report;
mod rules;
mod run;
mod values;
#[cfg(feature = "glslang")]
mod vulkan;

use run::{Tally, check};
use skrymir_compiler::{Input, Options, Stage, compile};

const FRAGMENTS: &[(&str, &str)] = &[
    ("constant", "void main() { gl_FragColor = vec4(0.25, 0.5, 0.75, 1.0); }"),
    ("varying", "varying vec4 c; void main() { gl_FragColor = c; }"),
    (
        "parts",
        "varying vec2 a; varying float b; uniform float k; void main() { gl_FragColor = vec4(a.yx, b, k); }",
    ),
    (
        "mix",
        "uniform vec3 a; uniform vec3 b; varying vec2 uv; void main() { gl_FragColor = vec4(mix(a, b, uv.x * uv.y), 1.0); }",
    ),
    (
        "branch",
        "varying vec2 v; uniform float k; void main() { vec4 c = vec4(v, 0.0, 1.0);
           if (v.x > k) { c.xy = c.yx * 2.0; c.z = sin(v.y); } else if (v.y < 0.0) discard; else { c.w = exp2(v.x); }
           gl_FragColor = c; }",
    ),
    (
        "loop",
        "uniform float n; varying vec2 v; void main() { vec2 s = v; float c = 0.0;
           for (int i = 0; i < 50; i++) { if (float(i) >= abs(n) * 3.0) break; s = s.yx * 0.5 + 0.25; c += 1.0; }
           gl_FragColor = vec4(s, c * 0.125, 1.0); }",
    ),
    (
        "array",
        "uniform float k[8]; varying float v; void main() { float a[6]; for (int i = 0; i < 6; i++) a[i] = k[i] * 0.5;
           int j = int(abs(v) * 4.0); a[j] = 2.0; gl_FragColor = vec4(a[0], a[1], a[5 - j], k[j + 1]); }",
    ),
    (
        "normal",
        "varying vec3 n; uniform vec3 l; void main() { float d = max(dot(normalize(n), normalize(l)), 0.0);
           gl_FragColor = vec4(vec3(d), 1.0); }",
    ),
    (
        "matrix",
        "uniform mat3 m; varying vec3 v; void main() { gl_FragColor = vec4(m * v, (v * m).x); }",
    ),
    (
        "derivative",
        "varying vec2 v; void main() { gl_FragColor = vec4(dFdx(v.x), dFdy(v.y), fwidth(v.x), 1.0); }",
    ),
    (
        "texture",
        "uniform sampler2D s; varying vec2 v; void main() { gl_FragColor = texture2D(s, v * 2.0) + texture2D(s, v); }",
    ),
    (
        "call",
        "varying vec2 v; float f(float x, inout float y) { y += x; if (x > 0.0) return y * 2.0; return y - 1.0; }
           void main() { float y = v.y; float a = f(v.x, y); gl_FragColor = vec4(a, y, f(-v.x, y), y); }",
    ),
    (
        "integers",
        "varying vec2 v; void main() { int a = int(v.x * 40.0); int b = a / 3; gl_FragColor = vec4(a - b * 3, b, a, 1); }",
    ),
];

#[test]
fn fragment_programs() {
    let mut tally = Tally::default();
    for (name, text) in FRAGMENTS {
        check(
            name,
            &format!("#extension GL_OES_standard_derivatives : enable\nprecision mediump float;\n{text}"),
            Stage::Fragment,
            &mut tally,
        );
    }
    println!("{} numbers compared, {} without a bound", tally.compared, tally.unsure);
    assert!(tally.compared > 500);
}

const VERTICES: &[(&str, &str)] = &[
    ("plain", "attribute vec4 p; void main() { gl_Position = p; }"),
    (
        "mvp",
        "uniform mat4 m; attribute vec4 p; attribute vec2 t; varying vec2 v; void main() { gl_Position = m * p; v = t; }",
    ),
    (
        "lit",
        "uniform mat4 m; uniform mat3 n; attribute vec3 p; attribute vec3 q; varying vec4 c; void main() {
           vec3 a = normalize(n * q); float d = max(dot(a, normalize(vec3(1.0, 2.0, 4.0) - p)), 0.0);
           c = vec4(d, d, d, 1.0); gl_Position = m * vec4(p, 1.0); gl_PointSize = d * 4.0; }",
    ),
    (
        "functions",
        "attribute vec4 p; varying vec4 a; varying vec4 b; void main() { gl_Position = p;
           a = vec4(sin(p.x), cos(p.y), exp2(p.z), log2(abs(p.w) + 0.5));
           b = vec4(floor(p.x), fract(p.y), sign(p.z), p.w > 0.0 ? sqrt(p.w) : -1.0); }",
    ),
    (
        "loop",
        "attribute vec4 p; uniform float n; varying vec4 v; void main() { vec4 s = p; float c = 0.0;
           for (int i = 0; i < 3000; i++) { if (c >= abs(n) * 4.0) break; s = s.yzwx * 0.5 + p; c += 1.0; }
           gl_Position = vec4(p.xyz, 1.0); v = s; }",
    ),
    (
        "index",
        "attribute vec2 p; uniform vec4 k[12]; varying vec4 v; void main() { gl_Position = vec4(p, 0.0, 1.0);
           v = k[int(abs(p.x) * 5.0)]; }",
    ),
];

#[test]
fn vertex_programs() {
    let mut tally = Tally::default();
    for (name, text) in VERTICES {
        check(name, text, Stage::Vertex, &mut tally);
    }
    println!("{} numbers compared, {} without a bound", tally.compared, tally.unsure);
    assert!(tally.compared > 100);
}

/// More numbers at once than there are registers: across a loop, and inside one block.
#[test]
fn vertex_programs_spill() {
    let mut tally = Tally::default();
    let lines = |from: u32, to: u32, line: &dyn Fn(u32) -> String| (from..to).map(line).collect::<Vec<_>>().join("\n");
    let values = lines(0, 18, &|at| format!("vec4 x{at} = v * {at}.5 + 0.25;"));
    let sum = lines(0, 18, &|at| format!("s += x{at} * s.yzwx * 0.015625;"));
    let front = "attribute vec4 v; varying vec4 o; uniform float k;";
    let across = format!(
        "{front} void main() {{ {values} vec4 s = v;
           for (int i = 0; i < 3; i++) {{ if (float(i) >= k * 8.0) break; {sum} }}
           o = s; gl_Position = vec4(v.xyz, 1.0); }}"
    );
    let inside = format!("{front} void main() {{ {values} vec4 s = v; {sum} o = s; gl_Position = vec4(v.xyz, 1.0); }}");
    for (name, text) in [("across", &across), ("inside", &inside)] {
        let compiled = check(name, text, Stage::Vertex, &mut tally);
        println!("{name}: {} instructions", compiled.report.instructions);
    }
    assert!(tally.compared > 30, "{}", tally.compared);
}

/// What the hardware has nothing for is refused by name and place.
#[test]
fn refusals() {
    let refused = |text: &str, stage: Stage| {
        let error = compile(Input::GlslEs(text, stage), &Options::default()).expect_err(text);
        (error.message().to_owned(), error.span())
    };
    let text = "uniform sampler2D s; attribute vec2 p; void main() {\n gl_Position = texture2D(s, p); }";
    let (message, span) = refused(text, Stage::Vertex);
    assert!(message.contains("textures in a vertex program"), "{message}");
    assert_eq!(span.map(|span| text[..span.start].matches('\n').count()), Some(1));
    let (message, _) = refused("void main() { gl_FragData[1] = vec4(1.0); }", Stage::Fragment);
    assert!(message.contains("several colour outputs"), "{message}");
    let (message, _) = refused(
        "precision mediump float; void main() { int a = 100000; gl_FragColor = vec4(a); }",
        Stage::Fragment,
    );
    assert!(message.contains("100000"), "{message}");
    let (message, _) = refused("void main() { gl_FragColor = nothing; }", Stage::Fragment);
    assert!(message.contains("nothing"), "{message}");
}
