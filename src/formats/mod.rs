//! What the tool can do with each format: one file per format, all behind [`Format`].

pub mod mbs;
mod sksl;
mod sl;
mod spirv;
mod vbc;

pub use vbc::stages as vbc_stages;

use crate::cli::{AsArgs, CheckArgs, DisArgs, InfoArgs, Outcome, RewriteArgs, RunArgs};
use loader::{Error, Report};
use translate::validate::Table;

/// What `info` shows.
#[derive(Clone, Debug)]
pub struct Info {
    /// For people; ends with a newline.
    pub text: String,
    /// For programs.
    pub json: serde_json::Value,
}

/// A format and the verbs it has; a verb it lacks answers Unsupported by name.
pub trait Format: Sync {
    /// Short lower-case name, as in error texts.
    fn name(&self) -> &'static str;

    /// Whether these bytes begin as this format does.
    fn detect(&self, bytes: &[u8]) -> bool;

    /// What the file holds.
    fn info(&self, _bytes: &[u8], _args: &InfoArgs) -> Outcome<Info> {
        Err(self.lacks("info"))
    }

    /// Every rule of the format; a file that cannot be read gives a report that says so.
    fn check(&self, _bytes: &[u8], _args: &CheckArgs) -> Report {
        let error = Error::unsupported(self.name(), "the verb check");
        Report {
            diagnostics: vec![(&error).into()],
        }
    }

    /// [`Self::check`] with the verdicts of other readers, one table per module in the file.
    ///
    /// # Errors
    /// Bad or trouble when what the arguments name (a grammar) cannot be used.
    fn judged(&self, bytes: &[u8], args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        Ok((self.check(bytes, args), Vec::new()))
    }

    /// The bytes our writer makes of what our reader read.
    fn rewrite(&self, _bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Err(self.lacks("rewrite"))
    }

    /// The file as text.
    fn dis(&self, _bytes: &[u8], _args: &DisArgs) -> Outcome<String> {
        Err(self.lacks("dis"))
    }

    /// Whether a text file is in this format's language (by a flag, the file name's ending, or the text).
    fn assembles(&self, _text: &str, _args: &AsArgs) -> bool {
        false
    }

    /// Text to bytes.
    fn assemble(&self, _text: &str, _args: &AsArgs) -> Outcome<Vec<u8>> {
        Err(self.lacks("as"))
    }

    /// Runs the file.
    fn run(&self, _bytes: &[u8], _args: &RunArgs) -> Outcome {
        Err(self.lacks("run"))
    }

    /// The error of a verb this format lacks.
    fn lacks(&self, verb: &str) -> crate::cli::Failure {
        Error::unsupported(self.name(), format!("the verb {verb}")).into()
    }
}

/// Every format, in the order they are asked whether a file is theirs.
pub const ALL: &[&dyn Format] = &[&vbc::Vbc, &mbs::Mbs, &spirv::Spirv, &sl::Sl, &sksl::Sksl];

/// The format that begins with these bytes.
pub fn detect(bytes: &[u8]) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.detect(bytes))
}
