//! The `skrymir` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    skrymir::command::main()
}
