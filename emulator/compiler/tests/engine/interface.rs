//! What programs take and give: each type as variables, their places as symbols, and how many of each there are.

use skrymir_compiler::interface::Variable;
use skrymir_compiler::ir::{Function, Op, Output};
use skrymir_compiler::{Compiled, Input, Options, Stage, compile};

fn compiled(text: &str, stage: Stage) -> Compiled {
    compile(Input::GlslEs(text, stage), &Options::default())
        .unwrap_or_else(|error| panic!("{}", error.render("s", text)))
}

/// A name, what its numbers are, rows, columns and entries.
fn shape(variable: &Variable) -> String {
    let Variable {
        name,
        rows,
        columns,
        entries,
        ..
    } = variable;
    format!("{name} {} {rows}x{columns}[{entries}]", variable.kind)
}

/// The scalar of the uniforms that a component of the colour is.
fn uniform(function: &Function, component: u8) -> Option<u32> {
    let is_wanted = |(output, _): &&(Output, _)| *output == Output::Color(component);
    let (_, value) = function.outputs.iter().find(is_wanted)?;
    match function.inst(*value).op {
        Op::Uniform(slot) => Some(slot),
        _ => None,
    }
}

/// Declarations of uniforms, the variables they become, and expressions of their scalars in order.
#[rustfmt::skip]
const TYPES: &[(&str, &[&str], &[&str])] = &[
    ("uniform float u;", &["u float 1x1[0]"], &["u"]),
    ("uniform vec3 u;", &["u float 3x1[0]"], &["u.x", "u.y", "u.z"]),
    ("uniform int u;", &["u int 1x1[0]"], &["float(u)"]),
    ("uniform ivec2 u;", &["u int 2x1[0]"], &["float(u.x)", "float(u.y)"]),
    ("uniform mat2 u;", &["u matrix 2x2[0]"], &["u[0].x", "u[0].y", "u[1].x", "u[1].y"]),
    ("uniform mat3 u;", &["u matrix 3x3[0]"], &["u[0].x", "u[0].y", "u[0].z", "u[1].x", "u[1].y", "u[1].z", "u[2].x", "u[2].y", "u[2].z"]),
    ("uniform mat4 u;", &["u matrix 4x4[0]"], &["u[0].x", "u[0].y", "u[0].z", "u[0].w", "u[1].x"]),
    ("uniform float u[3];", &["u float 1x1[3]"], &["u[0]", "u[1]", "u[2]"]),
    ("uniform vec2 u[2];", &["u float 2x1[2]"], &["u[0].x", "u[0].y", "u[1].x", "u[1].y"]),
    ("uniform mat2 u[2];", &["u matrix 2x2[2]"], &["u[0][0].x", "u[0][0].y", "u[0][1].x", "u[0][1].y", "u[1][0].x", "u[1][0].y", "u[1][1].x", "u[1][1].y"]),
    ("uniform float u; uniform vec2 v;", &["u float 1x1[0]", "v float 2x1[0]"], &["u", "v.x", "v.y"]),
    ("uniform struct { float x; vec2 y; } u;", &["u.x float 1x1[0]", "u.y float 2x1[0]"], &["u.x", "u.y.x", "u.y.y"]),
    ("struct S { float x; float y[2]; }; uniform S u; uniform float v;", &["u.x float 1x1[0]", "u.y float 1x1[2]", "v float 1x1[0]"], &["u.x", "u.y[0]", "u.y[1]", "v"]),
    ("struct S { float x; vec2 y; }; uniform S u[2];", &["u[0].x float 1x1[0]", "u[0].y float 2x1[0]", "u[1].x float 1x1[0]", "u[1].y float 2x1[0]"], &["u[0].x", "u[0].y.x", "u[0].y.y", "u[1].x", "u[1].y.x", "u[1].y.y"]),
    ("struct T { vec2 z; }; struct S { float x; T t[2]; }; uniform S u;", &["u.x float 1x1[0]", "u.t[0].z float 2x1[0]", "u.t[1].z float 2x1[0]"], &["u.x", "u.t[0].z.x", "u.t[0].z.y", "u.t[1].z.x", "u.t[1].z.y"]),
];

