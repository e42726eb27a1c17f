//! Bytes as somebody saw them, and whether they still are: what was made of them need not be made again then.

use super::{Data, Memory};
use crate::crew::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which bytes an object has: others once somebody wrote there. No two memories have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub fn next(&mut self) -> Version {
        self.writes += 1;
        Version {
            memory: self.memory,
            writes: self.writes,
        }
    }
}

impl Memory {
    /// The version of the object with `length` bytes at `address`; nothing where somebody else may write them, too.
    fn version(&self, address: u32, length: u32) -> Option<Version> {
        let (object, _) = self.find(address, length).ok()?;
        matches!(object.data, Data::Own(_)).then_some(object.version)
    }
}

/// Bytes of one object as they were once.
#[derive(Debug)]
pub(crate) struct Seen {
    address: u32,
    bytes: Vec<u8>,
    /// A version of the object that had them.
    version: Mutex<Option<Version>>,
}

impl Seen {
    /// Bytes that are at an address now.
    pub fn new(memory: &Memory, address: u32, bytes: Vec<u8>) -> Self {
        let version = memory.version(address, bytes.len() as u32);
        Self {
            address,
            bytes,
            version: Mutex::new(version),
        }
    }

    /// Where they are.
    pub fn address(&self) -> u32 {
        self.address
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether they are as they were. They are not looked at where nobody wrote into their object.
    pub fn is_still(&self, memory: &Memory) -> bool {
        let version = memory.version(self.address, self.bytes.len() as u32);
        let mut seen = lock(&self.version);
        if version.is_some() && version == *seen {
            return true;
        }
        let is_same = memory.equals(self.address, &self.bytes);
        if is_same {
            *seen = version;
        }
        is_same
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::Crew;

    /// Whoever writes, and however: what was seen is seen to be another, and again to be the same.
    #[test]
    fn every_write_is_seen() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        memory.map(0x10_0000, 0x10_0000).unwrap();
        let (crew, many) = (Crew::new(2), vec![7; 0x10_0000]);
        type Write<'a> = Box<dyn Fn(&mut Memory, u8) + 'a>;
        let in_place = |memory: &mut Memory, byte| memory.borrow_mut(0x1100, 1, true).unwrap()[0] = byte;
        let pieces = |memory: &mut Memory, byte: u8| {
            let mut many = many.clone();
            many[0x100] = byte;
            memory.write_pieces(&[(0x10_0000, &many)], crew.as_ref()).unwrap();
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
            assert!(seen.is_still(&memory) && seen.is_still(&memory), "{number}");
            write(&mut memory, 8);
            assert!(!seen.is_still(&memory), "{number}");
            write(&mut memory, 7);
            assert!(seen.is_still(&memory) && seen.is_still(&memory), "{number}");
        }
    }

    /// Another memory is another one, even where as much was written.
    #[test]
    fn memories_are_told_apart() {
        let filled = |byte| {
            let mut memory = Memory::default();
            memory.map(0x1000, 0x1000).unwrap();
            memory.write(0x1000, &[byte; 16]).unwrap();
            memory
        };
        let seen = Seen::new(&filled(1), 0x1000, vec![1; 16]);
        assert!(!seen.is_still(&filled(2)) && seen.is_still(&filled(1)) && !seen.is_still(&Memory::default()));
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
        assert!(seen.is_still(&memory));
        memory.write(0x1fff, &[0]).unwrap();
        assert!(!seen.is_still(&memory));
    }
}
