//! The report: its figures are the program's, its lines add up, its keys stay.

use skrymir_compiler::emit::{self, Code};
use skrymir_compiler::{Compiled, Input, Options, Stage, compile, lower, opt};
use utgard::stats;

fn compiled(text: &str, stage: Stage) -> Compiled {
    compile(Input::GlslEs(text, stage), &Options::default())
        .unwrap_or_else(|error| panic!("{}", error.render("a", text)))
}

const FRAGMENT: &str = "precision highp float;
varying vec2 v; uniform sampler2D s;
uniform float k[3];
void main() {
    vec4 c = texture2D(s, v * 2.0);
    if (v.x > k[1]) c.xy += sin(v) * 100000.0;
    for (int i = 0; i < 1500; i++) { if (c.x > 1.0) break; c.x += v.y; }
    gl_FragColor = c * gl_FragCoord.x;
}";

const VERTEX: &str = "attribute vec4 p; uniform mat4 m; varying vec2 v;
void main() {
    gl_Position = m * p;
    v = normalize(p.xyz).xy;
}";

#[test]
fn keys_stay() {
    let keys = |value: &serde_json::Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    };
    let report = compiled(FRAGMENT, Stage::Fragment).report;
    let json = serde_json::to_value(&report).expect("JSON");
    let wanted = [
        "bound",
        "instructions",
        "lines",
        "longest",
        "places",
        "registers",
        "shortest",
        "spill_loads",
        "spill_stores",
        "stage",
        "temporaries",
        "uniforms",
        "units",
        "varyings",
        "warnings",
        "words",
    ];
    assert_eq!(keys(&json), wanted);
    assert_eq!(keys(&json["lines"][0]), ["cost", "instructions", "line", "operations"]);
    assert_eq!(keys(&json["units"][0]), ["instructions", "name"]);
    assert_eq!(keys(&json["warnings"][0]), ["line", "message"]);
    assert_eq!(
        (&json["stage"], &json["varyings"], &json["uniforms"]),
        (&"fragment".into(), &2.into(), &4.into())
    );
}

/// Every figure of the JSON is in the text.
#[test]
fn text_says_the_same() {
    for (text, stage) in [(FRAGMENT, Stage::Fragment), (VERTEX, Stage::Vertex)] {
        let report = compiled(text, stage).report;
        let printed = report.to_string();
        let cycles = |cycles: Option<u32>| cycles.map_or("unbounded".to_owned(), |cycles| cycles.to_string());
        let mut wanted = vec![
            format!("{} instructions, {} words", report.instructions, report.words),
            format!(
                "shortest path {}, longest path {};",
                cycles(report.shortest),
                cycles(report.longest)
            ),
            format!("bound by {}", report.bound.expect("a unit")),
            format!(
                "registers {}, temporaries {}, spill stores {}, spill loads {}, uniforms {}, varyings {}",
                report.registers,
                report.temporaries,
                report.spill_stores,
                report.spill_loads,
                report.uniforms,
                report.varyings
            ),
        ];
        wanted.extend(
            report
                .units
                .iter()
                .map(|unit| format!("{} {}", unit.name, unit.instructions)),
        );
        wanted.extend(
            report
                .lines
                .iter()
                .map(|line| format!("{} operations in {}", line.operations, line.instructions)),
        );
        wanted.extend(report.warnings.iter().map(|warning| warning.message.clone()));
        for part in wanted {
            assert!(printed.contains(&part), "{part}\n{printed}");
        }
    }
}

