//! The GPU's 32-bit address space: buffer objects at their addresses, in pages of 4 KiB (facts/mali/lima-uapi.md, 3).

use super::fault::{Fault, FaultKind, Result};

/// Bytes of a page.
pub const PAGE: u32 = 4096;

/// Bytes behind a buffer object that somebody else holds too, say the process whose driver writes them.
///
/// Both give the same number of bytes every time.
pub trait Backing: Send + Sync {
    /// All bytes.
    fn bytes(&self) -> &[u8];

    /// All bytes, to write.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// What holds an object's bytes.
enum Data {
    Own(Vec<u8>),
    Backed(Box<dyn Backing>),
}

/// A buffer object.
struct Object {
    address: u32,
    size: u32,
    data: Data,
}

impl Object {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Own(bytes) => bytes,
            Data::Backed(backing) => backing.bytes(),
        }
    }

    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.data {
            Data::Own(bytes) => bytes,
            Data::Backed(backing) => backing.bytes_mut(),
        }
    }
}

/// The address space; no access leaves a buffer object.
pub struct Memory {
    objects: Vec<Option<Object>>,
    /// For each page the object's number plus one.
    pages: Vec<u32>,
    used: u64,
    limit: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self::with_limit(1 << 30)
    }
}

impl Memory {
    /// An empty address space whose objects take at most `limit` bytes together.
    pub fn with_limit(limit: u64) -> Self {
        Self {
            objects: Vec::new(),
            pages: vec![0; 1 << 20],
            used: 0,
            limit,
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

    /// A buffer object at `address` whose bytes somebody else holds too.
    ///
    /// # Errors
    /// As [`Memory::map`].
    pub fn map_backed(&mut self, address: u32, backing: Box<dyn Backing>) -> Result<()> {
        let size = u32::try_from(backing.bytes().len())
            .map_err(|_| Fault::new(FaultKind::Limit, "a buffer object of 4 GiB or more").at(address))?;
        let range = self.room(address, size)?;
        self.insert(range, address, size, Data::Backed(backing));
        Ok(())
    }

    /// The pages a new object takes, when it may be there.
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
        if self
            .pages
            .get(range.clone())
            .is_none_or(|pages| pages.iter().any(|page| *page != 0))
        {
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
        let object = Some(Object { address, size, data });
        if slot == self.objects.len() {
            self.objects.push(object);
        } else {
            self.objects[slot] = object;
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
    pub fn objects(&self) -> Vec<(u32, &[u8])> {
        let mut objects: Vec<_> = self.objects.iter().flatten().map(|o| (o.address, o.bytes())).collect();
        objects.sort_by_key(|(address, _)| *address);
        objects
    }

    fn slot(&self, address: u32) -> Option<usize> {
        (self.pages[(address / PAGE) as usize] as usize).checked_sub(1)
    }

    /// `length` bytes at `address`, all in one buffer object.
    ///
    /// # Errors
    /// When they are not.
    #[inline]
    pub fn bytes(&self, address: u32, length: u32) -> Result<&[u8]> {
        let object = self.slot(address).and_then(|slot| self.objects[slot].as_ref());
        let bytes = object.and_then(|object| {
            let start = (address - object.address) as usize;
            object.bytes().get(start..start.checked_add(length as usize)?)
        });
        bytes.ok_or_else(|| Fault::unmapped(address, length))
    }

    /// From `address` to the end of its buffer object, at most `length` bytes; empty where there is none.
    pub fn bytes_up_to(&self, address: u32, length: u32) -> &[u8] {
        let object = self.slot(address).and_then(|slot| self.objects[slot].as_ref());
        let rest = object.and_then(|object| object.bytes().get((address - object.address) as usize..));
        rest.map_or(&[], |rest| &rest[..rest.len().min(length as usize)])
    }

    /// As [`Memory::bytes`], to write.
    ///
    /// # Errors
    /// When they are not in one buffer object.
    pub fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8]> {
        let object = self.slot(address).and_then(|slot| self.objects[slot].as_mut());
        let bytes = object.and_then(|object| {
            let start = (address - object.address) as usize;
            object.bytes_mut().get_mut(start..start.checked_add(length as usize)?)
        });
        bytes.ok_or_else(|| Fault::unmapped(address, length))
    }

    /// A little-endian word.
    ///
    /// # Errors
    /// When it is not in a buffer object.
    #[inline]
    pub fn word(&self, address: u32) -> Result<u32> {
        let bytes = self.bytes(address, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
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
        let length = u32::try_from(bytes.len()).map_err(|_| Fault::unmapped(address, u32::MAX))?;
        self.bytes_mut(address, length)?.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Everyone(&'static mut [u8]);

    impl Backing for Everyone {
        fn bytes(&self) -> &[u8] {
            self.0
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            self.0
        }
    }

    #[test]
    fn backed_objects_are_objects() {
        let mut memory = Memory::default();
        memory
            .map_backed(0x1000, Box::new(Everyone(vec![7; 100].leak())))
            .unwrap();
        assert_eq!(memory.word(0x1000 + 96), Ok(0x0707_0707));
        assert!(memory.word(0x1000 + 97).is_err());
        memory.write(0x1000, &[1]).unwrap();
        assert_eq!(memory.bytes_up_to(0x1000, 2), [1, 7]);
        assert!(memory.map(0x1000, 1).is_err(), "overlaps");
        assert!(memory.map_backed(0x2000, Box::new(Everyone(&mut []))).is_err(), "empty");
        memory.unmap(0x1000).unwrap();
        assert!(memory.word(0x1000).is_err());
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
