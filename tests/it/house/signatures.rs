//! Conventions of the libraries: they have error types, and every format has the same functions.

use crate::common;

use std::path::{Path, PathBuf};

/// The libraries; the facade exists for the command line.
pub(super) const LIBRARIES: [&str; 19] = [
    "",
    "emulator/compiler",
    "emulator/gles",
    "emulator/inspect",
    "emulator/jit",
    "emulator/lift",
    "emulator/num",
    "emulator/shim",
    "emulator",
    "emulator/utgard",
    "emulator/wasm",
    "loader",
    "loader/s0",
    "loader/translate",
    "vulkan",
    "vulkan/capi",
    "vulkan/runner",
    "vulkan/scene",
    "vulkan/script",
];

/// Public functions and type aliases of a source as declared, each with its line number.
fn signatures(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        // Items of a public trait are public.
        let public = ["pub fn ", "pub const fn ", "pub unsafe fn ", "pub type ", "fn "];
        let begins = public.iter().position(|begin| line.starts_with(begin));
        let Some(begins) = begins else { continue };
        let mut all = line.to_owned();
        while !all.contains(['{', ';']) {
            let Some((_, line)) = lines.next() else { break };
            all += " ";
            all += line.trim();
        }
        if begins < public.len() - 1 {
            found.push((at + 1, all));
        }
    }
    found
}

/// Whether a signature has `anyhow` in it, or a result whose error is a string.
fn is_untyped(signature: &str) -> bool {
    let strings = signature.match_indices("Result<").any(|(at, _)| {
        let inside = &signature[at + "Result<".len()..];
        let (mut depth, mut comma) = (0, None);
        for (at, c) in inside.char_indices() {
            match c {
                '<' | '(' | '[' => depth += 1,
                '>' if inside[..at].ends_with('-') => {}
                '>' if depth == 0 => return comma.is_some_and(|comma: usize| inside[comma + 1..at].trim() == "String"),
                '>' | ')' | ']' => depth -= 1,
                ',' if depth == 0 => comma = Some(at),
                _ => {}
            }
        }
        false
    });
    strings || signature.contains("anyhow")
}

fn sources(library: &str) -> Vec<PathBuf> {
    common::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(library).join("src"), "rs")
}

#[test]
fn libraries_have_their_own_errors() {
    let (mut count, mut wrong) = (0, Vec::new());
    for library in LIBRARIES {
        for path in sources(library) {
            let text = std::fs::read_to_string(&path).unwrap();
            for (line, signature) in signatures(&text) {
                count += 1;
                if is_untyped(&signature) {
                    wrong.push(format!("{}:{line}: {signature}", path.display()));
                }
            }
        }
        let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(library).join("Cargo.toml"));
        let manifest = manifest.unwrap();
        let needed = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let needed = needed.split("[dev-dependencies]").next().unwrap_or_default();
        assert!(!needed.contains("anyhow"), "{library:?} depends on anyhow");
    }
    println!("{count} public signatures of {} libraries", LIBRARIES.len());
    assert!(count > 900, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Negative control.
    let text = "    pub fn a(\n        b: u8,\n    ) -> Result<(), String> {\n    pub fn c() -> anyhow::Result<()> {\n\
                pub fn d() -> Result<String> {\nfn e() -> Result<(), String> {\npub fn f() -> Result<String, Error> {\n\
                pub type G = dyn Fn(&[u32]) -> Result<Vec<u8>, String>;";
    let found: Vec<_> = signatures(text)
        .into_iter()
        .filter(|(_, s)| is_untyped(s))
        .map(|(line, _)| line)
        .collect();
    assert_eq!(found, [1, 4, 8]);
}

