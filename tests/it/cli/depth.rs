//! Deep and wide texts: for each language and construct, every verb ends with a result or an error, not with a signal, and
//! in a second of processor time.

use crate::common;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Limit on a process' time, in seconds of the processor. Twice what is promised: tests also run on slow machines.
const LIMIT: f64 = 2.0;

/// How often a bracket or an operator occurs, and how often a statement.
const MANY: usize = 20_000;
const SOME: usize = 3_000;

/// Functions that call each other; glslang's check of the call graph is quadratic.
const FUNCTIONS: usize = 1_000;

/// A language of shaders: what comes before a body, and behind it. The body may change `x`, and read `a` and `t`.
struct Language {
    name: &'static str,
    ending: &'static str,
    head: &'static str,
    begin: &'static str,
    end: &'static str,
}

const LANGUAGES: [Language; 5] = [
    Language {
        name: "GLSL ES 1.00",
        ending: "frag",
        head: "precision mediump float;\nvarying float a;\n",
        begin: "void main() {\nfloat x = a;\nfloat t[4];\nt[0] = a;\n",
        end: "gl_FragColor = vec4(x);\n}\n",
    },
    Language {
        name: "GLSL ES 3.00",
        ending: "frag",
        head: "#version 300 es\nprecision mediump float;\nin float a;\nout vec4 color;\n",
        begin: "void main() {\nfloat x = a;\nfloat t[4];\nt[0] = a;\n",
        end: "color = vec4(x);\n}\n",
    },
    Language {
        name: "GLSL 4.50",
        ending: "frag",
        head: "#version 450\nlayout(location = 0) in float a;\nlayout(location = 0) out vec4 color;\n",
        begin: "void main() {\nfloat x = a;\nfloat t[4];\nt[0] = a;\n",
        end: "color = vec4(x);\n}\n",
    },
    Language {
        name: "HLSL",
        ending: "hlsl",
        head: "",
        begin: "float4 main(float a : A) : SV_Target {\nfloat x = a;\nfloat t[4];\nt[0] = a;\n",
        end: "return float4(x, x, x, x);\n}\n",
    },
    Language {
        name: "WGSL",
        ending: "wgsl",
        head: "",
        begin: "@fragment fn main(@location(0) a: f32) -> @location(0) vec4<f32> {\nvar x = a;\nvar t: array<f32, 4>;\n",
        end: "return vec4<f32>(x);\n}\n",
    },
];

/// `x = OPEN... a CLOSE...;`
fn around(open: &str, inner: &str, close: &str, count: usize) -> String {
    format!("x = {}{inner}{};\n", open.repeat(count), close.repeat(count))
}

