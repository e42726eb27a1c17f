//! The property `script` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(script);
