//! Messages between front and server; `front/device.c` has the same.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes of a question before the ioctl's struct.
const HEAD: usize = 32;

/// What a question is, by its first word.
mod kind {
    /// An ioctl.
    pub const IOCTL: u32 = 0;
    /// An object to map.
    pub const MAP: u32 = 1;
    /// Fences as one.
    pub const MERGE: u32 = 2;
}

/// Bytes of a question at most.
pub const MAX_QUESTION: usize = 1 << 18;

/// What is asked.
#[derive(Debug)]
pub enum What {
    /// An ioctl: its number, its struct, and what its pointers lead to.
    Ioctl {
        /// Number.
        number: u32,
        /// The struct.
        data: Vec<u8>,
        /// What it points to.
        behind: Vec<u8>,
    },
    /// The object at an offset of the device, to map so many bytes of it.
    Map {
        /// Offset.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// One fence of two.
    Merge,
}

/// A question.
#[derive(Debug)]
pub struct Question {
    /// What.
    pub what: What,
    /// Where the answer goes.
    pub reply: OwnedFd,
    /// The descriptors the ioctl names.
    pub fds: [Option<OwnedFd>; 2],
}

/// An answer.
#[derive(Debug, Default)]
pub struct Answer {
    /// The ioctl's struct as it is then.
    pub data: Vec<u8>,
    /// A descriptor.
    pub fd: Option<OwnedFd>,
}

/// What comes in.
#[derive(Debug)]
pub enum Incoming {
    /// A question.
    Question(Question),
    /// Something else: no answer is possible.
    Nonsense,
    /// Nobody is there any more.
    Closed,
}

/// Waits for the next question.
///
/// # Errors
/// What the system says.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Incoming, Errno> {
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

/// Answers a question; somebody who is gone does not get one.
pub fn reply(to: &OwnedFd, answer: &Result<Answer, i32>) {
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
    // It is an empty socket of its own: this never waits.
    let _ = sendmsg(to, &slices, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}
