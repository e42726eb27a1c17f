//! Objects whose bytes are lent to threads that write them, many at once, while other threads read the other objects.

use super::{Backing, Data, Memory};
use crate::simd::{self, FetchFor};
use crate::thread_pool::lock;
use std::sync::Mutex;

/// The bytes of an object, taken out of memory for a while.
pub(crate) struct Lent {
    slot: usize,
    /// Bytes of the object.
    size: u32,
    data: Data,
    /// The requested range: its address, where it begins in the object, and its length.
    address: u32,
    start: usize,
    length: usize,
}

impl Memory {
    /// Number of the object that an address is in.
    pub(crate) fn object_at(&self, address: u32) -> Option<usize> {
        let slot = self.slot(address)?;
        let object = self.objects[slot].as_ref()?;
        (address - object.address < object.size).then_some(slot)
    }

    /// Takes the object with `length` bytes at `address` out of the address space; nothing where there is none,
    /// or where writes are logged.
    pub(crate) fn lend(&mut self, address: u32, length: u32) -> Option<Lent> {
        if self.written.is_some() {
            return None;
        }
        let slot = self.slot(address)?;
        let object = self.objects[slot].as_mut()?;
        let start = object.place(address, length)?;
        object.version = self.clock.next();
        Some(Lent {
            slot,
            size: std::mem::take(&mut object.size),
            data: std::mem::replace(&mut object.data, Data::Own(Vec::new())),
            address,
            start,
            length: length as usize,
        })
    }

    /// Puts an object back.
    pub(crate) fn take_back(&mut self, lent: Lent) {
        if let Some(object) = self.objects.get_mut(lent.slot).and_then(Option::as_mut) {
            (object.size, object.data) = (lent.size, lent.data);
        }
    }
}

impl Lent {
    /// A target for pieces, none of which crosses a border between parts of `part` bytes.
    pub(crate) fn target(&mut self, part: usize) -> Target<'_> {
        let part = part.max(1);
        let bytes = match &mut self.data {
            Data::Own(bytes) => {
                let parts = bytes[self.start..self.start + self.length].chunks_mut(part);
                Bytes::Parts(parts.map(Mutex::new).collect(), part)
            }
            Data::Backed(backing) => Bytes::Backed(&**backing, self.start),
        };
        Target {
            address: self.address,
            length: self.length,
            bytes,
        }
    }
}

/// An array that is written in parts: its address, its length, and the length of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub address: u32,
    pub length: usize,
    pub part: usize,
}

impl Lent {
    /// A target for each part of each of some arrays that lie apart in the object; nothing where they do not, or
    /// where the bytes are shared.
    pub(crate) fn arrays(&mut self, arrays: &[Array]) -> Option<Vec<Sinks<'_>>> {
        let Data::Own(bytes) = &mut self.data else { return None };
        let (mut rest, mut at) = (&mut bytes[self.start..self.start + self.length], self.address);
        let mut order: Vec<usize> = (0..arrays.len()).collect();
        order.sort_by_key(|number| arrays[*number].address);
        let mut sinks: Vec<Option<Sinks<'_>>> = arrays.iter().map(|_| None).collect();
        for number in order {
            let Array { address, length, part } = arrays[number];
            let before = address.checked_sub(at)? as usize;
            let (array, behind) = rest.split_at_mut_checked(before)?.1.split_at_mut_checked(length)?;
            (rest, at) = (behind, address.checked_add(u32::try_from(length).ok()?)?);
            let part = part.max(1);
            // Behind the last part there may be no address any more.
            let parts = array.chunks_mut(part).zip((address..).step_by(part));
            let own = parts.map(|(bytes, address)| Mutex::new(Some(Own { address, bytes })));
            sinks[number] = Some(Sinks::Own(own.collect()));
        }
        sinks.into_iter().collect()
    }
}

/// Bytes of a piece that is written at once where they are shared.
const MAX_BACKED: usize = 1024;

/// Bytes that many may write.
pub(crate) struct Target<'a> {
    address: u32,
    length: usize,
    bytes: Bytes<'a>,
}

