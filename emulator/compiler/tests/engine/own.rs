//! Shaders of our own, `tests/data/compiler`: many features each, in WGSL, GLSL 4 and GLSL ES.

use crate::run::{Tally, check, fragment, vertex, well_formed};
use skrymir_compiler::{Compiled, Input, Options, Stage, compile, glsl_es};
use std::path::{Path, PathBuf};
use translate::{Language, ShaderStage, Source};

/// The folder, or that in `COMPILER_SHADERS`.
fn folder() -> PathBuf {
    if let Some(other) = std::env::var_os("COMPILER_SHADERS") {
        return other.into();
    }
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/compiler")
}

/// Files with an ending, in their order.
fn files(ending: &str) -> Vec<(String, String)> {
    let all = std::fs::read_dir(folder()).expect("the folder");
    let paths = all.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|have| have == ending))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a text");
        (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
    };
    paths.into_iter().map(read).collect()
}

fn right(name: &str, compiled: &Compiled, tally: &mut Tally) {
    well_formed(name, &compiled.program);
    for seed in 0..8 {
        match compiled.shader.stage {
            Stage::Vertex => vertex(name, compiled, seed, tally),
            Stage::Fragment => fragment(name, compiled, seed, tally),
        }
    }
}

fn compiled(name: &str, text: &str, source: &Source<'_>) -> Compiled {
    compile(Input::Source(source), &Options::default()).unwrap_or_else(|error| panic!("{}", error.render(name, text)))
}

/// Calls a function with every entry point of the folder's WGSL: its name, the text, and the source.
pub(crate) fn each_entry_point(mut f: impl FnMut(&str, &str, &Source<'_>)) {
    for (name, text) in files("wgsl") {
        let module = translate::naga::front::wgsl::parse_str(&text).expect(&name);
        for entry in &module.entry_points {
            let source = Source::new(&name, text.as_bytes()).expect("a source");
            let source = source.stage(entry.stage).entry(&entry.name);
            f(&format!("{name} {}", entry.name), &text, &source);
        }
    }
}

/// Calls a function with each file of GLSL ES: its name, text and stage.
pub(crate) fn each_of_es(mut f: impl FnMut(&str, &str, Stage)) {
    for (ending, stage) in [("vert", Stage::Vertex), ("frag", Stage::Fragment)] {
        for (name, text) in files(ending).iter().filter(|(_, text)| glsl_es::recognises(text)) {
            f(name, text, stage);
        }
    }
}

#[test]
fn wgsl() {
    let mut tally = Tally::default();
    let mut count = 0;
    each_entry_point(|name, text, source| {
        right(name, &compiled(name, text, source), &mut tally);
        count += 1;
    });
    println!(
        "{count} entry points of WGSL: {} numbers, {} without a bound",
        tally.compared, tally.unsure
    );
    assert!(count >= 13 && tally.compared > 2 * tally.unsure, "{count}");
}

#[test]
fn glsl() {
    let (mut modern, mut old) = (Tally::default(), Tally::default());
    let mut counts = [0, 0];
    for ending in ["vert", "frag"] {
        for (name, text) in files(ending) {
            let source = Source::new(&name, text.as_bytes()).expect("a source");
            assert_eq!(source.language, Language::Glsl);
            if glsl_es::recognises(&text) {
                let stage = match source.stage {
                    Some(ShaderStage::Vertex) => Stage::Vertex,
                    _ => Stage::Fragment,
                };
                check(&name, &text, stage, &mut old);
            } else {
                right(&name, &compiled(&name, &text, &source), &mut modern);
            }
            counts[usize::from(glsl_es::recognises(&text))] += 1;
        }
    }
    for (what, count, tally) in [("GLSL 4", counts[0], modern), ("GLSL ES", counts[1], old)] {
        println!(
            "{count} files of {what}: {} numbers, {} without a bound",
            tally.compared, tally.unsure
        );
        assert!(tally.compared > tally.unsure, "{what}");
    }
    assert!(counts[0] >= 3 && counts[1] >= 8, "{counts:?}");
}

/// What every shader of this folder, of the tables of this test, of those that need many registers and some random ones takes: its
/// instructions, words and registers, floats of temporaries, spill stores and loads, and its instructions when compiled
/// conservatively, are not more than `lengths.txt` says. `COMPILER_LENGTHS=write` writes the file.
#[test]
fn programs_do_not_grow() {
    let mut lengths = Vec::new();
    let mut add = |name: &str, input: Input<'_>| {
        let report = |conservative| compile(input, &Options { conservative }).expect(name).report;
        let scheduled = report(false);
        // Of vertex programs that is the same.
        let slow = match scheduled.stage {
            Stage::Vertex => scheduled.instructions,
            Stage::Fragment => report(true).instructions,
        };
        lengths.push(format!(
            "{name}: {} {} {slow} {} {} {} {}",
            scheduled.instructions,
            scheduled.words,
            scheduled.registers,
            scheduled.temporaries,
            scheduled.spill_stores,
            scheduled.spill_loads
        ));
    };
    each_entry_point(|name, _, source| add(name, Input::Source(source)));
    for (table, stage) in [(crate::FRAGMENTS, Stage::Fragment), (crate::VERTICES, Stage::Vertex)] {
        for (name, text) in table {
            let extension = "#extension GL_OES_standard_derivatives : enable\nprecision mediump float;\n";
            let text = format!("{extension}{text}");
            add(&format!("{stage:?} {name}"), Input::GlslEs(&text, stage));
        }
    }
    crate::pressure::each(|name, text, stage, _, _| add(name, Input::GlslEs(text, stage)));
    crate::random::each(|name, text, stage| add(name, Input::GlslEs(text, stage)));
    crate::values::each_operation(|name, source| add(name, Input::Source(source)));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/lengths.txt");
    if std::env::var_os("COMPILER_LENGTHS").is_some_and(|asked| asked == "write") {
        std::fs::write(&path, lengths.join("\n") + "\n").expect("a file");
    }
    let known = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(known.lines().count(), lengths.len());
    for (known, have) in known.lines().zip(&lengths) {
        let parts = |line: &str| -> (String, Vec<u32>) {
            let (name, numbers) = line.rsplit_once(": ").expect("a name and numbers");
            let numbers = numbers.split(' ').map(|number| number.parse().expect("a number"));
            (name.to_owned(), numbers.collect())
        };
        let ((name, most), (same, have)) = (parts(known), parts(have));
        assert_eq!(name, same);
        assert!(
            have.iter().zip(&most).all(|(have, most)| have <= most),
            "{name}: {have:?} for {most:?}"
        );
    }
}

/// A VBC's code has no names of its own: its uniforms have those of its reflection.
#[test]
fn uniforms_of_a_vbc_have_names() {
    let bytes = std::fs::read(folder().join("../vbc/textured.vbc")).expect("a file");
    let source = Source::new("textured.vbc", &bytes).expect("a source");
    let names = |stage: ShaderStage| -> Vec<String> {
        let compiled = compile(Input::Source(&source.stage(stage)), &Options::default()).expect("a program");
        let uniforms = compiled.shader.interface.uniforms.iter();
        uniforms.map(|variable| variable.name.clone()).collect()
    };
    for stage in [ShaderStage::Vertex, ShaderStage::Fragment] {
        assert_eq!(names(stage), ["mvp", "tint", "offset"], "{stage:?}");
    }
}
