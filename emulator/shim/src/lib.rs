//! The kernel interface of a Mali-400 in user space: the unmodified driver opens a device node, and the emulator answers.
//!
//! Two halves. The *front* (`front/`) is loaded into the program with `LD_PRELOAD`; it is C, because the driver
//! is to be had for ARM only, Rust's standard library for that machine is not always at hand, and a C library of a
//! few files can be built for anything. It knows no GPU: the open device is a socket to the *server*, every ioctl a message. The
//! server is this crate, native code beside the emulator.
//!
//! What follows from a socket being the open device (a DRM file): the system's own `dup`, `fork`, `exec` and descriptor
//! passing share it as they share a device; it is gone when its last descriptor is, and also when the process is killed.
//! Each question brings a socket for its answer, so no two threads or processes take each other's.
//!
//! Beside the GPU there can be a display ([`Screen`]), as boards with this GPU have it: a device node of its own with the
//! interface for mode setting, whose pictures go to whoever wants them, and a keyboard and a pointer ([`Input`]).
//!
//! Buffer objects are memfds that both sides map. They are sealed against changes of size, so that no program can take
//! the server's pages away. Every device has a queue: a submit puts a job there and returns, and the job's fence is
//! signalled when it is done (docs/spec/mali/kernel.md, section 6). Programs wait on descriptors, in their own
//! processes: the server waits for nobody, and nobody for a server that is gone.
//!
//! Objects are mapped one by one, not into one window of 4 GiB: the emulator finds them by its table of pages, which also
//! keeps every access inside its object.
//!
//! A server in a folder, and what a program needs in its environment to find it; the front is built from [`FRONT`]:
//!
//! ```
//! use emulator::exec::wide::Wide;
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
//!     // Nobody has opened the device yet; another process may ask, too.
//!     assert_eq!((server.open_devices(), Server::list(&folder)?.len()), (0, 0));
//! }
//! // The server has taken its things away again.
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
mod screen;
mod server;
mod shared;
mod shares;
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

/// The front's sources, by name: those that are compiled, then what they share.
pub const FRONT: [(&str, &str); 6] = [
    ("device.c", include_str!("../front/device.c")),
    ("display.c", include_str!("../front/display.c")),
    ("files.c", include_str!("../front/files.c")),
    ("child.c", include_str!("../front/child.c")),
    ("gl.c", include_str!("../front/gl.c")),
    ("front.h", include_str!("../front/front.h")),
];