/// A line for each number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// The name of a construct, and a text with it: declarations, and a body.
fn constructs(is_wgsl: bool) -> Vec<(&'static str, String, String)> {
    let body = |name, body: String| (name, String::new(), body);
    let integer = if is_wgsl { "i32" } else { "int" };
    let mut all = vec![
        body("parentheses", around("(", "a", ")", MANY)),
        body("signs", around("- ", "a", "", MANY)),
        body("braces", format!("{}{}", "{".repeat(MANY), "}".repeat(MANY))),
        body("indices", around(&format!("t[{integer}("), "a", ")]", MANY)),
        body("calls", around("sin(", "a", ")", SOME)),
        body("sums", around("a + ", "a", "", 10 * MANY)),
        body("products of sums", around("(a + a) * ", "a", "", MANY)),
        body("statements", "x = x * a + 0.5;\n".repeat(SOME)),
    ];
    let ifs = match is_wgsl {
        true => ["if (a > 0.0) {", "}", "if (a > 0.0) { x = 1.0; } else ", "{ x = 2.0; }"],
        false => ["if (a > 0.0) ", "", "if (a > 0.0) x = 1.0; else ", "x = 2.0;"],
    };
    all.push(body(
        "ifs",
        format!("{}x = 1.0;{}", ifs[0].repeat(SOME), ifs[1].repeat(SOME)),
    ));
    all.push(body("elses", format!("{}{}", ifs[2].repeat(SOME), ifs[3])));
    if is_wgsl {
        let open = "loop { if (a > 0.0) { break; } ";
        all.push(body("loops", format!("{}{}", open.repeat(SOME), "}".repeat(SOME))));
        all.push(body("choices", around("select(1.0, ", "2.0", ", a > 0.0)", SOME)));
        let functions = lines(FUNCTIONS, |at| match at {
            0 => "fn call0(v: f32) -> f32 { return v; }\n".into(),
            _ => format!(
                "fn call{at}(v: f32) -> f32 {{ return call{}(v) + call{}(v); }}\n",
                at - 1,
                at - 1
            ),
        });
        all.push(("functions", functions, format!("x = call{}(a);\n", FUNCTIONS - 1)));
        let structs = lines(SOME, |at| match at {
            0 => "struct s0 { v: f32 }\n".into(),
            _ => format!("struct s{at} {{ a: s{}, b: s{} }}\n", at - 1, at - 1),
        });
        all.push(("structs", structs, format!("var s: s{};\n", SOME - 1)));
        return all;
    }
    let open = "for (int i = 0; i < 1; i++) ";
    all.push(body("loops", format!("{}x = 1.0;\n", open.repeat(SOME))));
    all.push(body("choices", around("a > 0.0 ? 1.0 : ", "2.0", "", SOME)));
    let functions = lines(FUNCTIONS, |at| match at {
        0 => "float call0(float v) { return v; }\n".into(),
        _ => format!(
            "float call{at}(float v) {{ return call{}(v) + call{}(v); }}\n",
            at - 1,
            at - 1
        ),
    });
    all.push(("functions", functions, format!("x = call{}(a);\n", FUNCTIONS - 1)));
    let structs = lines(SOME, |at| match at {
        0 => "struct s0 { float v; };\n".into(),
        _ => format!("struct s{at} {{ s{} a; s{} b; }};\n", at - 1, at - 1),
    });
    all.push(("structs", structs, format!("s{} s;\n", SOME - 1)));
    let macros = lines(40, |at| match at {
        0 => "#define m0 a + a\n".into(),
        _ => format!("#define m{at} m{} + m{}\n", at - 1, at - 1),
    });
    all.push(("macros", macros, "x = m39;\n".into()));
    let conditions = format!("{}\n{}\n", "#if 1\n".repeat(MANY), "#endif\n".repeat(MANY));
    all.push(("conditions", conditions, String::new()));
    all
}

/// Texts of other kinds: what they are, the ending of their file, and the verb.
fn others() -> Vec<(&'static str, &'static str, String, &'static [&'static str])> {
    let gp = "mov.v $0 ^a0\n";
    let labels = lines(MANY, |at| format!("l{at}:\nbranch l{}\n", MANY - 1 - at));
    let module = |types: &str| {
        format!(
            "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n%float = OpTypeFloat 32\n{types}"
        )
    };
    let doubling = lines(SOME, |at| match at {
        0 => "%s0 = OpTypeStruct %float\n".into(),
        _ => format!("%s{at} = OpTypeStruct %s{} %s{}\n", at - 1, at - 1),
    });
    let pointers = lines(MANY, |at| match at {
        0 => "%p0 = OpTypePointer Function %float\n".into(),
        _ => format!("%p{at} = OpTypePointer Function %p{}\n", at - 1),
    });
    let amber = |text: &str| format!("#!amber\n{text}");
    vec![
        ("GP text, lines", "s", gp.repeat(MANY), &["as", "--gp"]),
        ("GP text, labels", "s", labels.clone(), &["as", "--gp"]),
        ("PP text, lines", "s", "mov.v1 $1 $0\n".repeat(MANY), &["as", "--pp"]),
        ("PP text, labels", "s", labels, &["as", "--pp"]),
        (
            "PP text, brackets",
            "s",
            format!("mov.v1 $1 {}$0{}\n", "abs(".repeat(MANY), ")".repeat(MANY)),
            &["as", "--pp"],
        ),
        ("SPIR-V text, structs", "spvasm", module(&doubling), &["as"]),
        ("SPIR-V text, pointers", "spvasm", module(&pointers), &["as"]),
        (
            "AmberScript, repeats",
            "amber",
            amber(&"REPEAT 2\n".repeat(MANY)),
            &["run"],
        ),
        (
            "AmberScript, unclosed shader",
            "amber",
            amber(&"SHADER fragment f GLSL\n".repeat(MANY)),
            &["run"],
        ),
        (
            "VkScript, lines",
            "shader_test",
            format!("[test]\n{}", "draw rect -1 -1 2 2\n".repeat(MANY)),
            &["run"],
        ),
        (
            "scene, brackets",
            "toml",
            format!("size = {}1{}\n", "[".repeat(MANY), "]".repeat(MANY)),
            &["draw", "--scene"],
        ),
    ]
}

