//! GLSL ES as stages for Vulkan: locations, the block of uniforms, and the same numbers from the stage as from the text.

use crate::run::{scalars_of, vertex_bounds};
use skrymir_compiler::glsl_es::Text;
use skrymir_compiler::glsl_es::vulkan::{Linked, to_vulkan};
use skrymir_compiler::interface::Variable;
use skrymir_compiler::interp::{self, Given, SINGLE};
use skrymir_compiler::ir::{Input as From, Output};
use skrymir_compiler::{Compiled, Input, Options, Stage, compile};
use translate::{ShaderStage, Source};

/// A pair of stages, linked.
fn pair(vertex: &str, fragment: &str) -> ([Vec<u32>; 2], Linked) {
    let mut linked = Linked::default();
    let texts = [(vertex, Stage::Vertex), (fragment, Stage::Fragment)];
    for (text, stage) in texts {
        linked
            .note(&Text::new(text), stage)
            .unwrap_or_else(|error| panic!("{}", error.render("s", text)));
    }
    let words = texts.map(|(text, stage)| {
        to_vulkan(&Text::new(text), stage, &mut linked).unwrap_or_else(|error| panic!("{}", error.render("s", text)))
    });
    for words in &words {
        let report = loader::spirv::validate(words);
        assert!(report.is_valid(), "{report:?}");
    }
    (words, linked)
}

/// The numbers behind a word of each line of a module's text that has it.
fn numbers(words: &[u32], word: &str) -> Vec<u32> {
    let text = loader::spirv::print(words).expect("text");
    let found = text
        .lines()
        .filter_map(|line| line.split_once(word)?.1.trim().parse().ok());
    found.collect()
}

const FRAGMENT: &str =
    "precision mediump float; uniform sampler2D s; varying vec4 c[2]; varying vec2 a; uniform float late;
    void main() { gl_FragColor = texture2D(s, a) * late + c[1]; }";

#[test]
fn attributes_and_varyings_have_locations() {
    let vertex = "attribute vec4 p; attribute mat2 m; attribute vec2 unused; attribute float q; varying vec2 a; varying vec4 c[2];
        varying mat3 only; uniform vec4 u;
        void main() { gl_Position = p * u; a = m[1] * q; c[0] = p; c[1] = p.wzyx; only = mat3(q); gl_PointSize = q; }";
    let ([vertex, fragment], linked) = pair(vertex, FRAGMENT);
    // Attributes in the order of their declarations, a location for each column; those that nothing reads have theirs.
    assert_eq!(linked.attributes().collect::<Vec<_>>(), [(0, "p"), (1, "m"), (4, "q")]);
    let mut all = numbers(&vertex, " Location ");
    all.sort_unstable();
    // Attributes 0, 1, 2, 3, 4; varyings 0; 1, 2; 3, 4, 5.
    assert_eq!(all, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]);
    // The fragment stage finds the same ones by name, and has its colour at 0.
    let mut found = numbers(&fragment, " Location ");
    found.sort_unstable();
    assert_eq!(found, [0, 0, 1, 2]);
    let text = loader::spirv::print(&vertex).expect("text");
    assert!(
        text.contains("BuiltIn Position") && text.contains("BuiltIn PointSize"),
        "{text}"
    );
    // Too many columns, and no position.
    let refused = |text: &str, says: &str| {
        let error = to_vulkan(&Text::new(text), Stage::Vertex, &mut Linked::default()).expect_err(text);
        assert!(error.message().contains(says), "{error:?}");
    };
    refused("void main() { }", "gl_Position");
    let most =
        |count: u32| format!("attribute vec4 p; varying vec4 v[{count}]; void main() {{ gl_Position = p; v[0] = p; }}");
    assert!(to_vulkan(&Text::new(&most(8)), Stage::Vertex, &mut Linked::default()).is_ok());
}

