//! No two files or folders of a crate import each other.

use crate::common;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Source folders of the crates.
const CRATES: [&str; 20] = [
    "emulator/compiler/src",
    "emulator/gles/src",
    "emulator/inspect/src",
    "emulator/jit/src",
    "emulator/lift/src",
    "emulator/num/src",
    "emulator/shim/src",
    "emulator/board/src",
    "emulator/src",
    "emulator/utgard/src",
    "emulator/wasm/src",
    "loader/src",
    "loader/s0/src",
    "loader/translate/src",
    "src",
    "vulkan/capi/src",
    "vulkan/src",
    "vulkan/runner/src",
    "vulkan/scene/src",
    "vulkan/script/src",
];

/// A module by its names from the crate's root.
type Module = Vec<String>;

/// The code of a file without comments, string literals and its tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that begins with `crate::`, `super::` or `self::`, with the braces of imports expanded.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for begin in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(begin) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !before.is_alphanumeric() && !matches!(before, '_' | ':' | '$') {
                expand(&code[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// The paths at the start of `text` after `prefix`; returns their length in bytes.
fn expand(text: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let depth = prefix.len();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        let rest = &rest[blank..];
        if let Some(list) = rest.strip_prefix('{') {
            at += blank + 1;
            let mut inner = 0;
            while !matches!(list[inner..].trim_start().chars().next(), Some('}') | None) {
                inner += expand(&list[inner..], prefix, found);
                let rest = &list[inner..];
                inner += rest
                    .find([',', '}'])
                    .map_or(rest.len(), |end| end + usize::from(rest[end..].starts_with(',')));
            }
            at += inner;
            at += text[at..].find('}').map_or(0, |end| end + 1);
            break;
        }
        let name = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        at += blank + name;
        if name > 0 {
            prefix.push(rest[..name].to_owned());
        }
        if !text[at..].starts_with("::") {
            found.push(prefix.clone());
            break;
        }
        at += 2;
    }
    prefix.truncate(depth);
    at
}

/// Resolves a path relative to its module: the names from the crate's root.
fn absolute(from: &Module, path: &[String]) -> Option<Vec<String>> {
    let mut base = match path.first()?.as_str() {
        "crate" => Vec::new(),
        _ => from.clone(),
    };
    let mut rest = path;
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "super" => drop(base.pop()?),
            "crate" | "self" => {}
            _ => break,
        }
        rest = more;
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The modules of a crate and the imports of each.
struct Modules {
    /// The code of each module.
    modules: BTreeMap<Module, String>,
}

impl Modules {
    fn read(folder: &Path) -> Self {
        let mut modules = BTreeMap::new();
        for path in common::files(folder, "rs") {
            let inside = path.strip_prefix(folder).unwrap().with_extension("");
            let mut module: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                module.pop();
            }
            let text = std::fs::read_to_string(&path).unwrap();
            modules.entry(module).or_insert_with(String::new).push_str(&code(&text));
        }
        Self { modules }
    }

    /// The module of an item: names re-exported by `pub use` are followed to their origin.
    fn home(&self, mut named: Vec<String>) -> Option<Module> {
        for _ in 0..8 {
            let depth = (0..=named.len())
                .rev()
                .find(|depth| self.modules.contains_key(&named[..*depth]))?;
            let (module, rest) = (named[..depth].to_vec(), named[depth..].to_vec());
            let Some(name) = rest.first() else { return Some(module) };
            let Some(origin) = self.reexported(&module, name) else {
                return Some(module);
            };
            named = [origin, rest[1..].to_vec()].concat();
        }
        None
    }

    /// The path that a module's `pub use` re-exports under a name.
    fn reexported(&self, module: &Module, name: &str) -> Option<Vec<String>> {
        let code = &self.modules[module];
        let mut found = Vec::new();
        for (at, _) in code.match_indices("use ") {
            let line = code[..at].lines().next_back().unwrap_or_default();
            if line.starts_with("pub") {
                expand(&code[at + 4..], &mut Vec::new(), &mut found);
            }
        }
        let path = found
            .into_iter()
            .find(|path| path.last().is_some_and(|last| last == name))?;
        let own = [vec!["self".to_owned()], path.clone()].concat();
        let origin = absolute(
            module,
            if matches!(path[0].as_str(), "crate" | "super") {
                &path
            } else {
                &own
            },
        )?;
        (origin.len() > module.len() + 1 || !origin.starts_with(module)).then_some(origin)
    }

    /// The edges between modules. A module and one inside it count as one.
    fn arrows(&self) -> BTreeSet<(Module, Module)> {
        let mut arrows = BTreeSet::new();
        for (module, code) in &self.modules {
            for path in paths(code) {
                let home = absolute(module, &path).and_then(|named| self.home(named));
                if let Some(home) = home.filter(|home| !home.starts_with(module) && !module.starts_with(home)) {
                    arrows.insert((module.clone(), home));
                }
            }
        }
        arrows
    }

    /// Pairs in one folder that can be reached from each other, folder by folder.
    fn circles(&self) -> Vec<(String, String)> {
        let mut between: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in self.arrows() {
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            let place = |module: &Module| module[..=shared].join("::");
            between.entry(place(&from)).or_default().insert(place(&to));
        }
        let reach = |from: &String| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(next) = open.pop() {
                for to in between.get(&next).into_iter().flatten() {
                    if seen.insert(to.clone()) {
                        open.push(to.clone());
                    }
                }
            }
            seen
        };
        let all: BTreeMap<&String, BTreeSet<String>> = between.keys().map(|from| (from, reach(from))).collect();
        let pairs = between
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        let circles = pairs.filter(|(from, to)| all.get(to).is_some_and(|seen| seen.contains(*from)));
        circles.map(|(from, to)| (from.clone(), to.clone())).collect()
    }
}

/// A module and one inside it count as one: the inner one is part of the outer.
#[test]
fn no_files_or_folders_import_each_other() {
    let (mut arrows, mut wrong) = (0, Vec::new());
    for folder in CRATES {
        let house = Modules::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        arrows += house.arrows().len();
        for (from, to) in house.circles() {
            wrong.push(format!("{folder}: {from} -> {to}"));
        }
    }
    println!("{arrows} arrows between files in {} crates", CRATES.len());
    assert!(arrows > 300, "{arrows}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Negative control: a cycle of two files, and one of two folders of which no two files form one.
#[test]
fn circles_are_found() {
    let house = |files: &[(&str, &str)]| {
        let module = |name: &str| {
            name.split("::")
                .map(str::to_owned)
                .filter(|part| !part.is_empty())
                .collect()
        };
        Modules {
            modules: files.iter().map(|(name, text)| (module(name), code(text))).collect(),
        }
    };
    let plain = [
        ("", "mod a;\nmod b;"),
        ("a", "use crate::b::{self, C};"),
        ("b", "struct C; // crate::a"),
    ];
    assert_eq!(house(&plain).circles(), []);
    let files = [
        ("", ""),
        ("a", "use super::b::{x, y::Z};"),
        ("b", "fn f() { crate::a::g() }"),
    ];
    assert_eq!(house(&files).circles().len(), 2);
    let folders = [
        ("", "pub use a::y::Y;"),
        ("a", ""),
        ("a::x", "use crate::b::z::Z;"),
        ("a::y", "pub struct Y;"),
        ("b", ""),
        ("b::w", "use crate::Y;"),
        ("b::z", "use super::W;"),
    ];
    assert_eq!(house(&folders).circles().len(), 2);
}
