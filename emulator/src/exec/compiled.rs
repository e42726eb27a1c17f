//! A cache of compiled forms beside a program, and a count of its uses before it is compiled.

use crate::thread_pool::lock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Vertices or quads up to which compiling takes longer than interpreting.
const FEW: u32 = 1024;

/// The number of vertices or quads that ran a program, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Uses(AtomicU32);

impl Uses {
    /// Whether they are still few.
    pub(super) fn are_few(&self) -> bool {
        self.0.load(Ordering::Relaxed) < FEW
    }

    /// Adds some; concurrent additions may be lost.
    pub(super) fn add(&self, count: usize) {
        let more = u32::try_from(count).unwrap_or(FEW);
        self.0
            .store(self.0.load(Ordering::Relaxed).saturating_add(more), Ordering::Relaxed);
    }
}

impl Clone for Uses {
    /// A copy of a program starts at zero.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Forms of one program kept at most, beside the first.
const MOST: usize = 8;

/// Compiled forms of a program, one per key: nearly always there is one key only.
#[derive(Debug)]
pub(super) struct Compiled<K, T> {
    first: OnceLock<(K, Arc<T>)>,
    others: Mutex<Vec<(K, Arc<T>)>>,
}

impl<K, T> Default for Compiled<K, T> {
    fn default() -> Self {
        Self {
            first: OnceLock::new(),
            others: Mutex::new(Vec::new()),
        }
    }
}

impl<K, T> Clone for Compiled<K, T> {
    /// A copy of a program is compiled again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<K: PartialEq + Clone, T> Compiled<K, T> {
    /// Calls `run` with the form for a key, which `make` compiles on first use.
    pub(super) fn with<R>(&self, key: &K, make: impl Fn() -> T, run: impl FnOnce(&T) -> R) -> R {
        let (have, form) = self.first.get_or_init(|| (key.clone(), Arc::new(make())));
        if have == key {
            return run(form);
        }
        let form = self.other(key, make);
        run(&form)
    }

    #[cold]
    fn other(&self, key: &K, make: impl Fn() -> T) -> Arc<T> {
        // Consistent after a panic: forms are only added.
        let mut others = lock(&self.others);
        if let Some((_, form)) = others.iter().find(|(have, _)| have == key) {
            return form.clone();
        }
        let form = Arc::new(make());
        if others.len() == MOST {
            others.remove(0);
        }
        others.push((key.clone(), form.clone()));
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_form_of_its_own() {
        let forms = Compiled::default();
        for round in 0..3 {
            for key in 0..20u32 {
                let made = forms.with(&key, || key * 10 + round, |form| *form);
                assert_eq!(made / 10, key);
                // The first and the last few are kept.
                assert!(key > 0 || made == 0);
            }
        }
    }
}
