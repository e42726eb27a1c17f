//! WebAssembly, which has neither signals nor processes.

/// Nothing: no signals exist here.
///
/// # Errors
/// None.
pub(crate) fn on_signals(_work: fn()) -> std::io::Result<()> {
    Ok(())
}

/// Nothing: there are no children.
pub(crate) fn kill_children() {}

/// Ends the program without destructors.
pub(crate) fn leave(code: i32) -> ! {
    std::process::exit(code)
}
