//! What the hardware has nothing for is refused by name and place, in every language.

use skrymir_compiler::{Error, ErrorKind, Input, Options, Stage, compile};
use translate::{Language, ShaderStage, Source};

/// Words the message must have, the line it must be about (0: its place is not known), the text.
type Row = (&'static str, usize, String);

fn row(says: &'static str, line: usize, text: &str) -> Row {
    (says, line, text.to_owned())
}

/// A GLSL ES fragment program; its body is line 3.
fn es(says: &'static str, line: usize, globals: &str, body: &str) -> Row {
    let text = format!(
        "precision mediump float; varying vec4 v; uniform int n; uniform float k;\n{globals}\nvoid main() {{ {body} }}"
    );
    (says, line, text)
}

fn wgsl(says: &'static str, line: usize, globals: &str, body: &str) -> Row {
    let text = format!(
        "{globals}\n@fragment fn fs(@location(0) v: vec4f, @location(1) w: vec4f) -> @location(0) vec4f {{\n{body}\n}}"
    );
    (says, line, text)
}

fn glsl(says: &'static str, line: usize, globals: &str, body: &str) -> Row {
    let text = format!(
        "#version 450\nlayout(location = 0) in vec4 v; layout(location = 0) out vec4 c;\n{globals}\nvoid main() {{ {body} }}"
    );
    (says, line, text)
}

/// The line and column in `FILE:LINE:COLUMN:` of what a user is shown.
fn shown(error: &Error, text: &str) -> Option<(usize, usize)> {
    let rendered = error.render("a.frag", text);
    let mut parts = rendered.strip_prefix("a.frag:")?.split(':');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn refused(rows: &[Row], compiled: impl Fn(&str) -> Result<(), Error>) {
    let mut wrong = Vec::new();
    for (says, line, text) in rows {
        let Err(error) = compiled(text) else {
            wrong.push(format!("{says:?}: not refused\n{text}"));
            continue;
        };
        let named = error.message().to_lowercase().contains(&says.to_lowercase());
        let place = shown(&error, text).filter(|(_, column)| *column >= 1);
        // The place is a field of its own, and names something of the text.
        if let Some((line, column)) = place {
            let message = error.message();
            assert!(
                !message.contains(&format!("{line}:{column}")) && !message.starts_with("WGSL"),
                "{message}"
            );
            let span = error.span().expect("a place");
            assert!(
                span.start < span.end && span.end <= text.len() + 1,
                "{span:?}: {message}"
            );
        }
        if !named || place.map_or(0, |(line, _)| line) != *line {
            wrong.push(format!(
                "{says:?} in line {line} is wanted:\n{}\n{text}",
                error.render("a.frag", text)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    println!("{} refusals with their places", rows.len());
}

fn of_es(stage: Stage) -> impl Fn(&str) -> Result<(), Error> {
    move |text| compile(Input::GlslEs(text, stage), &Options::default()).map(|_| ())
}

fn of(language: Language, stage: ShaderStage) -> impl Fn(&str) -> Result<(), Error> {
    move |text| {
        let source = Source {
            bytes: text.as_bytes(),
            language,
            stage: Some(stage),
            entry: None,
            any_layout: false,
            y_up: false,
            settings: translate::frontend::Settings::NONE,
            path: std::path::Path::new(""),
        };
        compile(Input::Source(&source), &Options::default()).map(|_| ())
    }
}

#[test]
fn in_gles_fragments() {
    let many = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<Vec<_>>().join(" ");
    let varyings = many(13, &|at| format!("varying vec4 w{at};"));
    let sum = many(13, &|at| format!("+ w{at}"));
    let samplers = many(17, &|at| format!("uniform sampler2D s{at};"));
    let looks = many(17, &|at| format!("+ texture2D(s{at}, v.xy)"));
    let rows = [
        es("several colour outputs", 3, "", "gl_FragData[1] = v;"),
        es("100000", 3, "", "gl_FragColor = vec4(n + 100000);"),
        es("leaves the range", 3, "", "int a = 100; gl_FragColor = vec4(a * a);"),
        es(
            "leaves the range",
            3,
            "",
            "int a = 1; for (int i = 0; i < 12; i++) a *= 2; gl_FragColor = v * float(a);",
        ),
        es("nothing", 3, "", "gl_FragColor = vec4(nothing);"),
        es("varyings", 2, &varyings, &format!("gl_FragColor = v {sum};")),
        es("units", 2, &samplers, &format!("gl_FragColor = v {looks};")),
        es("gl_Vertex", 3, "", "gl_FragColor = gl_Vertex;"),
        es("40 samplers", 2, "uniform sampler2D s[40];", "gl_FragColor = v;"),
        es(
            "chosen while running",
            3,
            "uniform sampler2D s[4]; vec4 f(sampler2D a) { return texture2D(a, v.xy); }",
            "gl_FragColor = f(s[n]);",
        ),
        es("no qualifiers", 3, "varying", "gl_FragColor = v;"),
        es("", 3, "uniform sampler3D s;", "gl_FragColor = texture3D(s, v.xyz);"),
        es(
            "steps",
            3,
            "",
            "vec4 s = v; for (int i = 0; i < 200; i++) for (int j = 0; j < 200; j++)
            for (int m = 0; m < 200; m++) { s += 0.5; } gl_FragColor = s * float(n)",
        ),
    ];
    let flat = |ty: &str, value: &str| {
        let text = format!(
            "#version 300 es\nprecision mediump float; in vec4 v; out vec4 c;\nflat in {ty} n;\nvoid main() {{ c = {value}; }}"
        );
        ("flat interpolation of n", 3, text)
    };
    let read = [
        flat("int", "v * float(n)"),
        flat("uvec2", "vec4(n, n)"),
        flat("highp vec4", "n"),
    ];
    refused(&read, of_es(Stage::Fragment));
    assert!(of_es(Stage::Fragment)(&flat("int", "v").2).is_ok(), "nothing reads it");
    // The last two are wrong texts: the reader says so.
    refused(&rows[..11], of_es(Stage::Fragment));
    for (_, _, text) in &rows[11..] {
        let error = of_es(Stage::Fragment)(text).expect_err(text);
        assert!(shown(&error, text).is_some(), "{}", error.render("a.frag", text));
    }
}

#[test]
fn in_gles_vertices() {
    let es = |says: &'static str, line: usize, globals: &str, body: &str| -> Row {
        let text = format!("attribute vec4 p; uniform int n; uniform float k;\n{globals}\nvoid main() {{ {body} }}");
        (says, line, text)
    };
    let many = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<Vec<_>>().join(" ");
    let attributes = many(17, &|at| format!("attribute vec4 a{at};"));
    let sum = many(17, &|at| format!("+ a{at}"));
    let varyings = many(13, &|at| format!("varying vec4 w{at};"));
    let set = many(13, &|at| format!("w{at} = p;"));
    let long = many(300, &|at| format!("s = sqrt(abs(s)) + p * {at}.125;"));
    let rows = [
        es(
            "textures in a vertex program",
            3,
            "uniform sampler2D s;",
            "gl_Position = texture2D(s, p.xy);",
        ),
        es("attributes", 2, &attributes, &format!("gl_Position = p {sum};")),
        es("varying", 2, &varyings, &format!("{set} gl_Position = p;")),
        es("instructions", 3, "", &format!("vec4 s = p; {long} gl_Position = s;")),
        es(
            "uniforms",
            3,
            "uniform vec4 a[400];",
            "vec4 s = p; for (int i = 0; i < 400; i++) s += a[i]; gl_Position = s;",
        ),
        es("100000000", 3, "", "gl_Position = vec4(n + 100000000);"),
        es(
            "64 elements",
            3,
            "",
            "float a[80]; for (int i = 0; i < 80; i++) a[i] = p.x * float(i); gl_Position = vec4(a[n]);",
        ),
        es("discard", 3, "", "if (k > 0.0) discard; gl_Position = p;"),
    ];
    refused(&rows, of_es(Stage::Vertex));
}

#[test]
fn in_wgsl() {
    let rows = [
        wgsl("bit operations (&)", 3, "", "return vec4f(f32(u32(v.x) & u32(v.y)));"),
        wgsl("bit operations (^)", 3, "", "return vec4f(f32(u32(v.x) ^ 3u));"),
        wgsl("bit operations (~)", 3, "", "return vec4f(f32(~i32(v.x)));"),
        wgsl("bit operations (<<)", 3, "", "return vec4f(f32(1u << u32(v.x)));"),
        wgsl("bits of a number", 3, "", "return vec4f(f32(bitcast<u32>(v.x)));"),
        wgsl("70000", 3, "", "return vec4f(f32(i32(v.x) + 70000));"),
        wgsl("CountOneBits", 3, "", "return vec4f(f32(countOneBits(u32(v.x))));"),
        wgsl(
            "storage buffers",
            3,
            "@group(0) @binding(0) var<storage> s: array<vec4f, 4>;",
            "return s[0];",
        ),
        wgsl(
            "length is not known",
            3,
            "@group(0) @binding(0) var<storage> s: array<vec4f>;",
            "return s[0];",
        ),
        wgsl(
            "arrays whose length is not known",
            3,
            "@group(0) @binding(0) var<storage> s: array<vec4f>;",
            "return vec4f(f32(arrayLength(&s)));",
        ),
        wgsl(
            "storage buffers",
            3,
            "@group(0) @binding(0) var<storage, read_write> s: array<vec4f, 4>;",
            "s[0] = v; return v;",
        ),
        wgsl(
            "texture",
            4,
            "@group(0) @binding(0) var t: texture_3d<f32>; @group(0) @binding(1) var s: sampler;",
            "let x = v;\nreturn textureSample(t, s, v.xyz);",
        ),
        wgsl(
            "texture",
            3,
            "@group(0) @binding(0) var t: texture_2d_array<f32>; @group(0) @binding(1) var s: sampler;",
            "return textureSample(t, s, v.xy, 0);",
        ),
        wgsl(
            "comparisons",
            3,
            "@group(0) @binding(0) var t: texture_depth_2d; @group(0) @binding(1) var s: sampler_comparison;",
            "return vec4f(textureSampleCompare(t, s, v.xy, 0.5));",
        ),
        wgsl(
            "offsets in texels",
            3,
            "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;",
            "return textureSample(t, s, v.xy, vec2i(1, 0));",
        ),
        wgsl(
            "given gradients",
            3,
            "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;",
            "return textureSampleGrad(t, s, v.xy, v.zw, v.xy);",
        ),
        wgsl(
            "gathering",
            3,
            "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;",
            "return textureGather(0, t, s, v.xy);",
        ),
        wgsl(
            "texels by number",
            3,
            "@group(0) @binding(0) var t: texture_2d<f32>;",
            "return textureLoad(t, vec2i(v.xy), 0);",
        ),
        wgsl(
            "texture's size",
            3,
            "@group(0) @binding(0) var t: texture_2d<f32>;",
            "return vec4f(f32(textureDimensions(t).x));",
        ),
        wgsl(
            "stores to images",
            3,
            "@group(0) @binding(0) var t: texture_storage_2d<rgba8unorm, write>;",
            "textureStore(t, vec2i(v.xy), v); return v;",
        ),
        wgsl(
            "atomic",
            3,
            "@group(0) @binding(0) var<storage, read_write> a: atomic<u32>;",
            "atomicAdd(&a, 1u); return v;",
        ),
        row(
            "several colour outputs",
            3,
            "struct Two { @location(0) a: vec4f, @location(1) b: vec4f }\n@fragment fn fs(@location(0) v: vec4f) -> Two {\nreturn Two(v, v); }",
        ),
        row(
            "FragDepth",
            2,
            "@fragment fn fs(@location(0) v: vec4f) -> @builtin(frag_depth) f32 {\nreturn v.x; }",
        ),
        row(
            "flat",
            2,
            "@fragment fn fs(@location(0) @interpolate(flat) v: u32) -> @location(0) vec4f {\nreturn vec4f(f32(v)); }",
        ),
        row(
            "SampleIndex",
            2,
            "@fragment fn fs(@builtin(sample_index) v: u32) -> @location(0) vec4f {\nreturn vec4f(f32(v)); }",
        ),
        row(
            "no definition",
            2,
            "@fragment fn fs() -> @location(0) vec4f {\nreturn nothing; }",
        ),
        row("expected", 2, "@fragment fn fs() -> @location(0) vec4f {\nreturn ; 5 }"),
    ];
    refused(&rows, of(Language::Wgsl, ShaderStage::Fragment));
    let compute = [row(
        "Compute",
        2,
        "@compute @workgroup_size(1) fn cs() {\nvar x = 1; x += 1; }",
    )];
    refused(&compute, of(Language::Wgsl, ShaderStage::Compute));
}

/// Functions that the processors have nothing for, by their names; those that only fragments have.
#[test]
fn functions_are_refused_by_name() {
    let rows = [
        ("CountOneBits", "countOneBits(u32(v.x))"),
        ("CountLeadingZeros", "countLeadingZeros(u32(v.x))"),
        ("CountTrailingZeros", "countTrailingZeros(u32(v.x))"),
        ("ReverseBits", "reverseBits(u32(v.x))"),
        ("ExtractBits", "extractBits(u32(v.x), 1u, 2u)"),
        ("InsertBits", "insertBits(u32(v.x), 1u, 1u, 2u)"),
        ("FirstLeadingBit", "firstLeadingBit(u32(v.x))"),
        ("FirstTrailingBit", "firstTrailingBit(u32(v.x))"),
        ("Pack4x8snorm", "pack4x8snorm(v)"),
        ("Pack4x8unorm", "pack4x8unorm(v)"),
        ("Pack2x16float", "pack2x16float(v.xy)"),
        ("Unpack4x8unorm", "unpack4x8unorm(u32(v.x)).x"),
        ("Unpack2x16float", "unpack2x16float(u32(v.x)).x"),
        ("Ldexp", "ldexp(v.x, 2)"),
        ("Modf", "modf(v.x).fract"),
        ("Frexp", "frexp(v.x).fract"),
    ];
    let rows: Vec<Row> = rows
        .iter()
        .map(|(name, call)| wgsl(name, 3, "", &format!("return vec4f(f32({call}));")))
        .collect();
    refused(&rows, of(Language::Wgsl, ShaderStage::Fragment));
    let vertex = |says: &'static str, globals: &str, body: &str| -> Row {
        let text =
            format!("{globals}\n@vertex fn vs(@location(0) v: vec4f) -> @builtin(position) vec4f {{\n{body}\n}}");
        (says, 3, text)
    };
    let rows = [
        vertex("QuantizeToF16", "", "return quantizeToF16(v);"),
        vertex(
            "textures in a vertex program",
            "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;",
            "return textureSampleLevel(t, s, v.xy, 0.0);",
        ),
        vertex("bit operations (|)", "", "return vec4f(f32(u32(v.x) | 3u));"),
        vertex("bit operations (&)", "", "return vec4f(f32(u32(v.x) & 5u));"),
        vertex("bit operations (<<)", "", "return vec4f(f32(u32(v.x) << 24u));"),
        vertex("bit operations (>>)", "", "return vec4f(f32(u32(v.x) >> 24u));"),
    ];
    refused(&rows, of(Language::Wgsl, ShaderStage::Vertex));
    let taken = wgsl("", 3, "", "return quantizeToF16(v);").2;
    assert!(of(Language::Wgsl, ShaderStage::Fragment)(&taken).is_ok());
}

#[test]
fn in_glsl() {
    let rows = [
        glsl("bit operations (&)", 4, "", "c = vec4(uint(v.x) & uint(v.y));"),
        glsl("bit operations (>>)", 4, "", "c = vec4(8u >> uint(v.x));"),
        glsl("bits of a number", 4, "", "c = vec4(floatBitsToInt(v.x));"),
        glsl("5000", 4, "", "c = vec4(int(v.x) + 5000);"),
        glsl(
            "storage buffers",
            3,
            "layout(set = 0, binding = 0) buffer B { vec4 b; };",
            "c = b;",
        ),
        glsl(
            "stores to images",
            4,
            "layout(set = 0, binding = 0, rgba8) uniform writeonly image2D i;",
            "imageStore(i, ivec2(v.xy), v); c = v;",
        ),
        glsl(
            "texture",
            3,
            "layout(set = 0, binding = 0) uniform texture3D t; layout(set = 0, binding = 1) uniform sampler s;",
            "c = texture(sampler3D(t, s), v.xyz);",
        ),
        glsl(
            "texels by number",
            4,
            "layout(set = 0, binding = 0) uniform texture2D t; layout(set = 0, binding = 1) uniform sampler s;",
            "c = texelFetch(sampler2D(t, s), ivec2(v.xy), 0);",
        ),
        glsl(
            "several colour outputs",
            4,
            "layout(location = 1) out vec4 d;",
            "c = v; d = v;",
        ),
        glsl("FragDepth", 4, "", "c = v; gl_FragDepth = v.x;"),
        glsl(
            "recursion",
            0,
            "float f(float x) { return f(x * 0.5); }",
            "c = vec4(f(v.x));",
        ),
        glsl("", 4, "", "c = nothing;"),
        glsl("", 4, "", "c = v"),
    ];
    refused(&rows, of(Language::Glsl, ShaderStage::Fragment));
}

/// Files that are no texts: the byte of the instruction.
#[test]
fn in_spirv() {
    let text = "@group(0) @binding(0) var t: texture_3d<f32>; @group(0) @binding(1) var s: sampler;
        @fragment fn fs(@location(0) v: vec4f) -> @location(0) vec4f { return textureSample(t, s, v.xyz) + v; }";
    let source = Source::new("a.wgsl", text.as_bytes()).expect("a source");
    let shader = translate::read(&source).expect("a shader");
    let words = translate::to_spirv(shader.module, ShaderStage::Fragment).expect("words");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let source = Source::new("a.spv", &bytes)
        .expect("a source")
        .stage(ShaderStage::Fragment);
    let error = compile(Input::Source(&source), &Options::default()).expect_err("a texture of three dimensions");
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let offset = error.offset().expect("an offset") as usize;
    // OpVariable, of the texture.
    let op = words[offset / 4] & 0xffff;
    println!("{}: opcode {op}", error.render("a.spv", ""));
    assert!(offset.is_multiple_of(4) && op == 59, "{op}");
    assert!(error.render("a.spv", "").ends_with(&format!("(byte offset {offset})")));
}

/// What an instruction of a module is refused for has that instruction's byte, whatever stands in front of it.
#[test]
fn instructions_of_spirv_have_their_bytes() {
    let texture = "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;";
    let rows = [
        ("BitCount", 205, "", "f32(countOneBits(u32(v.x)))"),
        ("BitwiseAnd", 199, "", "f32(u32(v.x) & u32(v.y))"),
        ("BitwiseOr", 197, "", "f32(u32(v.x) | 3u)"),
        ("BitwiseXor", 198, "", "f32(u32(v.x) ^ 3u)"),
        ("Not", 200, "", "f32(~i32(v.x))"),
        ("ShiftLeftLogical", 196, "", "f32(1u << u32(v.x))"),
        ("ShiftRightLogical", 194, "", "f32(8u >> u32(v.x))"),
        ("Bitcast", 124, "", "f32(bitcast<u32>(v.x))"),
        ("ExtInst", 12, "", "ldexp(v.x, i32(v.y))"),
        (
            "ImageSampleExplicitLod",
            88,
            texture,
            "textureSampleGrad(t, s, v.xy, v.zw, v.xy).x",
        ),
        ("ImageGather", 96, texture, "textureGather(0, t, s, v.xy).x"),
        ("ImageFetch", 95, texture, "textureLoad(t, vec2i(v.xy), 0).x"),
        ("ImageQuerySizeLod", 103, texture, "f32(textureDimensions(t, 0).x)"),
    ];
    let mut wrong = Vec::new();
    for (name, wanted, globals, value) in rows {
        for front in [
            "",
            "fn one(a: f32, b: vec2f, c: mat2x2f) -> f32 { return a * b.x + c[0].y; }",
        ] {
            for inputs in ["", "@location(1) w: vec4f, @builtin(position) p: vec4f,"] {
                let used = if inputs.is_empty() { "1.0" } else { "w.x * p.y" };
                let called = if front.is_empty() {
                    used.to_owned()
                } else {
                    format!("one({used}, v.xy, mat2x2f(v.xy, v.zw))")
                };
                let text = format!(
                    "{globals} {front} @fragment fn fs(@location(0) v: vec4f, {inputs}) -> @location(0) vec4f {{
                       let a = {called}; return vec4f(a * {value}); }}"
                );
                let source = Source::new("a.wgsl", text.as_bytes()).expect("a source");
                let shader = translate::read(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
                let words = translate::to_spirv(shader.module, ShaderStage::Fragment).expect("words");
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let source = Source::new("a.spv", &bytes)
                    .expect("a source")
                    .stage(ShaderStage::Fragment);
                let error = compile(Input::Source(&source), &Options::default()).expect_err(name);
                let place = error.offset().expect("an offset") as usize;
                let op = words.get(place / 4).map_or(0, |word| word & 0xffff);
                if !place.is_multiple_of(4) || op != wanted {
                    wrong.push(format!("{name}: opcode {op} at {place}: {error}\n{text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
