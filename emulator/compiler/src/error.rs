//! What can go wrong, and where in the source.

use std::ops::Range;
use std::sync::Arc;

/// What kind of refusal an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The source is wrong.
    Invalid,
    /// The source may be right, but the hardware or this compiler has nothing for it.
    Unsupported,
    /// A budget is spent.
    Limit,
}

#[derive(Clone, Debug, thiserror::Error)]
#[error("{}: {message}", self.prefix())]
struct Inner {
    kind: ErrorKind,
    message: String,
    span: Option<Range<usize>>,
    offset: Option<u64>,
    function: Option<String>,
    source: Option<Arc<translate::Error>>,
}

impl Inner {
    /// The kind, in front of the message.
    fn prefix(&self) -> &'static str {
        match self.kind {
            ErrorKind::Invalid => "invalid",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Limit => "limit",
        }
    }
}

/// The same words about the same place; what caused them is not compared.
impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.message, &self.span) == (other.kind, &other.message, &other.span)
    }
}

impl Eq for Inner {}

/// A refusal, with its place in the source where there is one; one machine word wide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

/// Result of the compiler.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner {
            kind,
            message,
            span: None,
            offset: None,
            function: None,
            source: None,
        }))
    }

    /// The source is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Nothing on the hardware for it.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A budget is spent.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// The reader's refusal in this crate's words.
    pub(crate) fn of_reader(error: translate::Error) -> Self {
        let kind = if error.is_unsupported() {
            ErrorKind::Unsupported
        } else {
            ErrorKind::Invalid
        };
        // The place is a field of its own.
        let message = match error.kind() {
            translate::ErrorKind::Text { error, file: None, .. } => error.message.clone(),
            _ => error.to_string(),
        };
        let mut converted = Self::new(kind, message);
        converted.0.source = Some(Arc::new(error));
        converted
    }

    /// The same with a place, unless it has one.
    #[must_use]
    pub fn at(mut self, span: Option<Range<usize>>) -> Self {
        self.0.span = self.0.span.or(span);
        self
    }

    /// The same with its place moved to another text.
    #[must_use]
    pub fn map_span(mut self, map: impl FnOnce(Range<usize>) -> Range<usize>) -> Self {
        self.0.span = self.0.span.map(map);
        self
    }

    /// The same without a place: what it has is of no text.
    #[must_use]
    pub(crate) fn without_place(mut self) -> Self {
        self.0.span = None;
        self
    }

    /// The same about a byte of a file that is no text, instead of its place in one.
    #[must_use]
    pub(crate) fn at_offset(mut self, offset: Option<u64>) -> Self {
        self.0.span = None;
        self.0.offset = self.0.offset.or(offset);
        self
    }

    /// The same inside of a function, unless one further in is named.
    #[must_use]
    pub(crate) fn inside(mut self, function: &str) -> Self {
        self.0.function.get_or_insert_with(|| function.to_owned());
        self
    }

    /// ErrorKind of refusal.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Bytes of the source it is about.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    /// Byte of the file it is about, where that is no text.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The function it is in, where the front end knows.
    pub fn function(&self) -> Option<&str> {
        self.0.function.as_deref()
    }

    /// The reader's refusal that it is of, if it is of one.
    pub fn reader(&self) -> Option<&translate::Error> {
        self.0.source.as_deref()
    }

    /// The message with its place: line, column and a caret, or the byte offset, or the function's name.
    pub fn render(&self, file: &str, source: &str) -> String {
        // The place is in another file, which the reader knows.
        if let Some(reader) = self.reader().filter(|reader| reader.included().is_some()) {
            return reader.render(source.as_bytes(), file);
        }
        // A broken file's error has its offset already.
        let is_placed = |reader: &translate::Error| matches!(reader.kind(), translate::ErrorKind::File(_));
        if let Some(offset) = self.0.offset.filter(|_| !self.reader().is_some_and(is_placed)) {
            return format!("{file}: {self} (byte offset {offset})");
        }
        if let (None, Some(function)) = (&self.0.span, &self.0.function) {
            return format!("{file}: {self} (in the function {function})");
        }
        let Some(span) = self.0.span.clone().filter(|span| span.start <= source.len()) else {
            return format!("{file}: {self}");
        };
        let before = source.get(..span.start).unwrap_or_default();
        let (line, start) = (
            before.matches('\n').count() + 1,
            before.rfind('\n').map_or(0, |at| at + 1),
        );
        let text = source[start..].lines().next().unwrap_or_default();
        let at = before[start..].chars().count();
        // Of a long line only what is around the place is shown.
        let hidden = at
            .saturating_sub(SHOWN / 2)
            .min(text.chars().count().saturating_sub(SHOWN));
        let text: String = text.chars().skip(hidden).take(SHOWN).collect();
        let column = at - hidden;
        let length = source
            .get(span)
            .map_or(1, |text| text.lines().next().unwrap_or_default().chars().count());
        let carets = "^".repeat(length.clamp(1, text.chars().count().saturating_sub(column).max(1)));
        let margin = " ".repeat(line.to_string().len());
        format!(
            "{file}:{line}:{}: {self}\n{margin} |\n{line} | {text}\n{margin} | {}{carets}",
            at + 1,
            " ".repeat(column)
        )
    }
}