/// The figures are those of the encoded words, and the lines' costs add up to them.
#[test]
fn figures_are_the_programs() {
    for (text, stage) in [(FRAGMENT, Stage::Fragment), (VERTEX, Stage::Vertex)] {
        let compiled = compiled(text, stage);
        let (report, counted) = (&compiled.report, stats::stats(&compiled.program));
        assert_eq!(
            (report.instructions, report.words),
            (counted.instructions, counted.words)
        );
        assert_eq!(report.words as usize, compiled.program.code.len());
        assert_eq!(
            (report.shortest, report.longest),
            (counted.paths.shortest, counted.paths.longest)
        );
        // Each instruction's lines, and each line's instructions, are the same.
        assert_eq!(report.places.len(), report.instructions as usize);
        for line in &report.lines {
            let Some(number) = line.line else { continue };
            let of_line = report.places.iter().filter(|lines| lines.contains(&number));
            assert_eq!(of_line.count(), line.instructions as usize, "line {number}\n{report}");
        }
        assert!(report.places.iter().all(|lines| lines.is_sorted_by(|a, b| a < b)));
        let cost: f64 = report.lines.iter().map(|line| line.cost).sum();
        assert!(
            (cost - f64::from(report.instructions)).abs() < 1e-6,
            "{cost} of {}",
            report.instructions
        );
        let most = text.lines().count() as u32;
        assert!(
            report
                .lines
                .iter()
                .all(|line| line.line.is_none_or(|line| line >= 1 && line <= most))
        );
        let units = report.units.iter().filter(|unit| !unit.name.starts_with("const"));
        let busiest = units.map(|unit| unit.instructions).max();
        let bound = report.units.iter().find(|unit| Some(unit.name) == report.bound);
        assert_eq!(bound.map(|unit| unit.instructions), busiest);
    }
    // A straight program takes one cycle for each instruction; one with a loop whose end is not known has no longest way.
    let straight = compiled(VERTEX, Stage::Vertex).report;
    assert_eq!(
        (straight.shortest, straight.longest),
        (Some(straight.instructions), Some(straight.instructions))
    );
    let looped = compiled(FRAGMENT, Stage::Fragment).report;
    assert!(looped.longest.is_none() && looped.shortest < Some(looped.instructions));
}

/// What the back ends say of their programs is what the words of these show.
#[test]
fn programs_say_what_they_have() {
    let mut programs = 0;
    for (table, stage) in [(crate::FRAGMENTS, Stage::Fragment), (crate::VERTICES, Stage::Vertex)] {
        for (name, text) in table {
            let text = format!("#extension GL_OES_standard_derivatives : enable\nprecision mediump float;\n{text}");
            let shader = compiled(&text, stage).shader;
            let mut function = shader.function;
            lower::lower(&mut function, stage).expect(name);
            opt::optimise_lowered(&mut function);
            lower::lower(&mut function, stage).expect(name);
            opt::dead(&mut function);
            let emitted = emit::emit(stage, &function, &shader.interface, false).expect(name);
            let counted = stats::stats(&emitted.program);
            let (instructions, registers, lists) = match &emitted.code {
                Code::Vertex(code) => (
                    code.instructions.len(),
                    code.registers,
                    [code.spans.len(), code.assigned.len()],
                ),
                Code::Fragment(code) => (
                    code.instructions.len(),
                    code.registers,
                    [code.spans.len(), code.assigned.len()],
                ),
            };
            assert_eq!(instructions, counted.instructions as usize, "{name}");
            if let Code::Fragment(code) = &emitted.code {
                let mut samplers = code.instructions.iter().filter_map(|i| i.sampler);
                assert!(samplers.all(|sampler| sampler.constant == utgard::pp::Sampler::CONSTANT));
            }
            assert_eq!(registers, counted.registers, "{name}");
            assert_eq!(
                lists, [instructions; 2],
                "{name}: places and values of each instruction"
            );
            programs += 1;
        }
    }
    assert!(programs > 15);
}

#[test]
fn precision_is_reported() {
    let report = compiled(FRAGMENT, Stage::Fragment).report;
    for (line, part) in [
        (1, "highp"),
        (5, "coordinates"),
        (6, "100000 is more than fp16 holds"),
        (7, "the integer 1500 is near the end"),
        (8, "position in the window"),
    ] {
        let found = report
            .warnings
            .iter()
            .any(|warning| warning.line == Some(line) && warning.message.contains(part));
        assert!(found, "line {line}: {part}\n{report}");
    }
    // Negative control: nothing to say of a program that asks for nothing.
    let plain =
        "precision mediump float; uniform sampler2D s; varying vec2 v; void main() { gl_FragColor = texture2D(s, v); }";
    assert_eq!(compiled(plain, Stage::Fragment).report.warnings, []);
    assert_eq!(compiled(VERTEX, Stage::Vertex).report.warnings, []);
}

