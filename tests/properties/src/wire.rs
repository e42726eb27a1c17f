//! Arbitrary messages from a program in the front to the server.

use emulator::exec::wide::Wide;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use shim::{Options, Server, abi};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Numbers of ioctls, selected by a byte of the input.
const NUMBERS: [u32; 20] = [
    0x09, 0x0a, 0x0b, 0x0c, 0x2d, 0x2e, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0xbf, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4,
    0xc5,
];

fn socket_path() -> &'static PathBuf {
    static SERVER: OnceLock<(tempfile::TempDir, Server, PathBuf)> = OnceLock::new();
    let (_, _, path) = SERVER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server::start(folder.path(), Options::new(|| Box::<Wide>::default())).expect("a server");
        let path = folder.path().join(shim::RENDER);
        (folder, server, path)
    });
    path
}

fn connect() -> OwnedFd {
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .expect("a socket");
    rustix::net::connect(&socket, &SocketAddrUnix::new(socket_path()).expect("a path")).expect("the server is there");
    socket
}

/// Sends a message with a socket for the reply; returns that socket.
fn send(socket: &OwnedFd, message: &[u8]) -> OwnedFd {
    let (ours, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("two");
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [theirs.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&fds));
    let _ = rustix::net::sendmsg(socket, &[IoSlice::new(message)], &mut control, SendFlags::NOSIGNAL);
    ours
}

fn ioctl(number: u32, data: &[u8], behind: &[u8]) -> Vec<u8> {
    let head = [0, number, data.len() as u32, 0, 0, 0, 0, 0];
    let mut message: Vec<u8> = head.iter().flat_map(|word: &u32| word.to_ne_bytes()).collect();
    message.extend_from_slice(data);
    message.extend_from_slice(behind);
    message
}

/// Takes `count` bytes off the input, or the rest.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count.min(bytes.len()));
    *bytes = rest;
    taken
}

/// A connection with the input's messages still gets replies, or was closed; the server continues either way.
///
/// The input: a byte for the kind of message (mod 4: 0 raw bytes, else an ioctl), a byte with the length of each of its
/// parts, the parts.
pub fn talk(mut bytes: &[u8]) {
    let socket = connect();
    for _ in 0..64 {
        let [kind] = *take(&mut bytes, 1) else { break };
        let mut part = || {
            let length = take(&mut bytes, 1).first().map_or(0, |length| usize::from(*length));
            take(&mut bytes, length)
        };
        let message = match kind % 4 {
            0 => part().to_vec(),
            1 => ioctl(NUMBERS[usize::from(kind / 4) % NUMBERS.len()], part(), &[]),
            _ => ioctl(NUMBERS[usize::from(kind / 4) % NUMBERS.len()], part(), part()),
        };
        drop(send(&socket, &message));
    }
    // The server still runs, whatever happened to that connection.
    let socket = connect();
    let answer = send(&socket, &ioctl(abi::number::GET_PARAM, &[0; 16], &[]));
    let mut polled = [rustix::event::PollFd::new(&answer, rustix::event::PollFlags::IN)];
    let timeout = rustix::event::Timespec::try_from(Duration::from_secs(20)).expect("a time");
    // A fuzzer interrupts with a timer.
    rustix::io::retry_on_intr(|| rustix::event::poll(&mut polled, Some(&timeout))).expect("poll");
    let mut buffer = [0; 64];
    let (_, count) = rustix::net::recv(&answer, &mut buffer, rustix::net::RecvFlags::DONTWAIT).expect("an answer");
    assert!(count >= 8 + 16, "{count} bytes are not an answer");
    assert_eq!(buffer[..4], [0; 4], "the server lost its parameters");
    assert_eq!(buffer[16..24], [1, 0, 0, 0, 0, 0, 0, 0], "not a Mali-400 any more");
}

/// Initial messages: an object, a context, a submit.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut create = vec![7 * 4 + 1, 16, 0, 16];
    create.resize(18, 0);
    let mut submit = create.clone();
    submit.extend([11 * 4 + 1, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut head = vec![9 * 4 + 2, 48, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 24];
    head.resize(50, 0);
    submit.extend(head);
    submit.extend([32, 1, 0, 0, 0, 3, 0, 0, 0]);
    submit.resize(submit.len() + 24, 0);
    vec![create, submit, vec![0, 3, 1, 2, 3]]
}
