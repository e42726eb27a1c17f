//! Versions of bytes: what was made of bytes that are unchanged need not be made again.

use super::{Data, Memory};
use crate::thread_pool::{ThreadPool, lock};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Which bytes an object has: another once it is written. No two memories have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    memory: u64,
    writes: u64,
}

/// What versions are counted with.
#[derive(Debug)]
pub(super) struct Clock {
    memory: u64,
    writes: u64,
}

impl Default for Clock {
    fn default() -> Self {
        static MEMORIES: AtomicU64 = AtomicU64::new(0);
        Self {
            memory: MEMORIES.fetch_add(1, Ordering::Relaxed),
            writes: 0,
        }
    }
}

impl Clock {
    /// A version that nothing had before.
    #[inline]
    pub(super) fn next(&mut self) -> Version {
        self.writes += 1;
        Version {
            memory: self.memory,
            writes: self.writes,
        }
    }
}

/// Bytes that a thread copies or compares at a time; fewer under Miri, which is a thousand times as slow.
const PIECE: usize = if cfg!(miri) { 1 << 10 } else { 1 << 16 };

/// The threads of a pool, if there is one and this many bytes are worth more than one thread.
fn many(pool: Option<&ThreadPool>, bytes: usize) -> Option<&ThreadPool> {
    pool.filter(|_| bytes >= 2 * PIECE)
}

impl Memory {
    /// [`Memory::bytes_up_to`], copied into some room; many by all threads.
    pub(crate) fn copy(&self, address: u32, length: u32, mut room: Vec<u8>, pool: Option<&ThreadPool>) -> Vec<u8> {
        let length = self.length_up_to(address, length);
        let pool = many(pool, length as usize);
        if room.is_empty() && pool.is_none() {
            return self.bytes_up_to(address, length).into_owned();
        }
        room.resize(length as usize, 0);
        // All of it is there.
        let copy = |(number, piece): (usize, &mut [u8])| {
            let _ = self.read(address + (number * PIECE) as u32, piece);
        };
        let pieces = room.chunks_mut(PIECE).enumerate();
        match pool {
            Some(pool) => pool.each(pieces, copy),
            None => pieces.for_each(copy),
        }
        room
    }

    /// [`Memory::equals`]; many bytes are looked at by all threads.
    fn equals_by(&self, address: u32, bytes: &[u8], pool: Option<&ThreadPool>) -> bool {
        let Some(pool) = many(pool, bytes.len()) else {
            return self.equals(address, bytes);
        };
        let length = u32::try_from(bytes.len());
        if !length.is_ok_and(|length| self.find(address, length).is_ok()) {
            return false;
        }
        let differs = AtomicBool::new(false);
        pool.each(bytes.chunks(PIECE).enumerate(), |(number, piece)| {
            let address = address + (number * PIECE) as u32;
            if !differs.load(Ordering::Relaxed) && !self.equals(address, piece) {
                differs.store(true, Ordering::Relaxed);
            }
        });
        !differs.into_inner()
    }

    /// A job begins: until it ends, what others hold too counts as it was when the job looked there first.
    pub(crate) fn begin_job(&mut self) {
        self.job = Some(self.clock.next());
    }

    /// The job that began is over.
    pub(crate) fn end_job(&mut self) {
        self.job = None;
    }

    /// The version of the object with `length` bytes at `address`; nothing where the bytes are shared with a writer, and no
    /// job is under way.
    fn version(&self, address: u32, length: u32) -> Option<Version> {
        let (object, _) = self.find(address, length).ok()?;
        match object.data {
            Data::Own(_) => Some(object.version),
            Data::Backed(_) => self.job.map(|job| job.max(object.version)),
        }
    }
}

/// Bytes of one object as they were once.
#[derive(Debug)]
pub(crate) struct Seen {
    address: u32,
    bytes: Arc<Vec<u8>>,
    /// A version of the object that had them.
    version: Mutex<Option<Version>>,
}

