//! Numbers of the kernel interface (docs/spec/mali/kernel.md, section 2).

use std::collections::BTreeMap;
use utgard::frame::{GpFrame, LISTS_450, Lists450, PP_FRAME_WORDS, PROCESSORS_450};

/// Numbers of ioctls of type `d`; size and direction bits are ignored.
pub mod number {
    /// Bus id of the device.
    pub const GET_UNIQUE: u32 = 0x01;
    /// Authentication token of this client.
    pub const GET_MAGIC: u32 = 0x02;
    /// Interface version that the client requests.
    pub const SET_VERSION: u32 = 0x07;
    /// A master authenticates a client.
    pub const AUTH_MAGIC: u32 = 0x11;
    /// Acquires master.
    pub const SET_MASTER: u32 = 0x1e;
    /// Drops master.
    pub const DROP_MASTER: u32 = 0x1f;
    /// Waits for a refresh.
    pub const WAIT_VBLANK: u32 = 0x3a;
    /// Resources of the display.
    pub const MODE_GETRESOURCES: u32 = 0xa0;
    /// Current state of a CRTC.
    pub const MODE_GETCRTC: u32 = 0xa1;
    /// Sets the state of a CRTC.
    pub const MODE_SETCRTC: u32 = 0xa2;
    /// The cursor.
    pub const MODE_CURSOR: u32 = 0xa3;
    /// An encoder.
    pub const MODE_GETENCODER: u32 = 0xa6;
    /// A connector with its modes.
    pub const MODE_GETCONNECTOR: u32 = 0xa7;
    /// Metadata of a property.
    pub const MODE_GETPROPERTY: u32 = 0xaa;
    /// Sets a connector's property.
    pub const MODE_SETPROPERTY: u32 = 0xab;
    /// Contents of a blob.
    pub const MODE_GETPROPBLOB: u32 = 0xac;
    /// Creates a framebuffer by depth and bits per pixel.
    pub const MODE_ADDFB: u32 = 0xae;
    /// Destroys a framebuffer.
    pub const MODE_RMFB: u32 = 0xaf;
    /// Flips at the next refresh.
    pub const MODE_PAGE_FLIP: u32 = 0xb0;
    /// Reports that a framebuffer has changed.
    pub const MODE_DIRTYFB: u32 = 0xb1;
    /// Creates a buffer for CPU rendering.
    pub const MODE_CREATE_DUMB: u32 = 0xb2;
    /// Its mmap offset.
    pub const MODE_MAP_DUMB: u32 = 0xb3;
    /// Destroys it.
    pub const MODE_DESTROY_DUMB: u32 = 0xb4;
    /// The planes.
    pub const MODE_GETPLANERESOURCES: u32 = 0xb5;
    /// A plane.
    pub const MODE_GETPLANE: u32 = 0xb6;
    /// Creates a framebuffer by fourcc format.
    pub const MODE_ADDFB2: u32 = 0xb8;
    /// Properties of an object.
    pub const MODE_OBJ_GETPROPERTIES: u32 = 0xb9;
    /// Sets a property.
    pub const MODE_OBJ_SETPROPERTY: u32 = 0xba;
    /// The cursor, with its hot spot.
    pub const MODE_CURSOR2: u32 = 0xbb;
    /// Sets many properties atomically.
    pub const MODE_ATOMIC: u32 = 0xbc;
    /// Creates a blob.
    pub const MODE_CREATEPROPBLOB: u32 = 0xbd;
    /// Destroys a blob.
    pub const MODE_DESTROYPROPBLOB: u32 = 0xbe;
    /// Closes a handle.
    pub const GEM_CLOSE: u32 = 0x09;
    /// Gives an object a global name: not allowed on a render node.
    pub const GEM_FLINK: u32 = 0x0a;
    /// Opens an object by its global name: not allowed on a render node.
    pub const GEM_OPEN: u32 = 0x0b;
    /// Capabilities of the device.
    pub const GET_CAP: u32 = 0x0c;
    /// Capabilities of the client.
    pub const SET_CLIENT_CAP: u32 = 0x0d;
    /// Exports an object as a descriptor.
    pub const PRIME_HANDLE_TO_FD: u32 = 0x2d;
    /// Imports an object from a descriptor.
    pub const PRIME_FD_TO_HANDLE: u32 = 0x2e;
    /// Hardware parameters.
    pub const GET_PARAM: u32 = 0x40;
    /// Creates an object.
    pub const GEM_CREATE: u32 = 0x41;
    /// Address and mmap offset of an object.
    pub const GEM_INFO: u32 = 0x42;
    /// Submits a job.
    pub const GEM_SUBMIT: u32 = 0x43;
    /// Waits until no job uses an object.
    pub const GEM_WAIT: u32 = 0x44;
    /// Creates a context.
    pub const CTX_CREATE: u32 = 0x45;
    /// Destroys a context.
    pub const CTX_FREE: u32 = 0x46;
    /// Creates a fence.
    pub const SYNCOBJ_CREATE: u32 = 0xbf;
    /// Destroys a fence.
    pub const SYNCOBJ_DESTROY: u32 = 0xc0;
    /// Exports a fence as a descriptor.
    pub const SYNCOBJ_HANDLE_TO_FD: u32 = 0xc1;
    /// Imports a fence from a descriptor.
    pub const SYNCOBJ_FD_TO_HANDLE: u32 = 0xc2;
    /// Waits for fences.
    pub const SYNCOBJ_WAIT: u32 = 0xc3;
    /// Resets fences.
    pub const SYNCOBJ_RESET: u32 = 0xc4;
    /// Signals fences.
    pub const SYNCOBJ_SIGNAL: u32 = 0xc5;
}

