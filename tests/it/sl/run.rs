//! S₀ runs: the corpus' programs and our own samples end as expected, and every violated rule is reported with its
//! place.

use crate::common;

use loader::sl::{self, Library};
use skrymir::s0::{Call, Error, ErrorKind, Host, Next, Outcome, Primitive};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sl").join(name)
}

fn parse(path: &Path) -> Library<'static> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    sl::parse_in(&text, name).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs the last unit.
fn run(library: &Library<'_>, fuel: u64) -> Result<Outcome, Error> {
    let unit = library.modules.last().unwrap().name.content;
    Host::new(library).with_fuel(fuel).run(library.bytes(unit))
}

#[test]
fn the_corpus_runs_as_it_should() {
    let Some(folder) = common::corpus("sl") else { return };
    let mut count = 0;
    for path in common::files(&folder, "sl") {
        let bytes = std::fs::read(&path).unwrap();
        let library = sl::read(&bytes).unwrap();
        let result = run(&library, 10_000);
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("horrible_example") {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ReceivingMismatch);
            assert!(error.to_string().contains("block main@7"), "{error}");
        } else {
            assert_eq!(result, Ok(Outcome::Succeeded), "{name}");
        }
        count += 1;
    }
    assert_eq!(count, 12);
    println!("{count} SL files run as they should");
}

#[test]
fn samples_succeed_in_both_versions_and_without_constants_in_order() {
    let mut files = common::files(&folder(""), "s0");
    files.retain(|path| !path.starts_with(folder("errors")));
    for path in &files {
        let library = parse(path);
        assert_eq!(run(&library, 100_000), Ok(Outcome::Succeeded), "{}", path.display());
        for version in [3, 4] {
            let mut library = sl::canonical(&library);
            library.version = version;
            let bytes = sl::write(&library).unwrap();
            assert_eq!(
                run(&sl::read(&bytes).unwrap(), 100_000),
                Ok(Outcome::Succeeded),
                "{} v{version}",
                path.display()
            );
        }
    }
    assert!(files.len() >= 6, "samples are missing");
    println!("{} samples succeed", files.len());
}

/// Each kind of hard error: the sample's name, what the message says, and where.
const ERRORS: [(&str, ErrorKind, &str, &str); 13] = [
    (
        "duplicate_name",
        ErrorKind::DuplicateName,
        "there is $finish already",
        "duplicate_name.s0:7:5",
    ),
    (
        "missing_value",
        ErrorKind::MissingValue,
        "there is no nothing",
        "missing_value.s0:7:20",
    ),
    (
        "left_over",
        ErrorKind::LeftOver,
        "kept would be lost",
        "left_over.s0:8:8",
    ),
    (
        "wrong_kind",
        ErrorKind::WrongKind,
        "value is $finish, not a literal",
        "wrong_kind.s0:9:8",
    ),
    (
        "not_invokable",
        ErrorKind::NotInvokable,
        "a literal is invoked",
        "not_invokable.s0:8:8",
    ),
    (
        "unknown_branch",
        ErrorKind::UnknownBranch,
        "$finish has no branch perhaps",
        "unknown_branch.s0:7:8",
    ),
    (
        "receiving_mismatch",
        ErrorKind::ReceivingMismatch,
        "receives (finish), not ($finish)",
        "receiving_mismatch.s0:8:8",
    ),
    (
        "containing_mismatch",
        ErrorKind::ContainingMismatch,
        "contains (finish), not ($finish)",
        "containing_mismatch.s0:7:5",
    ),
    (
        "unknown_unit",
        ErrorKind::UnknownUnit,
        "there is no unit primitive.nothing",
        "unknown_unit.s0:2:44",
    ),
    (
        "dependency_cycle",
        ErrorKind::DependencyCycle,
        "dependency_cycle needs dependency_cycle",
        "dependency_cycle.s0:2:44",
    ),
    (
        "no_loader",
        ErrorKind::NoLoader,
        "no_loader does not contain nothing",
        "",
    ),
    ("number", ErrorKind::Number, "twelve", "number.s0:9:8"),
    ("fuel", ErrorKind::Fuel, "1000 invocations", ""),
];

#[test]
fn every_kind_of_hard_error_is_named_with_its_place() {
    let files = common::files(&folder("errors"), "s0");
    for (name, kind, message, place) in ERRORS {
        let path = folder("errors").join(format!("{name}.s0"));
        assert!(files.contains(&path), "{name}");
        let error = run(&parse(&path), 1000).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{name}: {text}");
        assert!(
            text.starts_with("halt and catch fire: ") && text.contains(message),
            "{name}: {text}"
        );
        assert!(text.contains(place), "{name}: {text}");
    }
    assert_eq!(files.len(), ERRORS.len());
    println!("{} kinds of hard errors, each with its message and place", ERRORS.len());
}

#[test]
fn invocations_are_traced_and_counted() {
    let library = parse(&folder("hello.s0"));
    let mut lines = Vec::new();
    let mut trace = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    let mut host = Host::new(&library).with_trace(&mut trace);
    assert_eq!(host.run(b"hello"), Ok(Outcome::Succeeded));
    let count = host.invocations();
    drop(host);
    assert_eq!(count, lines.len() as u64);
    assert!(
        lines.iter().any(|line| line.contains("-> primitive.console write")),
        "{lines:?}"
    );
    assert!(lines.last().unwrap().contains("-> $finish succeed ()"), "{lines:?}");
}

/// A primitive an engine might add.
#[derive(Debug)]
struct Engine;

impl Primitive for Engine {
    fn kind(&self) -> &'static str {
        "the engine"
    }

    fn invoke(self: Box<Self>, call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            _ => Err(call.unknown_branch()),
        }
    }
}

#[test]
fn hosts_can_add_units() {
    let text = std::fs::read_to_string(folder("errors/unknown_unit.s0"))
        .unwrap()
        .replace(
            "-> primitive.nothing ($finish);",
            "$return = closure containing ($finish) -> done;\n -> primitive.nothing drop ($return);\n }\n \
         done: containing ($finish) receiving () {\n -> $finish succeed ();",
        );
    let library = sl::parse_in(&text, "own.s0").unwrap();
    let mut host = Host::new(&library);
    host.add(b"primitive.nothing", || Box::new(Engine));
    assert_eq!(host.run(b"unknown_unit"), Ok(Outcome::Succeeded));
}

#[test]
fn closures_in_closures_are_dropped_without_a_stack() {
    // Each iteration wraps the closure in another; the end drops all of them.
    let text = "module chain {
  $load: containing () receiving ($loaded) { $module = closure containing () -> main; -> $loaded ($module); }
  main: containing () receiving ($finish) { -> $finish again (); }
  wrap: containing (inner) receiving () { inner2 = closure containing (inner) -> wrap; next = closure containing () -> turn; -> next (inner2); }
  turn: containing () receiving (inner2) { inner = rename inner2; again = closure containing (inner) -> wrap; -> again (); }
  first: containing () receiving ($finish) { inner = rename $finish; again = closure containing (inner) -> wrap; -> again (); }
}"
    .replace("-> $finish again ();", "next = closure containing () -> first; -> next ($finish);");
    let library = sl::parse_in(&text, "chain.s0").unwrap();
    let error = Host::new(&library).with_fuel(300_000).run(b"chain").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fuel);
}
