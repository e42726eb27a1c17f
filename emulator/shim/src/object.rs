//! Buffer objects: memfds mapped by programs and by the emulator.

use crate::fence::{Exported, Fence};
use crate::quota::Quotas;
use crate::shared::Mapping;
use emulator::memory::PAGE;
use rustix::fs::{MemfdFlags, SealFlags};
use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The identity of an object: its memfd's device and inode.
pub type Identity = (u64, u64);

/// Programs cannot remove pages that the server has mapped.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// A buffer object, shared by its handles.
#[derive(Debug)]
pub struct Object {
    file: File,
    size: u32,
    identity: Identity,
    users: Mutex<Users>,
}

/// The jobs of all devices that use an object.
#[derive(Debug, Default)]
struct Users {
    writer: Option<Arc<Fence>>,
    readers: Vec<Arc<Fence>>,
}

impl Object {
    /// An object of `size` zero bytes, a multiple of the page size.
    fn new(name: &str, size: u32) -> io::Result<Self> {
        let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let file = File::from(file);
        file.set_len(u64::from(size))?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        let identity = identity(file.as_fd())?;
        Ok(Self {
            file,
            size,
            identity,
            users: Mutex::default(),
        })
    }

    /// The object of a memfd that [`Object::new`] made under this name, even if the server has no handle on it any
    /// more.
    fn adopt(name: &str, fd: &OwnedFd) -> Option<Self> {
        // The name identifies our memfds. It is not proof, and safety does not depend on it: the seals guarantee that
        // the bytes stay.
        let target = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()?;
        if target.to_str()?.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")? != name
            || !rustix::fs::fcntl_get_seals(fd).ok()?.contains(SEALS)
        {
            return None;
        }
        let file = File::from(fd.try_clone().ok()?);
        let size = u32::try_from(file.metadata().ok()?.len()).ok()?;
        let identity = identity(fd.as_fd()).ok()?;
        (size > 0 && size.is_multiple_of(PAGE)).then(|| Self {
            file,
            size,
            identity,
            users: Mutex::default(),
        })
    }

    /// Size in bytes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The memfd.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fences to wait for before reading (those of writing jobs) or writing (all).
    pub fn fences(&self, write: bool) -> Vec<Arc<Fence>> {
        let users = self.users();
        let readers = users.readers.iter().filter(|_| write);
        let open = users.writer.iter().chain(readers).filter(|fence| !fence.is_done());
        open.cloned().collect()
    }

    /// Records a job's use.
    pub fn used(&self, fence: &Arc<Fence>, write: bool) {
        let mut users = self.users();
        if write {
            users.writer = Some(fence.clone());
            users.readers.clear();
        } else {
            users.readers.retain(|fence| !fence.is_done());
            users.readers.push(fence.clone());
        }
    }

    /// Maps an object.
    ///
    /// # Errors
    /// If the system has no memory.
    pub fn map(self: Arc<Self>) -> io::Result<Mapping> {
        Mapping::new(&self.file, self.size as usize)
    }
}

fn identity(fd: BorrowedFd<'_>) -> io::Result<Identity> {
    let status = rustix::fs::fstat(fd)?;
    Ok((status.st_dev, status.st_ino))
}

/// All objects, to find imported ones.
#[derive(Debug)]
pub struct Registry {
    known: Mutex<Known>,
    /// Name of this registry's memfds, which is unique.
    name: String,
    exported: Mutex<Exported>,
    submitting: Mutex<()>,
    /// What each process holds.
    pub(crate) quotas: Arc<Quotas>,
}

impl Default for Registry {
    fn default() -> Self {
        let number = RandomState::new().hash_one(std::process::id());
        Self {
            known: Mutex::default(),
            exported: Mutex::default(),
            submitting: Mutex::default(),
            quotas: Arc::default(),
            name: format!("mali-{number:016x}"),
        }
    }
}

#[derive(Debug, Default)]
struct Known {
    objects: HashMap<Identity, Weak<Object>>,
}

impl Registry {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The exported fences.
    pub fn exported(&self) -> MutexGuard<'_, Exported> {
        self.exported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lock for putting fences on several objects, so that two jobs with the same objects never wait for each other.
    pub fn submitting(&self) -> MutexGuard<'_, ()> {
        self.submitting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new object of `size` bytes.
    ///
    /// # Errors
    /// The system's error.
    pub fn create(&self, size: u32) -> io::Result<Arc<Object>> {
        let object = Arc::new(Object::new(&self.name, size)?);
        let mut known = self.known();
        known.objects.retain(|_, object| object.strong_count() > 0);
        known.objects.insert(object.identity, Arc::downgrade(&object));
        Ok(object)
    }

    /// The object of a descriptor, which keeps the object alive without a handle.
    pub fn find(&self, fd: &OwnedFd) -> Option<Arc<Object>> {
        let identity = identity(fd.as_fd()).ok()?;
        let mut known = self.known();
        if let Some(object) = known.objects.get(&identity).and_then(Weak::upgrade) {
            return Some(object);
        }
        let object = Arc::new(Object::adopt(&self.name, fd)?);
        known.objects.insert(identity, Arc::downgrade(&object));
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::memory::Backing;

    #[test]
    fn a_descriptor_holds_its_object() {
        let registry = Registry::default();
        let object = registry.create(8192).unwrap();
        let (one, other) = (object.clone().map().unwrap(), object.clone().map().unwrap());
        one.write(8191, &[7]);
        let mut byte = [0];
        other.read(8191, &mut byte);
        assert_eq!(byte, [7]);
        let fd = object.fd().try_clone_to_owned().unwrap();
        assert!(
            File::from(fd.try_clone().unwrap()).set_len(4096).is_err(),
            "it could be shrunk"
        );
        assert!(Arc::ptr_eq(&registry.find(&fd).unwrap(), &object));
        drop((object, one, other));
        let again = registry.find(&fd).expect("the descriptor is there");
        assert!(Arc::ptr_eq(&registry.find(&fd).unwrap(), &again));
        again.map().unwrap().read(8191, &mut byte);
        assert_eq!(byte, [7], "the bytes are those that were there");
    }

    #[test]
    fn foreign_memfds_are_rejected() {
        let registry = Registry::default();
        assert!(registry.find(&File::open("/dev/null").unwrap().into()).is_none());
        let others = Registry::default().create(4096).unwrap();
        assert!(registry.find(&others.fd().try_clone_to_owned().unwrap()).is_none());
        // The name alone is not enough: its pages could be removed.
        let fake = rustix::fs::memfd_create(registry.name.as_str(), MemfdFlags::ALLOW_SEALING).unwrap();
        File::from(fake.try_clone().unwrap()).set_len(4096).unwrap();
        assert!(registry.find(&fake).is_none());
    }
}
