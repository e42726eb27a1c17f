//! The property `scene` of `tests/properties`.
#![no_main]

skrymir_fuzz::target!(scene);
