//! Programs for OpenGL ES 2 on the emulator, with the unmodified driver of Mesa.
//!
//! [`Driver`] is what a program needs to find the driver: for ARM programs Debian's own packages, unpacked into a
//! folder, and the front built for ARM; for others the front alone, beside whatever Mesa the machine has. A [`Session`]
//! is a server and the programs that use it; [`Desktop`] is a Wayland compositor among them.

mod desktop;
mod driver;
pub mod frames;
mod processes;
mod session;
pub mod view;
mod watch;

pub use desktop::{Desktop, Place, SEAT, on_display, place, prepare, prepare_bare};
pub use driver::{Driver, Machine, TOOLS, cache, missing_library, missing_tools, needs_lima, packages};
pub use processes::{adopt, end, end_adopted, reap};
pub use session::Session;
pub use watch::{Record, Report, Show};
