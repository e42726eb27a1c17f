//! Test scripts on the command line: AmberScript, VkScript.

use super::{Format, Verb};
use crate::cli::args::SCRIPT_FLAGS;

/// Scripts of either language.
pub(crate) struct Script;

impl Format for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        // Far enough for a file's comments.
        const BEGINNING: usize = 8192;
        let beginning = &bytes[..bytes.len().min(BEGINNING)];
        script::detect(&String::from_utf8_lossy(beginning))
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Run => SCRIPT_FLAGS,
            _ => &[],
        }
    }

    fn takes_stages(&self) -> bool {
        true
    }
}
