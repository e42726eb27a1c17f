//! The assembly texts of the Mali-400: they match the driver's disassembler, and assemble to the same words.

use crate::common;

use num::half;
use std::fmt::Write;
use utgard::{gp, pp};

/// A listing of the corpus: the words of each program, and the driver's text of each instruction.
#[derive(Default)]
struct Listing {
    gp: Vec<(Vec<[u32; 4]>, Vec<String>)>,
    pp: Vec<(Vec<u32>, Vec<String>)>,
}

fn hex_words(text: &str) -> Option<Vec<u32>> {
    let parse = |part: &str| (part.len() == 8).then(|| u32::from_str_radix(part, 16).ok())?;
    text.split_whitespace().map(parse).collect()
}

fn listing(text: &str) -> Listing {
    let mut listing = Listing::default();
    let mut in_gp = false;
    for line in text.lines() {
        if line.starts_with("# GP") {
            in_gp = true;
            listing.gp.push(Default::default());
        } else if line.starts_with("# PP") {
            in_gp = false;
            listing.pp.push(Default::default());
        } else if in_gp {
            let program = listing.gp.last_mut().unwrap();
            match hex_words(line).and_then(|words| <[u32; 4]>::try_from(words).ok()) {
                Some(words) => program.0.push(words),
                None if line.len() > 4 && line.as_bytes()[3] == b':' => program.1.push(line[4..].to_owned()),
                None if line.starts_with('\t') => {
                    let text = program.1.last_mut().unwrap();
                    write!(text, ",{line}").unwrap();
                }
                None => {}
            }
        } else if let Some(program) = listing.pp.last_mut() {
            match line.strip_prefix("; ").map(hex_words) {
                Some(Some(words)) => program.0.extend(words),
                _ if line.starts_with(';') || line.is_empty() => {}
                _ => program.1.push(line.to_owned()),
            }
        }
    }
    listing
}

/// A text split into words; constants by value.
fn normal(text: &str) -> Vec<Vec<String>> {
    let word = |word: &str| match word.contains('.').then(|| half::from_text(word)).flatten() {
        Some(half) => format!("{half:#06x}"),
        None => word.to_owned(),
    };
    let part = |part: &str| -> Vec<String> { part.split_whitespace().map(word).collect() };
    text.split(',').map(part).filter(|part| !part.is_empty()).collect()
}

fn listings() -> Vec<(String, Listing)> {
    let Some(folder) = common::corpus("mali") else {
        return Vec::new();
    };
    let read = |path: std::path::PathBuf| {
        (
            path.display().to_string(),
            listing(&std::fs::read_to_string(&path).unwrap()),
        )
    };
    common::files(&folder, "code.txt").into_iter().map(read).collect()
}

#[test]
fn fragment_text_matches_the_drivers() {
    let (mut count, mut files, mut unsaid) = (0, 0, 0);
    for (path, listing) in listings() {
        files += 1;
        for (words, texts) in &listing.pp {
            let text = pp::disassemble(words, pp::Options::default());
            assert_eq!(
                pp::assemble(&text).unwrap_or_else(|e| panic!("{path}: {e}\n{text}")),
                *words,
                "{path}\n{text}"
            );
            let ours: Vec<&str> = text.lines().map(|line| line.split_once(": ").unwrap().1).collect();
            assert_eq!(ours.len(), texts.len(), "{path}");
            for (ours, theirs) in ours.iter().zip(texts) {
                // Details that the driver's printer omits come last.
                let (ours, silent) = ours.split_once(", set ").unwrap_or((ours, ""));
                unsaid += usize::from(!silent.is_empty());
                assert_eq!(normal(ours), normal(theirs), "{path}\nours   {ours}\ntheirs {theirs}");
                count += 1;
            }
        }
    }
    if files > 0 {
        assert!(count > 300, "only {count} instructions");
        println!(
            "{count} PP instructions of {files} listings: 0 disagreements with the driver's text ({unsaid} hold more than it says), all come back"
        );
    }
}

/// The driver's text of an instruction without its annotations of a branch, and with ports in its form.
fn gp_normal(text: &str) -> Vec<Vec<String>> {
    let mut parts = normal(&text.replace("@0", ""));
    parts.retain(|part| part[0] != "unknown_1" && part[0] != "set");
    parts
}

#[test]
fn vertex_text_matches_the_drivers() {
    let (mut count, mut files, mut unsaid) = (0, 0, 0);
    for (path, listing) in listings() {
        files += 1;
        for (words, texts) in &listing.gp {
            let text = gp::disassemble(words, gp::Options::default());
            assert_eq!(
                gp::assemble(&text).unwrap_or_else(|e| panic!("{path}: {e}\n{text}")),
                *words,
                "{path}\n{text}"
            );
            let lines = text
                .lines()
                .map(|line| line.split_once(": ").map_or((false, line), |(_, rest)| (true, rest)));
            let mut ours: Vec<String> = Vec::new();
            for (starts, line) in lines {
                if starts {
                    ours.push(line.to_owned())
                } else {
                    *ours.last_mut().unwrap() += line
                };
            }
            assert_eq!(ours.len(), texts.len(), "{path}");
            for (ours, theirs) in ours.iter().zip(texts) {
                unsaid += usize::from(ours.contains("set "));
                assert_eq!(
                    gp_normal(ours),
                    gp_normal(theirs),
                    "{path}\nours   {ours}\ntheirs {theirs}"
                );
                count += 1;
            }
        }
    }
    if files > 0 {
        assert!(count > 500, "only {count} instructions");
        println!(
            "{count} GP instructions of {files} listings: 0 disagreements with the driver's text ({unsaid} hold more than it says), all come back"
        );
    }
}

/// The programs of the listings are also in the recorded memory.
#[test]
fn recorded_memory_holds_the_same_code() {
    let Some(folder) = common::corpus("mali") else { return };
    let mut programs = 0;
    for path in common::recordings(&folder) {
        let listing = listing(&std::fs::read_to_string(path.with_extension("code.txt")).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        let trace = loader::trace::Trace::read(&bytes).unwrap();
        let pages: Vec<&[u8]> = trace
            .records
            .iter()
            .filter_map(|(_, record)| match record {
                loader::trace::Record::Page { bytes, .. } => Some(*bytes),
                _ => None,
            })
            .collect();
        let find = |words: &[u32]| -> Vec<u32> {
            let needle: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let place = pages.iter().find_map(|page| {
                page.windows(needle.len())
                    .position(|w| w == needle)
                    .map(|at| &page[at..])
            });
            let place = place.unwrap_or_else(|| panic!("{}: code is not in memory", path.display()));
            place
                .chunks_exact(4)
                .take(words.len())
                .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
                .collect()
        };
        for (words, _) in listing.gp.iter().filter(|(words, _)| !words.is_empty()) {
            let found = find(words.as_flattened());
            let again = found
                .chunks_exact(4)
                .flat_map(|w| gp::Instruction::decode(w.try_into().unwrap()).encode());
            assert!(again.eq(found.iter().copied()), "{}", path.display());
            programs += 1;
        }
        for (words, _) in listing.pp.iter().filter(|(words, _)| !words.is_empty()) {
            let (code, broken) = pp::flow::instructions(&find(words));
            let mut again = Vec::new();
            code.iter().for_each(|(_, instruction)| instruction.encode(&mut again));
            assert_eq!((again, broken), (words.clone(), None), "{}", path.display());
            programs += 1;
        }
    }
    assert!(programs > 100);
    println!("{programs} programs found in recorded memory come back bit for bit");
}