/// Runs a command: the seconds that its process took of the processor, and the first line of what it says; `Err` where a
/// signal ended it.
fn time(command: &mut Command, folder: &Path) -> Result<(f64, String), String> {
    let printed = folder.join("printed.txt");
    let stdout = std::fs::File::create(&printed).expect("a file");
    let mut child = command
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let (mut bytes, mut pipe) = (Vec::new(), child.stderr.take().expect("a pipe"));
    pipe.read_to_end(&mut bytes).expect("readable");
    let start = std::time::Instant::now();
    let stat = Path::new("/proc").join(child.id().to_string()).join("stat");
    // A process that has ended has its times until it is waited for.
    let seconds = loop {
        let text = std::fs::read_to_string(&stat).unwrap_or_default();
        let fields: Vec<&str> = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
        let ticks = |at: usize| {
            fields
                .get(at)
                .and_then(|field| field.parse::<f64>().ok())
                .unwrap_or(0.0)
        };
        if fields.first() != Some(&"Z") && start.elapsed().as_secs() < 5 && !text.is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
            continue;
        }
        break (ticks(11) + ticks(12)) / 100.0;
    };
    let status = child.wait().expect("a status");
    bytes.extend(std::fs::read(&printed).expect("readable"));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let line = text.lines().find(|line| !line.is_empty()).unwrap_or("").to_owned();
    match status.code() {
        Some(0..=2) if status.success() || !line.is_empty() => Ok((seconds, line)),
        code => Err(format!("{code:?}: {}", text.chars().take(400).collect::<String>())),
    }
}

#[test]
fn deep_and_wide_texts_end_with_a_result_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut wrong = Vec::new();
    let mut judge = |name: String, verb: &str, command: &mut Command| {
        let (took, said) = match time(command, folder.path()) {
            Ok((seconds, said)) if seconds <= LIMIT => (seconds, said),
            Ok((seconds, said)) => {
                wrong.push(format!("{name}, {verb}: {seconds} s: {said}"));
                (seconds, said)
            }
            Err(error) => {
                wrong.push(format!("{name}, {verb}: {error}"));
                return;
            }
        };
        let said = said.rsplit('/').next().unwrap_or_default();
        let said = if said.is_empty() { "accepted" } else { said };
        println!(
            "{name:<32} {verb:<8} {took:>5.2} s  {}",
            said.chars().take(100).collect::<String>()
        );
    };
    let skrymir = || Command::new(env!("CARGO_BIN_EXE_skrymir"));
    for language in &LANGUAGES {
        for (name, declarations, body) in constructs(language.name == "WGSL") {
            let file = folder.path().join(format!("a.{}", language.ending));
            let text = [language.head, &declarations, language.begin, &body, language.end].concat();
            std::fs::write(&file, text).expect("written");
            let name = format!("{}, {name}", language.name);
            let stage = ["--stage", "frag", "-o"];
            judge(
                name.clone(),
                "compile",
                skrymir().arg("compile").arg(&file).args(stage).arg(&out),
            );
            let convert = ["--to", "spirv", "--stage", "frag", "-o"];
            judge(
                name,
                "convert",
                skrymir().arg("convert").arg(&file).args(convert).arg(&out),
            );
        }
    }
    for (name, ending, text, verb) in others() {
        let file = folder.path().join(format!("a.{ending}"));
        std::fs::write(&file, text).expect("written");
        let mut command = skrymir();
        command.args(verb).arg(&file);
        match verb[0] {
            "as" => command.arg("-o").arg(&out),
            "draw" => {
                let programs = ["mali/every_gp.s", "mali/every_pp.s"].map(common::data);
                command.args(programs).arg("-o").arg(&out)
            }
            _ => &mut command,
        };
        judge(name.to_owned(), verb[0], &mut command);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
