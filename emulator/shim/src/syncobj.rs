//! A device's sync objects: handles that hold a fence, or none yet.

use crate::abi::{Struct, errno, free_number, words};
use crate::fence::{Bell, Fence, Waits};
use crate::object::Registry;
use crate::quota::{Account, Charge, Resource};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Limit on sync objects.
const MAX: usize = 1 << 16;

/// Wait flag: wait for all instead of any.
const WAIT_ALL: u32 = 1;

/// Wait flag: also wait for those without a fence.
const WAIT_FOR_SUBMIT: u32 = 2;

type Result<T, E = i32> = std::result::Result<T, E>;

#[derive(Debug)]
struct SyncObject {
    /// The pending fences, once it has a fence; empty once that is done.
    fences: Option<Vec<Arc<Fence>>>,
    /// Waits for it to get a fence.
    waiting: Vec<Bell>,
    _charge: Charge,
}

impl SyncObject {
    fn is_done(&self) -> bool {
        self.fences
            .as_ref()
            .is_some_and(|fences| fences.iter().all(|fence| fence.is_done()))
    }

    fn set(&mut self, fences: Vec<Arc<Fence>>) {
        for bell in std::mem::take(&mut self.waiting) {
            attach(&fences, &bell);
        }
        self.fences = Some(fences);
    }

    fn ring(&mut self, bell: Bell) {
        match &self.fences {
            Some(fences) => attach(fences, &bell),
            None => self.waiting.push(bell),
        }
    }
}

/// Attaches a bell to every pending fence.
fn attach(fences: &[Arc<Fence>], bell: &Bell) {
    for fence in fences.iter().filter(|fence| !fence.is_done()) {
        fence.ring(bell.clone());
    }
}

/// All sync objects of a device.
#[derive(Debug)]
pub(crate) struct SyncObjects {
    account: Account,
    all: BTreeMap<u32, SyncObject>,
}

impl SyncObjects {
    /// No sync objects yet.
    pub(crate) fn new(account: Account) -> Self {
        let all = BTreeMap::new();
        Self { account, all }
    }

    fn get(&mut self, handle: u32) -> Result<&mut SyncObject> {
        self.all.get_mut(&handle).ok_or(errno::ENOENT)
    }

    /// A new one with these fences.
    fn insert(&mut self, fences: Option<Vec<Arc<Fence>>>) -> Result<u32> {
        if self.all.len() >= MAX {
            return Err(errno::ENOMEM);
        }
        let charge = self.account.charge(Resource::SyncObjects, 1);
        let object = SyncObject {
            fences,
            waiting: Vec::new(),
            _charge: charge.ok_or(errno::ENOMEM)?,
        };
        let number = free_number(&self.all, 1);
        self.all.insert(number, object);
        Ok(number)
    }

    /// SYNCOBJ_CREATE.
    pub(crate) fn create(&mut self, data: &mut Struct<'_>) -> Result<()> {
        if data.word(4) & !1 != 0 {
            return Err(errno::EINVAL);
        }
        let fences = (data.word(4) & 1 == 1).then(Vec::new);
        let number = self.insert(fences)?;
        data.set(0, number);
        Ok(())
    }

    /// SYNCOBJ_DESTROY.
    pub(crate) fn destroy(&mut self, data: &Struct<'_>) -> Result<()> {
        match self.all.remove(&data.word(0)) {
            Some(_) => Ok(()),
            None => Err(errno::EINVAL),
        }
    }

    /// The fences that a job with this sync object waits for.
    pub(crate) fn fences(&mut self, handle: u32) -> Result<Vec<Arc<Fence>>> {
        self.get(handle)?.fences.clone().ok_or(errno::EINVAL)
    }

    /// Whether the handle exists.
    pub(crate) fn has(&self, handle: u32) -> bool {
        self.all.contains_key(&handle)
    }

    /// Replaces its fence by a job's.
    pub(crate) fn replace(&mut self, handle: u32, fence: Arc<Fence>) {
        if let Some(object) = self.all.get_mut(&handle) {
            object.set(vec![fence]);
        }
    }

    /// SYNCOBJ_HANDLE_TO_FD: a descriptor that is readable when the fence is done.
    pub(crate) fn export(&mut self, data: &Struct<'_>, registry: &Registry) -> Result<OwnedFd> {
        let fences = self.fences(data.word(0))?;
        registry
            .exported()
            .export(&fences, &self.account)
            .map_err(crate::abi::system)
    }

