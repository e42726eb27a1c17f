//! Links between pages and from sources to pages have a target.

use crate::common;
use pulldown_cmark::{Event, Options, Parser, Tag};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of the repository with an extension, without build outputs.
pub(super) fn files(ext: &str) -> Vec<PathBuf> {
    let mut files = common::files(root(), ext);
    files.retain(|path| {
        let inside = path.strip_prefix(root()).expect("inside");
        !inside
            .components()
            .any(|part| part.as_os_str() == "target" || part.as_os_str() == ".git")
    });
    files
}

/// A page's text, with its includes (`{{#include FILE}}` on a separate line, as in the book). An include of a missing
/// file stays unchanged.
fn read(page: &Path) -> String {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let folder = page.parent().expect("a folder");
    let line = |line: &str| {
        let included = line
            .strip_prefix("{{#include ")
            .and_then(|rest| rest.strip_suffix("}}"));
        let found = included.and_then(|path| std::fs::read_to_string(folder.join(path)).ok());
        found.unwrap_or_else(|| line.to_owned()) + "\n"
    };
    text.lines().map(line).collect()
}

/// The anchors of a page, by GitHub's rule.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(pulldown_cmark::TagEnd::Heading(_)) => {
                let said = heading.take().unwrap_or_default().to_lowercase();
                let kept = said.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
                anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    anchors
}

/// A page's broken relative links.
fn broken(page: &Path, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for event in Parser::new_ext(text, Options::all()) {
        let link = match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => dest_url,
            _ => continue,
        };
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let folder = page.parent().expect("a folder");
        let target = if path.is_empty() {
            page.to_owned()
        } else {
            folder.join(path)
        };
        if !target.exists() {
            broken.push(format!("{}: nothing at {link}", page.display()));
        } else if !anchor.is_empty() && !anchors(&read(&target)).contains(anchor) {
            broken.push(format!("{}: no such heading: {link}", page.display()));
        }
    }
    broken
}

#[test]
fn links_between_pages_have_targets() {
    let (mut pages, mut wrong) = (0, Vec::new());
    for page in files("md") {
        wrong.extend(broken(&page, &read(&page)));
        pages += 1;
    }
    println!("{pages} pages");
    assert!(pages > 10, "{pages} pages");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Negative control: both kinds of broken link are found.
    let page = root().join("README.md");
    assert_eq!(
        broken(&page, "[a](nothing.md) [b](README.md#nothing) [c](README.md)").len(),
        2
    );
}

/// The targets of a page's relative links, including pictures.
fn targets(page: &Path, text: &str) -> Vec<PathBuf> {
    let links = Parser::new_ext(text, Options::all()).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url),
        _ => None,
    });
    let inside = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
    let folder = page.parent().expect("a folder");
    inside
        .map(|link| folder.join(link.split('#').next().unwrap_or_default()))
        .collect()
}

/// Errors in the chapters of a book: each must be in the table of contents once, and no link may leave the book, since
/// other files are not in the built book.
fn misplaced(book: &Path, contents: &str, chapters: &[PathBuf]) -> Vec<String> {
    let mut wrong = Vec::new();
    let listed = targets(&book.join("SUMMARY.md"), contents);
    for chapter in chapters.iter().filter(|chapter| !chapter.ends_with("SUMMARY.md")) {
        let times = listed.iter().filter(|listed| *listed == chapter).count();
        if times != 1 {
            wrong.push(format!("{}: {times} times in SUMMARY.md", chapter.display()));
        }
        let text = read(chapter);
        for target in targets(chapter, &text)
            .iter()
            .filter_map(|target| target.canonicalize().ok())
        {
            if !target.starts_with(book) {
                wrong.push(format!(
                    "{}: {} is not in the book",
                    chapter.display(),
                    target.display()
                ));
            }
        }
        if text.contains(concat!("{{", "#")) {
            wrong.push(format!("{}: includes a missing file", chapter.display()));
        }
    }
    wrong
}

#[test]
fn the_book_is_whole() {
    let book = super::book::source().canonicalize().unwrap();
    let chapters = common::files(&book, "md");
    let contents = std::fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    println!("{} chapters", chapters.len() - 1);
    assert!(chapters.len() > 30, "{}", chapters.len());
    let wrong = misplaced(&book, &contents, &chapters);
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Negative control: a chapter that is missing, and one that is there twice.
    let first = "- [VBC](vbc.md)\n";
    assert_eq!(misplaced(&book, &contents.replace(first, ""), &chapters).len(), 1);
    assert_eq!(misplaced(&book, &(contents + first), &chapters).len(), 1);
    let away = targets(
        &book.join("a.md"),
        "[a](../../spec/README.md#x) [b](#y) ![c](c.png) [d](https://e.f)",
    );
    assert_eq!(away, [book.join("../../spec/README.md"), book.join("c.png")]);
}

#[test]
fn the_readme_is_short() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
}

/// The pages and sections that sources refer to: `docs/spec/page.md`, with or without a section number.
fn named(text: &str) -> Vec<(String, Option<String>)> {
    let mut named = Vec::new();
    for (at, _) in text.match_indices("docs/") {
        let rest = &text[at..];
        let Some(end) = rest.find(".md") else { continue };
        let page = &rest[..end + 3];
        if page.contains(char::is_whitespace) {
            continue;
        }
        // A comment may continue on the next line.
        let behind = rest[end + 3..].trim_start_matches(['`', ',']).trim_start();
        let behind = behind.trim_start_matches('/').trim_start_matches('!').trim_start();
        let section = behind.strip_prefix("section ").map(|rest| {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..digits].to_owned()
        });
        named.push((page.to_owned(), section));
    }
    named
}

#[test]
fn sources_refer_to_existing_pages_and_sections() {
    let (mut count, mut wrong) = (0, Vec::new());
    for source in files("rs").into_iter().chain(files("sh")).chain(files("c")) {
        let text = std::fs::read_to_string(&source).unwrap();
        for (page, section) in named(&text) {
            if page.contains('{') || source.ends_with("house/links.rs") {
                continue;
            }
            count += 1;
            let Ok(there) = std::fs::read_to_string(root().join(&page)) else {
                wrong.push(format!("{}: {page} is not there", source.display()));
                continue;
            };
            if let Some(section) = section
                && !there.lines().any(|line| line.starts_with(&format!("## {section}. ")))
            {
                wrong.push(format!("{}: {page} has no section {section}", source.display()));
            }
        }
        let outside = [
            concat!("fac", "ts/"),
            concat!("fac", "ts page"),
            concat!("the fac", "ts on"),
            concat!("in fac", "ts,"),
        ];
        if outside.iter().any(|page| text.contains(page)) {
            wrong.push(format!("{}: refers to a page outside the repository", source.display()));
        }
    }
    println!("{count} references from sources to pages");
    assert!(count > 30, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        named("see docs/spec/a.md, section 4."),
        [("docs/spec/a.md".to_owned(), Some("4".to_owned()))]
    );
}
