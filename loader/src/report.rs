//! Findings of the validators, in one shape for every format.

use crate::{Error, ErrorKind};
use serde::Serialize;
use std::fmt;

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Unusual but harmless, or recovered by the reader.
    Warning,
    /// Valid, but beyond what this program (or the target) supports.
    Unsupported,
    /// A rule of the format is broken.
    Error,
}

impl Severity {
    /// Lower-case word for messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Unsupported => "unsupported",
            Self::Error => "error",
        }
    }
}

/// One finding: the rule, the place, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable kebab-case name of the rule, such as `input-overlap`; tests and users match on it.
    pub rule: &'static str,
    /// Where in the structure, such as `binding 3`; may be empty.
    pub place: String,
    /// What is wrong, with the values that show it.
    pub message: String,
    /// Byte offset from the start of the file, if known.
    pub offset: Option<u64>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: ", self.severity.name(), self.rule)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{}", self.message)?;
        if let Some(offset) = self.offset {
            write!(f, " (at offset {offset:#x})")?;
        }
        Ok(())
    }
}

impl From<&Error> for Report {
    /// The report of a file that cannot be read.
    fn from(error: &Error) -> Self {
        Self {
            diagnostics: vec![error.into()],
        }
    }
}

impl From<&Error> for Diagnostic {
    /// A reader's error as the one finding of a file that cannot be read further.
    fn from(error: &Error) -> Self {
        let (severity, rule) = match error.kind() {
            ErrorKind::Invalid => (Severity::Error, "unreadable"),
            ErrorKind::Unsupported => (Severity::Unsupported, "unsupported"),
        };
        let (place, message) = (error.place().to_owned(), error.message().to_owned());
        Self {
            severity,
            rule,
            place,
            message,
            offset: error.offset(),
        }
    }
}

/// All findings about one file, in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Adds a finding.
    pub fn push(
        &mut self,
        severity: Severity,
        rule: &'static str,
        place: impl fmt::Display,
        message: impl Into<String>,
        offset: Option<u64>,
    ) {
        let (place, message) = (place.to_string(), message.into());
        self.diagnostics.push(Diagnostic {
            severity,
            rule,
            place,
            message,
            offset,
        });
    }

    /// The verdict over all findings: `valid`, `unsupported` or `invalid`.
    pub fn verdict(&self) -> &'static str {
        match self.worst() {
            Some(Severity::Error) => "invalid",
            Some(Severity::Unsupported) => "unsupported",
            _ => "valid",
        }
    }

    /// The worst severity; `None` when there are no findings.
    pub fn worst(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|d| d.severity).max()
    }

    /// Whether no rule of the format is broken (warnings and unsupported features allowed).
    pub fn is_valid(&self) -> bool {
        self.worst() != Some(Severity::Error)
    }

    /// Returns an error that names every broken rule, if there is one.
    ///
    /// # Errors
    /// Invalid, unless the report [is valid](Self::is_valid).
    pub fn accept(&self, format: &'static str) -> crate::Result<()> {
        let errors = self.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        let errors: Vec<String> = errors.map(ToString::to_string).collect();
        if errors.is_empty() {
            return Ok(());
        }
        let message = format!("the file breaks its format:\n{}", errors.join("\n"));
        Err(Error::new(ErrorKind::Invalid, format, message))
    }

    /// Whether there is a finding of this rule.
    pub fn has(&self, rule: &str) -> bool {
        self.diagnostics.iter().any(|d| d.rule == rule)
    }
}
