//! `run` for Swanson SL libraries.

use crate::cli::args::RunArgs;
use crate::cli::error::Cause;
use crate::cli::outcome::{Failure, Outcome};
use loader::sl;
use s0::{ErrorKind, Host};
use std::io::Write;

/// Runs a unit: exit code 0 when it succeeds.
pub(super) fn run(bytes: &[u8], args: &RunArgs) -> Outcome {
    let library = sl::read(bytes)?;
    let unit = match (&args.module, library.modules.last()) {
        (Some(name), _) => name.as_bytes().to_vec(),
        (None, Some(module)) => library.bytes(module.name.content).to_vec(),
        (None, None) => return Err(Failure::bad("sl: the library has no unit to run")),
    };
    let mut print = |line: &str| writeln!(std::io::stderr(), "{line}");
    let mut host = Host::new(&library).with_fuel(args.fuel);
    if args.trace {
        host = host.with_trace(&mut print);
    }
    match host.run(&unit) {
        Ok(s0::Outcome::Succeeded) => Ok(()),
        Ok(s0::Outcome::Failed) => Err(Failure::bad(format_args!(
            "sl: unit {} finished with fail",
            sl::quote(&unit)
        ))),
        // Standard output cannot be written: the program's result is unknown.
        Err(error) if error.kind() == ErrorKind::Output => {
            let _ = writeln!(std::io::stderr(), "skrymir: sl: {error}");
            Err(Failure::Reported(Cause::Trouble))
        }
        Err(error) => Err(Failure::bad(format_args!("sl: {error}"))),
    }
}