/// Every format has functions of the same names to read, write, validate, check and summarise it; formats with a text
/// print it, and those whose text is a language parse it.
#[test]
fn formats_have_the_same_functions() {
    use loader::{mbs, sksl, sl, spirv, vbc};
    use serde::Serialize;

    fn is_object(format: &str, summary: &impl Serialize) {
        assert!(serde_json::to_value(summary).unwrap().is_object(), "{format}");
    }
    let file = |name: &str| std::fs::read(common::data(name)).unwrap();

    let bytes = file("vbc/triangle.vbc");
    let model = vbc::read(&bytes).unwrap();
    assert_eq!(vbc::write(&model.to_model()).unwrap(), bytes);
    assert!(vbc::validate(&model).is_valid() && vbc::check(&bytes).is_valid());
    is_object(vbc::FORMAT, &vbc::summary(&model).unwrap());

    let words = model.code(vbc::Stage::Frag).unwrap().words();
    let bytes = spirv::write(&words).unwrap();
    assert_eq!(spirv::read(&bytes).unwrap(), words);
    assert!(spirv::validate(&words).is_valid() && spirv::check(&bytes).is_valid());
    let text = spirv::print(&words).unwrap();
    assert_eq!(
        spirv::print(&spirv::parse(&text).unwrap()).unwrap().lines().count(),
        text.lines().count()
    );
    is_object(spirv::FORMAT, &spirv::summary(&words).unwrap());

    let program = mbs::Program::new(mbs::Stage::Fragment, vec![0; 4]);
    let bytes = mbs::write(&mbs::Mbs::of(&[program])).unwrap();
    let model = mbs::read(&bytes).unwrap();
    assert_eq!(mbs::write(&model).unwrap(), bytes);
    assert_eq!(mbs::validate(&model).is_valid(), mbs::check(&bytes).is_valid());
    is_object(mbs::FORMAT, &mbs::summary(&model).unwrap());

    let mut builder = sksl::Builder::new(sksl::ProgramKind::RUNTIME_SHADER);
    let model = builder.finish();
    let bytes = sksl::write(&model).unwrap();
    assert_eq!(sksl::write(&sksl::read(&bytes).unwrap()).unwrap(), bytes);
    assert_eq!(sksl::validate(&model).is_valid(), sksl::check(&bytes).is_valid());
    sksl::print(&model).unwrap();
    is_object(sksl::FORMAT, &sksl::summary(&model).unwrap());

    let text = std::fs::read_to_string(common::data("sl/hello.s0")).unwrap();
    let model = sl::parse_in(&text, "hello.s0").unwrap();
    let bytes = sl::write(&model).unwrap();
    let again = sl::read(&bytes).unwrap();
    assert_eq!(sl::write(&again).unwrap(), bytes);
    assert!(sl::validate(&again).is_valid() && sl::check(&bytes).is_valid());
    assert!(!sl::print(&again).unwrap().is_empty());
    is_object(sl::FORMAT, &sl::summary(&again).unwrap());

    // All that writes or prints has a result with the library's error, all that parses one with the place in the text.
    type Written = loader::Result<Vec<u8>>;
    let _: fn(&vbc::Model) -> Written = vbc::write;
    let _: fn(&mbs::Mbs) -> Written = mbs::write;
    let _: fn(&[u32]) -> Written = spirv::write;
    let _: fn(&sksl::Tree) -> Written = sksl::write;
    let _: fn(&sl::Library<'_>) -> Written = sl::write;
    let _: fn(&[u32]) -> loader::Result<String> = spirv::print;
    let _: fn(&sksl::Tree) -> loader::Result<String> = sksl::print;
    let _: fn(&sl::Library<'_>) -> loader::Result<String> = sl::print;
    let _: fn(&str) -> Result<Vec<u32>, loader::SourceError> = spirv::parse;
    let _: fn(&str) -> Result<sl::Library<'static>, loader::SourceError> = sl::parse;
    // All that validates takes the model alone, and all that summarises has a result.
    let _: fn(&vbc::Vbc<'_>) -> loader::Report = vbc::validate;
    let _: fn(&mbs::Mbs) -> loader::Report = mbs::validate;
    let _: fn(&[u32]) -> loader::Report = spirv::validate;
    let _: fn(&sksl::Tree) -> loader::Report = sksl::validate;
    let _: fn(&sl::Library<'_>) -> loader::Report = sl::validate;
    let _: for<'f, 'a> fn(&'f vbc::Vbc<'a>) -> loader::Result<vbc::Summary<'f, 'a>> = vbc::summary;
    let _: fn(&mbs::Mbs) -> loader::Result<mbs::Summary> = mbs::summary;
    let _: fn(&[u32]) -> loader::Result<spirv::Summary> = spirv::summary;
    let _: for<'a> fn(&'a sksl::Tree) -> loader::Result<sksl::Summary<'a>> = sksl::summary;
    let _: fn(&sl::Library<'_>) -> loader::Result<sl::Summary> = sl::summary;
    let _: [fn(&[u8]) -> loader::Report; 5] = [vbc::check, mbs::check, spirv::check, sksl::check, sl::check];
}

/// Examples of crates name other crates as their users do, not by the short names of this workspace.
#[test]
fn examples_have_the_names_of_packages() {
    let root = common::root();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let short: Vec<&str> = manifest
        .lines()
        .filter(|line| line.contains("package = \"skrymir-"))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .collect();
    assert!(short.contains(&"loader") && short.len() > 10, "{short:?}");
    // The first short name in a line of an example that is seen.
    let found = |line: &str| {
        let line = line.strip_prefix("//! ")?;
        let is_hidden = line.starts_with("# ") || line.trim_start().starts_with("//");
        let is_own = |before: &str| before.ends_with(|last: char| last.is_alphanumeric() || "_:".contains(last));
        let first = short.iter().find(|name| {
            let at = line.find(&format!("{name}::"));
            at.is_some_and(|at| !is_own(&line[..at]))
        });
        first.filter(|_| !is_hidden).copied()
    };
    assert_eq!(found("//! use loader::vbc;"), Some("loader"), "the control");
    let mut examples = 0;
    let folders = ["loader", "emulator", "vulkan"].map(|folder| common::files(&root.join(folder), "rs"));
    for path in folders.iter().flatten().filter(|path| path.ends_with("src/lib.rs")) {
        let text = std::fs::read_to_string(path).unwrap();
        // The open block, and whether it is one of Rust.
        let mut block = None;
        for line in text.lines().filter(|line| line.starts_with("//!")) {
            match (line.strip_prefix("//! ```"), block) {
                (Some(_), Some(_)) => block = None,
                (Some(kind), None) => {
                    let is_rust = ["", "no_run", "rust"].contains(&kind.trim());
                    examples += usize::from(is_rust);
                    block = Some(is_rust);
                }
                // An example may give itself a short name.
                (None, Some(true)) => assert!(
                    found(line).is_none_or(|name| text.contains(&format!("as {name}"))),
                    "{}: {line}",
                    path.display()
                ),
                _ => {}
            }
        }
    }
    assert!(examples > 12, "{examples}");
}