enum Bytes<'a> {
    Parts(Vec<Mutex<&'a mut [u8]>>, usize),
    Backed(&'a dyn Backing, usize),
}

impl Target<'_> {
    /// Prefetches the place of a piece of `length` bytes.
    pub(crate) fn expect(&self, address: u32, length: usize, write: FetchFor) {
        let at = address.wrapping_sub(self.address) as usize;
        let Bytes::Parts(parts, part) = &self.bytes else { return };
        if let Some(bytes) = parts.get(at / part).and_then(|bytes| bytes.try_lock().ok())
            && let Some(bytes) = bytes.get(at % part..at % part + length)
        {
            simd::fetch(bytes, write);
        }
    }

    /// Copies a piece to its address; what is not all in one part is left out.
    pub(crate) fn put(&self, address: u32, piece: &[u8]) {
        if let Bytes::Backed(backing, start) = &self.bytes {
            let at = address.wrapping_sub(self.address) as usize;
            if at + piece.len() <= self.length {
                backing.write(start + at, piece);
            }
            return;
        }
        self.fill(address, piece.len(), |bytes| bytes.copy_from_slice(piece));
    }

    /// Lets a closure write this many bytes at an address; false if they cannot be lent.
    pub(crate) fn fill(&self, address: u32, length: usize, write: impl FnOnce(&mut [u8])) -> bool {
        let at = address.wrapping_sub(self.address) as usize;
        let (parts, part) = match &self.bytes {
            Bytes::Parts(parts, part) => (parts, part),
            Bytes::Backed(backing, start) => {
                let mut room = [0; MAX_BACKED];
                let piece = room.get_mut(..length).filter(|_| at + length <= self.length);
                return piece.is_some_and(|piece| {
                    write(piece);
                    backing.write(start + at, piece);
                    true
                });
            }
        };
        let Some(bytes) = parts.get(at / part) else {
            return false;
        };
        // A part that a panic left is bytes all the same.
        let mut bytes = lock(bytes);
        bytes.get_mut(at % part..at % part + length).map(write).is_some()
    }
}

/// Bytes that one thread writes.
pub(crate) struct Own<'a> {
    address: u32,
    bytes: &'a mut [u8],
}

/// Where a worker's pieces go.
pub(crate) enum Sink<'a, 'b> {
    Shared(&'a Target<'b>),
    Own(Own<'b>),
}

impl Sink<'_, '_> {
    /// [`Target::expect`]
    #[inline]
    pub(crate) fn expect(&self, address: u32, length: usize, write: FetchFor) {
        match self {
            Self::Shared(target) => target.expect(address, length, write),
            Self::Own(own) => {
                let at = address.wrapping_sub(own.address) as usize;
                if let Some(bytes) = own.bytes.get(at..at + length) {
                    simd::fetch(bytes, write);
                }
            }
        }
    }

    /// [`Target::put`]
    pub(crate) fn put(&mut self, address: u32, piece: &[u8]) {
        match self {
            Self::Shared(target) => target.put(address, piece),
            Self::Own(_) => {
                self.fill(address, piece.len(), |bytes| bytes.copy_from_slice(piece));
            }
        }
    }

