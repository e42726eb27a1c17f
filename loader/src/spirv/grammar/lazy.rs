//! Parts of the grammar that are read from the built-in text when they are first asked for.

use super::Names;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A value, or the text that it is made of.
#[derive(Clone)]
pub(super) struct Lazy<T: 'static> {
    value: OnceLock<Box<T>>,
    source: Option<Source<T>>,
}

#[derive(Clone)]
struct Source<T> {
    text: &'static str,
    names: Arc<Names>,
    read: fn(&'static str, &Arc<Names>) -> T,
}

impl<T: Default> Lazy<T> {
    /// A value that exists already.
    pub(super) fn new(value: T) -> Self {
        Self {
            value: OnceLock::from(Box::new(value)),
            source: None,
        }
    }

    /// A value that `read` makes of the text.
    pub(super) fn of_text(text: &'static str, names: &Arc<Names>, read: fn(&'static str, &Arc<Names>) -> T) -> Self {
        let names = names.clone();
        Self {
            value: OnceLock::new(),
            source: Some(Source { text, names, read }),
        }
    }

    /// The value.
    #[inline]
    pub(super) fn get(&self) -> &T {
        self.value.get_or_init(|| {
            let made = self
                .source
                .as_ref()
                .map(|source| (source.read)(source.text, &source.names));
            Box::new(made.unwrap_or_default())
        })
    }
}

impl<T: Default + fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
