//! Sources of shaders on the command line: WGSL, GLSL. No first bytes tell them; they are what nothing else is.

use super::{Format, Verb};
use crate::args::RunArgs;
use crate::dispatch;
use crate::outcome::Outcome;

/// Sources of shaders.
pub struct Sources;

/// The one of its kind.
pub const SOURCE: Sources = Sources;

impl Format for Sources {
    fn name(&self) -> &'static str {
        "source"
    }

    fn detect(&self, _bytes: &[u8]) -> bool {
        false
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Run => dispatch::FLAGS,
            _ => &[],
        }
    }

    fn takes_stages(&self) -> bool {
        true
    }

    fn run(&self, bytes: &[u8], args: &RunArgs) -> Outcome {
        dispatch::sources(bytes, args)
    }
}
