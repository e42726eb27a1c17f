//! Pictures, and how they are written to files.

use crate::error::{Error, Result, Within};
use std::path::Path;

pub use scene::picture::{Comparison, Picture, compare};

/// Writes pictures.
pub trait Save {
    /// Writes a PNG file, completely or not at all.
    ///
    /// # Errors
    /// What the file system says.
    fn save(&self, path: &Path) -> Result<()>;
}

impl Save for Picture {
    fn save(&self, path: &Path) -> Result<()> {
        let png = self.to_png().map_err(Error::from);
        png.and_then(|png| Ok(crate::outcome::replace(path, &png)?))
            .within(|| format!("cannot write {}", path.display()))
    }
}
