//! Test scripts of the field: AmberScript (`.amber`) and VkScript (`.vkscript`, and VkRunner's `.shader_test`).
//!
//! [`parse`] reads either language to a model, which prints as text that reads to the same model, without a device.
//! `run::run` (feature `run`) carries a script out.
//!
//! ```
//! let script = skrymir_script::parse("#!amber\nBUFFER b DATA_TYPE uint32 SIZE 4 FILL 7\nEXPECT b IDX 0 EQ 7 7\n").unwrap();
//! assert_eq!(skrymir_script::parse(&script.to_string()).unwrap(), script);
//! let error = skrymir_script::parse("#!amber\nBUFFER b DATA_TIPE uint32\n").unwrap_err();
//! assert_eq!(error.to_string(), "script: line 2, column 10: expected DATA_TYPE or FORMAT, found \"DATA_TIPE\"");
//! ```

pub mod amber;
mod error;
pub mod layout;
#[cfg(feature = "run")]
pub mod run;
mod text;
mod types;
pub mod vkscript;

pub use error::{Error, ErrorKind, Place, Result};
pub use types::{
    Array, Channel, Component, DataType, Format, Numeric, Scalar, Stage, Tolerance, Topology, TypeName, Value,
};

use std::fmt;

/// A script in one of the languages.
#[derive(Clone, Debug, PartialEq)]
pub enum Script {
    /// AmberScript.
    Amber(amber::Script),
    /// VkScript.
    VkScript(vkscript::Script),
}

/// Whether a text begins as a script does: with `#!amber`, or, behind comments, with a section of VkScript.
pub fn detect(text: &str) -> bool {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && (!line.starts_with('#') || line.starts_with("#!")));
    let sections = ["[require]", "[vertex data]", "[indices]", "[test]", "[comment]"];
    line.is_some_and(|line| {
        line.starts_with("#!amber") || sections.contains(&line) || line.starts_with('[') && line.contains(" shader")
    })
}

/// Reads a script of either language.
///
/// # Errors
/// Where the text breaks a rule of its language, with line, column and what was expected there.
pub fn parse(text: &str) -> Result<Script> {
    if text.starts_with("#!amber") {
        return amber::parse(text).map(Script::Amber);
    }
    vkscript::parse(text).map(Script::VkScript)
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amber(script) => script.fmt(f),
            Self::VkScript(script) => script.fmt(f),
        }
    }
}
