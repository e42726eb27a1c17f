//! The same on Windows: a console that is closed, or Ctrl-C. Children belong to the console and get it too.

/// What Windows gives a process that Ctrl-C ended.
const CONTROL_C: u32 = 0xc000_013a;

/// From now on Ctrl-C has `work` done, and then ends the process.
///
/// # Errors
/// Where the system does not let it be waited for.
pub fn on_signals(work: fn()) -> std::io::Result<()> {
    let handler = move || {
        work();
        leave(CONTROL_C.cast_signed());
    };
    ctrlc::set_handler(handler).map_err(std::io::Error::other)
}

/// Nothing: nobody tells whose children processes are.
pub fn end_children() {}

/// Ends the process without destructors of this program.
pub fn leave(code: i32) -> ! {
    std::process::exit(code)
}
