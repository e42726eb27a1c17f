//! The property `wire` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(wire);
