//! What ends a job: data, never a panic (hardware hangs on bad jobs and is reset; we say why).

use std::fmt;

/// Which processor ran the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Job {
    /// Geometry: vertex commands and the polygon list builder.
    Gp,
    /// Pixels.
    Pp,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An address no buffer object is at.
    Unmapped,
    /// A command that does not exist, or whose operands make no sense.
    Command,
    /// A render state, descriptor or frame register that makes no sense.
    State,
    /// Words that are no instruction, an unknown operation, a jump outside the program.
    Program,
    /// The job would go on for longer than its budget.
    Budget,
    /// More than the hardware, or this emulator, has room for.
    Limit,
    /// The host ended the job.
    Cancelled,
}

/// The end of a job; one machine word wide. Its [`Details`] are read as its fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault(Box<Details>);

/// Everything known about a fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// What went wrong.
    pub kind: FaultKind,
    /// Whose job; filled in by the job.
    pub job: Option<Job>,
    /// GPU address of the access or command.
    pub address: Option<u32>,
    /// Whether the access was a write.
    pub is_write: bool,
    /// Place in the program: the instruction's number (GP) or word (PP).
    pub pc: Option<u32>,
    /// The words for it.
    pub message: String,
}

impl Fault {
    /// A fault without a place yet.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            job: None,
            address: None,
            is_write: false,
            pc: None,
            message: message.into(),
        }))
    }

    /// No buffer object at `address`.
    pub fn unmapped(address: u32, length: u32) -> Self {
        Self::new(
            FaultKind::Unmapped,
            format!("{length} bytes are not in a buffer object"),
        )
        .at(address)
    }

    /// Names the address, unless one is named.
    #[must_use]
    pub fn at(mut self, address: u32) -> Self {
        self.0.address.get_or_insert(address);
        self
    }

    /// Says that the access was a write.
    #[must_use]
    pub fn writing(mut self) -> Self {
        self.0.is_write = true;
        self
    }

    /// Names the place in the program, unless one is named.
    #[must_use]
    pub fn pc(mut self, pc: u32) -> Self {
        self.0.pc.get_or_insert(pc);
        self
    }

    /// Names the job.
    #[must_use]
    pub fn of(mut self, job: Job) -> Self {
        self.0.job.get_or_insert(job);
        self
    }

    /// Says what was being done.
    #[must_use]
    pub fn within(mut self, what: impl fmt::Display) -> Self {
        self.0.message = format!("{what}: {}", self.message);
        self
    }
}

impl std::ops::Deref for Fault {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let job = match self.job {
            Some(Job::Gp) => "GP job",
            Some(Job::Pp) => "PP job",
            None => "job",
        };
        let kind = match self.kind {
            FaultKind::Unmapped => "unmapped address",
            FaultKind::Command => "bad command",
            FaultKind::State => "bad state",
            FaultKind::Program => "bad program",
            FaultKind::Budget => "budget spent",
            FaultKind::Limit => "limit passed",
            FaultKind::Cancelled => "cancelled",
        };
        write!(f, "{job}: {kind}: {}", self.message)?;
        if let Some(address) = self.address {
            write!(f, " (at address {address:#010x})")?;
        }
        if let Some(pc) = self.pc {
            write!(f, " (at instruction {pc})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl From<fmt::Error> for Fault {
    fn from(_: fmt::Error) -> Self {
        Self::new(FaultKind::Limit, "a text that cannot be written")
    }
}

/// Result of something a job does.
pub type Result<T, E = Fault> = std::result::Result<T, E>;
