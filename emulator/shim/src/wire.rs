//! Messages between front end and server; `front/device.c` has the same layout.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes of a request before the ioctl's struct.
const HEAD: usize = 32;

/// Kinds of requests, in the first word.
mod kind {
    /// An ioctl.
    pub(crate) const IOCTL: u32 = 0;
    /// Map an object.
    pub(crate) const MAP: u32 = 1;
    /// Merge fences.
    pub(crate) const MERGE: u32 = 2;
}

/// Limit on the size of a request in bytes.
pub(crate) const MAX_QUESTION: usize = 1 << 18;

/// The content of a request.
#[derive(Debug)]
pub(crate) enum What {
    /// An ioctl: its number, its struct, and the memory that its pointers refer to.
    Ioctl {
        /// Number.
        number: u32,
        /// The struct.
        data: Vec<u8>,
        /// The memory that it points to.
        behind: Vec<u8>,
    },
    /// Map some bytes of the object at an mmap offset.
    Map {
        /// Offset.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// Merge two fences.
    Merge,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Question {
    /// Its content.
    pub what: What,
    /// The socket for the answer.
    pub reply: OwnedFd,
    /// The descriptors that the ioctl passes.
    pub fds: [Option<OwnedFd>; 2],
}

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The ioctl's updated struct.
    pub data: Vec<u8>,
    /// A descriptor.
    pub fd: Option<OwnedFd>,
}

/// A received message.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request.
    Question(Question),
    /// An invalid message, which cannot be answered.
    Nonsense,
    /// The peer has disconnected.
    Closed,
}

/// Waits for the next request.
///
/// # Errors
/// The system's error.
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Incoming, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(buffer)];
    let message = rustix::io::retry_on_intr(|| recvmsg(socket, &mut slices, &mut control, RecvFlags::CMSG_CLOEXEC))?;
    let mut fds = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten();
    let (reply, named) = (fds.next(), [fds.next(), fds.next()]);
    drop(fds);
    if message.bytes == 0 {
        return Ok(Incoming::Closed);
    }
    let whole = !message.flags.contains(ReturnFlags::TRUNC);
    let what = buffer.get(..message.bytes).filter(|_| whole).and_then(parse);
    Ok(match (what, reply) {
        (Some(what), Some(reply)) => Incoming::Question(Question {
            what,
            reply,
            fds: named,
        }),
        _ => Incoming::Nonsense,
    })
}

fn parse(bytes: &[u8]) -> Option<What> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    match word(0) {
        kind::IOCTL => {
            let (data, behind) = rest.split_at_checked(word(8) as usize)?;
            Some(What::Ioctl {
                number: word(4) & 0xff,
                data: data.to_vec(),
                behind: behind.to_vec(),
            })
        }
        kind::MAP => Some(What::Map {
            offset: long(16),
            length: long(24),
        }),
        kind::MERGE => Some(What::Merge),
        _ => None,
    }
}

/// Answers a request, if the peer still exists.
pub(crate) fn reply(to: &OwnedFd, answer: &Result<Answer, i32>) {
    let nothing = Answer::default();
    let (error, answer) = match answer {
        Ok(answer) => (0, answer),
        Err(error) => (*error, &nothing),
    };
    let mut head = error.to_ne_bytes().to_vec();
    head.extend_from_slice(&(answer.data.len() as u32).to_ne_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<BorrowedFd<'_>> = answer.fd.iter().map(AsFd::as_fd).collect();
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&fds));
    }
    let slices = [IoSlice::new(&head), IoSlice::new(&answer.data)];
    // The socket is new and empty, so this never blocks.
    let _ = sendmsg(to, &slices, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}
