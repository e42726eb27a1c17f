//! GLSL ES 1.00 as the reference front end judges it: an invalid and a valid text for each kind of error, and the same
//! verdicts as the installed `glslangValidator` on texts of the corpus.
#![cfg(all(feature = "glslang", not(target_family = "wasm")))]
#![allow(missing_docs)]

use skrymir_translate::frontend::{Dialect, Settings, Stage, Text, judge};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The error, the stage, an invalid text and a valid one.
#[rustfmt::skip]
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("version twice", "frag", "#version 100\n#version 100\nvoid main() { gl_FragColor = vec4(0.0); }", "#version 100\nvoid main() { gl_FragColor = vec4(0.0); }"),
    ("version behind code", "frag", "void f() {}\n#version 100\nvoid main() { gl_FragColor = vec4(0.0); }", "#version 100\nvoid f() {}\nvoid main() { gl_FragColor = vec4(0.0); }"),
    ("extension without behaviour", "frag", "#extension GL_OES_standard_derivatives\nvoid main() { gl_FragColor = vec4(0.0); }", "#extension all : warn\nvoid main() { gl_FragColor = vec4(0.0); }"),
    ("required extension that is none", "frag", "#extension GL_EXT_no_such_thing : require\nvoid main() { gl_FragColor = vec4(0.0); }", "#extension GL_EXT_no_such_thing : enable\nvoid main() { gl_FragColor = vec4(0.0); }"),
    ("array of arrays", "frag", "void main() { int a[2][3]; gl_FragColor = vec4(0.0); }", "void main() { int a[6]; a[0] = 1; gl_FragColor = vec4(0.0); }"),
    ("array without a constant length", "frag", "uniform int n;\nvoid main() { float a[n]; gl_FragColor = vec4(0.0); }", "precision mediump float;\nvoid main() { const int n = 2; float a[n]; a[0] = 1.0; gl_FragColor = vec4(a[0]); }"),
    ("attribute of integers", "vert", "attribute int a;\nvoid main() { gl_Position = vec4(a); }", "attribute float a;\nvoid main() { gl_Position = vec4(a); }"),
    ("attribute in a function", "vert", "void main() { attribute vec4 a; gl_Position = a; }", "attribute vec4 a;\nvoid main() { gl_Position = a; }"),
    ("written attribute", "vert", "attribute vec4 a;\nvoid main() { a = vec4(1.0); gl_Position = a; }", "attribute vec4 a;\nvoid main() { vec4 b = a; b = vec4(1.0); gl_Position = b; }"),
    ("comma as a constant", "vert", "void main() { const int a = (1, 2); gl_Position = vec4(a); }", "void main() { int a = (1, 2); gl_Position = vec4(a); }"),
    ("number as a condition", "frag", "void main() { int a = 1; if (a) gl_FragColor = vec4(0.0); }", "void main() { int a = 1; if (a == 1) gl_FragColor = vec4(0.0); }"),
    ("number before a question mark", "frag", "void main() { int a = 1; gl_FragColor = vec4(a ? 1 : 0); }", "void main() { int a = 1; gl_FragColor = vec4(a == 1 ? 1 : 0); }"),
    ("branches of two types", "frag", "void main() { gl_FragColor = vec4(true ? 1 : 1.0); }", "void main() { gl_FragColor = vec4(true ? 1 : 2); }"),
    ("number in while", "frag", "void main() { int a = 1; while (a) a = 0; gl_FragColor = vec4(0.0); }", "void main() { bool a = true; while (a) a = false; gl_FragColor = vec4(0.0); }"),
    ("number in do while", "frag", "void main() { int a = 1; do a = 0; while (a); gl_FragColor = vec4(0.0); }", "void main() { int a = 1; do a = 0; while (a == 1); gl_FragColor = vec4(0.0); }"),
    ("float to int", "frag", "void main() { int a = 1.0; gl_FragColor = vec4(a); }", "void main() { int a = int(1.0); gl_FragColor = vec4(a); }"),
    ("int to float", "frag", "precision mediump float;\nvoid main() { float a = 1; gl_FragColor = vec4(a); }", "precision mediump float;\nvoid main() { float a = 1.0; gl_FragColor = vec4(a); }"),
    ("int times float", "frag", "precision mediump float;\nvoid main() { gl_FragColor = vec4(2 * 1.5); }", "precision mediump float;\nvoid main() { gl_FragColor = vec4(2.0 * 1.5); }"),
    ("vectors of integers and floats", "frag", "void main() { ivec4 a = ivec4(1) + 1.0; gl_FragColor = vec4(a); }", "void main() { ivec4 a = ivec4(1) + 1; gl_FragColor = vec4(a); }"),
    ("vectors of two lengths", "frag", "void main() { gl_FragColor = vec3(1.0); }", "void main() { gl_FragColor = vec4(vec3(1.0), 1.0); }"),
    ("too few parts", "frag", "void main() { gl_FragColor = vec4(1.0, 2.0); }", "void main() { gl_FragColor = vec4(1.0, 2.0, 3.0, 4.0); }"),
    ("suffix of a number", "frag", "void main() { gl_FragColor = vec4(1.0f); }", "void main() { gl_FragColor = vec4(1.0); }"),
    ("value of a void function", "frag", "void f() { return 1; }\nvoid main() { f(); gl_FragColor = vec4(0.0); }", "int f() { return 1; }\nvoid main() { f(); gl_FragColor = vec4(0.0); }"),
    ("function without its value", "frag", "int f() { return; }\nvoid main() { gl_FragColor = vec4(f()); }", "int f() { return 1; }\nvoid main() { gl_FragColor = vec4(f()); }"),
    ("main with a parameter", "vert", "void main(int a) { gl_Position = vec4(a); }", "void main(void) { gl_Position = vec4(0.0); }"),
    ("main with a value", "vert", "int main() { gl_Position = vec4(0.0); return 1; }", "void main() { gl_Position = vec4(0.0); }"),
    ("function in a function", "frag", "void main() { void f() {} gl_FragColor = vec4(0.0); }", "void f() {}\nvoid main() { f(); gl_FragColor = vec4(0.0); }"),
    ("function that calls itself", "frag", "int f(int a) { return f(a); }\nvoid main() { gl_FragColor = vec4(f(1)); }", "int f(int a) { return a; }\nvoid main() { gl_FragColor = vec4(f(1)); }"),
    ("written varying of a fragment", "frag", "precision mediump float;\nvarying vec4 a;\nvoid main() { a = vec4(1.0); gl_FragColor = a; }", "precision mediump float;\nvarying vec4 a;\nvoid main() { gl_FragColor = a; }"),
    ("varying of a struct", "vert", "struct S { vec4 a; };\nvarying S s;\nvoid main() { gl_Position = s.a; }", "varying vec4 s;\nvoid main() { s = vec4(0.0); gl_Position = s; }"),
    ("varying of integers", "vert", "varying ivec2 a;\nvoid main() { gl_Position = vec4(0.0); }", "varying vec2 a;\nvoid main() { a = vec2(0.0); gl_Position = vec4(0.0); }"),
    ("no default precision", "frag", "varying vec4 a;\nvoid main() { gl_FragColor = a; }", "varying mediump vec4 a;\nvoid main() { gl_FragColor = a; }"),
    ("derivative without its extension", "frag", "precision mediump float;\nvarying float a;\nvoid main() { gl_FragColor = vec4(dFdx(a)); }", "#extension GL_OES_standard_derivatives : enable\nprecision mediump float;\nvarying float a;\nvoid main() { gl_FragColor = vec4(dFdx(a)); }"),
    ("index out of range", "frag", "uniform mediump vec4 a[2];\nvoid main() { gl_FragColor = a[2]; }", "uniform mediump vec4 a[2];\nvoid main() { gl_FragColor = a[1]; }"),
    ("struct in a struct", "frag", "struct S { struct T { int a; } t; };\nvoid main() { gl_FragColor = vec4(0.0); }", "struct T { int a; };\nstruct S { T t; };\nvoid main() { gl_FragColor = vec4(0.0); }"),
    ("struct with an initialiser", "frag", "struct S { int a = 1; };\nvoid main() { gl_FragColor = vec4(0.0); }", "struct S { int a; };\nvoid main() { S s = S(1); gl_FragColor = vec4(s.a); }"),
    ("unknown member", "frag", "struct S { int a; };\nvoid main() { S s = S(1); gl_FragColor = vec4(s.b); }", "struct S { int a; };\nvoid main() { S s = S(1); gl_FragColor = vec4(s.a); }"),
    ("ordered structs", "frag", "struct S { int a; };\nvoid main() { S s = S(1); if (s < s) gl_FragColor = vec4(0.0); }", "struct S { int a; };\nvoid main() { S s = S(1); if (s == s) gl_FragColor = vec4(0.0); }"),
    ("reserved word", "frag", "void main() { int goto = 1; gl_FragColor = vec4(goto); }", "void main() { int go = 1; gl_FragColor = vec4(go); }"),
    ("reserved name", "frag", "void main() { int gl_mine = 1; gl_FragColor = vec4(gl_mine); }", "void main() { int mine = 1; gl_FragColor = vec4(mine); }"),
    ("bits", "frag", "void main() { gl_FragColor = vec4(6 & 3); }", "void main() { gl_FragColor = vec4(6 / 3); }"),
    ("remainder", "frag", "void main() { gl_FragColor = vec4(6 % 3); }", "void main() { gl_FragColor = vec4(6 - 3); }"),
    ("unknown function", "frag", "void main() { gl_FragColor = saturate(vec4(1.0)); }", "void main() { gl_FragColor = clamp(vec4(1.0), 0.0, 1.0); }"),
    ("unknown name", "frag", "void main() { gl_FragColor = vec4(none); }", "void main() { int none = 1; gl_FragColor = vec4(none); }"),
    ("name declared twice", "frag", "void main() { int a = 1; int a = 2; gl_FragColor = vec4(a); }", "void main() { int a = 1; { int a = 2; } gl_FragColor = vec4(a); }"),
    ("global of a uniform", "frag", "uniform mediump float u;\nmediump float a = u;\nvoid main() { gl_FragColor = vec4(a); }", "uniform mediump float u;\nvoid main() { mediump float a = u; gl_FragColor = vec4(a); }"),
    ("written uniform", "frag", "uniform mediump float u;\nvoid main() { u = 1.0; gl_FragColor = vec4(u); }", "uniform mediump float u;\nvoid main() { gl_FragColor = vec4(u); }"),
    ("missing semicolon", "frag", "void main() { gl_FragColor = vec4(0.0) }", "void main() { gl_FragColor = vec4(0.0); }"),
    ("missing brace", "frag", "void main() { gl_FragColor = vec4(0.0);", "void main() { gl_FragColor = vec4(0.0); }"),
    ("vertex words in a fragment", "frag", "void main() { gl_Position = vec4(0.0); }", "void main() { gl_FragColor = gl_FragCoord; }"),
    ("later constructor of arrays", "frag", "void main() { int a[2] = int[2](1, 2); gl_FragColor = vec4(a[0]); }", "void main() { int a[2]; a[0] = 1; gl_FragColor = vec4(a[0]); }"),
    ("switch", "frag", "void main() { switch (1) { case 1: gl_FragColor = vec4(0.0); } }", "void main() { if (1 == 1) gl_FragColor = vec4(0.0); }"),
];

