//! Links between pages and from sources to pages lead somewhere.

use crate::common;
use pulldown_cmark::{Event, Options, Parser, Tag};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of the repository with an ending; build outputs are none.
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

/// The anchors of a page, made as GitHub makes them.
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

/// What is wrong with a page's relative links.
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
        } else if !anchor.is_empty() && !anchors(&std::fs::read_to_string(&target).unwrap_or_default()).contains(anchor)
        {
            broken.push(format!("{}: no such heading: {link}", page.display()));
        }
    }
    broken
}

#[test]
fn links_between_pages_lead_somewhere() {
    let (mut pages, mut wrong) = (0, Vec::new());
    for page in files("md") {
        wrong.extend(broken(&page, &std::fs::read_to_string(&page).unwrap()));
        pages += 1;
    }
    println!("{pages} pages");
    assert!(pages > 10, "{pages} pages");
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The control: both kinds of wrong link are found.
    let page = root().join("README.md");
    assert_eq!(
        broken(&page, "[a](nothing.md) [b](README.md#nothing) [c](README.md)").len(),
        2
    );
}

/// The pages and sections that sources name: `docs/spec/page.md`, with a number of a section behind it or not.
fn named(text: &str) -> Vec<(String, Option<String>)> {
    let mut named = Vec::new();
    for (at, _) in text.match_indices("docs/") {
        let rest = &text[at..];
        let Some(end) = rest.find(".md") else { continue };
        let page = &rest[..end + 3];
        if page.contains(char::is_whitespace) {
            continue;
        }
        // A comment may go on in its next line.
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
fn sources_refer_to_pages_and_sections_that_are_there() {
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
