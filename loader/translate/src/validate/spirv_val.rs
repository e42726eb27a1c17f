//! Khronos' validator as a process: a witness where it is installed.

use std::io::Write;
use std::process::{Command, Stdio};

/// What spirv-val says of a module for Vulkan 1.2 with scalar block layout; `None` where it is not installed.
///
/// The error text is the validator's own.
pub fn validate(words: &[u32]) -> Option<Result<(), String>> {
    validate_as(words, &["--target-env", "vulkan1.2", "--scalar-block-layout"])
}

/// As [`validate`], with these arguments instead of Vulkan's.
pub fn validate_as(words: &[u32], arguments: &[&str]) -> Option<Result<(), String>> {
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
    let text = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Some(if output.status.success() { Ok(()) } else { Err(text()) })
}
