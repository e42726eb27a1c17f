//! Numbers of the kernel interface (facts/mali/lima-uapi.md, 2 and 4).

/// Numbers of ioctls of type `d`; the size and the direction in the word do not matter.
pub mod number {
    /// Closes a handle.
    pub const GEM_CLOSE: u32 = 0x09;
    /// Gives an object a name everybody can open.
    pub const GEM_FLINK: u32 = 0x0a;
    /// Opens an object by its name.
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
    /// A pointer that leads nowhere.
    pub const EFAULT: i32 = 14;
    /// What makes no sense.
    pub const EINVAL: i32 = 22;
    /// Too many open descriptors.
    pub const EMFILE: i32 = 24;
    /// A wait's time is over.
    pub const ETIME: i32 = 62;
}

/// Bytes of a GP frame.
pub const GP_FRAME: usize = 24;

/// Bytes of a PP frame of a Mali-400.
pub const PP_FRAME_400: usize = 272;

/// Bytes of a PP frame of a Mali-450.
pub const PP_FRAME_450: usize = 312;

/// Object flag: a heap, which grows and which the CPU does not see.
pub const HEAP: u32 = 1;

/// Submit flag: the driver takes care of the order itself.
pub const EXPLICIT_FENCE: u32 = 1;
