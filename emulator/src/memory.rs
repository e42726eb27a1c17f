//! The GPU's 32-bit address space: buffer objects at their addresses, in pages of 4 KiB (docs/spec/mali/kernel.md, section 3).

mod lent;
mod seen;
mod words;

use crate::fault::{Fault, FaultKind, Result};
use crate::thread_pool::ThreadPool;
use std::borrow::Cow;
use std::ops::Range;

pub(crate) use lent::{Array, Lent, Sink, Sinks};
pub(crate) use seen::Seen;
use seen::{Clock, Version};
pub use words::SharedWords;

/// Bytes of a page.
pub const PAGE: u32 = 4096;

/// Bytes behind a buffer object that are shared, say with the process whose driver writes them.
///
/// They may change at any time, so there are no references to them: bytes are copied out and in. The size never changes, and
/// callers keep every range within it.
pub trait Backing: Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> usize;

    /// Copies bytes from `at` on out.
    fn read(&self, at: usize, to: &mut [u8]);

    /// Copies bytes in from `at` on.
    fn write(&self, at: usize, from: &[u8]);

    /// Whether the bytes from `at` on are these.
    fn equals(&self, at: usize, bytes: &[u8]) -> bool {
        let mut copy = [0; 256];
        let mut pieces = bytes.chunks(copy.len()).enumerate();
        pieces.all(|(number, piece)| {
            let copy = &mut copy[..piece.len()];
            self.read(at + 256 * number, copy);
            copy == piece
        })
    }

    /// Copies pieces of `size` bytes in, `stride` apart.
    fn write_apart(&self, at: usize, stride: usize, size: usize, from: &[u8]) {
        for (number, piece) in from.chunks(size.max(1)).enumerate() {
            self.write(at + number * stride, piece);
        }
    }
}

/// An object's bytes: its own, or shared ones.
enum Data {
    Own(Vec<u8>),
    Backed(Box<dyn Backing>),
}

/// A buffer object.
struct Object {
    address: u32,
    size: u32,
    data: Data,
    /// Incremented by every write.
    version: Version,
}

impl Object {
    /// Where `length` bytes at `address` begin, when the object has them.
    #[inline]
    fn place(&self, address: u32, length: u32) -> Option<usize> {
        let start = address - self.address;
        (length <= self.size.checked_sub(start)?).then_some(start as usize)
    }

    /// Bytes within the object: borrowed from its own, or copied from shared ones.
    #[inline]
    fn bytes(&self, start: usize, length: usize) -> Cow<'_, [u8]> {
        match &self.data {
            Data::Own(bytes) => Cow::Borrowed(&bytes[start..start + length]),
            Data::Backed(backing) => {
                let mut copy = vec![0; length];
                backing.read(start, &mut copy);
                Cow::Owned(copy)
            }
        }
    }

    #[inline]
    fn read(&self, start: usize, to: &mut [u8]) {
        match &self.data {
            Data::Own(bytes) => to.copy_from_slice(&bytes[start..start + to.len()]),
            Data::Backed(backing) => backing.read(start, to),
        }
    }

    #[inline]
    fn write(&mut self, start: usize, from: &[u8]) {
        match &mut self.data {
            Data::Own(bytes) => bytes[start..start + from.len()].copy_from_slice(from),
            Data::Backed(backing) => backing.write(start, from),
        }
    }
}

/// The address space; no access leaves a buffer object.
pub struct Memory {
    objects: Vec<Option<Object>>,
    /// For each page up to the last that ever was in use, at least, the object's number plus one.
    pages: Vec<u32>,
    used: u64,
    limit: u64,
    /// Addresses and lengths of writes, if they are logged.
    written: Option<Vec<(u32, u32)>>,
    clock: Clock,
    /// The version of shared bytes, during a job.
    job: Option<Version>,
}

