//! `skrymir check`: every rule of the format, over any number of files.

use super::{CheckArgs, Failure, Outcome, print};
use crate::formats;
use loader::{Report, Severity};
use serde_json::{Value, json};
use std::path::Path;
use translate::validate::Table;

pub(super) fn run(args: &CheckArgs) -> Outcome {
    let mut all = Vec::new();
    let mut bad = false;
    for path in &args.files {
        let (name, report, tables) = check(path, args)?;
        bad |= matches!(report.worst(), Some(Severity::Error | Severity::Unsupported));
        if args.json {
            all.push(to_json(path, name, &report, &tables));
        } else {
            print(&to_text(path, name, &report, &tables))?;
        }
    }
    if args.json {
        print(&format!("{:#}\n", Value::Array(all)))?;
    }
    if bad { Err(Failure::BadSilently) } else { Ok(()) }
}

fn check(path: &Path, args: &CheckArgs) -> Outcome<(&'static str, Report, Vec<Table>)> {
    let bytes = super::read(path)?;
    let Some(format) = formats::detect(&bytes) else {
        let mut report = Report::default();
        report.push(
            Severity::Error,
            "unknown-format",
            "",
            "no known format begins with these bytes",
            Some(0),
        );
        return Ok(("unknown", report, Vec::new()));
    };
    let (report, tables) = format.judged(&bytes, args)?;
    Ok((format.name(), report, tables))
}

/// The verdict over a report: `valid`, `unsupported` or `invalid`.
fn verdict(report: &Report) -> &'static str {
    match report.worst() {
        Some(Severity::Error) => "invalid",
        Some(Severity::Unsupported) => "unsupported",
        _ => "valid",
    }
}

fn to_text(path: &Path, format: &str, report: &Report, tables: &[Table]) -> String {
    let mut text = format!("{}: {format}: {}\n", path.display(), verdict(report));
    for diagnostic in &report.diagnostics {
        text += &format!("  {diagnostic}\n");
    }
    tables.iter().for_each(|table| text += &table.to_string());
    text
}

fn to_json(path: &Path, format: &str, report: &Report, tables: &[Table]) -> Value {
    let diagnostics: Vec<Value> = report
        .diagnostics
        .iter()
        .map(|d| {
            json!({
                "severity": d.severity.name(), "rule": d.rule, "place": d.place,
                "message": d.message, "offset": d.offset,
            })
        })
        .collect();
    json!({
        "file": path.display().to_string(), "format": format,
        "verdict": verdict(report), "diagnostics": diagnostics, "judged": tables,
    })
}
