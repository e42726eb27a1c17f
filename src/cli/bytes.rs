//! What the verbs say of bytes that are in no file, for programs that have none: the same words, and the same errors about
//! the name that is given in the file's place.

use super::r#as;
use super::check::{self, Checked};
pub use super::told::watched;

use super::convert::{self, ConvertArgs, Language};
use crate::args::{AsArgs, CheckArgs, DisArgs, SpirvDisArgs};
use crate::formats::{self, Format, Info};
use crate::outcome::{Failure, Outcome};
use std::path::Path;
use translate::{ShaderStage, Translation};

/// The format that was asked for, or the one that the first bytes say.
///
/// # Errors
/// Bad when no format begins so.
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
/// What the command fails with.
pub fn info(path: &Path, bytes: &[u8], wanted: Option<&str>) -> Outcome<Info> {
    let info = format(path, bytes, wanted)?.info(bytes);
    info.map_err(|failure| failure.in_file(path))
}

/// As `skrymir check`.
///
/// # Errors
/// None that is about the file: the verdict has those.
pub fn check(path: &Path, bytes: &[u8], wanted: Option<&str>) -> Outcome<Checked> {
    check::check(path, formats::find(wanted, bytes), bytes, &CheckArgs::default())
}

/// As `skrymir dis`, of a VBC with the stage.
///
/// # Errors
/// What the command fails with.
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
/// What the command fails with.
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
/// What the command fails with.
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
