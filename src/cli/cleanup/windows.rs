//! Signals on Windows: Ctrl-C, or a closed console. Child processes share the console and receive it too.

/// Exit code of a process that Ctrl-C ended.
const CONTROL_C: u32 = 0xc000_013a;

/// Runs `work` on Ctrl-C, then ends the process.
///
/// # Errors
/// When no handler can be installed.
pub(crate) fn on_signals(work: fn()) -> std::io::Result<()> {
    let handler = move || {
        work();
        leave(CONTROL_C.cast_signed());
    };
    ctrlc::set_handler(handler).map_err(std::io::Error::other)
}

/// Nothing: Windows does not list a process's children.
pub(crate) fn kill_children() {}

/// Ends the process without destructors of this program.
pub(crate) fn leave(code: i32) -> ! {
    std::process::exit(code)
}
