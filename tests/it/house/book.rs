//! The book's tutorials work as written, and its manuals are complete.
//!
//! In `docs/book/src/tutorials` a block ```` ```sh,run ```` is run, in order with the others of its page, in a new folder
//! that contains the checkout's `tests`, `examples` and `docs`, with `skrymir` on the path. Further words: `exit=N` is
//! its exit code if it is not 0, `gles` runs it only if OpenGL ES programs can run. The block after it,
//! ```` ```text,output ````, is its output: `...` in a line matches any text, alone on a line any lines.

use crate::gles::support::driver;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use skrymir::scene::Scene;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Matches any lines if it is alone on a line, and any text within a line.
const ANYTHING: &str = "...";

/// The pages of the book.
pub(super) fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/book/src")
}

/// A fenced block of a page.
struct Block {
    /// The words of its first line.
    info: Vec<String>,
    text: String,
    /// Number of its first line.
    line: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for (event, Range { start, .. }) in Parser::new_ext(page, Options::all()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                inside = true;
                blocks.push(Block {
                    info: info.split(',').map(str::to_owned).collect(),
                    text: String::new(),
                    line: page[..start].lines().count() + 1,
                });
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(text) if inside => blocks.last_mut().expect("a block").text.push_str(&text),
            _ => {}
        }
    }
    blocks
}

/// A block to run, with its expected result.
#[derive(Debug, PartialEq)]
struct Step {
    line: usize,
    script: String,
    code: i32,
    gles: bool,
    output: Option<String>,
}

/// The steps of a page; unknown words are an error.
fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    // Whether the last block is a step, which an output may follow.
    let mut fresh = false;
    for Block { info, text, line } in blocks(page) {
        let words: Vec<&str> = info.iter().map(String::as_str).collect();
        match words[..] {
            ["sh", "run", ref more @ ..] => {
                let mut step = Step {
                    line,
                    script: text,
                    code: 0,
                    gles: false,
                    output: None,
                };
                for word in more {
                    match (*word, word.strip_prefix("exit=").map(str::parse)) {
                        ("gles", _) => step.gles = true,
                        (_, Some(Ok(code))) => step.code = code,
                        _ => return Err(format!("line {line}: unknown word `{word}`")),
                    }
                }
                steps.push(step);
                fresh = true;
            }
            ["text", "output"] => match steps.last_mut() {
                Some(step) if fresh => (step.output, fresh) = (Some(text), false),
                _ => return Err(format!("line {line}: output of what?")),
            },
            [_] => fresh = false,
            _ => return Err(format!("line {line}: unknown words `{}`", words.join(","))),
        }
    }
    Ok(steps)
}

/// Whether a line matches its pattern.
fn fits(written: &str, line: &str) -> bool {
    let mut parts = written.split(ANYTHING);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether lines match their patterns.
fn is_output(written: &[&str], lines: &[&str]) -> bool {
    match (written.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((&ANYTHING, more)), _) => (0..=lines.len()).any(|skipped| is_output(more, &lines[skipped..])),
        (Some((first, more)), Some((line, rest))) => fits(first, line) && is_output(more, rest),
        _ => false,
    }
}

/// The path, starting with the folder of the command under test.
fn path() -> std::ffi::OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_skrymir")).parent().expect("a folder");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(own.to_owned()).chain(std::env::split_paths(&others));
    std::env::join_paths(all).expect("a path")
}

/// Runs a step in a folder.
fn run(step: &Step, folder: &Path) -> Result<(), String> {
    let done = Command::new("bash")
        .args(["-euo", "pipefail", "-c"])
        // Both in the order of their output.
        .arg(format!("exec 2>&1\n{}", step.script))
        .current_dir(folder)
        .env("PATH", path())
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&done.stdout);
    let place = format!("line {}:\n{}", step.line, step.script);
    if done.status.code() != Some(step.code) {
        return Err(format!("{place}{}, not {}; it said\n{said}", done.status, step.code));
    }
    let Some(written) = &step.output else { return Ok(()) };
    let (written, lines): (Vec<&str>, Vec<&str>) = (written.lines().collect(), said.lines().collect());
    if is_output(&written, &lines) {
        return Ok(());
    }
    Err(format!("{place}it said\n{said}and not\n{}", written.join("\n")))
}

