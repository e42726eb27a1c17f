//! What a lifted program declares: uniform blocks, textures, inputs and outputs.
#![allow(missing_docs)]

use loader::mbs::{Program, Stage};
use skrymir_lift::{Convention, Options, interface};
use translate::naga::{self, TypeInner};
use translate::{Shader, Target, write};

fn options() -> Options {
    Options {
        exact: false,
        convention: Convention {
            rows_down: false,
            height: None,
        },
        viewport: None,
    }
}

fn assembled(text: &str) -> Program {
    let stage = match text.starts_with(".vertex") {
        true => Stage::Vertex,
        false => Stage::Fragment,
    };
    let mbs = utgard::shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "s")));
    mbs.program(stage).unwrap().unwrap()
}

/// A program without its symbols.
fn bare(text: &str) -> Program {
    let program = assembled(text);
    Program::new(program.stage, program.code)
}

fn lifted(program: &Program, options: &Options) -> Shader {
    skrymir_lift::program(program, options).unwrap_or_else(|error| panic!("{error}"))
}

fn text(shader: &Shader, target: Target) -> String {
    String::from_utf8(write(shader, target, &Default::default()).unwrap()).unwrap()
}

/// The line that contains a word, from it on.
fn line<'a>(text: &'a str, word: &str) -> &'a str {
    let lines = text.lines().filter_map(|line| line.find(word).map(|at| &line[at..]));
    lines.into_iter().next().unwrap_or_else(|| panic!("no {word}\n{text}"))
}

/// A type's name in GLSL, with the stride of arrays.
fn name(module: &naga::Module, ty: naga::Handle<naga::Type>) -> String {
    match module.types[ty].inner {
        TypeInner::Scalar(_) => "float".to_owned(),
        TypeInner::Vector { size, .. } => format!("vec{}", size as u8),
        TypeInner::Matrix { columns, rows, .. } => format!("mat{}x{}", columns as u8, rows as u8),
        TypeInner::Array {
            base,
            size: naga::ArraySize::Constant(count),
            stride,
        } => format!("{}[{count}]/{stride}", name(module, base)),
        ref other => format!("{other:?}"),
    }
}

/// The members of the uniform block with their types and offsets, and its size.
fn block(shader: &Shader) -> String {
    let module = &shader.module;
    let block = module
        .global_variables
        .iter()
        .find(|(_, one)| one.space == naga::AddressSpace::Uniform);
    let Some((_, block)) = block else {
        return "none".to_owned();
    };
    assert_eq!(block.binding, Some(naga::ResourceBinding { group: 1, binding: 0 }));
    let TypeInner::Struct { members, span } = &module.types[block.ty].inner else {
        panic!("{block:?}");
    };
    let member = |one: &naga::StructMember| {
        let name_of = one.name.as_deref().unwrap_or_default();
        format!("{name_of} {} {}", name(module, one.ty), one.offset)
    };
    let mut parts: Vec<String> = members.iter().map(member).collect();
    parts.push(span.to_string());
    parts.join(", ")
}

