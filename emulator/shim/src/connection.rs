//! One connection: questions in, answers out, until nobody is there.

use crate::device::Device;
use crate::wire::{self, Incoming};
use std::os::fd::{AsFd, OwnedFd};

/// Serves a connection to its end.
pub fn serve(socket: &OwnedFd, device: &mut Device) {
    let mut buffer = vec![0; wire::MAX_QUESTION];
    loop {
        match wire::receive(socket.as_fd(), &mut buffer) {
            Ok(Incoming::Question(question)) => {
                let answer = device.ask(question.what, question.fd);
                wire::reply(&question.reply, &answer);
            }
            Ok(Incoming::Nonsense) => {}
            Ok(Incoming::Closed) | Err(_) => break,
        }
    }
    device.close();
}
