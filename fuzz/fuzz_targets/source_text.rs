//! The property `source_text` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(source_text);
