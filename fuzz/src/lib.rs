//! A fuzz target for each property of `tests/properties`: `cargo fuzz run NAME`, or all of them by `tests/fuzz.sh`.

pub use {libfuzzer_sys, properties};

/// The fuzz target of the property of that name.
///
/// libFuzzer's own panic hook would end the process before a panic of somebody else's code could be caught and reported,
/// which is right for those; one that nobody catches ends the process all the same.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(
            init: { drop(std::panic::take_hook()) },
            |bytes: &[u8]| $crate::properties::by_name::$name(bytes)
        );
    };
}
