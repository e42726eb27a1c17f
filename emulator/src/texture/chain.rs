//! A texture's texels as words: level behind level from the smallest one on, so that a look at small levels only
//! does without large ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Texels from some level to the smallest, if they can be had.
type Texels = Option<Arc<Vec<u32>>>;

/// Levels, decoded on demand.
#[derive(Debug)]
pub(super) struct Chain {
    /// From each level to the smallest.
    from: Box<[OnceLock<Texels>]>,
    /// Number of each level's first texel, and of the one behind its last.
    places: Box<[[usize; 2]]>,
    /// The largest level that is there; as many as there are for none.
    largest: AtomicUsize,
}

impl Chain {
    /// Levels of these numbers of texels, the largest first.
    pub(super) fn new(counts: impl DoubleEndedIterator<Item = usize>) -> Self {
        let mut places = Vec::new();
        let mut end = 0usize;
        for count in counts.rev() {
            let start = end;
            end = start.saturating_add(count);
            places.push([start, end]);
        }
        places.reverse();
        Self {
            from: (0..places.len()).map(|_| OnceLock::new()).collect(),
            largest: AtomicUsize::new(places.len()),
            places: places.into(),
        }
    }

    /// Levels.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Texels of all levels from this one to the smallest.
    pub(super) fn count(&self, first: usize) -> usize {
        self.places.get(first).map_or(0, |[_, end]| *end)
    }

    /// The levels that are there: the largest one's number, and the texels.
    #[inline]
    pub(super) fn ready(&self) -> Option<(usize, &[u32])> {
        let largest = self.largest.load(Ordering::Acquire);
        let texels = self.from.get(largest)?.get()?.as_ref()?;
        Some((largest, texels))
    }

    /// Texels of this level and the smaller ones, and maybe larger ones behind them; `make` makes them of what is there.
    #[inline]
    pub(super) fn from(&self, first: usize, make: impl FnOnce(Option<(usize, &[u32])>) -> Texels) -> Option<&[u32]> {
        match self.ready() {
            Some((largest, texels)) if largest <= first => Some(texels),
            have => {
                let texels = self.from.get(first)?.get_or_init(|| make(have)).as_ref()?;
                self.largest.fetch_min(first, Ordering::Release);
                Some(texels)
            }
        }
    }

    /// A level's own of some texels that it is among.
    pub(super) fn level<'a>(&self, number: usize, texels: &'a [u32]) -> Option<&'a [u32]> {
        let [start, end] = *self.places.get(number)?;
        texels.get(start..end)
    }
}
