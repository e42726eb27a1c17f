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
