//! Parses glslang's messages.

use crate::error::File;
use crate::frontend::{Diagnostic, Text};
use crate::{Error, ErrorKind};
use loader::SourceError;
use std::ops::Range;

/// The messages of a log, in order.
pub(super) fn diagnostics(log: &str) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for line in log.lines() {
        if let Some((line, column, message)) = hlsl(line) {
            all.push(Diagnostic {
                is_error: true,
                file: None,
                line,
                column,
                message: squeezed(message),
            });
            continue;
        }
        let (is_error, rest) = match (line.strip_prefix("ERROR: "), line.strip_prefix("WARNING: ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => {
                // A continuation of the message above.
                if let (Some(last), false) = (all.last_mut(), line.trim().is_empty()) {
                    last.message = format!("{}; {}", last.message, squeezed(line));
                }
                continue;
            }
        };
        let is_count = rest.contains("compilation errors.") || rest.ends_with("compilation terminated");
        if is_count && !all.is_empty() {
            continue;
        }
        let (file, line, column, message) = place(rest);
        all.push(Diagnostic {
            is_error,
            file,
            line,
            column,
            message: squeezed(message),
        });
    }
    all
}

/// Splits `(line): error at column N, message`, the form of the HLSL front end.
fn hlsl(text: &str) -> Option<(usize, usize, &str)> {
    let (line, rest) = text.strip_prefix('(')?.split_once("): error at column ")?;
    let (column, message) = rest.split_once(", ")?;
    Some((line.parse().ok()?, column.parse().ok()?, message))
}

/// Splits `file:line:column: message` or `file:line: message`; line 0 if there is no place.
fn place(text: &str) -> (Option<String>, usize, usize, &str) {
    let mut from = 0;
    while let Some(at) = text[from..].find(':').map(|at| at + from) {
        let number = |text: &'_ str| {
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            Some((text[..digits].parse::<usize>().ok()?, digits))
        };
        if let Some((line, digits)) = number(&text[at + 1..]) {
            let rest = &text[at + 1 + digits..];
            let name = &text[..at];
            let file = name.parse::<u32>().is_err().then(|| name.to_owned());
            if let Some((column, digits)) = rest.strip_prefix(':').and_then(number)
                && let Some(message) = rest[1 + digits..].strip_prefix(": ")
            {
                return (file, line, column, message);
            }
            if let Some(message) = rest.strip_prefix(": ") {
                return (file, line, 0, message);
            }
        }
        from = at + 1;
    }
    (None, 0, 0, text)
}

/// A message with runs of spaces collapsed.
fn squeezed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    text.strip_prefix("'' : ").unwrap_or(&text).replace("' : ", "': ")
}

/// A diagnostic as an error, with its source line.
pub(super) fn error(text: &Text<'_>, found: &Diagnostic, included: Option<&String>) -> Error {
    let source = included.map_or(text.text, String::as_str);
    let named_elsewhere = found.file.is_some() && included.is_none();
    let language = text.language();
    let message = found.message.clone();
    if found.line == 0 {
        return ErrorKind::Language(format!("{language}: {message}")).into();
    }
    let file = found.file.clone().map(|name| {
        Box::new(File {
            name,
            text: included.cloned().unwrap_or_default(),
        })
    });
    // Only a #line names the file, so there is no source line to show.
    let error = match named_elsewhere {
        true => SourceError {
            span: 0..0,
            line: found.line,
            column: found.column.max(1),
            message,
        },
        false => SourceError::new(source, span(source, found), message),
    };
    ErrorKind::Text { language, error, file }.into()
}

/// The range of a diagnostic in a source: the token it names, in its line, nearest to its column.
fn span(source: &str, found: &Diagnostic) -> Range<usize> {
    let start: usize = source.split_inclusive('\n').take(found.line - 1).map(str::len).sum();
    let line = source[start.min(source.len())..].lines().next().unwrap_or_default();
    let near = found.column.saturating_sub(1).min(line.len());
    let token = found
        .message
        .strip_prefix('\'')
        .and_then(|rest| Some(rest.split_once("': ")?.0));
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let places = token.filter(|token| !token.is_empty()).map(|token| {
        let is_word = is_letter(token.as_bytes().first());
        let all = line.match_indices(token).map(|(at, _)| at..at + token.len());
        all.filter(move |place| {
            let inside = |at: Option<usize>| at.is_some_and(|at| is_letter(line.as_bytes().get(at)));
            !is_word || !(inside(place.start.checked_sub(1)) || inside(Some(place.end)))
        })
    });
    let nearest = places.and_then(|places| places.min_by_key(|place| (place.end.abs_diff(near), place.start)));
    let place = nearest.unwrap_or_else(|| {
        let first = line.len() - line.trim_start().len();
        let at = if found.column == 0 { first } else { near.max(first) };
        at..(at + 1).min(line.len()).max(at)
    });
    start + place.start..start + place.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_split_from_messages() {
        let log = "ERROR: 0:12:5: 'x' : undeclared identifier \nWARNING: lib/a:b.glsl:3: '' :  syntax error \n\
                   ERROR: 1 compilation errors.  No code generated.\n\n\nERROR: Linking fragment stage: a: b\n    more\n\
                   (2): error at column 7, HLSL parsing failed.\n";
        let found = diagnostics(log);
        let parsed: Vec<_> = found
            .iter()
            .map(|d| (d.is_error, d.file.as_deref(), d.line, d.column, d.message.as_str()))
            .collect();
        assert_eq!(
            parsed,
            [
                (true, None, 12, 5, "'x': undeclared identifier"),
                (false, Some("lib/a:b.glsl"), 3, 0, "syntax error"),
                (true, None, 0, 0, "Linking fragment stage: a: b; more"),
                (true, None, 2, 7, "HLSL parsing failed."),
            ]
        );
    }
}
