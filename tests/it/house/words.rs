//! The words of the repository: one spelling, and no people where there are threads or values.

use super::links::files;
use std::path::Path;

/// A line of prose without its code spans.
fn prose(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Whether the American spelling is there as a word.
fn is_american(prose: &str) -> bool {
    let words = prose.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-' && c != '.');
    let mut words = words.map(|word| word.trim_end_matches('.'));
    words.any(|word| matches!(word, "color" | "colors" | "colored" | "coloring"))
}

#[test]
fn prose_spells_colour_one_way() {
    let (mut lines, mut wrong) = (0, Vec::new());
    for path in files("rs").into_iter().chain(files("md")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_page = path.extension().is_some_and(|ext| ext == "md");
        let mut fenced = false;
        for (at, line) in text.lines().enumerate() {
            let comment = line.trim_start().strip_prefix("//");
            let comment = comment.map(|comment| comment.trim_start_matches(['/', '!']));
            let Some(said) = comment.or(is_page.then_some(line)) else {
                fenced = false;
                continue;
            };
            // Code, in a page or in the examples of a comment.
            if said.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if fenced {
                continue;
            }
            lines += 1;
            if is_american(&prose(said)) {
                wrong.push(format!("{}:{}: {said}", path.display(), at + 1));
            }
        }
    }
    println!("{lines} lines of prose");
    assert!(lines > 5_000, "{lines}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(is_american(&prose("the color, here")) && !is_american(&prose("`the color` of colour")));
}

/// Words that do not come back, in prose, messages and identifiers, with their number before the prose was rewritten. They
/// made people of threads and values; CONTRIBUTING.md says what to write instead.
const REMOVED: [(&str, usize); 13] = [
    ("anybody", 13),
    ("buried", 1),
    ("bury", 8),
    ("everybody", 10),
    ("hope", 49),
    ("hopeful", 39),
    ("looks on", 1),
    ("nobody", 199),
    ("patience", 21),
    ("so many", 124),
    ("somebody", 66),
    ("told", 611),
    ("whoever", 59),
];

/// The lower-case words of a line outside of quotations: code spans, old names of flags, and this list. Identifiers are
/// split at underscores and capitals.
fn words(line: &str) -> Vec<String> {
    if line.contains("alias = \"") {
        return Vec::new();
    }
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in prose(line).chars() {
        if !c.is_ascii_alphabetic() || (c.is_ascii_uppercase() && before.is_ascii_lowercase()) {
            words.push(String::new());
        }
        if c.is_ascii_alphabetic() {
            words.last_mut().expect("a word").push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// How often a phrase is among the words.
fn count(words: &[String], phrase: &str) -> usize {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words
        .windows(phrase.len())
        .filter(|part| *part == phrase.as_slice())
        .count()
}

/// Prints the table of removed words: `cargo test --test it house::words -- --nocapture`.
#[test]
fn removed_words_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let kinds = ["rs", "md", "sh", "c", "h", "js", "mjs", "py", "toml"];
    for path in kinds.iter().flat_map(|kind| files(kind)) {
        let name = path.strip_prefix(root).expect("inside").to_str().expect("UTF-8");
        if name.ends_with("house/words.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, line) in text.lines().enumerate() {
            let words = words(line);
            for (word, _) in REMOVED.iter().filter(|(word, _)| count(&words, word) > 0) {
                found.push((*word, format!("{name}:{}: {}", at + 1, line.trim())));
            }
        }
    }
    println!("{:12} {:>6} {:>6}", "word", "before", "now");
    for (word, before) in REMOVED {
        let now = found.iter().filter(|(other, _)| *other == word).count();
        println!("{word:12} {before:6} {now:6}");
    }
    assert!(found.is_empty(), "{found:#?}");
    // Negative control: words of identifiers and phrases are found, quotations are not.
    assert_eq!(count(&words("let was_told = NobodyHere(so many);"), "nobody"), 1);
    assert_eq!(count(&words("let was_told = NobodyHere(so many);"), "told"), 1);
    assert_eq!(count(&words("let was_told = NobodyHere(so many);"), "so many"), 1);
    assert_eq!(count(&words("the kernel's `nobody cared`"), "nobody"), 0);
}
