//! `skrymir check`: every rule of the format, over any number of files.

use super::flags::Given;
use crate::cli::args::CheckArgs;
use crate::cli::error::{Cause, Error};
use crate::cli::formats::{self, Format};
use crate::cli::log::Progress;
use crate::cli::outcome::{Failure, Outcome, print, read};
use loader::{Report, Severity};
use serde::Serialize;
use std::path::Path;
use translate::validate::Table;

/// The result of one file.
#[derive(Debug, Serialize)]
pub struct Checked {
    file: String,
    format: &'static str,
    /// `valid`, or another verdict.
    pub verdict: &'static str,
    #[serde(flatten)]
    report: Report,
    judged: Vec<Table>,
}

/// Checks every file, also after failures; the worst result determines the exit code.
pub(super) fn run(args: &CheckArgs, given: &Given) -> Outcome {
    let mut files = Vec::new();
    let mut worst = None;
    for path in &args.files {
        match read(path) {
            Ok(bytes) => files.push((path, formats::find(args.format.name(), &bytes), bytes)),
            Err(failure) => {
                crate::cli::log::message(format_args!("skrymir: {failure}"));
                worst = Some(Cause::Trouble);
            }
        }
    }
    let found: Vec<&dyn Format> = files.iter().filter_map(|(_, format, _)| *format).collect();
    if !found.is_empty() {
        given.fits_any(&found)?;
    }
    let mut all = Vec::new();
    let mut progress = Progress::new("files", files.len() as u64);
    for (path, format, bytes) in &files {
        progress.step();
        let checked = check(path, *format, bytes, args)?;
        if checked.verdict != "valid" {
            worst = worst.max(Some(Cause::Bad));
        }
        match args.json {
            true => all.push(checked),
            false if crate::cli::log::is_quiet() => print(&checked.errors())?,
            false => print(&checked.to_text())?,
        }
    }
    if args.json {
        let json = serde_json::to_string_pretty(&all).map_err(Error::from)?;
        print(&(json + "\n"))?;
    }
    worst.map_or(Ok(()), |cause| Err(Failure::Reported(cause)))
}

pub(super) fn check(path: &Path, format: Option<&dyn Format>, bytes: &[u8], args: &CheckArgs) -> Outcome<Checked> {
    let (name, report, judged) = match format {
        Some(format) => {
            let (report, tables) = format.check(bytes, args)?;
            (format.name(), report, tables)
        }
        None => {
            let mut report = Report::default();
            let message = "no known format begins with these bytes";
            report.push(Severity::Error, "unknown-format", "", message, Some(0));
            ("unknown", report, Vec::new())
        }
    };
    let refused = judged.iter().any(|table| table.refusal().is_some());
    Ok(Checked {
        file: path.display().to_string(),
        format: name,
        verdict: if refused { "invalid" } else { report.verdict() },
        report,
        judged,
    })
}

impl Checked {
    /// The errors, for `-q`; empty for a valid file.
    fn errors(&self) -> String {
        if self.verdict == "valid" {
            return String::new();
        }
        self.listed(|severity| severity == Severity::Error)
    }

    /// The verdict and the findings of some severities, a line each.
    fn listed(&self, is_listed: impl Fn(Severity) -> bool) -> String {
        let mut text = format!("{}: {}: {}\n", self.file, self.format, self.verdict);
        for found in self.report.diagnostics.iter().filter(|found| is_listed(found.severity)) {
            text += &format!("  {found}\n");
        }
        text
    }

    /// The verdict and its reasons, a line each.
    pub fn to_text(&self) -> String {
        let mut text = self.listed(|_| true);
        self.judged.iter().for_each(|table| text += &table.to_string());
        text
    }
}
