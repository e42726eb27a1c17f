//! Which GPU addresses are taken.

use emulator::memory::PAGE;
use std::collections::BTreeMap;

/// The first address given out: nought is legal, but nobody's pointer should be it.
const FIRST: u32 = 0x10_0000;

/// The end. Behind it are the lists of tiles that a Mali-450 makes for itself; its kernel driver keeps the last MiB for
/// that, we take two.
pub const END: u32 = 0xffe0_0000;

/// The taken ranges, first address to end.
#[derive(Debug, Default)]
pub struct Space {
    taken: BTreeMap<u32, u32>,
}

impl Space {
    /// The lowest free range of `size` bytes, rounded up to pages.
    pub fn take(&mut self, size: u32) -> Option<u32> {
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

    /// Gives a range back.
    pub fn give(&mut self, address: u32) {
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
