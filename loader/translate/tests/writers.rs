//! What is written of modules that only SPIRV-Cross reads, and how far that is checked.
#![cfg(all(feature = "glslang", feature = "spirv-cross", not(target_family = "wasm")))]

use skrymir_translate::frontend::{self, Dialect, Settings, Stage, Text};
use skrymir_translate::{self as translate, Check, Options, Result, Source, Target, Translation};
use std::path::Path;

fn written(stage: Stage, text: &str, target: Target) -> Result<Translation> {
    let text = format!("#version 460\n{text}");
    let text = Text::new(&text, Path::new(""), Dialect::Glsl, stage, Settings::NONE);
    let module = frontend::spirv(&text).unwrap_or_else(|error| panic!("{error}"));
    let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let source = Source::new("module.spv", &bytes)?;
    translate::translate(&source, target, &Options::default())
}

/// The text and the result of its check.
fn passed(stage: Stage, text: &str) -> (String, Check) {
    let written = written(stage, text, Target::Hlsl).unwrap_or_else(|error| panic!("{error}"));
    (String::from_utf8(written.bytes).unwrap(), written.check)
}

#[test]
fn metal_has_no_geometry_stage() {
    let text = "layout(triangles) in; layout(points, max_vertices = 1) out;\n\
                void main() { gl_Position = gl_in[0].gl_Position; EmitVertex(); }";
    let metal = written(Stage::Geometry, text, Target::Msl).unwrap();
    assert_eq!(metal.check, Check::NoStage);
    assert!(metal.bytes.starts_with(b"// Metal has no such stage"));
    assert_ne!(
        written(Stage::Geometry, text, Target::Glsl).unwrap().check,
        Check::NoStage
    );
}

#[test]
fn arrays_of_structures_for_each_vertex_are_unsupported_in_metal() {
    let outcome = |ty: &str, value: &str| {
        let text = format!(
            "layout(triangles, ccw) in; struct S {{ vec4 a; float b; }};\n\
             layout(location = 0) in {ty}; void main() {{ gl_Position = {value}; }}"
        );
        written(Stage::TessellationEvaluation, &text, Target::Msl)
    };
    for (ty, value) in [
        ("vec4 v[]", "v[1]"),
        ("vec4 v[][3]", "v[1][2]"),
        ("mat4 v[]", "v[1][2]"),
        ("S v[]", "v[1].a"),
        ("patch S v[2]", "v[1].a"),
    ] {
        assert!(outcome(ty, value).is_ok(), "{ty}");
    }
    for ty in ["S v[][3]", "S v[][3][2]"] {
        let value = format!("v[1]{}.a", if ty.ends_with("[2]") { "[2][1]" } else { "[2]" });
        let error = outcome(ty, &value).unwrap_err().to_string();
        assert!(error.contains("msl: unsupported: v: "), "{ty}: {error}");
    }
}

#[test]
fn what_glslang_lacks_is_left_out_of_the_check() {
    let (text, check) = passed(
        Stage::Fragment,
        "layout(location = 0) out vec4 c; void main() { c = vec4(1.0); }",
    );
    assert_eq!(check, Check::Passed("glslang"), "{text}");

    let (text, check) = passed(
        Stage::Compute,
        "#extension GL_EXT_nonuniform_qualifier : require\nlayout(local_size_x = 8) in;\n\
         layout(std430, binding = 0) buffer B { uint a[]; } b[4];\n\
         void main() { uint i = gl_LocalInvocationIndex; b[nonuniformEXT(i)].a[0] = b[1].a.length(); }",
    );
    assert!(
        text.contains("NonUniformResourceIndex(") && text.contains("RWByteAddressBuffer b[4]"),
        "{text}"
    );
    assert_eq!(check, Check::Passed("glslang, what it lacks aside"), "{text}");

    let (text, check) = passed(
        Stage::Fragment,
        "#extension GL_ARB_fragment_shader_interlock : require\nlayout(pixel_interlock_ordered) in;\n\
         layout(binding = 0, r32f) uniform coherent image2D i;\n\
         void main() { beginInvocationInterlockARB(); imageStore(i, ivec2(0), imageLoad(i, ivec2(1)));\n\
         endInvocationInterlockARB(); }",
    );
    assert!(text.contains("RasterizerOrderedTexture2D"), "{text}");
    assert_eq!(check, Check::Passed("glslang, what it lacks aside"), "{text}");

    let (text, check) = passed(
        Stage::Mesh,
        "#extension GL_EXT_mesh_shader : require\nlayout(local_size_x = 1) in;\n\
         layout(triangles, max_vertices = 3, max_primitives = 1) out;\n\
         void main() { SetMeshOutputsEXT(3u, 1u); gl_MeshVerticesEXT[0].gl_Position = vec4(0.0);\n\
         gl_PrimitiveTriangleIndicesEXT[0] = uvec3(0, 1, 2); }",
    );
    assert!(text.contains("SetMeshOutputCounts("), "{text}");
    assert_eq!(check, Check::Unchecked, "{text}");

    // What is no HLSL is still rejected.
    let least = "#extension GL_AMD_shader_trinary_minmax : require\nlayout(local_size_x = 8) in;\n\
                 layout(std430, binding = 0) buffer B { int a[]; } b;\n\
                 void main() { b.a[0] = min3(b.a[1], b.a[2], b.a[3]); }";
    let error = written(Stage::Compute, least, Target::Hlsl).unwrap_err().to_string();
    assert!(error.contains("min3"), "{error}");
}