impl Default for Memory {
    fn default() -> Self {
        Self::with_limit(1 << 30)
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// An empty address space whose objects take at most `limit` bytes together.
    pub fn with_limit(limit: u64) -> Self {
        Self {
            objects: Vec::new(),
            pages: Vec::new(),
            used: 0,
            limit,
            written: None,
            clock: Clock::default(),
            job: None,
        }
    }

    /// Logs from now on where is written, from an empty log.
    pub fn keep_writes(&mut self) {
        self.written.get_or_insert_default().clear();
    }

    /// Whether writes are logged.
    pub fn keeps_writes(&self) -> bool {
        self.written.is_some()
    }

    /// Address and length of what has been written since [`keep_writes`](Self::keep_writes), in the order of the
    /// writes; adjacent ones are merged.
    pub fn writes(&self) -> &[(u32, u32)] {
        self.written.as_deref().unwrap_or_default()
    }

    fn note_write(&mut self, address: u32, length: u32) {
        let Some(written) = &mut self.written else { return };
        match written.last_mut() {
            Some((start, before)) if start.checked_add(*before) == Some(address) => *before += length,
            _ => written.push((address, length)),
        }
    }

    fn page_range(address: u32, size: u32) -> std::ops::Range<usize> {
        let first = (address / PAGE) as usize;
        first..first + size.div_ceil(PAGE) as usize
    }

    /// A buffer object of `size` bytes, all zero, at `address`.
    ///
    /// # Errors
    /// When it is empty, not at a page, runs past the address space, overlaps another, or there is no room.
    pub fn map(&mut self, address: u32, size: u32) -> Result<()> {
        let range = self.room(address, size)?;
        self.insert(range, address, size, Data::Own(vec![0; size as usize]));
        Ok(())
    }

    /// A buffer object at `address` whose bytes are shared.
    ///
    /// # Errors
    /// As [`Memory::map`].
    pub fn map_backed(&mut self, address: u32, backing: Box<dyn Backing>) -> Result<()> {
        let size = u32::try_from(backing.size())
            .map_err(|_| Fault::new(FaultKind::Limit, "a buffer object of 4 GiB or more").at(address))?;
        let range = self.room(address, size)?;
        self.insert(range, address, size, Data::Backed(backing));
        Ok(())
    }

    /// The pages of a new object, if it may be mapped there.
    fn room(&self, address: u32, size: u32) -> Result<std::ops::Range<usize>> {
        let fail = |message: &str| {
            Err(Fault::new(FaultKind::Limit, format!("{message} (object of {size:#x} bytes)")).at(address))
        };
        if size == 0 || !address.is_multiple_of(PAGE) || address.checked_add(size - 1).is_none() {
            return fail("a buffer object begins at a page and lies in the address space");
        }
        if self.used + u64::from(size) > self.limit {
            return fail("the buffer objects are too large");
        }
        let range = Self::page_range(address, size);
        let end = range.end.min(self.pages.len());
        let known = self.pages.get(range.start..end).unwrap_or_default();
        if known.iter().any(|page| *page != 0) {
            return fail("another buffer object is here");
        }
        Ok(range)
    }

    fn insert(&mut self, range: std::ops::Range<usize>, address: u32, size: u32, data: Data) {
        self.used += u64::from(size);
        let slot = self
            .objects
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.objects.len());
        let version = self.clock.next();
        let object = Some(Object {
            address,
            size,
            data,
            version,
        });
        if slot == self.objects.len() {
            self.objects.push(object);
        } else {
            self.objects[slot] = object;
        }
        if self.pages.len() < range.end {
            // Zeros from the system take no memory until they are used, unlike those that `resize` writes.
            let mut pages = vec![0; range.end.next_power_of_two()];
            pages[..self.pages.len()].copy_from_slice(&self.pages);
            self.pages = pages;
        }
        self.pages[range].fill(slot as u32 + 1);
    }

    /// Takes the buffer object that begins at `address` away.
    ///
    /// # Errors
    /// When none begins there.
    pub fn unmap(&mut self, address: u32) -> Result<()> {
        let slot = self
            .slot(address)
            .filter(|slot| self.objects[*slot].as_ref().is_some_and(|o| o.address == address));
        let Some(object) = slot.and_then(|slot| self.objects[slot].take()) else {
            return Err(Fault::new(FaultKind::Unmapped, "no buffer object begins here").at(address));
        };
        self.used -= u64::from(object.size);
        self.pages[Self::page_range(address, object.size)].fill(0);
        Ok(())
    }

    /// Address and bytes of every buffer object, by address.
    pub fn objects(&self) -> impl Iterator<Item = (u32, Cow<'_, [u8]>)> {
        let mut objects: Vec<&Object> = self.objects.iter().flatten().collect();
        objects.sort_by_key(|object| object.address);
        objects
            .into_iter()
            .map(|object| (object.address, object.bytes(0, object.size as usize)))
    }

    fn slot(&self, address: u32) -> Option<usize> {
        let page = *self.pages.get((address / PAGE) as usize)?;
        (page as usize).checked_sub(1)
    }

    /// The object with `length` bytes at `address`, and where in it they begin.
    #[inline]
    fn find(&self, address: u32, length: u32) -> Result<(&Object, usize)> {
        let object = self.slot(address).and_then(|slot| self.objects[slot].as_ref());
        object
            .and_then(|object| Some((object, object.place(address, length)?)))
            .ok_or_else(|| Fault::unmapped(address, length))
    }

