//! The syntax shared by both assembly languages: statements of comma-separated parts, labels, comments, numbers.
//!
//! A statement is a line; a line that ends with a comma continues in the next. `#` and `;` begin comments. Words before
//! the first part that end with a colon are labels; a label is a name or a number.

use loader::SourceError;
use std::collections::HashMap;
use std::ops::Range;

/// An instruction as text, taken apart by what does each part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its place, as listings number it.
    pub address: u32,
    /// Names of units, each with what it does; `control` is what belongs to none.
    pub cells: Vec<(&'static str, String)>,
}

impl Row {
    /// The parts as a listing has them, with what stands between them.
    pub(crate) fn join(&self, between: &str) -> String {
        let parts: Vec<&str> = self.cells.iter().map(|(_, text)| text.as_str()).collect();
        parts.join(between)
    }
}

/// What cells are called that belong to no unit.
pub(crate) const CONTROL: &str = "control";

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its characters.
    pub text: &'a str,
    /// Its byte range in the source.
    pub span: Range<usize>,
}

/// A line, or several joined by commas.
#[derive(Clone, Debug, Default)]
pub struct Statement<'a> {
    /// Labels before it.
    pub labels: Vec<Word<'a>>,
    /// Its comma-separated parts, none of them empty.
    pub parts: Vec<Vec<Word<'a>>>,
}

impl Statement<'_> {
    /// Byte range of the first word, or an empty range at the start.
    pub fn span(&self) -> Range<usize> {
        let first = self.parts.first().and_then(|part| part.first());
        first.or(self.labels.first()).map_or(0..0, |word| word.span.clone())
    }
}

/// A source text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a>(pub &'a str);

impl<'a> Source<'a> {
    /// An error about a word.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> SourceError {
        SourceError::new(self.0, span, message)
    }

    /// The statements; labels at the end belong to a last one without parts.
    pub fn statements(&self) -> Vec<Statement<'a>> {
        let mut statements = Vec::new();
        let mut current = Statement::default();
        let mut start = 0;
        for line in self.0.split_inclusive('\n') {
            let code = line.split(['#', ';']).next().unwrap_or_default();
            self.line(start, code, &mut current);
            start += line.len();
            if !current.parts.is_empty() && !code.trim_end().ends_with(',') {
                statements.push(std::mem::take(&mut current));
            }
        }
        if !current.labels.is_empty() || !current.parts.is_empty() {
            statements.push(current);
        }
        statements
    }

    fn line(&self, start: usize, code: &'a str, statement: &mut Statement<'a>) {
        let mut at = start;
        for part in code.split_inclusive(',') {
            let mut words = Vec::new();
            for word in words_of(at, part.trim_end_matches(',')) {
                match word.text.strip_suffix(':') {
                    Some(label) if words.is_empty() && statement.parts.is_empty() && !label.is_empty() => {
                        let span = word.span.start..word.span.end - 1;
                        statement.labels.push(Word { text: label, span });
                    }
                    _ => words.push(word),
                }
            }
            if !words.is_empty() {
                statement.parts.push(words);
            }
            at += part.len();
        }
    }

    /// A signed number, decimal or with `0x`.
    ///
    /// # Errors
    /// If the word is not a number, or exceeds 32 bits.
    pub fn number(&self, word: &Word<'_>) -> Result<i64, SourceError> {
        number(word.text).ok_or_else(|| {
            let message = format!("`{}` where a number is expected", word.text);
            self.error(word.span.clone(), message)
        })
    }

    /// Positions of the labels, in the unit of `addresses` (one per statement).
    ///
    /// # Errors
    /// A duplicate label.
    pub fn labels(
        &self,
        statements: &[Statement<'a>],
        addresses: &[u32],
    ) -> Result<HashMap<&'a str, u32>, SourceError> {
        let mut labels = HashMap::new();
        for (statement, address) in statements.iter().zip(addresses) {
            for label in &statement.labels {
                if labels.insert(label.text, *address).is_some() {
                    let message = format!("the label `{}` is there already", label.text);
                    return Err(self.error(label.span.clone(), message));
                }
            }
        }
        Ok(labels)
    }
}

/// The words of a substring that begins at byte `start` of the source.
fn words_of(start: usize, text: &str) -> impl Iterator<Item = Word<'_>> {
    text.split_whitespace().map(move |word| {
        // The words are slices of `text`, so their distance from it is their position.
        let at = start + (word.as_ptr() as usize - text.as_ptr() as usize);
        Word {
            text: word,
            span: at..at + word.len(),
        }
    })
}

/// A number of at most 32 bits, decimal or with `0x`.
pub fn number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None if digits.starts_with('+') => return None,
        None => digits.parse::<u32>().ok()?,
    };
    Some(if negative { -i64::from(value) } else { i64::from(value) })
}

/// Component letters in order.
pub const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// Index of a component letter.
pub fn component(letter: char) -> Option<u32> {
    COMPONENTS.iter().position(|c| *c == letter).map(|at| at as u32)
}

/// The components of a mask, such as `xzw`.
pub fn mask_letters(mask: u32) -> String {
    (0..4)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| COMPONENTS[bit as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_labels_and_comments() {
        let text = "a: b:\n c d, e # no\n\n; nothing\nx,\n y\nend:\n";
        let statements = Source(text).statements();
        let texts = |statement: &Statement<'_>| -> Vec<Vec<String>> {
            let of = |part: &Vec<Word<'_>>| part.iter().map(|word| word.text.to_owned()).collect();
            statement.parts.iter().map(of).collect()
        };
        assert_eq!(statements.len(), 3);
        assert_eq!(statements[0].labels.len(), 2);
        assert_eq!(texts(&statements[0]), [vec!["c", "d"], vec!["e"]]);
        assert_eq!(texts(&statements[1]), [["x"], ["y"]]);
        assert_eq!(statements[2].labels[0].text, "end");
        for statement in &statements {
            for word in statement.parts.iter().flatten() {
                assert_eq!(&text[word.span.clone()], word.text);
            }
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(number("-12"), Some(-12));
        assert_eq!(number("0xffffffff"), Some(0xffff_ffff));
        assert_eq!(
            [
                number(""),
                number("-"),
                number("0x"),
                number("1x"),
                number("+1"),
                number("4294967296")
            ],
            [None; 6]
        );
    }
}
