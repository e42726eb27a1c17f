//! One word for one thing.

use super::links::files;

/// What a line of prose says outside of code.
fn prose(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Whether the American spelling stands there as a word.
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
