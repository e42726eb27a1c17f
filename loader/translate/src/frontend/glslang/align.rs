//! Maps positions in a preprocessed text to the source.
//!
//! The preprocessor preserves lines, so a line of its output comes from the same line of the source. Within a line,
//! tokens found in both are matched in order; those in between come from macros.

use crate::frontend::Preprocessed;
use std::collections::HashSet;
use std::ops::Range;

/// A preprocessed text with its positions in the source.
pub(super) fn aligned(source: &str, code: String) -> Preprocessed {
    let lines = lines(source);
    let mut places = Vec::new();
    // The line of the source, from 0; in an included file, the line of the directive.
    let (mut at, mut start, mut included) = (0, 0, None);
    for line in code.split_inclusive('\n') {
        if let Some((number, file)) = line_directive(line) {
            if let (Some(_), None) = (file, included) {
                included = Some(at.min(lines.len().saturating_sub(1)));
            }
            if file.is_none() {
                included = None;
                at = number.saturating_sub(1);
            }
            start += line.len();
            continue;
        }
        match included {
            Some(directive) => {
                if let Some(place) = lines.get(directive) {
                    places.push((start, place.clone()));
                }
            }
            None => {
                if let Some(place) = lines.get(at) {
                    align_line(&source[place.clone()], place.start, line, start, &mut places);
                }
                at += 1;
            }
        }
        start += line.len();
    }
    Preprocessed { text: code, places }
}

/// Ranges of the lines of a text, without line ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let all = text.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end_matches(['\n', '\r']).len()
    });
    all.collect()
}

/// The number of a `#line`, and the file name if there is one.
fn line_directive(line: &str) -> Option<(usize, Option<&str>)> {
    let rest = line.trim_start().strip_prefix("#line ")?;
    let mut words = rest.splitn(2, ' ');
    let number = words.next()?.trim().parse().ok()?;
    let file = words.next().map(str::trim).filter(|file| file.starts_with('"'));
    Some((number, file))
}

/// Words, and all other characters one by one.
fn tokens(line: &str) -> Vec<Range<usize>> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(first) = line[at..].chars().next() {
        let length = match first {
            _ if is_letter(first) => line[at..].find(|c| !is_letter(c)).unwrap_or(line.len() - at),
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() {
            all.push(at..at + length);
        }
        at += length;
    }
    all
}

fn align_line(source: &str, from: usize, code: &str, start: usize, places: &mut Vec<(usize, Range<usize>)>) {
    let (old, new) = (tokens(source), tokens(code));
    let written: HashSet<&str> = new.iter().map(|token| &code[token.clone()]).collect();
    // The source token that was replaced: the last one before a position, or else the token there.
    let macro_before = |at: usize| {
        let mut before = old[..old.len().min(at + 1)].iter().rev();
        let is_macro = |place: &&Range<usize>| {
            let word = &source[(*place).clone()];
            !word.starts_with(|c: char| !c.is_alphabetic() && c != '_') && !written.contains(word)
        };
        before.find(is_macro).or(old.get(at)).cloned()
    };
    let mut at = 0;
    for (number, token) in new.iter().enumerate() {
        let word = &code[token.clone()];
        let same = |place: &Range<usize>| source[place.clone()] == *word;
        // A token that occurs again further on, together with what follows it: the skipped ones belong to a macro.
        let found = (at..old.len()).find(|place| {
            let follows = match (old.get(place + 1), new.get(number + 1)) {
                (Some(old), Some(new)) => source[old.clone()] == code[new.clone()],
                (old, new) => old.is_none() == new.is_none(),
            };
            same(&old[*place]) && (*place == at || follows)
        });
        let place = match found {
            Some(found) => {
                at = found + 1;
                old[found].clone()
            }
            None => macro_before(at).unwrap_or(0..source.len()),
        };
        places.push((start + token.start, from + place.start..from + place.end));
    }
}