/// Runs a tutorial.
#[cfg(unix)]
fn follow(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(source().join("tutorials").join(name)).expect("the page");
    let folder = tempfile::tempdir().expect("a folder");
    for inside in ["docs", "examples", "tests"] {
        std::os::unix::fs::symlink(root.join(inside), folder.path().join(inside)).expect("a link");
    }
    let all = steps(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(all.len() > 5, "{name}: {} steps", all.len());
    let mut left_out = 0;
    for step in &all {
        if step.gles && driver().is_none() {
            left_out += 1;
        } else if let Err(error) = run(step, folder.path()) {
            panic!("{name}, {error}");
        }
    }
    println!("{name}: {} steps, {left_out} of them left out", all.len());
}

#[cfg(unix)]
#[test]
fn the_tutorial_for_engines_works() {
    follow("engine.md");
}

#[cfg(unix)]
#[test]
fn the_tutorial_for_drivers_works() {
    follow("driver.md");
}

#[cfg(unix)]
#[test]
fn the_tutorial_for_boards_works() {
    follow("board.md");
}

#[cfg(unix)]
#[test]
fn the_tutorial_for_games_works() {
    follow("game.md");
}

/// Negative control: errors are found.
#[test]
fn wrong_steps_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let verdicts = |page: &str| -> Vec<bool> {
        let steps = steps(page).expect("steps");
        steps.iter().map(|step| run(step, folder.path()).is_ok()).collect()
    };
    let page = "```sh,run\nskrymir devise\n```\n```sh,run,exit=2\nskrymir devise 2>/dev/null\n```\n\
                ```sh,run\nfalse; true\n```\n```sh,run\nfalse | true\n```\n```sh\nfalse\n```\n";
    assert_eq!(verdicts(page), [false, true, false, false]);
    let said =
        |output: &str| format!("```sh,run\nprintf 'one\\ntwo 2\\nthree\\n'\n```\n\n```text,output\n{output}\n```\n");
    let outputs = [
        ("one\ntwo 2\nthree", true),
        ("one\n...", true),
        ("one\ntwo ...\nthree", true),
        ("...\nthree", true),
        ("...\none\n...\nthree\n...", true),
        ("one\ntwo 2", false),
        ("one\ntwo 2\nthree\nfour", false),
        ("one\ntwo\nthree", false),
        ("one\n...wo 3\nthree", false),
        ("...\ntwo 2", false),
        ("", false),
    ];
    for (output, right) in outputs {
        assert_eq!(verdicts(&said(output)), [right], "{output}");
    }
    for wrong in ["```sh,runs\n```\n", "```sh,run,exit=x\n```\n", "```text,output\n```\n"] {
        assert!(steps(wrong).is_err(), "{wrong}");
    }
    assert!(steps("```sh,run\n```\n```sh\n```\n```text,output\n```\n").is_err());
}

/// A manual, which `skrymir help` prints.
fn manual(name: &str) -> String {
    std::fs::read_to_string(source().join(name)).expect("the manual")
}

/// The code spans of a page.
fn code(page: &str) -> String {
    let mut code = String::new();
    let mut fenced = false;
    for event in Parser::new_ext(page, Options::all()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => fenced = true,
            Event::End(TagEnd::CodeBlock) => fenced = false,
            Event::Text(text) if fenced => code += &text,
            Event::Code(text) => code = code + &text + "\n",
            _ => {}
        }
    }
    code
}

/// Whether a name is in a text as a word.
fn has(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

#[test]
fn manuals_fit_a_terminal() {
    for name in ["scene.md", "assembly.md"] {
        let manual = manual(name);
        let long = manual.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "{name}");
    }
}

/// The keys in the reader's error message for an unknown key of a scene.
fn known(scene: &str) -> Vec<String> {
    let error = Scene::parse(scene, Path::new("")).expect_err("an error").to_string();
    let list = error.split("expected").nth(1).unwrap_or_else(|| panic!("{error}"));
    let names: Vec<String> = list.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(names.len() > 1, "{error}");
    names
}

