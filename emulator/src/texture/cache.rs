//! Decoded levels of textures that are kept from job to job, for as long as the bytes in memory stay what they were.

use super::Layout;
use crate::memory::Seen;
use crate::thread_pool::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use utgard::texture::TexelFormat;

/// Bytes that may be kept, before and after decoding.
const MOST: usize = 256 << 20;

/// What texels of some levels depend on beside their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub address: u32,
    pub length: u32,
    pub format: TexelFormat,
    pub swap: bool,
    pub layout: Layout,
    pub size: [u32; 2],
    pub faces: u32,
    /// Each face has a border.
    pub border: bool,
    /// Levels, of which all this is the largest one's.
    pub levels: usize,
}

/// Levels before and after.
#[derive(Debug)]
pub(super) struct Decoded {
    /// The bytes of each level in memory, from the largest on.
    pub bytes: Vec<Seen>,
    /// The texels as words, row by row.
    pub colors: Arc<Vec<u32>>,
}

impl Decoded {
    /// The allocations of bytes and texels, for reuse, as far as these are the last references.
    pub(super) fn into_room(self) -> (Vec<Vec<u8>>, Vec<u32>) {
        let bytes = self.bytes.into_iter().map(Seen::into_room);
        (bytes.collect(), Arc::into_inner(self.colors).unwrap_or_default())
    }

    fn size(&self) -> usize {
        self.bytes.iter().map(Seen::len).sum::<usize>() + 4 * self.colors.len()
    }
}

/// Decoded levels, and when each was used last.
#[derive(Debug, Default)]
struct Levels {
    all: HashMap<Key, (Arc<Decoded>, u64)>,
    size: usize,
    clock: u64,
}

/// Decoded levels of all textures of a device.
#[derive(Debug, Default)]
pub struct TextureCache(Mutex<Levels>);

impl TextureCache {
    fn levels(&self) -> MutexGuard<'_, Levels> {
        lock(&self.0)
    }

    /// The level of a key, if it is kept.
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Decoded>> {
        let mut levels = self.levels();
        levels.clock += 1;
        let clock = levels.clock;
        let (level, used) = levels.all.get_mut(key)?;
        *used = clock;
        Some(level.clone())
    }

    /// Takes the level of a key out, if it is kept and this is the last reference.
    pub(super) fn take(&self, key: &Key) -> Option<Decoded> {
        let mut levels = self.levels();
        let (level, _) = levels.all.remove(key)?;
        levels.size -= level.size();
        Arc::into_inner(level)
    }

    /// Keeps a level, and evicts the least recently used ones.
    pub(super) fn put(&self, key: Key, level: Decoded) {
        let mut levels = self.levels();
        let size = level.size();
        if size > MOST / 2 {
            return;
        }
        levels.clock += 1;
        let clock = levels.clock;
        levels.size += size;
        if let Some((old, _)) = levels.all.insert(key, (Arc::new(level), clock)) {
            levels.size -= old.size();
        }
        while levels.size > MOST {
            let oldest = levels
                .all
                .iter()
                .min_by_key(|(_, (_, used))| *used)
                .map(|(key, _)| *key);
            let Some((old, _)) = oldest.and_then(|key| levels.all.remove(&key)) else {
                return;
            };
            levels.size -= old.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    #[test]
    fn the_oldest_make_room() {
        let kept = TextureCache::default();
        let key = |address: u32| Key {
            address,
            length: 4,
            format: TexelFormat::Rgba8888,
            swap: false,
            layout: Layout::Tiled,
            size: [1, 1],
            faces: 1,
            border: false,
            levels: 1,
        };
        let level = || Decoded {
            bytes: vec![Seen::new(&Memory::default(), 0, vec![0; MOST / 4])],
            colors: Arc::default(),
        };
        for address in 0..5 {
            kept.put(key(address), level());
            assert!(kept.get(&key(0)).is_some(), "it was asked for just now");
        }
        let there: Vec<bool> = (0..5).map(|address| kept.get(&key(address)).is_some()).collect();
        assert_eq!(there, [true, false, true, true, true]);
        kept.put(key(4), level());
        assert_eq!(
            kept.levels().size,
            MOST,
            "one in the place of another takes no more room"
        );
    }
}
