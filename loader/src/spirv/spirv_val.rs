//! Khronos' validator as a process: asked where it is installed.

use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};

/// Why spirv-val rejects a module, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection(String);

impl Rejection {
    /// The first line of what it says.
    pub fn first_line(&self) -> &str {
        self.0.lines().next().unwrap_or_default()
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spirv-val: {}", self.0)
    }
}

impl std::error::Error for Rejection {}

/// What spirv-val says of a module for Vulkan 1.2 with scalar block layout; `None` where it is not installed.
pub fn validate(words: &[u32]) -> Option<Result<(), Rejection>> {
    validate_as(words, &["--target-env", "vulkan1.2", "--scalar-block-layout"])
}

/// As [`validate`], with these arguments instead of Vulkan's.
pub fn validate_as(words: &[u32], arguments: &[&str]) -> Option<Result<(), Rejection>> {
    let mut process = Command::new("spirv-val")
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    // A verdict may come before all is written; the pipe then breaks, which is no failure of ours.
    let _ = process.stdin.take()?.write_all(&bytes);
    let output = process.wait_with_output().ok()?;
    let text = || Rejection(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    Some(if output.status.success() { Ok(()) } else { Err(text()) })
}
