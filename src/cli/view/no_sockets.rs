//! WebAssembly has no sockets to serve a page from.

use super::Shown;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::uniforms::UniformArgs;
use std::path::Path;

/// Reports that there can be no page.
///
/// # Errors
/// Always.
pub(crate) fn show<'a>(
    _files: &[&Path],
    _uniforms: &UniformArgs,
    _load: impl FnMut() -> Outcome<Shown<'a>>,
) -> Outcome {
    Err(Failure::usage("--view: WebAssembly has no sockets"))
}