    /// `length` bytes at `address`, all in one buffer object.
    ///
    /// # Errors
    /// When they are not.
    #[inline]
    pub fn bytes(&self, address: u32, length: u32) -> Result<Cow<'_, [u8]>> {
        let (object, start) = self.find(address, length)?;
        Ok(object.bytes(start, length as usize))
    }

    /// Whether the bytes at `address` are these; not where they are not all in one buffer object.
    pub fn equals(&self, address: u32, bytes: &[u8]) -> bool {
        let Some((object, start)) = u32::try_from(bytes.len())
            .ok()
            .and_then(|length| self.find(address, length).ok())
        else {
            return false;
        };
        match &object.data {
            Data::Own(have) => have[start..start + bytes.len()] == *bytes,
            Data::Backed(backing) => backing.equals(start, bytes),
        }
    }

    /// How many bytes there are from `address` to the end of its buffer object, at most `length`; nought where there is
    /// none.
    pub fn length_up_to(&self, address: u32, length: u32) -> u32 {
        let object = self.slot(address).and_then(|slot| self.objects[slot].as_ref());
        object.map_or(0, |object| {
            object.size.saturating_sub(address - object.address).min(length)
        })
    }

    /// From `address` to the end of its buffer object, at most `length` bytes; empty where there is none.
    pub fn bytes_up_to(&self, address: u32, length: u32) -> Cow<'_, [u8]> {
        self.bytes(address, self.length_up_to(address, length))
            .unwrap_or_default()
    }

    /// `length` bytes at `address` of an object that is not shared.
    pub fn borrow(&self, address: u32, length: u32) -> Option<&[u8]> {
        let (object, start) = self.find(address, length).ok()?;
        match &object.data {
            Data::Own(bytes) => bytes.get(start..start + length as usize),
            Data::Backed(_) => None,
        }
    }

    /// `length` bytes at `address` of an object that is not shared, to write into; nothing either where writes are logged
    /// and not all of the bytes will be written.
    pub fn borrow_mut(&mut self, address: u32, length: usize, whole: bool) -> Option<&mut [u8]> {
        let short = u32::try_from(length).ok()?;
        if !whole && self.written.is_some() {
            return None;
        }
        let (object, start) = self.find(address, short).ok()?;
        if matches!(object.data, Data::Backed(_)) {
            return None;
        }
        self.note_write(address, short);
        let slot = self.slot(address)?;
        let object = self.objects[slot].as_mut()?;
        object.version = self.clock.next();
        match &mut object.data {
            Data::Own(bytes) => bytes.get_mut(start..start + length),
            Data::Backed(_) => None,
        }
    }

    /// Copies bytes at `address` out, all of one buffer object.
    ///
    /// # Errors
    /// When they are not.
    #[inline]
    pub fn read(&self, address: u32, to: &mut [u8]) -> Result<()> {
        let length = u32::try_from(to.len()).map_err(|_| Fault::unmapped(address, u32::MAX))?;
        let (object, start) = self.find(address, length)?;
        object.read(start, to);
        Ok(())
    }

    /// `N` bytes at `address`.
    ///
    /// # Errors
    /// When they are not in one buffer object.
    #[inline]
    pub fn array<const N: usize>(&self, address: u32) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Two words, as commands have them.
    ///
    /// # Errors
    /// When either is in no buffer object.
    #[inline]
    pub fn pair(&self, address: u32) -> Result<[u32; 2]> {
        match self.array::<8>(address) {
            Ok([a, b, c, d, e, f, g, h]) => Ok([u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]),
            // They may be in two.
            Err(_) => Ok([self.word(address)?, self.word(address.wrapping_add(4))?]),
        }
    }

    /// A little-endian word.
    ///
    /// # Errors
    /// When it is not in a buffer object.
    #[inline]
    pub fn word(&self, address: u32) -> Result<u32> {
        self.array(address).map(u32::from_le_bytes)
    }

    /// `count` words at `address`.
    ///
    /// # Errors
    /// When they are not in one buffer object.
    pub fn words(&self, address: u32, count: u32) -> Result<Vec<u32>> {
        let length = count.checked_mul(4).ok_or_else(|| Fault::unmapped(address, u32::MAX))?;
        let bytes = self.bytes(address, length)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    }

    /// A little-endian float.
    ///
    /// # Errors
    /// When it is not in a buffer object.
    #[inline]
    pub fn float(&self, address: u32) -> Result<f32> {
        self.word(address).map(f32::from_bits)
    }

    /// Copies bytes to `address`.
    ///
    /// # Errors
    /// When there is no room in one buffer object.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| Fault::unmapped(address, u32::MAX).writing())?;
        let object = self.slot(address).and_then(|slot| self.objects[slot].as_mut());
        let place = object.and_then(|object| {
            let start = object.place(address, length)?;
            Some((object, start))
        });
        let (object, start) = place.ok_or_else(|| Fault::unmapped(address, length).writing())?;
        object.write(start, bytes);
        object.version = self.clock.next();
        self.note_write(address, length);
        Ok(())
    }

    /// Copies pieces of `size` bytes to `address` and on, `stride` apart.
    ///
    /// # Errors
    /// When there is no room for one of them in one buffer object; those in front of it may be written.
    pub fn write_apart(&mut self, address: u32, stride: u32, size: usize, bytes: &[u8]) -> Result<()> {
        let pieces = bytes.len() / size.max(1);
        let all = u64::from(stride) * (pieces as u64).saturating_sub(1) + size as u64;
        // A shared object at once, where pieces are not observed.
        if self.written.is_none()
            && let Some((object, start)) = u32::try_from(all).ok().and_then(|all| self.find(address, all).ok())
            && let Data::Backed(backing) = &object.data
        {
            backing.write_apart(start, stride as usize, size, bytes);
            return Ok(());
        }
        let places = (0..).map(|number: u32| address.wrapping_add(stride.wrapping_mul(number)));
        let mut pieces = bytes.chunks(size.max(1)).zip(places);
        pieces.try_for_each(|(piece, at)| self.write(at, piece))
    }
}