/// `errno` values of the interface.
pub mod errno {
    /// No such handle.
    pub const ENOENT: i32 = 2;
    /// Not a descriptor of the required kind.
    pub const EBADF: i32 = 9;
    /// Out of memory or addresses.
    pub const ENOMEM: i32 = 12;
    /// Only the display's master may do this.
    pub const EACCES: i32 = 13;
    /// An invalid pointer.
    pub const EFAULT: i32 = 14;
    /// An object is in use, and the client did not want to wait.
    pub const EBUSY: i32 = 16;
    /// An invalid argument.
    pub const EINVAL: i32 = 22;
    /// Too many open descriptors.
    pub const EMFILE: i32 = 24;
    /// A picture larger than its framebuffer.
    pub const ENOSPC: i32 = 28;
    /// Timeout.
    pub const ETIME: i32 = 62;
}

/// GET_PARAM's parameters.
pub mod parameter {
    /// Which GPU: [`super::gpu`].
    pub const GPU_ID: u32 = 0;
    /// Number of pixel processors.
    pub const PIXEL_PROCESSORS: u32 = 1;
    /// The geometry processor's version register.
    pub const GP_VERSION: u32 = 2;
    /// The pixel processors' version register.
    pub const PP_VERSION: u32 = 3;
}

/// Values of [`parameter::GPU_ID`].
pub mod gpu {
    /// A Mali-400.
    pub const MALI_400: u64 = 1;
    /// A Mali-450.
    pub const MALI_450: u64 = 2;
}

/// The queues of GEM_SUBMIT.
pub mod pipe {
    /// Geometry.
    pub const GP: u32 = 0;
    /// Pixels.
    pub const PP: u32 = 1;
}

/// How a job uses an object, and what a wait is for; 0 for nothing.
pub mod access {
    /// It reads.
    pub const READ: u32 = 1;
    /// It writes.
    pub const WRITE: u32 = 2;
}

/// Capabilities of GET_CAP.
pub mod capability {
    /// Buffers for CPU rendering can be created without a GPU driver.
    pub const DUMB_BUFFER: u64 = 1;
    /// Their preferred colour depth.
    pub const DUMB_PREFERRED_DEPTH: u64 = 3;
    /// Objects as descriptors: [`IMPORT`] and [`EXPORT`].
    pub const PRIME: u64 = 5;
    /// Flip events have timestamps of the monotonic clock.
    pub const TIMESTAMP_MONOTONIC: u64 = 6;
    /// The cursor's width.
    pub const CURSOR_WIDTH: u64 = 8;
    /// Its height.
    pub const CURSOR_HEIGHT: u64 = 9;
    /// Flip events include their CRTC.
    pub const CRTC_IN_VBLANK_EVENT: u64 = 0x12;
    /// Fences as objects.
    pub const SYNCOBJ: u64 = 0x13;
    /// Descriptors can be imported.
    pub const IMPORT: u64 = 1;
    /// Objects can be exported.
    pub const EXPORT: u64 = 2;
}

/// Capabilities of SET_CLIENT_CAP.
pub mod client_capability {
    /// The program handles all planes.
    pub const UNIVERSAL_PLANES: u64 = 2;
    /// The program uses atomic changes.
    pub const ATOMIC: u64 = 3;
}

/// ADDFB2's flag for modifiers.
pub const MODIFIERS: u32 = 2;

/// Bytes of a GP frame.
pub const GP_FRAME: usize = GpFrame::WORDS * WORD;

/// Bytes of a PP frame of a Mali-400.
pub const PP_FRAME_400: usize = PP_FRAME_WORDS * WORD;

/// Bytes of a PP frame of a Mali-450.
pub const PP_FRAME_450: usize = (LISTS_450 + Lists450::WORDS + PROCESSORS_450) * WORD;

/// Bytes of a word.
const WORD: usize = size_of::<u32>();

/// Object flag: a heap, which grows and which the CPU cannot map.
pub const HEAP: u32 = 1;

/// Submit flag: the driver orders jobs itself.
pub const EXPLICIT_FENCE: u32 = 1;

/// An ioctl's struct.
pub struct Struct<'a>(pub &'a mut Vec<u8>);

impl Struct<'_> {
    /// The word at byte `at`; missing words are zero, as in the kernel.
    pub fn word(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        if let Some(given) = self.0.get(at..at + 4) {
            bytes.copy_from_slice(given);
        }
        u32::from_ne_bytes(bytes)
    }

    /// The 64-bit word at byte `at`.
    pub fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }

    /// Sets the word at byte `at`, if the program's struct has it.
    pub fn set(&mut self, at: usize, word: u32) {
        if let Some(bytes) = self.0.get_mut(at..at + 4) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
    }

    /// Sets words at bytes.
    pub fn set_all(&mut self, words: &[(usize, u32)]) {
        for (at, word) in words {
            self.set(*at, *word);
        }
    }

    /// Sets the 64-bit word at byte `at`, if the program's struct has it.
    pub fn set_long(&mut self, at: usize, long: u64) {
        self.set(at, long as u32);
        self.set(at + 4, (long >> 32) as u32);
    }
}

/// Bytes as words.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
}

/// The lowest free number from `first` on.
pub fn free_number<T>(map: &BTreeMap<u32, T>, first: u32) -> u32 {
    let mut number = first;
    for taken in map.keys() {
        if *taken != number {
            break;
        }
        number += 1;
    }
    number
}

/// The `errno` of a system error.
pub fn system(error: std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(errno::ENOMEM)
}

/// Nanoseconds on the monotonic clock, as used by programs' timeouts.
pub fn now() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
