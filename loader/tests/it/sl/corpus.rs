//! Swanson SL: every file of the corpus and every sample of our own is reproduced from its model and its text.

use crate::common;

use loader::sl::{self, PrintOptions};
use std::fs;

/// Bytes to model to bytes, model to exact text to model, and every prefix rejected with an offset.
fn round_trips(bytes: &[u8]) {
    let library = sl::read(bytes).expect("reads");
    assert_eq!(sl::write(&library).expect("writes"), bytes);
    let text = sl::print_with(&library, &PrintOptions { locations: true }).unwrap();
    let again = sl::parse_in(&text, "x.s0").unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again, library, "{text}");
    let plain = sl::print(&library).unwrap();
    let again = sl::parse_in(&plain, "x.s0").unwrap_or_else(|e| panic!("{e}\n{plain}"));
    assert_eq!(sl::print(&again).unwrap(), plain);
    let canonical = sl::write(&sl::canonical(&library)).expect("writes");
    let read = sl::read(&canonical).expect("reads");
    assert_eq!(sl::print(&read).unwrap(), plain);
    for cut in 0..bytes.len() {
        let error = sl::read(&bytes[..cut]).expect_err("a prefix is not a library");
        assert!(error.offset().is_some(), "{error}");
    }
}

#[test]
fn the_corpus() {
    let Some(folder) = common::corpus("sl") else { return };
    let files = common::files(&folder, "sl");
    assert!(!files.is_empty());
    for file in &files {
        round_trips(&fs::read(file).expect("readable"));
    }
    for file in common::files(&folder, "s0") {
        let text = fs::read_to_string(&file).expect("text");
        let library = sl::parse_in(&text, "x.s0").unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        round_trips(&sl::write(&library).expect("writes"));
    }
    println!("corpus sl: {} files passed", files.len());
}

#[test]
fn long_varints_are_read_and_reported() {
    let bytes = b"SLIB\0\0\0\x03\x40\x00\x80";
    assert_eq!(
        sl::write(&sl::read(bytes).expect("reads")).expect("writes"),
        b"SLIB\0\0\0\x03\x80\x80"
    );
    assert!(sl::read_with(bytes, &sl::Options { strict: true }).is_err());
    let report = sl::check(bytes);
    assert!(report.has("long-varint") && report.is_valid(), "{report:?}");
}

#[test]
fn our_samples() {
    let mut count = 0;
    for path in common::files(&common::data("sl"), "s0") {
        let text = fs::read_to_string(&path).expect("text");
        let library = sl::parse_in(&text, "x.s0").unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        round_trips(&sl::write(&library).expect("writes"));
        count += 1;
    }
    assert!(count >= 20, "samples are missing");
    println!("{count} samples come back");
}