#[test]
fn types_become_variables() {
    for (globals, variables, scalars) in TYPES {
        for (first, parts) in scalars.chunks(4).enumerate() {
            let all: Vec<&str> = parts.iter().copied().chain(["0.0", "0.0", "0.0"]).take(4).collect();
            let text = format!(
                "precision mediump float; {globals} void main() {{ gl_FragColor = vec4({}); }}",
                all.join(", ")
            );
            let shader = compiled(&text, Stage::Fragment).shader;
            let have: Vec<String> = shader.interface.uniforms.iter().map(shape).collect();
            assert_eq!(have, *variables, "{globals}");
            let mut end = 0;
            for variable in &shader.interface.uniforms {
                assert_eq!(variable.first, end, "{globals}");
                end += variable.scalars();
                // Where it is declared.
                let place = variable
                    .span
                    .map(|place| &text[place.start as usize..place.end as usize]);
                assert_eq!(place, variable.name.get(..1), "{globals}");
            }
            for (at, part) in parts.iter().enumerate() {
                let wanted = (4 * first + at) as u32;
                assert_eq!(uniform(&shader.function, at as u8), Some(wanted), "{globals} {part}");
            }
        }
    }
    let truths =
        "precision mediump float; uniform bool a; uniform bvec3 b; void main() { gl_FragColor = vec4(a, b.xy, 1.0); }";
    let shader = compiled(truths, Stage::Fragment).shader;
    let have: Vec<String> = shader.interface.uniforms.iter().map(shape).collect();
    assert_eq!(have, ["a bool 1x1[0]", "b bool 3x1[0]"]);
    // Matrices that are not square are arrays of their columns.
    for (ty, wanted, last) in [
        ("mat2x3", "u float 3x1[2]", 5),
        ("mat3x2[2]", "u float 2x1[6]", 11),
        ("mat4x2", "u float 2x1[4]", 7),
    ] {
        let (of, index) = match ty.strip_suffix("[2]") {
            Some(of) => (format!("{of} u[2]"), "[1][2][1]"),
            None => (format!("{ty} u"), if ty == "mat2x3" { "[1][2]" } else { "[3][1]" }),
        };
        let text = format!("#version 330\nuniform {of}; out vec4 c; void main() {{ c = vec4(u{index}); }}");
        let shader = compiled(&text, Stage::Fragment).shader;
        assert_eq!(shape(&shader.interface.uniforms[0]), wanted, "{ty}");
        assert_eq!(uniform(&shader.function, 0), Some(last), "{ty}");
    }
}

/// A symbol: name, type, entries, place, flags and precision.
fn symbols(table: &Option<Vec<loader::mbs::Symbol>>) -> Vec<String> {
    let text = |symbol: &loader::mbs::Symbol| {
        let place = match symbol.is_used() {
            true => symbol.offset.to_string(),
            false => "-".to_owned(),
        };
        let array = if symbol.entries > 0 {
            format!("[{}]", symbol.entries)
        } else {
            String::new()
        };
        format!(
            "{}{array}: {} {}, {place}, {} {}",
            symbol.name(),
            symbol.kind,
            symbol.components,
            symbol.flags,
            symbol.precision
        )
    };
    table.iter().flatten().map(text).collect()
}