#[test]
fn uniforms_are_members_of_one_block() {
    let vertex = "attribute vec4 p; struct L { vec3 c; float d; }; uniform mat4 t; uniform vec2 s[3]; uniform bool b; uniform mat2 n;
        uniform L l; uniform bvec3 e; uniform L ls[2]; uniform mat2 ns[2]; uniform int i;
        void main() { gl_Position = t * p + vec4(s[2], n[1]) + vec4(l.c, l.d) + (b ? p : p.wzyx) + vec4(e, ls[1].d) + vec4(ns[1][0], float(i), ls[0].c.y); }";
    let fragment = "precision mediump float; uniform float late; uniform mat2 n; void main() { gl_FragColor = vec4(n[0], late, gl_FragCoord.y); }";
    let ([vertex, fragment], _) = pair(vertex, fragment);
    for words in [&vertex, &fragment] {
        // Each member begins at a multiple of 16: mat4 64, vec2[3] 48, bool 16, mat2 as vec2[2] 32, vec3 and float 32,
        // bvec3 16, vec3[2] 32 and float[2] 32, mat2[2] as vec2[4] 64, int 16, float 16, and the picture's height.
        let text = loader::spirv::print(words).expect("text");
        let members = text.lines().filter(|line| line.contains("OpMemberDecorate %Uniforms "));
        let offsets = members.filter_map(|line| line.split_once(" Offset ")?.1.trim().parse().ok());
        let offsets: Vec<u32> = offsets.collect();
        assert_eq!(offsets, [0, 64, 112, 128, 160, 176, 192, 208, 240, 272, 336, 352, 368]);
        let sets = numbers(words, " DescriptorSet ");
        assert_eq!((sets, numbers(words, " Binding ")), (vec![1], vec![0]));
    }
    // Textures and their samplers are in set 0, each at a binding of its own.
    let textures = "precision mediump float; uniform sampler2D s, t; uniform samplerCube u; uniform float k;
        void main() { gl_FragColor = (texture2D(s, vec2(k)) + texture2D(t, vec2(0.5))) * textureCube(u, vec3(k)); }";
    let ([_, fragment], _) = pair("attribute vec4 p; void main() { gl_Position = p; }", textures);
    let (mut sets, mut bindings) = (numbers(&fragment, " DescriptorSet "), numbers(&fragment, " Binding "));
    sets.sort_unstable();
    bindings.sort_unstable();
    assert_eq!((sets, bindings), (vec![0, 0, 0, 0, 0, 0, 1], vec![0, 0, 1, 2, 3, 4, 5]));
    // Two uniforms of one name are one; of two types, or with one member, they are refused.
    let mut linked = Linked::default();
    let note = |linked: &mut Linked, declared: &str| {
        let text = format!("precision mediump float; {declared} void main() {{ gl_FragColor = vec4(1.0); }}");
        linked
            .note(&Text::new(&text), Stage::Fragment)
            .map_err(|error| error.message().to_owned())
    };
    assert_eq!(
        note(&mut linked, "uniform vec4 a; struct S { float x; }; uniform S s;"),
        Ok(())
    );
    assert_eq!(note(&mut linked, "uniform vec4 a;"), Ok(()));
    let error = note(&mut linked, "uniform vec3 a;").unwrap_err();
    assert!(error.contains("the uniform a has another type"), "{error}");
    let error = note(&mut linked, "uniform float s_x;").unwrap_err();
    assert!(error.contains("both have the member s_x"), "{error}");
    let long = |count: u32| format!("uniform float a[{count}];");
    assert_eq!(note(&mut Linked::default(), &long(1024)), Ok(()));
    let error = note(&mut Linked::default(), &long(1025)).unwrap_err();
    assert!(error.contains("1024 elements at most"), "{error}");
}

