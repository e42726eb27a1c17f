//! Scripts on a device: what they ask for, what they do, whether what they expect holds.

mod amber;
mod check;
mod convert;
mod machine;
mod shaders;
mod vkscript;

pub use machine::{Engine, Kept};
pub use shaders::{Code, Compile, CompileError, Text};

use crate::error::{Error, ErrorKind, Place};
use crate::{Script, amber::Command};
use std::path::Path;
use std::time::Duration;

/// What a script came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All that it expects holds.
    Holds,
    /// Something does not: where it stands in the script, and what was wanted and found.
    Fails(Place, String),
    /// The device, or this program, has not what it asks for.
    Unsupported(String),
    /// The script, or a shader of it, is wrong.
    Invalid(String),
    /// A file that it names cannot be read: where it is named, and the path with what the system says.
    NoFile(Place, String),
    /// The device did not do it: no answer in time, or an error.
    Device(String),
}

impl Verdict {
    /// In a word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails(..) => "fails",
            Self::Unsupported(_) => "unsupported",
            Self::Invalid(_) => "invalid",
            Self::NoFile(..) => "no file",
            Self::Device(_) => "device error",
        }
    }

    /// Why, where there is more to be said.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Holds => None,
            Self::Fails(place, why) | Self::NoFile(place, why) => Some(format!("line {}: {why}", place.line)),
            Self::Unsupported(why) | Self::Invalid(why) | Self::Device(why) => Some(why.clone()),
        }
    }
}

/// What came of a script.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it came to.
    pub verdict: Verdict,
    /// What timed uses of pipelines took: the line and the time.
    pub timed: Vec<(u32, Duration)>,
    /// Everything that was in its buffers at the end.
    pub kept: Vec<Kept>,
    /// What it ran without: promises that it asks of the device, which does not give them. What it expects holds all the
    /// same, or it is not supported.
    pub without: Vec<String>,
}

/// Why a script was not carried out to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stop(pub Verdict);

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        Self(match error.kind {
            ErrorKind::Invalid => Verdict::Invalid(message),
            // The place of what is not supported is of less use than what it is.
            ErrorKind::Unsupported => Verdict::Unsupported(error.message),
        })
    }
}

impl Stop {
    /// Something of a script that this program does not do.
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self(Verdict::Unsupported(what.into()))
    }

    /// A rule of the language that a statement breaks.
    pub(crate) fn invalid(place: Place, what: impl Into<String>) -> Self {
        Error::invalid(place, what).into()
    }
}

/// Runs a script. `path` is the script's, beside which its files lie.
pub fn run(engine: &dyn Engine, compile: &dyn Compile, script: &Script, path: &Path) -> Report {
    match script {
        Script::Amber(script) => amber::run(engine, compile, script, path),
        Script::VkScript(script) => vkscript::run(engine, compile, script, path),
    }
}

/// Device extensions that a script asks for, so that a device can be opened with them.
pub fn extensions(script: &Script) -> Vec<String> {
    match script {
        Script::Amber(script) => {
            let asked = script
                .statements
                .iter()
                .filter_map(|statement| match &statement.command {
                    Command::DeviceExtension(name) => Some(name.clone()),
                    _ => None,
                });
            asked.collect()
        }
        Script::VkScript(script) => {
            let asked = script.requires.iter().filter_map(|require| match &require.what {
                crate::vkscript::Requirement::Named(name) if name.starts_with("VK_") => Some(name.clone()),
                _ => None,
            });
            asked.collect()
        }
    }
}
