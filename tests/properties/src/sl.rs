//! Swanson SL libraries and their S₀ text.

use loader::sl::{self, Library, PrintOptions};
use skrymir::s0::Host;

/// Reading: `check` returns for any bytes, and a read library is written and read as the same one.
pub fn read(bytes: &[u8]) {
    let report = sl::check(bytes);
    let library = match sl::read(bytes) {
        Ok(library) => library,
        Err(error) => {
            crate::refused_too(&report, &error);
            return assert!(error.offset().is_some(), "{error}: where?");
        }
    };
    let written = sl::write(&library).expect("what was read can be written");
    let again = sl::read(&written).expect("what was written can be read");
    assert!(again == library, "another library comes back");
    assert!(sl::write(&again).as_ref() == Ok(&written), "written twice, two files");
    let canonical = sl::canonical(&library);
    assert!(
        sl::canonical(&canonical) == canonical,
        "the canonical form has another canonical form"
    );
}

/// Text: with locations the same library is parsed.
pub fn text(bytes: &[u8]) {
    let Ok(library) = sl::read(bytes) else { return };
    let _ = sl::print(&library).unwrap();
    let text = sl::print_with(&library, &PrintOptions { locations: true }).unwrap();
    let again = sl::parse_in(&text, "fuzz.s0").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again == library, "another library comes back\n{text}");
}

/// Any text is a library or an error with a place; a parsed library is printed and parsed as the same.
pub fn parse(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match sl::parse_in(text, "fuzz.s0") {
        Ok(library) => {
            sl::write(&library).expect("what was parsed can be written");
            let printed = sl::print_with(&library, &PrintOptions { locations: true }).unwrap();
            let again = sl::parse_in(&printed, "fuzz.s0").unwrap_or_else(|error| panic!("{error}\n{printed}"));
            assert!(again == library, "another library comes back\n{printed}");
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Maximum number of invocations.
const FUEL: u64 = 5_000;

/// Use: any readable library runs to an end or a hard error within its fuel.
pub fn run(bytes: &[u8]) {
    match std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| sl::parse_in(text, "fuzz.s0").ok())
    {
        Some(library) => run_library(&library),
        None => {
            if let Ok(library) = sl::read(bytes) {
                run_library(&library);
            }
        }
    }
}

fn run_library(library: &Library<'_>) {
    let Some(unit) = library.modules.last() else { return };
    let mut host = Host::new(library).with_fuel(FUEL);
    if let Err(error) = host.run(library.bytes(unit.name.content)) {
        drop(error.to_string());
    }
    assert!(host.invocations() <= FUEL, "more invocations than fuel");
}

/// Initial libraries: the repository's samples.
pub fn seeds() -> Vec<Vec<u8>> {
    let texts =
        ["booleans", "exceptions", "globs", "loop"].map(|name| crate::sample(&format!("tests/data/sl/{name}.s0")));
    let libraries = texts.map(|text| sl::parse_in(&text, "sample.s0").expect("a sample"));
    libraries
        .iter()
        .map(|library| sl::write(library).expect("a sample"))
        .collect()
}