impl Seen {
    /// Bytes that are at an address now.
    pub(crate) fn new(memory: &Memory, address: u32, bytes: impl Into<Arc<Vec<u8>>>) -> Self {
        let bytes = bytes.into();
        let version = memory.version(address, bytes.len() as u32);
        Self {
            address,
            bytes,
            version: Mutex::new(version),
        }
    }

    /// Their allocation, for reuse, if this is the last reference.
    pub(crate) fn into_room(self) -> Vec<u8> {
        Arc::into_inner(self.bytes).unwrap_or_default()
    }

    /// Where they are.
    pub(crate) fn address(&self) -> u32 {
        self.address
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether they are as they were. They are compared only if their object was written; many bytes are by all threads.
    pub(crate) fn is_still(&self, memory: &Memory, pool: Option<&ThreadPool>) -> bool {
        let version = memory.version(self.address, self.bytes.len() as u32);
        let mut seen = lock(&self.version);
        if version.is_some() && version == *seen {
            return true;
        }
        let is_same = memory.equals_by(self.address, &self.bytes, pool);
        if is_same {
            *seen = version;
        }
        is_same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::Held;

    /// Every way of writing changes the version, and the same bytes are seen to be the same.
    #[test]
    fn every_write_is_seen() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        memory.map(0x10_0000, 0x10_0000).unwrap();
        let (pool, many) = (ThreadPool::new(2), vec![7; 0x10_0000]);
        type Write<'a> = Box<dyn Fn(&mut Memory, u8) + 'a>;
        let in_place = |memory: &mut Memory, byte| memory.borrow_mut(0x1100, 1, true).unwrap()[0] = byte;
        let pieces = |memory: &mut Memory, byte: u8| {
            let mut many = many.clone();
            many[0x100] = byte;
            memory.write_pieces(&[(0x10_0000, &many)], pool.as_ref()).unwrap();
        };
        let lent = |memory: &mut Memory, byte| {
            let mut lent = memory.lend(0x1100, 16).unwrap();
            lent.target(16).fill(0x1100, 1, |bytes| bytes[0] = byte);
            memory.take_back(lent);
        };
        let anew = |memory: &mut Memory, byte| {
            memory.unmap(0x1000).unwrap();
            memory.map(0x1000, 0x1000).unwrap();
            memory.write(0x1100, &[byte]).unwrap();
        };
        let ways: [(u32, Write<'_>); 6] = [
            (0x1100, Box::new(|memory, byte| memory.write(0x1100, &[byte]).unwrap())),
            (
                0x1100,
                Box::new(|memory, byte| memory.write_apart(0x10ff, 1, 1, &[0, byte]).unwrap()),
            ),
            (0x1100, Box::new(in_place)),
            (0x10_0100, Box::new(pieces)),
            (0x1100, Box::new(lent)),
            (0x1100, Box::new(anew)),
        ];
        for (number, (address, write)) in ways.iter().enumerate() {
            write(&mut memory, 7);
            let seen = Seen::new(&memory, *address, vec![7]);
            assert!(seen.is_still(&memory, None) && seen.is_still(&memory, None), "{number}");
            write(&mut memory, 8);
            assert!(!seen.is_still(&memory, None), "{number}");
            write(&mut memory, 7);
            assert!(seen.is_still(&memory, None) && seen.is_still(&memory, None), "{number}");
        }
    }

    /// Another memory is another one, even where as much was written.
    #[test]
    fn memories_are_distinguished() {
        let filled = |byte| {
            let mut memory = Memory::default();
            memory.map(0x1000, 0x1000).unwrap();
            memory.write(0x1000, &[byte; 16]).unwrap();
            memory
        };
        let seen = Seen::new(&filled(1), 0x1000, vec![1; 16]);
        assert!(
            !seen.is_still(&filled(2), None)
                && seen.is_still(&filled(1), None)
                && !seen.is_still(&Memory::default(), None)
        );
        assert_eq!((seen.address(), seen.len()), (0x1000, 16));
    }

    /// What is not written is not looked at: what is there is as old as the version says.
    #[test]
    fn bytes_are_not_looked_at_without_a_write() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        let seen = Seen::new(&memory, 0x1000, vec![0; 16]);
        let Some(object) = &mut memory.objects[0] else {
            unreachable!()
        };
        let Data::Own(bytes) = &mut object.data else {
            unreachable!()
        };
        bytes[0] = 1;
        assert!(seen.is_still(&memory, None));
        memory.write(0x1fff, &[0]).unwrap();
        assert!(!seen.is_still(&memory, None));
    }

    /// A job sees one state of shared bytes: that of its first read. Between jobs all bytes are compared.
    #[test]
    fn a_job_looks_once() {
        let bytes = Arc::new(Mutex::new(vec![0; 0x1000]));
        let mut memory = Memory::default();
        memory.map_backed(0x1000, Box::new(Held(bytes.clone()))).unwrap();
        let seen = Seen::new(&memory, 0x1000, vec![0; 16]);
        let put = |byte| bytes.lock().unwrap()[3] = byte;
        for _ in 0..2 {
            put(1);
            assert!(!seen.is_still(&memory, None));
            memory.begin_job();
            assert!(!seen.is_still(&memory, None));
            put(0);
            assert!(seen.is_still(&memory, None));
            put(1);
            assert!(seen.is_still(&memory, None), "it was looked at");
            // What the job itself writes is seen.
            memory.write(0x1003, &[2]).unwrap();
            assert!(!seen.is_still(&memory, None));
            memory.write(0x1003, &[0]).unwrap();
            assert!(seen.is_still(&memory, None));
            put(1);
            memory.end_job();
            assert!(!seen.is_still(&memory, None));
            memory.begin_job();
            assert!(!seen.is_still(&memory, None), "it is another job");
            memory.end_job();
        }
    }

    /// Many threads copy and compare the same bytes as one, to an object's last, and up to the last address.
    #[test]
    fn threads_look_at_the_same_bytes() {
        let pool = ThreadPool::new(3);
        let size = 5 * PIECE as u32 + 0x1000;
        let start = size.wrapping_neg() & !0xfff;
        let bytes: Vec<u8> = (0..size).map(|at| (at * 7 + at / 251) as u8).collect();
        let mut own = Memory::default();
        own.map(start, size).unwrap();
        own.write(start, &bytes).unwrap();
        let mut shared = Memory::default();
        shared
            .map_backed(start, Box::new(Held(Arc::new(Mutex::new(bytes.clone())))))
            .unwrap();
        for memory in [&own, &shared] {
            for (from, length) in [(0, size), (5, size), (PIECE as u32, 3 * PIECE as u32), (9, 10)] {
                let all = memory.copy(start + from, length, Vec::new(), pool.as_ref());
                assert_eq!(all, &bytes[from as usize..(from + length).min(size) as usize]);
                for room in [vec![1; 7], vec![1; size as usize + 1]] {
                    for pool in [None, pool.as_ref()] {
                        assert_eq!(memory.copy(start + from, length, room.clone(), pool), all);
                    }
                }
                let seen = Seen::new(memory, start + from, all.clone());
                assert!(seen.is_still(memory, pool.as_ref()));
                for at in [0, all.len() / 2, all.len() - 1] {
                    let mut other = all.clone();
                    other[at] ^= 1;
                    assert!(
                        !memory.equals_by(start + from, &other, pool.as_ref()),
                        "{from} {length} {at}"
                    );
                }
            }
            assert!(!memory.equals_by(start - 0x1000, &bytes, pool.as_ref()));
            assert!(memory.copy(start - 0x1000, size, vec![1; 7], pool.as_ref()).is_empty());
        }
    }
}
