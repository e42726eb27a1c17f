//! Adjustments of a shader have the same effect in every language.
#![cfg(all(feature = "glslang", feature = "spirv-cross"))]

use skrymir_translate::{self as translate, Adjust, Depth, Options, Source, Target};

const TEXT: &str = "#version 450
layout(set = 0, binding = 3) uniform Block { vec4 offset; } block;
layout(location = 0) in vec4 at;
void main() { gl_Position = at + block.offset; if (at.x > 0.5) return; gl_Position.z = 0.25; }
";

const WGSL: &str = "@group(0) @binding(3) var<uniform> block: vec4f;
@vertex fn main(@location(0) at: vec4f) -> @builtin(position) vec4f { return at + block; }
";

fn written(name: &str, text: &str, target: Target, adjust: Adjust) -> translate::Result<String> {
    let options = Options {
        adjust,
        ..Options::default()
    };
    let source = Source::new(name, text.as_bytes())?;
    translate::translate(&source, target, &options).map(|written| String::from_utf8(written.bytes).unwrap())
}

#[test]
fn adjustments_apply_in_every_language() {
    for (target, binding) in [
        (Target::Glsl, "binding = 5"),
        (Target::Hlsl, "register(b5, space1)"),
        (Target::Msl, ""),
        (Target::Wgsl, "@group(1) @binding(5)"),
    ] {
        for (name, text) in [("a.vert", TEXT), ("a.wgsl", WGSL)] {
            let adjust = Adjust {
                places: vec![([0, 3], [1, 5])],
                names: vec![("block".into(), "shifted".into())],
                flip_y: true,
                depth: Some(Depth::ToOpenGl),
                ..Adjust::default()
            };
            let text = written(name, text, target, adjust).unwrap();
            assert!(text.contains(binding), "{target} of {name}: {text}");
            assert!(
                text.contains("shifted") || target == Target::Hlsl,
                "{target} of {name}: {text}"
            );
            let negations = text.matches("-(").count() + text.matches("= -").count();
            let doubled = text.contains("2.0") || text.contains("* 2f");
            assert!(negations > 0 && doubled, "{target} of {name}: {text}");
        }
    }
    let adjust = || Adjust {
        entry: Some("stage_one".into()),
        ..Adjust::default()
    };
    for target in [Target::Hlsl, Target::Msl, Target::Wgsl] {
        assert!(
            written("a.vert", TEXT, target, adjust())
                .unwrap()
                .contains(" stage_one("),
            "{target}"
        );
    }
}

#[test]
fn missing_names_are_errors() {
    let fragment = "#version 450\nlayout(location = 0) out vec4 tint;\nvoid main() { tint = vec4(1.0); }\n";
    let error_of = |adjust| {
        written("a.frag", fragment, Target::Glsl, adjust)
            .unwrap_err()
            .to_string()
    };
    let flip_y = Adjust {
        flip_y: true,
        ..Adjust::default()
    };
    assert!(error_of(flip_y).contains("another stage"));
    let names = Adjust {
        names: vec![("none".into(), "some".into())],
        ..Adjust::default()
    };
    assert!(error_of(names).contains("named none"));
    let places = Adjust {
        places: vec![([0, 0], [1, 1])],
        ..Adjust::default()
    };
    assert!(error_of(places).contains("set 0, binding 0"));
}
