//! A table from ids to small values: dense for low ids, a map for outliers.

use std::collections::HashMap;

/// Values by id. Memory is bounded by the module's size, not by the header's id bound.
#[derive(Clone, Debug)]
pub(super) struct Ids<T> {
    dense: Vec<T>,
    sparse: HashMap<u32, T>,
    none: T,
}

impl<T: Copy> Ids<T> {
    /// A table for a module of `words` words, which bounds the number of ids it can define.
    pub(super) fn new(words: usize, bound: u32, none: T) -> Self {
        let dense = vec![none; (words + 64).min(bound as usize)];
        Self {
            dense,
            sparse: HashMap::new(),
            none,
        }
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> T {
        match self.dense.get(id as usize) {
            Some(value) => *value,
            None => self.sparse.get(&id).copied().unwrap_or(self.none),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, id: u32, value: T) {
        match self.dense.get_mut(id as usize) {
            Some(slot) => *slot = value,
            None => drop(self.sparse.insert(id, value)),
        }
    }
}
