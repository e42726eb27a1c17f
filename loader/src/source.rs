//! Errors in source text, such as assembly.

use std::ops::Range;
use std::path::Path;

/// Where a text breaks the rules of its language, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SourceError {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Line from 1.
    pub line: usize,
    /// Column from 1, in characters.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl SourceError {
    /// An error about these bytes of `text`; the span is clamped to character boundaries.
    pub fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let message = message.into();
        let within = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let start = within(span.start).unwrap_or(0);
        let span = start..within(span.end).unwrap_or(0).max(start);
        let before = &text[..span.start];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
        Self {
            span,
            line,
            column,
            message,
        }
    }

    /// The error with the source lines it points at, as rustc shows them.
    pub fn render(&self, text: &str, file: &str) -> String {
        use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
        // Only the line with the error is rendered, so that the renderer does not read the whole text.
        let start = text[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[self.span.start..]
            .find('\n')
            .map_or(text.len(), |at| self.span.start + at);
        let span = self.span.start - start..(self.span.end.min(end).max(self.span.start)) - start;
        let snippet = Snippet::source(&text[start..end])
            .line_start(self.line)
            .path(file)
            .annotation(AnnotationKind::Primary.span(span).label("here"));
        let group = Level::ERROR.primary_title(&self.message).element(snippet);
        format!("{}\n", Renderer::plain().render(&[group]))
    }

    /// The error as compilers print it: `file:line:column: format: message`, then the line with the place marked.
    pub fn in_file(&self, file: &Path, format: &str, text: &str) -> String {
        let rendered = self.render(text, "");
        // The message's lines, then the file's.
        let lines = rendered
            .lines()
            .skip_while(|line| !line.trim_start().starts_with("-->"));
        let excerpt: String = lines.skip(1).map(|line| format!("\n{}", line.trim_end())).collect();
        let (file, line, column) = (file.display(), self.line, self.column);
        format!("{file}:{line}:{column}: {format}: {}{excerpt}", self.message)
    }
}
