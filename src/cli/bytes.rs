//! Verbs over bytes instead of files, for programs without a file system. Output and errors are those of the command; the
//! given path replaces the file's name.

use super::r#as;
use super::check::{self, Checked};
pub use super::json::observed;

use super::convert::{self, ConvertArgs, Language};
use crate::cli::args::{AsArgs, CheckArgs, DisArgs, SpirvDisArgs};
use crate::cli::formats::{self, Format, Info};
use crate::cli::outcome::{Failure, Outcome};
use std::path::Path;
use translate::{ShaderStage, Translation};

/// The requested format, or the one that the first bytes determine.
///
/// # Errors
/// When no format is found.
pub fn format(path: &Path, bytes: &[u8], wanted: Option<&str>) -> Outcome<&'static dyn Format> {
    formats::find(wanted, bytes).ok_or_else(|| {
        Failure::bad(format!(
            "{}: no known format (--as FORMAT says which it is)",
            path.display()
        ))
    })
}

/// As `skrymir info`.
///
/// # Errors
/// Those of the command.
pub fn info(path: &Path, bytes: &[u8], wanted: Option<&str>) -> Outcome<Info> {
    let info = format(path, bytes, wanted)?.info(bytes);
    info.map_err(|failure| failure.in_file(path))
}

/// As `skrymir check`.
///
/// # Errors
/// None about the file: the verdict contains those.
pub fn check(path: &Path, bytes: &[u8], wanted: Option<&str>) -> Outcome<Checked> {
    check::check(path, formats::find(wanted, bytes), bytes, &CheckArgs::default())
}

/// As `skrymir dis`, of a VBC with the stage.
///
/// # Errors
/// Those of the command.
pub fn dis(path: &Path, bytes: &[u8], wanted: Option<&str>, stage: Option<&str>) -> Outcome<String> {
    let args = DisArgs {
        file: path.to_owned(),
        // The caller is not a terminal.
        spirv: SpirvDisArgs {
            stage: stage.map(str::to_owned),
            no_color: true,
            ..SpirvDisArgs::default()
        },
        ..DisArgs::default()
    };
    let text = format(path, bytes, wanted)?.dis(bytes, &args);
    text.map_err(|failure| failure.in_file(path))
}

/// As `skrymir as`.
///
/// # Errors
/// Those of the command.
pub fn assemble(path: &Path, text: &str) -> Outcome<Vec<u8>> {
    let args = AsArgs {
        file: path.to_owned(),
        ..AsArgs::default()
    };
    r#as::language(text, &args)?.assemble(text, &args)
}

/// As `skrymir convert`.
///
/// # Errors
/// Those of the command.
pub fn convert(
    path: &Path,
    bytes: &[u8],
    wanted: Option<&str>,
    to: Language,
    stage: Option<ShaderStage>,
) -> Outcome<Translation> {
    let args = ConvertArgs {
        files: vec![path.to_owned()],
        to,
        stage,
        gp: wanted == Some("gp"),
        pp: wanted == Some("pp"),
        ..ConvertArgs::default()
    };
    convert::converted_bytes(path, bytes, &args, &convert::options(&args)?)
}
