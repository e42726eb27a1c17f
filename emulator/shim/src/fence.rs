//! Fences: whether jobs are done, and how clients wait for them.
//!
//! Outside the server a fence is one end of a socket pair, which receives a byte when the fence is done. The message
//! carries the other end, so closing the fence closes both; until then it behaves like a kernel fence: readable, not
//! hung up. If the server is killed, the fence hangs up and waits end. No server thread waits on behalf of a program.

use crate::quota::{Account, Charge, Resource};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// One end of a socket pair; makes the other end readable, at the latest when dropped.
#[derive(Debug)]
pub struct Ring(Mutex<Option<(OwnedFd, Charge)>>);

impl Ring {
    /// The ring, and the end to poll.
    ///
    /// # Errors
    /// If the process, or the server, has no descriptors left.
    pub(crate) fn new(account: &Account) -> io::Result<(Arc<Self>, OwnedFd)> {
        let charge = account.charge(Resource::Descriptors, 1).ok_or(Errno::MFILE)?;
        let (ring, end) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Arc::new(Self(Mutex::new(Some((ring, charge))))), end))
    }

    fn ring(&self) {
        let Some((ring, _charge)) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let itself = [ring.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&itself));
        // If the system refuses to pass the descriptor, closing this end also makes the other readable, hung up.
        let _ = sendmsg(
            &ring,
            &[IoSlice::new(&[1])],
            &mut control,
            SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
        );
    }
}

impl Ring {
    /// Frees its descriptor if the other end was closed; returns whether it has none now.
    fn ring_if_left(&self) -> bool {
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = ring.as_ref().is_none_or(|(ring, _)| {
            let now = rustix::event::Timespec::default();
            let mut one = [PollFd::new(ring, PollFlags::empty())];
            poll(&mut one, Some(&now)).is_ok() && one[0].revents().contains(PollFlags::HUP)
        });
        if left {
            *ring = None;
        }
        left
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.ring();
    }
}

/// The action when a fence is done.
#[derive(Clone, Debug)]
pub enum Bell {
    /// Drops this reference; it rings when all are dropped.
    All(Arc<Ring>),
    /// Rings now.
    Any(Arc<Ring>),
}

impl Bell {
    fn ring(self) {
        if let Self::Any(ring) = self {
            ring.ring();
        }
    }
}

#[derive(Debug, Default)]
struct State {
    done: bool,
    bells: Vec<Bell>,
}

/// A fence.
#[derive(Debug, Default)]
pub struct Fence {
    state: Mutex<State>,
    changed: Condvar,
}