    /// [`Target::fill`]
    #[inline]
    pub(crate) fn fill(&mut self, address: u32, length: usize, write: impl FnOnce(&mut [u8])) -> bool {
        match self {
            Self::Shared(target) => target.fill(address, length, write),
            Self::Own(own) => {
                let at = address.wrapping_sub(own.address) as usize;
                own.bytes.get_mut(at..at + length).map(write).is_some()
            }
        }
    }
}

/// Where the pieces of many go.
pub(crate) enum Sinks<'a> {
    /// Anywhere.
    Shared(Target<'a>),
    /// Each to bytes of its own, until they are taken.
    Own(Vec<Mutex<Option<Own<'a>>>>),
}

impl<'a> Sinks<'a> {
    /// The place with a number, which is taken once.
    pub(crate) fn take(&self, number: usize) -> Option<Sink<'_, 'a>> {
        match self {
            Self::Shared(target) => Some(Sink::Shared(target)),
            Self::Own(all) => lock(all.get(number)?).take().map(Sink::Own),
        }
    }
}

impl Lent {
    /// Somewhere for each of some pieces, by address and length, if they lie one behind the other in the requested range;
    /// else a [`Lent::target`] for all.
    pub(crate) fn sinks(&mut self, pieces: &[(u32, usize)], part: usize) -> Sinks<'_> {
        if !self.has_apart(pieces) {
            return Sinks::Shared(self.target(part));
        }
        let (mut rest, mut at) = match &mut self.data {
            Data::Own(bytes) => (&mut bytes[self.start..self.start + self.length], self.address),
            Data::Backed(_) => (&mut [][..], self.address),
        };
        let mut own = |(address, length): &(u32, usize)| {
            let (_, piece) = std::mem::take(&mut rest).split_at_mut((address - at) as usize);
            let (bytes, behind) = piece.split_at_mut(*length);
            (rest, at) = (behind, address.wrapping_add(*length as u32));
            let address = *address;
            Mutex::new(Some(Own { address, bytes }))
        };
        Sinks::Own(pieces.iter().map(&mut own).collect())
    }

    /// Whether pieces lie one behind the other in the object, and the bytes are not shared.
    fn has_apart(&self, pieces: &[(u32, usize)]) -> bool {
        let mut end = 0;
        let mut is_behind = |(address, length): &(u32, usize)| {
            let from = u64::from(*address).checked_sub(u64::from(self.address));
            let fits = from.is_some_and(|from| from >= end);
            end = from.unwrap_or(0) + *length as u64;
            fits && end <= self.length as u64
        };
        matches!(self.data, Data::Own(_)) && !pieces.is_empty() && pieces.iter().all(&mut is_behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tests::Held;

    #[test]
    fn what_is_lent_is_nowhere_else() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x2000).unwrap();
        memory.map(0x4000, 0x1000).unwrap();
        memory.write(0x1ffe, &[1, 2, 3, 4]).unwrap();
        assert!(memory.lend(0x3000, 1).is_none() && memory.lend(0x2000, 0x1001).is_none());
        let mut lent = memory.lend(0x1800, 0x1000).unwrap();
        assert!(memory.word(0x1800).is_err() && memory.object_at(0x1800).is_none());
        assert_eq!(memory.object_at(0x4fff), Some(1));
        let target = lent.target(64);
        std::thread::scope(|scope| {
            for number in 0..4 {
                let target = &target;
                scope.spawn(move || {
                    (number..64).step_by(4).for_each(|at| {
                        let address = 0x1800 + 64 * at;
                        target.expect(address, 64, FetchFor::Write);
                        match at % 8 {
                            7 => assert!(target.fill(address, 64, |bytes| bytes.fill(at as u8))),
                            _ => target.put(address, &[at as u8; 64]),
                        }
                    })
                });
            }
        });
        // Beyond a part, and beyond the end.
        target.put(0x1800 + 60, &[99; 5]);
        target.expect(0x2800, 1, FetchFor::Write);
        target.put(0x2800, &[99]);
        assert!(!target.fill(0x1800 + 60, 5, |bytes| bytes.fill(99)));
        memory.take_back(lent);
        for at in 0..64u32 {
            assert!(memory.equals(0x1800 + 64 * at, &[at as u8; 64]));
        }
        assert!(memory.equals(0x17ff, &[0]) && memory.equals(0x2800, &[0; 0x800]));
    }

    #[test]
    fn what_others_hold_is_written_piece_by_piece() {
        let bytes = std::sync::Arc::new(Mutex::new(vec![0; 0x2000]));
        let mut memory = Memory::default();
        memory.map_backed(0x1000, Box::new(Held(bytes.clone()))).unwrap();
        let mut lent = memory.lend(0x1800, 0x1000).unwrap();
        let target = lent.target(64);
        assert!(target.fill(0x1840, 1024, |bytes| bytes.fill(1)));
        // More than is written at once, and what goes beyond the end.
        assert!(!target.fill(0x1800, 1025, |bytes| bytes.fill(2)) && !target.fill(0x27f0, 17, |bytes| bytes.fill(3)));
        target.put(0x27f0, &[4; 16]);
        memory.take_back(lent);
        let bytes = bytes.lock().unwrap();
        let ranges = [0x840..0xc40, 0x17f0..0x1800];
        let wanted = |at: usize| {
            if ranges[0].contains(&at) {
                1
            } else {
                u8::from(ranges[1].contains(&at)) * 4
            }
        };
        assert!((0..0x2000).all(|at| bytes[at] == wanted(at)));
    }

    #[test]
    fn arrays_are_lent_apart() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        let array = |address: u32, length: usize| Array {
            address,
            length,
            part: 32,
        };
        let mut lent = memory.lend(0x1100, 0x200).unwrap();
        for overlapping in [
            [array(0x1100, 33), array(0x1120, 32)],
            [array(0x1100, 32), array(0x12f0, 32)],
            [array(0x10ff, 32), array(0x1200, 32)],
        ] {
            assert!(lent.arrays(&overlapping).is_none());
        }
        let arrays = lent.arrays(&[array(0x1200, 80), array(0x1110, 64)]).unwrap();
        let (mut last, mut second) = (arrays[0].take(2).unwrap(), arrays[1].take(1).unwrap());
        assert!(arrays[0].take(2).is_none() && arrays[0].take(3).is_none() && arrays[1].take(2).is_none());
        assert!(last.fill(0x1240, 16, |bytes| bytes.fill(1)));
        assert!(!last.fill(0x1240, 17, |bytes| bytes.fill(2)) && !last.fill(0x1220, 32, |bytes| bytes.fill(2)));
        assert!(second.fill(0x1130, 32, |bytes| bytes.fill(3)));
        drop(arrays);
        memory.take_back(lent);
        assert!(memory.equals(0x1230, &[0; 16]) && memory.equals(0x1240, &[1; 16]) && memory.equals(0x1250, &[0; 16]));
        assert!(memory.equals(0x1110, &[0; 32]) && memory.equals(0x1130, &[3; 32]) && memory.equals(0x1150, &[0; 32]));
    }

