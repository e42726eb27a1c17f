//! A connection: answers requests until the client disconnects.

use crate::abi;
use crate::object::Registry;
use crate::quota::Account;
use crate::wire::{self, Answer, Incoming, What};
use std::os::fd::{AsFd, OwnedFd};

/// The device behind a node.
pub(crate) trait Node {
    /// Answers a request, or returns an `errno`.
    ///
    /// # Errors
    /// As in the kernel.
    fn ask(&mut self, what: What, fd: Option<OwnedFd>) -> Result<Answer, i32>;
}

/// Serves a connection until it ends.
pub(crate) fn serve(socket: &OwnedFd, node: &mut dyn Node, registry: &Registry, account: &Account) {
    let mut buffer = vec![0; wire::MAX_QUESTION];
    loop {
        match wire::receive(socket.as_fd(), &mut buffer) {
            Ok(Incoming::Question(question)) => {
                let [fd, other] = question.fds;
                let answer = match question.what {
                    What::Merge => merge(registry, account, [fd, other]),
                    what => node.ask(what, fd),
                };
                wire::reply(&question.reply, &answer);
            }
            Ok(Incoming::Nonsense) => {}
            Ok(Incoming::Closed) | Err(_) => break,
        }
    }
}

/// A descriptor that is readable once two others are.
fn merge(registry: &Registry, account: &Account, fds: [Option<OwnedFd>; 2]) -> Result<Answer, i32> {
    let mut exported = registry.exported();
    let mut fences = Vec::new();
    for fd in fds {
        let fd = fd.ok_or(abi::errno::EBADF)?;
        fences.extend(exported.import(fd).map_err(abi::system)?);
    }
    let fd = exported.export(&fences, account).map_err(abi::system)?;
    Ok(Answer {
        fd: Some(fd),
        ..Answer::default()
    })
}
