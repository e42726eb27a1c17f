//! A summary of a file's contents, as text and as JSON.

use super::view::Vbc;
use super::{json, text};
use serde::{Serialize, Serializer};
use std::fmt;

/// Header and reflection of a file, without its code. Serializes as JSON (`json.rs`), and displays as text,
/// one line per item.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'f, 'a>(&'f Vbc<'a>);

/// Summarises a file.
///
/// # Errors
/// None: the result is that of every format's summary.
pub fn summary<'f, 'a>(file: &'f Vbc<'a>) -> crate::Result<Summary<'f, 'a>> {
    Ok(Summary(file))
}

impl Serialize for Summary<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::to_json(self.0).serialize(serializer)
    }
}

impl fmt::Display for Summary<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::print(f, self.0)
    }
}