#[test]
fn fragment_programs_have_symbols() {
    let text = "precision mediump float; uniform sampler2D unused, s; uniform samplerCube t; uniform float gone; uniform vec4 k; uniform float list[3];
        varying vec2 at; varying vec4 c; varying float never; varying vec2 way;
        void main() { gl_FragColor = texture2D(s, at) * k + textureCube(t, c.xyz) * c.w + list[1] + way.x; }";
    let compiled = compiled(text, Stage::Fragment);
    let program = &compiled.program;
    assert_eq!(
        symbols(&program.uniforms),
        [
            "gone: float 1, -, 16 2",
            "list[3]: float 1, 8, 16 2",
            "k: float 4, 4, 16 2",
            "t: samplerCube 3, 1, 16 1",
            "s: sampler2D 2, 0, 16 1",
            "unused: sampler2D 2, -, 16 1",
        ]
    );
    assert_eq!(
        symbols(&program.varyings),
        [
            "at: float 2, 0, 24 2",
            "c: float 4, 4, 24 2",
            "way: float 2, 8, 16 2",
            "never: float 1, -, 16 2"
        ]
    );
    assert_eq!(
        (program.attributes.is_none(), program.stack, program.discard),
        (true, Some([1, 1]), Some(0))
    );
    assert_eq!(compiled.report.uniforms, program.uniform_space - 4);
    assert!(program.uniform_space > 8 && program.instructions.is_none());
    for symbol in program.uniforms.iter().flatten() {
        let gradient = if symbol.name().len() < 7 && symbol.kind.to_string().starts_with("sampler") {
            0
        } else {
            u32::MAX
        };
        assert_eq!(symbol.index, Some([u32::MAX, u32::MAX, gradient]), "{}", symbol.name());
    }
}

/// Varyings that the varying unit hands to the sampler itself are marked, no others: look-up, and whose mark it is.
#[test]
fn coordinates_are_marked() {
    for (look, marked) in [
        ("texture2D(s, a)", "a"),
        ("texture2D(s, b.xy)", "b"),
        ("texture2D(s, b.zw)", "b"),
        ("texture2D(s, b.yx)", ""),
        ("texture2D(s, a * 2.0)", ""),
        ("texture2D(s, a.yx)", ""),
        ("texture2D(s, -b.xy)", ""),
        ("texture2D(s, vec2(a.x, b.y))", ""),
        ("texture2D(s, a, d)", "a"),
        ("texture2D(s, c.xy)", "c"),
        ("texture2D(s, c.yz)", ""),
        ("texture2D(s, vec2(d))", ""),
        ("texture2DProj(s, b)", "b"),
        ("texture2DProj(s, c)", "c"),
        ("texture2DProj(s, vec3(a, d))", ""),
        ("texture2DProj(s, b.xyw)", "b"),
        ("textureCube(t, c)", "c"),
        ("textureCube(t, b.xyz)", "b"),
        ("textureCube(t, b.yzw)", ""),
        ("textureCube(t, c * 0.5)", ""),
        ("texture2D(s, texture2D(s, a).zw)", "a"),
        ("texture2D(s, e[1])", "e"),
    ] {
        let text = format!(
            "precision mediump float; uniform sampler2D s; uniform samplerCube t;
             varying vec2 a; varying vec4 b; varying vec3 c; varying float d; varying vec2 e[2];
             void main() {{ gl_FragColor = {look} + a.xyxy * b + c.xyzx * d + e[0].xyxy; }}"
        );
        let varyings = compiled(&text, Stage::Fragment).program.varyings.unwrap_or_default();
        let all = varyings
            .iter()
            .filter(|symbol| symbol.flags == 24)
            .map(|symbol| symbol.name());
        assert_eq!(all.collect::<String>(), marked, "{look}");
        assert!(varyings.iter().all(|symbol| matches!(symbol.flags, 16 | 24)));
    }
}