impl Fence {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.state().done
    }

    /// Waits until it is done.
    pub fn wait(&self) {
        let mut state = self.state();
        while !state.done {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits with a timeout; returns whether it is done.
    pub fn wait_for(&self, time: std::time::Duration) -> bool {
        let state = self.state();
        let done = self.changed.wait_timeout_while(state, time, |state| !state.done);
        done.unwrap_or_else(PoisonError::into_inner).0.done
    }

    /// Rings when it is done, possibly now.
    pub fn ring(&self, bell: Bell) {
        let mut state = self.state();
        if !state.done {
            state.bells.push(bell);
            return;
        }
        drop(state);
        bell.ring();
    }

    fn signal(&self) {
        let mut state = self.state();
        state.done = true;
        let bells = std::mem::take(&mut state.bells);
        drop(state);
        self.changed.notify_all();
        bells.into_iter().for_each(Bell::ring);
    }
}

/// Signals a fence when dropped, also on a panic.
#[derive(Debug)]
pub struct Signal(Arc<Fence>);

impl Signal {
    /// A fence that is pending until the signal is dropped.
    pub fn new() -> (Self, Arc<Fence>) {
        let fence = Arc::new(Fence::default());
        (Self(fence.clone()), fence)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.0.signal();
    }
}

/// A descriptor that is readable when all these fences are done.
///
/// # Errors
/// If there are no descriptors left.
pub(crate) fn all(fences: &[Arc<Fence>], account: &Account) -> io::Result<OwnedFd> {
    Ok(after(fences, Ring::new(account)?))
}

/// The end to poll; only the fences keep its ring from now on.
fn after(fences: &[Arc<Fence>], (ring, end): (Arc<Ring>, OwnedFd)) -> OwnedFd {
    for fence in fences {
        fence.ring(Bell::All(ring.clone()));
    }
    end
}

/// Limit on a client's pending waits.
const MAX_WAITS: usize = 1024;

/// A client's pending waits.
#[derive(Debug)]
pub(crate) struct Waits {
    account: Account,
    rings: Vec<Weak<Ring>>,
}

impl Waits {
    /// No waits yet.
    pub(crate) fn new(account: Account) -> Self {
        let rings = Vec::new();
        Self { account, rings }
    }

    /// A descriptor to wait on, and its ring.
    ///
    /// # Errors
    /// If the client has too many waits, or the system no descriptors.
    pub(crate) fn ring(&mut self) -> io::Result<(Arc<Ring>, OwnedFd)> {
        if self.rings.len() >= MAX_WAITS {
            self.rings
                .retain(|ring| ring.upgrade().is_some_and(|ring| !ring.ring_if_left()));
        }
        if self.rings.len() >= MAX_WAITS {
            return Err(Errno::NOMEM.into());
        }
        let (ring, end) = Ring::new(&self.account)?;
        self.rings.push(Arc::downgrade(&ring));
        Ok((ring, end))
    }

    /// [`all`], counted as one of these waits.
    ///
    /// # Errors
    /// See [`Waits::ring`].
    pub(crate) fn all(&mut self, fences: &[Arc<Fence>]) -> io::Result<OwnedFd> {
        Ok(after(fences, self.ring()?))
    }

    /// Ends all waits, because the client is gone.
    pub(crate) fn end(&mut self) {
        self.rings
            .drain(..)
            .filter_map(|ring| ring.upgrade())
            .for_each(|ring| ring.ring());
    }
}

/// Exported fences, to recognise them on import.
#[derive(Debug, Default)]
pub struct Exported {
    known: HashMap<(u64, u64), Vec<Weak<Fence>>>,
    /// Number of entries at which finished ones are removed.
    room: usize,
}

impl Exported {
    /// A descriptor for all these fences.
    ///
    /// # Errors
    /// If there are no descriptors left.
    pub(crate) fn export(&mut self, fences: &[Arc<Fence>], account: &Account) -> io::Result<OwnedFd> {
        let end = all(fences, account)?;
        let open: Vec<_> = fences.iter().filter(|fence| !fence.is_done()).collect();
        if !open.is_empty() {
            if self.known.len() >= self.room {
                let waits = |fence: &Weak<Fence>| fence.upgrade().is_some_and(|fence| !fence.is_done());
                self.known.retain(|_, fences| fences.iter().any(waits));
                self.room = 2 * self.known.len() + 64;
            }
            let status = rustix::fs::fstat(&end)?;
            let fences = open.into_iter().map(Arc::downgrade).collect();
            self.known.insert((status.st_dev, status.st_ino), fences);
        }
        Ok(end)
    }

    /// The pending fences of a descriptor; a foreign descriptor gets a thread that polls it.
    ///
    /// # Errors
    /// If it cannot be polled.
    pub fn import(&mut self, fd: OwnedFd) -> io::Result<Vec<Arc<Fence>>> {
        if is_readable(&fd)? {
            return Ok(Vec::new());
        }
        let status = rustix::fs::fstat(&fd)?;
        if let Some(fences) = self.known.get(&(status.st_dev, status.st_ino)) {
            return Ok(fences.iter().filter_map(Weak::upgrade).collect());
        }
        // The owner of the other end could block other clients' jobs forever.
        Err(Errno::INVAL.into())
    }
}

/// Whether a descriptor is readable.
fn is_readable(fd: &OwnedFd) -> io::Result<bool> {
    let now = rustix::event::Timespec::default();
    Ok(poll(&mut [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)], Some(&now))? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        Account::new(&Arc::default(), 1)
    }

    #[test]
    fn a_descriptor_is_readable_when_all_its_fences_are_done() {
        let ((first, one), (second, two)) = (Signal::new(), Signal::new());
        let both = all(&[one.clone(), two.clone()], &account()).unwrap();
        let (ring, either) = Ring::new(&account()).unwrap();
        one.ring(Bell::Any(ring.clone()));
        two.ring(Bell::Any(ring));
        assert!(!is_readable(&both).unwrap() && !is_readable(&either).unwrap());
        drop(first);
        assert!(one.is_done() && !two.is_done());
        assert!(!is_readable(&both).unwrap() && is_readable(&either).unwrap());
        drop(second);
        two.wait();
        assert!(is_readable(&both).unwrap());
        assert!(
            is_readable(&all(&[one], &account()).unwrap()).unwrap(),
            "done before the poll"
        );
        assert!(is_readable(&all(&[], &account()).unwrap()).unwrap());
    }

    /// The poll flags of a descriptor.
    fn polled(fd: &OwnedFd) -> PollFlags {
        let mut one = [PollFd::new(fd, PollFlags::IN | PollFlags::PRI)];
        poll(&mut one, Some(&rustix::event::Timespec::default())).unwrap();
        one[0].revents()
    }

    #[test]
    fn a_done_fence_is_readable_and_nothing_else() {
        let (signal, fence) = Signal::new();
        let [end, copy] = [(); 2].map(|()| all(std::slice::from_ref(&fence), &account()).unwrap());
        let (ring, any) = Ring::new(&account()).unwrap();
        assert_eq!(polled(&end), PollFlags::empty());
        drop(signal);
        Bell::Any(ring.clone()).ring();
        drop(ring);
        for fd in [end, copy, any] {
            assert_eq!(polled(&fd), PollFlags::IN);
            assert_eq!(polled(&fd), PollFlags::IN, "it stays so");
        }
        // As when the server is killed, which does not ring.
        let (ring, end) = Ring::new(&account()).unwrap();
        drop(ring.0.lock().unwrap().take());
        assert_eq!(polled(&end), PollFlags::IN | PollFlags::HUP);
    }

    /// Closing the end frees the other one, wherever it is.
    #[test]
    fn nothing_is_left_of_a_done_fence() {
        let mut waits = Vec::new();
        for _ in 0..3000 {
            let (signal, fence) = Signal::new();
            waits.push((signal, all(&[fence], &account()).unwrap()));
            if waits.len() == 100 {
                for (signal, end) in waits.drain(..) {
                    drop(signal);
                    assert_eq!(polled(&end), PollFlags::IN);
                }
            }
        }
    }

    #[test]
    fn nothing_is_left_of_waits_whose_client_is_gone() {
        let (signal, fence) = Signal::new();
        let mut waits = Waits::new(account());
        let ends: Vec<OwnedFd> = (0..MAX_WAITS / 2)
            .map(|_| waits.all(std::slice::from_ref(&fence)).unwrap())
            .collect();
        // These waits are abandoned, and their slots become free.
        (0..MAX_WAITS).for_each(|_| drop(waits.all(std::slice::from_ref(&fence)).unwrap()));
        let more: Vec<_> = (0..MAX_WAITS)
            .map_while(|_| waits.all(std::slice::from_ref(&fence)).ok())
            .collect();
        assert!(more.len() <= MAX_WAITS / 2, "{}", more.len());
        waits.end();
        assert!(ends.iter().chain(&more).all(|end| polled(end) == PollFlags::IN));
        drop(signal);
    }

    #[test]
    fn descriptors_come_back_as_their_fences() {
        let mut exported = Exported::default();
        let (signal, fence) = Signal::new();
        let fd = exported.export(std::slice::from_ref(&fence), &account()).unwrap();
        let back = exported.import(fd.try_clone().unwrap()).unwrap();
        assert!(back.len() == 1 && Arc::ptr_eq(&back[0], &fence));
        drop(signal);
        assert!(exported.import(fd).unwrap().is_empty());
        // A foreign descriptor: the other end of any socket.
        let (_other, end) = Ring::new(&account()).unwrap();
        let refused = exported.import(end).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(22));
        for _ in 0..1000 {
            let (_signal, fence) = Signal::new();
            exported.export(&[fence], &account()).unwrap();
        }
        assert!(exported.known.len() < 200, "what is done is forgotten");
    }
}
