//! The property `lift` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(lift);
