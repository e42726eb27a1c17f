//! Allocation of GPU addresses.

use emulator::memory::PAGE;
use std::collections::BTreeMap;

/// The first allocated address: zero is valid, but should not be a valid pointer.
const FIRST: u32 = 0x10_0000;

/// The end. After it are a Mali-450's generated tile lists, for which its kernel driver reserves the last MiB; this
/// server reserves two.
pub(crate) const END: u32 = 0xffe0_0000;

/// The allocated ranges, start to end.
#[derive(Debug, Default)]
pub(crate) struct Space {
    taken: BTreeMap<u32, u32>,
}

impl Space {
    /// Allocates the lowest free range of `size` bytes, rounded up to pages.
    pub(crate) fn take(&mut self, size: u32) -> Option<u32> {
        let size = size.checked_next_multiple_of(PAGE)?;
        let mut at = FIRST;
        for (start, end) in &self.taken {
            if start - at >= size {
                break;
            }
            at = *end;
        }
        let end = at.checked_add(size).filter(|end| *end <= END)?;
        self.taken.insert(at, end);
        Some(at)
    }

    /// Frees a range.
    pub(crate) fn give(&mut self, address: u32) {
        self.taken.remove(&address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_do_not_overlap() {
        let mut space = Space::default();
        let first = space.take(1).unwrap();
        let second = space.take(3 * PAGE).unwrap();
        assert_eq!(second, first + PAGE);
        space.give(first);
        assert_eq!(space.take(2 * PAGE), Some(second + 3 * PAGE));
        assert_eq!(space.take(PAGE), Some(first));
        assert_eq!(space.take(u32::MAX), None);
        assert!(space.take(0xf000_0000).is_some());
        assert_eq!(space.take(0x1000_0000), None);
    }
}
