//! Shader sources on the command line: the format of files that no other format detects.

use super::{Format, Verb};
use crate::cli::args::RUN_SOURCE_FLAGS;

/// Sources of shaders.
pub(crate) struct Sources;

/// The one of its kind.
pub(crate) const SOURCE: Sources = Sources;

impl Format for Sources {
    fn name(&self) -> &'static str {
        "source"
    }

    fn detect(&self, _bytes: &[u8]) -> bool {
        false
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Run => RUN_SOURCE_FLAGS,
            _ => &[],
        }
    }

    fn takes_stages(&self) -> bool {
        true
    }
}
