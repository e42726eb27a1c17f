//! Numbers of the kernel interface (docs/spec/mali/kernel.md, section 2).

use std::collections::BTreeMap;
use utgard::frame::{GpFrame, LISTS_450, Lists450, PP_FRAME_WORDS, PROCESSORS_450};

/// Numbers of ioctls of type `d`; the size and the direction in the word do not matter.
pub mod number {
    /// What bus the device is on.
    pub const GET_UNIQUE: u32 = 0x01;
    /// A number by which a master knows this client.
    pub const GET_MAGIC: u32 = 0x02;
    /// Which version of the interface the client wants.
    pub const SET_VERSION: u32 = 0x07;
    /// A master says that a client may draw.
    pub const AUTH_MAGIC: u32 = 0x11;
    /// Becomes master.
    pub const SET_MASTER: u32 = 0x1e;
    /// Is master no more.
    pub const DROP_MASTER: u32 = 0x1f;
    /// Waits for a refresh.
    pub const WAIT_VBLANK: u32 = 0x3a;
    /// What the display has.
    pub const MODE_GETRESOURCES: u32 = 0xa0;
    /// What is shown.
    pub const MODE_GETCRTC: u32 = 0xa1;
    /// Shows something.
    pub const MODE_SETCRTC: u32 = 0xa2;
    /// The cursor.
    pub const MODE_CURSOR: u32 = 0xa3;
    /// An encoder.
    pub const MODE_GETENCODER: u32 = 0xa6;
    /// A connector with its modes.
    pub const MODE_GETCONNECTOR: u32 = 0xa7;
    /// What a property may be.
    pub const MODE_GETPROPERTY: u32 = 0xaa;
    /// Sets a connector's property.
    pub const MODE_SETPROPERTY: u32 = 0xab;
    /// A blob's bytes.
    pub const MODE_GETPROPBLOB: u32 = 0xac;
    /// A framebuffer by depth and bits.
    pub const MODE_ADDFB: u32 = 0xae;
    /// The end of a framebuffer.
    pub const MODE_RMFB: u32 = 0xaf;
    /// Shows something else at the next refresh.
    pub const MODE_PAGE_FLIP: u32 = 0xb0;
    /// A framebuffer has changed.
    pub const MODE_DIRTYFB: u32 = 0xb1;
    /// An object for a picture.
    pub const MODE_CREATE_DUMB: u32 = 0xb2;
    /// Where to map it.
    pub const MODE_MAP_DUMB: u32 = 0xb3;
    /// Its end.
    pub const MODE_DESTROY_DUMB: u32 = 0xb4;
    /// The planes.
    pub const MODE_GETPLANERESOURCES: u32 = 0xb5;
    /// A plane.
    pub const MODE_GETPLANE: u32 = 0xb6;
    /// A framebuffer by its format's code.
    pub const MODE_ADDFB2: u32 = 0xb8;
    /// What a part has besides.
    pub const MODE_OBJ_GETPROPERTIES: u32 = 0xb9;
    /// Sets one.
    pub const MODE_OBJ_SETPROPERTY: u32 = 0xba;
    /// The cursor, with its point.
    pub const MODE_CURSOR2: u32 = 0xbb;
    /// Many properties at once.
    pub const MODE_ATOMIC: u32 = 0xbc;
    /// Makes a blob.
    pub const MODE_CREATEPROPBLOB: u32 = 0xbd;
    /// Its end.
    pub const MODE_DESTROYPROPBLOB: u32 = 0xbe;
    /// Closes a handle.
    pub const GEM_CLOSE: u32 = 0x09;
    /// Gives an object a name everybody can open: not on a render node.
    pub const GEM_FLINK: u32 = 0x0a;
    /// Opens an object by its name: not on a render node.
    pub const GEM_OPEN: u32 = 0x0b;
    /// What the device can.
    pub const GET_CAP: u32 = 0x0c;
    /// What the client can.
    pub const SET_CLIENT_CAP: u32 = 0x0d;
    /// An object as a descriptor.
    pub const PRIME_HANDLE_TO_FD: u32 = 0x2d;
    /// A descriptor as an object.
    pub const PRIME_FD_TO_HANDLE: u32 = 0x2e;
    /// Hardware's parameters.
    pub const GET_PARAM: u32 = 0x40;
    /// A new object.
    pub const GEM_CREATE: u32 = 0x41;
    /// Where an object is.
    pub const GEM_INFO: u32 = 0x42;
    /// A job.
    pub const GEM_SUBMIT: u32 = 0x43;
    /// Waits until no job uses an object.
    pub const GEM_WAIT: u32 = 0x44;
    /// A new context.
    pub const CTX_CREATE: u32 = 0x45;
    /// The end of a context.
    pub const CTX_FREE: u32 = 0x46;
    /// A new fence.
    pub const SYNCOBJ_CREATE: u32 = 0xbf;
    /// The end of a fence.
    pub const SYNCOBJ_DESTROY: u32 = 0xc0;
    /// A fence as a descriptor.
    pub const SYNCOBJ_HANDLE_TO_FD: u32 = 0xc1;
    /// A descriptor as a fence.
    pub const SYNCOBJ_FD_TO_HANDLE: u32 = 0xc2;
    /// Waits for fences.
    pub const SYNCOBJ_WAIT: u32 = 0xc3;
    /// Takes fences' signals away.
    pub const SYNCOBJ_RESET: u32 = 0xc4;
    /// Signals fences.
    pub const SYNCOBJ_SIGNAL: u32 = 0xc5;
}

