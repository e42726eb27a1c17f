//! Engines with fast paths off, or with silicon switches.

use super::batched::QuadBatcher;
use super::{Delegate, Engine, FragmentContext, FragmentKernel, scalar};
use crate::silicon::{Part, Silicon};
use std::sync::Arc;

/// An engine with other settings around it.
struct Configured {
    engine: Box<dyn Engine>,
    silicon: Silicon,
    fast_paths: bool,
}

/// The engine without fast paths: no kernel shades whole tiles or the quads of many primitives in one call, and a GPU around it
/// takes none of its own. Pictures are the same.
pub fn without_fast_paths(engine: Box<dyn Engine>) -> Box<dyn Engine> {
    let silicon = engine.silicon();
    Box::new(Configured {
        engine,
        silicon,
        fast_paths: false,
    })
}

/// The engine on hardware with quirks: the one given, or the scalar one where a quirk changes what programs compute.
pub fn with_quirks(engine: Box<dyn Engine>, silicon: Silicon) -> Box<dyn Engine> {
    if silicon == Silicon::default() {
        return engine;
    }
    if silicon.changes(Part::Programs) {
        return Box::new(scalar::ScalarWithQuirks(silicon));
    }
    let fast_paths = engine.fast_paths();
    Box::new(Configured {
        engine,
        silicon,
        fast_paths,
    })
}

impl Delegate for Configured {
    fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    fn silicon(&self) -> Silicon {
        self.silicon
    }

    fn kernel(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn FragmentKernel>> {
        self.fast_paths.then(|| self.engine.kernel(context, flat))?
    }

    fn batcher(&self, context: &FragmentContext<'_>, flat: bool) -> Option<Arc<dyn QuadBatcher>> {
        self.fast_paths.then(|| self.engine.batcher(context, flat))?
    }

    fn fast_paths(&self) -> bool {
        self.fast_paths
    }
}
