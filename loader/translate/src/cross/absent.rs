//! Stand-in for SPIRV-Cross in builds without it.

use super::{Dialect, Entry};
use crate::place::Place;
use crate::{ErrorKind, Result};

pub(super) const AVAILABLE: bool = false;

pub(super) fn write(_: &[u32], _: &Entry, _: Dialect) -> Result<(String, Vec<Place>)> {
    let message = "this program was built without SPIRV-Cross (its feature spirv-cross)";
    Err(ErrorKind::Unavailable(message.to_owned()).into())
}