#[test]
fn vertex_programs_have_symbols() {
    let text =
        "attribute vec4 p; attribute vec2 unused; attribute vec3 n; uniform mat4 m; uniform float gone; uniform vec2 k;
        varying vec2 a; varying mat2 b; varying vec4 c[2]; varying float d;
        void main() { gl_Position = m * p; a = n.xy * k; b = mat2(n.x); c[0] = p; c[1] = vec4(n, 3.5); d = n.z; SIZE }";
    let plain = compiled(&text.replace("SIZE", ""), Stage::Vertex).program;
    let sized = compiled(&text.replace("SIZE", "gl_PointSize = 2.0;"), Stage::Vertex).program;
    for (program, size, place) in [
        (&plain, None, "-"),
        (&sized, Some("gl_mali_PointSizeParameters: float 4, 28, 16 3"), "28"),
    ] {
        let all = symbols(&program.uniforms);
        let (constants, rest): (Vec<String>, Vec<String>) = all
            .into_iter()
            .partition(|symbol| symbol.starts_with("?__maligp2_constant_"));
        assert!(
            !constants.is_empty()
                && constants
                    .iter()
                    .rev()
                    .enumerate()
                    .all(|(at, symbol)| symbol.contains(&format!("_{at:03}:")))
        );
        let mut wanted: Vec<&str> = size.into_iter().collect();
        wanted.extend([
            "gl_mali_ViewportTransform[2]: float 4, 20, 16 3",
            "gone: float 1, -, 16 3",
            "k: float 2, 16, 16 3",
            "m: matrix 4, 0, 16 3",
        ]);
        assert_eq!(rest, wanted);
        assert_eq!(
            symbols(&program.varyings),
            [
                format!("gl_PointSize: float 1, {place}, 16 2").as_str(),
                "gl_Position: float 4, 0, 16 3",
                "d: float 1, 24, 16 3",
                "c[2]: float 4, 16, 16 3",
                "b: matrix 2, 8, 16 3",
                "a: float 2, 4, 16 3",
            ]
        );
        assert_eq!(
            symbols(&program.attributes),
            ["p: float 4, 0, 16 3", "n: float 3, 4, 16 3", "unused: float 2, -, 16 3"]
        );
        // The last instruction that loads an attribute, counted from 1.
        let code = utgard::shader::instructions(&program.code);
        let loads: Vec<bool> = code
            .into_iter()
            .map(|words| utgard::gp::Instruction::decode(words).register0_is_attribute)
            .collect();
        let last = loads.iter().rposition(|loads| *loads).map_or(0, |at| at as u32 + 1);
        assert_eq!(program.instructions, Some([0, loads.len() as u32, last]));
        assert!(program.uniform_space.is_multiple_of(4));
    }
}

/// A limit: what it is of, a text with a number of them, the stage, the number, and words of the refusal of one more.
type Limit = (&'static str, fn(u32) -> String, Stage, u32, &'static str);

fn many(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join(" ")
}

fn fragment(globals: &str, body: &str) -> String {
    format!("precision mediump float; varying vec2 v; uniform float k; {globals} void main() {{ {body} }}")
}

fn vertex(globals: &str, body: &str) -> String {
    format!("attribute vec2 p; uniform float k; {globals} void main() {{ gl_Position = vec4(p, 0.0, 1.0); {body} }}")
}