/// A number for each component of each variable, by its name: `l[1].c` of the text is the second part of the block's `l_c`.
fn given(variables: &[Variable]) -> Vec<f32> {
    let mut all = vec![0.0; scalars_of(variables)];
    for variable in variables {
        let (mut name, mut before) = (variable.name.replace('.', "_"), 0);
        if let (Some(open), Some(close)) = (name.find('['), name.find(']')) {
            before = name[open + 1..close].parse::<u32>().expect("an index") * variable.scalars();
            name.replace_range(open..=close, "");
        }
        let seed = name
            .bytes()
            .fold(7u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut random = fastrand::Rng::with_seed(seed);
        let numbers: Vec<f32> = (0..before + variable.scalars())
            .map(|_| (random.i32(-64..=64) as f32) / 16.0)
            .collect();
        let own = variable.first as usize..(variable.first + variable.scalars()) as usize;
        all[own].copy_from_slice(&numbers[before as usize..]);
    }
    all
}

fn outputs(compiled: &Compiled, attributes: &[f32]) -> Vec<(Output, f32)> {
    let uniforms = given(&compiled.shader.interface.uniforms);
    let bounds = vertex_bounds(compiled, &uniforms, attributes).expect("outputs");
    let mut all: Vec<(Output, f32)> = bounds
        .into_iter()
        .map(|(output, bounded)| (output, bounded.value))
        .collect();
    all.sort_by_key(|(output, _)| format!("{output:?}"));
    all
}

#[test]
fn stages_compute_what_their_texts_do() {
    // Varyings in the order of their declarations, so that their scalars have the same numbers.
    let texts = [
        "attribute vec4 p; uniform vec4 u; varying vec4 o; void main() { gl_Position = p; o = p * u; }",
        "attribute vec2 a; attribute mat3 m; attribute float k; varying vec3 o; varying float r;
         void main() { gl_Position = vec4(a, k, 2.0); o = m * vec3(a, 1.0) + m[2]; r = k; }",
        "attribute vec4 p; uniform mat2 n; uniform mat3 q; uniform mat4 t; varying vec2 o; varying vec3 r;
         void main() { gl_Position = t * p; o = n * p.xy; r = q * p.xyz + q[1]; }",
        "attribute vec4 p; uniform vec2 s[3]; uniform float f[4]; uniform mat2 n[2]; varying vec4 o[2];
         void main() { gl_Position = p; o[0] = vec4(s[0], s[2]) * f[1]; o[1] = vec4(n[1] * s[1], n[0][1].y, f[3]); }",
        "attribute vec4 p; struct L { vec3 c; float d[2]; }; uniform L l; uniform L m[2]; varying vec4 o; varying mat2 r;
         void main() { gl_Position = p; o = vec4(l.c * m[1].c, m[0].d[1] + l.d[0]); r = mat2(m[1].d[0], l.d[1], m[0].c.xy); }",
        "attribute vec4 p; varying vec4 o; void main() { gl_Position = p; if (p.x > 0.0) { o = p; return; } o = -p; }",
        "attribute vec4 p; uniform bool b; uniform bvec3 c; uniform ivec2 n; uniform bool d[3]; varying vec4 o;
         void main() { gl_Position = p; o = vec4(b ? p.x : p.y, c.y ? 1.5 : p.z, float(n.y) + float(n.x) * 2.0, d[1] ? p.w : 0.25); }",
        "attribute vec4 p; struct L { mat2 m[2]; vec2 v[3]; bool b; }; uniform L l[2]; varying vec4 o[2];
         void main() { gl_Position = p; o[0] = vec4(l[1].m[1] * p.xy, l[0].m[1][1]); o[1] = vec4(l[1].v[2], l[0].v[1].y, l[1].b ? 1.0 : p.x); }",
        "attribute vec4 p; struct I { vec3 a; float f[2]; }; struct L { I i; mat3 m; }; uniform L l[2]; varying vec4 o[2];
         void main() { gl_Position = p; o[0] = vec4(l[1].i.a, l[0].i.f[1]); o[1] = vec4(l[1].m[2], l[1].i.f[1]); }",
        "attribute vec4 p; attribute mat2 m; attribute mat4 n; varying mat3 a; varying float b[3]; varying vec2 c; uniform vec2 s;
         void main() { gl_Position = n * p * 2.0; gl_PointSize = p.x + 4.0; a = mat3(n); b[0] = m[1].x; b[1] = p.y; b[2] = m[0].y; c = m * s; }",
    ];
    for text in texts {
        let own = compile(Input::GlslEs(text, Stage::Vertex), &Options::default())
            .unwrap_or_else(|error| panic!("{}", error.render("s", text)));
        let mut linked = Linked::default();
        let words = to_vulkan(&Text::new(text), Stage::Vertex, &mut linked)
            .unwrap_or_else(|error| panic!("{}", error.render("s", text)));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let source = Source::new("s.spv", &bytes)
            .expect("a source")
            .stage(ShaderStage::Vertex);
        let stage = compile(Input::Source(&source), &Options::default())
            .unwrap_or_else(|error| panic!("{}\n{text}", error.message()));
        // Attributes lie one behind the other in both.
        let attributes = given(&own.shader.interface.attributes);
        assert_eq!(
            attributes.len(),
            scalars_of(&stage.shader.interface.attributes),
            "{text}"
        );
        let (have, want) = (outputs(&stage, &attributes), outputs(&own, &attributes));
        // Positions and sizes too, but for the rounding of the way to another clip space and back.
        assert_eq!(have.len(), want.len(), "{text}");
        for ((output, have), (same, want)) in have.iter().zip(&want) {
            assert_eq!(output, same, "{text}");
            assert!(
                (have - want).abs() <= 1e-5 * want.abs().max(1.0),
                "{text}: {output:?} is {have} for {want}"
            );
        }
        let varying = |all: &[(Output, f32)]| -> Vec<(Output, f32)> {
            all.iter()
                .filter(|(output, _)| matches!(output, Output::Varying(_)))
                .copied()
                .collect()
        };
        assert!(!varying(&want).is_empty(), "{text}");
        assert_eq!(varying(&have), varying(&want), "{text}");
    }
}

#[test]
fn fragment_stages_compute_what_their_texts_do() {
    let texts = [
        "varying vec4 a; varying vec2 b; uniform vec4 k; void main() { gl_FragColor = a * k + b.xyxy; }",
        "varying mat2 m; varying float f[2]; void main() { gl_FragColor = vec4(m[1], m[0].x, f[1]) + f[0]; }",
        "uniform float k; void main() { gl_FragColor = vec4(gl_FragCoord.xy * 0.0625, k, gl_FragCoord.w); }",
        "void main() { gl_FragColor = vec4(gl_PointCoord, gl_FrontFacing ? 0.25 : 0.75, gl_FragCoord.y * 0.125); }",
        "varying vec2 v; uniform sampler2D s; uniform float k; void main() { gl_FragColor = texture2D(s, v * k) * texture2D(s, v); }",
        "varying vec4 v; void main() { if (v.x > 2.5) discard; gl_FragColor = v; if (v.y < 0.0) return; gl_FragColor = v.wzyx; }",
        "#version 300 es\nprecision mediump float; in vec4 v; flat in int n; flat in uint m; flat in vec4 f; layout(location = 0) out vec4 c;
         void main() { c = v * float(n) + float(m) * f; }",
    ];
    for text in texts {
        let text = match text.starts_with('#') {
            true => text.to_owned(),
            false => format!("precision mediump float; {text}"),
        };
        let words = to_vulkan(&Text::new(&text), Stage::Fragment, &mut Linked::default());
        let words = words.unwrap_or_else(|error| panic!("{}", error.render("s", &text)));
        let report = loader::spirv::validate(&words);
        assert!(report.is_valid(), "{text}: {report:?}");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let source = Source::new("s.spv", &bytes)
            .expect("a source")
            .stage(ShaderStage::Fragment);
        let own = compile(Input::GlslEs(&text, Stage::Fragment), &Options::default());
        // This processor has no flat varyings.
        if text.contains("flat") {
            let stage = compile(Input::Source(&source), &Options::default());
            assert!(own.is_err_and(|error| error.message().contains("flat")));
            assert!(stage.is_err_and(|error| error.message().contains("flat")));
            let text = loader::spirv::print(&words).expect("text");
            assert_eq!(text.matches(" Flat").count(), 3, "{text}");
            continue;
        }
        let own = own.unwrap_or_else(|error| panic!("{}", error.render("s", &text)));
        let stage = compile(Input::Source(&source), &Options::default());
        let stage = stage.unwrap_or_else(|error| panic!("{}\n{text}", error.message()));
        let colors = |compiled: &Compiled| {
            let uniforms = given(&compiled.shader.interface.uniforms);
            let given = Given {
                uniforms: &uniforms,
                input: &|lane, input| match input {
                    From::Varying(slot) => slot as f32 + lane as f32 * 0.5,
                    From::FragCoord(component) => 3.0 + f32::from(component) + lane as f32,
                    From::PointCoord(component) => f32::from(component) * 0.25 + lane as f32,
                    _ => (lane % 2) as f32,
                },
                sampler: &|_, _, _, coordinates| coordinates.map(|[x, y, ..]| [x, y, x + y, 1.0]),
                rounding: SINGLE,
                budget: 1000,
            };
            interp::run(&compiled.shader.function, &given).expect("an end")
        };
        for (have, want) in colors(&stage).into_iter().zip(colors(&own)) {
            assert_eq!(have.is_some(), want.is_some(), "{text}");
            for (output, want) in want.into_iter().flatten() {
                let have = have.as_ref().expect("colours")[&output].value;
                assert!(
                    (have - want.value).abs() < 1e-4,
                    "{text}: {output:?} is {have} for {}",
                    want.value
                );
            }
        }
    }
}
