//! The kernel interface of a Mali-400 in user space: the unmodified driver opens a device node, and the emulator answers.
//!
//! There are two halves. The *front end* (`front/`) is loaded into the program with `LD_PRELOAD`. It is C, because the
//! driver is only available for ARM, Rust's standard library for that target is often missing, and a few C files can be
//! built for any target. It has no GPU code: the open device is a socket to the *server*, and every ioctl is a message.
//! The server is this crate, native code beside the emulator.
//!
//! Since the open device (a DRM file) is a socket, the system's own `dup`, `fork`, `exec` and descriptor passing share
//! it like a device; it is closed with its last descriptor, also when the process is killed. Each request carries a
//! socket for its answer, so threads and processes never receive each other's answers.
//!
//! Besides the GPU there can be a display ([`Screen`]), as on boards with this GPU: a second device node with the mode
//! setting interface, whose pictures go to a callback, and a keyboard and a pointer ([`Input`]).
//!
//! Buffer objects are memfds that both sides map. They are sealed against changes of size, so that programs cannot
//! remove pages that the server has mapped. Every device has a queue: a submit enqueues a job and returns, and the
//! job's fence is signalled when it is done (docs/spec/mali/kernel.md, section 6). Programs wait on descriptors in
//! their own processes: the server never waits for a program, and a program never waits for a dead server.
//!
//! Objects are mapped separately, not in one 4 GiB window: the emulator finds them by its page table, which also keeps
//! every access within its object.
//!
//! A server in a folder, and the environment variable that programs need; the front end is built from [`FRONT`]:
//!
//! ```
//! # use emulator as skrymir_emulator;
//! use skrymir_emulator::exec::wide::Wide;
//! use skrymir_shim::{FRONT, Options, Server};
//!
//! # fn main() -> std::io::Result<()> {
//! let folder = std::env::temp_dir().join(format!("skrymir-{}", std::process::id()));
//! std::fs::create_dir(&folder)?;
//! {
//!     let server = Server::start(&folder, Options::new(|| Box::<Wide>::default()))?;
//!     let (name, value) = Server::environment(&folder);
//!     println!("LD_PRELOAD=libfront.so {name}={} glmark2-es2-drm", value.display());
//!     assert!(FRONT.iter().any(|(file, _)| file.ends_with(".c")));
//!
//! // No process has opened the device yet; other processes can list devices, too.
//!     assert_eq!((server.open_devices(), Server::list(&folder)?.len()), (0, 0));
//! }
//! // The server has removed its files.
//! std::fs::remove_dir(&folder)?;
//! # Ok(())
//! # }
//! ```

pub mod abi;
mod atomic;
mod card;
mod connection;
mod device;
mod event;
mod fence;
mod input;
mod job;
pub mod object;
mod options;
mod properties;
mod queue;
mod quota;
mod screen;
mod server;
mod shared;
mod space;
mod stats;
mod syncobj;
mod sysfs;
mod wire;

pub use event::{Event, Job, Pipe, Watch, Work};
pub use input::Input;
pub use options::{Hardware, Options, Watcher};
pub use screen::{Screen, Shown, Sink};
pub use server::{RENDER, Server};
pub use stats::{Client, Times};

/// The front end's sources by name: compiled files first, then headers.
pub const FRONT: [(&str, &str); 6] = [
    ("device.c", include_str!("../front/device.c")),
    ("display.c", include_str!("../front/display.c")),
    ("files.c", include_str!("../front/files.c")),
    ("child.c", include_str!("../front/child.c")),
    ("gl.c", include_str!("../front/gl.c")),
    ("front.h", include_str!("../front/front.h")),
];