#[rustfmt::skip]
const LIMITS: &[Limit] = &[
    ("varyings of fragments", |count| fragment(&many(count - 1, |at| format!("varying vec4 w{at};")), &format!("gl_FragColor = v.xyxy {};", many(count - 1, |at| format!("+ w{at}")))), Stage::Fragment, 12, "12"),
    ("vectors of a varying", |count| fragment(&format!("varying vec4 w[{}];", count - 1), "gl_FragColor = v.xyxy + w[0];"), Stage::Fragment, 12, "12"),
    ("varyings of vertices", |count| vertex(&many(count, |at| format!("varying vec4 w{at};")), &many(count, |at| format!("w{at} = vec4(p, k, 1.0);"))), Stage::Vertex, 12, "12 vec4s of varyings"),
    ("columns of varyings", |count| vertex(&format!("varying mat2 w; varying float x[{}];", count - 2), "w = mat2(k); x[0] = k;"), Stage::Vertex, 12, "the varying x: there are 12 vec4s"),
    ("attributes", |count| vertex(&many(count - 1, |at| format!("attribute vec4 w{at};")), &format!("gl_Position += w0 {};", many(count - 2, |at| format!("+ w{}", at + 1)))), Stage::Vertex, 16, "there are 16"),
    ("samplers", |count| fragment(&many(count, |at| format!("uniform sampler2D s{at};")), &format!("gl_FragColor = vec4(0.0) {};", many(count, |at| format!("+ texture2D(s{at}, v)")))), Stage::Fragment, 16, "s16: there are 16 units"),
    ("whole numbers of fragments", |count| fragment("uniform int n;", &format!("gl_FragColor = vec4(n + {count});")), Stage::Fragment, 2048, "2049 leaves the range"),
    ("results of fragments", |count| fragment("uniform int n;", &format!("int a = {}; a++; gl_FragColor = vec4(n + a);", count - 1)), Stage::Fragment, 2048, "2049 leaves the range"),
    ("negative numbers", |count| fragment("uniform int n;", &format!("gl_FragColor = vec4(n + (-{} - 1));", count - 1)), Stage::Fragment, 2048, "-2049 leaves the range"),
    ("whole numbers of vertices", |count| vertex("uniform int n;", &format!("gl_PointSize = float(n + {count});")), Stage::Vertex, 16_777_216, "16777217 leaves the range"),
    ("elements of a vertex program's variable", |count| vertex("uniform int n;", &format!("float a[{count}]; for (int i = 0; i < {count}; i++) a[i] = 0.5; a[n] = k; gl_PointSize = a[n + 1];")), Stage::Vertex, 64, "64 elements"),
    ("numbers of a type", |count| fragment(&format!("float a[{count}];"), "gl_FragColor = vec4(a[0]);"), Stage::Fragment, 1 << 14, "16385 numbers"),
    ("members of uniforms", |count| fragment(&format!("struct S {{ float x; }}; uniform S u[{count}];"), "gl_FragColor = vec4(u[0].x);"), Stage::Fragment, 2001, "too many members"),
    ("functions in each other", |count| fragment(&many(count, |at| match at { 0 => "float f0(float x) { return x * k; }".to_owned(), _ => format!("float f{at}(float x) {{ return f{}(x) + k; }}", at - 1) }), &format!("gl_FragColor = vec4(f{}(v.x));", count - 1)), Stage::Fragment, 62, "too deeply"),
    ("variables in memory", |count| fragment("", &format!("float s = k; {} gl_FragColor = vec4(s);", many(count, |at| format!("float a{at}[5]; a{at}[int(v.x)] = k; s += a{at}[int(v.y)];")))), Stage::Fragment, 63, "too many variables"),
    ("uniforms of vertices", |count| vertex(&format!("uniform vec4 u[{}]; uniform int n;", count - 1), &format!("gl_Position.x = u[0].x + u[{}].y;", count - 2)), Stage::Vertex, 302, "1217 floats of uniforms"),
];

