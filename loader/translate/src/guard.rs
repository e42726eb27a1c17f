//! Runs third-party code with panics and crashes caught, and a sufficiently large stack.

use crate::{ErrorKind, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Whether failed assertions unwind.
    #[cfg(any(
        all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
        all(feature = "glslang", not(target_family = "wasm"))
    ))]
    static ASSERTIONS_UNWIND: Cell<bool> = const { Cell::new(false) };
}

/// [`caught`] for code in C++ whose failed assertions unwind.
#[cfg(all(feature = "glslang", not(target_family = "wasm")))]
pub(crate) fn asserted<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    let before = ASSERTIONS_UNWIND.replace(true);
    let outcome = caught(work);
    ASSERTIONS_UNWIND.set(before);
    outcome
}

/// Whether a failed assertion may unwind: [`asserted`] runs.
#[cfg(all(feature = "glslang", target_os = "linux"))]
pub(crate) fn assertions_unwind() -> bool {
    ASSERTIONS_UNWIND.get()
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

/// Size of a deep stack in bytes; what is not used takes no memory.
const DEEP: usize = 256 << 20;

/// Runs deeply recursive code (at most [`loader::sksl::MAX_DEPTH`] nodes in SkSL, several calls each) on a large stack;
/// in WebAssembly on the host's. `who` is the library that runs.
///
/// # Errors
/// The work's; its panic; on Linux its crash.
pub(crate) fn deep<T: Send>(who: &'static str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let work = || caught(work);
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    let outcome = if cfg!(watched) {
        in_thread(work)
    } else {
        on_stack(who, work)?
    };
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let (_, outcome) = (who, in_thread(work));
    outcome.unwrap_or_else(|message| {
        let doing = "on a deep stack";
        Err(ErrorKind::Panicked { doing, message }.into())
    })
}

/// Runs work on another stack in this thread: a program without further threads allocates and frees without locks.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn on_stack<T>(who: &'static str, work: impl FnOnce() -> T) -> Result<T> {
    let before = (QUIET.get(), ASSERTIONS_UNWIND.get());
    crate::crash::on_stack(DEEP, work).map_err(|signal| {
        QUIET.set(before.0);
        ASSERTIONS_UNWIND.set(before.1);
        ErrorKind::Crashed { who, signal }.into()
    })
}

/// Runs work in a thread with a large stack, on any machine.
fn in_thread<T: Send>(work: impl FnOnce() -> std::result::Result<T, String> + Send) -> std::result::Result<T, String> {
    if cfg!(target_family = "wasm") {
        return work();
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(DEEP);
        let thread = builder.spawn_scoped(scope, work).map_err(|error| error.to_string())?;
        thread.join().unwrap_or_else(|_| Err(String::new()))
    })
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    /// Calls itself with half a kilobyte of locals each.
    fn depth(left: usize) -> usize {
        let locals = std::hint::black_box([left as u8; 512]);
        match left {
            0 => usize::from(locals[0]),
            _ => 1 + depth(left - 1),
        }
    }

    #[test]
    fn both_deep_stacks_hold_what_others_do_not_and_catch_panics() {
        const CALLS: usize = 100_000;
        assert_eq!(deep("a test", || Ok(depth(CALLS))).unwrap(), CALLS);
        assert_eq!(in_thread(|| caught(|| depth(CALLS))), Ok(CALLS));
        for message in [
            on_stack("a test", || caught(|| -> u8 { panic!("why") })).unwrap(),
            in_thread(|| caught(|| -> u8 { panic!("why") })),
        ] {
            assert_eq!(message, Err("why".to_owned()));
        }
    }

    #[test]
    #[cfg(feature = "glslang")]
    fn a_crash_is_an_error_and_leaves_panics_as_they_were() {
        let ended = deep("a test", || {
            asserted(|| -> u8 { std::process::abort() }).map_err(|message| ErrorKind::Language(message).into())
        });
        assert_eq!(ended.unwrap_err().to_string(), "unsupported: a test crashed (SIGABRT)");
        assert!(!QUIET.get() && !assertions_unwind());
    }
}