/// Bytes from which on it is worth while to share their copying; fewer under Miri, which is a thousand times as slow.
const SHARED: usize = if cfg!(miri) { 1 << 12 } else { 1 << 18 };

impl Memory {
    /// Copies pieces to their addresses, one after the other where they overlap; with all threads where they are
    /// many bytes of one object.
    ///
    /// # Errors
    /// When there is no room for one of them in one buffer object; those in front of it are written.
    pub fn write_pieces(&mut self, pieces: &[(u32, &[u8])], pool: Option<&ThreadPool>) -> Result<()> {
        let bytes: usize = pieces.iter().map(|(_, bytes)| bytes.len()).sum();
        let pool = pool.filter(|_| bytes >= SHARED && self.written.is_none());
        if pool.is_some_and(|pool| self.write_shared(pieces, pool).is_some()) {
            return Ok(());
        }
        pieces.iter().try_for_each(|(at, bytes)| self.write(*at, bytes))
    }

    /// [`Memory::write_pieces`] with many threads; nothing is written where the pieces are not all in one object.
    fn write_shared(&mut self, pieces: &[(u32, &[u8])], pool: &ThreadPool) -> Option<()> {
        let first = pieces.iter().map(|(at, _)| *at).min()?;
        let ends = pieces.iter().map(|(at, bytes)| u64::from(*at) + bytes.len() as u64);
        let length = u32::try_from(ends.max()? - u64::from(first)).ok()?;
        let slot = self.slot(first)?;
        let object = self.objects[slot].as_mut()?;
        let start = object.place(first, length)?;
        object.version = self.clock.next();
        let all = length as usize;
        let part = all.div_ceil(pool.threads()).next_multiple_of(64);
        let parts = (0..all).step_by(part).map(|from| from..(from + part).min(all));
        match &mut object.data {
            Data::Own(bytes) => {
                let rest = bytes[start..start + all].chunks_mut(part);
                pool.each(parts.zip(rest), |(range, into)| {
                    let copy = |at: usize, bytes: &[u8]| into[at - range.start..][..bytes.len()].copy_from_slice(bytes);
                    within(pieces, first, range.clone(), copy);
                });
            }
            Data::Backed(backing) => pool.each(parts, |range| {
                within(pieces, first, range, |at, bytes| backing.write(start + at, bytes));
            }),
        }
        Some(())
    }
}