    /// SYNCOBJ_FD_TO_HANDLE: a descriptor's fence in a new or existing sync object.
    pub(crate) fn import(&mut self, data: &mut Struct<'_>, fd: Option<OwnedFd>, registry: &Registry) -> Result<()> {
        let fd = fd.ok_or(errno::EBADF)?;
        let into_old = data.word(4) & 1 == 1;
        if into_old {
            self.get(data.word(0))?;
        }
        let fences = registry.exported().import(fd).map_err(crate::abi::system)?;
        if into_old {
            self.get(data.word(0))?.set(fences);
            return Ok(());
        }
        let number = self.insert(Some(fences))?;
        data.set(0, number);
        Ok(())
    }

    /// SYNCOBJ_WAIT: done, or a descriptor to wait for before retrying.
    pub(crate) fn wait(&mut self, data: &mut Struct<'_>, behind: &[u8], waits: &mut Waits) -> Result<Option<OwnedFd>> {
        let (timeout, flags) = (data.long(8) as i64, data.word(20));
        let wanted = words(behind);
        if wanted.is_empty() || flags & !(WAIT_ALL | WAIT_FOR_SUBMIT) != 0 {
            return Err(errno::EINVAL);
        }
        let (mut open, mut first) = (Vec::new(), None);
        for (at, handle) in wanted.iter().enumerate() {
            let object = self.get(*handle)?;
            if object.fences.is_none() && flags & WAIT_FOR_SUBMIT == 0 {
                return Err(errno::EINVAL);
            }
            if object.is_done() {
                first = first.or(Some(at as u32));
            } else {
                open.push(*handle);
            }
        }
        if let (Some(first), 0) = (first, flags & WAIT_ALL) {
            data.set(24, first);
            return Ok(None);
        }
        if open.is_empty() {
            data.set(24, 0);
            return Ok(None);
        }
        if timeout <= crate::abi::now() {
            return Err(errno::ETIME);
        }
        let (ring, end) = waits.ring().map_err(crate::abi::system)?;
        let bell = if flags & WAIT_ALL == 1 {
            Bell::All(ring)
        } else {
            Bell::Any(ring)
        };
        for handle in open {
            self.get(handle)?.ring(bell.clone());
        }
        Ok(Some(end))
    }

    /// SYNCOBJ_RESET and SYNCOBJ_SIGNAL.
    pub(crate) fn set(&mut self, behind: &[u8], signalled: bool) -> Result<()> {
        let wanted = words(behind);
        if wanted.is_empty() {
            return Err(errno::EINVAL);
        }
        if !wanted.iter().all(|handle| self.has(*handle)) {
            return Err(errno::ENOENT);
        }
        for handle in wanted {
            let object = self.get(handle)?;
            if signalled {
                object.set(Vec::new());
            } else {
                object.fences = None;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::Signal;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn account() -> Account {
        Account::new(&Arc::default(), 1)
    }

    fn readable(fd: &OwnedFd) -> bool {
        poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    fn create(objects: &mut SyncObjects, flags: u32) -> u32 {
        let mut data = [0, flags].map(u32::to_ne_bytes).concat();
        objects.create(&mut Struct(&mut data)).unwrap();
        u32::from_ne_bytes(data[..4].try_into().unwrap())
    }

    /// Waits for handles without a timeout; returns the answer, and the first one done.
    fn wait(objects: &mut SyncObjects, handles: &[u32], flags: u32) -> Result<(Option<OwnedFd>, u32)> {
        let mut data = [0, 0, u32::MAX, i32::MAX as u32, handles.len() as u32, flags, 99, 0]
            .map(u32::to_ne_bytes)
            .concat();
        let behind: Vec<u8> = handles.iter().flat_map(|handle| handle.to_ne_bytes()).collect();
        let fd = objects.wait(&mut Struct(&mut data), &behind, &mut Waits::new(account()))?;
        Ok((fd, u32::from_ne_bytes(data[24..28].try_into().unwrap())))
    }

    #[test]
    fn waits_end_when_jobs_do() {
        let mut objects = SyncObjects::new(account());
        let (done, open) = (create(&mut objects, 1), create(&mut objects, 0));
        assert!(wait(&mut objects, &[done], 1).unwrap().0.is_none());
        assert_eq!(wait(&mut objects, &[done, open], 0).unwrap_err(), errno::EINVAL);
        let both = wait(&mut objects, &[done, open], 3).unwrap().0.expect("one is open");
        assert_eq!(wait(&mut objects, &[open, done], 2).unwrap().1, 1);
        let any = wait(&mut objects, &[open], 2).unwrap().0.expect("it is open");
        let (signal, fence) = Signal::new();
        objects.replace(open, fence);
        assert!(
            !readable(&both) && !readable(&any),
            "it has a fence now, and that is open"
        );
        drop(signal);
        assert!(readable(&both) && readable(&any));
        assert!(wait(&mut objects, &[open, done], 1).unwrap().0.is_none());
        assert_eq!(wait(&mut objects, &[77], 1).unwrap_err(), errno::ENOENT);
    }
}
