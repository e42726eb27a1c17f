//! Shared by the integration tests.

pub(crate) use crate::files::*;

use std::sync::OnceLock;
use vulkan::{Context, Options, Validation};

/// One device for all tests, with the validation layer.
pub(crate) fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let watched = Options {
            validation: Validation::Full,
            ..Options::default()
        };
        Context::new(&watched).unwrap_or_else(|error| {
            println!("not watched: {error}");
            Context::new(&Options::default()).expect("a Vulkan device; lavapipe will do")
        })
    })
}
