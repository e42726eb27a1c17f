//! Vector code is compiled for vector units.

use std::process::Command;

/// Finds calls of single vector instructions: a function that is not compiled for an instruction calls it instead of
/// inlining it, which costs several times as much. A closure that is not inlined is such a function.
#[test]
fn no_vector_instruction_is_called() {
    let symbols = Command::new("nm")
        .args(["--demangle", env!("CARGO_BIN_EXE_skrymir")])
        .output()
        .expect("nm, which comes with every compiler of C");
    let symbols = String::from_utf8_lossy(&symbols.stdout);
    assert!(symbols.contains("skrymir_emulator::"), "nm sees no symbols");
    let called: Vec<&str> = symbols
        .lines()
        .filter(|line| line.contains("core_arch::x86::avx"))
        // With debug assertions these check their pointers, and are too long to be inlined everywhere.
        .filter(|line| !(cfg!(debug_assertions) && (line.contains("_loadu_") || line.contains("_storeu_"))))
        .collect();
    assert!(called.is_empty(), "{called:#?}");
}
