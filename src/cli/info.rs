//! `skrymir info`: what a file holds, or which shaders are inside a file of another kind.

use super::flags::Given;
use super::read;
use crate::cli::args::InfoArgs;
use crate::cli::error::Within;
use crate::cli::outcome::{Failure, Outcome, print, print_json, write};
use crate::cli::{bytes, formats};
use loader::embedded::{self, Embedded, Found};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &InfoArgs, given: &Given) -> Outcome {
    let content = read(&args.file)?;
    let format = formats::find(args.format.name(), &content);
    if format.is_some() && args.extract.is_none() {
        return describe(&content, args, given);
    }
    // The file itself is no file inside it.
    let first = usize::from(format.is_some());
    let Found { files, stopped } = embedded::find(&content, first);
    if files.is_empty() {
        return match &args.extract {
            Some(_) => Err(Failure::bad("no shaders inside").in_file(&args.file)),
            None => describe(&content, args, given),
        };
    }
    let written = match &args.extract {
        Some(folder) => extract(&files, &content, folder)?,
        None => vec![None; files.len()],
    };
    let rows: Vec<Row<'_>> = files
        .iter()
        .zip(&written)
        .map(|(file, written)| Row { file, written })
        .collect();
    let inside = Inside {
        format: format.map_or("unknown", |format| format.name()),
        bytes: content.len(),
        files: rows,
        stopped,
    };
    if args.json {
        return print_json(&serde_json::to_value(&inside).within(|| "the list")?);
    }
    print(&inside.text())
}

/// Prints what a file of a known format holds.
fn describe(content: &[u8], args: &InfoArgs, given: &Given) -> Outcome {
    let format = bytes::format(&args.file, content, args.format.name())?;
    given.fits(format).map_err(|failure| failure.in_file(&args.file))?;
    let info = format.info(content).map_err(|failure| failure.in_file(&args.file))?;
    if args.json {
        return print_json(&info.json);
    }
    print(&info.text)
}

/// A file of which only what is inside is known.
#[derive(Debug, Serialize)]
struct Inside<'a> {
    format: &'a str,
    bytes: usize,
    files: Vec<Row<'a>>,
    stopped: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    file: &'a Embedded,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: &'a Option<PathBuf>,
}

impl Inside<'_> {
    fn text(&self) -> String {
        let mut text = match self.format {
            "unknown" => format!(
                "{} bytes of no known format, with {} shader files inside\n",
                self.bytes,
                self.files.len()
            ),
            format => format!(
                "{} bytes of {format}, with {} files inside\n",
                self.bytes,
                self.files.len()
            ),
        };
        for row in &self.files {
            text += &match row.written {
                Some(path) => format!("{}  -> {}\n", row.file, path.display()),
                None => format!("{}\n", row.file),
            };
        }
        if let Some(at) = self.stopped {
            text += &format!("not searched from {at:#x} on: too many bytes before it only look like shaders\n");
        }
        text
    }
}

/// Writes each file under its offset into a folder.
fn extract(files: &[Embedded], bytes: &[u8], folder: &Path) -> Outcome<Vec<Option<PathBuf>>> {
    std::fs::create_dir_all(folder).within(|| format!("cannot make {}", folder.display()))?;
    let write = |file: &Embedded| {
        let path = folder.join(format!("{:#010x}.{}", file.offset, file.extension()));
        write(&path, file.bytes(bytes))?;
        Ok(Some(path))
    };
    files.iter().map(write).collect()
}