/// Calls `copy` with what of the pieces is in a range of bytes behind the address `first`.
fn within(pieces: &[(u32, &[u8])], first: u32, range: Range<usize>, mut copy: impl FnMut(usize, &[u8])) {
    for (at, bytes) in pieces {
        let at = (at - first) as usize;
        let (from, to) = (at.max(range.start), (at + bytes.len()).min(range.end));
        if from < to {
            copy(from, &bytes[from - at..to - at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Pieces are in memory as if they were written one by one, shared or not.
    #[test]
    fn pieces_may_be_shared_out() {
        let pool = ThreadPool::new(3);
        let noise: Vec<u8> = (0..SHARED + 5000).map(|at| (at * 31 / 7) as u8).collect();
        // The second lies over the first's end, and over a border between threads.
        let pieces = [
            (0x1010, &noise[..SHARED]),
            (0x1010 + SHARED as u32 - 99, &noise[700..5000]),
            (0x1000, &noise[3..16]),
        ];
        let mut wanted = Memory::default();
        wanted.map(0x1000, 0x10_0000).unwrap();
        for (at, bytes) in pieces {
            wanted.write(at, bytes).unwrap();
        }
        let mut own = Memory::default();
        own.map(0x1000, 0x10_0000).unwrap();
        let mut backed = Memory::default();
        backed.map_backed(0x1000, everyone(vec![0; 0x10_0000])).unwrap();
        for memory in [&mut own, &mut backed] {
            memory.write_pieces(&pieces, pool.as_ref()).unwrap();
            assert!(memory.equals(0x1000, &wanted.bytes(0x1000, 0x10_0000).unwrap()));
            // Beyond the object nothing is written by many, and what is in front by one.
            let far = [(0x1000, &noise[5..SHARED + 5]), (0x10_0f00, &noise[..0x300])];
            assert!(memory.write_pieces(&far, pool.as_ref()).is_err());
        }
    }

    /// Bytes that a test has a hold of, too.
    pub(super) struct Held(pub Arc<Mutex<Vec<u8>>>);

    impl Backing for Held {
        fn size(&self) -> usize {
            self.0.lock().unwrap().len()
        }

        fn read(&self, at: usize, to: &mut [u8]) {
            to.copy_from_slice(&self.0.lock().unwrap()[at..at + to.len()]);
        }

        fn write(&self, at: usize, from: &[u8]) {
            self.0.lock().unwrap()[at..at + from.len()].copy_from_slice(from);
        }
    }

    fn everyone(bytes: Vec<u8>) -> Box<Held> {
        Box::new(Held(Arc::new(Mutex::new(bytes))))
    }

    #[test]
    fn backed_objects_are_objects() {
        let mut memory = Memory::default();
        memory.map_backed(0x1000, everyone(vec![7; 100])).unwrap();
        assert_eq!(memory.word(0x1000 + 96), Ok(0x0707_0707));
        assert!(memory.word(0x1000 + 97).is_err());
        memory.write(0x1000, &[1]).unwrap();
        assert_eq!(*memory.bytes_up_to(0x1000, 2), [1, 7]);
        assert_eq!(memory.bytes_up_to(0x1000 + 98, 9).len(), 2);
        assert!(memory.bytes(0x1000 + 98, 3).is_err());
        assert!(memory.write(0x1000 + 98, &[1; 3]).is_err());
        assert!(memory.map(0x1000, 1).is_err(), "overlaps");
        assert!(memory.map_backed(0x2000, everyone(Vec::new())).is_err(), "empty");
        memory.unmap(0x1000).unwrap();
        assert!(memory.word(0x1000).is_err());
    }

    #[test]
    fn writes_are_kept_on_demand() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x2000).unwrap();
        memory.write(0x1000, &[1; 4]).unwrap();
        assert!(memory.writes().is_empty());
        memory.keep_writes();
        memory.write(0x1000, &[1; 4]).unwrap();
        memory.write(0x1004, &[1; 8]).unwrap();
        memory.write(0x1000, &[1; 2]).unwrap();
        assert!(memory.write(0x2ffc, &[1; 8]).is_err());
        assert_eq!(memory.writes(), [(0x1000, 12), (0x1000, 2)]);
        memory.keep_writes();
        assert!(memory.writes().is_empty());
    }

    #[test]
    fn accesses_stay_in_objects() {
        let mut memory = Memory::default();
        memory.map(0x1000, 100).unwrap();
        memory.map(0xffff_f000, 0x1000).unwrap();
        memory.write(0x1000, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.word(0x1000), Ok(0x0403_0201));
        assert!(memory.word(0x1000 + 96).is_ok());
        for address in [0, 0xfff, 0x1000 + 97, 0x2000, 0xffff_fffd] {
            assert_eq!(
                memory.word(address).unwrap_err().kind,
                FaultKind::Unmapped,
                "{address:#x}"
            );
        }
        assert!(memory.bytes(0x1000, u32::MAX).is_err());
        assert!(memory.map(0x1000, 1).is_err(), "overlaps");
        assert!(memory.map(0x2001, 1).is_err(), "no page");
        assert!(memory.map(0xffff_f000, 0x1001).is_err(), "past the end");
        memory.unmap(0x1000).unwrap();
        assert!(memory.unmap(0x1000).is_err());
        assert!(memory.word(0x1000).is_err());
        assert!(Memory::with_limit(10).map(0, 11).is_err());
    }
}
