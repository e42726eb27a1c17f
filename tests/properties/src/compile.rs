//! Compiling shader sources to machine code.

use compiler::{Input, Options, Stage};
use loader::mbs::Mbs;
use std::path::Path;
use translate::frontend::Settings;
use translate::{Language, ShaderStage, Source};
use utgard::{shader, stats};

/// Any text is a program without findings that round-trips through text and bytes, or an error with a message. Texts
/// with an `@` are treated as WGSL, others as GLSL ES; each as both stages.
pub fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let wgsl = text.contains('@');
    for (stage, shader_stage) in [
        (Stage::Vertex, ShaderStage::Vertex),
        (Stage::Fragment, ShaderStage::Fragment),
    ] {
        let source = Source {
            bytes,
            language: Language::Wgsl,
            stage: Some(shader_stage),
            entry: None,
            any_layout: false,
            y_up: false,
            settings: Settings::NONE,
            path: Path::new(""),
        };
        let input = if wgsl {
            Input::Source(&source)
        } else {
            Input::GlslEs(text, stage)
        };
        match compiler::compile(input, &Options::default()) {
            Ok(compiled) => {
                let findings = stats::stats(&compiled.program).findings;
                assert!(findings.is_empty(), "{findings:?}\n{text}");
                let mbs = Mbs::of(std::slice::from_ref(&compiled.program));
                let printed = shader::disassemble(&mbs).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let again = shader::assemble(&printed).unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert!(again.write() == mbs.write(), "other bytes come back\n{text}");
            }
            Err(error) => {
                assert!(!error.message().is_empty(), "an error without words\n{text}");
                drop(error.render("fuzz", text));
            }
        }
    }
}

/// Initial shaders.
pub fn seeds() -> Vec<Vec<u8>> {
    let vertex = "attribute vec4 p; uniform mat4 m; uniform vec4 k[4]; varying vec2 v; void main() {
        vec4 s = p; for (int i = 0; i < 9; i++) { if (float(i) > k[1].x) break; s = s.yzwx * 0.5 + k[i]; }
        v = s.xy; gl_Position = m * p; gl_PointSize = length(p); }";
    let fragment = "precision mediump float; varying vec2 v; uniform sampler2D t; uniform float k;
        struct S { vec2 a; float b; }; float f(S s, inout float x) { x += s.b; return dot(s.a, v) / x; }
        void main() { float x = k; S s = S(v, 2.0); vec4 c = texture2D(t, v * 2.0); if (c.a < 0.5) discard;
        gl_FragColor = c * f(s, x) + vec4(sin(x), normalize(v), mod(x, 3.0)); }";
    let wgsl = "struct V { @builtin(position) p: vec4f, @location(0) c: vec3f }
        @group(0) @binding(0) var<uniform> m: mat4x4f;
        @vertex fn vs(@location(0) a: vec4f) -> V { return V(m * a, a.xyz); }
        @fragment fn fs(v: V) -> @location(0) vec4f { var i = 0; var s = v.c;
        loop { if (i > 5) { break; } s = fract(s * 1.5); i += 1; } return vec4f(s, v.p.x); }";
    [vertex, fragment, wgsl].map(|text| text.as_bytes().to_vec()).to_vec()
}
