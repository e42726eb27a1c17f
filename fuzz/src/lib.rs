//! A fuzz target for each property of `tests/properties`: `cargo fuzz run NAME`, or all of them by `tests/fuzz.sh`.

pub use {libfuzzer_sys, properties};

use std::path::Path;

/// The fuzz target of the property of that name.
///
/// libFuzzer's own panic hook would end the process before a caught panic of a dependency could be reported; without it
/// an uncaught panic still ends the process.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(
            init: {
                drop(std::panic::take_hook());
                $crate::write_seeds(stringify!($name));
            },
            |bytes: &[u8]| $crate::properties::by_name::$name(bytes)
        );
    };
}

/// With `FUZZ_SEEDS=FOLDER` the property's initial inputs are written there, without fuzzing.
pub fn write_seeds(name: &str) {
    let Some(folder) = std::env::var_os("FUZZ_SEEDS") else { return };
    let folder = Path::new(&folder);
    let property = properties::ALL.iter().find(|property| property.name == name);
    let inputs = properties::inputs(property.expect("a property of the table")).expect("samples");
    std::fs::create_dir_all(folder).expect("a folder");
    for (at, input) in inputs.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{at}")), input).expect("room for a seed");
    }
    std::process::exit(0);
}
