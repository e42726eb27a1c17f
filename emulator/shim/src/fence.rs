//! Fences: whether jobs are done, and who waits for that.
//!
//! Outside the server a fence is one end of a pair of sockets; it can be read once nobody holds the other end any more.
//! So a fence for several jobs needs no more than a copy of that end for each, nobody hangs on a server that was
//! killed, and no thread of the server waits in a program's stead.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// What happens when a fence is done.
#[derive(Debug)]
pub enum Bell {
    /// This holder is gone; the other end rings when all are.
    All(OwnedFd),
    /// The other end rings now.
    Any(Arc<OwnedFd>),
}

impl Bell {
    /// Another of the same.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::All(end) => Self::All(end.try_clone()?),
            Self::Any(end) => Self::Any(end.clone()),
        })
    }

    fn ring(self) {
        if let Self::Any(end) = self {
            let _ = shutdown(&*end, Shutdown::Both);
        }
    }
}

/// The two ends: the one to ring, the one to poll.
///
/// # Errors
/// When there are no descriptors left.
pub fn ends() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

#[derive(Debug, Default)]
struct State {
    done: bool,
    bells: Vec<Bell>,
}

/// Whether something is done.
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

    /// Waits until it is.
    pub fn wait(&self) {
        let mut state = self.state();
        while !state.done {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Rings when it is done, or now.
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

/// The duty to signal a fence, which is done even when whoever has it fails.
#[derive(Debug)]
pub struct Signal(Arc<Fence>);

impl Signal {
    /// A fence that is open until this is dropped.
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

/// A descriptor that can be read when all these fences are done.
///
/// # Errors
/// When there are no descriptors left.
pub fn all(fences: &[Arc<Fence>]) -> io::Result<OwnedFd> {
    let (ring, end) = ends()?;
    for fence in fences {
        fence.ring(Bell::All(ring.try_clone()?));
    }
    Ok(end)
}

/// The fences that went out as descriptors, to know them when they come back.
#[derive(Debug, Default)]
pub struct Exported {
    known: HashMap<(u64, u64), Vec<Weak<Fence>>>,
    /// How many may be known before those that are done are forgotten.
    room: usize,
}

impl Exported {
    /// A descriptor for all these fences.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn export(&mut self, fences: &[Arc<Fence>]) -> io::Result<OwnedFd> {
        let end = all(fences)?;
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

    /// The fences of a descriptor that are not done; somebody else's get a thread that watches them.
    ///
    /// # Errors
    /// When it cannot be watched.
    pub fn import(&mut self, fd: OwnedFd) -> io::Result<Vec<Arc<Fence>>> {
        if is_readable(&fd)? {
            return Ok(Vec::new());
        }
        let status = rustix::fs::fstat(&fd)?;
        if let Some(fences) = self.known.get(&(status.st_dev, status.st_ino)) {
            return Ok(fences.iter().filter_map(Weak::upgrade).collect());
        }
        let (signal, fence) = Signal::new();
        std::thread::Builder::new().name("fence".into()).spawn(move || {
            let _signal = signal;
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], None);
        })?;
        Ok(vec![fence])
    }
}

/// Whether a descriptor can be read at once.
fn is_readable(fd: &OwnedFd) -> io::Result<bool> {
    let now = rustix::event::Timespec::default();
    Ok(poll(&mut [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)], Some(&now))? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_readable_when_all_its_fences_are_done() {
        let ((first, one), (second, two)) = (Signal::new(), Signal::new());
        let both = all(&[one.clone(), two.clone()]).unwrap();
        let (ring, either) = ends().unwrap();
        let ring = Arc::new(ring);
        one.ring(Bell::Any(ring.clone()));
        two.ring(Bell::Any(ring));
        assert!(!is_readable(&both).unwrap() && !is_readable(&either).unwrap());
        drop(first);
        assert!(one.is_done() && !two.is_done());
        assert!(!is_readable(&both).unwrap() && is_readable(&either).unwrap());
        drop(second);
        two.wait();
        assert!(is_readable(&both).unwrap());
        assert!(is_readable(&all(&[one]).unwrap()).unwrap(), "done before it was asked");
        assert!(is_readable(&all(&[]).unwrap()).unwrap());
    }

    #[test]
    fn descriptors_come_back_as_their_fences() {
        let mut exported = Exported::default();
        let (signal, fence) = Signal::new();
        let fd = exported.export(std::slice::from_ref(&fence)).unwrap();
        let back = exported.import(fd.try_clone().unwrap()).unwrap();
        assert!(back.len() == 1 && Arc::ptr_eq(&back[0], &fence));
        drop(signal);
        assert!(exported.import(fd).unwrap().is_empty());
        // Somebody else's: the other end of any socket.
        let (other, end) = ends().unwrap();
        let foreign = exported.import(end).unwrap();
        assert!(!foreign[0].is_done());
        drop(other);
        foreign[0].wait();
        for _ in 0..1000 {
            let (_signal, fence) = Signal::new();
            exported.export(&[fence]).unwrap();
        }
        assert!(exported.known.len() < 200, "what is done is forgotten");
    }
}
