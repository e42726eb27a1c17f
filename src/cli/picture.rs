//! Writing pictures to files.

use super::error::{Error, Result, Within};
use clap::builder::{PathBufValueParser, TypedValueParser};
use scene::picture::Picture;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a PNG file atomically, or standard output for `-`.
///
/// # Errors
/// The file system's error.
pub(crate) fn save(picture: &Picture, path: &Path) -> Result<()> {
    let write = |png: &[u8]| match path == Path::new("-") {
        true => std::io::stdout().lock().write_all(png),
        false => super::outcome::replace(path, png),
    };
    refuse_other_formats(path)?;
    let png = picture.to_png().map_err(Error::from);
    png.and_then(|png| Ok(write(&png)?))
        .within(|| format!("cannot write {}", path.display()))
}

/// A picture of a target, by its location, as JSON; `file` is where it is written.
pub(crate) fn to_json(file: Option<&Path>, [width, height]: [u32; 2], location: u8) -> Value {
    let file = file.map(|file| file.to_string_lossy());
    json!({ "file": file, "width": width, "height": height, "output": location })
}

/// Extensions of other picture formats.
const OTHERS: [&str; 10] = ["jpg", "jpeg", "bmp", "gif", "webp", "tga", "tif", "tiff", "ppm", "exr"];

/// An argument that names a picture to write; other formats than PNG are rejected before anything is drawn.
pub(crate) fn name() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| refuse_other_formats(&path).map(|()| path))
}

/// Rejects a file name whose extension is that of another format than PNG.
///
/// # Errors
/// Usage, with the format that is written.
fn refuse_other_formats(path: &Path) -> Result<()> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.filter(|ending| OTHERS.contains(&&**ending)) {
        Some(ending) => Err(Error::usage(format_args!(
            "{}: pictures are written as PNG, not as {ending}: name it *.png",
            path.display()
        ))),
        None => Ok(()),
    }
}