/// Constants that fp16 does not hold: the number, and words of the warning.
#[test]
fn constants_beyond_fp16_are_reported() {
    for (number, says) in [
        ("65504.0", None),
        ("65519.0", None),
        ("65520.0", Some("65520 is more than fp16 holds")),
        ("-1000000.0", Some("-1000000 is more than fp16 holds")),
        ("0.0001", None),
        ("0.00007", None),
        ("0.00005", Some("5e-5 is less than fp16 holds")),
        ("-0.000001", Some("-1e-6 is less than fp16 holds")),
        ("0.0", None),
    ] {
        let text = format!(
            "precision mediump float;\nvarying vec2 v;\nvoid main() {{ gl_FragColor = vec4(max(v.x, {number})); }}"
        );
        let warnings = compiled(&text, Stage::Fragment).report.warnings;
        let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
        match says {
            None => assert!(messages.is_empty(), "{number}: {messages:?}"),
            Some(says) => assert!(
                messages.len() == 1 && messages[0].contains(says),
                "{number}: {messages:?}"
            ),
        }
        assert!(warnings.iter().all(|warning| warning.line == Some(3)));
        // The vertex processor has fp32.
        let text = format!("attribute vec2 v; void main() {{ gl_Position = vec4(max(v.x, {number})); }}");
        assert_eq!(compiled(&text, Stage::Vertex).report.warnings, []);
    }
}

/// What finds no register goes to temporaries, and the report says so of both stages.
#[test]
fn spills_are_counted() {
    let body = |from: &str, count: u32| {
        let lines = |line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<Vec<_>>().join("\n");
        let (values, sum) = (
            lines(&|at| format!("vec4 x{at} = sqrt(abs({from} * {at}.5 + 0.25));")),
            lines(&|at| format!("s = s * x{at} + x{at}.yzwx;")),
        );
        format!("{values} vec4 s = {from}; for (int i = 0; i < 300; i++) {{ if (float(i) > k) break; {sum} }}")
    };
    let fragment = format!(
        "precision mediump float; varying vec4 v; uniform float k; void main() {{ {} gl_FragColor = s; }}",
        body("v", 24)
    );
    let vertex = format!(
        "attribute vec4 v; uniform float k; varying vec4 o; void main() {{ {} o = s; gl_Position = v; }}",
        body("v", 18)
    );
    for (text, stage) in [(fragment, Stage::Fragment), (vertex, Stage::Vertex)] {
        let report = compiled(&text, stage).report;
        println!(
            "{stage:?}: {} instructions, {} floats of temporaries, {} stores, {} loads",
            report.instructions, report.temporaries, report.spill_stores, report.spill_loads
        );
        assert!(
            report.temporaries > 0 && report.spill_stores > 0 && report.spill_loads > 0,
            "{report}"
        );
    }
    // Uniforms are no spilled numbers.
    for (text, stage) in [(FRAGMENT, Stage::Fragment), (VERTEX, Stage::Vertex)] {
        let report = compiled(text, stage).report;
        assert_eq!((report.spill_stores, report.spill_loads), (0, 0), "{report}");
    }
}

/// The numbers that each name of the source has had, where they are known when it is compiled.
#[test]
fn names_stand_for_their_values() {
    let text = "precision highp float; varying vec2 v;
        float f(float x, inout float y) { float z = x + y; y = z * 2.0; return z; }
        float g(const in vec2 p) { return p.x * p.y; }
        void last(out float r) { r = 7.0; }
        void main() { float y = 3.0; float a = f(2.0, y); float b[2]; b[1] = 4.0; float c = f(1.0, b[1]); float d; last(d);
          vec2 n = vec2(a, g(vec2(3.0, 5.0))); gl_FragColor = vec4(n, y + c, d + b[1]) * v.x; }";
    let function = compiled(text, Stage::Fragment).shader.function;
    let values = |name: &str| -> Vec<f32> {
        let own = function
            .assigned
            .iter()
            .filter(|(_, local, _)| function.locals[*local as usize].name == name);
        let mut all: Vec<f32> = own.filter_map(|(value, ..)| function.constant(*value)).collect();
        all.sort_by(f32::total_cmp);
        all.dedup();
        all
    };
    // f(2.0, 3.0) gives 5.0 and makes y 10.0; f(1.0, 4.0) gives 5.0 and makes b[1] 10.0.
    for (name, wanted) in [
        ("x", &[1.0, 2.0][..]),
        ("z", &[5.0]),
        ("y", &[3.0, 4.0, 10.0]),
        ("a", &[5.0]),
        ("c", &[5.0]),
        ("p", &[3.0, 5.0]),
        ("r", &[7.0]),
        ("d", &[7.0]),
        ("n", &[5.0, 15.0]),
    ] {
        let have = values(name);
        assert!(wanted.iter().all(|value| have.contains(value)), "{name}: {have:?}");
    }
    // Calls know where they were made.
    let names: Vec<&str> = function.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(
        names.iter().filter(|name| name.starts_with('f')).count(),
        2,
        "{names:?}"
    );
    assert!(function.calls[0].caller.is_none() && function.calls[1..].iter().all(|call| call.caller.is_some()));
}
