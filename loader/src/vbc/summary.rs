//! What a file holds, for people and for programs.

use super::view::Vbc;
use super::{json, text};
use serde::{Serialize, Serializer};
use std::fmt;

/// Header and reflection of a file, without its code. It serializes as [`json`](mod@json) describes, and displays as
/// text of a line for each thing.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'f, 'a>(&'f Vbc<'a>);

/// Sums up a file.
pub fn summary<'f, 'a>(file: &'f Vbc<'a>) -> Summary<'f, 'a> {
    Summary(file)
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
