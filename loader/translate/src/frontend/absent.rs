//! Errors in builds without glslang.

use super::{Diagnostic, Module, Preprocessed, Text};
use crate::{ErrorKind, Result};

pub(super) const AVAILABLE: bool = false;

fn lacks<T>(text: Option<&Text<'_>>) -> Result<T> {
    let language = text.map_or(crate::Language::Glsl, Text::language);
    let message = "this program was built without glslang (the feature `glslang`, which needs a C++ compiler)";
    Err(ErrorKind::Unavailable(format!("{language}: {message}")).into())
}

pub(super) fn spirv(text: &Text<'_>) -> Result<Module> {
    lacks(Some(text))
}

pub(super) fn judge(texts: &[Text<'_>]) -> Result<Vec<Diagnostic>> {
    lacks(texts.first())
}

pub(super) fn preprocess(text: &Text<'_>) -> Result<Preprocessed> {
    lacks(Some(text))
}
