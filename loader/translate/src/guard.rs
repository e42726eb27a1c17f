//! Runs third-party code with panics caught and a sufficiently large stack.

use crate::{Error, ErrorKind, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs third-party code; a panic in it prints nothing.
///
/// # Errors
/// The message of the panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    // If panics abort, they must still be printed.
    let before = QUIET.replace(cfg!(panic = "unwind"));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_default()
    })
}

/// [`caught`], with the panic as this crate's error; `doing` completes "naga panicked".
pub(crate) fn guarded<T>(doing: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).unwrap_or_else(|message| Err(ErrorKind::Panicked { doing, message }.into()))
}

/// Runs deeply recursive code (at most [`loader::sksl::MAX_DEPTH`] nodes in SkSL, several calls each) with a large
/// stack; in WebAssembly, which has no threads here, on the host's stack.
pub(crate) fn deep<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let panicked = |message: String| -> Error {
        ErrorKind::Panicked {
            doing: "in a thread with a deep stack",
            message,
        }
        .into()
    };
    if cfg!(target_family = "wasm") {
        return caught(work).unwrap_or_else(|message| Err(panicked(message)));
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(256 << 20);
        let thread = builder.spawn_scoped(scope, || caught(work));
        let thread = thread.map_err(|error| panicked(error.to_string()))?;
        match thread.join() {
            Ok(outcome) => outcome.unwrap_or_else(|message| Err(panicked(message))),
            Err(_) => Err(panicked(String::new())),
        }
    })
}
