//! Every operation of both processors as an expression of WGSL: what docs/spec/mali says that it computes.
#![allow(missing_docs)]

use loader::mbs::Stage;
use skrymir_lift::{Convention, Options};
use translate::{Target, write};

/// The WGSL of a program, or why there is none.
fn wgsl(text: &str, options: &Options) -> String {
    let stage = match text.starts_with(".vertex") {
        true => Stage::Vertex,
        false => Stage::Fragment,
    };
    let mbs = utgard::shader::assemble(text).unwrap_or_else(|error| panic!("{}", error.render(text, "s")));
    let program = mbs.program(stage).unwrap().unwrap();
    match skrymir_lift::program(&program, options) {
        Ok(shader) => String::from_utf8(write(&shader, Target::Wgsl, &Default::default()).unwrap()).unwrap(),
        Err(error) => error.to_string(),
    }
}

fn options(exact: bool, rows_down: bool) -> Options {
    Options {
        exact,
        convention: Convention {
            rows_down,
            height: rows_down.then_some(64.0),
        },
        viewport: None,
    }
}

/// The statements of a function, without indentation and line breaks.
fn body(text: &str) -> String {
    let Some((_, body)) = text.split_once(") -> Output {\n") else {
        return text.to_owned();
    };
    let text = body.split_whitespace().collect::<Vec<_>>().join(" ");
    renumbered(text.trim_end_matches(" }"))
}

/// A text whose temporary names, such as `_e12` and `r7_`, are numbered as they occur.
fn renumbered(text: &str) -> String {
    let (mut names, mut out, mut word) = (Vec::<String>::new(), String::new(), String::new());
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let digits = word
            .trim_start_matches("_e")
            .trim_start_matches('r')
            .trim_end_matches('_');
        let is_temporary = (word.starts_with("_e") || word.starts_with('r') && word.ends_with('_'))
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_temporary {
            let at = names.iter().position(|name| *name == word).unwrap_or(names.len());
            if at == names.len() {
                names.push(word.clone());
            }
            word = format!("t{at}");
        }
        out.push_str(&std::mem::take(&mut word));
        out.push(c);
    }
    out.trim_end().to_owned()
}

/// A fragment program whose $0 and $1 hold the varyings a and b.
fn fragment(code: &str, options: &Options) -> String {
    let head = ".fragment\n.varying vec4 a\n.varying vec4 b\n.uniform vec4 u\n.uniform vec4[3] list\n.uniform sampler2D s\n\
                .uniform samplerCube c\nload.v $0 0\nload.v $1 1\nnop\n";
    body(&wgsl(&format!("{head}{code}\nnop, stop\n"), options))
}

/// A vertex program with a varying of four components and uniforms on both sides of the viewport.
fn wide_vertex(code: &str) -> String {
    let head = ".vertex\n.attribute vec4 a\n.attribute vec4 b\n.uniform vec4 u\n.uniform vec4[2] gl_mali_ViewportTransform\n\
                .uniform vec4 k\n.uniform mat2 m\n.uniform vec4 one init=1.0/1.0/1.0/1.0\n.varying vec4 gl_Position\n.varying vec4 o\n";
    wgsl(&format!("{head}{code}\n"), &options(false, false))
}

/// A vertex program that stores a varying beside its position.
fn vertex(code: &str, options: &Options) -> String {
    let head = ".vertex\n.attribute vec4 a\n.attribute vec4 b\n.uniform vec4[2] gl_mali_ViewportTransform\n.uniform vec4 u\n\
                .varying vec4 gl_Position\n.varying float o\n";
    let position = "mov.m0 v0.x a1.x, mov.m1 v0.y a1.y, mov.a0 v0.z a1.z, mov.a1 v0.w a1.w";
    body(&wgsl(&format!("{head}{code}\n{position}\n"), options))
}

