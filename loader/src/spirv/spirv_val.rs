//! Runs Khronos' validator as a process, if it is installed.

use super::ModuleIndex;
use super::work::Work;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The error with which spirv-val rejects a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("spirv-val: {0}")]
pub struct Rejection(String);

impl Rejection {
    /// The first line of the error.
    pub fn first_line(&self) -> &str {
        self.0.lines().next().unwrap_or_default()
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// spirv-val accepts the module.
    Valid,
    /// spirv-val rejects the module.
    Invalid(Rejection),
    /// spirv-val did not run or did not finish in time, with the reason.
    None(String),
}

/// Time limit.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Limit on functions times calls; spirv-val follows each chain of calls from every function.
const MAX_CALLS: u64 = 1 << 24;

/// Runs spirv-val for Vulkan 1.2 with scalar block layout; `None` if it is not installed or does not finish.
pub fn validate(words: &[u32]) -> Option<Result<(), Rejection>> {
    validate_as(words, &["--target-env", "vulkan1.2", "--scalar-block-layout"])
}

/// [`validate`] with these arguments instead of Vulkan's.
pub fn validate_as(words: &[u32], arguments: &[&str]) -> Option<Result<(), Rejection>> {
    match ask(words, arguments)? {
        Answer::Valid => Some(Ok(())),
        Answer::Invalid(rejection) => Some(Err(rejection)),
        Answer::None(_) => None,
    }
}

/// Runs spirv-val; `None` if it is not installed. It walks types by path, so modules that would take it too long are
/// not passed to it.
pub fn ask(words: &[u32], arguments: &[&str]) -> Option<Answer> {
    if let Some(why) = ModuleIndex::new(words)
        .ok()
        .and_then(|index| Work::of(&index).beyond(MAX_CALLS))
    {
        return Some(Answer::None(why));
    }
    let mut process = Command::new("spirv-val")
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    // A verdict may come before all input is written; the resulting broken pipe is not an error.
    let _ = process.stdin.take()?.write_all(&bytes);
    let mut errors = process.stderr.take()?;
    let (send, said) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = errors.read_to_end(&mut text);
        let _ = send.send(text);
    });
    // The output ends with the process.
    let Ok(text) = said.recv_timeout(TIMEOUT) else {
        let _ = process.kill();
        let _ = process.wait();
        let _ = reader.join();
        return Some(Answer::None(format!("no answer within {} seconds", TIMEOUT.as_secs())));
    };
    let _ = reader.join();
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    Some(match process.wait().ok()?.success() {
        true => Answer::Valid,
        // An older one does not know the newest environments.
        false if text.contains("Unrecognized target env") => Answer::None(text),
        false => Answer::Invalid(Rejection(text)),
    })
}
