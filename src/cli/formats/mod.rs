//! The formats on the command line: one file per format, each an implementation of [`Format`].

mod listing;
pub(crate) mod mbs;
mod script;
mod sksl;
mod sl;
mod source;
mod spirv;
mod trace;
mod vbc;
pub(crate) mod words;

pub(crate) use script::Script;
pub(crate) use source::SOURCE;

use crate::cli::args::{AsArgs, CheckArgs, DisArgs, RewriteArgs};
use crate::cli::outcome::{Failure, Outcome};
use loader::{Error, Report};
use serde::Serialize;
use std::fmt;
use translate::validate::Table;

/// The output of `info`.
#[derive(Clone, Debug)]
pub struct Info {
    /// For people; ends with a newline.
    pub text: String,
    /// For programs.
    pub json: serde_json::Value,
}

impl Info {
    /// Both forms of a summary.
    ///
    /// # Errors
    /// None in practice: only if a summary could not be JSON.
    pub fn of(summary: &(impl Serialize + fmt::Display)) -> Outcome<Self> {
        Ok(Self {
            text: summary.to_string(),
            json: serde_json::to_value(summary).map_err(crate::cli::error::Error::from)?,
        })
    }

    /// The JSON as text.
    pub fn to_json_text(&self) -> String {
        format!("{:#}\n", self.json)
    }
}

/// Verbs that formats implement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // they are the command line's
pub enum Verb {
    #[default]
    Info,
    Check,
    Rewrite,
    Dis,
    As,
    Run,
}

impl Verb {
    /// As typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Check => "check",
            Self::Rewrite => "rewrite",
            Self::Dis => "dis",
            Self::As => "as",
            Self::Run => "run",
        }
    }
}

/// A format and the verbs it has; a verb it lacks answers Unsupported by name.
pub trait Format: Sync {
    /// Short lower-case name, as in error texts.
    fn name(&self) -> &'static str;

    /// Whether these bytes begin as this format does.
    fn detect(&self, bytes: &[u8]) -> bool;

    /// Flags of a verb that mean something to this format and nothing to some other; a flag in no format's list is for
    /// all of them.
    fn flags(&self, _verb: Verb) -> &'static [&'static str] {
        &[]
    }

    /// The file's contents.
    fn info(&self, _bytes: &[u8]) -> Outcome<Info> {
        Err(self.lacks(Verb::Info))
    }

    /// Every rule of the format, and the verdicts of other validators, a table per module in the file; a file that
    /// cannot be read has a report with the reason.
    ///
    /// # Errors
    /// When a grammar of the arguments cannot be used.
    fn check(&self, _bytes: &[u8], _args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        Err(self.lacks(Verb::Check))
    }

    /// The file, read and written again.
    fn rewrite(&self, _bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Err(self.lacks(Verb::Rewrite))
    }

    /// The file as text.
    fn dis(&self, _bytes: &[u8], _args: &DisArgs) -> Outcome<String> {
        Err(self.lacks(Verb::Dis))
    }

    /// Whether a text file is in this format's language (by a flag, the file name's ending, or the text).
    fn assembles(&self, _text: &str, _args: &AsArgs) -> bool {
        false
    }

    /// Text to bytes.
    fn assemble(&self, _text: &str, _args: &AsArgs) -> Outcome<Vec<u8>> {
        Err(self.lacks(Verb::As))
    }

    /// Whether a file may be one stage of several.
    fn takes_stages(&self) -> bool {
        false
    }

    /// The error of a verb this format lacks.
    fn lacks(&self, verb: Verb) -> Failure {
        Error::unsupported(self.name(), format!("the verb {}", verb.name())).into()
    }
}

/// Every format, in the order they are asked whether a file is theirs.
pub(crate) const ALL: &[&dyn Format] = &[
    &vbc::Vbc,
    &mbs::Mbs,
    &spirv::Spirv,
    &sl::Sl,
    &trace::Recording,
    &sksl::Sksl,
    &words::GP,
    &words::PP,
    &Script,
    &SOURCE,
];

/// The format of a name, or the one that begins with these bytes.
pub fn find(name: Option<&str>, bytes: &[u8]) -> Option<&'static dyn Format> {
    let mut all = ALL.iter().copied();
    match name {
        Some(name) => all.find(|format| format.name() == name),
        None => all.find(|format| format.detect(bytes)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_format_can_be_asked_for() {
        let names: Vec<&str> = super::ALL.iter().map(|format| format.name()).collect();
        assert_eq!(names, crate::cli::args::FORMATS);
    }
}
