//! Commands with their complete output: `tests/data/commands/*.md`. `TRYCMD=overwrite` writes the current output.

use crate::common;

#[test]
fn commands_print_what_they_printed() {
    let target = common::root().join("target/commands");
    std::fs::create_dir_all(&target).unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("skrymir", trycmd::cargo::cargo_bin!("skrymir"))
        .env("NO_COLOR", "1")
        .env("SKRYMIR_COMMANDS", "1");
    // In sequence: later files read outputs of earlier ones.
    for name in ["info", "text", "mistakes"] {
        cases.case(format!("tests/data/commands/{name}.md"));
    }
    cases.run();
}

#[test]
fn manuals_man_pages_and_completions_exist() {
    let say = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for topic in ["scene", "names", "assembly"] {
        let text = say(&["help", topic]);
        assert!(text.starts_with("# ") && text.lines().count() > 40, "{topic}");
    }
    let help = say(&["help"]);
    let command = |line: &str| line.starts_with("  ") && !line.starts_with("   ");
    let from = help.find("Commands:").unwrap();
    let verbs: Vec<&str> = help[from..]
        .lines()
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| command(line))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.len() > 20, "{verbs:?}");
    let folder = tempfile::tempdir().unwrap();
    say(&["man", "--folder", folder.path().to_str().unwrap()]);
    let bash = say(&["completions", "bash"]);
    for verb in &verbs {
        let page = std::fs::read_to_string(folder.path().join(format!("skrymir-{verb}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{verb}");
        assert!(bash.contains(&format!("skrymir,{verb})")), "{verb}");
        // Every verb's help has an example.
        let help = say(&[verb, "--help"]);
        assert!(help.contains("Example"), "{verb} has no example in its help");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(say(&["completions", shell]).contains("replay"));
    }
    assert!(say(&["man"]).contains("skrymir\\-replay(1)"));
}

#[test]
fn quiet_prints_nothing_and_verbose_lists_files() {
    let file = common::data("minimal.vbc").display().to_string();
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_skrymir"))
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(&["info", &file]), (Some(0), String::new()));
    let (code, output) = run(&["--verbose", "info", &file]);
    assert!(
        code == Some(0) && output.contains("read ") && output.contains(" s\n"),
        "{output}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let example = |name: &str| format!("{}/examples/mali/{name}", env!("CARGO_MANIFEST_DIR"));
    let (vertex, fragment) = (example("triangle.vert.s"), example("triangle.frag.s"));
    assert_eq!(
        run(&["draw", &vertex, &fragment, "--record", &path("a.trace")]).0,
        Some(0)
    );
    let (_, output) = run(&["trim", &path("a.trace"), "-o", &path("b.trace")]);
    assert!(output.contains("bytes to"), "{output}");
    assert_eq!(
        run(&["trim", &path("a.trace"), "-o", &path("b.trace"), "--quiet"]),
        (Some(0), String::new())
    );
    let (code, output) = run(&["info", "no-such-file", "-q"]);
    assert!(code == Some(2) && output.contains("no-such-file"), "{output}");
    assert_eq!(run(&["info", &file, "--quiet", "--verbose"]).0, Some(2));
}