/// The most characters of a line that are shown.
const SHOWN: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let source = format!("{}!{}", "a".repeat(1000), "b".repeat(1000));
        let error = Error::invalid("no").at(Some(1000..1001));
        let text = error.render("a.frag", &source);
        assert!(text.starts_with("a.frag:1:1001: invalid: no\n"), "{text}");
        let lines: Vec<&str> = text.lines().skip(2).map(|line| &line[4..]).collect();
        assert_eq!(lines[0].len(), SHOWN);
        assert_eq!(lines[0].find('!'), lines[1].find('^'));
        let whole = Error::invalid("no").at(Some(1..2)).render("a.frag", "a!b");
        assert!(whole.ends_with("1 | a!b\n  |  ^"), "{whole}");
    }

    /// Line, column and carets of each kind of place; a place that is in no text has none.
    #[test]
    fn places_are_shown() {
        let text = "first\nsecond line\n\u{fc}ber";
        let carets = |line: u32, text: &str, column: usize, count: usize| {
            let (before, under) = (" ".repeat(column - 1), "^".repeat(count));
            format!("s:{line}:{column}: limit: no\n  |\n{line} | {text}\n  | {before}{under}")
        };
        for (span, wanted) in [
            (0..5, carets(1, "first", 1, 5)),
            (2..3, carets(1, "first", 3, 1)),
            (2..2, carets(1, "first", 3, 1)),
            // To the end of the line at most.
            (2..9, carets(1, "first", 3, 3)),
            (2..99, carets(1, "first", 3, 1)),
            (5..6, carets(1, "first", 6, 1)),
            (6..12, carets(2, "second line", 1, 6)),
            (13..17, carets(2, "second line", 8, 4)),
            (18..20, carets(3, "\u{fc}ber", 1, 1)),
            (20..23, carets(3, "\u{fc}ber", 2, 3)),
            (23..24, carets(3, "\u{fc}ber", 5, 1)),
            (24..25, "s: limit: no".to_owned()),
        ] {
            let error = Error::limit("no").at(Some(span.clone()));
            assert_eq!(error.render("s", text), wanted, "{span:?}");
        }
        let plain = || Error::unsupported("no");
        let inside = plain().inside("f").inside("g");
        assert_eq!(inside.function(), Some("f"));
        assert_eq!(inside.render("s", text), "s: unsupported: no (in the function f)");
        assert!(
            inside
                .clone()
                .at(Some(0..1))
                .render("s", text)
                .starts_with("s:1:1: unsupported: no\n")
        );
        let of_file = inside.at(Some(3..4)).at_offset(Some(0));
        assert_eq!((of_file.offset(), of_file.span()), (Some(0), None));
        assert_eq!(of_file.render("s", text), "s: unsupported: no (byte offset 0)");
        assert_eq!(plain().at_offset(Some(1)).at_offset(Some(2)).offset(), Some(1));
        // The first place stays; it can be moved, and taken away.
        let placed = plain().at(None).at(Some(1..2)).at(Some(3..4));
        assert_eq!(placed.span(), Some(1..2));
        assert_eq!(
            placed.clone().map_span(|span| span.start + 5..span.end + 5).span(),
            Some(6..7)
        );
        assert_eq!(placed.clone().without_place().span(), None);
        // Equal are errors of the same kind, words and place, wherever they come from.
        assert_eq!(placed, plain().inside("f").at(Some(1..2)));
        for other in [
            plain(),
            plain().at(Some(1..3)),
            Error::limit("no").at(Some(1..2)),
            Error::unsupported("yes").at(Some(1..2)),
        ] {
            assert_ne!(placed, other);
        }
        assert_eq!(Error::invalid("no").to_string(), "invalid: no");
    }

    #[test]
    fn is_one_word_and_has_a_source() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        let refused = translate::Error::from(translate::ErrorKind::Entry("no entry point".to_owned()));
        let error = Error::of_reader(refused);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.source().unwrap().to_string(), "no entry point");
        assert_eq!(error.reader().unwrap().to_string(), "no entry point");
    }
}