fn are<F: Fn(&str) -> String>(rows: &[(&str, &str)], lifted: F) {
    let mut wrong = Vec::new();
    for (code, want) in rows {
        let have = lifted(code);
        if have != *want {
            wrong.push(format!("{code}\n  has  {have}\n  want {want}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn fragment_operations_are_expressions() {
    let rows: &[(&str, &str)] = &[
        // The multipliers.
        ("mul.v0 $0 $0 $1", "(a * b)"),
        ("mul_x2.v0 $0 $0 $1", "((a * b) * vec4(2f))"),
        ("mul_x4.v0 $0 $0 $1", "((a * b) * vec4(4f))"),
        ("mul_x8.v0 $0 $0 $1", "((a * b) * vec4(8f))"),
        ("mul_d2.v0 $0 $0 $1", "((a * b) * vec4(0.5f))"),
        ("mul_d4.v0 $0 $0 $1", "((a * b) * vec4(0.25f))"),
        ("mul_d8.v0 $0 $0 $1", "((a * b) * vec4(0.125f))"),
        ("mul_d16.v0 $0 $0 $1", "((a * b) * vec4(0.0625f))"),
        ("not.v0 $0 $0", "select(vec4(0f), vec4(1f), (a == vec4(0f)))"),
        (
            "and.v0 $0 $0 $1",
            "select(vec4(0f), vec4(1f), ((a != vec4(0f)) & (b != vec4(0f))))",
        ),
        (
            "or.v0 $0 $0 $1",
            "select(vec4(0f), vec4(1f), ((a != vec4(0f)) | (b != vec4(0f))))",
        ),
        (
            "xor.v0 $0 $0 $1",
            "select(vec4(0f), vec4(1f), ((a != vec4(0f)) != (b != vec4(0f))))",
        ),
        ("ne.v0 $0 $0 $1", "select(vec4(0f), vec4(1f), (a != b))"),
        ("gt.v0 $0 $0 $1", "select(vec4(0f), vec4(1f), (b < a))"),
        ("ge.v0 $0 $0 $1", "select(vec4(0f), vec4(1f), (b <= a))"),
        ("eq.v0 $0 $0 $1", "select(vec4(0f), vec4(1f), (a == b))"),
        ("min.v0 $0 $0 $1", "min(a, b)"),
        ("max.v0 $0 $0 $1", "max(a, b)"),
        ("mov.v0 $0 $1", "b"),
        // The adders.
        ("add.v1 $0 $0 $1", "(a + b)"),
        ("fract.v1 $0 $1", "fract(b)"),
        ("ne.v1 $0 $0 $1", "select(vec4(0f), vec4(1f), (a != b))"),
        ("gt.v1 $0 $0 $1", "select(vec4(0f), vec4(1f), (b < a))"),
        ("ge.v1 $0 $0 $1", "select(vec4(0f), vec4(1f), (b <= a))"),
        ("eq.v1 $0 $0 $1", "select(vec4(0f), vec4(1f), (a == b))"),
        ("floor.v1 $0 $1", "floor(b)"),
        ("ceil.v1 $0 $1", "ceil(b)"),
        ("min.v1 $0 $0 $1", "min(a, b)"),
        ("max.v1 $0 $0 $1", "max(a, b)"),
        ("mov.v1 $0 $1", "b"),
        ("sum3.v1 $0 $1", "vec4((b.x + (b.y + b.z)))"),
        ("sum4.v1 $0 $1", "vec4(((b.x + b.y) + (b.z + b.w)))"),
        ("sum3.v1 $0.x $1.wzyx", "vec4<f32>((b.w + (b.z + b.y)), a.yzw)"),
        // Scalars of both units.
        ("mul.s0 $0.y $0.x $1.w", "vec4<f32>(a.x, (a.x * b.w), a.zw)"),
        ("add.s1 $0.x $0.x $1.w", "vec4<f32>((a.x + b.w), a.yzw)"),
        (
            "mul.s0 $1.y $1.z, add.s1 $0.x ^s0 $1.w",
            "vec4<f32>(((b.y * b.z) + b.w), a.yzw)",
        ),
        (
            "mul.s0 $1.y $1.z, add.s1 $0.x -abs(^s0) $1.w",
            "vec4<f32>((b.w - abs((b.y * b.z))), a.yzw)",
        ),
        (
            "mul.s0 $1.y $1.z, sel.v1 $0 $0 $1",
            "select(b, a, vec4(((b.y * b.z) != 0f)))",
        ),
        ("mul.v0 $0 $1, add.v1 $0 ^v0.wzyx $1", "((a * b).wzyx + b)"),
        // The combine unit.
        ("rcp.s2 $0.x $1.y", "vec4<f32>((1f / b.y), a.yzw)"),
        ("mov.s2 $0.x $1.y", "vec4<f32>(b.y, a.yzw)"),
        ("sqrt.s2 $0.x $1.y", "vec4<f32>(sqrt(b.y), a.yzw)"),
        ("rsqrt.s2 $0.x $1.y", "vec4<f32>(inverseSqrt(b.y), a.yzw)"),
        ("exp2.s2 $0.x $1.y", "vec4<f32>(exp2(b.y), a.yzw)"),
        ("log2.s2 $0.x $1.y", "vec4<f32>(log2(b.y), a.yzw)"),
        ("sin.s2 $0.x $1.y", "vec4<f32>(sin((b.y * 6.2831855f)), a.yzw)"),
        ("cos.s2 $0.x $1.y", "vec4<f32>(cos((b.y * 6.2831855f)), a.yzw)"),
        ("mul.v2 $0 $1.x $1", "(b.xxxx * b)"),
        ("mul.v2 $0.yz $1.x $1", "vec4<f32>(a.x, (b.xx * b.yz), a.w)"),
        (
            "atan_pt1.v2 $2.xyz $1.y\natan_pt2.s2 $0.x $2.xyzw",
            "vec4<f32>(atan(b.y), a.yzw)",
        ),
        (
            "atan2_pt1.v2 $2.xyz $1.y $1.z\natan_pt2.s2 $0.x $2.xyzw",
            "vec4<f32>(atan2(b.y, b.z), a.yzw)",
        ),
        // Modifiers.
        ("mov.sat.v0 $0 $1", "saturate(b)"),
        ("mov.pos.v1 $0 $1", "max(b, vec4(0f))"),
        ("mov.int.v0 $0 $1", "trunc(b)"),
        ("mov.sat.s0 $0.x $1.y", "vec4<f32>(saturate(b.y), a.yzw)"),
        ("mov.int.s1 $0.x $1.y", "vec4<f32>(trunc(b.y), a.yzw)"),
        ("rcp.pos.s2 $0.x $1.y", "vec4<f32>(max((1f / b.y), 0f), a.yzw)"),
        ("mov.v0 $0 -$1", "-(b)"),
        ("mov.v0 $0 abs($1)", "abs(b)"),
        ("mov.v0 $0 -abs($1.xxyy)", "-(abs(b.xxyy))"),
        ("mov.s2 $0.x -abs($1.y)", "vec4<f32>(-(abs(b.y)), a.yzw)"),
        // Constants, loads and stores.
        (
            "add.v1 $0 $0 ^const0, const0 1.0 2.0 3.0 4.0",
            "(a + vec4<f32>(1f, 2f, 3f, 4f))",
        ),
        ("add.v1 $0 $0 ^const1.x, const1 0.5", "(a + vec4(0.5f))"),
        (
            "load.u 0.y, mov.v0 $0 ^uniform",
            "let t0 = uniforms.u; return Output(vec4<f32>(t0.y, vec3(0f)));",
        ),
        ("store.t -1 $1\nload.t -1, mov.v0 $0 ^uniform", "b"),
        (
            "store.t -1.y $1.z\nload.t -1.y, mov.s0 $0.x ^uniform.x",
            "vec4<f32>(b.z, a.yzw)",
        ),
        (
            "store.t -2.zw $1.z\nload.t -2.zw, mov.v0 $0.xy ^uniform",
            "vec4<f32>(b.zw, a.zw)",
        ),
        (
            "load.v $0 gl_FragCoord",
            "vec4<f32>(frag_coord.x, (64f - frag_coord.y), frag_coord.z, (1f / frag_coord.w))",
        ),
        (
            "load.v $0.x gl_FrontFacing",
            "vec4<f32>(select(0f, 1f, front_facing), a.yzw)",
        ),
        ("load.v $0 divide_w($1)", "vec4<f32>((b.xyz / b.www), 1f)"),
        ("load.v $0 divide_z($1)", "vec4<f32>((b.xy / b.zz), 1f, b.w)"),
        ("load.v $0.xyz normalize($1)", "vec4<f32>(normalize(b.xyz), a.w)"),
        ("load.v $0.xy 1.zw", "vec4<f32>(vec2<f32>(b.z, b.w), a.zw)"),
        ("load.v $0.x 1.w", "vec4<f32>(b.w, a.yzw)"),
        // What is written is what the mask has, of pipeline registers nothing.
        ("mul.v0 $0 $1", "a"),
        ("mov.v0 $0.yw $1.xyzw", "vec4<f32>(a.x, b.y, a.z, b.w)"),
        (
            "op18.v0 $0 $1 $1",
            "mbs: unsupported: multiplier operation 18 is not known (at instruction 7)",
        ),
        (
            "op1.v1 $0 $1 $1",
            "mbs: unsupported: adder operation 1 is not known (at instruction 7)",
        ),
        (
            "op8.s2 $0.x $1.x",
            "mbs: unsupported: combine operation 8 is not known (at instruction 7)",
        ),
        (
            "op10.v2 $0 $1.x $1.y",
            "mbs: unsupported: combine operation 10 is not known (at instruction 7)",
        ),
        (
            "dFdx.v1 $0 $1 -$0, sync",
            "mbs: unsupported: a derivative of two different values (at instruction 7)",
        ),
    ];
    are(rows, |code| {
        let text = fragment(code, &options(false, true));
        text.strip_prefix("return Output(")
            .and_then(|rest| rest.strip_suffix(");"))
            .map_or(text.clone(), str::to_owned)
    });
}

#[test]
fn fragment_statements_are_structured() {
    let rows: &[(&str, &str)] = &[
        (
            "load.u 0, mov.v0 $0 ^uniform",
            "let t0 = uniforms.u; return Output(t0);",
        ),
        (
            "load.u 0.zw, mov.v0 $0.xy ^uniform",
            "let t0 = uniforms.u; return Output(vec4<f32>(vec2<f32>(t0.z, t0.w), a.zw));",
        ),
        (
            "load.u 2, mov.v0 $0 ^uniform",
            "let t0 = uniforms.list[1]; return Output(t0);",
        ),
        (
            "load.u 1+$1.x, mov.v0 $0 ^uniform",
            "var uniform_table: array<f32, 16>; let t0 = uniforms.u; uniform_table[0] = t0.x; uniform_table[1] = t0.y; uniform_table[2] = t0.z; uniform_table[3] = t0.w; let t1 = uniforms.list[0]; uniform_table[4] = t1.x; uniform_table[5] = t1.y; uniform_table[6] = t1.z; uniform_table[7] = t1.w; let t2 = uniforms.list[1]; uniform_table[8] = t2.x; uniform_table[9] = t2.y; uniform_table[10] = t2.z; uniform_table[11] = t2.w; let t3 = uniforms.list[2]; uniform_table[12] = t3.x; uniform_table[13] = t3.y; uniform_table[14] = t3.z; uniform_table[15] = t3.w; let t4 = ((trunc(b.x) + 1f) * 4f); let t5 = uniform_table[u32(clamp(t4, 0f, 15f))]; let t6 = uniform_table[u32(clamp((t4 + 1f), 0f, 15f))]; let t7 = uniform_table[u32(clamp((t4 + 2f), 0f, 15f))]; let t8 = uniform_table[u32(clamp((t4 + 3f), 0f, 15f))]; return Output(vec4<f32>(t5, t6, t7, t8));",
        ),
        (
            "load.v ^discard.xy 0.xy, texld 0, mov.v0 $0 ^texture, sync",
            "let t0 = textureSample(s, s_sampler, vec2<f32>(a.x, a.y)); return Output(t0);",
        ),
        (
            "load.v ^discard.xy 0.xy, texld.b 0 $1.x, mov.v0 $0 ^texture, sync",
            "let t0 = textureSampleBias(s, s_sampler, vec2<f32>(a.x, a.y), b.x); return Output(t0);",
        ),
        (
            "load.v ^discard.xy 0.xy, texld.l 0 $1.x, mov.v0 $0 ^texture, sync",
            "let t0 = textureSampleLevel(s, s_sampler, vec2<f32>(a.x, a.y), b.x); return Output(t0);",
        ),
        (
            "load.v ^discard. cube($1), texld.cube 1, mov.v0 $0 ^texture, sync",
            "let t0 = textureSample(c, c_sampler, b.xyz); return Output(t0);",
        ),
        (
            "load.v $1 0\nload.v ^discard.xy 0.xy, texld.b 0 $1.x, mov.v0 $0 ^texture, sync",
            "let t0 = textureSampleBias(s, s_sampler, vec2<f32>(a.x, a.y), b.x); return Output(t0);",
        ),
        ("dFdx.v1 $0 $1 -$1, sync", "let t0 = dpdxFine(b); return Output(t0);"),
        ("dFdy.v1 $0 $1 -$1, sync", "let t0 = dpdyFine(b); return Output(-(t0));"),
        (
            "dFdy.s1 $0.x -$1.y $1.y, sync",
            "let t0 = dpdyFine(-(b.y)); return Output(vec4<f32>(-(t0), a.yzw));",
        ),
        (
            "dFdx.v1 $0 ^const0 -^const0, const0 1.0 2.0 3.0 4.0, sync",
            "let t0 = dpdxFine(vec4<f32>(1f, 2f, 3f, 4f)); return Output(t0);",
        ),
        (
            "branch.ne $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; if ((a.x < b.y) || (b.y < a.x)) { t0 = a.x; } else { t0 = b.x; } let t1 = t0; return Output(vec4<f32>(t1, a.yzw));",
        ),
        (
            "branch.gt $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; if (b.y < a.x) { t0 = a.x; } else { t0 = b.x; } let t1 = t0; return Output(vec4<f32>(t1, a.yzw));",
        ),
        (
            "branch.ge $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; if (b.y <= a.x) { t0 = a.x; } else { t0 = b.x; } let t1 = t0; return Output(vec4<f32>(t1, a.yzw));",
        ),
        (
            "branch.lt $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; if (a.x < b.y) { t0 = a.x; } else { t0 = b.x; } let t1 = t0; return Output(vec4<f32>(t1, a.yzw));",
        ),
        (
            "branch.le $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; if (a.x <= b.y) { t0 = a.x; } else { t0 = b.x; } let t1 = t0; return Output(vec4<f32>(t1, a.yzw));",
        ),
        (
            "branch.eq $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; if (a.x == b.y) { t0 = a.x; } else { t0 = b.x; } let t1 = t0; return Output(vec4<f32>(t1, a.yzw));",
        ),
        (
            "branch.never $0.x $1.y l\nmov.s0 $0.x $1.x\nl: nop",
            "return Output(vec4<f32>(b.x, a.yzw));",
        ),
        (
            "branch l\nmov.s0 $0.x $1.x\nl: nop",
            "var t0: f32; var t1: f32; var t2: f32; var t3: f32; t3 = a.w; t2 = a.z; t1 = a.y; t0 = a.x; let t4 = t3; let t5 = t2; let t6 = t1; let t7 = t0; return Output(vec4<f32>(t7, t6, t5, t4));",
        ),
        (
            "branch.gt $0.x $1.y l\ndiscard\nl: nop",
            "if (b.y < a.x) { return Output(a); } else { discard; return Output();",
        ),
        (
            "l: mov.s1 $0.x $1.x\nbranch.gt $0.x $1.y l\nnop",
            "loop { if (b.y < b.x) { } else { return Output(vec4<f32>(b.x, a.yzw)); } } return Output();",
        ),
        (
            "store.t -4+$1.x $0\nload.t -4+$1.y, mov.v0 $0 ^uniform",
            "var temporaries: array<f32, 2048>; let t0 = ((trunc(b.x) + -4f) * 4f); temporaries[u32(clamp((t0 + 1024f), 0f, 2047f))] = a.x; temporaries[u32(clamp((t0 + 1025f), 0f, 2047f))] = a.y; temporaries[u32(clamp((t0 + 1026f), 0f, 2047f))] = a.z; temporaries[u32(clamp((t0 + 1027f), 0f, 2047f))] = a.w; let t1 = ((trunc(b.y) + -4f) * 4f); let t2 = temporaries[u32(clamp((t1 + 1024f), 0f, 2047f))]; let t3 = temporaries[u32(clamp((t1 + 1025f), 0f, 2047f))]; let t4 = temporaries[u32(clamp((t1 + 1026f), 0f, 2047f))]; let t5 = temporaries[u32(clamp((t1 + 1027f), 0f, 2047f))]; return Output(vec4<f32>(t2, t3, t4, t5));",
        ),
        // What reads for people: differences, quotients, dot products, normalised vectors.
        ("add.v1 $0 $0 -$1", "return Output((a - b));"),
        (
            "rcp.s2 $1.x $1.y\nmul.s0 $0.x $0.x $1.x",
            "return Output(vec4<f32>((a.x / b.y), a.yzw));",
        ),
        (
            "mul.v0 $1.xyz $0 $1, sum3.v1 $0.x ^v0",
            "return Output(vec4<f32>(dot(a.xyz, b.xyz), a.yzw));",
        ),
        (
            "mul.v0 $1.xyz $0 $0, sum3.v1 $0.w ^v0\nrsqrt.s2 $0.w $0.w\nmul.v2 $0.xyz $0.w $0",
            "let t0 = inverseSqrt(dot(a.xyz, a.xyz)); return Output(vec4<f32>((vec3(t0) * a.xyz), t0));",
        ),
        ("mul.v0 $0 $0 ^const0.x, const0 1.0", "return Output(a);"),
        (
            "mul.v0 $1.xy $0 $1, add.v1 $0.x ^v0.x $1.y",
            "return Output(vec4<f32>(dot(a.xy, b.xy), a.yzw));",
        ),
        (
            "mul.v0 $2.xy $0 $1\nadd.s1 $0.x $2.x $2.y",
            "return Output(vec4<f32>(dot(a.xy, b.xy), a.yzw));",
        ),
        (
            "mul.v0 $2.xy $0 $0.yyyy\nadd.s1 $0.x $2.x $2.y",
            "return Output(vec4<f32>(dot(a.xy, a.yy), a.yzw));",
        ),
        (
            "mul.v0 $2 $0 $1\nsum4.v1 $0.x $2",
            "return Output(vec4<f32>(dot(a, b), a.yzw));",
        ),
        (
            "mul.v0 $2 $0 $1\nadd.s1 $0.x $2.x $1.y",
            "return Output(vec4<f32>(((a * b).x + b.y), a.yzw));",
        ),
        // Of three products, one side's factors may be of several vectors; of two, only if both sides are the same.
        (
            "mov.s0 $3.x $1.w\nmov.v0 $3.yz $0\nmul.v0 $2 $3 $1\nsum3.v1 $0.x $2",
            "return Output(vec4<f32>(dot(b.wyz, vec3<f32>(b.x, a.yz)), a.yzw));",
        ),
        (
            "mov.s0 $3.x $1.w\nmov.v0 $3.yz $0\nmul.v0 $2 $1 $3\nsum3.v1 $0.x $2",
            "return Output(vec4<f32>(dot(b.xyz, vec3<f32>(b.w, a.yz)), a.yzw));",
        ),
        (
            "mov.s0 $3.x $1.w\nmov.v0 $3.y $0\nmul.v0 $2 $1 $3\nadd.s1 $0.x $2.x $2.y",
            "let t0 = (b * vec4<f32>(b.w, a.y, vec2(0f))); return Output(vec4<f32>((t0.x + t0.y), a.yzw));",
        ),
        (
            "mov.s0 $3.x $1.w\nmov.v0 $3.y $0\nmul.v0 $2 $3 $3\nadd.s1 $0.x $2.x $2.y",
            "return Output(vec4<f32>(dot(vec2<f32>(b.w, a.y), vec2<f32>(b.w, a.y)), a.yzw));",
        ),
        (
            "mul.v0 $2 $0 $1\nmul.v0 $3 $1 $0.wzyx\nsum3.v1 $0.x $2\nsum3.v1 $0.y $3\nadd.s1 $0.x $0.x $0.y",
            "let t0 = dot(b.xyz, a.wzy); return Output(vec4<f32>((dot(a.xyz, b.xyz) + t0), t0, a.zw));",
        ),
        // A vector is normalised by the reciprocal root of its own square only.
        (
            "mul.v0 $2.xyz $1 $1, sum3.v1 $2.w ^v0\nrsqrt.s2 $2.w $2.w\nmul.s0 $0.y $1.y $2.w\nmul.s0 $0.x $2.w $1.x",
            "return Output(vec4<f32>(normalize(b.xyz).xy, a.zw));",
        ),
        (
            "mul.v0 $2.xyz $1 $1, sum3.v1 $2.w ^v0\nrsqrt.s2 $2.w $2.w\nmul.s0 $0.y $0.y $2.w",
            "return Output(vec4<f32>(a.x, (a.y * inverseSqrt(dot(b.xyz, b.xyz))), a.zw));",
        ),
        (
            "mul.v0 $2.xyz $1 $1, sum3.v1 $2.w ^v0\nrsqrt.s2 $2.w $2.w\nmul.s0 $0.y $1.w $2.w",
            "return Output(vec4<f32>(a.x, (b.w * inverseSqrt(dot(b.xyz, b.xyz))), a.zw));",
        ),
        (
            "mul.v0 $2.xyz $1 $0, sum3.v1 $2.w ^v0\nrsqrt.s2 $2.w $2.w\nmul.s0 $0.y $1.y $2.w",
            "return Output(vec4<f32>(a.x, (b.y * inverseSqrt(dot(b.xyz, a.xyz))), a.zw));",
        ),
        (
            "mul.v0 $2.xyz $1 $1, sum3.v1 $2.w ^v0\nsqrt.s2 $2.w $2.w\nmul.s0 $0.y $1.y $2.w",
            "return Output(vec4<f32>(a.x, (b.y * sqrt(dot(b.xyz, b.xyz))), a.zw));",
        ),
        // The operands in either order.
        ("add.v1 $0 -$0 $1", "return Output((b - a));"),
        (
            "rcp.s2 $1.x $1.y\nmul.s0 $0.x $1.x $0.x",
            "return Output(vec4<f32>((a.x / b.y), a.yzw));",
        ),
        (
            "mov.s2 $1.x -$1.y\nadd.v1 $0 $0 $1.xxxx",
            "return Output((a - b.yyyy));",
        ),
        ("mul.v0 $0 ^const0.x $0, const0 1.0", "return Output(a);"),
        ("add.v1 $0 ^const0.x $0, const0 0.0", "return Output(a);"),
        (
            "add.v1 $0 ^const0 $0, const0 0.0 0.0 0.0 1.0",
            "return Output((vec4<f32>(vec3(0f), 1f) + a));",
        ),
        (
            "mul.v0 $0 $0 ^const0, const0 1.0 1.0 1.0 0.5",
            "return Output((a * vec4<f32>(vec3(1f), 0.5f)));",
        ),
        (
            "mov.v0 $1 -^const0, const0 1.0 1.0 1.0 1.0\nadd.v1 $0 $0 $1",
            "return Output((a + vec4<f32>(-1f, -1f, -1f, -1f)));",
        ),
        (
            "mov.v0 $1 -^const0, const0 1.0 2.0 1.0 1.0\nadd.v1 $0 $0 $1",
            "return Output((a - vec4<f32>(1f, 2f, vec2(1f))));",
        ),
        // Computed places: of an input, of a store, of a load.
        (
            "load.v $0 0+$1.x",
            "var inputs: array<f32, 64>; inputs[0] = a.x; inputs[1] = a.y; inputs[2] = a.z; inputs[3] = a.w; inputs[4] = b.x; inputs[5] = b.y; inputs[6] = b.z; inputs[7] = b.w; let t0 = (trunc(b.x) * 4f); let t1 = inputs[u32(clamp(t0, 0f, 63f))]; let t2 = inputs[u32(clamp((t0 + 1f), 0f, 63f))]; let t3 = inputs[u32(clamp((t0 + 2f), 0f, 63f))]; let t4 = inputs[u32(clamp((t0 + 3f), 0f, 63f))]; return Output(vec4<f32>(t1, t2, t3, t4));",
        ),
        (
            "store.t -4+$1.x $0\nload.t -4, mov.v0 $0 ^uniform",
            "var temporaries: array<f32, 2048>; let t0 = ((trunc(b.x) + -4f) * 4f); temporaries[u32(clamp((t0 + 1024f), 0f, 2047f))] = a.x; temporaries[u32(clamp((t0 + 1025f), 0f, 2047f))] = a.y; temporaries[u32(clamp((t0 + 1026f), 0f, 2047f))] = a.z; temporaries[u32(clamp((t0 + 1027f), 0f, 2047f))] = a.w; let t1 = temporaries[u32(clamp(1008f, 0f, 2047f))]; let t2 = temporaries[u32(clamp(1009f, 0f, 2047f))]; let t3 = temporaries[u32(clamp(1010f, 0f, 2047f))]; let t4 = temporaries[u32(clamp(1011f, 0f, 2047f))]; return Output(vec4<f32>(t1, t2, t3, t4));",
        ),
        (
            "load.t -4+$1.x, mov.v0 $0 ^uniform",
            "var temporaries: array<f32, 2048>; let t0 = ((trunc(b.x) + -4f) * 4f); let t1 = temporaries[u32(clamp((t0 + 1024f), 0f, 2047f))]; let t2 = temporaries[u32(clamp((t0 + 1025f), 0f, 2047f))]; let t3 = temporaries[u32(clamp((t0 + 1026f), 0f, 2047f))]; let t4 = temporaries[u32(clamp((t0 + 1027f), 0f, 2047f))]; return Output(vec4<f32>(t1, t2, t3, t4));",
        ),
        // Out of the inner of two loops to the head of the outer.
        (
            "l: mov.s1 $0.x $1.x\nm: add.s1 $0.x $0.x $1.y\nbranch.gt $0.x $1.y out\nbranch.gt $0.x $1.z m\nbranch.gt $0.x $1.w l\nmov.s0 $0.y $1.x\nout: nop",
            "var v8_: f32; var t0: f32; var t1: f32; var target_: u32; loop { t0 = b.x; loop { target_ = 0u; switch 0i { default: { let t2 = t0; v8_ = (t2 + b.y); let t3 = v8_; if (b.y < t3) { t1 = a.y; } else { let t4 = v8_; if (b.z < t4) { let t5 = v8_; t0 = t5; continue; } else { let t6 = v8_; if (b.w < t6) { target_ = 2u; break; } else { t1 = b.x; } } } } } let t7 = target_; if (t7 == 2u) { break; } let t8 = t1; let t9 = v8_; return Output(vec4<f32>(t9, t8, a.zw)); } } return Output();",
        ),
        ("add.v1 $0 $0 ^const0.x, const0 0.0", "return Output(a);"),
        ("mov.v0 $1 -$0\nmov.v0 $0 -$1", "return Output(a);"),
    ];
    are(rows, |code| fragment(code, &options(false, true)));
}

#[test]
fn exact_programs_round_what_registers_store() {
    let rows: &[(&str, &str)] = &[
        (
            "mul.v0 $0 $0 $1",
            "let t0 = quantizeToF16(a); let t1 = quantizeToF16(b); let t2 = quantizeToF16((select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f))) * select(t1, vec4(0f), (abs(t1) < vec4(0.000061035156f))))); return Output(select(t2, vec4(0f), (abs(t2) < vec4(0.000061035156f))));",
        ),
        (
            "mul.v0 $1 $0 $1\nmov.v0 $0 $1",
            "let t0 = quantizeToF16(a); let t1 = quantizeToF16(b); let t2 = quantizeToF16((select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f))) * select(t1, vec4(0f), (abs(t1) < vec4(0.000061035156f))))); return Output(select(t2, vec4(0f), (abs(t2) < vec4(0.000061035156f))));",
        ),
        (
            "add.v1 $0 $0 ^const0.x, const0 -0.0",
            "let t0 = quantizeToF16(a); return Output(select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f))));",
        ),
        (
            "add.v1 $0 $0 ^const0.x, const0 0.0",
            "let t0 = quantizeToF16(a); let t1 = quantizeToF16((select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f))) + vec4(0f))); return Output(select(t1, vec4(0f), (abs(t1) < vec4(0.000061035156f))));",
        ),
        (
            "rcp.s2 $1.x $1.y\nmul.s0 $0.x $0.x $1.x",
            "let t0 = quantizeToF16(a); let t1 = select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f))); let t2 = quantizeToF16(b); let t3 = quantizeToF16((1f / select(t2, vec4(0f), (abs(t2) < vec4(0.000061035156f))).y)); let t4 = quantizeToF16((t1.x * select(t3, 0f, (abs(t3) < 0.000061035156f)))); return Output(vec4<f32>(select(t4, 0f, (abs(t4) < 0.000061035156f)), t1.yzw));",
        ),
        (
            "dFdy.v1 $0 $1 -$1, sync",
            "let t0 = quantizeToF16(b); let t1 = dpdyFine(select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f)))); let t2 = quantizeToF16(t1); return Output(select(t2, vec4(0f), (abs(t2) < vec4(0.000061035156f))));",
        ),
        (
            "load.v $0 gl_FragCoord",
            "let t0 = quantizeToF16(vec4<f32>(frag_coord.x, frag_coord.y, frag_coord.z, (1f / frag_coord.w))); return Output(select(t0, vec4(0f), (abs(t0) < vec4(0.000061035156f))));",
        ),
    ];
    are(rows, |code| fragment(code, &options(true, false)));
}

#[test]
fn vertex_operations_are_expressions() {
    let rows: &[(&str, &str)] = &[
        (
            "add.a0 v1.x a0.x t[2].y",
            "(((b.y - t2.y) / t1.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t3.x, -(t3.y), t3.z, t3.w), (a.x + t0.y)",
        ),
        (
            "add.a0 v1.x -a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), (a.y - a.x)",
        ),
        (
            "add.a1 v1.x a0.x -a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), (a.x - a.y)",
        ),
        (
            "mov.a0 v1.x -a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), -(a.y)",
        ),
        (
            "floor.a0 v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), floor(a.x)",
        ),
        (
            "sign.a0 v1.x -a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), sign(-(a.x))",
        ),
        (
            "ge.a0 v1.x a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), select(0f, 1f, (a.y <= a.x))",
        ),
        (
            "lt.a0 v1.x a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), select(0f, 1f, (a.x < a.y))",
        ),
        (
            "min.a0 v1.x a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), min(a.x, a.y)",
        ),
        (
            "max.a1 v1.x a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), max(a.x, a.y)",
        ),
        (
            "mul.m0 v1.x a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), (a.x * a.y)",
        ),
        (
            "mul.m1 v1.x a0.x -a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), -((a.x * a.y))",
        ),
        (
            "mov.m1 v1.x -a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), -(a.y)",
        ),
        (
            "sel.m01 v1.x a0.x a0.y a0.z",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), select(a.y, a.z, (a.x != 0f))",
        ),
        (
            "complex2.m0 v1.x a0.x a0.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), (a.x * a.y)",
        ),
        (
            "complex1.m01 v1.x a0.x a0.y a0.z a0.w",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.x",
        ),
        (
            "exp2.c v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), exp2(a.x)",
        ),
        (
            "log2.c v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), log2(a.x)",
        ),
        (
            "rsqrt.c v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), inverseSqrt(a.x)",
        ),
        (
            "rcp.c v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), (1f / a.x)",
        ),
        (
            "mov.c v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.x",
        ),
        (
            "mov.p v1.x a0.z",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.z",
        ),
        (
            "preexp2.p v1.x a0.z",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.z",
        ),
        (
            "clamp.p v1.x a0.x t[2].x t[2].y",
            "(((b.y - t2.y) / t1.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t3.x, -(t3.y), t3.z, t3.w), min(max(a.x, t0.x), t0.y)",
        ),
        (
            "mov.p v1.x t[2].w",
            "(((b.y - t2.y) / t1.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t3.x, -(t3.y), t3.z, t3.w), t0.w",
        ),
        (
            "mov.a0 _ a0.x\nmov.p v1.x ^acc0",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.x",
        ),
        (
            "mov.m1 _ a0.x\nnop\nmov.p v1.x ^^mul1",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.x",
        ),
        (
            "load a1\nmov.p v1.x ^port.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), b.y",
        ),
        (
            "mov.p $3.y a0.x\nnop\nmov.p v1.x $3.y@0",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.x",
        ),
        (
            "mov.p $3.y a0.x\nnop\nmov.p v1.x $3.y",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), a.x",
        ),
        (
            "op3.a0 v1.x a0.x a0.y",
            "mbs: unsupported: adder operation 3 is not known (at instruction 0)",
        ),
        (
            "op2.m0 v1.x a0.x a0.y",
            "mbs: unsupported: multiplier operation 2 is not known (at instruction 0)",
        ),
        (
            "op0.p v1.x a0.x",
            "mbs: unsupported: pass operation 0 is not known (at instruction 0)",
        ),
        (
            "op1.c v1.x a0.x",
            "(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), 0f",
        ),
        (
            "mov.p v1.x ?8",
            "mbs: unsupported: source 8 is not known (at instruction 0)",
        ),
        (
            "mov.p _ a0.x, set store0_x 5",
            "mbs: unsupported: store source 5 is not known (at instruction 0)",
        ),
    ];
    are(rows, |code| {
        let text = vertex(code, &options(false, true));
        // Behind the position.
        let last = text.split_once(".w), ").and_then(|(_, rest)| rest.strip_suffix(");"));
        last.map_or(text.clone(), str::to_owned)
    });
}

#[test]
fn vertex_programs_have_positions_memory_and_branches() {
    let rows: &[(&str, &str)] = &[
        (
            "nop",
            "let t0 = uniforms.gl_mali_ViewportTransform[0]; let t1 = uniforms.gl_mali_ViewportTransform[1]; let t2 = vec4<f32>((((b.x - t1.x) / t0.x) / b.w), (((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t2.x, -(t2.y), t2.z, t2.w), 0f);",
        ),
        (
            "temp_load_addr_1.c _ a0.x\nnop\nnop\nnop\nmov.p v1.x t[0+a1].y",
            "var uniform_table: array<f32, 12>; let t0 = uniforms.gl_mali_ViewportTransform[0]; uniform_table[0] = t0.x; uniform_table[1] = t0.y; uniform_table[2] = t0.z; uniform_table[3] = t0.w; let t1 = uniforms.gl_mali_ViewportTransform[1]; uniform_table[4] = t1.x; uniform_table[5] = t1.y; uniform_table[6] = t1.z; uniform_table[7] = t1.w; let t2 = uniforms.u; uniform_table[8] = t2.x; uniform_table[9] = t2.y; uniform_table[10] = t2.z; uniform_table[11] = t2.w; let t3 = uniform_table[u32(clamp(((trunc(a.x) * 4f) + 1f), 0f, 11f))]; let t4 = vec4<f32>((((b.x - t1.x) / t0.x) / b.w), (((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t4.x, -(t4.y), t4.z, t4.w), t3);",
        ),
        (
            "temp_load_addr_2.c _ a0.x\nnop\nnop\nnop\nmov.p v1.x t[0+a2].y",
            "var uniform_table: array<f32, 12>; let t0 = uniforms.gl_mali_ViewportTransform[0]; uniform_table[0] = t0.x; uniform_table[1] = t0.y; uniform_table[2] = t0.z; uniform_table[3] = t0.w; let t1 = uniforms.gl_mali_ViewportTransform[1]; uniform_table[4] = t1.x; uniform_table[5] = t1.y; uniform_table[6] = t1.z; uniform_table[7] = t1.w; let t2 = uniforms.u; uniform_table[8] = t2.x; uniform_table[9] = t2.y; uniform_table[10] = t2.z; uniform_table[11] = t2.w; let t3 = uniform_table[u32(clamp(((trunc(a.x) * 4f) + 1f), 0f, 11f))]; let t4 = vec4<f32>((((b.x - t1.x) / t0.x) / b.w), (((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t4.x, -(t4.y), t4.z, t4.w), t3);",
        ),
        (
            "temp_load_addr_3.c _ a0.x\nnop\nnop\nnop\nmov.p v1.x t[0+a3].y",
            "var uniform_table: array<f32, 12>; let t0 = uniforms.gl_mali_ViewportTransform[0]; uniform_table[0] = t0.x; uniform_table[1] = t0.y; uniform_table[2] = t0.z; uniform_table[3] = t0.w; let t1 = uniforms.gl_mali_ViewportTransform[1]; uniform_table[4] = t1.x; uniform_table[5] = t1.y; uniform_table[6] = t1.z; uniform_table[7] = t1.w; let t2 = uniforms.u; uniform_table[8] = t2.x; uniform_table[9] = t2.y; uniform_table[10] = t2.z; uniform_table[11] = t2.w; let t3 = uniform_table[u32(clamp(((trunc(a.x) * 4f) + 1f), 0f, 11f))]; let t4 = vec4<f32>((((b.x - t1.x) / t0.x) / b.w), (((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t4.x, -(t4.y), t4.z, t4.w), t3);",
        ),
        (
            "temp_addr_pair.c _ a0.x, mov.p _ a0.y\nnop\nnop\nnop\nmov.p v1.x t[0+a1].y",
            "var uniform_table: array<f32, 12>; let t0 = uniforms.gl_mali_ViewportTransform[0]; uniform_table[0] = t0.x; uniform_table[1] = t0.y; uniform_table[2] = t0.z; uniform_table[3] = t0.w; let t1 = uniforms.gl_mali_ViewportTransform[1]; uniform_table[4] = t1.x; uniform_table[5] = t1.y; uniform_table[6] = t1.z; uniform_table[7] = t1.w; let t2 = uniforms.u; uniform_table[8] = t2.x; uniform_table[9] = t2.y; uniform_table[10] = t2.z; uniform_table[11] = t2.w; let t3 = uniform_table[u32(clamp(((trunc(a.y) * 4f) + 1f), 0f, 11f))]; let t4 = vec4<f32>((((b.x - t1.x) / t0.x) / b.w), (((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t4.x, -(t4.y), t4.z, t4.w), t3);",
        ),
        (
            "temp_store_addr.c _ a0.x\nmov.p t[].y a0.z\nnop\nmov.p v1.x t[3].y",
            "var temporaries: array<f32, 2048>; let t0 = uniforms.gl_mali_ViewportTransform[0]; let t1 = uniforms.gl_mali_ViewportTransform[1]; temporaries[u32(clamp(((trunc(a.x) * 4f) + 1f), 0f, 2047f))] = a.z; let t2 = temporaries[u32(clamp(13f, 0f, 2047f))]; let t3 = vec4<f32>((((b.x - t1.x) / t0.x) / b.w), (((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t3.x, -(t3.y), t3.z, t3.w), t2);",
        ),
        (
            "mov.p _ a0.x, branch l\nmov.p v1.x a0.y\nl: nop",
            "var t0: f32; let t1 = uniforms.gl_mali_ViewportTransform[0]; let t2 = uniforms.gl_mali_ViewportTransform[1]; if (a.x != 0f) { t0 = 0f; } else { t0 = a.y; } let t3 = t0; let t4 = vec4<f32>((((b.x - t2.x) / t1.x) / b.w), (((b.y - t2.y) / t1.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t4.x, -(t4.y), t4.z, t4.w), t3);",
        ),
        (
            "ge.a0 _ a0.x a0.y\nmov.p _ ^acc0, branch l\nmov.p v1.x a0.y\nl: nop",
            "var t0: f32; let t1 = uniforms.gl_mali_ViewportTransform[0]; let t2 = uniforms.gl_mali_ViewportTransform[1]; if (a.y <= a.x) { t0 = 0f; } else { t0 = a.y; } let t3 = t0; let t4 = vec4<f32>((((b.x - t2.x) / t1.x) / b.w), (((b.y - t2.y) / t1.y) / b.w), (b.z / b.w), (1f / b.w)); return Output(vec4<f32>(t4.x, -(t4.y), t4.z, t4.w), t3);",
        ),
    ];
    are(rows, |code| vertex(code, &options(false, true)));
    let plain = vertex("nop", &options(false, false));
    assert!(
        plain.ends_with("(((b.y - t1.y) / t0.y) / b.w), (b.z / b.w), (1f / b.w)), 0f);"),
        "{plain}"
    );
    // The viewport may be given instead.
    let given = Options {
        viewport: Some([8.0, -4.0, 0.5, 0.0, 9.0, 7.0, 0.5, 0.0]),
        ..options(false, true)
    };
    let given = vertex("nop", &given);
    assert!(
        given.contains("(((b.x + -9f) / 8f) / b.w), (((b.y + -7f) / -4f) / b.w), (b.z / b.w), (1f / b.w)"),
        "{given}"
    );
}

/// What computes a position: b divided by w, scaled by the viewport, and moved.
const POSITION: [&str; 4] = [
    "rcp.c $1.x a1.w",
    "mul.m0 $2.x a1.x $1.x, mul.m1 $2.y a1.y $1.x\nmul.m0 $2.z a1.z $1.x",
    "mul.m0 $3.x $2.x t[1].x, mul.m1 $3.y $2.y t[1].y\nmul.m0 $3.z $2.z t[1].z",
    "add.a0 v0.x $3.x t[2].x, add.a1 v0.y t[2].y $3.y\nadd.a0 v0.z $3.z t[2].z\nmov.p v0.w $1.x",
];

#[test]
fn positions_are_those_before_the_viewport() {
    // The step that differs, and what it is instead.
    let same: &[(usize, &str)] = &[
        (3, POSITION[3]),
        (0, "rcp.c $4.x a1.w\nmin.a0 $1.x $4.x t[3].x"),
        (0, "rcp.c $4.x a1.w\nmax.a0 $1.x t[3].x $4.x"),
        (0, "rcp.c $4.x a1.w\nmax.a0 $5.x t[3].x $4.x\nmin.a0 $1.x $5.x t[3].y"),
        (1, "mul.m0 $2.x $1.x a1.x, mul.m1 $2.y $1.x a1.y\nmul.m0 $2.z $1.x a1.z"),
        (
            2,
            "mul.m0 $3.x t[1].x $2.x, mul.m1 $3.y t[1].y $2.y\nmul.m0 $3.z t[1].z $2.z",
        ),
        (
            3,
            "add.a0 v0.x t[2].x $3.x, add.a1 v0.y $3.y t[2].y\nadd.a0 v0.z t[2].z $3.z\nmov.p v0.w $1.x",
        ),
    ];
    let program = |step: usize, text: &str| {
        let mut steps = POSITION;
        steps[step] = text;
        wide_vertex(&steps.join("\n"))
    };
    for (step, text) in same {
        let all = program(*step, text);
        let have = body(&all);
        assert!(
            have.starts_with("return Output(vec4<f32>(b.xy, ((b.z + b.w) * 0.5f), b.w), "),
            "{text}\n{have}"
        );
        // The API has a viewport of its own.
        assert!(!all.contains("Viewport"), "{text}\n{all}");
    }
    let other: &[(usize, &str)] = &[
        (0, "rsqrt.c $1.x a1.w"),
        (0, "rcp.c $4.x a1.w\nadd.a0 $1.x $4.x t[3].x"),
        (1, "mul.m0 $2.x a1.x $1.x, mul.m1 $2.y a1.y $1.x\nmul.m0 $2.z a1.z a1.w"),
        (
            2,
            "mul.m0 $3.x $2.x $1.x@0, mul.m1 $3.y $2.y t[1].y\nmul.m0 $3.z $2.z t[1].z",
        ),
        (
            3,
            "add.a0 v0.x $3.x a0.x, add.a1 v0.y t[2].y $3.y\nadd.a0 v0.z $3.z t[2].z\nmov.p v0.w $1.x",
        ),
        (
            3,
            "mov.p v0.x $3.x\nadd.a1 v0.y t[2].y $3.y\nadd.a0 v0.z $3.z t[2].z\nmov.p v0.w $1.x",
        ),
    ];
    for (step, text) in other {
        let have = program(*step, text);
        assert!(
            have.contains("uniforms.gl_mali_ViewportTransform[1]") && !have.contains("0.5f"),
            "{text}\n{have}"
        );
    }
    // Uniforms beside the viewport's are not the viewport's.
    let have = wide_vertex(&format!(
        "{}\nmov.m1 v1.y a0.y, mov.m0 v1.x t[0].w\nmov.p v1.z t[3].x",
        POSITION.join("\n")
    ));
    assert!(have.contains("u: vec4<f32>") && !have.contains("Viewport"), "{have}");
    let have = wide_vertex(&format!("{}\nmov.p v1.z t[2].w", POSITION.join("\n")));
    assert!(
        have.contains("gl_mali_ViewportTransform: array<vec4<f32>, 2>"),
        "{have}"
    );
}

#[test]
fn sums_of_columns_are_products_with_matrices() {
    let first = "mul.m0 $0.x a0.x t[4].x, mul.m1 $0.y a0.x t[4].y\n";
    let rows: &[(&str, &str)] = &[
        (
            "mul.m0 _ a0.y t[5].x, mul.m1 _ a0.y t[5].y\nadd.a0 v1.x ^mul0 $0.x, add.a1 v1.y ^mul1 $0.y",
            "(m * a.xy), vec2(0f)",
        ),
        (
            "mul.m0 _ t[5].x a0.y, mul.m1 _ t[5].y a0.y\nadd.a0 v1.x $0.x ^mul0, add.a1 v1.y $0.y ^mul1",
            "(m * a.xy), vec2(0f)",
        ),
        (
            "mul.m0 _ a1.y t[5].x\nadd.a0 v1.x ^mul0 $0.x",
            "(m * vec2<f32>(a.x, b.y)).x, vec3(0f)",
        ),
        // A column without a factor has 1.0, if that is a number of the program.
        (
            "mov.a0 _ t[5].x, mov.a1 _ t[5].y\nadd.a0 v1.x ^acc0 $0.x, add.a1 v1.y ^acc1 $0.y",
            "(m[1].x + (a.x * m[0].x)), (m[1].y + (a.x * m[0].y)), vec2(0f)",
        ),
        // The same column twice; rows that differ; a sum of three; another uniform; uniforms on both sides.
        (
            "mul.m0 _ a0.y t[4].x\nadd.a0 v1.x ^mul0 $0.x",
            "dot(a.yx, vec2(m[0].x)), vec3(0f)",
        ),
        (
            "mul.m1 _ a0.y t[5].x\nadd.a1 v1.y ^mul1 $0.y",
            "0f, ((a.y * m[1].x) + (a.x * m[0].y)), vec2(0f)",
        ),
        (
            "mul.m0 _ a0.y t[5].x\nadd.a0 _ ^mul0 $0.x\nadd.a0 v1.x ^acc0 $0.x",
            "((m * a.xy).x + (a.x * m[0].x)), vec3(0f)",
        ),
        (
            "mul.m0 _ a0.y t[3].x\nadd.a0 v1.x ^mul0 $0.x",
            "((a.y * k.x) + (a.x * m[0].x)), vec3(0f)",
        ),
        (
            "mul.m0 _ t[5].x t[5].y\nadd.a0 v1.x ^mul0 $0.x",
            "((m[1].x * m[1].y) + (a.x * m[0].x)), vec3(0f)",
        ),
        (
            "mov.a0 _ t[5].x, mov.a1 _ t[5].y\nadd.a0 v1.x ^acc0 $0.x, add.a1 v1.y ^acc1 $0.y\nmov.p v1.z t[6].x",
            "(m * vec2<f32>(a.x, 1f)), 1f, 0f",
        ),
    ];
    let position = "\nmov.m0 v0.x a1.x, mov.m1 v0.y a1.y, mov.a0 v0.z a1.z, mov.a1 v0.w a1.w";
    are(rows, |code| {
        let text = body(&wide_vertex(&format!("{first}{code}{position}")));
        // Behind the position, with the uniforms instead of their names.
        let last = text
            .split_once("(1f / b.w)), vec4<f32>(")
            .map_or(text.as_str(), |(_, rest)| rest);
        let mut last = last.strip_suffix("));").unwrap_or(last).to_owned();
        for line in text.split("; ").filter_map(|line| line.strip_prefix("let ")) {
            let (name, value) = line.split_once(" = ").expect("a value");
            let value = value.trim_start_matches("uniforms.");
            for behind in [".", " "] {
                last = last.replace(&format!("{name}{behind}"), &format!("{value}{behind}"));
            }
        }
        last
    });
}

#[test]
fn pipeline_results_pass_branches() {
    let before = "mov.p _ a0.x, branch l\n";
    let busy = "mov.a0 _ a0.x, mov.a1 _ a0.y, mov.m0 _ a0.z, mov.m1 _ a0.w, mov.c _ a0.x, mov.p _ a0.y";
    // Per unit: its name, and the attribute's component that it passes on.
    let units = [
        ("acc0", 'x'),
        ("acc1", 'y'),
        ("mul0", 'z'),
        ("mul1", 'w'),
        ("complex", 'x'),
        ("pass", 'y'),
    ];
    let position = "\nmov.m0 v0.x a1.x, mov.m1 v0.y a1.y, mov.a0 v0.z a1.z, mov.a1 v0.w a1.w";
    let lifted = |code: &str| body(&wide_vertex(&format!("{code}{position}")));
    // The one before the branch's target on one way, the branch itself on the other, whose pass unit has a.x.
    for (unit, component) in units {
        let have = lifted(&format!("{before}{busy}\nl: mov.a0 v1.x ^{unit}"));
        let skipped = if unit == "pass" { "a.x" } else { "0f" };
        let want = format!("if (a.x != 0f) {{ t0 = {skipped}; }} else {{ t0 = a.{component}; }}");
        assert!(have.contains(&want), "{unit}: {have}\n{want}");
    }
    // Two before.
    for (unit, component) in &units[..4] {
        let have = lifted(&format!("{before}{busy}\nl: nop\nmov.p v1.x ^^{unit}"));
        let want = format!("if (a.x != 0f) {{ t0 = 0f; }} else {{ t0 = a.{component}; }}");
        assert!(have.contains(&want), "{unit}: {have}\n{want}");
    }
    for component in ['x', 'y', 'z', 'w'] {
        let have = lifted(&format!("{before}load a1\nl: mov.p v1.x ^port.{component}"));
        let want = format!("if (a.x != 0f) {{ t0 = a.{component}; }} else {{ t0 = b.{component}; }}");
        assert!(have.contains(&want), "{component}: {have}\n{want}");
    }
}