#[test]
fn limits_are_where_they_are_said_to_be() {
    let mut wrong = Vec::new();
    for (what, text, stage, most, says) in LIMITS {
        let compile = |count: u32| compile(Input::GlslEs(&text(count), *stage), &Options::default());
        if let Err(error) = compile(*most) {
            wrong.push(format!("{what}: {most} are refused: {error}"));
        }
        match compile(most + 1) {
            Ok(_) => wrong.push(format!("{what}: more than {most} are taken")),
            Err(error) if !error.message().contains(says) => wrong.push(format!("{what}: {error}")),
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Variables with an index that is not known are chosen from while they are short, and go to memory when they are longer.
#[test]
fn long_variables_go_to_memory() {
    for (dimensions, index, in_memory) in [
        ("[2]", "[i]", false),
        ("[4]", "[i]", false),
        ("[5]", "[i]", true),
        ("[2][2]", "[i][j]", false),
        ("[2][3]", "[i][j]", true),
        ("[2][3]", "[i][1]", false),
        ("[5][2]", "[3][j]", false),
        ("[5][2]", "[i][1]", true),
    ] {
        let first = if dimensions.matches('[').count() == 2 {
            "a[0][1]"
        } else {
            "a[0]"
        };
        let rows = [
            (format!("a{index} = k;"), first.to_owned()),
            (String::new(), format!("k + a{index}")),
        ];
        for (store, load) in rows {
            let text = format!(
                "#version 450\nlayout(location = 0) in vec2 v; layout(location = 0) out vec4 c;
                 layout(set = 0, binding = 0) uniform U {{ float k; }};
                 void main() {{ int i = int(v.x); int j = int(v.y); float a{dimensions}; {store} c = vec4({load}); }}"
            );
            let source = translate::Source::new("a.frag", text.as_bytes()).expect("a source");
            let compiled = compile(Input::Source(&source), &Options::default());
            let shader = compiled
                .unwrap_or_else(|error| panic!("{}", error.render("s", &text)))
                .shader;
            assert_eq!(shader.function.memory > 0, in_memory, "{text}");
        }
    }
}

/// Numbers near the end of what is exact are noted, from half of it on.
#[test]
fn numbers_near_the_end_of_what_is_exact_are_noted() {
    for (stage, exact) in [(Stage::Fragment, 2048), (Stage::Vertex, 16_777_216)] {
        for (number, noted) in [
            (exact / 2, false),
            (exact / 2 + 1, true),
            (-exact / 2, false),
            (-exact / 2 - 1, true),
            (exact, true),
            (i32::MAX, false),
        ] {
            let sum = format!("float(n > {number} ? 1 : 0)");
            let text = match stage {
                Stage::Fragment => fragment("uniform int n;", &format!("gl_FragColor = vec4({sum});")),
                Stage::Vertex => vertex("uniform int n;", &format!("gl_PointSize = {sum};")),
            };
            let notes = compiled(&text, stage).shader.notes;
            assert_eq!(notes.len(), usize::from(noted), "{number}: {notes:?}");
            assert!(
                notes
                    .iter()
                    .all(|note| note.message.contains(&format!("the integer {number} is near"))),
                "{notes:?}"
            );
        }
    }
}

/// Loops whose end is known go round in one piece while that is short enough: then no loop is left.
#[test]
fn loops_are_unrolled_while_they_are_short() {
    let has_loop = |text: &str, stage: Stage| compiled(text, stage).report.longest.is_none();
    // Rounds, the last of which only sees that it is over.
    for (trips, unrolled) in [(1, true), (100, true), (255, true), (256, false)] {
        let body = format!("float a = 0.0; for (int i = 0; i < {trips}; i++) a += 0.5; gl_FragColor = vec4(a);");
        assert_eq!(!has_loop(&fragment("", &body), Stage::Fragment), unrolled, "{trips}");
    }
    // Operations: a budget of each stage.
    for (stage, budget) in [(Stage::Fragment, 420), (Stage::Vertex, 1500)] {
        let text = |trips: usize| {
            let body = format!("vec2 a = START; for (int i = 0; i < {trips}; i++) a = a.yx * k + a * 0.25;");
            match stage {
                Stage::Fragment => fragment("", &format!("{} gl_FragColor = a.xyxy;", body.replace("START", "v"))),
                Stage::Vertex => vertex("", &format!("{} gl_PointSize = a.x + a.y;", body.replace("START", "p"))),
            }
        };
        let values = |trips: usize| {
            let front = skrymir_compiler::front(
                Input::GlslEs(&text(trips), stage),
                skrymir_compiler::front::Unroll::Usual,
            );
            let function = front.expect("a program").function;
            let order = function.order();
            let place = |block| order.iter().position(|other| *other == block);
            let goes_back = order.iter().any(|block| {
                let next = function.successors(*block);
                next.into_iter().any(|next| place(next) <= place(*block))
            });
            (function.values.len(), goes_back)
        };
        let none = values(0).0;
        let last = (1..255)
            .take_while(|trips| !values(*trips).1)
            .last()
            .expect("short loops are unrolled");
        let (added, round) = (values(last).0 - none, values(last).0 - values(last - 1).0);
        assert!(
            added <= budget + round && added + 2 * round > budget,
            "{stage:?}: {last} trips, {added} operations of {budget}"
        );
    }
}
