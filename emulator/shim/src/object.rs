//! Buffer objects: memfds that the program maps and the emulator maps.

use emulator::gpu::memory::Backing;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What tells an object from all others: its memfd's device and inode.
pub type Identity = (u64, u64);

/// A buffer object, whoever has handles on it.
#[derive(Debug)]
pub struct Object {
    file: File,
    size: u32,
    identity: Identity,
}

/// An object's bytes in our address space.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    length: usize,
    /// Keeps the bytes there.
    _object: Arc<Object>,
}

// SAFETY: the mapping belongs to nobody but this value, and may be used and taken away by any thread.
unsafe impl Send for Mapping {}
// SAFETY: behind a shared reference it is only read.
unsafe impl Sync for Mapping {}

impl Object {
    /// An object of `size` zero bytes, a multiple of the page.
    fn new(size: u32) -> io::Result<Self> {
        let file = rustix::fs::memfd_create("mali", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let file = File::from(file);
        file.set_len(u64::from(size))?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let identity = identity(file.as_fd())?;
        Ok(Self { file, size, identity })
    }

    /// Bytes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The memfd.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Maps an object.
    ///
    /// # Errors
    /// When the system has no room.
    pub fn map(self: Arc<Self>) -> io::Result<Mapping> {
        let length = self.size as usize;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the system likes; nothing that is there is touched.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                MapFlags::SHARED,
                &self.file,
                0,
            )?
        };
        Ok(Mapping {
            start: start.cast(),
            length,
            _object: self,
        })
    }
}

impl Backing for Mapping {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `length` mapped bytes; the memfd is sealed, so they stay. The program may write them while the
        // emulator reads, as it may on hardware: we then see some of either, as bytes, and nothing is built on them
        // being the same when read twice (all offsets and counts read from memory are checked where they are used).
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` makes this the only reference on our side.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value's own mapping, whose references have ended. An error would leave it there, no harm.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.length) };
    }
}

fn identity(fd: BorrowedFd<'_>) -> io::Result<Identity> {
    let status = File::from(fd.try_clone_to_owned()?).metadata()?;
    Ok((status.dev(), status.ino()))
}

/// All objects there are, to find those that come in as descriptors or names.
#[derive(Debug, Default)]
pub struct Registry {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    objects: HashMap<Identity, Weak<Object>>,
    names: HashMap<u32, Weak<Object>>,
    last_name: u32,
}

impl Registry {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new object of `size` bytes.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(&self, size: u32) -> io::Result<Arc<Object>> {
        let object = Arc::new(Object::new(size)?);
        let mut known = self.known();
        known.objects.retain(|_, object| object.strong_count() > 0);
        known.names.retain(|_, object| object.strong_count() > 0);
        known.objects.insert(object.identity, Arc::downgrade(&object));
        Ok(object)
    }

    /// The object a descriptor is of.
    pub fn find(&self, fd: &OwnedFd) -> Option<Arc<Object>> {
        let identity = identity(fd.as_fd()).ok()?;
        self.known().objects.get(&identity)?.upgrade()
    }

    /// The object's name; the first asks for it gives it one.
    pub fn name(&self, object: &Arc<Object>) -> u32 {
        let mut known = self.known();
        let here = Arc::downgrade(object);
        if let Some((name, _)) = known.names.iter().find(|(_, named)| named.ptr_eq(&here)) {
            return *name;
        }
        known.last_name += 1;
        let name = known.last_name;
        known.names.insert(name, here);
        name
    }

    /// The object of a name.
    pub fn named(&self, name: u32) -> Option<Arc<Object>> {
        self.known().names.get(&name)?.upgrade()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mappings_are_the_same_bytes() {
        let registry = Registry::default();
        let object = registry.create(8192).unwrap();
        let (mut one, other) = (object.clone().map().unwrap(), object.clone().map().unwrap());
        one.bytes_mut()[8191] = 7;
        assert_eq!((other.bytes().len(), other.bytes()[8191]), (8192, 7));
        let fd = object.fd().try_clone_to_owned().unwrap();
        assert!(
            File::from(fd.try_clone().unwrap()).set_len(4096).is_err(),
            "it could be shrunk"
        );
        assert!(Arc::ptr_eq(&registry.find(&fd).unwrap(), &object));
        let name = registry.name(&object);
        assert_eq!(registry.name(&object), name);
        assert!(registry.named(name + 1).is_none());
        drop(object);
        drop(one);
        assert!(registry.named(name).is_some(), "a mapping holds it");
        drop(other);
        assert!(registry.named(name).is_none());
        assert!(registry.find(&fd).is_none());
    }
}