#[test]
fn the_manual_of_scenes_has_every_key() {
    let manual = manual("scene.md");
    let code = code(&manual);
    let scenes = [
        "unheard = 1",
        "depth = { unheard = 1 }",
        "[slots.0]\nunheard = 1",
        "[[subpass]]\nunheard = 1",
        "depth = { compare = 'unheard' }",
        "topology = 'unheard'",
        "cull = 'unheard'",
        "blend = 'unheard'",
        "target = 'unheard'",
        "[slots.0]\nfilter = 'unheard'",
        "[slots.0]\nwrap = 'unheard'",
        "[slots.0]\nborder = 'unheard'",
        "stencil = { unheard = 1 }",
        "stencil = { front = { unheard = 1 } }",
        "stencil = { front = { pass = 'unheard' } }",
        "polygon-mode = 'unheard'",
        "front-face = 'unheard'",
        "depth-bias = { unheard = 1 }",
        "logic-op = 'unheard'",
        "[targets.0]\nunheard = 1",
        "[targets.0]\ndst-alpha-factor = 'unheard'",
        "[targets.0]\nalpha-op = 'unheard'",
    ];
    let names: Vec<String> = scenes.iter().flat_map(|scene| known(scene)).collect();
    println!("{} keys and words of scenes", names.len());
    assert!(names.len() > 140, "{names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !has(&code, name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!has(&code, "unheard") && !has("line-strip", "line"));
    let mut examples = 0;
    for block in blocks(&manual).iter().filter(|block| block.info == ["toml"]) {
        if let Err(error) = Scene::parse(&block.text, Path::new("")) {
            panic!("scene.md, line {}: {error}", block.line);
        }
        examples += 1;
    }
    assert!(examples > 1);
}

#[test]
fn the_manual_of_the_assembly_has_every_operation() {
    use utgard::{gp, pp};
    let manual = manual("assembly.md");
    let (before, fragments) = manual.split_once("## The PP").expect("a section");
    let (_, vertices) = before.split_once("## The GP").expect("a section");
    let tables: [(&str, &str, Vec<&str>); 10] = [
        ("adders", vertices, names(gp::AccOp::ALL, |op| op.name())),
        ("multipliers", vertices, names(gp::MulOp::ALL, |op| op.name())),
        ("complex", vertices, names(gp::ComplexOp::ALL, |op| op.name())),
        ("pass", vertices, names(gp::PassOp::ALL, |op| op.name())),
        ("multipliers", fragments, names(pp::ops::MulOp::ALL, |op| op.name())),
        ("adders", fragments, names(pp::ops::AccOp::ALL, |op| op.name())),
        (
            "combine",
            fragments,
            names(pp::ops::ScalarFunction::ALL, |op| op.name()),
        ),
        (
            "combine",
            fragments,
            names(pp::ops::VectorFunction::ALL, |op| op.name()),
        ),
        ("modifiers", fragments, names(&pp::ops::Modifier::ALL, |op| op.name())),
        ("branches", fragments, names(&pp::ops::Condition::ALL, |op| op.name())),
    ];
    let mut count = 0;
    for (table, section, names) in tables {
        let code = code(section);
        for name in names {
            assert!(has(&code, name), "{table}: {name}");
            count += 1;
        }
    }
    println!("{count} operations of both processors");
    assert!(count > 70, "{count}");
    let known = pp::ops::VaryingKind::ALL.iter().filter(|kind| kind.row().known);
    for kind in known.map(|kind| kind.name()).filter(|name| !name.is_empty()) {
        assert!(has(&code(fragments), kind), "{kind}");
    }
}

/// The names of a table's rows, except rows without a name.
fn names<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter()
        .map(|row| name(*row))
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn examples_of_the_assembly_are_right() {
    let mut count = 0;
    for path in super::links::files("md") {
        let page = std::fs::read_to_string(&path).expect("a page");
        for Block { info, text, line } in blocks(&page) {
            let info: Vec<&str> = info.iter().map(String::as_str).collect();
            let assembled = match info[..] {
                ["asm"] => utgard::shader::assemble(&text).map(drop),
                ["asm", "gp"] => utgard::gp::assemble(&text).map(drop),
                ["asm", "pp"] => utgard::pp::assemble(&text).map(drop),
                _ => continue,
            };
            if let Err(error) = assembled {
                panic!("{}, line {line}: {error}", path.display());
            }
            count += 1;
        }
    }
    println!("{count} examples of the assembly");
    assert!(count > 3);
}