    /// Where an array ends, addresses may, too.
    #[test]
    fn arrays_lie_at_the_end_of_all_addresses() {
        let mut memory = Memory::default();
        memory.map(0xffff_f000, 0x1000).unwrap();
        let mut lent = memory.lend(0xffff_ff00, 0x80).unwrap();
        let array = |part| Array {
            address: 0xffff_ff00,
            length: 0x80,
            part,
        };
        for part in [0x60, 0x1000] {
            let arrays = lent.arrays(&[array(part)]).unwrap();
            let last = (0x80 - 1) / part;
            assert!(
                arrays[0]
                    .take(last)
                    .unwrap()
                    .fill(0xffff_ff7f, 1, |bytes| bytes.fill(1))
            );
            assert!(arrays[0].take(last + 1).is_none());
        }
        memory.take_back(lent);
        assert!(memory.equals(0xffff_ff7f, &[1, 0]));
    }

    #[test]
    fn places_are_own_where_they_lie_apart() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        let mut lent = memory.lend(0x1100, 0x200).unwrap();
        for shared in [
            &[(0x1100, 33), (0x1120, 32)][..],
            &[(0x1140, 32), (0x1100, 32)],
            &[(0x10ff, 32)],
            &[(0x1100, 32), (0x12f0, 17)],
            &[],
        ] {
            assert!(matches!(lent.sinks(shared, 64), Sinks::Shared(_)), "{shared:?}");
        }
        let sinks = lent.sinks(&[(0x1100, 32), (0x1120, 16), (0x12f0, 16)], 64);
        let [mut first, mut last] = [0, 2].map(|number| sinks.take(number).unwrap());
        assert!(sinks.take(0).is_none() && sinks.take(3).is_none());
        first.expect(0x1100, 32, FetchFor::LaterWrite);
        last.put(0x12f0, &[3; 16]);
        // What is another's stays as it is.
        last.put(0x12f8, &[4; 16]);
        assert!(first.fill(0x1110, 16, |bytes| bytes.fill(1)) && !first.fill(0x1110, 17, |bytes| bytes.fill(2)));
        drop(sinks);
        memory.take_back(lent);
        assert!(memory.equals(0x1100, &[0; 16]) && memory.equals(0x1110, &[1; 16]) && memory.equals(0x1120, &[0; 32]));
        assert!(memory.equals(0x12f0, &[3; 16]) && memory.equals(0x1300, &[0; 16]));
    }
}