/// `errno` of the errors the interface gives.
pub mod errno {
    /// No such handle.
    pub const ENOENT: i32 = 2;
    /// Not a descriptor of the kind that is needed.
    pub const EBADF: i32 = 9;
    /// No memory, no addresses.
    pub const ENOMEM: i32 = 12;
    /// What only the display's master may ask.
    pub const EACCES: i32 = 13;
    /// A pointer that leads nowhere.
    pub const EFAULT: i32 = 14;
    /// An object is in use; asked for at once.
    pub const EBUSY: i32 = 16;
    /// What makes no sense.
    pub const EINVAL: i32 = 22;
    /// Too many open descriptors.
    pub const EMFILE: i32 = 24;
    /// A picture larger than what it is of.
    pub const ENOSPC: i32 = 28;
    /// A wait's time is over.
    pub const ETIME: i32 = 62;
}

/// GET_PARAM's parameters.
pub mod parameter {
    /// Which GPU: [`super::gpu`].
    pub const GPU_ID: u32 = 0;
    /// How many pixel processors.
    pub const PIXEL_PROCESSORS: u32 = 1;
    /// The geometry processor's version register.
    pub const GP_VERSION: u32 = 2;
    /// The pixel processors' version register.
    pub const PP_VERSION: u32 = 3;
}

/// What [`parameter::GPU_ID`] says.
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

/// How a job uses an object, and what a wait is for; none is for nothing.
pub mod access {
    /// It reads.
    pub const READ: u32 = 1;
    /// It writes.
    pub const WRITE: u32 = 2;
}

/// What GET_CAP asks for.
pub mod capability {
    /// Objects for pictures can be made without a driver of the GPU's.
    pub const DUMB_BUFFER: u64 = 1;
    /// Their bits of colour.
    pub const DUMB_PREFERRED_DEPTH: u64 = 3;
    /// Objects as descriptors: [`IMPORT`] and [`EXPORT`].
    pub const PRIME: u64 = 5;
    /// Times of flips are those of the monotonic clock.
    pub const TIMESTAMP_MONOTONIC: u64 = 6;
    /// The cursor's width.
    pub const CURSOR_WIDTH: u64 = 8;
    /// Its height.
    pub const CURSOR_HEIGHT: u64 = 9;
    /// Events of flips name their CRTC.
    pub const CRTC_IN_VBLANK_EVENT: u64 = 0x12;
    /// Fences as objects.
    pub const SYNCOBJ: u64 = 0x13;
    /// Descriptors become objects.
    pub const IMPORT: u64 = 1;
    /// Objects become descriptors.
    pub const EXPORT: u64 = 2;
}

/// What SET_CLIENT_CAP sets.
pub mod client_capability {
    /// The program wants to see all planes.
    pub const UNIVERSAL_PLANES: u64 = 2;
    /// It sets many properties at once.
    pub const ATOMIC: u64 = 3;
}

/// ADDFB2's flag: there are modifiers.
pub const MODIFIERS: u32 = 2;

/// Bytes of a GP frame.
pub const GP_FRAME: usize = GpFrame::WORDS * WORD;

/// Bytes of a PP frame of a Mali-400.
pub const PP_FRAME_400: usize = PP_FRAME_WORDS * WORD;

/// Bytes of a PP frame of a Mali-450.
pub const PP_FRAME_450: usize = (LISTS_450 + Lists450::WORDS + PROCESSORS_450) * WORD;

/// Bytes of a word.
const WORD: usize = size_of::<u32>();

/// Object flag: a heap, which grows and which the CPU does not see.
pub const HEAP: u32 = 1;

/// Submit flag: the driver takes care of the order itself.
pub const EXPLICIT_FENCE: u32 = 1;

/// An ioctl's struct.
pub struct Struct<'a>(pub &'a mut Vec<u8>);

impl Struct<'_> {
    /// The word at byte `at`; what the program did not give is zero, as the kernel has it.
    pub fn word(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        if let Some(given) = self.0.get(at..at + 4) {
            bytes.copy_from_slice(given);
        }
        u32::from_ne_bytes(bytes)
    }

    /// The long word at byte `at`.
    pub fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 4)) << 32
    }

    /// Sets the word at byte `at`, if the program has it.
    pub fn set(&mut self, at: usize, word: u32) {
        if let Some(bytes) = self.0.get_mut(at..at + 4) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
    }

    /// Sets words, each at its byte.
    pub fn set_all(&mut self, words: &[(usize, u32)]) {
        for (at, word) in words {
            self.set(*at, *word);
        }
    }

    /// Sets the long word at byte `at`, if the program has it.
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

/// The lowest number from `first` on that is free.
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

/// The `errno` of an error of the system's.
pub fn system(error: std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(errno::ENOMEM)
}

/// Nanoseconds on the clock that programs' timeouts go by.
pub fn now() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
