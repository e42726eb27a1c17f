//! Swanson SL: for every rule of `check`, one change to a valid library violates it, and the finding names it.

use crate::common;

use loader::Severity;
use loader::sl::{self, RULES};

/// A unit whose `main` block uses every feature once.
const GOOD: &str = "module unit {
  $load: containing () receiving ($loaded, console) {
    $module = closure containing (console) -> main;
    -> $loaded ($module);
  }
  main: containing (console) receiving ($finish) {
    text = literal \"hello\";
    greeting = rename text;
    $return = closure containing ($finish) -> done;
    -> console print (greeting, $return);
  }
  done: containing ($finish) branch success receiving (console) {
    pass = rename $finish;
    -> pass succeed (console);
  } branch failure receiving (*) {
    hold = closure containing (*) -> everything;
    -> hold failure ();
  }
  everything: containing (*) branch failure receiving () {
    -> $finish fail (*);
  }
}";

fn bytes(text: &str) -> Vec<u8> {
    sl::write(&sl::parse_in(text, "unit.s0").unwrap_or_else(|error| panic!("{error}\n{text}"))).expect("writes")
}

/// The rules that a file violates.
fn broken(bytes: &[u8]) -> Vec<&'static str> {
    sl::check(bytes)
        .diagnostics
        .iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn every_rule_is_violated_by_one_change() {
    assert_eq!(broken(&bytes(GOOD)), Vec::<&str>::new());
    let with = |from: &str, to: &str| {
        let changed = GOOD.replacen(from, to, 1);
        assert_ne!(changed, GOOD, "{from}");
        bytes(&changed)
    };
    let mut located = sl::parse_in(GOOD, "unit.s0").unwrap();
    located.version = 3;
    let mut unused = sl::Builder::new(4);
    unused.constant(b"unused").unwrap();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("long-varint", b"SLIB\0\0\0\x03\x40\x00\x80".to_vec()),
        ("located-literals", sl::write(&located).unwrap()),
        ("no-modules", bytes("")),
        ("unused-binary", sl::write(&unused.finish()).unwrap()),
        ("duplicate-module", bytes(&format!("{GOOD}\n{GOOD}"))),
        ("no-blocks", bytes("module unit {}")),
        (
            "loader-containing",
            with("containing () receiving ($loaded", "containing (x) receiving ($loaded"),
        ),
        (
            "loader-branch",
            with(
                "containing () receiving ($loaded",
                "containing () branch b receiving ($loaded",
            ),
        ),
        (
            "loader-branch",
            with(
                "receiving ($loaded",
                "branch b receiving (x) { -> x (); } branch \"\" receiving ($loaded",
            ),
        ),
        (
            "duplicate-block",
            bytes(
                &GOOD
                    .replace("-> everything", "-> #3")
                    .replace("  everything:", "  done:")
                    .replace("-> done", "-> #2"),
            ),
        ),
        (
            "duplicate-branch",
            with("branch failure receiving (*)", "branch success receiving (*)"),
        ),
        (
            "duplicate-in-list",
            with("receiving ($finish)", "receiving ($finish, $finish)"),
        ),
        (
            "duplicate-in-list",
            with("containing ($finish) -> done", "containing ($finish, $finish) -> done"),
        ),
        (
            "duplicate-in-list",
            with("print (greeting, ", "print (greeting, greeting, "),
        ),
        (
            "containing-receiving",
            with("receiving (console) {", "receiving (console, $finish) {"),
        ),
        ("missing-name", with("rename text", "rename texts")),
        (
            "missing-name",
            with("-> console print (greeting", "-> console print (text"),
        ),
        ("missing-name", with("-> pass succeed", "-> $finish succeed")),
        ("name-defined-twice", with("text = literal", "console = literal")),
        ("left-over", with("print (greeting, $return)", "print ($return)")),
        (
            "closure-contains",
            with("containing ($finish) -> done", "containing () -> done"),
        ),
        (
            "closure-contains",
            with("containing ($finish) -> done", "containing ($finish, greeting) -> done"),
        ),
    ];
    for (rule, bytes) in &cases {
        let found = broken(bytes);
        assert!(found.contains(rule), "{rule}: {found:?}");
        let report = sl::check(bytes);
        let finding = report.diagnostics.iter().find(|finding| finding.rule == *rule).unwrap();
        let description = RULES.iter().find(|known| known.0 == *rule).unwrap().1;
        let warning = description.ends_with("(warning)");
        assert_eq!(finding.severity == Severity::Warning, warning, "{finding}");
        for known in &found {
            assert!(RULES.iter().any(|row| row.0 == *known), "{known} is not a rule");
        }
    }
    for (rule, _) in RULES {
        assert!(cases.iter().any(|case| case.0 == *rule), "no case breaks {rule}");
    }
    println!("{} rules, each broken by a change", RULES.len());
}

/// A glob takes the rest except what later statements need.
#[test]
fn globs_move_what_nothing_else_needs() {
    let text = |inputs: &str| {
        format!(
            "module unit {{ $load: containing () receiving ($loaded, a, b) {{
               $module = closure containing (*) -> main;
               -> $loaded ({inputs});
             }}
             main: containing (a, b) receiving () {{ -> a (b); }} }}"
        )
    };
    assert_eq!(broken(&bytes(&text("$module"))), Vec::<&str>::new());
    // The invocation needs `a`, so the closure lacks it.
    assert_eq!(broken(&bytes(&text("$module, a"))), ["closure-contains"]);
}

#[test]
fn samples_break_no_rule() {
    let mut count = 0;
    for path in common::files(&common::data("sl"), "s0") {
        if path.components().any(|part| part.as_os_str() == "errors") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(broken(&bytes(&text)), Vec::<&str>::new(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 6);
}