/// Sizes and alignments are those of WGSL's uniform address space: three floats take twelve bytes at a multiple of
/// sixteen, matrices are their columns, elements of arrays are multiples of sixteen bytes.
#[test]
fn uniforms_have_offsets() {
    let rows: &[(&str, &str)] = &[
        ("float a", "a float 0, 16"),
        ("vec4 a", "a vec4 0, 16"),
        (
            "float a|float b|float c|float d|float e",
            "a float 0, b float 4, c float 8, d float 12, e float 16, 32",
        ),
        (
            "float a|vec2 b|float c|vec2 d",
            "a float 0, b vec2 8, c float 16, d vec2 24, 32",
        ),
        (
            "float a|vec3 b|float c|vec3 d",
            "a float 0, b vec3 16, c float 28, d vec3 32, 48",
        ),
        ("vec3 a|vec2 b|vec4 c", "a vec3 0, b vec2 16, c vec4 32, 48"),
        ("float a|mat2 b|float c", "a float 0, b mat2x2 8, c float 24, 32"),
        ("float a|mat3 b|float c", "a float 0, b mat3x3 16, c float 64, 80"),
        ("float a|mat4 b|float c", "a float 0, b mat4x4 16, c float 80, 96"),
        (
            "float a|float[3] b|float c",
            "a float 0, b vec4[3]/16 16, c float 64, 80",
        ),
        (
            "float a|vec2[2] b|float c",
            "a float 0, b vec4[2]/16 16, c float 48, 64",
        ),
        ("vec3[2] b|vec4[2] c", "b vec4[2]/16 0, c vec4[2]/16 32, 64"),
        (
            "float a|mat2[3] b|float c",
            "a float 0, b mat2x2[3]/16 16, c float 64, 80",
        ),
        ("mat3[2] b|float c", "b mat3x3[2]/48 0, c float 96, 112"),
        ("mat4[2] b|float c", "b mat4x4[2]/64 0, c float 128, 144"),
    ];
    let mut wrong = Vec::new();
    for (uniforms, want) in rows {
        let uniforms: String = uniforms.split('|').map(|one| format!(".uniform {one}\n")).collect();
        let program = assembled(&format!(".fragment\n{uniforms}load.u 0.x, mov.v0 $0 ^uniform, stop\n"));
        let have = block(&lifted(&program, &options()));
        if have != *want {
            wrong.push(format!("{uniforms}  has  {have}\n  want {want}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every component of every kind of uniform, by its float.
#[test]
fn uniforms_are_read_by_their_floats() {
    let head = ".fragment\n.uniform float a offset=0\n.uniform vec3 b offset=4\n.uniform mat2 c offset=8 stride=8\n\
                .uniform mat3[2] d offset=16 stride=12\n.uniform vec2[2] e offset=40 stride=4\n";
    let rows: &[(&str, &str)] = &[
        ("0.x", "a, vec3(0f)"),
        ("1.x", "b.x, vec3(0f)"),
        ("1.z", "b.z, vec3(0f)"),
        ("1", "vec4<f32>(b.x, b.y, b.z, 0f)"),
        ("2.xy", "c[0], vec2(0f)"),
        ("3.y", "c[1].y, vec3(0f)"),
        ("3.z", "vec4(0f)"),
        ("4.z", "d[0][0].z, vec3(0f)"),
        ("5.x", "d[0][1].x, vec3(0f)"),
        ("7.x", "d[1][0].x, vec3(0f)"),
        ("9.y", "d[1][2].y, vec3(0f)"),
        ("10.y", "e[0].y, vec3(0f)"),
        ("11.x", "e[1].x, vec3(0f)"),
    ];
    let mut wrong = Vec::new();
    for (place, want) in rows {
        let program = assembled(&format!("{head}load.u {place}, mov.v0 $0 ^uniform, stop\n"));
        let shader = text(&lifted(&program, &options()), Target::Wgsl);
        let mut have = line(&shader, "return Output(").to_owned();
        for line in shader.lines().filter_map(|line| line.trim().strip_prefix("let ")) {
            let (name, value) = line.trim_end_matches(';').split_once(" = ").unwrap();
            have = have.replace(name, value.trim_start_matches("uniforms."));
        }
        if !have.contains(want) {
            wrong.push(format!("{place}\n  has  {have}\n  want {want}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn unnamed_uniforms_are_vec4s() {
    let rows: &[(&str, &str, &str)] = &[
        ("load.u 3.y, mov.v0 $0 ^uniform", "t vec4[4]/16 0, 64", "uniforms.t[3]"),
        ("load.u 2, mov.v0 $0 ^uniform", "t vec4[3]/16 0, 48", "uniforms.t[2]"),
        ("load.u 1.zw, mov.v0 $0 ^uniform", "t vec4[2]/16 0, 32", "uniforms.t[1]"),
        ("load.u 0.x, mov.v0 $0 ^uniform", "t vec4[1]/16 0, 16", "uniforms.t[0]"),
        // As many as the hardware has, if the program computes the number.
        (
            "load.v $0 0\nload.u 3+$0.y, mov.v0 $0 ^uniform",
            "t vec4[304]/16 0, 4864",
            "(trunc(varying0_.y) + 3f) * 4f",
        ),
        (
            "mov.v0 $0 ^const0, const0 1.0 2.0 3.0 4.0",
            "none",
            "Output(vec4<f32>(1f, 2f, 3f, 4f))",
        ),
    ];
    for (code, want, expression) in rows {
        let shader = lifted(&bare(&format!(".fragment\n{code}, stop\n")), &options());
        assert_eq!(block(&shader), *want, "{code}");
        let text = text(&shader, Target::Wgsl);
        assert!(text.contains(expression), "{code}\n{text}");
    }
    let shader = lifted(
        &bare(".fragment\nload.v $0 0\nload.u 3+$0.y, mov.v0 $0 ^uniform, stop\n"),
        &options(),
    );
    let text = text(&shader, Target::Wgsl);
    // The component of a float, and the highest float.
    let number = line(&text, "u32(clamp(").trim_end_matches(';');
    assert!(number.ends_with(", 0f, 1215f))"), "{number}");
    assert!(text.contains("/ 4u)][(") && text.contains("% 4u)]"), "{text}");
}

#[test]
fn textures_have_pairs_of_bindings() {
    let text = text(
        &lifted(
            &assembled(".fragment\n.uniform sampler2D a\n.uniform samplerCube b\n.uniform sampler2D c\nnop, stop\n"),
            &options(),
        ),
        Target::Wgsl,
    );
    let declarations: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("@group") || line.starts_with("var "))
        .collect();
    let names = ["a", "b", "c"];
    let want: Vec<String> = (0..6)
        .flat_map(|at| {
            let name = names[at / 2];
            let variable = match (at % 2, name) {
                (0, "b") => "var b: texture_cube<f32>;".to_owned(),
                (0, _) => format!("var {name}: texture_2d<f32>;"),
                _ => format!("var {name}_sampler: sampler;"),
            };
            [format!("@group(0) @binding({at}) "), variable]
        })
        .collect();
    assert_eq!(declarations, want);
}

#[test]
fn inputs_are_arguments() {
    let rows: &[(&str, &str)] = &[
        (
            ".varying vec4 a\n.varying vec2 b\n.varying float c\nload.v $0 0, stop",
            "fn main(@location(0) a: vec4<f32>, @location(1) b: vec2<f32>, @location(2) c: f32) -> Output {",
        ),
        (
            "load.v $0 2\nload.v $1.xy 0.zw, stop",
            "fn main(@location(0) varying0_: vec4<f32>, @location(2) varying2_: vec4<f32>) -> Output {",
        ),
        (
            "load.v $0 gl_FragCoord, stop",
            "fn main(@builtin(position) frag_coord: vec4<f32>) -> Output {",
        ),
        (
            "load.v $0.x gl_FrontFacing, stop",
            "fn main(@builtin(front_facing) front_facing: bool) -> Output {",
        ),
        ("nop, stop", "fn main() -> Output {"),
    ];
    for (code, want) in rows {
        let code = format!(".fragment\n{code}\n");
        let program = if code.contains(".varying") {
            assembled(&code)
        } else {
            bare(&code)
        };
        let text = text(&lifted(&program, &options()), Target::Wgsl);
        assert_eq!(line(&text, "fn main"), *want);
    }
    let point = lifted(&bare(".fragment\nload.v $0 gl_PointCoord, stop\n"), &options());
    let point = text(&point, Target::Glsl);
    assert!(point.contains("vec2 point_coord = gl_PointCoord;"), "{point}");
    assert!(point.contains("Output(vec4(point_coord, 0.0, 1.0))"), "{point}");
    // What an input lacks is 0, or 1 as the fourth.
    let rows = [
        ("0.x", "vec4<f32>(a.x, vec2(0f), 1f)"),
        ("1", "vec4<f32>(b.x, b.y, 0f, 1f)"),
        ("1.xy", "vec4<f32>(b, 0f, 1f)"),
        ("2.x", "vec4<f32>(c, vec2(0f), 1f)"),
    ];
    for (place, want) in rows {
        let program = assembled(&format!(
            ".fragment\n.varying vec4 a\n.varying vec2 b offset=4\n.varying float c offset=8\nload.v $0 {place}, stop\n"
        ));
        let text = text(&lifted(&program, &options()), Target::Wgsl);
        assert_eq!(line(&text, "return"), format!("return Output({want});"), "{place}");
    }
    // An input at a computed place.
    let shader = lifted(
        &assembled(".fragment\n.varying vec2 a\n.varying float b offset=4\nload.v $0.xy 1+$1.x, stop\n"),
        &options(),
    );
    let text = text(&shader, Target::Wgsl);
    let stores: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("inputs["))
        .collect();
    assert_eq!(stores, ["inputs[0] = a.x;", "inputs[1] = a.y;", "inputs[4] = b;"]);
    assert_eq!(text.matches("var inputs: array<f32, 64>;").count(), 1, "{text}");
}

#[test]
fn outputs_are_members() {
    let head = ".vertex\n.attribute vec4 p\n.attribute vec2 q\n.attribute mat2 r\n.uniform vec4[2] gl_mali_ViewportTransform\n\
                .uniform vec3 other\n.varying vec4 gl_Position\n";
    let code = "mov.m0 v0.x a0.x, mov.m1 v0.y a0.y, mov.a0 v0.z a0.z, mov.a1 v0.w a0.w\n\
                mov.m0 v1.x a3.x, mov.m1 v1.y t[2].y, mov.a0 v1.z a3.z, mov.a1 v1.w a3.w\n\
                mov.m0 v2.x a1.x, mov.m1 v2.y a1.y, mov.a0 v2.z a1.z, mov.a1 v2.w a1.w\n";
    let program = assembled(&format!(
        "{head}.varying vec3 n offset=8\n.varying vec2[2] m offset=4 stride=2\n{code}"
    ));
    let shader = text(&lifted(&program, &options()), Target::Wgsl);
    assert_eq!(
        line(&shader, "fn main"),
        "fn main(@location(0) p: vec4<f32>, @location(1) q: vec2<f32>, @location(2) r_0_: vec2<f32>, @location(3) r_1_: vec2<f32>) -> Output {"
    );
    let members: Vec<&str> = shader
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('@') && line.ends_with(','))
        .collect();
    assert_eq!(
        members,
        [
            "@builtin(position) position: vec4<f32>,",
            "@location(0) m_0_: vec2<f32>,",
            "@location(1) m_1_: vec2<f32>,",
            "@location(2) n: vec3<f32>,"
        ]
    );
    let last = line(&shader, "return");
    assert!(
        last.contains(".y), vec2<f32>(0f, 1f), vec3<f32>(q, 0f))") && last.contains("vec2<f32>(r_1_.x, "),
        "{shader}"
    );
    // The size of points is a built-in.
    let program = assembled(&format!(
        "{head}.varying float gl_PointSize offset=8\n.varying vec2 m offset=4\n{code}"
    ));
    let shader = text(&lifted(&program, &options()), Target::Glsl);
    assert!(
        line(&shader, "_tmp_return =").contains(", q.x, vec2(r_1_.x, _e"),
        "{shader}"
    );
    assert!(shader.contains("gl_PointSize = _tmp_return.point_size;"), "{shader}");
    // The viewport may be given: it is no uniform then, the others stay.
    let given = Options {
        viewport: Some([8.0, -4.0, 0.5, 0.0, 9.0, 7.0, 0.5, 0.0]),
        ..options()
    };
    let shader = lifted(&program, &given);
    assert_eq!(block(&shader), "other vec3 0, 16");
    let shader = text(&shader, Target::Glsl);
    let want = "vec4((((p.x + -9.0) / 8.0) / p.w), (((p.y + -7.0) / -4.0) / p.w), (p.z / p.w), (1.0 / p.w))";
    assert!(shader.contains(want), "{shader}");
    // A depth beside the colour, if the interface says where it is.
    let program = assembled(".fragment\n.varying vec4 a\nload.v $2.x 0.w\nload.v $0 0, stop\n");
    let depth = skrymir_lift::interface::Interface {
        depth_register: Some(2),
        ..interface(&program)
    };
    let shader = skrymir_lift::lift(program.stage, &program.code, &depth, &options()).unwrap();
    let shader = text(&shader, Target::Wgsl);
    assert!(shader.contains("@builtin(frag_depth) depth: f32,"), "{shader}");
    assert_eq!(line(&shader, "return"), "return Output(a, a.w);");
}