fn is_right(text: &str, ending: &str) -> bool {
    let stage = Stage::of_ending(ending).expect("a stage");
    judge(&[Text::new(text, Path::new("a"), Dialect::Glsl, stage, Settings::NONE)]).is_ok()
}

#[test]
fn each_kind_of_error_is_rejected() {
    for (what, stage, wrong, right) in KINDS {
        assert!(!is_right(wrong, stage), "{what}: {wrong}");
        assert!(is_right(right, stage), "{what}: {right}");
    }
    println!("{} kinds", KINDS.len());
}

/// A sample of the corpus, or with `FIELD_ALL=1` all of it.
#[test]
fn verdicts_match_the_installed_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/field/retro");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let step = if std::env::var_os("FIELD_ALL").is_some() { 1 } else { 9 };
    let (mut taken, mut count) = (0, 0);
    for path in files.iter().step_by(step) {
        let Some(ending) = path.extension().and_then(|ending| ending.to_str()) else {
            continue;
        };
        let Ok(output) = Command::new("glslangValidator").arg(path).output() else {
            println!("glslangValidator is not installed");
            return;
        };
        let text = std::fs::read_to_string(path).expect("a text");
        assert_eq!(is_right(&text, ending), output.status.success(), "{}", path.display());
        count += 1;
        taken += u32::from(output.status.success());
    }
    println!("{count} texts, {taken} of them right");
}
