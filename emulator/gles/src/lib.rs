//! Runs OpenGL ES 2 programs on the emulated Mali-400, with Mesa's unmodified driver. Linux only.
//!
//! A [`Driver`] has what a program needs to find the driver: for ARM programs Debian's packages, unpacked into a folder, and
//! the front built for ARM; for others the front alone, beside this machine's Mesa. A [`Session`] is a server and the programs
//! that use it; [`Desktop`] is a Wayland compositor among them.
//!
//! ```no_run
//! # use emulator as skrymir_emulator;
//! # use shim as skrymir_shim;
//! use skrymir_shim::Options;
//! use skrymir_gles::{Driver, Machine, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let driver = Driver::prepare(Machine::ARM)?;
//! let engine = || Box::new(skrymir_emulator::exec::native::Native::default()) as _;
//! let session = Session::start(&driver, Options::new(engine))?;
//! let status = session.command(&["./program".into()]).status()?;
//! session.settle();
//! assert!(status.success());
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod desktop;
mod driver;
mod error;
pub mod frames;
mod processes;
mod session;
pub mod view;
mod watch;

pub use desktop::{Desktop, Place, SEAT, on_display, place, prepare, prepare_bare};
pub use driver::{Driver, Machine, TOOLS, cache, missing_library, missing_tools, needs_lima, packages};
pub use error::{Error, ErrorKind, Result};
pub use processes::{adopt, children_of, end, end_adopted, reap};
pub use session::Session;
pub use watch::{Pictures, Record, Report, Show};
